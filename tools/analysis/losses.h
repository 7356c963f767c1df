/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Stores the file offsets at which records were lost. */
#ifndef SIFIVE_TRACE_LOSSES_H
#define SIFIVE_TRACE_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

/* Number of losses to keep: enough for the bytes read while a record waits to be analysed. */
#define LOSSES_KEPT	32u

struct losses {
	uint64_t	offset[LOSSES_KEPT];	/* in order, from count % LOSSES_KEPT on */
	uint64_t	latest;		/* 0 if none */
	uint32_t	count;
};

/* Add a loss, usually the latest one. */
static inline void losses_note(struct losses *losses, uint64_t offset)
{
	const uint32_t count = losses->count++;
	uint32_t i = count;

	for (; i && count - i < LOSSES_KEPT - 1 &&
	       losses->offset[(i - 1) % LOSSES_KEPT] > offset; i--)
		losses->offset[i % LOSSES_KEPT] = losses->offset[(i - 1) % LOSSES_KEPT];
	losses->offset[i % LOSSES_KEPT] = offset;
	if (offset > losses->latest)
		losses->latest = offset;
}

/* Return whether a loss between @first and @last is stored, or may have been discarded. */
static inline bool losses_between(const struct losses *losses, uint64_t first, uint64_t last)
{
	uint32_t i;

	for (i = 1; i <= LOSSES_KEPT && i <= losses->count; i++) {
		uint64_t offset = losses->offset[(losses->count - i) % LOSSES_KEPT];

		if (offset <= first)
			return false;
		if (offset < last)
			return true;
	}
	return i > LOSSES_KEPT;
}

#endif /* SIFIVE_TRACE_LOSSES_H */
