/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Collects the record decoder's complete output, for tests. */
#ifndef SELFTESTS_UNIT_PERFREC_COLLECT_H
#define SELFTESTS_UNIT_PERFREC_COLLECT_H

#include <string.h>

#include "perfrec/perfrec.h"

#define COLLECT_RECORDS	2048
#define COLLECT_LOSSES	256
#define COLLECT_HEADERS	64

struct collected_records {
	size_t			records;
	size_t			losses;
	size_t			headers;
	uint64_t		lost_words;
	struct perfrec_record	record[COLLECT_RECORDS];
	struct perfrec_loss	loss[COLLECT_LOSSES];
	struct perfrec_header	header[COLLECT_HEADERS];
};

static inline void collect_record(void *context,
				  const struct perfrec_record *record)
{
	struct collected_records *all = context;

	if (all->records < COLLECT_RECORDS)
		all->record[all->records] = *record;
	all->records++;
}

static inline void collect_loss(void *context, const struct perfrec_loss *loss)
{
	struct collected_records *all = context;

	if (all->losses < COLLECT_LOSSES)
		all->loss[all->losses] = *loss;
	all->losses++;
	all->lost_words += loss->words;
}

static inline void collect_header(void *context,
				  const struct perfrec_header *header)
{
	struct collected_records *all = context;

	if (all->headers < COLLECT_HEADERS)
		all->header[all->headers] = *header;
	all->headers++;
}

static const struct perfrec_ops collect_ops = {
	.header = collect_header,
	.record = collect_record,
	.lost = collect_loss,
};

#endif /* SELFTESTS_UNIT_PERFREC_COLLECT_H */
