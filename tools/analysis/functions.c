// SPDX-License-Identifier: Apache-2.0 OR MIT
/* A hash table from addresses to numbers: see functions.h. */
#include <stdlib.h>

#include "functions.h"

/* Never more than half full. */
#define SLOT_BITS	17

struct functions {
	uint32_t	count;
	uint64_t	address[FUNCTIONS_MAX];
	uint32_t	slot[1u << SLOT_BITS];
};

struct functions *functions_new(void)
{
	struct functions *functions = calloc(1, sizeof(*functions));

	if (functions)
		functions->count = 1;
	return functions;
}

void functions_free(struct functions *functions)
{
	free(functions);
}

uint32_t functions_id(struct functions *functions, uint64_t address)
{
	uint32_t at = (uint32_t)(address * 0x9e3779b97f4a7c15ull >>
				 (64 - SLOT_BITS));
	uint32_t id;

	while ((id = functions->slot[at])) {
		if (functions->address[id] == address)
			return id;
		at = (at + 1) & ((1u << SLOT_BITS) - 1);
	}
	if (functions->count == FUNCTIONS_MAX)
		return FUNCTIONS_OTHER;
	id = functions->count++;
	functions->slot[at] = id;
	functions->address[id] = address;
	return id;
}

uint32_t functions_count(const struct functions *functions)
{
	return functions->count;
}

uint64_t functions_address(const struct functions *functions, uint32_t id)
{
	return functions->address[id];
}
