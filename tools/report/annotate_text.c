// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Writes annotate's tables as text: see annotate.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "annotate.h"
#include "coverage.h"
#include "units.h"

/* Widths of columns. */
#define PERCENT_WIDTH	7
#define COUNT_WIDTH	13
#define TIME_WIDTH	13
#define ADDRESS_WIDTH	10
#define TEXT_WIDTH	32
/* Buffer size for an instruction as text, and for the names of inlined functions. */
#define TEXT_SIZE	1024

/* The current table; @width is the width of the columns before the text. */
struct table {
	const struct annotate_view	*view;
	struct output			*out;
	const struct annotated_function	*function;
	const struct annotated_cost	*all;
	size_t				width;
	struct inlines			inlines;
	char				source[TEXT_SIZE];	/* source of the latest row */
	bool				begun;
};

/* ---- columns ----------------------------------------------------------- */

static void put_share(struct table *table, uint64_t part, uint64_t all)
{
	char text[UNITS_SIZE] = "";

	if (all && part)
		snprintf(text, sizeof(text), "%.2f", 100.0 * (double)part / (double)all);
	put_right(table->out, text, PERCENT_WIDTH);
}

static void put_executions(struct table *table, uint64_t count, bool known)
{
	char text[UNITS_SIZE];

	snprintf(text, sizeof(text), "%s%" PRIu64, table->view->annotated->exact ? "" : "~", count);
	put_right(table->out, known ? text : "-", COUNT_WIDTH);
}

/* Leave the column empty if the count is 0. */
static void put_count(struct table *table, uint64_t count)
{
	if (count)
		put_number(table->out, count, COUNT_WIDTH);
	else
		put_spaces(table->out, COUNT_WIDTH);
}

static const char *time_text(const struct table *table, const struct annotated_cost *cost,
			     char text[UNITS_SIZE])
{
	if (!annotated_is_timed(cost))
		return "-";
	units_time(text, cost->time, table->view->annotated->input.hz);
	return units_mark(text, cost->untimed || cost->inferred);
}

static void put_calls(struct table *table, const struct annotated_cost *cost)
{
	char text[UNITS_SIZE];

	put_share(table, cost->time, table->function->sum.time);
	put_count(table, cost->calls);
	put_right(table->out, cost->calls ? time_text(table, cost, text) : "", TIME_WIDTH);
}

/* Write a cost. @line: the line that has this cost, or NULL for an instruction. */
static void put_cost(struct table *table, const struct annotated_cost *cost,
		     const struct annotate_line *line)
{
	uint64_t times;
	bool known;

	if (table->view->annotated->flow) {
		put_share(table, cost->executed, table->function->sum.executed);
		put_executions(table, cost->executed, true);
	}
	if (table->view->annotated->flow && line) {
		known = annotate_times(table->view, line, &times);
		put_executions(table, times, known);
	}
	if (table->all->samples) {
		put_share(table, cost->samples, table->function->sum.samples);
		put_count(table, cost->samples);
	}
	if (table->all->calls)
		put_calls(table, cost);
}

/* Write the headings of the columns; return their total width. */
static size_t put_heading(struct table *table, bool lines)
{
	const struct annotated *annotated = table->view->annotated;
	struct output *out = table->out;
	size_t width = 0;

	output_bold(out, true);
	if (annotated->flow) {
		put_right(out, "%", PERCENT_WIDTH);
		put_right(out, lines ? "instructions" : "times", COUNT_WIDTH);
		width += PERCENT_WIDTH + COUNT_WIDTH;
	}
	if (annotated->flow && lines)
		put_right(out, "times", COUNT_WIDTH);
	if (table->all->samples) {
		put_right(out, "%", PERCENT_WIDTH);
		put_right(out, "samples", COUNT_WIDTH);
		width += PERCENT_WIDTH + COUNT_WIDTH;
	}
	if (table->all->calls) {
		put_right(out, "%", PERCENT_WIDTH);
		put_right(out, "calls", COUNT_WIDTH);
		put_right(out, "in them", TIME_WIDTH);
		width += PERCENT_WIDTH + COUNT_WIDTH + TIME_WIDTH;
	}
	if (!lines)
		put_right(out, "address", ADDRESS_WIDTH);
	put_string(out, lines ? "  line\n" : "  instruction\n");
	output_bold(out, false);
	return width;
}

/* ---- the heading of a function -------------------------------------- */

