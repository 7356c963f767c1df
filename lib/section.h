/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads counters without a migration or interruption between the reads.
 *
 * All counters of a record are read in one restartable sequence, rseq(2): it first compares the
 * thread's CPU with the CPU whose counters it reads, and the kernel restarts the sequence after
 * preemption, migration or a signal. All values are therefore from that CPU and from one time
 * slice.
 *
 * The lane's CPU is part of the comparison: to interrupt the thread, a signal handler or
 * another thread sets the lane's CPU to a number that no CPU has.
 */
#ifndef PERF_SECTION_H
#define PERF_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"
#include "counter.h"

/* The part of the kernel's struct rseq that the library uses; 32 bytes are registered. */
struct perf_rseq {
	uint32_t cpu_id_start;
	volatile uint32_t cpu_id;
	volatile uint64_t section;
	uint32_t flags;
	uint32_t reserved[3];
} __attribute__((aligned(32)));

/* The kernel's struct rseq_cs: a restartable sequence. */
struct perf_section {
	uint32_t version;
	uint32_t flags;
	uint64_t start;
	uint64_t length;
	uint64_t restart;
} __attribute__((aligned(32)));

/* Signature before the restart address of a sequence; the same throughout a process. */
#define PERF_SECTION_SIGNATURE	0xf1401073

/* Other machines run only single-threaded tests, which read counters one by one. */
#if defined(__riscv) && __riscv_xlen == 64 && !defined(PERF_COUNTER_MOCK)
#define PERF_SECTIONS
#endif

/**
 * perf_section_restart - get the restart address of perf_section_any()'s sequence
 * @pc:		interrupted pc of a signal: within the sequence, or at its restart address
 *		if the kernel has already restarted it
 *
 * Returns 0 for any other @pc.
 */
PERF_INTERNAL uintptr_t perf_section_restart(uintptr_t pc);

/**
 * perf_section_any - read counters
 * @rseq:	the calling thread's area
 * @mine:	CPU to read on; a number that no CPU has prevents the read
 * @page:	address of tsLower
 * @now:	values read
 * @number:	the counters' numbers
 * @count:	number of counters
 * @offset:	offset[n] is added to the value of counter n, except the timestamp
 *
 * Returns false if the thread is on a CPU other than @mine.
 */
PERF_INTERNAL bool perf_section_any(struct perf_rseq *rseq,
				    const volatile int32_t *mine,
				    const volatile uint32_t *page, uint64_t *now,
				    const uint8_t *number, uint32_t count,
				    const volatile uint64_t *offset);

#endif /* PERF_SECTION_H */
