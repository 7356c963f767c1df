// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Sorts records in a small window: see reorder.h. */
#include <stdlib.h>
#include <string.h>

#include "reorder.h"

/* Size of the window: twice the distance over which messages can be reordered. */
#define WINDOW_BYTES	1024
#define WINDOW_RECORDS	128
/* Enough counters for most records. */
#define USUAL_COUNTERS	4

struct reorder {
	reorder_give		give;
	void			*context;
	unsigned int		first;
	unsigned int		count;
	/*
	 * A ring of pointers to all elements of @record. Starting at @first, @count pointers refer
	 * to the held records, in the order of their times, and the others to unused elements.
	 */
	struct perfrec_record	*order[WINDOW_RECORDS];
	struct perfrec_record	record[WINDOW_RECORDS];
};

/* Return a pointer to entry @at of the ring, counted from the earliest record. */
static inline struct perfrec_record **place(struct reorder *reorder, unsigned int at)
{
	return &reorder->order[(reorder->first + at) % WINDOW_RECORDS];
}

struct reorder *reorder_new(reorder_give give, void *context)
{
	struct reorder *reorder = malloc(sizeof(*reorder));
	unsigned int i;

	if (!reorder)
		return NULL;
	reorder->give = give;
	reorder->context = context;
	reorder->first = 0;
	reorder->count = 0;
	for (i = 0; i < WINDOW_RECORDS; i++)
		reorder->order[i] = &reorder->record[i];
	return reorder;
}

void reorder_free(struct reorder *reorder)
{
	free(reorder);
}

static inline const struct perfrec_record *take_first(struct reorder *reorder)
{
	const struct perfrec_record *record = *place(reorder, 0);

	reorder->first++;
	reorder->count--;
	return record;
}

static inline void give_first(struct reorder *reorder)
{
	reorder->give(reorder->context, take_first(reorder));
}

const struct perfrec_record *reorder_take(struct reorder *reorder)
{
	return reorder->count ? take_first(reorder) : NULL;
}

static bool before(const struct perfrec_record *a, const struct perfrec_record *b)
{
	return a->begin.time_known && b->begin.time_known &&
	       a->begin.time < b->begin.time;
}

static inline void copy_counters(struct perfrec_record *to,
				 const struct perfrec_record *from,
				 unsigned int counters)
{
	size_t size = counters * sizeof(from->sent[0]);

	memcpy(to->sent, from->sent, size);
	memcpy(to->value, from->value, size);
	memcpy(to->delta, from->delta, size);
}

/* Not inlined, so that reorder_push() saves fewer registers for ordinary records. */
static __attribute__((noinline))
void copy_all_counters(struct perfrec_record *to, const struct perfrec_record *from)
{
	copy_counters(to, from, from->counters);
}

static void copy(struct perfrec_record *to, const struct perfrec_record *from)
{
	memcpy(to, from, offsetof(struct perfrec_record, sent));
	/* With a constant size, memcpy() compiles to a few instructions. */
	if (from->counters <= USUAL_COUNTERS)
		copy_counters(to, from, USUAL_COUNTERS);
	else
		copy_all_counters(to, from);
}

void reorder_push(struct reorder *reorder, const struct perfrec_record *record)
{
	struct perfrec_record *kept;
	unsigned int at;

	if (reorder->count == WINDOW_RECORDS)
		give_first(reorder);
	kept = *place(reorder, reorder->count);
	copy(kept, record);
	for (at = reorder->count; at; at--) {
		struct perfrec_record *earlier = *place(reorder, at - 1);

		if (!before(record, earlier))
			break;
		*place(reorder, at) = earlier;
	}
	*place(reorder, at) = kept;
	reorder->count++;
	while ((*place(reorder, 0))->begin.offset + WINDOW_BYTES < record->begin.offset)
		give_first(reorder);
}

bool reorder_expires(struct reorder *reorder, const struct perfrec_header *header)
{
	unsigned int i;

	for (i = 0; i < reorder->count; i++) {
		const struct perfrec_record *record = *place(reorder, i);

		if (record->src != header->src ||
		    record->channel != header->channel || !record->header ||
		    record->header->serial + PERFREC_HEADERS_KEPT >
		    header->serial)
			continue;
		return true;
	}
	return false;
}

void reorder_flush(struct reorder *reorder)
{
	while (reorder->count)
		give_first(reorder);
}
