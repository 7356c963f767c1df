// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * report --by interval: shows the counts between two records, and the functions that ran in
 * between.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "coverage.h"
#include "intervals.h"
#include "pager.h"
#include "report.h"
#include "text.h"
#include "units.h"

#define TIMES_WIDTH	9
#define TIME_WIDTH	10
#define COUNT_WIDTH	12

struct report_intervals {
	const struct report_options	*options;
	struct input			input;
	struct analysis			*analysis;
	struct intervals		*intervals;
	struct output			*out;
	const struct interval		*row;
	size_t				rows;
	const struct interval		**sorted;
	struct interval_function	*function;	/* sorted by row and instructions */
	size_t				functions;
	size_t				shown;
};

/* ---- reading ----------------------------------------------------------- */

static void on_recorded(void *context, struct analysis_thread *thread,
			const struct analysis_point *point)
{
	struct report_intervals *r = context;

	if (options_thread(&r->options->common, thread->thread->tid))
		intervals_point(r->intervals, thread, point);
}

static void on_ran(void *context, struct analysis_thread *thread, uint32_t function,
		   uint64_t instructions)
{
	struct report_intervals *r = context;

	if (options_thread(&r->options->common, thread->thread->tid))
		intervals_ran(r->intervals, thread, function, instructions);
}

static void on_missing(void *context, struct analysis_thread *thread)
{
	struct report_intervals *r = context;

	if (options_thread(&r->options->common, thread->thread->tid))
		intervals_missing(r->intervals, thread);
}

static bool on_stop(void *context)
{
	struct report_intervals *r = context;

	return intervals_failed(r->intervals);
}

static const struct analysis_ops ops = {
	.recorded = on_recorded,
	.ran = on_ran,
	.missing = on_missing,
	.stop = on_stop,
};

static int read_trace(struct report_intervals *r)
{
	int result = input_open(&r->input, &r->options->common);

	if (result)
		return result;
	r->intervals = intervals_new();
	r->analysis = analysis_new(&r->input.meta, r->input.symbols, &ops, r);
	if (!r->intervals || !r->analysis) {
		report("out of memory");
		return EXIT_UNREADABLE;
	}
	analysis_limit(r->analysis, &r->input);
	if (analysis_run(r->analysis, r->input.trace))
		return EXIT_UNREADABLE;
	if (intervals_failed(r->intervals)) {
		report("out of memory");
		return EXIT_UNREADABLE;
	}
	return input_summary(&r->input, INPUT_FLOW);
}

/* ---- order ------------------------------------------------------------- */

static int by_length(const void *a, const void *b)
{
	const struct interval *one = *(const struct interval * const *)a;
	const struct interval *two = *(const struct interval * const *)b;

	if (one->ticks != two->ticks)
		return one->ticks > two->ticks ? -1 : 1;
	if (one->instructions != two->instructions)
		return one->instructions > two->instructions ? -1 : 1;
	return (one > two) - (one < two);
}

static int by_instructions(const void *a, const void *b)
{
	const struct interval_function *one = a, *two = b;

	if (one->interval != two->interval)
		return one->interval < two->interval ? -1 : 1;
	if (one->instructions != two->instructions)
		return one->instructions > two->instructions ? -1 : 1;
	return (one->function > two->function) - (one->function < two->function);
}

/* Format an end of an interval. */
static void name_end(const struct report_intervals *r, uint32_t end, char text[NAME_SIZE])
{
	static const char * const kinds[] = { "enter ", "exit ", "manual " };
	const uint32_t function = INTERVALS_FUNCTION(end);
	struct symbol symbol;
	size_t used;

	if (end == INTERVALS_OTHERS) {
		snprintf(text, NAME_SIZE, "(others)");
		return;
	}
	used = (size_t)snprintf(text, NAME_SIZE, "%s", kinds[INTERVALS_TYPE(end)]);
	analysis_name(r->analysis, function, text + used, (unsigned int)(NAME_SIZE - used));
	used = strlen(text);
	if (INTERVALS_TYPE(end) == PERFREC_MANUAL &&
	    symbols_find(r->input.symbols,
			 functions_address(analysis_functions(r->analysis), function), &symbol) &&
	    symbol.file)
		snprintf(text + used, NAME_SIZE - used, " (%s:%d)", text_base(symbol.file),
			 symbol.line);
	text_clean(text);
}