static void put_sum(struct table *table, const char *before, uint64_t part, uint64_t all,
		    const char *what)
{
	put_format(table->out, "%s%" PRIu64 " %s, %.2f%% of all", before, part, what,
		   100.0 * (double)part / (double)all);
}

static void put_sums(struct table *table)
{
	const struct annotated_cost *sum = &table->function->sum, *all = table->all;
	const char *before = "  ";
	char text[UNITS_SIZE];

	if (sum->executed) {
		put_sum(table, table->view->annotated->exact ? before : "  ~", sum->executed,
			all->executed,
			sum->executed == 1 ? "instruction executed" : "instructions executed");
		before = "; ";
	}
	if (sum->samples) {
		put_sum(table, before, sum->samples, all->samples,
			sum->samples == 1 ? "sample" : "samples");
		before = "; ";
	}
	if (sum->calls)
		put_format(table->out, "%s%" PRIu64 " call%s from here, taking %s", before,
			   sum->calls, sum->calls == 1 ? "" : "s", time_text(table, sum, text));
	put_char(table->out, '\n');
}

static void put_addresses(struct table *table, const struct annotated_function *function)
{
	put_format(table->out, "  %zu address%s, shown if \"", function->entries,
		   function->entries == 1 ? "" : "es");
	put_text(table->out, function->name);
	put_string(table->out, "\" is named.\n");
}

static void put_function(struct table *table)
{
	const struct annotated_function *function = table->function;
	const bool has_code = annotated_has_code(table->view->annotated, function);
	const bool generated = function->known &&
		symbols_generated(table->view->annotated->input.symbols, function->start);

	put_char(table->out, '\n');
	output_bold(table->out, true);
	put_text(table->out, function->name);
	output_bold(table->out, false);
	if (function->known && function->object) {
		put_string(table->out, "  ");
		put_text(table->out, function->object);
	}
	if (function->file) {
		put_string(table->out, "  ");
		put_text(table->out, function->file);
		put_format(table->out, ":%d", function->line);
	}
	put_char(table->out, '\n');
	put_sums(table);
	if (!has_code && generated)
		put_string(table->out, "  The program generated this function, and its code was not recorded: only addresses are shown.\n");
	else if (!has_code)
		put_string(table->out, "  No file contains its code: only addresses are shown; name the file with -e or --symfs.\n");
	else if (!function->known)
		put_string(table->out, " Not in a named function: the file is stripped, or a compiler did not generate this code.\n");
	if (!function->known && !table->view->named)
		put_addresses(table, function);
	else if (has_code && !function->file && !table->view->annotate->no_source)
		put_string(table->out, generated ?
			   "  No source lines: the program generated this function.\n" :
			   "  No source lines: the file has no line numbers for this function (compile with -g).\n");
}

/* ---- instructions ------------------------------------------------------ */

static void put_source(struct table *table, const struct annotated_row *row)
{
	const struct inlines *inlines = &table->inlines;
	char inlined[TEXT_SIZE / 2], text[TEXT_SIZE];
	const char *line = NULL;

	annotate_source(table->view, row, &table->inlines);
	annotate_inlined(inlines, inlined, sizeof(inlined));
	if (inlines->file)
		snprintf(text, sizeof(text), "%s:%d%s%s", inlines->file, inlines->line,
			 *inlined ? ", " : "", inlined);
	else
		strcpy(text, "(no source line)");
	if (!strcmp(text, table->source) || (!inlines->file && !table->begun))
		return;
	strcpy(table->source, text);
	table->begun = true;
	put_spaces(table->out, table->width + ADDRESS_WIDTH + 2);
	put_text(table->out, text);
	if (inlines->file && table->view->sources)
		line = annotate_sources_line(table->view->sources, inlines->dir, inlines->file,
					     inlines->line);
	if (line) {
		put_string(table->out, "  ");
		put_text(table->out, line);
	}
	put_char(table->out, '\n');
}

static void put_ways(struct table *table, const struct annotated_cost *cost)
{
	const char *mark = table->view->annotated->exact ? "" : "~";

	if (table->view->annotated->flow)
		put_format(table->out, "  taken %s%" PRIu64 ", not %s%" PRIu64, mark, cost->taken,
			   mark, cost->next);
}

