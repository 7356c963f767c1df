/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helpers for the counter tests: reading counters, work with a known count, and
 * perf_event_open().
 */
#ifndef TRACE_COUNT_H
#define TRACE_COUNT_H

#include <linux/perf_event.h>

#include "trace_device.h"

#define CSR_CYCLE	0xc00
#define COUNTER_CYCLE	0
#define COUNTER_TIME	1
#define COUNTER_INSTRET	2
#define COUNTER_HPM	3

/* Data TLB load misses, data TLB store misses, and instruction TLB misses. */
#define DTLB_READ_MISS	(3 << 3 | 0 << 1 | 1)
#define DTLB_WRITE_MISS	(3 << 3 | 1 << 1 | 1)
#define ITLB_READ_MISS	(4 << 3 | 0 << 1 | 1)

/* Instructions per iteration of trace_spin(). */
#define TRACE_SPIN	2

/* Return the CSR's value; without access, the read raises SIGILL. */
uint64_t trace_counter(unsigned int counter);

/* Join the calling thread; return its slot, which remains mapped, or NULL on error. */
const struct sifive_trace_slot *trace_own_slot(int fd);

/* Return the calling thread's own count. */
uint64_t trace_own_count(const struct sifive_trace_slot *slot, unsigned int counter);

/* Return the signal raised by reading a counter, or 0. */
int trace_signal_of_counter(unsigned int counter);

/* Execute a loop of TRACE_SPIN instructions per iteration. */
static inline void trace_spin(uint64_t turns)
{
	asm volatile("1:	addi %0, %0, -1\n"
		     "	bnez %0, 1b\n"
		     : "+r" (turns));
}

/*
 * Return the count of that loop: the minimum of several runs, because interrupts can only increase
 * it.
 */
uint64_t trace_count_spin(unsigned int counter, uint64_t turns);

/* Return the number of the kernel's records that were written or lost in a capture. */
uint64_t trace_sampled(int fd);

/* Return the calling thread's CPU time, in microseconds. */
uint64_t trace_own_time(void);

/* Run @fn for this many milliseconds of CPU time. */
void trace_work(void (*fn)(uint64_t turns), unsigned int ms);

/*
 * Like trace_work(), but continue until the kernel has written @least more records, because the
 * emulator is slow on a loaded host.
 */
void trace_work_sampled(int fd, void (*fn)(uint64_t turns), unsigned int ms,
			unsigned int least);

/*
 * Return whether the kernel writes another record to the capture within a limited number of tries.
 */
bool trace_samples(int fd);

/*
 * Load from, store to and call code in this many new pages. Code is stored before it is
 * called.
 */
void trace_touch_pages(unsigned int count);
void trace_store_pages(unsigned int count);
void trace_call_pages(unsigned int count);

/* Return whether this is an emulator, which counts cycles, instructions and TLB misses. */
bool trace_emulated(void);

/*
 * Return whether cycles and instructions are counted. Without the option --icount, the emulator
 * counts host time instead. With TRACE_EXACT=1, the test fails if the emulator counts time.
 */
bool trace_counts_instructions(void);

/* ---- perf_event_open(): 0 or more for success, a negative errno otherwise ------ */

/* Return the attributes of a disabled event of the calling thread (cpu -1) or of a CPU (pid -1). */
struct perf_event_attr trace_perf_attr(uint32_t type, uint64_t config);
int trace_perf_open(struct perf_event_attr *attr, int pid, int cpu);
int trace_perf_enable(int event);
int trace_perf_disable(int event);

/* Return an event's count, or ~0 if it cannot be read. */
uint64_t trace_perf_count(int event);

#endif /* TRACE_COUNT_H */