static bool is_wanted(const struct report_intervals *r, const struct interval *row)
{
	char from[NAME_SIZE], to[NAME_SIZE];

	if (!r->options->filter.count)
		return true;
	if (row->from == INTERVALS_OTHERS)
		return options_matches(&r->options->filter, "(others)");
	analysis_name(r->analysis, INTERVALS_FUNCTION(row->from), from, sizeof(from));
	analysis_name(r->analysis, INTERVALS_FUNCTION(row->to), to, sizeof(to));
	return options_matches(&r->options->filter, from) ||
	       options_matches(&r->options->filter, to);
}

/* Return false if out of memory. */
static bool sort_rows(struct report_intervals *r)
{
	const struct interval_function *function =
		intervals_functions(r->intervals, &r->functions);
	size_t i;

	r->row = intervals_rows(r->intervals, &r->rows);
	r->sorted = calloc(r->rows + 1, sizeof(*r->sorted));
	r->function = calloc(r->functions + 1, sizeof(*r->function));
	if (!r->sorted || !r->function) {
		report("out of memory");
		return false;
	}
	for (i = 0; i < r->rows; i++)
		if (is_wanted(r, &r->row[i]))
			r->sorted[r->shown++] = &r->row[i];
	qsort(r->sorted, r->shown, sizeof(*r->sorted), by_length);
	if (r->functions) {
		memcpy(r->function, function, r->functions * sizeof(*function));
		qsort(r->function, r->functions, sizeof(*function), by_instructions);
	}
	return true;
}

/* Return the functions of a row; set *@count to their number. */
static const struct interval_function *functions_of(const struct report_intervals *r,
						    const struct interval *row, size_t *count)
{
	const uint32_t interval = (uint32_t)(row - r->row);
	size_t first = 0, last = r->functions, middle;

	while (first < last) {
		middle = first + (last - first) / 2;
		if (r->function[middle].interval < interval)
			first = middle + 1;
		else
			last = middle;
	}
	for (; last < r->functions && r->function[last].interval == interval; last++)
		;
	*count = last - first;
	return r->function + first;
}

/* ---- text -------------------------------------------------------------- */

static unsigned int width_of(const char *name)
{
	const size_t width = strlen(name);

	return width > COUNT_WIDTH ? (unsigned int)width : COUNT_WIDTH;
}

static void put_heading(const struct report_intervals *r)
{
	const struct counters *counters = analysis_recorded(r->analysis);
	unsigned int c;

	put_char(r->out, '\n');
	output_bold(r->out, true);
	put_right(r->out, "times", TIMES_WIDTH);
	put_right(r->out, "time", TIME_WIDTH + 1);
	for (c = 0; c < counters->count; c++)
		put_right(r->out, counters->name[c], width_of(counters->name[c]) + 1);
	put_right(r->out, "executed", COUNT_WIDTH + 1);
	put_right(r->out, "calls", COUNT_WIDTH + 1);
	put_string(r->out, "  from, to, and the functions that ran");
	output_bold(r->out, false);
	put_char(r->out, '\n');
}

static void put_count(const struct report_intervals *r, uint64_t count, bool unsure,
		      unsigned int width)
{
	char text[UNITS_SIZE];

	units_count(text, count);
	units_mark(text, unsure);
	put_right(r->out, text, width + 1);
}

static void put_doubt(const struct report_intervals *r, uint64_t number,
		      const struct interval *row, const char *what)
{
	if (number)
		put_format(r->out, "  [%s in %" PRIu64 " of %" PRIu64 "]", what, number,
			   row->times);
}

