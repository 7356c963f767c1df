// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See callers.h. */
#include <stdlib.h>
#include <string.h>

#include "callers.h"

#define ROOM_FIRST	64

/* Maximum number of different lists with colliding keys. */
#define COLLISIONS_MAX	64

static uint64_t key_of(const void *lists, uint32_t number)
{
	return ((struct perfrec_callers * const *)lists)[number - 1]->key;
}

static uint64_t make_key(const uint64_t *address, unsigned int count)
{
	uint64_t key = count;
	unsigned int i;

	for (i = 0; i < count; i++)
		key = (key ^ address[i]) * 0x100000001b3ull;
	return key;
}

static bool grow(struct callers *callers)
{
	const uint32_t room = callers->room ? 2 * callers->room : ROOM_FIRST;
	struct hash hash = { .bits = hash_bits(room) };
	struct perfrec_callers **list;

	list = realloc(callers->list, room * sizeof(struct perfrec_callers *));
	if (!list)
		return false;
	callers->list = list;
	hash.slot = calloc(1u << hash.bits, sizeof(*hash.slot));
	if (!hash.slot)
		return false;
	hash_fill(&hash, 1, callers->count + 1, key_of, list);
	free(callers->hash.slot);
	callers->hash = hash;
	callers->room = room;
	return true;
}

static bool is_same(const struct perfrec_callers *list, const uint64_t *address,
		    unsigned int count)
{
	return list->count == count && !memcmp(list->address, address, count * sizeof(*address));
}

const struct perfrec_callers *callers_get(struct callers *callers, const uint64_t *address,
					  unsigned int count)
{
	const size_t bytes = sizeof(struct perfrec_callers) + count * sizeof(*address);
	const uint64_t first = make_key(address, count);
	struct perfrec_callers *list;
	uint64_t key = first;
	uint32_t *slot;

	if (callers->count == callers->room && !grow(callers))
		return NULL;
	/* On a collision, use the next free key. Only a malicious trace exceeds the limit. */
	while (*(slot = hash_find(&callers->hash, key, key_of, callers->list))) {
		if (key - first == COLLISIONS_MAX)
			return NULL;
		list = callers->list[*slot - 1];
		if (is_same(list, address, count))
			return list;
		key++;
	}
	if (callers->bytes + bytes > CALLERS_BYTES)
		return NULL;
	list = malloc(bytes);
	if (!list)
		return NULL;
	list->key = key;
	list->count = count;
	memcpy(list->address, address, count * sizeof(*address));
	callers->bytes += bytes;
	callers->list[callers->count++] = list;
	*slot = callers->count;
	return list;
}

void callers_free(struct callers *callers)
{
	uint32_t i;

	for (i = 0; i < callers->count; i++)
		free(callers->list[i]);
	free(callers->list);
	free(callers->hash.slot);
}
