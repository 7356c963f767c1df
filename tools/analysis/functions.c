// SPDX-License-Identifier: Apache-2.0 OR MIT
/* A hash table from addresses to numbers: see functions.h. */
#include <stdlib.h>
#include <string.h>

#include "functions.h"
#include "hash.h"

/* Slots at first, and at most; at most half of them are used. */
#define SLOT_BITS_FIRST	9
#define SLOT_BITS	17

/* Untouched pages cost no memory: a short trace uses few of them. */
struct functions {
	uint32_t	places;		/* addresses; place 0 is not used */
	uint32_t	count;
	unsigned int	slot_bits;
	uint64_t	address[FUNCTIONS_MAX];	/* of each place */
	uint32_t	id[FUNCTIONS_MAX];	/* of each place */
	uint32_t	first[FUNCTIONS_MAX];	/* place of each function */
	uint32_t	slot[1u << SLOT_BITS];
};

struct functions *functions_new(void)
{
	struct functions *functions = calloc(1, sizeof(*functions));

	if (functions) {
		functions->places = 1;
		functions->count = 1;
		functions->slot_bits = SLOT_BITS_FIRST;
	}
	return functions;
}

void functions_free(struct functions *functions)
{
	free(functions);
}

/* Returns the slot that has the address, or a free one for it. */
static uint32_t *find_slot(struct functions *functions, uint64_t address)
{
	uint32_t mask = (1u << functions->slot_bits) - 1;
	uint32_t at = hash_place(address, functions->slot_bits);
	uint32_t place;

	while ((place = functions->slot[at]) && functions->address[place] != address)
		at = (at + 1) & mask;
	return &functions->slot[at];
}

static void widen(struct functions *functions)
{
	uint32_t place;

	memset(functions->slot, 0,
	       sizeof(functions->slot[0]) << functions->slot_bits);
	functions->slot_bits++;
	for (place = 1; place < functions->places; place++)
		*find_slot(functions, functions->address[place]) = place;
}

/* A place without a function yet, or FUNCTIONS_OTHER if all are used. */
static uint32_t add_place(struct functions *functions, uint64_t address)
{
	uint32_t place;

	if (functions->places == FUNCTIONS_MAX)
		return FUNCTIONS_OTHER;
	if (functions->places >> (functions->slot_bits - 1))
		widen(functions);
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
	return functions->address[functions->first[id]];
}
