// SPDX-License-Identifier: Apache-2.0 OR MIT
/* report --diff: compares the functions of two traces, or of several runs on each side. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "coverage.h"
#include "pairs.h"
#include "ranks.h"
#include "report.h"
#include "text.h"
#include "units.h"

#define CHANGE_WIDTH	8
/* Minimum width of a column. */
#define WIDTH_MIN	10
#define CONFIDENCE_WIDTH 11

struct diff {
	const struct report_options *options;
	const struct report_runs *runs;
	struct output		*out;
	struct metric		metric[2 * METRICS_MAX];
	bool			scaled[2 * METRICS_MAX];	/* see is_scaled() */
	unsigned int		metrics;
	bool			timed;		/* set if the traces' times can be compared */
	bool			several;	/* set if a side has several runs */
	int			tested;		/* metric that is tested for changes, or -1 */
	struct pairs		pairs;
};

static const struct profile *profile_of(const struct diff *diff, unsigned int run)
{
	return &diff->runs->profile[run];
}

/* Return the index of the first run of side 0 or 1. */
static unsigned int first_run(const struct diff *diff, unsigned int side)
{
	return side ? diff->runs->before : 0;
}

static unsigned int run_count(const struct diff *diff, unsigned int side)
{
	return side ? diff->runs->count - diff->runs->before : diff->runs->before;
}

static int by_key(const void *a, const void *b)
{
	const struct pair *one = a, *two = b;

	if (one->named != two->named)
		return one->named ? -1 : 1;
	if (one->key != two->key)
		return one->key > two->key ? -1 : 1;
	return strcmp(one->name, two->name);
}

/* Return the column of a metric's counter in one of the traces, or counters->count if none. */
static unsigned int column(const struct diff *diff, unsigned int run,
			   const struct metric *metric)
{
	const struct counters *counters = analysis_counters(profile_of(diff, run)->analysis);
	unsigned int c;

	for (c = 0; c < counters->count; c++)
		if (!strcmp(counters->name[c], metric->over))
			break;
	return c;
}

/* Return whether a trace lacks a metric's counts; hart counts cannot replace own counts. */
static bool lacks(const struct diff *diff, unsigned int run,
		  const struct metric *metric)
{
	return report_is_counter(metric) && column(diff, run, metric) ==
	       analysis_counters(profile_of(diff, run)->analysis)->count;
}

/*
 * Return whether a trace has a metric; if so, set @same to that metric with the column that its
 * counter has in this trace.
 */
static bool has_value(const struct diff *diff, const struct pair *pair, unsigned int run,
		      const struct metric *metric, struct metric *same)
{
	*same = *metric;
	if (pair->row[run] == PAIRS_NO_ROW || lacks(diff, run, metric))
		return false;
	if (report_is_counter(metric))
		same->counter = column(diff, run, metric);
	return true;
}

/*
 * Return a function's number in one of the traces, or 0 if the function or the metric is missing
 * from the trace.
 */
static uint64_t value(const struct diff *diff, const struct pair *pair,
		      unsigned int run, const struct metric *metric)
{
	struct metric same;

	return has_value(diff, pair, run, metric, &same) ?
	       report_value(profile_of(diff, run), pair->row[run], &same) : 0;
}

static bool is_unknown(const struct diff *diff, const struct pair *pair, unsigned int run,
		       const struct metric *metric)
{
	struct metric same;

	return has_value(diff, pair, run, metric, &same) &&
	       report_is_unknown(profile_of(diff, run), pair->row[run], &same);
}

static bool is_uncertain(const struct diff *diff, const struct pair *pair, unsigned int run,
			 const struct metric *metric)
{
	struct metric same;

	return has_value(diff, pair, run, metric, &same) &&
	       report_is_uncertain(profile_of(diff, run), pair->row[run], &same);
}

/* Return whether any run of a side lacks a metric's counts. */
static bool side_lacks(const struct diff *diff, unsigned int side, const struct metric *metric)
{
	unsigned int i;

	for (i = 0; i < run_count(diff, side); i++)
		if (lacks(diff, first_run(diff, side) + i, metric))
			return true;
	return false;
}

/* Return whether @is is true for any run of a side. */
static bool any(const struct diff *diff, const struct pair *pair, unsigned int side,
		const struct metric *metric,
		bool (*is)(const struct diff *, const struct pair *, unsigned int,
			   const struct metric *))
{
	unsigned int i;

	for (i = 0; i < run_count(diff, side); i++)
		if (is(diff, pair, first_run(diff, side) + i, metric))
			return true;
	return false;
}

