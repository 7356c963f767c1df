/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where records come from: the compiler's function entry and exit hooks, and
 * explicit calls.
 *
 * A thread has at most one stream to write to. Threads without one write
 * nothing; while a process records, they count what they would have written.
 */
#ifndef PERF_HOOKS_H
#define PERF_HOOKS_H

#include <stdint.h>

#include "compiler.h"
#include "record.h"

/* The calling thread's stream, NULL when it has none. */
PERF_INTERNAL struct perf_stream *perf_hooks_stream(void);

/* Give the calling thread a stream, NULL to take it away. */
PERF_INTERNAL void perf_hooks_attach(struct perf_stream *stream);

/**
 * perf_hooks_open - let records be written
 * @stream:	the stream of the calling thread
 * @open:	PERF_OPEN_*
 * @missed:	counts the records that threads without a stream do not write
 */
PERF_INTERNAL void perf_hooks_open(struct perf_stream *stream, unsigned int open,
				   uint32_t *missed);

/* Let no more records be written to @stream. */
PERF_INTERNAL void perf_hooks_close(struct perf_stream *stream);

/**
 * perf_hooks_manual - write a record with one address, if @stream is open
 *
 * Returns -1 when a record is being written already; that is counted.
 */
PERF_INTERNAL int perf_hooks_manual(struct perf_stream *stream, uintptr_t address);

#endif /* PERF_HOOKS_H */
