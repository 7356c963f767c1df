// SPDX-License-Identifier: Apache-2.0 OR MIT
/* sifive-trace coverage: shows the lines, functions and branches executed in a trace. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "covered.h"
#include "coverage.h"
#include "cover.h"
#include "pager.h"
#include "units.h"

/* --demangle was not given, so the format determines the default. */
#define DEMANGLE_UNSET	((enum demangle)-1)

/* Widths of columns. */
#define COUNT_WIDTH	12
#define SHARE_WIDTH	12

enum by {
	BY_UNSET = -1,		/* synonym of BY_FUNCTION */
	BY_FUNCTION,
	BY_FILE,
	BY_LINE,
	BY_PATH,
};

#define TOP_UNSET	0
#define TOP_DEFAULT	20

enum format {
	FORMAT_TEXT,
	FORMAT_LCOV,
};

struct cover {
	struct options	common;
	int		by;
	int		format;
	int		top;
};

static void list_formats(cli_add *add, void *context)
{
	add(context, "text", "a table (default)");
	add(context, "lcov", "a tracefile for lcov and genhtml, with all functions, lines and branches");
}

static const struct cli_option cover_options[] = {
	/* The keywords are in the order of enum by. */
	{ .name = "by", .value = "function|file|line|path",
	  .help = "show a row for each function (default), source file, line with code, or hot path",
	  .set = cli_word, .offset = offsetof(struct cover, by) },
	{ .letter = 'n', .name = "top", .value = "N",
	  .help = "with --by path: show the N hottest paths (default 20)",
	  .set = cli_number, .offset = offsetof(struct cover, top), .least = 1, .most = 1000000 },
	CLI_FORMAT(struct cover, format, list_formats),
	CLI_OUTPUT(struct cover, common.output),
	{ .name = NULL }
};

static const struct cli_group cover_groups[] = {
	{ NULL, cover_options, 0 },
	{ NULL, options_time, offsetof(struct cover, common) },
	OPTIONS_GROUPS(struct cover, common),
	{ .options = NULL }
};

/* ---- tables ------------------------------------------------------------ */

void cover_put_count(struct output *out, uint64_t count, size_t width, bool exact)
{
	char text[32];

	snprintf(text, sizeof(text), "%s%" PRIu64, exact ? "" : "~", count);
	put_right(out, text, width);
}

static void put_count(struct output *out, const struct covered *covered, uint64_t count)
{
	cover_put_count(out, count, COUNT_WIDTH, covered->exact);
}

static void put_share(struct output *out, const struct covered *covered, uint64_t hit,
		      uint64_t all)
{
	char text[48];

	snprintf(text, sizeof(text), "%s%" PRIu64 "/%" PRIu64, covered->exact ? "" : "~", hit,
		 all);
	put_right(out, all ? text : "-", SHARE_WIDTH);
}

void cover_put_percent(struct output *out, uint64_t hit, uint64_t all)
{
	char text[32];

	snprintf(text, sizeof(text), "%.2f", all ? 100.0 * (double)hit / (double)all : 0);
	put_right(out, all ? text : "-", COVER_PERCENT_WIDTH);
}

static void put_sums(struct output *out, const struct covered *covered,
		     const struct covered_sum *sum)
{
	put_share(out, covered, sum->lines_hit, sum->lines);
	cover_put_percent(out, sum->lines_hit, sum->lines);
	put_share(out, covered, sum->branches_hit, sum->branches);
	cover_put_percent(out, sum->branches_hit, sum->branches);
	put_string(out, "  ");
}

static void put_heading(struct output *out, const char *first, const char *last)
{
	output_bold(out, true);
	if (*first)
		put_right(out, first, COUNT_WIDTH);
	put_right(out, "lines", SHARE_WIDTH);
	put_right(out, "%", COVER_PERCENT_WIDTH);
	put_right(out, "branches", SHARE_WIDTH);
	put_right(out, "%", COVER_PERCENT_WIDTH);
	put_format(out, "  %s\n", last);
	output_bold(out, false);
}

