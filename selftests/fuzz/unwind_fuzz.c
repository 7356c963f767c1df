// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Finds callers from a sample's registers and stack, in a file with unwind tables. The first byte
 * selects whether a side-car file contains the addresses of that file and of the vdso.
 */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "perfrec/perfrec.h"
#include "symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* See unwind_sample.S. */
#define PROGRAM		"corpus/elf/unwind.in"

static struct meta_object objects[] = {
	{ .path = PROGRAM, .start = 0x70000, .end = 0x71000, .to = UINT64_MAX },
	{ .path = META_VDSO, .start = 0x3ff7ffc000, .end = 0x3ff7ffe000, .bias = 0x3ff7ffc000,
	  .to = UINT64_MAX },
};

static const struct symbols_options options = { .file = { PROGRAM }, .files = 1 };

/* Return the symbols, read with or without the side-car file. */
static struct symbols *get(bool named)
{
	static const struct meta none;
	static const struct meta meta = { .object = objects, .objects = 2 };
	static struct symbols *symbols[2];

	if (!symbols[named])
		symbols[named] = symbols_open(&options, named ? &meta : &none);
	if (!symbols[named])
		abort();
	return symbols[named];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t address[SIFIVE_TRACE_CALLERS_MAX];
	struct perfrec_stack *stack;
	struct symbols *symbols;
	struct symbol symbol;
	unsigned int count, i;

	if (size < 1 + sizeof(stack->reg) || size > 1 + sizeof(stack->reg) + sizeof(stack->word))
		return 0;
	stack = calloc(1, sizeof(*stack));
	if (!stack)
		return 0;
	symbols = get(data[0] & 1);
	memcpy(stack->reg, data + 1, sizeof(stack->reg));
	size -= 1 + sizeof(stack->reg);
	stack->words = (uint32_t)(size / sizeof(stack->word[0]));
	memcpy(stack->word, data + 1 + sizeof(stack->reg), stack->words * sizeof(stack->word[0]));
	count = symbols_unwind(symbols, stack, address);
	if (!count || count > SIFIVE_TRACE_CALLERS_MAX || address[0])
		abort();
	for (i = 1; i < count; i++) {
		if (!address[i])
			abort();
		symbols_find_return(symbols, address[i], &symbol);
	}
	free(stack);
	return 0;
}
