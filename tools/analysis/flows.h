/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Calls from instruction trace: generates the enter and exit records that instrumented functions
 * would have written.
 *
 * A jump to another function's first instruction is a tail call. A return ends
 * the calls up to the one with that return address, or else, after longjmp or
 * an exception, up to the innermost call of the target's function. A trap is a
 * call of its handler.
 */
#ifndef SIFIVE_TRACE_FLOWS_H
#define SIFIVE_TRACE_FLOWS_H

#include "flow.h"
#include "perfrec/perfrec.h"
#include "symbols.h"
#include "threads.h"

struct flows;

/**
 * struct flows_left_out - what was omitted because of limits
 * @calls:	calls; their time counts as their callers'
 * @parts:	how often a thread beyond the limit started running, without calls
 */
struct flows_left_out {
	uint64_t	calls;
	uint64_t	parts;
};

/**
 * flows_new() - calls of a trace
 * @symbols:	its code and functions
 * @calls:	whose calls: enum meta_calls
 * @give:	receives each record, valid during the call
 * @context:	passed to @give
 *
 * Return: NULL if out of memory.
 */
struct flows *flows_new(struct symbols *symbols, enum meta_calls calls,
			void (*give)(void *context, const struct perfrec_record *record),
			void *context);

/** flows_free() - NULL is fine */
void flows_free(struct flows *flows);

/**
 * flows_message() - follow a message, as flow_message() does
 *
 * Return: 0, or -ENOMEM.
 */
int flows_message(struct flows *flows, const struct nexus_message *message);

/** flows_damaged() - as flow_damaged(); NULL is fine */
void flows_damaged(struct flows *flows, const struct nexus_message *gap);

/**
 * flows_flush() - as flow_flush(); NULL is fine
 *
 * Return: 0, or -ENOMEM.
 */
int flows_flush(struct flows *flows);

/** flows_left_out() - what was omitted */
const struct flows_left_out *flows_left_out(const struct flows *flows);

/** flows_stats() - statistics of the flow */
const struct flow_stats *flows_stats(const struct flows *flows);

#endif /* SIFIVE_TRACE_FLOWS_H */
