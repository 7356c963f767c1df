/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Puts all records into order: each thread's as it made them, across harts and channels.
 */
#ifndef SIFIVE_TRACE_ORDER_H
#define SIFIVE_TRACE_ORDER_H

#include "reorder.h"
#include "threads.h"
#include "trace.h"

struct order;

/**
 * order_new() - an empty order; NULL without memory
 * @give:	for the records in order, with @context
 */
struct order *order_new(struct threads *threads, reorder_give give, void *context);

/** order_free() - NULL is fine. Gives nothing. */
void order_free(struct order *order);

/** order_push() - the trace's next record */
void order_push(struct order *order, const struct trace *trace,
		const struct perfrec_record *record);

/** order_hold() - from the start on, give records only when those before them have come */
void order_hold(struct order *order);

/** order_header() - the trace's next header */
void order_header(struct order *order, const struct trace *trace,
		  const struct perfrec_header *header);

/** order_failed() - whether memory was missing: the order is not right */
bool order_failed(const struct order *order);

/** order_flush() - the trace has ended */
void order_flush(struct order *order);

#endif /* SIFIVE_TRACE_ORDER_H */
