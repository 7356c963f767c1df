// SPDX-License-Identifier: Apache-2.0 OR MIT
/* A small sorted window: see reorder.h. */
#include <stdlib.h>
#include <string.h>

#include "reorder.h"

/* Room for twice the distance in bytes by which messages can change places. */
#define WINDOW_BYTES	1024
#define WINDOW_RECORDS	128
/* As many counters as most records have. */
#define USUAL_COUNTERS	4

struct reorder {
	reorder_give		give;
	void			*context;
	unsigned int		count;
	/* Indices into @record by time, earliest first; then the free ones. */
	uint8_t			order[WINDOW_RECORDS];
	struct perfrec_record	record[WINDOW_RECORDS];
};

struct reorder *reorder_new(reorder_give give, void *context)
{
	struct reorder *reorder = malloc(sizeof(*reorder));
	unsigned int i;

	if (!reorder)
		return NULL;
	reorder->give = give;
	reorder->context = context;
	reorder->count = 0;
	for (i = 0; i < WINDOW_RECORDS; i++)
		reorder->order[i] = (uint8_t)i;
	return reorder;
}

void reorder_free(struct reorder *reorder)
{
	free(reorder);
}

static void give_first(struct reorder *reorder)
{
	uint8_t first = reorder->order[0];

	reorder->count--;
	memmove(reorder->order, reorder->order + 1, reorder->count);
	reorder->order[reorder->count] = first;
	reorder->give(reorder->context, &reorder->record[first]);
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

static void copy(struct perfrec_record *to, const struct perfrec_record *from)
{
	memcpy(to, from, offsetof(struct perfrec_record, sent));
	/* With a constant size this is a few instructions and no call. */
	if (from->counters <= USUAL_COUNTERS)
		copy_counters(to, from, USUAL_COUNTERS);
	else
		copy_counters(to, from, from->counters);
}

void reorder_push(struct reorder *reorder, const struct perfrec_record *record)
{
	unsigned int at;
	uint8_t slot;

	if (reorder->count == WINDOW_RECORDS)
		give_first(reorder);
	slot = reorder->order[reorder->count];
	copy(&reorder->record[slot], record);
	for (at = reorder->count; at; at--) {
		if (!before(record, &reorder->record[reorder->order[at - 1]]))
			break;
		reorder->order[at] = reorder->order[at - 1];
	}
	reorder->order[at] = slot;
	reorder->count++;
	while (reorder->record[reorder->order[0]].begin.offset + WINDOW_BYTES <
	       record->begin.offset)
		give_first(reorder);
}

void reorder_header(struct reorder *reorder, const struct perfrec_header *header)
{
	unsigned int i;

	for (i = 0; i < reorder->count; i++) {
		const struct perfrec_record *record =
			&reorder->record[reorder->order[i]];

		if (record->src != header->src || !record->header ||
		    record->header->serial + PERFREC_HEADERS_KEPT >
		    header->serial)
			continue;
		reorder_flush(reorder);
		return;
	}
}

void reorder_flush(struct reorder *reorder)
{
	while (reorder->count)
		give_first(reorder);
}
