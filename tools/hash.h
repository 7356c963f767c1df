/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Where hash tables keep their keys. */
#ifndef SIFIVE_TRACE_HASH_H
#define SIFIVE_TRACE_HASH_H

#include <stdint.h>

/** hash_place() - where a key belongs in a table of 1 << @bits places */
static inline uint32_t hash_place(uint64_t key, unsigned int bits)
{
	/* 2^64 divided by the golden ratio spreads keys that are close together. */
	return (uint32_t)(key * 0x9e3779b97f4a7c15ull >> (64 - bits));
}

#endif /* SIFIVE_TRACE_HASH_H */