static void put_interval(const struct report_intervals *r, const struct interval *row)
{
	const struct counters *counters = analysis_recorded(r->analysis);
	char text[UNITS_SIZE], name[NAME_SIZE];
	unsigned int c;

	put_number(r->out, row->times, TIMES_WIDTH);
	strcpy(text, "-");
	if (row->timed) {
		units_time(text, row->ticks, r->input.hz);
		units_mark(text, row->inferred || row->timed < row->times);
	}
	put_right(r->out, text, TIME_WIDTH + 1);
	for (c = 0; c < counters->count; c++)
		if (row->counted[c])
			put_count(r, row->count[c], row->counted[c] < row->times,
				  width_of(counters->name[c]));
		else
			put_right(r->out, "-", width_of(counters->name[c]) + 1);
	put_count(r, row->instructions, row->missing, COUNT_WIDTH);
	put_count(r, row->calls, row->missing, COUNT_WIDTH);
	put_string(r->out, "  ");
	name_end(r, row->from, name);
	put_string(r->out, name);
	if (row->from != INTERVALS_OTHERS) {
		name_end(r, row->to, name);
		put_format(r->out, " -> %s", name);
	}
	put_doubt(r, row->moved, row, "moved to another hart");
	put_doubt(r, row->lost, row, "records may be missing");
	put_doubt(r, row->missing, row, "instructions are missing");
	put_char(r->out, '\n');
}

static void put_function(const struct report_intervals *r, const struct interval *row,
			 const struct interval_function *function)
{
	const struct counters *counters = analysis_recorded(r->analysis);
	size_t blank = TIMES_WIDTH + TIME_WIDTH + 1;
	char name[NAME_SIZE];
	unsigned int c;

	for (c = 0; c < counters->count; c++)
		blank += width_of(counters->name[c]) + 1;
	put_spaces(r->out, blank);
	put_count(r, function->instructions, row->missing, COUNT_WIDTH);
	put_count(r, function->calls, row->missing, COUNT_WIDTH);
	analysis_name(r->analysis, function->function, name, sizeof(name));
	text_clean(name);
	put_format(r->out, "    %s\n", name);
}

static void put_table(struct report_intervals *r, size_t count)
{
	const struct interval_function *function;
	char coverage[COVERAGE_SIZE];
	size_t i, f, functions;

	if (coverage_partial(&r->input))
		put_format(r->out, "Trace %s.\n", coverage_text(&r->input, coverage));
	put_heading(r);
	for (i = 0; i < count; i++) {
		put_interval(r, r->sorted[i]);
		function = functions_of(r, r->sorted[i], &functions);
		for (f = 0; f < functions; f++)
			put_function(r, r->sorted[i], &function[f]);
	}
	if (count < r->shown)
		put_format(r->out, "\n(%zu more)\n", r->shown - count);
}

/* ---- csv and JSON ------------------------------------------------------ */

static void put_value(struct report_intervals *r, struct report_rows *rows, const char *column,
		      uint64_t value, bool known)
{
	char text[24] = "";

	if (known)
		snprintf(text, sizeof(text), "%" PRIu64, value);
	else if (rows->json)
		strcpy(text, "null");
	put_char(r->out, ',');
	if (rows->json) {
		put_json(r->out, column);
		put_char(r->out, ':');
	}
	put_string(r->out, text);
}

