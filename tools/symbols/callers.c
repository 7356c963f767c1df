// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Finds the callers of samples. */
#include "perfrec/perfrec.h"
#include "symbols.h"

bool symbols_find_return(struct symbols *symbols, uint64_t address, struct symbol *symbol)
{
	const bool found = symbols_find(symbols, address - 1, symbol);

	symbol->offset += found && !(address & 1);
	return found;
}

/*
 * Return whether the return-address register points into the sampled function, in which case the
 * function has called another function.
 */
static bool is_stale(struct symbols *symbols, uint64_t pc, uint64_t address)
{
	struct symbol sampled, called;

	return symbols_find(symbols, pc, &sampled) &&
	       symbols_find_return(symbols, address, &called) && called.start == sampled.start;
}

/* Copy the callers of the code at @pc. The first entry in @from is the return-address register. */
static unsigned int add_callers(struct symbols *symbols, uint64_t pc, const uint64_t *from,
				unsigned int count, uint64_t *address)
{
	unsigned int added = 0, i;

	if (count && from[0] && !(count > 1 && from[1] == from[0]) &&
	    !is_stale(symbols, pc, from[0]))
		address[added++] = from[0];
	for (i = 1; i < count; i++)
		if (from[i])
			address[added++] = from[i];
	return added;
}

unsigned int symbols_callers(struct symbols *symbols, const struct perfrec_record *record,
			     uint64_t address[SIFIVE_TRACE_CALLERS_MAX])
{
	const struct perfrec_callers *list = perfrec_callers(record);
	const uint64_t pc = record->address[0];
	unsigned int count, user;

	if (!list)
		return 0;
	if (!perfrec_is_kernel(pc))
		return add_callers(symbols, pc, list->address, list->count, address);
	for (user = 1; user < list->count; user++)
		if (list->address[user] && !perfrec_is_kernel(list->address[user]))
			break;
	count = add_callers(symbols, pc, list->address, user, address);
	if (user >= list->count)
		return count;
	/*
	 * Bit 0 marks an address that is not a return address, so symbols_find_return() looks up
	 * the instruction itself, not the preceding instruction.
	 */
	address[count++] = list->address[user] | 1;
	return count + add_callers(symbols, list->address[user], list->address + user + 1,
				   list->count - user - 1, address + count);
}
