/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Stores the callers of samples, each distinct list once. Private to tools/perfrec and tools/trace.
 */
#ifndef SIFIVE_TRACE_CALLERS_H
#define SIFIVE_TRACE_CALLERS_H

#include "../hash.h"
#include "perfrec.h"

/* Maximum size of all lists. Samples whose list does not fit have no callers. */
#define CALLERS_BYTES	(32u << 20)

/* struct callers - all lists; empty if zeroed */
struct callers {
	struct hash		hash;
	struct perfrec_callers	**list;
	uint32_t		count;
	uint32_t		room;
	size_t			bytes;
};

/**
 * callers_get() - find or add a list of addresses
 *
 * Return: the list, valid until callers_free(), or NULL if there is no room for it.
 */
const struct perfrec_callers *callers_get(struct callers *callers, const uint64_t *address,
					  unsigned int count);

/** callers_free() - free all lists */
void callers_free(struct callers *callers);

#endif /* SIFIVE_TRACE_CALLERS_H */