/* If @function is NULL, write the row for the interval as a whole. */
static void put_row(struct report_intervals *r, struct report_rows *rows,
		    const struct interval *row, const struct interval_function *function)
{
	const struct counters *counters = analysis_recorded(r->analysis);
	const struct metric time = { .kind = METRIC_TOTAL, .name = "total", .over = "" };
	char name[NAME_SIZE] = "", text[UNITS_SIZE];
	unsigned int c;

	if (function)
		analysis_name(r->analysis, function->function, name, sizeof(name));
	text_clean(name);
	report_row_begin(rows, name);
	name_end(r, row->from, name);
	report_row_text(rows, "from", name);
	name_end(r, row->to, name);
	report_row_text(rows, "to", name);
	put_value(r, rows, "times", row->times, !function);
	report_cell(text, &time, row->ticks, r->input.hz, true);
	report_row_number(rows, &time, "", function || !row->timed ? "" : text);
	for (c = 0; c < counters->count; c++) {
		put_value(r, rows, counters->name[c], row->count[c],
			  !function && row->counted[c]);
		snprintf(name, sizeof(name), "%s:known", counters->name[c]);
		put_value(r, rows, name, row->counted[c], !function);
	}
	put_value(r, rows, "executed", function ? function->instructions : row->instructions,
		  true);
	put_value(r, rows, "calls", function ? function->calls : row->calls, true);
	put_value(r, rows, "inferred", row->inferred + row->times - row->timed, !function);
	put_value(r, rows, "moved", row->moved, !function);
	put_value(r, rows, "lost", row->lost, !function);
	put_value(r, rows, "missing", row->missing, !function);
	report_row_end(rows);
}

static void put_csv_heading(const struct report_intervals *r)
{
	const struct counters *counters = analysis_recorded(r->analysis);
	char name[COUNTERS_NAME_SIZE + 8];
	unsigned int c;

	put_string(r->out, "function,from,to,times,total");
	for (c = 0; c < counters->count; c++) {
		put_char(r->out, ',');
		put_field(r->out, counters->name[c]);
		snprintf(name, sizeof(name), "%s:known", counters->name[c]);
		put_char(r->out, ',');
		put_field(r->out, name);
	}
	put_string(r->out, ",executed,calls,inferred,moved,lost,missing\n");
}

static void put_rows(struct report_intervals *r, size_t count)
{
	struct report_rows rows = {
		.out = r->out, .json = r->options->format == REPORT_JSON,
	};
	const struct interval_function *function;
	size_t i, f, functions;

	if (rows.json) {
		report_json_begin(r->out, "report", "interval", &r->input, r->analysis);
		report_json_rows(r->out);
	} else {
		put_csv_heading(r);
	}
	for (i = 0; i < count; i++) {
		put_row(r, &rows, r->sorted[i], NULL);
		function = functions_of(r, r->sorted[i], &functions);
		for (f = 0; f < functions; f++)
			put_row(r, &rows, r->sorted[i], &function[f]);
	}
	if (rows.json)
		report_json_end(r->out, NULL, r->analysis);
}

/* ---- the table --------------------------------------------------------- */

static int put(struct report_intervals *r)
{
	size_t count;

	if (!r->rows) {
		report("%s: no intervals: no thread has two records of instrumented functions or of perfWriteCntrs() after a header: record with --calls --children",
		       r->options->common.path);
		return EXIT_UNREADABLE;
	}
	if (!r->shown)
		report("%s: no interval matches --filter", r->options->common.path);
	count = r->shown;
	if (r->options->top && count > (size_t)r->options->top)
		count = (size_t)r->options->top;
	r->out = pager_open(r->options->common.output);
	if (!r->out)
		return EXIT_UNREADABLE;
	if (r->options->format == REPORT_TEXT)
		put_table(r, count);
	else
		put_rows(r, count);
	return output_close(r->out) ? EXIT_UNREADABLE : EXIT_OK;
}

int report_intervals(const struct report_options *options)
{
	struct report_intervals r = { .options = options };
	int result = read_trace(&r), ended = EXIT_UNREADABLE;

	if (result <= EXIT_LOSSES) {
		report_notes(r.analysis, &r.input);
		if (sort_rows(&r))
			ended = put(&r);
	}
	free(r.sorted);
	free(r.function);
	intervals_free(r.intervals);
	analysis_free(r.analysis);
	input_close(&r.input);
	return ended > result ? ended : result;
}
