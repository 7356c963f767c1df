// SPDX-License-Identifier: Apache-2.0 OR MIT
/* report --diff: compares the functions of two traces. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "coverage.h"
#include "report.h"
#include "text.h"
#include "units.h"

#define NO_ROW		((size_t)-1)
#define CHANGE_WIDTH	8
/* Minimum width of a column. */
#define WIDTH_MIN	10

/*
 * A function in either trace. @offset is in its object's file; @common is set if that object
 * has functions in both traces.
 */
struct pair {
	char		*name;
	const char	*object;
	const char	*file;
	uint64_t	offset;
	bool		common;
	size_t		row[2];
	double		key;
};

struct diff {
	const struct report_options *options;
	const struct profile	*profile[2];
	struct output		*out;
	struct metric		metric[2 * METRICS_MAX];
	bool			scaled[2 * METRICS_MAX];	/* see is_scaled() */
	unsigned int		metrics;
	bool			timed;		/* both traces' times can be compared */
	struct pair		*pair;
	size_t			pairs;
};

static int by_name(const void *a, const void *b)
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

	return order ? order : by_name(a, b);
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

static int by_key(const void *a, const void *b)
{
	const struct pair *one = a, *two = b;

	if (one->key != two->key)
		return one->key > two->key ? -1 : 1;
	return strcmp(one->name, two->name);
}

/* Finds where a function is; the strings are valid until profile_free(). */
static void locate(const struct profile *profile, size_t row, struct pair *pair)
{
	struct symbol symbol;

	profile_symbol(profile, row, &symbol);
	pair->object = symbol.object ? symbol.object : "";
	pair->file = symbol.file ? symbol.file : "";
	pair->offset = symbol.offset;
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
		text_clean(name);
		pair->row[which] = i;
		pair->row[!which] = NO_ROW;
		locate(profile, i, pair);
		pair->name = strdup(name);
		if (!pair->name)
			return false;
		diff->pairs++;
	}
	return true;
}

/* Returns the end of the run of equal pairs that begins at @first. */
static size_t run_end(const struct diff *diff, size_t first,
		      int (*order)(const void *, const void *))
{
	size_t end = first + 1;

	while (end < diff->pairs && !order(&diff->pair[first], &diff->pair[end]))
		end++;
	return end;
}

static void mark_common(struct diff *diff)
{
	size_t first, end, i;
	bool in[2];

	qsort(diff->pair, diff->pairs, sizeof(*diff->pair), by_object);
	for (first = 0; first < diff->pairs; first = end) {
		end = run_end(diff, first, by_object);
		in[0] = false;
		in[1] = false;
		for (i = first; i < end; i++)
			in[diff->pair[i].row[0] == NO_ROW] = true;
		for (i = first; i < end; i++)
			diff->pair[i].common = in[0] && in[1];
	}
}

/*
 * Joins two of @count equal pairs: one found only in the first trace and one found only in the
 * second. Does nothing if either trace has several.
 */
static void join_run(struct pair *pair, size_t count, bool common)
{
	struct pair *only[2] = { NULL, NULL };
	unsigned int which;

	for (; count--; pair++) {
		if (pair->row[0] != NO_ROW && pair->row[1] != NO_ROW)
			continue;
		if (pair->common && !common)
			continue;
		which = pair->row[0] == NO_ROW;
		if (only[which])
			return;
		only[which] = pair;
	}
	if (!only[0] || !only[1])
		return;
	only[0]->row[1] = only[1]->row[1];
	free(only[1]->name);
	only[1]->name = NULL;
}

static void join_by(struct diff *diff, int (*order)(const void *, const void *),
		    bool common)
{
	size_t first, end, i, kept = 0;

	qsort(diff->pair, diff->pairs, sizeof(*diff->pair), order);
	for (first = 0; first < diff->pairs; first = end) {
		end = run_end(diff, first, order);
		join_run(&diff->pair[first], end - first, common);
	}
	for (i = 0; i < diff->pairs; i++)
		if (diff->pair[i].name)
			diff->pair[kept++] = diff->pair[i];
	diff->pairs = kept;
}

/*
 * Functions may share a name. Match functions at the same place first, then in the same source
 * file, then in the same object, and last in a renamed object.
 */
