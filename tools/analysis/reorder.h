/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Puts one thread's records into the order in which it wrote them. When a thread
 * moves to another hart, its last record on the old hart can follow its first one
 * on the new hart in the trace: messages of two encoders change places on the way.
 */
#ifndef SIFIVE_TRACE_REORDER_H
#define SIFIVE_TRACE_REORDER_H

#include "perfrec/perfrec.h"

struct reorder;

typedef void (*reorder_give)(void *context, const struct perfrec_record *record);

/** reorder_new() - an empty window; NULL without memory */
struct reorder *reorder_new(reorder_give give, void *context);

/** reorder_free() - free, without passing held records on; NULL is fine */
void reorder_free(struct reorder *reorder);

/** reorder_push() - add the next record of the file; passes on those that are due */
void reorder_push(struct reorder *reorder, const struct perfrec_record *record);

/**
 * reorder_header() - note a stream's new header
 *
 * Passes on all held records if one of them refers to a header that is replaced.
 */
void reorder_header(struct reorder *reorder, const struct perfrec_header *header);

/** reorder_flush() - pass on all held records */
void reorder_flush(struct reorder *reorder);

#endif /* SIFIVE_TRACE_REORDER_H */
