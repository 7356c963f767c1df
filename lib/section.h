/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reading counters without being moved or interrupted in between.
 *
 * All counters of a record are read in one restartable sequence, rseq(2): it
 * begins with a comparison of the CPU that the thread is on with the one whose
 * counters are wanted, and the kernel restarts it when it preempts or moves
 * the thread or delivers a signal. So what has been read belongs to that CPU, and
 * to one stretch of running. A thread without such an area gets one that always
 * names the CPU it is pinned to.
 *
 * The lane's CPU is part of the comparison, so that to interrupt the thread a signal
 * handler, or another thread, makes it one that no thread is on.
 */
#ifndef PERF_SECTION_H
#define PERF_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"
#include "counter.h"

/* The kernel's struct rseq, as far as it is needed; 32 bytes are registered. */
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

/* Stands before where a sequence restarts; to be the same in a process. */
#define PERF_SECTION_SIGNATURE	0xf1401073

/* Elsewhere counters are read one by one: one thread, on the CPU it is pinned to. */
#if defined(__riscv) && __riscv_xlen == 64 && !defined(PERF_COUNTER_MOCK)
#define PERF_SECTIONS
#endif

/**
 * perf_section_restart - where to go on from within perf_section_any()'s sequence
 * @pc:		where a signal has come from: in the sequence, or already where it
 *		restarts, as the kernel has moved it
 *
 * Returns 0 when @pc is neither.
 */
PERF_INTERNAL uintptr_t perf_section_restart(uintptr_t pc);

/**
 * perf_section_any - read counters
 * @rseq:	the calling thread's
 * @mine:	CPU to read on; nobody's to prevent it
 * @page:	where tsLower is
 * @now:	to be filled in
 * @number:	their numbers
 * @count:	how many
 * @offset:	added to the value of counter n, but for the timestamp: offset[n]
 *
 * Returns false when the thread is on another CPU than @mine.
 */
PERF_INTERNAL bool perf_section_any(struct perf_rseq *rseq,
				    const volatile int32_t *mine,
				    const volatile uint32_t *page, uint64_t *now,
				    const uint8_t *number, uint32_t count,
				    const volatile uint64_t *offset);

#endif /* PERF_SECTION_H */
