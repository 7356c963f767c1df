// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The callers of samples. */
#include "perfrec/perfrec.h"
#include "symbols.h"

bool symbols_find_return(struct symbols *symbols, uint64_t address, struct symbol *symbol)
{
	const bool found = symbols_find(symbols, address - 1, symbol);

	symbol->offset += found;
	return found;
}

/* Whether the return-address register points into the sampled function, after a call there. */
static bool is_stale(struct symbols *symbols, uint64_t pc, uint64_t address)
{
	struct symbol sampled, called;

	return symbols_find(symbols, pc, &sampled) &&
	       symbols_find_return(symbols, address, &called) && called.start == sampled.start;
}

unsigned int symbols_callers(struct symbols *symbols, const struct perfrec_record *record,
			     uint64_t address[SIFIVE_TRACE_CALLERS_MAX])
{
	const struct perfrec_callers *list = perfrec_callers(record);
	unsigned int count = 0, i;

	if (!list)
		return 0;
	if (list->address[0] && !(list->count > 1 && list->address[1] == list->address[0]) &&
	    !is_stale(symbols, record->address[0], list->address[0]))
		address[count++] = list->address[0];
	for (i = 1; i < list->count; i++)
		if (list->address[i])
			address[count++] = list->address[i];
	return count;
}