static bool is_time(const struct metric *metric)
{
	return report_is_time(metric);
}

/* Convert a number to a unit common to all traces, because their ticks may differ. */
static double amount(const struct diff *diff, const struct pair *pair, unsigned int run,
		     const struct metric *metric)
{
	double number = (double)value(diff, pair, run, metric);
	uint64_t hz = profile_of(diff, run)->input.hz;

	return is_time(metric) && hz ? number / (double)hz : number;
}

/* Set @number to the numbers of a side's runs; return their median. */
static double amounts(const struct diff *diff, const struct pair *pair, unsigned int side,
		      const struct metric *metric, double number[REPORT_RUNS_MAX])
{
	unsigned int i;

	for (i = 0; i < run_count(diff, side); i++)
		number[i] = amount(diff, pair, first_run(diff, side) + i, metric);
	return ranks_median(number, i);
}

static double median(const struct diff *diff, const struct pair *pair, unsigned int side,
		     const struct metric *metric)
{
	double number[REPORT_RUNS_MAX];

	return amounts(diff, pair, side, metric, number);
}

/* Return the median of a side's runs, in units of the side's first trace. */
static uint64_t middle(const struct diff *diff, const struct pair *pair, unsigned int side,
		       const struct metric *metric)
{
	const unsigned int first = first_run(diff, side);
	uint64_t hz = profile_of(diff, first)->input.hz;

	if (run_count(diff, side) == 1)
		return value(diff, pair, first, metric);
	return (uint64_t)(median(diff, pair, side, metric) *
			  (is_time(metric) && hz ? (double)hz : 1) + 0.5);
}

static void put_change(struct diff *diff, const struct pair *pair,
		       const struct metric *metric)
{
	double before = median(diff, pair, 0, metric);
	double after = median(diff, pair, 1, metric);
	char text[UNITS_SIZE];

	if ((is_time(metric) && !diff->timed) || any(diff, pair, 0, metric, is_unknown) ||
	    any(diff, pair, 1, metric, is_unknown))
		snprintf(text, sizeof(text), "?");
	else if (side_lacks(diff, 0, metric) || side_lacks(diff, 1, metric))
		snprintf(text, sizeof(text), "-");
	else if (before == after)
		snprintf(text, sizeof(text), "=");
	else if (before <= 0)
		snprintf(text, sizeof(text), "new");
	else
		snprintf(text, sizeof(text), "%+.1f%%",
			 100 * (after / before - 1));
	if (strcmp(text, "?") && strcmp(text, "-"))
		units_mark(text, any(diff, pair, 0, metric, is_uncertain) ||
				 any(diff, pair, 1, metric, is_uncertain));
	put_cell(diff->out, text, CHANGE_WIDTH + 1);
}

static void make_cell(const struct diff *diff, const struct pair *pair,
		      unsigned int side, const struct metric *metric, char *text)
{
	if (side_lacks(diff, side, metric) || any(diff, pair, side, metric, is_unknown)) {
		strcpy(text, diff->options->format == REPORT_TEXT ? "-" : "");
		return;
	}
	report_cell(text, metric, middle(diff, pair, side, metric),
		    profile_of(diff, first_run(diff, side))->input.hz,
		    diff->options->format != REPORT_TEXT);
	if (diff->options->format == REPORT_TEXT)
		units_mark(text, any(diff, pair, side, metric, is_uncertain));
}

static const char * const which_text[] = { ":before", ":after" };
static const char * const share_text[] = { REPORT_SHARE ":before", REPORT_SHARE ":after" };
static const char * const times_text[] = { "times:before", "times:after" };
static const char * const counts_text[] = { REPORT_COUNTS ":before", REPORT_COUNTS ":after" };

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

	put_string(diff->out, profile_what(profile_of(diff, 0)));
	for (m = 0; m < diff->metrics; m++) {
		for (which = 0; which < 2; which++)
			report_put_column(diff->out, &diff->metric[m], which_text[which]);
		for (which = 0; which < 2 && diff->scaled[m]; which++)
			report_put_column(diff->out, &diff->metric[m], share_text[which]);
	}
	for (m = 0; m < 2 && has_times(diff); m++)
		put_format(diff->out, ",%s", times_text[m]);
	for (m = 0; m < 2 && report_has_counts(diff->metric, diff->metrics); m++)
		put_format(diff->out, ",%s", counts_text[m]);
	if (diff->several)
		put_string(diff->out, ",confidence,changed");
	put_char(diff->out, '\n');
}