static void put_functions(struct output *out, const struct covered *covered)
{
	const struct covered_function *function = covered->function;
	size_t i;

	put_heading(out, "calls", "function");
	for (i = 0; i < covered->functions; i++, function++) {
		put_count(out, covered, function->calls);
		put_sums(out, covered, &function->sum);
		put_text(out, function->name);
		put_string(out, "  ");
		put_text(out, covered->file[function->file].name);
		put_format(out, ":%" PRIu32 "\n", function->line);
	}
}

static void put_files(struct output *out, const struct covered *covered)
{
	const struct covered_sum *sum;
	size_t i;

	put_heading(out, "functions", "file");
	for (i = 0; i <= covered->files; i++) {
		sum = i < covered->files ? &covered->file[i].sum : &covered->sum;
		put_share(out, covered, sum->functions_hit, sum->functions);
		put_sums(out, covered, sum);
		put_text(out, i < covered->files ? covered->file[i].name : "all");
		put_char(out, '\n');
	}
}

/*
 * For each of a line's conditional branches, the first of which is *@branch, write how often it was
 * taken and not taken.
 */
static void put_branches(struct output *out, const struct covered *covered,
			 const struct covered_line *line, size_t *branch)
{
	const struct covered_branch *one;
	char text[48];

	for (; *branch < covered->branches; ++*branch) {
		one = &covered->branch[*branch];
		if (one->file != line->file || one->line != line->line)
			break;
		snprintf(text, sizeof(text), "%s%" PRIu64 "/%" PRIu64,
			 covered->exact ? "" : "~", one->taken, one->next);
		put_format(out, "  %s", one->reached ? text : "-");
	}
}

static void put_lines(struct output *out, const struct covered *covered)
{
	const struct covered_line *line = covered->line;
	size_t i, branch = 0;

	output_bold(out, true);
	put_right(out, "times", COUNT_WIDTH);
	put_string(out, "  line  branches: taken/not taken\n");
	output_bold(out, false);
	for (i = 0; i < covered->lines; i++, line++) {
		put_count(out, covered, line->times);
		put_string(out, "  ");
		put_text(out, covered->file[line->file].name);
		put_format(out, ":%" PRIu32, line->line);
		put_branches(out, covered, line, &branch);
		put_char(out, '\n');
	}
}

/* Write the notes on counts; @why: why counts may be too low, or NULL if they are exact. */
static void put_notes(struct output *out, const char *why, const struct input *input)
{
	char coverage[COVERAGE_SIZE];

	if (why)
		put_format(out, "Counts may be too low (~): %s.\n", why);
	if (coverage_partial(input))
		put_format(out, "Trace %s.\n", coverage_text(input, coverage));
}

static void put_tables(struct output *out, const struct covered *covered, enum by by,
		       const struct input *input)
{
	put_notes(out, covered->exact ? NULL : covered->why, input);
	if (by == BY_FILE)
		put_files(out, covered);
	else if (by == BY_LINE)
		put_lines(out, covered);
	else
		put_functions(out, covered);
}

/* ---- the command ------------------------------------------------------- */

static int put_result(const struct cover *cover, const struct covered *covered,
		      const struct input *input)
{
	struct output *out = pager_open(cover->common.output);

	if (!out)
		return EXIT_UNREADABLE;
	if (cover->format == FORMAT_LCOV)
		cover_put_lcov(out, covered, input);
	else
		put_tables(out, covered, (enum by)cover->by, input);
	return output_close(out) ? EXIT_UNREADABLE : EXIT_OK;
}

static int put_paths(const struct cover *cover, const struct paths *paths,
		     const struct counts *counts, const struct input *input)
{
	struct output *out = pager_open(cover->common.output);
	char why[COUNTS_WHY_SIZE];
	bool exact;

	if (!out)
		return EXIT_UNREADABLE;
	exact = counts_exact(counts, why);
	put_notes(out, exact ? NULL : why, input);
	cover_put_paths(out, paths, input->symbols, (size_t)cover->top, exact);
	if (!exact)
		report("%s: counts may be too low: %s", cover->common.path, why);
	return output_close(out) ? EXIT_UNREADABLE : EXIT_OK;
}

