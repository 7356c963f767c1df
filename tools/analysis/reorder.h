/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Sorts a thread's records into the order in which the thread wrote them. When a thread moves to
 * another hart or channel, the trace can contain its first record after the move ahead of its last
 * record before the move, because messages from two encoders can be reordered on their way to the
 * sink.
 */
#ifndef SIFIVE_TRACE_REORDER_H
#define SIFIVE_TRACE_REORDER_H

#include "perfrec/perfrec.h"

struct reorder;

typedef void (*reorder_give)(void *context, const struct perfrec_record *record);

/** reorder_new() - create an empty window; return NULL if out of memory */
struct reorder *reorder_new(reorder_give give, void *context);

/** reorder_free() - free the window without passing held records on; NULL is allowed */
void reorder_free(struct reorder *reorder);

/** reorder_push() - add the next record in the file, and pass on the records that are due */
void reorder_push(struct reorder *reorder, const struct perfrec_record *record);

/**
 * reorder_expires() - return whether processing the next header frees the header of a record in the
 * window
 */
bool reorder_expires(struct reorder *reorder, const struct perfrec_header *header);

/** reorder_take() - remove the earliest record, if any, from the window and return it */
const struct perfrec_record *reorder_take(struct reorder *reorder);

/** reorder_flush() - pass on all held records */
void reorder_flush(struct reorder *reorder);

#endif /* SIFIVE_TRACE_REORDER_H */
