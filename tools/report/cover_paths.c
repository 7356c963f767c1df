// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Writes hot paths as a table. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "analysis.h"
#include "cover.h"

/* Widths of columns. */
#define COUNT_WIDTH	14
#define LENGTH_WIDTH	8
#define ITERATIONS_WIDTH	12

#define NAME_SIZE	512

struct table {
	struct output		*out;
	const struct paths	*paths;
	struct symbols		*symbols;
	bool			exact;
};

static void put_count(const struct table *table, uint64_t count)
{
	cover_put_count(table->out, count, COUNT_WIDTH, table->exact);
}

/* Print the number of executed instructions, and their share of all instructions. */
static void put_executed(const struct table *table, uint64_t executed)
{
	cover_put_percent(table->out, executed, table->paths->executed);
	put_count(table, executed);
}

/* Write a loop's average number of iterations (executions of its first block) per entry. */
static void put_iterations(const struct table *table, const struct path *path)
{
	const uint64_t times = table->paths->block[*path->block].times;
	const uint64_t entered = path->entered ? path->entered : 1;
	char text[32] = "-";

	/* A trace that begins within a loop may not contain the entry into the loop. */
	if (path->again)
		snprintf(text, sizeof(text), "%s%.1f", table->exact ? "" : "~",
			 (double)times / (double)entered);
	put_right(table->out, text, ITERATIONS_WIDTH);
}

/* Extend @from and @to to the line of an address, if the line is in @file. */
static void add_line(const struct table *table, uint64_t address, const char *file, int *from,
		     int *to)
{
	struct symbol symbol;

	symbols_find(table->symbols, address, &symbol);
	if (!symbol.line || !symbol.file || strcmp(symbol.file, file))
		return;
	*from = symbol.line < *from ? symbol.line : *from;
	*to = symbol.line > *to ? symbol.line : *to;
}

/* Write the range of a path's lines in the source file of the path's hottest block. */
static void put_lines(const struct table *table, const struct path *path)
{
	const struct paths_block *block = &table->paths->block[path->hottest];
	int from = INT_MAX, to = 0;
	struct symbol symbol;
	uint64_t address;
	size_t i;

	symbols_find(table->symbols, block->start, &symbol);
	if (!symbol.file || !symbol.line)
		return;
	for (i = 0; i < path->blocks; i++) {
		block = &table->paths->block[path->block[i]];
		for (address = block->start; address <= block->last; address += 2)
			add_line(table, address, symbol.file, &from, &to);
	}
	put_string(table->out, "  ");
	put_text(table->out, symbol.file);
	put_format(table->out, from == to ? ":%d" : ":%d-%d", from, to);
}

static void put_path(const struct table *table, const struct path *path)
{
	const struct paths_block *first = &table->paths->block[*path->block];
	char name[NAME_SIZE];
	struct symbol symbol;

	put_executed(table, path->executed);
	put_count(table, table->paths->block[path->hottest].times);
	put_number(table->out, path->instructions, LENGTH_WIDTH);
	put_iterations(table, path);
	symbols_find(table->symbols, first->start, &symbol);
	symbol_name(&symbol, first->start, name, sizeof(name));
	put_string(table->out, "  ");
	put_text(table->out, name);
	if (symbol.tracer)
		put_string(table->out, ANALYSIS_TRACER);
	put_lines(table, path);
	put_char(table->out, '\n');
}

static void put_rest(const struct table *table, size_t from)
{
	uint64_t executed = 0;
	size_t i;

	for (i = from; i < table->paths->count; i++)
		executed += table->paths->path[i].executed;
	put_executed(table, executed);
	put_spaces(table->out, COUNT_WIDTH + LENGTH_WIDTH + ITERATIONS_WIDTH);
	put_format(table->out, "  (%zu more)\n", table->paths->count - from);
}

void cover_put_paths(struct output *out, const struct paths *paths, struct symbols *symbols,
		     size_t top, bool exact)
{
	const struct table table = { out, paths, symbols, exact };
	size_t i;

	output_bold(out, true);
	put_right(out, "%", COVER_PERCENT_WIDTH);
	put_right(out, "instructions", COUNT_WIDTH);
	put_right(out, "times", COUNT_WIDTH);
	put_right(out, "length", LENGTH_WIDTH);
	put_right(out, "iterations", ITERATIONS_WIDTH);
	put_string(out, "  path\n");
	output_bold(out, false);
	for (i = 0; i < paths->count && i < top; i++)
		put_path(&table, &paths->path[i]);
	if (i < paths->count)
		put_rest(&table, i);
}
