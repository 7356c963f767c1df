// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Formats the names of functions: see analysis.h. */
#include <stdio.h>
#include <string.h>

#include "calls.h"

/* Append @mark to @text, truncating @text if both do not fit. */
static void append(char *text, unsigned int size, const char *mark)
{
	size_t length = strlen(text), marked = strlen(mark);

	if (length + marked + 1 > size)
		length = size - marked - 1;
	strcpy(text + length, mark);
}

void analysis_name(const struct analysis *analysis, uint32_t function,
		   char *text, unsigned int size)
{
	uint64_t address = functions_address(analysis->functions, function);
	struct symbol symbol;

	if (function == FUNCTIONS_OTHER) {
		snprintf(text, size, "(others)");
		return;
	}
	symbols_find(analysis->symbols, address, &symbol);
	symbol_name(&symbol, address, text, size);
	if (symbol.tracer)
		append(text, size, ANALYSIS_TRACER);
}
