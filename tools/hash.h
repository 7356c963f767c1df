/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The hash function of all hash tables. */
#ifndef SIFIVE_TRACE_HASH_H
#define SIFIVE_TRACE_HASH_H

#include <stdint.h>

/** hash_place() - the first slot to try for a key, in a table of 1 << @bits slots */
static inline uint32_t hash_place(uint64_t key, unsigned int bits)
{
	/* 2^64 divided by the golden ratio spreads adjacent keys. */
	return (uint32_t)(key * 0x9e3779b97f4a7c15ull >> (64 - bits));
}

#endif /* SIFIVE_TRACE_HASH_H */
