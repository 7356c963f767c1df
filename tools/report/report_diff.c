// SPDX-License-Identifier: Apache-2.0 OR MIT
/* report --diff: the same functions in two traces. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "report.h"
#include "units.h"

#define NO_ROW		((size_t)-1)
#define CHANGE_WIDTH	8
/* What any number needs. */
#define WIDTH_MIN	10

/* A function in either trace. */
struct pair {
	char		*name;
	size_t		row[2];
	double		key;
};

struct diff {
	const struct report_options *options;
	const struct profile	*profile[2];
	struct output		*out;
	struct metric		metric[METRICS_MAX];
	unsigned int		metrics;
	struct pair		*pair;
	size_t			pairs;
};

static int by_name(const void *a, const void *b)
{
	const struct pair *one = a, *two = b;
	int order = strcmp(one->name, two->name);

	/* Of the same name, the first trace's before the second's. */
	return order ? order : (one->row[0] == NO_ROW) - (two->row[0] == NO_ROW);
}

static int by_key(const void *a, const void *b)
{
	const struct pair *one = a, *two = b;

	if (one->key != two->key)
		return one->key > two->key ? -1 : 1;
	return strcmp(one->name, two->name);
}

static bool add_pairs(struct diff *diff, unsigned int which)
{
	const struct profile *profile = diff->profile[which];
	char name[NAME_SIZE];
	size_t i;

	for (i = 0; i < profile->rows; i++) {
		struct pair *pair = &diff->pair[diff->pairs];

		profile_name(profile, i, name, sizeof(name));
		if (!report_wanted(diff->options, name))
			continue;
		pair->row[which] = i;
		pair->row[!which] = NO_ROW;
		pair->name = strdup(name);
		if (!pair->name)
			return false;
		diff->pairs++;
	}
	return true;
}

/* One pair for each name. */
static void join(struct diff *diff)
{
	size_t i, kept = 0;

	qsort(diff->pair, diff->pairs, sizeof(*diff->pair), by_name);
	for (i = 0; i < diff->pairs; i++) {
		struct pair *last = kept ? &diff->pair[kept - 1] : NULL;

		if (last && !strcmp(last->name, diff->pair[i].name) &&
		    last->row[1] == NO_ROW && diff->pair[i].row[0] == NO_ROW) {
			last->row[1] = diff->pair[i].row[1];
			free(diff->pair[i].name);
			continue;
		}
		diff->pair[kept++] = diff->pair[i];
	}
	diff->pairs = kept;
}

/* The number of the first trace's metric, in either. */
static uint64_t value(const struct diff *diff, const struct pair *pair,
		      unsigned int which, const struct metric *metric)
{
	struct metric same = *metric;
	const struct counters *counters;

	if (pair->row[which] == NO_ROW)
		return 0;
	if (which && (metric->kind == METRIC_COUNTER_TOTAL ||
		      metric->kind == METRIC_COUNTER_SELF)) {
		counters = analysis_counters(diff->profile[1]->analysis);
		for (same.counter = 0; same.counter < counters->count;
		     same.counter++)
			if (!strcmp(counters->name[same.counter], metric->over))
				break;
		if (same.counter == counters->count)
			return 0;
	}
	return report_value(diff->profile[which], pair->row[which], &same);
}

static bool is_share(const struct metric *metric)
{
	return metric->kind == METRIC_SELF_SHARE ||
	       metric->kind == METRIC_SAMPLES_SHARE;
}

static void put_change(struct diff *diff, uint64_t before, uint64_t after)
{
	char text[UNITS_SIZE];

	if (before == after)
		snprintf(text, sizeof(text), "=");
	else if (!before)
		snprintf(text, sizeof(text), "new");
	else
		snprintf(text, sizeof(text), "%+.1f%%",
			 100 * ((double)after / (double)before - 1));
	put_right(diff->out, text, CHANGE_WIDTH + 1);
}

