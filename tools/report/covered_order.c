// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Sorts covered lines, branches and functions, and computes their sums: see covered.h. */
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "covered_maker.h"

static int by_line(const void *a, const void *b)
{
	const struct covered_line *one = a, *two = b;

	return compare_numbers((uint64_t)one->file << 32 | one->line,
			       (uint64_t)two->file << 32 | two->line);
}

static int by_branch(const void *a, const void *b)
{
	const struct covered_branch *one = a, *two = b;
	int result = compare_numbers((uint64_t)one->file << 32 | one->line,
				     (uint64_t)two->file << 32 | two->line);

	return result ? result : compare_numbers(one->order, two->order);
}

static int by_function(const void *a, const void *b)
{
	const struct covered_function *one = a, *two = b;
	int result = compare_numbers((uint64_t)one->file << 32 | one->line,
				     (uint64_t)two->file << 32 | two->line);

	return result ? result : strcmp(one->name, two->name);
}

struct ranked {
	const struct covered_file *file;
	uint32_t	number;
};

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct ranked *)a)->file->path,
		      ((const struct ranked *)b)->file->path);
}

/* Number the files in the order of their paths. */
static int rank_files(struct covered *covered)
{
	struct covered_file *sorted = malloc((covered->files + 1) * sizeof(*sorted));
	struct ranked *ranked = malloc((covered->files + 1) * sizeof(*ranked));
	uint32_t *rank = malloc((covered->files + 1) * sizeof(*rank));
	size_t i;

	for (i = 0; ranked && i < covered->files; i++)
		ranked[i] = (struct ranked){ &covered->file[i], (uint32_t)i };
	if (ranked && covered->files)
		qsort(ranked, covered->files, sizeof(*ranked), by_path);
	for (i = 0; ranked && sorted && rank && i < covered->files; i++) {
		sorted[i] = *ranked[i].file;
		rank[ranked[i].number] = (uint32_t)i;
	}
	if (ranked && sorted && rank && covered->files) {
		for (i = 0; i < covered->lines; i++)
			covered->line[i].file = rank[covered->line[i].file];
		for (i = 0; i < covered->branches; i++)
			covered->branch[i].file = rank[covered->branch[i].file];
		for (i = 0; i < covered->functions; i++)
			covered->function[i].file = rank[covered->function[i].file];
		memcpy(covered->file, sorted, covered->files * sizeof(*sorted));
	}
	i = ranked && sorted && rank;
	free(sorted);
	free(ranked);
	free(rank);
	return i ? 0 : -1;
}

static void add_sums(struct covered_sum *to, const struct covered_sum *from)
{
	to->lines += from->lines;
	to->lines_hit += from->lines_hit;
	to->functions += from->functions;
	to->functions_hit += from->functions_hit;
	to->branches += from->branches;
	to->branches_hit += from->branches_hit;
}

/* Merge copies of a function. */
static void sum_files(struct covered *covered)
{
	struct covered_sum *sum;
	bool hit = false;
	size_t i;

	for (i = 0; i < covered->lines; i++) {
		sum = &covered->file[covered->line[i].file].sum;
		sum->lines++;
		sum->lines_hit += covered->line[i].times > 0;
	}
	for (i = 0; i < covered->branches; i++) {
		sum = &covered->file[covered->branch[i].file].sum;
		sum->branches += 2;
		sum->branches_hit += (covered->branch[i].taken > 0) +
				     (covered->branch[i].next > 0);
	}
	for (i = 0; i < covered->functions; i++) {
		hit |= covered->function[i].calls > 0;
		if (i + 1 < covered->functions &&
		    !by_function(&covered->function[i], &covered->function[i + 1]))
			continue;
		sum = &covered->file[covered->function[i].file].sum;
		sum->functions++;
		sum->functions_hit += hit;
		hit = false;
	}
	for (i = 0; i < covered->files; i++)
		add_sums(&covered->sum, &covered->file[i].sum);
}

/* Remove lines without instructions, such as closing braces. */
static void keep_lines(struct covered *covered)
{
	size_t i, kept = 0;

	for (i = 0; i < covered->lines; i++)
		if (covered->line[i].seen)
			covered->line[kept++] = covered->line[i];
	covered->lines = kept;
}

bool covered_order(struct covered *covered)
{
	keep_lines(covered);
	if (rank_files(covered))
		return false;
	if (covered->lines)
		qsort(covered->line, covered->lines, sizeof(*covered->line), by_line);
	if (covered->branches)
		qsort(covered->branch, covered->branches, sizeof(*covered->branch), by_branch);
	if (covered->functions)
		qsort(covered->function, covered->functions, sizeof(*covered->function),
		      by_function);
	sum_files(covered);
	return true;
}