/* Write the target of a branch, jump or call. */
static void put_target(struct table *table, const struct annotated_row *row)
{
	struct symbols *symbols = table->view->annotated->input.symbols;
	const uint64_t address = row->of.target - row->place + row->address;
	char name[ANNOTATED_NAME_SIZE];
	struct symbol symbol;

	if (symbols_find(symbols, row->of.target, &symbol) && table->function->known &&
	    symbol.start == table->function->start) {
		put_format(table->out, "  # %" PRIx64, address);
		return;
	}
	/* Outside of generated code, the address is not known to belong to anything. */
	symbol_name(&symbol, symbol.known || symbol.object ? row->of.target : address, name,
		    sizeof(name));
	put_string(table->out, "  # ");
	put_text(table->out, name);
}

static void put_instruction(struct table *table, const struct annotated_row *row)
{
	char text[TEXT_SIZE];

	disassembler_text(table->view->disassembler, row->rv32, row->code, row->of.halfwords,
			  row->address, text, sizeof(text));
	if (row->of.kind != FLOW_BRANCH && row->of.kind != FLOW_JUMP && row->of.kind != FLOW_CALL) {
		put_text(table->out, text);
		return;
	}
	put_left(table->out, text, TEXT_WIDTH);
	put_target(table, row);
	if (row->of.kind == FLOW_BRANCH)
		put_ways(table, &row->cost);
}

static void on_row(void *context, const struct annotated_row *row)
{
	static const char * const kinds[] = {
		[ANNOTATED_INSTRUCTION] = "(unknown instruction)",
		[ANNOTATED_CALL] = "(a call that returns to here)",
		[ANNOTATED_VAGUE] = "(calls from unknown places in the function)",
		[ANNOTATED_STRAY] = "(no instruction of the function begins here)",
	};
	struct table *table = context;
	char address[UNITS_SIZE];

	if (!table->view->annotate->no_source)
		put_source(table, row);
	put_cost(table, &row->cost, NULL);
	snprintf(address, sizeof(address), "%" PRIx64, row->address);
	put_string(table->out, "  ");
	put_right(table->out, row->kind == ANNOTATED_VAGUE ? "-" : address, ADDRESS_WIDTH - 2);
	put_string(table->out, "  ");
	if (row->code)
		put_instruction(table, row);
	else
		put_string(table->out, kinds[row->kind]);
	put_char(table->out, '\n');
}

/* ---- lines ------------------------------------------------------------- */

static void put_line(struct table *table, const struct annotate_line *line)
{
	const struct annotate_view *view = table->view;
	const char *text = NULL;
	size_t i;

	put_cost(table, &line->cost, line);
	put_string(table->out, "  ");
	if (line->file) {
		put_text(table->out, line->file);
		put_format(table->out, ":%d", line->line);
	} else {
		put_string(table->out, "(no source line)");
	}
	if (*line->inlined) {
		put_string(table->out, ", ");
		put_text(table->out, line->inlined);
	}
	for (i = 0; i < line->branches; i++)
		put_ways(table, &line->branch[i]);
	if (line->file && view->sources)
		text = annotate_sources_line(view->sources, line->dir, line->file, line->line);
	if (text) {
		put_string(table->out, "  ");
		put_text(table->out, text);
	}
	put_char(table->out, '\n');
}

static bool put_lines(struct table *table)
{
	struct annotate_line *line;
	size_t lines, i;
	const bool done = annotate_lines(table->view, table->function, &line, &lines);

	for (i = 0; done && i < lines; i++)
		put_line(table, &line[i]);
	annotate_lines_free(line, lines);
	return done;
}

/* ---- the output --------------------------------------------------------- */

static void put_notes(const struct annotate_view *view)
{
	const struct annotated *annotated = view->annotated;
	char coverage[COVERAGE_SIZE];

	if (annotated->flow && !annotated->exact)
		put_format(view->out, "Counts may be too low (~): %s.\n", annotated->why);
	if (coverage_partial(&annotated->input))
		put_format(view->out, "Trace %s.\n", coverage_text(&annotated->input, coverage));
}

bool annotate_text(const struct annotate_view *view)
{
	const bool lines = view->annotate->source_only;
	size_t i;
	bool done = true;

	put_notes(view);
	for (i = 0; i < view->functions && done; i++) {
		struct table table = {
			.view = view, .out = view->out, .function = view->function[i],
			.all = &view->annotated->sum,
		};

		put_function(&table);
		if (!table.function->known && !view->named)
			continue;
		table.width = put_heading(&table, lines);
		if (lines)
			done = put_lines(&table);
		else
			annotated_rows(view->annotated, table.function, on_row, &table);
	}
	if (!view->named && view->functions < view->annotated->functions)
		put_format(view->out, "\n(%zu more, see -n)\n",
			   view->annotated->functions - view->functions);
	return done;
}
