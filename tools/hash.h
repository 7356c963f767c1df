/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Implements the hash table that all indexes and caches use. */
#ifndef SIFIVE_TRACE_HASH_H
#define SIFIVE_TRACE_HASH_H

#include <stdint.h>
#include <string.h>

/* The first @hash for hash_bytes() */
#define HASH_START	0xcbf29ce484222325ull

/** hash_bytes() - extend a FNV-1a hash by @length bytes */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
	const uint8_t *at = bytes;

	while (length--)
		hash = (hash ^ *at++) * 0x100000001b3u;
	return hash;
}

/** hash_text() - return the hash of a string */
static inline uint64_t hash_text(const char *text)
{
	return hash_bytes(HASH_START, text, strlen(text));
}

/** hash_place() - return the first slot to try for a key, in a table of 1 << @bits slots */
static inline uint32_t hash_place(uint64_t key, unsigned int bits)
{
	/* Multiplying by 2^64 divided by the golden ratio spreads adjacent keys. */
	return (uint32_t)(key * 0x9e3779b97f4a7c15ull >> (64 - bits));
}

/**
 * struct hash - an index for an array of entries with keys
 * @slot:	for each slot, the number of its entry, counted from 1, or 0 if the slot is free
 * @bits:	binary logarithm of the number of slots, at least one of which is free
 */
struct hash {
	uint32_t	*slot;
	unsigned int	bits;
};

/** hash_bits() - return @bits for a table that is at most half full with @room entries */
static inline unsigned int hash_bits(uint64_t room)
{
	unsigned int bits = 1;

	while (1ull << bits < 2 * room)
		bits++;
	return bits;
}

/**
 * hash_find() - find the slot of a key's entry, or a free slot for the key
 * @key_of:	returns the key of entry @number in @array
 *
 * Always inlined, so that searches with a constant @key_of do not call a function.
 */
static inline __attribute__((always_inline)) uint32_t *
hash_find(const struct hash *hash, uint64_t key,
	  uint64_t (*key_of)(const void *array, uint32_t number), const void *array)
{
	uint32_t mask = (1u << hash->bits) - 1, number;
	uint32_t at = hash_place(key, hash->bits);

	while ((number = hash->slot[at]) && key_of(array, number) != key)
		at = (at + 1) & mask;
	return &hash->slot[at];
}

/** hash_fill() - replace the table's contents with the entries from @first to @end, exclusive */
static inline __attribute__((always_inline)) void
hash_fill(const struct hash *hash, uint32_t first, uint32_t end,
	  uint64_t (*key_of)(const void *array, uint32_t number), const void *array)
{
	uint32_t number;

	memset(hash->slot, 0, sizeof(*hash->slot) << hash->bits);
	for (number = first; number < end; number++)
		*hash_find(hash, key_of(array, number), key_of, array) = number;
}

#endif /* SIFIVE_TRACE_HASH_H */