static void join(struct diff *diff)
{
	mark_common(diff);
	join_by(diff, by_place, true);
	join_by(diff, by_file, true);
	join_by(diff, by_object_and_name, true);
	join_by(diff, by_name, false);
}

/* Returns the column of a counter in one of the traces, found by name, or counters->count. */
static unsigned int column(const struct diff *diff, unsigned int which,
			   const struct metric *metric)
{
	const struct counters *counters = analysis_counters(diff->profile[which]->analysis);
	unsigned int c;

	for (c = 0; c < counters->count; c++)
		if (!strcmp(counters->name[c], metric->over))
			break;
	return c;
}

/* Whether a trace lacks a metric's counts; a hart's counts do not replace a thread's. */
static bool lacks(const struct diff *diff, unsigned int which,
		  const struct metric *metric)
{
	return report_is_counter(metric) && column(diff, which, metric) ==
	       analysis_counters(diff->profile[which]->analysis)->count;
}

/*
 * Whether one of the traces has a number; if so, @same is set to the metric that refers
 * to that trace's own column.
 */
static bool has_value(const struct diff *diff, const struct pair *pair, unsigned int which,
		      const struct metric *metric, struct metric *same)
{
	*same = *metric;
	if (pair->row[which] == NO_ROW || lacks(diff, which, metric))
		return false;
	if (report_is_counter(metric))
		same->counter = column(diff, which, metric);
	return true;
}

/* Returns a number of one of the traces, or 0 if that trace does not have it. */
static uint64_t value(const struct diff *diff, const struct pair *pair,
		      unsigned int which, const struct metric *metric)
{
	struct metric same;

	return has_value(diff, pair, which, metric, &same) ?
	       report_value(diff->profile[which], pair->row[which], &same) : 0;
}

static bool is_unknown(const struct diff *diff, const struct pair *pair, unsigned int which,
		       const struct metric *metric)
{
	struct metric same;

	return has_value(diff, pair, which, metric, &same) &&
	       report_is_unknown(diff->profile[which], pair->row[which], &same);
}

static bool is_uncertain(const struct diff *diff, const struct pair *pair, unsigned int which,
			 const struct metric *metric)
{
	struct metric same;

	return has_value(diff, pair, which, metric, &same) &&
	       report_is_uncertain(diff->profile[which], pair->row[which], &same);
}

static bool is_time(const struct metric *metric)
{
	return report_is_time(metric);
}

/* Returns a number in units that both traces share, because their ticks may differ. */
static double amount(const struct diff *diff, const struct pair *pair,
		     unsigned int which, const struct metric *metric)
{
	double number = (double)value(diff, pair, which, metric);
	uint64_t hz = diff->profile[which]->input.hz;

	return is_time(metric) && hz ? number / (double)hz : number;
}

static void put_change(struct diff *diff, const struct pair *pair,
		       const struct metric *metric)
{
	double before = amount(diff, pair, 0, metric);
	double after = amount(diff, pair, 1, metric);
	char text[UNITS_SIZE];

	if ((is_time(metric) && !diff->timed) || is_unknown(diff, pair, 0, metric) ||
	    is_unknown(diff, pair, 1, metric))
		snprintf(text, sizeof(text), "?");
	else if (lacks(diff, 0, metric) || lacks(diff, 1, metric))
		snprintf(text, sizeof(text), "-");
	else if (before == after)
		snprintf(text, sizeof(text), "=");
	else if (before <= 0)
		snprintf(text, sizeof(text), "new");
	else
		snprintf(text, sizeof(text), "%+.1f%%",
			 100 * (after / before - 1));
	if (strcmp(text, "?") && strcmp(text, "-"))
		units_mark(text, is_uncertain(diff, pair, 0, metric) ||
				 is_uncertain(diff, pair, 1, metric));
	put_right(diff->out, text, CHANGE_WIDTH + 1);
}

static void make_cell(const struct diff *diff, const struct pair *pair,
		      unsigned int which, const struct metric *metric, char *text)
{
	if (lacks(diff, which, metric) || is_unknown(diff, pair, which, metric)) {
		strcpy(text, diff->options->format == REPORT_TEXT ? "-" : "");
		return;
	}
	report_cell(text, metric, value(diff, pair, which, metric),
		    diff->profile[which]->input.hz, diff->options->format != REPORT_TEXT);
	if (diff->options->format == REPORT_TEXT)
		units_mark(text, is_uncertain(diff, pair, which, metric));
}

