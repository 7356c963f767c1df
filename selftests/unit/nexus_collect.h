/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Collects the message decoder's complete output, for tests. */
#ifndef SELFTESTS_UNIT_NEXUS_COLLECT_H
#define SELFTESTS_UNIT_NEXUS_COLLECT_H

#include <stdlib.h>
#include <string.h>

#include "nexus/nexus.h"

#define COLLECT_MAX	512

struct collected {
	size_t			items;		/* number of messages and gaps */
	size_t			gaps;
	size_t			covered;	/* number of bytes in messages and gaps */
	enum nexus_item		item[COLLECT_MAX];
	struct nexus_message	message[COLLECT_MAX];
};

static inline void collect_fed(struct nexus *nexus, struct collected *all)
{
	struct nexus_message message;
	enum nexus_item item;

	for (;;) {
		/* Zeroed, so that equal messages have equal bytes. */
		memset(&message, 0, sizeof(message));
		item = nexus_next(nexus, &message);
		if (item == NEXUS_MORE)
			return;
		all->gaps += item == NEXUS_GAP;
		all->covered += message.length;
		if (all->items < COLLECT_MAX) {
			all->item[all->items] = item;
			all->message[all->items] = message;
		}
		all->items++;
	}
}

/*
 * Decode @length bytes, fed in chunks of @piece bytes. Each chunk is a separate copy of exactly
 * that size, so that reads beyond its end are detected.
 */
static inline void collect(const struct nexus_options *options,
			   const void *data, size_t length, size_t piece,
			   struct collected *all)
{
	const uint8_t *from = data;
	struct nexus nexus;
	size_t at, size;

	memset(all, 0, sizeof(*all));
	if (nexus_init(&nexus, options))
		abort();
	for (at = 0; at < length; at += size) {
		uint8_t *copy;

		size = length - at < piece ? length - at : piece;
		copy = malloc(size);
		if (!copy)
			abort();
		memcpy(copy, from + at, size);
		nexus_feed(&nexus, copy, size);
		collect_fed(&nexus, all);
		free(copy);
	}
	nexus_end(&nexus);
	collect_fed(&nexus, all);
}

#endif /* SELFTESTS_UNIT_NEXUS_COLLECT_H */
