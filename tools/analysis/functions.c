// SPDX-License-Identifier: Apache-2.0 OR MIT
/* A hash table from addresses to numbers: see functions.h. */
#include <stdlib.h>
#include <string.h>

#include "functions.h"

/* Slots there are at first, and at most: never more than half are full. */
#define SLOT_BITS_FIRST	9
#define SLOT_BITS	17

/* Only what is in use is touched: a short trace does not pay for the rest. */
struct functions {
	uint32_t	count;
	unsigned int	slot_bits;
	uint64_t	address[FUNCTIONS_MAX];
	uint32_t	slot[1u << SLOT_BITS];
};

struct functions *functions_new(void)
{
	struct functions *functions = calloc(1, sizeof(*functions));

	if (functions) {
		functions->count = 1;
		functions->slot_bits = SLOT_BITS_FIRST;
	}
	return functions;
}

void functions_free(struct functions *functions)
{
	free(functions);
}

/* Return the slot that has the address, or is free for it. */
static uint32_t *find_slot(struct functions *functions, uint64_t address)
{
	uint32_t mask = (1u << functions->slot_bits) - 1;
	uint32_t at = (uint32_t)(address * 0x9e3779b97f4a7c15ull >>
				 (64 - functions->slot_bits));
	uint32_t id;

	while ((id = functions->slot[at]) && functions->address[id] != address)
		at = (at + 1) & mask;
	return &functions->slot[at];
}

static void widen(struct functions *functions)
{
	uint32_t id;

	memset(functions->slot, 0,
	       sizeof(functions->slot[0]) << functions->slot_bits);
	functions->slot_bits++;
	for (id = 1; id < functions->count; id++)
		*find_slot(functions, functions->address[id]) = id;
}

uint32_t functions_id(struct functions *functions, uint64_t address)
{
	uint32_t *slot = find_slot(functions, address);

	if (*slot)
		return *slot;
	if (functions->count == FUNCTIONS_MAX)
		return FUNCTIONS_OTHER;
	if (functions->count >> (functions->slot_bits - 1)) {
		widen(functions);
		slot = find_slot(functions, address);
	}
	*slot = functions->count++;
	functions->address[*slot] = address;
	return *slot;
}

uint32_t functions_find(struct functions *functions, uint64_t address)
{
	return *find_slot(functions, address);
}

uint32_t functions_count(const struct functions *functions)
{
	return functions->count;
}

uint64_t functions_address(const struct functions *functions, uint32_t id)
{
	return functions->address[id];
}