static void begin_json(const struct diff *diff)
{
	const struct profile *profile = profile_of(diff, 0);
	char column[REPORT_COLUMN_SIZE] = "";
	unsigned int i;

	report_json_begin(diff->out, "report", profile_what(profile), &profile->input,
			  profile->analysis);
	for (i = 1; i < diff->runs->count; i++) {
		profile = profile_of(diff, i);
		report_json_more(diff->out, &profile->input, profile->analysis);
	}
	if (diff->tested >= 0)
		report_column_name(column, &diff->metric[diff->tested], "");
	if (diff->several)
		report_json_runs(diff->out, diff->runs->before, column);
	else
		report_json_rows(diff->out);
}

/* Return a word for the lowest certainty of the times in a side's runs. */
static const char *certainty(const struct diff *diff, const struct pair *pair, unsigned int side)
{
	static const char * const words[] = { "exact", "inferred", "partial", "unknown" };
	unsigned int i, w, worst = 0;

	for (i = first_run(diff, side); i < first_run(diff, side) + run_count(diff, side); i++)
		/* A function that is missing from a trace has an exact time of 0 there. */
		for (w = worst + 1; w < 4 && pair->row[i] != PAIRS_NO_ROW; w++)
			if (!strcmp(report_certainty(profile_of(diff, i), pair->row[i]), words[w]))
				worst = w;
	return words[worst];
}

/* Return a word for the lowest certainty of the counts in a side's runs. */
static const char *counts_certainty(const struct diff *diff, const struct pair *pair,
				    unsigned int side)
{
	unsigned int i;

	for (i = first_run(diff, side); i < first_run(diff, side) + run_count(diff, side); i++)
		/* A function that is missing from a trace has exact counts of 0 there. */
		if (pair->row[i] != PAIRS_NO_ROW && profile_of(diff, i)->row[pair->row[i]].partial)
			return "partial";
	return "exact";
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
			report_share_cell(text, profile_of(diff, which), pair->row[which], &same);
		report_row_number(rows, metric, share_text[which], text);
	}
}

static void put_confidence(struct report_rows *rows, const struct pair *pair)
{
	static const struct metric confidence = { METRIC_RATIO, .over = "", .name = "confidence" },
		changed = { METRIC_RATIO, .over = "", .name = "changed" };
	char text[UNITS_SIZE] = "";

	if (pair->confidence >= 0)
		snprintf(text, sizeof(text), "%.6f", pair->confidence);
	report_row_number(rows, &confidence, "", text);
	report_row_number(rows, &changed, "", pair->named ? "true" : "false");
}

/* Write the rows of csv and JSON. */
static void put_rows(struct diff *diff, size_t lines)
{
	struct report_rows rows = {
		.out = diff->out, .what = profile_what(profile_of(diff, 0)),
		.json = diff->options->format == REPORT_JSON,
	};
	unsigned int m;
	size_t i;

	if (rows.json)
		begin_json(diff);
	else
		put_heading(diff);
	for (i = 0; i < lines; i++) {
		report_row_begin(&rows, diff->pairs.pair[i].name);
		for (m = 0; m < diff->metrics; m++)
			put_numbers(diff, &rows, &diff->pairs.pair[i], m);
		for (m = 0; m < 2 && has_times(diff); m++)
			report_row_word(&rows, times_text[m], certainty(diff, &diff->pairs.pair[i], m));
		for (m = 0; m < 2 && report_has_counts(diff->metric, diff->metrics); m++)
			report_row_word(&rows, counts_text[m],
					counts_certainty(diff, &diff->pairs.pair[i], m));
		if (diff->several)
			put_confidence(&rows, &diff->pairs.pair[i]);
		report_row_end(&rows);
	}
	if (rows.json)
		report_json_end(diff->out, NULL, NULL);
}

/* Show the confidence, rounded down, only for a change that chance does not explain. */
static void put_named(const struct diff *diff, const struct pair *pair)
{
	char text[UNITS_SIZE] = "-";

	if (pair->named && pair->confidence > 0.9999)
		strcpy(text, ">99.99%");
	else if (pair->named)
		snprintf(text, sizeof(text), "%.2f%%", 100 * pair->confidence - 0.005);
	put_right(diff->out, text, CONFIDENCE_WIDTH);
}

