/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the tests of hooks: whether the entries and exits in a trace nest, for each
 * thread, across migrations.
 */
#ifndef TRACE_CALLS_H
#define TRACE_CALLS_H

#include <stddef.h>

#include "trace_records.h"

struct trace_call;

/* Entries and exits of all channels. All zero is empty. */
struct trace_calls {
	struct trace_call *call;
	size_t count, size;
};

/**
 * struct trace_nesting - result of nesting them
 * @late:	exits without any earlier entry: the thread had no channel
 * @disorder:	exits of a call other than the innermost, and the calls skipped for them
 * @open:	calls without an exit
 * @deepest:	maximum depth
 */
struct trace_nesting {
	uint64_t late, disorder, open;
	unsigned int deepest;
};

/* Add a record of any kind. Ends the program if memory runs out. */
void trace_calls_take(struct trace_calls *calls, const struct trace_record *record);

/* Nest them by time in each channel, which one thread has at a time. Frees them. */
struct trace_nesting trace_calls_nest(struct trace_calls *calls);

#endif /* TRACE_CALLS_H */
