/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * One thread's records in the order in which it made them. When it moves to
 * another hart, the last of them on the old one can come behind the first on
 * the new one: two encoders' messages meet on the way to the file.
 */
#ifndef SIFIVE_TRACE_REORDER_H
#define SIFIVE_TRACE_REORDER_H

#include "perfrec/perfrec.h"

struct reorder;

typedef void (*reorder_give)(void *context, const struct perfrec_record *record);

/** reorder_new() - nothing held; NULL without memory */
struct reorder *reorder_new(reorder_give give, void *context);

/** reorder_free() - NULL is fine. Gives nothing. */
void reorder_free(struct reorder *reorder);

/** reorder_push() - the next record of the file; gives those that are due */
void reorder_push(struct reorder *reorder, const struct perfrec_record *record);

/**
 * reorder_header() - a stream has a new header
 *
 * Gives all that are held if one of them has a header that the next replaces.
 */
void reorder_header(struct reorder *reorder, const struct perfrec_header *header);

/** reorder_flush() - give all that are held */
void reorder_flush(struct reorder *reorder);

#endif /* SIFIVE_TRACE_REORDER_H */
