/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Stores the counts of a growing array's rows, and an index of the rows. */
#ifndef SIFIVE_TRACE_COSTS_H
#define SIFIVE_TRACE_COSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash.h"

/**
 * struct costs - counts and index of a growing array of rows
 * @room:	allocated rows
 * @stride:	number of counters in a row
 * @count:	for each row, two counts per counter
 * @hash:	index of the rows, filled by the caller
 */
struct costs {
	uint32_t	room;
	unsigned int	stride;
	uint64_t	*count;
	struct hash	hash;
};

/** costs_bytes() - return the number of bytes that @room rows of @size bytes each need */
static inline size_t costs_bytes(size_t size, uint32_t room, unsigned int stride)
{
	return room * (size + 2 * stride * sizeof(uint64_t) + 2 * sizeof(uint32_t));
}

/** costs_of() - return a row's first set of counts; the second set begins @stride entries later */
static inline uint64_t *costs_of(const struct costs *costs, uint32_t row)
{
	return costs->count + (size_t)row * 2 * costs->stride;
}

/**
 * costs_add() - add counts to a row's first or second set
 * @known:	bit n: counter n has counted @delta[n]
 */
static inline void costs_add(const struct costs *costs, uint32_t row, bool second,
			     uint64_t known, const uint64_t *delta)
{
	uint64_t *count = costs_of(costs, row) + (second ? costs->stride : 0);

	for (; known; known &= known - 1) {
		unsigned int c = (unsigned int)__builtin_ctzll(known);

		if (c >= costs->stride)
			break;
		count[c] += delta[c];
	}
}

/**
 * costs_resize() - allocate memory for @room rows with @stride counters
 * @rows:	the array, which is freed if another one is returned
 * @size:	size of a row in bytes
 * @used:	rows in use, whose counts are kept; the index is emptied
 *
 * Return: the array, or NULL if out of memory, in which case nothing has changed.
 */
void *costs_resize(struct costs *costs, void *rows, size_t size, uint32_t used,
		   uint32_t room, unsigned int stride);

/** costs_clear() - reset the counts of some counters in the first @used rows */
void costs_clear(const struct costs *costs, uint32_t used, uint64_t columns);

/** costs_free() - free the counts and the index */
void costs_free(struct costs *costs);

#endif /* SIFIVE_TRACE_COSTS_H */