static const char * const which_text[] = { ":before", ":after" };
static const char * const share_text[] = { REPORT_SHARE ":before", REPORT_SHARE ":after" };
static const char * const times_text[] = { "times:before", "times:after" };

static bool has_times(const struct diff *diff)
{
	unsigned int m;

	for (m = 0; m < diff->metrics; m++)
		if (diff->metric[m].kind == METRIC_TOTAL)
			return true;
	return false;
}

static void put_heading(struct diff *diff)
{
	unsigned int m, which;

	put_string(diff->out, "function");
	for (m = 0; m < diff->metrics; m++) {
		for (which = 0; which < 2; which++)
			report_put_column(diff->out, &diff->metric[m], which_text[which]);
		for (which = 0; which < 2 && diff->scaled[m]; which++)
			report_put_column(diff->out, &diff->metric[m], share_text[which]);
	}
	for (m = 0; m < 2 && has_times(diff); m++)
		put_format(diff->out, ",%s", times_text[m]);
	put_char(diff->out, '\n');
}

static void begin_json(const struct diff *diff)
{
	const struct profile *before = diff->profile[0], *after = diff->profile[1];

	report_json_begin(diff->out, "report", "function", &before->input, before->analysis);
	report_json_second(diff->out, &after->input, after->analysis);
	report_json_rows(diff->out);
}

static void put_numbers(const struct diff *diff, struct report_rows *rows,
			const struct pair *pair, unsigned int m)
{
	const struct metric *metric = &diff->metric[m];
	char text[UNITS_SIZE];
	unsigned int which;
	struct metric same;

	for (which = 0; which < 2; which++) {
		make_cell(diff, pair, which, metric, text);
		report_row_number(rows, metric, which_text[which], text);
	}
	for (which = 0; which < 2 && diff->scaled[m]; which++) {
		*text = '\0';
		if (has_value(diff, pair, which, metric, &same))
			report_share_cell(text, diff->profile[which], pair->row[which], &same);
		report_row_number(rows, metric, share_text[which], text);
	}
}

/* Writes the rows of csv and JSON. */
static void put_rows(struct diff *diff, size_t lines)
{
	struct report_rows rows = {
		.out = diff->out, .json = diff->options->format == REPORT_JSON,
	};
	unsigned int m;
	size_t i;

	if (rows.json)
		begin_json(diff);
	else
		put_heading(diff);
	for (i = 0; i < lines; i++) {
		report_row_begin(&rows, diff->pair[i].name);
		for (m = 0; m < diff->metrics; m++)
			put_numbers(diff, &rows, &diff->pair[i], m);
		/* A function missing from a trace took no time there, and that 0 is exact. */
		for (m = 0; m < 2 && has_times(diff); m++)
			report_row_word(&rows, times_text[m], diff->pair[i].row[m] == NO_ROW ?
					"exact" : report_certainty(diff->profile[m],
								   diff->pair[i].row[m]));
		report_row_end(&rows);
	}
	if (rows.json)
		report_json_end(diff->out, NULL, NULL);
}

