/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Objects that had the same addresses one after the other. Each gets addresses of its
 * own here, which no program can have, so that an address stands for one object.
 */
#ifndef SIFIVE_TRACE_PLACES_H
#define SIFIVE_TRACE_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "meta.h"

struct places;

/**
 * places_new() - find them
 * @meta:	the side-car file, must outlive the places
 * @places:	set; NULL when no object had another's addresses, which is usual
 *
 * Return: 0, or -1 without memory.
 */
int places_new(const struct meta *meta, struct places **places);

/** places_free() - NULL is fine */
void places_free(struct places *places);

/**
 * places_wrap() - how the trace's timestamps wrap, before anything is looked for
 * @places:	may be NULL
 * @ts_mask:	the greatest one
 */
void places_wrap(struct places *places, uint64_t ts_mask);

/**
 * places_shift() - what an object's own addresses have more than those it had
 * @places:	may be NULL
 * @object:	its index in the side-car file
 */
uint64_t places_shift(const struct places *places, size_t object);

/**
 * places_find() - the own address of what was at an address
 * @places:	may be NULL
 * @address:	in memory
 * @time:	when, in ticks; NULL: unknown
 *
 * Return: @address, where no object of several is known to have been there then.
 */
uint64_t places_find(struct places *places, uint64_t address, const uint64_t *time);

#endif /* SIFIVE_TRACE_PLACES_H */
