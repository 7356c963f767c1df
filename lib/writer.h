/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writers generated at set-up: straight-line code for one list of counters.
 *
 * A csrr instruction contains its counter's number, and a record has as many stores as counters.
 * Code compiled in advance is therefore either long, with one function per list, or slow. A program
 * that may not map executable memory uses only write_slow() in hooks.c.
 */
#ifndef PERF_WRITER_H
#define PERF_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "thread.h"

/* Host tests also generate writers. */
#if defined(PERF_SECTIONS) || defined(PERF_COUNTER_MOCK)
#define PERF_WRITERS
#endif

/* Write a record; records with one address ignore @address2. */
typedef void perf_writer(uintptr_t address, uintptr_t address2, uint32_t kind);

/**
 * struct perf_exits - exits of a writer for unusual cases
 * @closed:	the gate was not open; nothing was done
 * @elsewhere:	the gate is closed, but this record cannot be written to the thread's current
 *		lane
 * @given_up:	the record has been written, but another context has opened the gate
 * @settle:	the record has been written and the gate is open, but handlers have queued records
 */
struct perf_exits {
	perf_writer *closed;
	perf_writer *elsewhere;
	void (*given_up)(struct perf_thread *thread, struct perf_lane *lane);
	void (*settle)(struct perf_thread *thread);
};

/* @pair: writes function entries and exits, with two addresses; @single: explicit records. */
struct perf_writers {
	perf_writer *pair, *single;
};

/**
 * perf_writers_make - generate the pool's writers
 * @exits:	the exits, which must be the same for all calls
 * @writers:	result; unchanged if there is no executable memory: errno then contains the reason
 *
 * Writers are generated once per list of counters and kept, because a preempted thread may be
 * in one of them for longer than a session.
 */
PERF_INTERNAL bool perf_writers_make(const struct perf_pool *pool,
				     const struct perf_exits *exits,
				     struct perf_writers *writers);

/* Return the address range of the code for counter list @index; false after the last list. */
PERF_INTERNAL bool perf_writers_place(unsigned int index, uintptr_t *start,
				      uintptr_t *end);

/* Like perf_section_restart(), but also for the writers' sequences. */
PERF_INTERNAL uintptr_t perf_writers_restart(uintptr_t pc);

#endif /* PERF_WRITER_H */
