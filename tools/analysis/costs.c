// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Stores counts and an index of a growing array: see costs.h. */
#include <stdlib.h>
#include <string.h>

#include "costs.h"

static void copy_counts(const struct costs *from, const struct costs *to, uint32_t row)
{
	size_t bytes = from->stride * sizeof(*from->count);

	if (!bytes)
		return;
	memcpy(costs_of(to, row), costs_of(from, row), bytes);
	memcpy(costs_of(to, row) + to->stride, costs_of(from, row) + from->stride,
	       bytes);
}

void *costs_resize(struct costs *costs, void *rows, size_t size, uint32_t used,
		   uint32_t room, unsigned int stride)
{
	struct costs wider = { .room = room, .stride = stride };
	uint32_t row;

	wider.hash.bits = hash_bits(room);
	wider.hash.slot = calloc(1u << wider.hash.bits, sizeof(*wider.hash.slot));
	wider.count = calloc((size_t)room * 2 * stride + 1, sizeof(*wider.count));
	rows = wider.count && wider.hash.slot ? realloc(rows, room * size) : NULL;
	if (!rows) {
		costs_free(&wider);
		return NULL;
	}
	for (row = 0; row < used; row++)
		copy_counts(costs, &wider, row);
	costs_free(costs);
	*costs = wider;
	return rows;
}

void costs_clear(const struct costs *costs, uint32_t used, uint64_t columns)
{
	size_t i;

	for (i = 0; i < (size_t)used * 2 * costs->stride; i++)
		if (columns >> i % costs->stride & 1)
			costs->count[i] = 0;
}

void costs_free(struct costs *costs)
{
	free(costs->count);
	free(costs->hash.slot);
}
