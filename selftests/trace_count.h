/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of counters share: reading them, work whose count is known, and
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

/* Data TLB misses at loads; those at stores; those of instructions. */
#define DTLB_READ_MISS	(3 << 3 | 0 << 1 | 1)
#define DTLB_WRITE_MISS	(3 << 3 | 1 << 1 | 1)
#define ITLB_READ_MISS	(4 << 3 | 0 << 1 | 1)

/* Instructions of one turn of trace_spin(). */
#define TRACE_SPIN	2

/* The CSR's value; SIGILL where it may not be read. */
uint64_t trace_counter(unsigned int counter);

/* Have the calling thread join: its slot, mapped for good, or NULL. */
const struct sifive_trace_slot *trace_own_slot(int fd);

/* The calling thread's own count. */
uint64_t trace_own_count(const struct sifive_trace_slot *slot, unsigned int counter);

/* The signal that reading a counter raises, or 0. */
int trace_signal_of_counter(unsigned int counter);

/* A loop of TRACE_SPIN instructions a turn. */
static inline void trace_spin(uint64_t turns)
{
	asm volatile("1:	addi %0, %0, -1\n"
		     "	bnez %0, 1b\n"
		     : "+r" (turns));
}

/* What that loop counts, the least of a few: an interrupt only adds to it. */
uint64_t trace_count_spin(unsigned int counter, uint64_t turns);

/* Records of the kernel's that a capture has, and those it has lost. */
uint64_t trace_sampled(int fd);

/* The calling thread's own time, in microseconds. */
uint64_t trace_own_time(void);

/* Have @fn work for so many milliseconds of that. */
void trace_work(void (*fn)(uint64_t turns), unsigned int ms);

/*
 * The same, and until @least records of the kernel's more have come: an emulator whose
 * host has other work gets time without being able to use it.
 */
void trace_work_sampled(int fd, void (*fn)(uint64_t turns), unsigned int ms,
			unsigned int least);

/* Whether a capture gets another record of the kernel's before long. */
bool trace_samples(int fd);

/*
 * Load from so many pages, store to them, call code in each; each for the first
 * time. Code is stored before it is called.
 */
void trace_touch_pages(unsigned int count);
void trace_store_pages(unsigned int count);
void trace_call_pages(unsigned int count);

/* Whether this is an emulator: it counts cycles, instructions and TLB misses. */
bool trace_emulated(void);

/*
 * Whether cycles and instructions are counted: an emulator that was not asked to
 * counts its host's time instead. Where TRACE_EXACT=1 says that they are, the test
 * fails if not.
 */
bool trace_counts_instructions(void);

/* ---- perf_event_open(): 0 or more for success, a negative errno otherwise ------ */

/* An event, disabled, of the calling thread (cpu -1) or of a CPU (pid -1). */
struct perf_event_attr trace_perf_attr(uint32_t type, uint64_t config);
int trace_perf_open(struct perf_event_attr *attr, int pid, int cpu);
int trace_perf_enable(int event);
int trace_perf_disable(int event);

/* What an event has counted; ~0 when that is unknown. */
uint64_t trace_perf_count(int event);

#endif /* TRACE_COUNT_H */
