/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exact instruction counts: the instret CSR is read around each of many calls, on a
 * machine that counts instructions. The result is the median, which excludes
 * interrupts.
 */
#ifndef BENCH_METER_H
#define BENCH_METER_H

#include <stddef.h>
#include <stdint.h>

#define METER_CALLS	256

struct meter {
	uint64_t took[METER_CALLS];
};

static inline __attribute__((always_inline, no_instrument_function))
uint64_t meter_instret(void)
{
	uint64_t value;

	asm volatile("csrr %0, instret" : "=r" (value) : : "memory");
	return value;
}

/* Measure the cost of a statement. */
#define METER(meter, statement) do {					\
	for (int m_ = 0; m_ < METER_CALLS; m_++) {			\
		uint64_t begin_ = meter_instret();			\
									\
		statement;						\
		(meter)->took[m_] = meter_instret() - begin_;		\
	}								\
} while (0)

/* instret, as read in the body of each function of traced.c. */
extern volatile uint64_t meter_middle;

/* Sort the values, and return their median. */
uint64_t meter_median(uint64_t *values, size_t count);

/* Sort the measurements, and return their median. */
uint64_t meter_cost(struct meter *meter);

/* Return the cost of an empty statement, to be subtracted. */
uint64_t meter_nothing(void);

/* Measure a call to @function up to its body, and the return. */
void meter_function(void (*function)(void), uint64_t *enter, uint64_t *exit);

/* Like meter_function(), minus the cost of traced_plain(). */
void meter_traced(void (*function)(void), uint64_t *enter, uint64_t *exit);

/* Pin the thread to a CPU. */
void meter_pin(int cpu);

/*
 * Enable instret and user access to it without a session. Return the descriptor that keeps it
 * enabled.
 */
int meter_open(void);

/* Open a perf event that counts this thread's instructions in user mode, for read(). */
int meter_user(void);

#endif /* BENCH_METER_H */