static void put_block(struct diff *diff, unsigned int first, unsigned int last,
		      size_t lines)
{
	char text[UNITS_SIZE], heading[COUNTERS_NAME_SIZE + 8];
	unsigned int m, used = 0, which;
	size_t i;

	put_char(diff->out, '\n');
	output_bold(diff->out, true);
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
	put_string(diff->out, "  function");
	output_bold(diff->out, false);
	put_char(diff->out, '\n');
	for (i = 0; i < lines; i++) {
		for (m = first; m < last; m++) {
			const struct metric *metric = &diff->metric[m];

			for (which = 0; which < 2; which++) {
				make_cell(diff, &diff->pair[i], which, metric,
					  text);
				put_right(diff->out, text, metric->width + 1);
			}
			put_change(diff, &diff->pair[i], metric);
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

static bool has(const struct diff *diff, const struct metric *metric)
{
	unsigned int i;

	for (i = 0; i < diff->metrics; i++)
		if (diff->metric[i].kind == metric->kind &&
		    (!report_is_counter(metric) ||
		     !strcmp(diff->metric[i].over, metric->over)))
			return true;
	return false;
}

/* Chooses all numbers of the first trace, then those that only the second one has. */
static void choose_metrics(struct diff *diff)
{
	static const struct report_columns none;
	struct metric more[METRICS_MAX];
	unsigned int i, count;

	report_metrics(diff->profile[0], &none, diff->metric, &diff->metrics);
	report_metrics(diff->profile[1], &none, more, &count);
	for (i = 0; i < count; i++)
		if (!has(diff, &more[i]))
			diff->metric[diff->metrics++] = more[i];
}

/* Whether a count is an estimate in either trace, because its event takes turns with others. */
static bool is_scaled(const struct diff *diff, const struct metric *metric)
{
	struct metric same = *metric;
	unsigned int i;

	for (i = 0; i < 2 && report_is_counter(metric); i++) {
		same.counter = column(diff, i, metric);
		if (!lacks(diff, i, metric) && report_is_scaled(diff->profile[i], &same))
			return true;
	}
	return false;
}

/*
 * Leaves out percentages, whose differences mean nothing. A heading spans three columns, which
 * can therefore be narrower.
 */
static void choose_columns(struct diff *diff)
{
	unsigned int i, width, kept = 0;

	for (i = 0; i < diff->metrics; i++) {
		struct metric *metric = &diff->metric[i];

		if (report_is_share(metric))
			continue;
		width = (unsigned int)(strlen(metric->over) + strlen(metric->name)) / 2;
		width = width > CHANGE_WIDTH / 2 ? width - CHANGE_WIDTH / 2 : 0;
		if (width < WIDTH_MIN)
			width = WIDTH_MIN;
		if (metric->width > width)
			metric->width = width;
		diff->scaled[kept] = is_scaled(diff, metric);
		diff->metric[kept++] = *metric;
	}
	diff->metrics = kept;
}

/* Sorts by difference, the largest first. */
static int sort(struct diff *diff)
{
	int by = report_sort_metric(diff->options, diff->metric, diff->metrics);
	size_t i;

	if (by < -1)
		return EXIT_USAGE;
	for (i = 0; i < diff->pairs; i++) {
		struct pair *pair = &diff->pair[i];

		pair->key = 0;
		if (by < 0 || (is_time(&diff->metric[by]) && !diff->timed))
			continue;
		pair->key = amount(diff, pair, 1, &diff->metric[by]) -
			    amount(diff, pair, 0, &diff->metric[by]);
		if (pair->key < 0)
			pair->key = -pair->key;
	}
	qsort(diff->pair, diff->pairs, sizeof(*diff->pair), by_key);
	return EXIT_OK;
}

/* A comparison with a partial run must not look complete. */
static void tell_coverage(const struct diff *diff)
{
	static const char * const which[] = { "before", "after" };
	const struct input *input[] = {
		&diff->profile[0]->input, &diff->profile[1]->input,
	};
	char text[COVERAGE_SIZE];
	unsigned int i;

	if (!coverage_partial(input[0]) && !coverage_partial(input[1]))
		return;
	report("%s or %s does not cover its whole run: their totals cannot be compared",
	       input[0]->options->path, input[1]->options->path);
	for (i = 0; i < 2 && diff->options->format == REPORT_TEXT; i++)
		put_format(diff->out, "Trace %s %s.\n", which[i],
			   coverage_of(input[i]) == COVERAGE_UNKNOWN &&
			   !coverage_lost(input[i]) ? "has unknown coverage" :
			   coverage_text(input[i], text));
	if (diff->options->format == REPORT_TEXT)
		put_string(diff->out, "The traces do not both cover their whole run: totals cannot be compared.\n");
}

int report_diff(const struct report_options *options, struct output *out,
		const struct profile *before, const struct profile *after)
{
	struct diff diff = {
		.options = options, .profile = { before, after }, .out = out,
	};
	int result = EXIT_UNREADABLE;
	size_t i, lines;

	diff.timed = !before->input.hz == !after->input.hz;
	if (!diff.timed)
		report("%s: only one of the traces has a timestamp rate: times cannot be compared; give --ts-hz",
		       options->diff);
	tell_coverage(&diff);
	choose_metrics(&diff);
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
		if (!result && options->format != REPORT_TEXT)
			put_rows(&diff, lines);
		else if (!result)
			put_blocks(&diff, lines);
	}
	for (i = 0; i < diff.pairs; i++)
		free(diff.pair[i].name);
	free(diff.pair);
	return result;
}