static void put_block(struct diff *diff, unsigned int first, unsigned int last,
		      size_t lines)
{
	char text[UNITS_SIZE], heading[PERFREC_NAME_SIZE + 8];
	unsigned int m, used = 0, which;
	size_t i;

	put_char(diff->out, '\n');
	for (m = first; m < last; m++) {
		const struct metric *metric = &diff->metric[m];
		unsigned int width = 2 * (metric->width + 1) + CHANGE_WIDTH + 1;

		snprintf(heading, sizeof(heading), "%s%s%s", metric->over,
			 *metric->over ? " " : "", metric->name);
		put_right(diff->out, heading, width);
		used += width;
	}
	put_char(diff->out, '\n');
	for (m = first; m < last; m++) {
		put_right(diff->out, "before", diff->metric[m].width + 1);
		put_right(diff->out, "after", diff->metric[m].width + 1);
		put_right(diff->out, "change", CHANGE_WIDTH + 1);
	}
	put_string(diff->out, "  function\n");
	for (i = 0; i < lines; i++) {
		for (m = first; m < last; m++) {
			const struct metric *metric = &diff->metric[m];
			uint64_t number[2];

			for (which = 0; which < 2; which++) {
				number[which] = value(diff, &diff->pair[i],
						      which, metric);
				report_cell(text, metric, number[which],
					    diff->profile[which]->input.hz,
					    false);
				put_right(diff->out, text, metric->width + 1);
			}
			put_change(diff, number[0], number[1]);
		}
		report_put_name(diff->options, diff->out, used,
				diff->pair[i].name);
	}
}

static void put_blocks(struct diff *diff, size_t lines)
{
	unsigned int room = (unsigned int)diff->options->width - NAME_MIN;
	unsigned int first = 0, last, used;

	for (; first < diff->metrics; first = last) {
		used = 0;
		for (last = first; last < diff->metrics; last++) {
			used += 2 * (diff->metric[last].width + 1) +
				CHANGE_WIDTH + 1;
			if (last > first && used > room)
				break;
		}
		put_block(diff, first, last, lines);
	}
}

/* Shares say nothing of a change, and a heading has three columns' room. */
static void choose_columns(struct diff *diff)
{
	unsigned int i, width, kept = 0;

	for (i = 0; i < diff->metrics; i++) {
		struct metric *metric = &diff->metric[i];

		if (is_share(metric))
			continue;
		width = (unsigned int)(strlen(metric->over) + strlen(metric->name)) / 2;
		width = width > CHANGE_WIDTH / 2 ? width - CHANGE_WIDTH / 2 : 0;
		if (width < WIDTH_MIN)
			width = WIDTH_MIN;
		if (metric->width > width)
			metric->width = width;
		diff->metric[kept++] = *metric;
	}
	diff->metrics = kept;
}

/* The largest change first. */
static int sort(struct diff *diff)
{
	int by = report_sort_metric(diff->options, diff->metric, diff->metrics);
	size_t i;

	if (by < -1)
		return EXIT_USAGE;
	for (i = 0; i < diff->pairs; i++) {
		struct pair *pair = &diff->pair[i];

		pair->key = 0;
		if (by < 0)
			continue;
		pair->key = (double)value(diff, pair, 1, &diff->metric[by]) -
			    (double)value(diff, pair, 0, &diff->metric[by]);
		if (pair->key < 0)
			pair->key = -pair->key;
	}
	qsort(diff->pair, diff->pairs, sizeof(*diff->pair), by_key);
	return EXIT_OK;
}

int report_diff(const struct report_options *options, struct output *out,
		const struct profile *before, const struct profile *after)
{
	struct diff diff = {
		.options = options, .profile = { before, after }, .out = out,
	};
	int result = EXIT_UNREADABLE;
	size_t i, lines;

	diff.metrics = report_metrics(before, diff.metric);
	choose_columns(&diff);
	diff.pair = calloc(before->rows + after->rows + 1, sizeof(*diff.pair));
	if (!diff.pair || !add_pairs(&diff, 0) || !add_pairs(&diff, 1)) {
		report("out of memory");
	} else {
		join(&diff);
		result = sort(&diff);
		lines = diff.pairs;
		if (options->top && lines > (size_t)options->top)
			lines = (size_t)options->top;
		if (!result)
			put_blocks(&diff, lines);
	}
	for (i = 0; i < diff.pairs; i++)
		free(diff.pair[i].name);
	free(diff.pair);
	return result;
}
