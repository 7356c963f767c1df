// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Maps addresses to numbers with a hash table: see functions.h. */
#include <stdlib.h>

#include "functions.h"
#include "hash.h"

/* Initial and maximum number of slots; at most half of the slots are used. */
#define SLOT_BITS_FIRST	9
#define SLOT_BITS	17

/*
 * The arrays are larger than most traces need, but pages that are never accessed use no memory. The
 * place of an address is its index in @address.
 */
struct functions {
	uint32_t	places;		/* number of places; place 0 is unused */
	uint32_t	count;
	struct hash	hash;
	uint64_t	address[FUNCTIONS_MAX];	/* address, by place */
	uint32_t	id[FUNCTIONS_MAX];	/* number, by place */
	uint32_t	first[FUNCTIONS_MAX];	/* first place, by number */
	uint32_t	slot[1u << SLOT_BITS];
};

struct functions *functions_new(void)
{
	struct functions *functions = calloc(1, sizeof(*functions));

	if (functions) {
		functions->places = 1;
		functions->count = 1;
		functions->hash.slot = functions->slot;
		functions->hash.bits = SLOT_BITS_FIRST;
	}
	return functions;
}

void functions_free(struct functions *functions)
{
	free(functions);
}

static uint64_t address_of(const void *addresses, uint32_t place)
{
	return ((const uint64_t *)addresses)[place];
}

static uint32_t *find_slot(struct functions *functions, uint64_t address)
{
	return hash_find(&functions->hash, address, address_of, functions->address);
}

/* Return a new place, or FUNCTIONS_OTHER if all are used. */
static uint32_t add_place(struct functions *functions, uint64_t address)
{
	uint32_t place;

	if (functions->places == FUNCTIONS_MAX)
		return FUNCTIONS_OTHER;
	if (functions->places >> (functions->hash.bits - 1)) {
		functions->hash.bits++;
		hash_fill(&functions->hash, 1, functions->places, address_of,
			  functions->address);
	}
	place = functions->places++;
	*find_slot(functions, address) = place;
	functions->address[place] = address;
	return place;
}

uint32_t functions_find(struct functions *functions, uint64_t address)
{
	return functions->id[*find_slot(functions, address)];
}

uint32_t functions_add(struct functions *functions, uint64_t address, uint64_t same)
{
	uint32_t id = functions_find(functions, same), place;

	if (!id && (place = add_place(functions, same))) {
		id = functions->count++;
		functions->id[place] = id;
		functions->first[id] = place;
	}
	if (id && same != address && (place = add_place(functions, address)))
		functions->id[place] = id;
	return id;
}

uint32_t functions_count(const struct functions *functions)
{
	return functions->count;
}

uint64_t functions_address(const struct functions *functions, uint32_t id)
{
	return id < functions->count ? functions->address[functions->first[id]] : 0;
}
