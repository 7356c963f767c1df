/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds calls in instruction trace, and generates the enter and exit records that instrumented
 * functions would have written. The trace's records are passed on at their places among the
 * generated records.
 *
 * A jump to another function's first instruction is a tail call. A return ends all calls up to the
 * call with that return address. If no call has it, as after longjmp or an exception, the return
 * ends the calls within the innermost call of the target's function. A trap calls its handler.
 */
#ifndef SIFIVE_TRACE_FLOWS_H
#define SIFIVE_TRACE_FLOWS_H

#include "joined.h"
#include "perfrec/perfrec.h"
#include "symbols.h"
#include "threads.h"

struct flows;

/**
 * struct flows_left_out - numbers of items omitted because of limits
 * @calls:	omitted calls, whose time is charged to their callers
 * @parts:	number of times that a thread beyond the limit, whose calls are omitted, started
 *		running
 * @stacks:	number of times that a thread continued in a function without an open call, so that
 *		its open calls ended too early
 * @places:	records whose position among the instructions is not exact: the intervals around
 *		them are marked
 */
struct flows_left_out {
	uint64_t	calls;
	uint64_t	parts;
	uint64_t	stacks;
	uint64_t	places;
};

/**
 * struct flows_ops - the consumer's callbacks; records are valid during the call
 * @call:	a generated record
 * @record:	a record of the trace, at its place among the generated records
 * @ran:	between two calls of @record: a thread has executed @instructions of the function at
 *		@function or, if @instructions is 0, has called it
 * @missing:	some of a thread's instructions are missing here, not counting the generated
 *		writer's; or it is uncertain whether instructions belong to the interval before or
 *		after this place
 *
 * For @ran and @missing, @where contains the thread and the place, as a record does.
 */
struct flows_ops {
	void (*call)(void *context, const struct perfrec_record *record);
	void (*record)(void *context, const struct perfrec_record *record);
	void (*ran)(void *context, const struct perfrec_record *where, uint64_t function,
		    uint64_t instructions);
	void (*missing)(void *context, const struct perfrec_record *where);
};

/**
 * flows_new() - create the calls of a trace
 * @symbols:	code and functions of the trace
 * @calls:	the requested instructions: enum meta_calls
 * @ops:	the consumer's callbacks, which must outlive the result
 * @counts:	whether to call @ops->ran and @ops->missing
 * @context:	passed to @ops
 *
 * Return: NULL if out of memory.
 */
struct flows *flows_new(struct symbols *symbols, enum meta_calls calls,
			const struct flows_ops *ops, bool counts, void *context);

/** flows_free() - free the calls; NULL is allowed */
void flows_free(struct flows *flows);

/**
 * flows_message() - follow a message, as flow_message() does
 *
 * Return: 0, or -ENOMEM.
 */
int flows_message(struct flows *flows, const struct nexus_message *message);

/**
 * flows_record() - process the trace's next record
 *
 * Return: 0, or -ENOMEM.
 */
int flows_record(struct flows *flows, const struct perfrec_record *record);

/** flows_damaged() - like flow_damaged(); NULL is allowed */
void flows_damaged(struct flows *flows, const struct nexus_message *gap);

/**
 * flows_flush() - like flow_flush(); NULL is allowed
 *
 * Return: 0, or -ENOMEM.
 */
int flows_flush(struct flows *flows);

/** flows_left_out() - return the numbers of omitted items */
const struct flows_left_out *flows_left_out(const struct flows *flows);

/** flows_stats() - return statistics of the flow */
const struct flow_stats *flows_stats(const struct flows *flows);

#endif /* SIFIVE_TRACE_FLOWS_H */
