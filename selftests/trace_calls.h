/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of hooks share: whether the entries and exits in a trace nest, for
 * each thread, wherever it was moved.
 */
#ifndef TRACE_CALLS_H
#define TRACE_CALLS_H

#include <stddef.h>

#include "trace_records.h"

struct trace_call;

/* Entries and exits of all channels. All zero: none. */
struct trace_calls {
	struct trace_call *call;
	size_t count, size;
};

/**
 * struct trace_nesting - how they nest
 * @late:	exits before which there is no entry at all: the thread had no channel
 * @disorder:	exits of another call than the one that was entered last, and calls
 *		that were left out for that
 * @open:	calls that were entered and never left
 * @deepest:	most calls at a time
 */
struct trace_nesting {
	uint64_t late, disorder, open;
	unsigned int deepest;
};

/* Take a record, of any kind. Ends the program when there is no memory. */
void trace_calls_take(struct trace_calls *calls, const struct trace_record *record);

/* By time in each channel, as one thread at a time has it. Frees them. */
struct trace_nesting trace_calls_nest(struct trace_calls *calls);

#endif /* TRACE_CALLS_H */