static void put_block(struct diff *diff, unsigned int first, unsigned int last,
		      size_t lines)
{
	char text[UNITS_SIZE], heading[COUNTERS_NAME_SIZE + 8];
	unsigned int m, used = diff->several ? CONFIDENCE_WIDTH : 0, which;
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
	if (diff->several)
		put_right(diff->out, "confidence", CONFIDENCE_WIDTH);
	put_format(diff->out, "  %s", profile_what(profile_of(diff, 0)));
	output_bold(diff->out, false);
	put_char(diff->out, '\n');
	for (i = 0; i < lines; i++) {
		for (m = first; m < last; m++) {
			const struct metric *metric = &diff->metric[m];

			for (which = 0; which < 2; which++) {
				make_cell(diff, &diff->pairs.pair[i], which, metric,
					  text);
				put_cell(diff->out, text, metric->width + 1);
			}
			put_change(diff, &diff->pairs.pair[i], metric);
		}
		if (diff->several)
			put_named(diff, &diff->pairs.pair[i]);
		report_put_name(diff->options, diff->out, used,
				diff->pairs.pair[i].name);
	}
}

static void put_blocks(struct diff *diff, size_t lines)
{
	unsigned int room = (unsigned int)diff->options->width - NAME_MIN;
	unsigned int first = 0, last, used;

	for (; first < diff->metrics; first = last) {
		used = diff->several ? CONFIDENCE_WIDTH : 0;
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

/* Choose all metrics of the first trace, then those that only later traces have. */
static void choose_metrics(struct diff *diff)
{
	static const struct report_columns none;
	struct metric more[METRICS_MAX];
	unsigned int run, i, count;

	report_metrics(profile_of(diff, 0), &none, diff->metric, &diff->metrics);
	for (run = 1; run < diff->runs->count; run++) {
		report_metrics(profile_of(diff, run), &none, more, &count);
		for (i = 0; i < count && diff->metrics < 2 * METRICS_MAX; i++)
			if (!has(diff, &more[i]))
				diff->metric[diff->metrics++] = more[i];
	}
}

/*
 * Return whether a count is an estimate in either of two traces, because its event takes turns with
 * other events.
 */
static bool is_scaled(const struct diff *diff, const struct metric *metric)
{
	struct metric same = *metric;
	unsigned int i;

	for (i = 0; i < 2 && !diff->several && report_is_counter(metric); i++) {
		same.counter = column(diff, i, metric);
		if (!lacks(diff, i, metric) && report_is_scaled(profile_of(diff, i), &same))
			return true;
	}
	return false;
}

/*
 * Omit percentages, because their differences are meaningless. A heading spans three columns, so
 * these can be narrower.
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

/*
 * Return the confidence that a function's runs differ, as if it were the only function tested. Set
 * @tested unless the runs are unknown or all equal.
 */
static double test(const struct diff *diff, const struct pair *pair, bool *tested)
{
	const struct metric *metric = &diff->metric[diff->tested];
	double number[2][REPORT_RUNS_MAX];
	unsigned int side;
	double p;

	*tested = false;
	if (is_time(metric) && !diff->timed)
		return -1;
	for (side = 0; side < 2; side++) {
		if (side_lacks(diff, side, metric) ||
		    any(diff, pair, side, metric, is_unknown))
			return -1;
		amounts(diff, pair, side, metric, number[side]);
	}
	p = ranks_p(number[0], run_count(diff, 0), number[1], run_count(diff, 1));
	*tested = p >= 0 && p <= 1;
	return p < 0 ? -1 : fmax(0, 1 - p);
}

/* Set the functions' confidences. Functions with equal runs cannot differ, and are not tested. */
static bool test_all(struct diff *diff)
{
	struct report_options usual = *diff->options;
	double *p = malloc((diff->pairs.count + 1) * sizeof(*p));
	double **at = malloc((diff->pairs.count + 1) * sizeof(*at));
	size_t i, tests = 0;

	if (diff->tested < 0) {
		usual.sort = NULL;
		diff->tested = report_sort_metric(&usual, diff->metric, diff->metrics);
	}
	for (i = 0; i < diff->pairs.count && p && at; i++) {
		struct pair *pair = &diff->pairs.pair[i];
		bool tested = false;

		pair->confidence = diff->tested < 0 ? -1 : test(diff, pair, &tested);
		p[i] = 1 - pair->confidence;
		if (tested)
			at[tests++] = &p[i];
	}
	if (p && at)
		ranks_holm(at, tests);
	for (i = 0; i < diff->pairs.count && p && at; i++) {
		if (diff->pairs.pair[i].confidence > 0)
			diff->pairs.pair[i].confidence = 1 - p[i];
		diff->pairs.pair[i].named = diff->pairs.pair[i].confidence >= RANKS_CONFIDENCE;
	}
	free(p);
	free(at);
	return p && at;
}

/*
 * Put functions whose change has a confidence before all other functions. Within each group, sort
 * by difference, largest first.
 */
static int sort(struct diff *diff)
{
	int by = report_sort_metric(diff->options, diff->metric, diff->metrics);
	size_t i;

	if (by < -1)
		return EXIT_USAGE;
	diff->tested = by;
	if (diff->several && !test_all(diff)) {
		report("out of memory");
		return EXIT_UNREADABLE;
	}
	for (i = 0; i < diff->pairs.count; i++) {
		struct pair *pair = &diff->pairs.pair[i];

		pair->key = 0;
		if (by < 0 || (is_time(&diff->metric[by]) && !diff->timed))
			continue;
		pair->key = median(diff, pair, 1, &diff->metric[by]) -
			    median(diff, pair, 0, &diff->metric[by]);
		if (pair->key < 0)
			pair->key = -pair->key;
	}
	if (diff->pairs.count)
		qsort(diff->pairs.pair, diff->pairs.count, sizeof(*diff->pairs.pair),
		      by < 0 ? pairs_by_name : by_key);
	return EXIT_OK;
}

/* Write how many functions changed, and the criterion. */
static void put_verdict(struct diff *diff)
{
	char column[REPORT_COLUMN_SIZE];
	size_t i, named = 0;

	if (diff->tested < 0)
		return;
	for (i = 0; i < diff->pairs.count; i++)
		named += diff->pairs.pair[i].named;
	put_format(diff->out, "\n%zu of %zu %ss changed, by %s in %u and %u runs: confidence at least %g %%.\n",
		   named, diff->pairs.count, profile_what(profile_of(diff, 0)),
		   report_column_name(column, &diff->metric[diff->tested], ""),
		   run_count(diff, 0), run_count(diff, 1), 100 * RANKS_CONFIDENCE);
}

void report_tell_coverage(const struct input * const *input, unsigned int count,
			  struct output *out)
{
	static const char * const which[] = { "before", "after" };
	const bool several = count > 2;
	char text[COVERAGE_SIZE];
	bool partial = false;
	unsigned int i;

	for (i = 0; i < count; i++) {
		partial |= coverage_cut(input[i]);
		if (several && coverage_cut(input[i]))
			report("%s does not cover its whole run: its totals cannot be compared",
			       input[i]->options->path);
	}
	if (!partial)
		return;
	if (!several)
		report("%s or %s does not cover its whole run: their totals cannot be compared",
		       input[0]->options->path, input[1]->options->path);
	for (i = 0; out && i < count; i++)
		put_format(out, "Trace %s %s.\n", several ? input[i]->options->path : which[i],
			   coverage_of(input[i]) == COVERAGE_UNKNOWN && !coverage_lost(input[i]) ?
			   "has unknown coverage" : coverage_text(input[i], text));
	if (out)
		put_format(out, "The traces do not %s cover their whole run: totals cannot be compared.\n",
			   several ? "all" : "both");
}

bool report_compares_times(const struct input * const *input, unsigned int count)
{
	unsigned int i;

	for (i = 1; i < count; i++)
		if (!input[i]->hz != !input[0]->hz) {
			report("%s: only %s: times cannot be compared; give --ts-hz",
			       input[i]->options->path, count > 2 ?
			       "some of the traces have a timestamp rate" :
			       "one of the traces has a timestamp rate");
			return false;
		}
	return true;
}

int report_diff(const struct report_options *options, struct output *out,
		const struct report_runs *runs)
{
	struct diff diff = {
		.options = options, .runs = runs, .out = out, .several = runs->count > 2,
		.pairs = { .runs = runs->count },
	};
	const struct input *input[REPORT_RUNS_MAX];
	int result = EXIT_OK;
	unsigned int run;
	size_t lines;

	for (run = 0; run < runs->count; run++)
		input[run] = &runs->profile[run].input;
	diff.timed = report_compares_times(input, runs->count);
	report_tell_coverage(input, runs->count, options->format == REPORT_TEXT ? out : NULL);
	choose_metrics(&diff);
	choose_columns(&diff);
	for (run = 0; run < runs->count && !result; run++)
		if (!pairs_add(&diff.pairs, options, &runs->profile[run], run)) {
			report("out of memory");
			result = EXIT_UNREADABLE;
		}
	if (!result && !diff.pairs.count)
		options_nothing(input[0]->options, &options->filter);
	result = result ? result : sort(&diff);
	lines = diff.pairs.count;
	if (options->top && lines > (size_t)options->top)
		lines = (size_t)options->top;
	if (!result && options->format != REPORT_TEXT) {
		put_rows(&diff, lines);
	} else if (!result) {
		put_blocks(&diff, lines);
		if (diff.several)
			put_verdict(&diff);
	}
	pairs_free(&diff.pairs);
	return result;
}
