// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Writes coverage as a tracefile for lcov: see geninfo(1). */
#include <inttypes.h>
#include <string.h>

#include "coverage.h"
#include "cover.h"

/* Indexes of the next function, line and branch to write; the lists are sorted by file. */
struct at {
	size_t	function;
	size_t	branch;
	size_t	line;
};

static bool is_same(const struct covered_function *one, const struct covered_function *two)
{
	return one->file == two->file && one->line == two->line && !strcmp(one->name, two->name);
}

/* Merge copies of a function, for example of one that is defined in a header. */
static void put_functions(struct output *out, const struct covered *covered, uint32_t file,
			  struct at *at)
{
	const struct covered_function *function;
	uint64_t calls = 0;

	for (; at->function < covered->functions &&
	     covered->function[at->function].file == file; at->function++) {
		function = &covered->function[at->function];
		calls += function->calls;
		if (at->function + 1 < covered->functions && is_same(function, function + 1))
			continue;
		put_format(out, "FN:%" PRIu32 ",", function->line);
		put_text(out, function->name);
		put_format(out, "\nFNDA:%" PRIu64 ",", calls);
		put_text(out, function->name);
		put_char(out, '\n');
		calls = 0;
	}
}

static void put_branch(struct output *out, const struct covered_branch *branch,
		       unsigned int block, unsigned int way, uint64_t times)
{
	put_format(out, "BRDA:%" PRIu32 ",%u,%u,", branch->line, block, way);
	if (branch->reached)
		put_number(out, times, 0);
	else
		put_char(out, '-');
	put_char(out, '\n');
}

static void put_branches(struct output *out, const struct covered *covered, uint32_t file,
			 struct at *at)
{
	const struct covered_branch *branch;
	unsigned int block = 0;
	uint32_t line = 0;

	for (; at->branch < covered->branches && covered->branch[at->branch].file == file;
	     at->branch++) {
		branch = &covered->branch[at->branch];
		block = branch->line == line ? block + 1 : 0;
		line = branch->line;
		put_branch(out, branch, block, 0, branch->taken);
		put_branch(out, branch, block, 1, branch->next);
	}
}

static void put_lines(struct output *out, const struct covered *covered, uint32_t file,
		      struct at *at)
{
	const struct covered_line *line;

	for (; at->line < covered->lines && covered->line[at->line].file == file; at->line++) {
		line = &covered->line[at->line];
		put_format(out, "DA:%" PRIu32 ",%" PRIu64 "\n", line->line, line->times);
	}
}

static void put_file(struct output *out, const struct covered *covered, uint32_t file,
		     struct at *at)
{
	const struct covered_sum *sum = &covered->file[file].sum;

	put_string(out, "TN:\nSF:");
	put_text(out, covered->file[file].path);
	put_char(out, '\n');
	put_functions(out, covered, file, at);
	put_format(out, "FNF:%" PRIu64 "\nFNH:%" PRIu64 "\n", sum->functions,
		   sum->functions_hit);
	put_branches(out, covered, file, at);
	put_format(out, "BRF:%" PRIu64 "\nBRH:%" PRIu64 "\n", sum->branches, sum->branches_hit);
	put_lines(out, covered, file, at);
	put_format(out, "LF:%" PRIu64 "\nLH:%" PRIu64 "\nend_of_record\n", sum->lines,
		   sum->lines_hit);
}

void cover_put_lcov(struct output *out, const struct covered *covered,
		    const struct input *input)
{
	char coverage[COVERAGE_SIZE];
	struct at at = { 0 };
	uint32_t i;

	if (!covered->exact)
		put_format(out, "# counts may be too low: %s\n", covered->why);
	if (coverage_partial(input))
		put_format(out, "# the trace %s\n", coverage_text(input, coverage));
	for (i = 0; i < covered->files; i++)
		put_file(out, covered, i, &at);
}
