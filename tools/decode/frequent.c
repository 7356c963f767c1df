// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See frequent.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "frequent.h"

/* A function with less than 1/FEW of all calls is not worth excluding. */
#define FEW	1000

/* Order by average time per call, shortest first, then by number of calls, highest first. */
static int by_average(const void *left, const void *right, void *rows)
{
	const struct profile_row *row = rows;
	const struct profile_row *a = &row[*(const uint32_t *)left];
	const struct profile_row *b = &row[*(const uint32_t *)right];
	const double one = (double)a->self * (double)b->calls;
	const double other = (double)b->self * (double)a->calls;

	if (one != other)
		return one < other ? -1 : 1;
	return (a->calls < b->calls) - (a->calls > b->calls);
}

static bool has_symbol(const struct frequent *frequent, uint32_t row)
{
	struct symbol symbol;

	profile_symbol(&frequent->profile, row, &symbol);
	return symbol.known && symbol.object;
}

/*
 * Return whether a function has many calls, a greater share of the calls than of the time, and a
 * known time for each call.
 */
static bool is_frequent(const struct frequent *frequent, const struct profile_row *row)
{
	return row->calls && !row->untimed && row->calls >= frequent->calls / FEW &&
	       (double)row->calls * (double)frequent->self >
	       (double)row->self * (double)frequent->calls;
}

/* Move the rows of frequent functions to the beginning of the list. */
static void choose(struct frequent *frequent, double percent)
{
	const struct profile *profile = &frequent->profile;
	const double most = (double)frequent->self * percent / 100;
	size_t i;

	for (i = 0; i < profile->rows; i++) {
		const uint32_t number = frequent->row[i];
		const struct profile_row *row = &profile->row[number];

		if (!is_frequent(frequent, row) ||
		    (double)(frequent->out_self + row->self) > most)
			continue;
		if (!has_symbol(frequent, number)) {
			frequent->unnamed++;
			continue;
		}
		frequent->out_calls += row->calls;
		frequent->out_self += row->self;
		frequent->row[frequent->rows++] = number;
	}
}

int frequent_read(struct frequent *frequent, const struct options *options, double percent)
{
	struct profile *profile = &frequent->profile;
	int result;
	size_t i;

	memset(frequent, 0, sizeof(*frequent));
	result = profile_read(profile, options, PROFILE_BY_FUNCTION, false, NULL);
	if (result > EXIT_LOSSES)
		return result;
	frequent->row = calloc(profile->rows + 1, sizeof(*frequent->row));
	if (!frequent->row) {
		report("out of memory");
		return EXIT_UNREADABLE;
	}
	analysis_notes(profile->analysis, &profile->input);
	for (i = 0; i < profile->rows; i++) {
		frequent->row[i] = (uint32_t)i;
		frequent->calls += profile->row[i].calls;
		frequent->self += profile->row[i].self;
	}
	if (!frequent->self) {
		report("%s: no call has a time: record functions' entries and exits first",
		       options->path);
		return EXIT_UNREADABLE;
	}
	qsort_r(frequent->row, profile->rows, sizeof(*frequent->row), by_average, profile->row);
	choose(frequent, percent);
	return EXIT_OK;
}

void frequent_free(struct frequent *frequent)
{
	profile_free(&frequent->profile);
	free(frequent->row);
}

bool frequent_has(const struct frequent *frequent, const char *object, uint64_t start,
		  uint64_t end)
{
	struct symbol symbol;
	size_t i;

	for (i = 0; i < frequent->rows; i++) {
		profile_symbol(&frequent->profile, frequent->row[i], &symbol);
		if (symbol.offset >= start && symbol.offset < end &&
		    !strcmp(symbol.object, object))
			return true;
	}
	return false;
}

bool frequent_calls(const struct frequent *frequent, const char *object)
{
	struct symbol symbol;
	size_t i;

	for (i = 0; i < frequent->profile.rows; i++) {
		profile_symbol(&frequent->profile, i, &symbol);
		if (frequent->profile.row[i].calls && symbol.object &&
		    !strcmp(symbol.object, object))
			return true;
	}
	return false;
}

static double share(uint64_t part, uint64_t whole)
{
	return 100.0 * (double)part / (double)whole;
}

void frequent_report(const struct frequent *frequent, const char *what)
{
	const struct profile_row *row;
	char name[256];
	size_t i;

	for (i = 0; i < frequent->rows; i++) {
		row = &frequent->profile.row[frequent->row[i]];
		profile_name(&frequent->profile, frequent->row[i], name, sizeof(name));
		report("left out: %s: %.2f %% of the calls, %.2f %% of the time", name,
		       share(row->calls, frequent->calls), share(row->self, frequent->self));
	}
	if (frequent->unnamed)
		report("%s: functions that cannot be left out, because they have no symbol or file: %zu; name their files too",
		       what, frequent->unnamed);
	report("%s: functions left out: %zu, with %.2f %% of the calls, %.2f %% of the time", what,
	       frequent->rows, share(frequent->out_calls, frequent->calls),
	       share(frequent->out_self, frequent->self));
}
