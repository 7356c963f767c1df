// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Finds the instructions of a function and their costs: see annotated.h. */
#include "annotated.h"
#include "image.h"

/**
 * struct walk - a pass over a function's code and sites
 * @code:	@size bytes of the function's code
 * @image, @bias: the file with the code, and difference between addresses in memory and in the file
 * @at:		index of the next site
 */
struct walk {
	struct annotated		*annotated;
	const struct annotated_function	*function;
	void				(*each)(void *context, const struct annotated_row *row);
	void				*context;
	const uint8_t			*code;
	uint64_t			size;
	bool				rv32;
	struct image			*image;
	uint64_t			bias;
	bool				sized;
	size_t				at;
};

static const uint8_t *find_code(struct annotated *annotated, uint64_t place, uint64_t *size,
				bool *rv32)
{
	return code_bytes(counts_code(annotated->counts), place, size, rv32);
}

bool annotated_has_code(struct annotated *annotated, const struct annotated_function *function)
{
	uint64_t size;
	bool rv32;

	return find_code(annotated, function->entry->known ? function->start :
			 function->entry->place & ~1ull, &size, &rv32);
}

/* Find the part of the function that the file contains. */
static void find_function(struct walk *walk)
{
	struct symbols *symbols = walk->annotated->input.symbols;
	const uint64_t start = walk->function->start;
	const struct image_function *function;

	walk->code = find_code(walk->annotated, start, &walk->size, &walk->rv32);
	walk->image = walk->code ? symbols_image(symbols, start, &walk->bias) : NULL;
	function = walk->image ? image_function(walk->image, start - walk->bias) : NULL;
	if (!function)
		walk->code = NULL;
	else if (walk->size > function->end - function->start)
		walk->size = function->end - function->start;
	walk->sized = function && function->sized;
}

/*
 * Return whether an address belongs to another function. A label in a function is treated as the
 * start of a separate function.
 */
static bool is_others(const struct walk *walk, uint64_t place)
{
	const struct image_function *of = image_function(walk->image, place - walk->bias);

	return !of || of->start != walk->function->start - walk->bias;
}

static void give(struct walk *walk, struct annotated_row *row)
{
	struct symbols *symbols = walk->annotated->input.symbols;
	struct symbols_object object;
	struct symbol symbol;

	row->address = row->place;
	if (symbols_object(symbols, row->place, &object))
		row->address -= object.bias;
	/* Generated code is not in an object. */
	else if (symbols_find(symbols, row->place, &symbol))
		row->address = symbol.offset;
	walk->each(walk->context, row);
}

static const struct annotated_entry *next_entry(const struct walk *walk)
{
	return walk->at < walk->function->entries ? &walk->function->entry[walk->at] : NULL;
}

/* Add the costs of the next site, and of all other sites at the same address. */
static void take(struct walk *walk, struct annotated_cost *cost)
{
	const struct annotated_entry *first = next_entry(walk), *entry = first;

	for (; entry && entry->place == first->place && entry->vague == first->vague;
	     entry = next_entry(walk)) {
		annotated_add(cost, &walk->annotated->site[entry->site].cost);
		walk->at++;
	}
}

/*
 * Data between instructions can resemble an instruction that overlaps the executed instruction
 * after it. If @row is such data, truncate it before that instruction and return true.
 */
static bool is_data(const struct walk *walk, struct annotated_row *row)
{
	const uint64_t end = row->place + 2 * row->of.halfwords;
	const struct annotated_entry *entry;
	size_t i;

	for (i = walk->at; i < walk->function->entries; i++) {
		entry = &walk->function->entry[i];
		if (entry->place >= end)
			break;
		if (entry->place & 1 || !walk->annotated->site[entry->site].cost.executed)
			continue;
		if (entry->place == row->place)
			break;
		row->of.halfwords = (uint8_t)((entry->place - row->place) / 2);
		return true;
	}
	return false;
}

static void give_vague(struct walk *walk)
{
	const struct annotated_entry *entry = next_entry(walk);
	struct annotated_row row = { .kind = ANNOTATED_VAGUE };

	if (!entry || !entry->vague)
		return;
	row.place = entry->start;
	take(walk, &row.cost);
	give(walk, &row);
}

/* Pass on the sites before @end. None of these is at an instruction. */
static void give_strays(struct walk *walk, uint64_t end)
{
	const struct annotated_entry *entry;

	while ((entry = next_entry(walk)) && entry->place < end) {
		struct annotated_row row = {
			.kind = entry->place & 1 ? ANNOTATED_CALL : ANNOTATED_STRAY,
			.place = entry->place + (entry->place & 1),
		};

		take(walk, &row.cost);
		give(walk, &row);
	}
}

/*
 * Pass on an instruction with the costs of the sites at its address and within it: a call's site is
 * the last byte of the calling instruction.
 */
static void give_instruction(struct walk *walk, struct annotated_row *row)
{
	const uint64_t last = row->place + 2 * row->of.halfwords - 1;
	const struct annotated_entry *entry = next_entry(walk);
	size_t i;

	if (entry && entry->place == row->place)
		take(walk, &row->cost);
	/* Sites of calls can come after sites that are not at an instruction. */
	for (i = walk->at; i < walk->function->entries; i++) {
		entry = &walk->function->entry[i];
		if (entry->place > last)
			break;
		if (entry->place & 1)
			annotated_add(&row->cost, &walk->annotated->site[entry->site].cost);
	}
	give(walk, row);
	while ((entry = next_entry(walk)) && entry->place <= last) {
		if (entry->place & 1)
			walk->at++;
		else
			give_strays(walk, entry->place + 1);
	}
}

/* Without code, or outside functions, pass on a row for each address. */
static void give_sites(struct walk *walk)
{
	const struct annotated_entry *entry;
	uint64_t size;

	while ((entry = next_entry(walk))) {
		struct annotated_row row = { .place = entry->place };

		if (!(entry->place & 1))
			row.code = find_code(walk->annotated, row.place, &size, &row.rv32);
		if (row.code && instruction_read(row.code, size, row.place, row.rv32, &row.of)) {
			give_instruction(walk, &row);
			continue;
		}
		row.code = NULL;
		row.kind = entry->place & 1 ? ANNOTATED_CALL : ANNOTATED_INSTRUCTION;
		row.place += entry->place & 1;
		take(walk, &row.cost);
		give(walk, &row);
	}
}

void annotated_rows(struct annotated *annotated, const struct annotated_function *function,
		    void (*each)(void *context, const struct annotated_row *row), void *context)
{
	struct walk walk = {
		.annotated = annotated, .function = function, .each = each, .context = context,
	};
	struct annotated_row row;
	uint64_t at = 0;
	bool others;

	give_vague(&walk);
	if (function->known)
		find_function(&walk);
	for (; walk.code && at < walk.size; at += 2 * row.of.halfwords) {
		row = (struct annotated_row){
			.place = function->start + at, .code = walk.code + at, .rv32 = walk.rv32,
		};
		give_strays(&walk, row.place);
		others = is_others(&walk, row.place);
		/* A function of unknown size extends to the next function. */
		if ((others && !walk.sized) ||
		    !instruction_read(row.code, walk.size - at, row.place, row.rv32, &row.of))
			break;
		if (is_data(&walk, &row)) {
			row.kind = ANNOTATED_STRAY;
			row.code = NULL;
		}
		if (!others)
			give_instruction(&walk, &row);
	}
	if (walk.code)
		give_strays(&walk, UINT64_MAX);
	else
		give_sites(&walk);
}
