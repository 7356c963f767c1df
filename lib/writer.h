/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writers made at set-up: straight code for one list of counters.
 *
 * A csrr instruction holds its counter's number, and the stores of a record are as
 * many as its counters, so that code made in advance is either long, one function
 * for each list, or slow. Where a program may not have executable memory it has
 * write_long() of hooks.c alone.
 */
#ifndef PERF_WRITER_H
#define PERF_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "thread.h"

/* Writes a record: one of a single address ignores @address2. */
typedef void perf_writer(uintptr_t address, uintptr_t address2, uint32_t kind);

/**
 * struct perf_exits - where a writer goes on with what is unusual
 * @closed:	the gate is not open; nothing was done
 * @elsewhere:	the gate is closed; this record does not go to the thread's lane as
 *		it is
 * @given_up:	the record is written; another context has opened the gate
 * @settle:	the record is written, the gate open; handlers have left records
 */
struct perf_exits {
	perf_writer *closed;
	perf_writer *elsewhere;
	void (*given_up)(struct perf_thread *thread, struct perf_lane *lane);
	void (*settle)(struct perf_thread *thread);
};

/* For function entry and exit, which have two addresses, and for explicit records. */
struct perf_writers {
	perf_writer *pair, *single;
};

/**
 * perf_writers_make - make the pool's writers
 * @exits:	always the same
 * @writers:	to be filled in; unchanged without executable memory: errno says why
 *
 * They are made once for each list of counters, and stay: a thread that does not
 * get to run may be in one of them for longer than a session.
 */
PERF_INTERNAL bool perf_writers_make(const struct perf_pool *pool,
				     const struct perf_exits *exits,
				     struct perf_writers *writers);

/* Where the code of the list number @index is; false: there are not so many. */
PERF_INTERNAL bool perf_writers_place(unsigned int index, uintptr_t *start,
				      uintptr_t *end);

/* As perf_section_restart(), also of the writers' sequences. */
PERF_INTERNAL uintptr_t perf_writers_restart(uintptr_t pc);

#endif /* PERF_WRITER_H */
