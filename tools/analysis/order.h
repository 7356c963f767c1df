/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Sorts each thread's records, from all harts and channels, into the order they were written in. */
#ifndef SIFIVE_TRACE_ORDER_H
#define SIFIVE_TRACE_ORDER_H

#include "reorder.h"
#include "threads.h"
#include "trace.h"

struct order;

/**
 * order_new() - create an empty order; return NULL if out of memory
 * @give:	receives the records in order, with @context
 */
struct order *order_new(struct threads *threads, reorder_give give, void *context);

/** order_free() - free the order without passing records on; NULL is allowed */
void order_free(struct order *order);

/** order_push() - add the trace's next record */
void order_push(struct order *order, const struct trace *trace,
		const struct perfrec_record *record);

/** order_hold() - delay each record until all earlier records have arrived; call this first */
void order_hold(struct order *order);

/** order_header() - process the trace's next header */
void order_header(struct order *order, const struct trace *trace,
		  const struct perfrec_header *header);

/** order_failed() - return whether memory ran out; the order is then wrong */
bool order_failed(const struct order *order);

/** order_flush() - pass on all records, because the trace has ended */
void order_flush(struct order *order);

#endif /* SIFIVE_TRACE_ORDER_H */
