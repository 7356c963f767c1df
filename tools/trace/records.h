/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Decodes stores into records: the second stage of reading a trace. */
#ifndef SIFIVE_TRACE_RECORDS_H
#define SIFIVE_TRACE_RECORDS_H

#include "clocks.h"
#include "perfrec/perfrec.h"

struct trace;

/* Stores and other items, in the order of the trace. */
struct records_batch {
	struct store			*store;
	size_t				stores;
	const struct clocks_event	*event;
	unsigned int			events;
};

/** records_begin() - set the callbacks that the trace's consumer needs */
void records_begin(struct trace *trace);

/* Marks a record whose callers the third stage determines from its stream's latest stack. */
extern const struct perfrec_callers records_unwound;

/**
 * records_unwind() - return the callers found in a stack, or NULL; called in the consumer's thread
 */
const struct perfrec_callers *records_unwind(struct trace *trace,
					     const struct perfrec_stack *stack);

/** records_gap() - handle bytes that are not a message */
void records_gap(struct trace *trace, const struct nexus_message *gap);

/** records_span() - like records_push(), but only determine the times, for trace_span() */
void records_span(struct trace *trace, const struct records_batch *batch, unsigned int *done);

/**
 * records_push() - decode the records of the next stores
 * @batch:	the next stores, whose times become inferred if damage makes them doubtful; events
 *		after the last store are kept in the batch
 * @done:	set to the number of events processed
 *
 * Return: 0, or -ENOMEM.
 */
int records_push(struct trace *trace, const struct records_batch *batch, unsigned int *done);

#endif /* SIFIVE_TRACE_RECORDS_H */
