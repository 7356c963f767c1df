// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Finds the same functions in several traces: see pairs.h. */
#include <stdlib.h>
#include <string.h>

#include "pairs.h"
#include "text.h"

int pairs_by_name(const void *a, const void *b)
{
	const struct pair *one = a, *two = b;

	return strcmp(one->name, two->name);
}

static int by_object(const void *a, const void *b)
{
	const struct pair *one = a, *two = b;

	return strcmp(one->object, two->object);
}

static int by_object_and_name(const void *a, const void *b)
{
	int order = by_object(a, b);

	return order ? order : pairs_by_name(a, b);
}

static int by_file(const void *a, const void *b)
{
	const struct pair *one = a, *two = b;
	int order = by_object_and_name(a, b);

	return order ? order : strcmp(one->file, two->file);
}

static int by_place(const void *a, const void *b)
{
	const struct pair *one = a, *two = b;
	int order = by_object_and_name(a, b);

	return order ? order : (one->offset > two->offset) - (one->offset < two->offset);
}

/* Return whether a function has a row in one of the first @runs traces. */
static bool is_in(const struct pair *pair, unsigned int runs)
{
	while (runs--)
		if (pair->row[runs] != PAIRS_NO_ROW)
			return true;
	return false;
}

static bool make_room(struct pairs *pairs)
{
	const size_t room = 2 * pairs->room + 16;
	struct pair *pair;

	if (pairs->count < pairs->room)
		return true;
	pair = reallocarray(pairs->pair, room, sizeof(*pair));
	if (!pair)
		return false;
	pairs->pair = pair;
	pairs->room = room;
	return true;
}

bool pairs_add_row(struct pairs *pairs, unsigned int run, size_t row, const char *name,
		   const struct symbol *symbol)
{
	struct pair *pair;
	unsigned int i;

	if (!make_room(pairs))
		return false;
	pair = &pairs->pair[pairs->count];
	*pair = (struct pair) {
		.name = strdup(name), .row = malloc(pairs->runs * sizeof(*pair->row)),
		.object = symbol->object ? symbol->object : "",
		.file = symbol->file ? symbol->file : "", .offset = symbol->offset,
	};
	if (!pair->row || !pair->name) {
		free(pair->row);
		free(pair->name);
		return false;
	}
	text_clean(pair->name);
	for (i = 0; i < pairs->runs; i++)
		pair->row[i] = i == run ? row : PAIRS_NO_ROW;
	pairs->count++;
	return true;
}

/* Return the index after the equal pairs that begin at @first. */
static size_t run_end(const struct pairs *pairs, size_t first,
		      int (*order)(const void *, const void *))
{
	size_t end = first + 1;

	while (end < pairs->count && !order(&pairs->pair[first], &pairs->pair[end]))
		end++;
	return end;
}

static void mark_common(struct pairs *pairs, unsigned int run)
{
	size_t first, end, i;
	bool in[2];

	qsort(pairs->pair, pairs->count, sizeof(*pairs->pair), by_object);
	for (first = 0; first < pairs->count; first = end) {
		end = run_end(pairs, first, by_object);
		in[0] = false;
		in[1] = false;
		for (i = first; i < end; i++)
			in[!is_in(&pairs->pair[i], run)] = true;
		for (i = first; i < end; i++)
			pairs->pair[i].common = in[0] && in[1];
	}
}

/*
 * Among @count equal pairs, join the pair found only in trace @run with the pair found only in
 * earlier traces. Do nothing unless there is exactly one pair of each kind.
 */
static void join_run(struct pair *pair, size_t count, unsigned int run, bool common)
{
	struct pair *only[2] = { NULL, NULL };
	unsigned int which;

	for (; count--; pair++) {
		which = !is_in(pair, run);
		if (!which && pair->row[run] != PAIRS_NO_ROW)
			continue;
		if (pair->common && !common)
			continue;
		if (only[which])
			return;
		only[which] = pair;
	}
	if (!only[0] || !only[1])
		return;
	only[0]->row[run] = only[1]->row[run];
	free(only[1]->row);
	free(only[1]->name);
	only[1]->name = NULL;
}

static void join_by(struct pairs *pairs, unsigned int run,
		    int (*order)(const void *, const void *), bool common)
{
	size_t first, end, i, kept = 0;

	qsort(pairs->pair, pairs->count, sizeof(*pairs->pair), order);
	for (first = 0; first < pairs->count; first = end) {
		end = run_end(pairs, first, order);
		join_run(&pairs->pair[first], end - first, run, common);
	}
	for (i = 0; i < pairs->count; i++)
		if (pairs->pair[i].name)
			pairs->pair[kept++] = pairs->pair[i];
	pairs->count = kept;
}

void pairs_join(struct pairs *pairs, unsigned int run)
{
	if (!run || !pairs->count)
		return;
	mark_common(pairs, run);
	join_by(pairs, run, by_place, true);
	join_by(pairs, run, by_file, true);
	join_by(pairs, run, by_object_and_name, true);
	join_by(pairs, run, pairs_by_name, false);
}

bool pairs_add(struct pairs *pairs, const struct report_options *options,
	       const struct profile *profile, unsigned int run)
{
	struct symbol symbol;
	char name[NAME_SIZE];
	size_t i;

	for (i = 0; i < profile->rows; i++) {
		profile_name(profile, i, name, sizeof(name));
		if (!options_matches(&options->filter, name))
			continue;
		/* The strings are valid until profile_free(). */
		profile_symbol(profile, i, &symbol);
		if (!pairs_add_row(pairs, run, i, name, &symbol))
			return false;
	}
	pairs_join(pairs, run);
	return true;
}

void pairs_free(struct pairs *pairs)
{
	size_t i;

	for (i = 0; i < pairs->count; i++) {
		free(pairs->pair[i].row);
		free(pairs->pair[i].name);
	}
	free(pairs->pair);
}
