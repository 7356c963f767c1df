/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counting instructions exactly: with the instret CSR around each of many calls, on
 * a machine that counts instructions. The median of them is what a call costs: what
 * interrupts one now and then is not in it.
 */
#ifndef BENCH_METER_H
#define BENCH_METER_H

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

/* Fill a meter with what a statement costs. */
#define METER(meter, statement) do {					\
	for (int m_ = 0; m_ < METER_CALLS; m_++) {			\
		uint64_t begin_ = meter_instret();			\
									\
		statement;						\
		(meter)->took[m_] = meter_instret() - begin_;		\
	}								\
} while (0)

/* What traced.c's functions do: this is how far they have come. */
extern volatile uint64_t meter_middle;

/* The median; sorts. */
uint64_t meter_cost(struct meter *meter);

/* What an empty statement costs: to be taken off. */
uint64_t meter_nothing(void);

/* A call of @function as far as its body, and the way back. */
void meter_function(void (*function)(void), uint64_t *enter, uint64_t *exit);

/* The same, of what instrumenting has added to traced_plain(). */
void meter_traced(void (*function)(void), uint64_t *enter, uint64_t *exit);

/* Stay on a CPU. */
void meter_pin(int cpu);

/*
 * Have instret count, and let user mode read it, where no session does. Returns a
 * descriptor to close.
 */
int meter_open(void);

/* A perf event that counts the instructions of this thread in user mode, to be read. */
int meter_user(void);

#endif /* BENCH_METER_H */