static int make_paths(const struct cover *cover, const struct counts *counts,
		      const struct input *input)
{
	int result = EXIT_UNREADABLE;
	struct executed executed;
	struct paths paths = { 0 };

	if (executed_make(&executed, counts, input->symbols) ||
	    paths_make(&paths, &executed, input->symbols))
		report("out of memory");
	else if (!paths.count && counts_scope(counts)->any)
		report("%s: no paths: no file contains the executed code; name the program with -e or --symfs",
		       cover->common.path);
	else
		result = put_paths(cover, &paths, counts, input);
	paths_free(&paths);
	executed_free(&executed);
	return result;
}

static int make_covered(const struct cover *cover, const struct counts *counts,
			const struct input *input)
{
	struct covered covered;
	int result = EXIT_UNREADABLE;

	if (!covered_make(&covered, counts, input))
		result = EXIT_OK;
	if (!result && !covered.lines && counts_scope(counts)->any) {
		report("%s: no source lines: no executed code has line numbers (compile it with -g, and name the file with -e)",
		       cover->common.path);
		result = EXIT_UNREADABLE;
	} else if (!result) {
		result = put_result(cover, &covered, input);
	}
	if (covered.full) {
		report("%s: too many source lines: part of the source is left out", cover->common.path);
		trace_add(input->trace, &(struct trace_stats){ .flow_losses = 1 });
	}
	if (!covered.exact)
		report("%s: counts may be too low: %s", cover->common.path, covered.why);
	covered_free(&covered);
	return result;
}

static int make_result(const struct cover *cover, const struct counts *counts,
		       const struct input *input)
{
	/* input_summary() reports that the trace has no instruction trace. */
	if (!trace_stats(input->trace)->branches)
		return EXIT_OK;
	return cover->by == BY_PATH ? make_paths(cover, counts, input) :
				      make_covered(cover, counts, input);
}

static int command_coverage(int argc, char **argv)
{
	struct cover cover = { .by = BY_UNSET, .top = TOP_UNSET };
	struct counts *counts = NULL;
	struct input input;
	int result;

	options_init(&cover.common);
	cover.common.threshold = UNITS_NO_TIME;
	cover.common.symbols.demangle = DEMANGLE_UNSET;
	result = options_parse(&coverage_command, &cover, &cover.common, OPTIONS_TRACES,
			       argc, argv);
	if (result)
		return result;
	if (cover.format == FORMAT_LCOV && cover.by != BY_UNSET)
		return usage_error("coverage: --by applies to the table: --format lcov always contains functions, files and lines");
	if (cover.top != TOP_UNSET && cover.by != BY_PATH)
		return usage_error("coverage: -n applies to --by path: the other tables show all rows");
	if (cover.top == TOP_UNSET)
		cover.top = TOP_DEFAULT;
	/* lcov uses mangled names; genhtml demangles them. */
	if (cover.common.symbols.demangle == DEMANGLE_UNSET)
		cover.common.symbols.demangle = cover.format == FORMAT_LCOV ? DEMANGLE_NO :
						DEMANGLE_SIMPLE;
	result = input_open(&input, &cover.common);
	if (!result) {
		counts = counts_read(&input);
		result = counts ? make_result(&cover, counts, &input) : EXIT_UNREADABLE;
	}
	counts_free(counts);
	if (!result)
		result = input_summary(&input, INPUT_FLOW);
	input_close(&input);
	return result;
}

const struct cli_command coverage_command = {
	.name = "coverage",
	.run = command_coverage,
	.summary = "show executed lines, functions, branches and hot paths",
	.arguments = "TRACE...|-",
	.help = "Print how often each function, line and conditional branch of the source was executed in a trace of sifive-trace record --calls, or the hottest paths through the code. All tables except that of hot paths require debug information (-g). The program need not be instrumented." OPTIONS_SEVERAL,
	.groups = cover_groups,
	.status = OPTIONS_STATUS,
	.whole = true,
};
