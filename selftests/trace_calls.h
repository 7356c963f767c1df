/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helpers for the hook tests: check that each thread's entries and exits nest, even across
 * migrations.
 */
#ifndef TRACE_CALLS_H
#define TRACE_CALLS_H

#include <stddef.h>

#include "trace_records.h"

struct trace_call;

#define TRACE_CHANNELS	32

/* Entries and exits on all channels; empty if zeroed. */
struct trace_calls {
	uint32_t first[TRACE_CHANNELS];	/* the thread, until a header names one */
	struct trace_call *call;
	size_t count, size;
};

/**
 * struct trace_nesting - result of nesting entries and exits
 * @late:	number of exits without any earlier entry
 * @disorder:	number of exits from calls other than the innermost, plus the number of calls that
 *		these exits skip
 * @open:	number of calls without an exit
 * @deepest:	maximum depth
 */
struct trace_nesting {
	uint64_t late, disorder, open;
	unsigned int deepest;
};

/*
 * Read the first threads' channels from the side-car file of @base.rtd. Call this before adding
 * records. Return 0, or -1.
 */
int trace_calls_threads(struct trace_calls *calls, const char *base);

/* Add a record of any kind. Ends the program if memory runs out. */
void trace_calls_take(struct trace_calls *calls, const struct trace_record *record);

/*
 * Sort the records by time, and nest them by thread, or by channel if the thread is unknown. Frees
 * the records.
 */
struct trace_nesting trace_calls_nest(struct trace_calls *calls);

#endif /* TRACE_CALLS_H */
