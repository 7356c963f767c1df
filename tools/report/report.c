// SPDX-License-Identifier: Apache-2.0 OR MIT
/* sifive-trace report: shows the cost of each function. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "command.h"
#include "coverage.h"
#include "pager.h"
#include "report.h"
#include "text.h"
#include "units.h"

#define WIDTH_DEFAULT	80
/* Minimum width of the output: the widest numbers and a few letters of the name. */
#define WIDTH_LEAST	44
/* Minimum width of a name next to its numbers. */
#define NAME_CUT_MIN	4

static int set_width(void *at, const struct cli_option *option, const char *value)
{
	struct report_options *options = at;

	options->cut = true;
	return cli_number(&options->width, option, value);
}

static const struct cli_option by_options[] = {
	/*
	 * The keywords are in the order of enum profile_by, then REPORT_BY_INTERVAL and
	 * REPORT_BY_CPU.
	 */
	{ .name = "by", .value = "function|object|line|thread|process|hart|interval|cpu",
	  .help = "show one table of all functions (default), objects (the program and shared objects) or source lines, or a table of functions for each thread, process or hart (cpu is the same as hart); or, for a trace with instruction trace and records, the counts from each record of a thread to its next record, and the functions that ran in between",
	  .set = cli_word, .offset = offsetof(struct report_options, by) },
	{ .name = NULL }
};

const struct cli_option report_table_options[] = {
	{ .name = "sort", .value = "KEY", .words = "calls|total|self|samples|name|on-cpu|off-cpu",
	  .help = "sort by calls, total, self (default; samples or else calls if there are no times), samples, samples:total, name, a counter's name, on-cpu, off-cpu, NAME:self, or one of --columns",
	  .set = cli_text, .offset = offsetof(struct report_options, sort) },
	{ .name = "filter", .value = "PATTERN",
	  .help = "show only functions (with --by object or line: objects or lines) of this name; * matches any characters, ? one; may be repeated",
	  .set = cli_append, .offset = offsetof(struct report_options, filter) },
	OPTIONS_TID(struct report_options, common),
	{ .name = "top", .value = "N", .help = "show only the first N lines of each table",
	  .set = cli_number, .offset = offsetof(struct report_options, top),
	  .least = 1, .most = 1000000 },
	{ .name = "columns", .value = "LIST", .words = "total%|avg|min|max|p50|p90|p95|p99|ipc|mpki",
	  .help = "also show, separated by commas: the total as a share of all time (total%), the average, minimum and maximum time of a call, a percentile (p1 to p99), or the ratio of two counters, as in instructions/cycles; ipc is short for that ratio, and mpki shows cache-misses per 1000 instructions",
	  .set = report_set_columns, .offset = offsetof(struct report_options, columns) },
	{ .name = "width", .value = "N",
	  .help = "width of the output in columns; longer names are truncated (default: the terminal's width; 80 for a file or pipe, where names are not truncated)",
	  .set = set_width, .least = WIDTH_LEAST, .most = 10000 },
	{ .name = NULL }
};

static const struct cli_option file_options[] = {
	{ .name = "diff", .value = "OTHER",
	  .help = "compare with OTHER, a later trace: show how much more or less it costs; --meta applies to the first trace. Repeat this option for further runs of the later program: medians are compared, and changes that chance does not explain have a confidence",
	  .set = cli_append, .offset = offsetof(struct report_options, diff) },
	{ .name = "runs",
	  .help = "with --diff: each TRACE is a separate run, not one sink of a recording",
	  .set = cli_flag, .offset = offsetof(struct report_options, runs) },
	/* The keywords are in the order of enum report_format. */
	{ .name = "format", .value = "text|csv|json",
	  .help = "text (default), or for programs: one csv table, or JSON, with all digits",
	  .set = cli_word, .offset = offsetof(struct report_options, format) },
	CLI_AS(csv, struct report_options, format, REPORT_CSV),
	CLI_AS(json, struct report_options, format, REPORT_JSON),
	CLI_OUTPUT(struct report_options, common.output),
	{ .name = NULL }
};

static const struct cli_group report_groups[] = {
	{ NULL, by_options, 0 },
	{ NULL, report_table_options, 0 },
	{ NULL, file_options, 0 },
	OPTIONS_CALLS_GROUPS(struct report_options, common),
	{ .options = NULL }
};

void report_put_name(const struct report_options *options, struct output *out,
		     unsigned int used, const char *name)
{
	size_t width = (size_t)options->width;
	size_t room = width > used + 2 + NAME_CUT_MIN ? width - used - 2 : NAME_CUT_MIN;

	put_string(out, "  ");
	if (options->cut && text_columns(name) > room && options->by == PROFILE_BY_LINE) {
		/*
		 * The end of a path, with the line number, is more informative than its beginning.
		 */
		put_string(out, "...");
		put_string(out, name + text_bytes(name, text_columns(name) - (room - 3)));
	} else if (options->cut && text_columns(name) > room) {
		put_bytes(out, name, text_bytes(name, room - 3));
		put_string(out, "...");
	} else {
		put_string(out, name);
	}
	put_char(out, '\n');
}

/* ---- one table --------------------------------------------------------- */

struct line {
	size_t		row;
	uint64_t	key;
	char		*name;
};

struct table {
	const struct report_options *options;
	const struct profile	*profile;
	struct output		*out;
	struct metric		metric[METRICS_MAX];
	unsigned int		metrics;
	/* Number of metrics in the tables; they precede all other metrics in @metric. */
	unsigned int		shown;
	struct line		*line;
	size_t			lines;
	bool			any;		/* set if a group has lines */
	struct report_rows	rows;
	/* Sums over all lines, from which the percentages are computed. */
	uint64_t		sum[METRICS_MAX];
};

static int by_key(const void *a, const void *b)
{
	const struct line *one = a, *two = b;

	if (one->key != two->key)
		return one->key > two->key ? -1 : 1;
	return strcmp(one->name, two->name);
}

static void put_heading(struct table *table, unsigned int first,
			unsigned int last)
{
	unsigned int i;
	unsigned int over = first;

	for (i = first; i < last; i++)
		if (*table->metric[i].over)
			over = i + 1;
	put_char(table->out, '\n');
	output_bold(table->out, true);
	for (i = first; i < over; i++) {
		const struct metric *metric = &table->metric[i];
		unsigned int width = metric->width + 1;

		/* A counter's total and self columns share a heading. */
		if (metric->kind == METRIC_COUNTER_TOTAL && i + 1 < last)
			width += table->metric[++i].width + 1;
		put_right(table->out, metric->over, width);
	}
	if (over > first)
		put_char(table->out, '\n');
	for (i = first; i < last; i++)
		put_right(table->out, table->metric[i].name,
			  table->metric[i].width + 1);
	put_format(table->out, "  %s", profile_what(table->profile));
	output_bold(table->out, false);
	put_char(table->out, '\n');
}

static double percent_of(uint64_t value, uint64_t sum)
{
	return sum ? 100.0 * (double)value / (double)sum : 0;
}

/* If there is a mark, write 100 % with only one decimal, so that it fits the column. */
static void put_share(char *text, uint64_t value, uint64_t sum, bool marked)
{
	const double share = percent_of(value, sum);

	snprintf(text, UNITS_SIZE, "%.*f", marked && share > 99.99 ? 1 : 2, share);
}

static void put_line(struct table *table, const struct line *line,
		     unsigned int first, unsigned int last)
{
	unsigned int i, used = 0;
	char text[UNITS_SIZE];

	for (i = first; i < last; i++) {
		const struct metric *metric = &table->metric[i];
		uint64_t value = report_value(table->profile, line->row, metric);
		const bool share = report_is_share(metric);

		if (report_is_unknown(table->profile, line->row, metric))
			strcpy(text, "-");
		else if (share)
			put_share(text, value, table->sum[i],
				  report_is_uncertain(table->profile, line->row, metric));
		else
			report_cell(text, metric, value, table->profile->input.hz,
				    false);
		if (*text != '-')
			units_mark(text, report_is_uncertain(table->profile, line->row,
						      metric));
		if (share)
			put_percent(table->out, text, metric->width + 1,
				    percent_of(value, table->sum[i]));
		else
			put_cell(table->out, text, metric->width + 1);
		used += metric->width + 1;
	}
	report_put_name(table->options, table->out, used, line->name);
}

/*
 * For all lines, write the columns that fit the page. Below, write the remaining columns for the
 * same lines.
 */
static void put_blocks(struct table *table, size_t shown)
{
	unsigned int room = (unsigned int)table->options->width - NAME_MIN;
	unsigned int first = 0, last;
	size_t i;

	while (first < table->shown) {
		unsigned int used = 0;

		for (last = first; last < table->shown; last++) {
			bool pair = table->metric[last].kind ==
				    METRIC_COUNTER_TOTAL;
			unsigned int width = table->metric[last].width + 1;

			if (last > first && used + width * (1 + pair) > room)
				break;
			used += width;
		}
		put_heading(table, first, last);
		for (i = 0; i < shown; i++)
			put_line(table, &table->line[i], first, last);
		first = last;
	}
}

static bool add_line(struct table *table, size_t row, int sort)
{
	struct line *line = &table->line[table->lines];
	char name[NAME_SIZE];
	unsigned int i;

	/*
	 * Totals overlap, because they include callees, so compute their shares from the sum of the
	 * self times.
	 */
	for (i = 0; i < table->metrics; i++)
		table->sum[i] += table->metric[i].kind == METRIC_TOTAL_SHARE ?
				 table->profile->row[row].self :
				 report_value(table->profile, row, &table->metric[i]);
	profile_name(table->profile, row, name, sizeof(name));
	if (!options_matches(&table->options->filter, name))
		return true;
	text_clean(name);
	line->row = row;
	line->key = sort < 0 ? 0 : report_value(table->profile, row,
						&table->metric[sort]);
	line->name = strdup(name);
	table->lines += line->name != NULL;
	return line->name;
}

/* Fill the table with the rows of one group, sorted. */
static int fill_table(struct table *table, uint32_t group)
{
	int sort = report_sort_metric(table->options, table->metric,
				      table->metrics);
	size_t i;

	if (sort < -1)
		return EXIT_USAGE;
	memset(table->sum, 0, sizeof(table->sum));
	table->lines = 0;
	for (i = 0; i < table->profile->rows; i++) {
		if (table->profile->row[i].group != group)
			continue;
		if (!add_line(table, i, sort)) {
			report("out of memory");
			return EXIT_UNREADABLE;
		}
	}
	qsort(table->line, table->lines, sizeof(*table->line), by_key);
	return EXIT_OK;
}

static void empty_table(struct table *table)
{
	size_t i;

	for (i = 0; i < table->lines; i++)
		free(table->line[i].name);
	table->lines = 0;
}

static bool has_times(const struct table *table)
{
	unsigned int m;

	for (m = 0; m < table->metrics; m++)
		if (table->metric[m].kind == METRIC_TOTAL)
			return true;
	return false;
}

/* Return the name of the column that distinguishes the groups of --by. */
static const char *group_column(const struct profile *profile)
{
	return profile->by == PROFILE_BY_THREAD ? "thread" :
	       profile->by == PROFILE_BY_PROCESS ? "process" : "hart";
}

static void put_row(struct table *table, const char *group, const struct line *line)
{
	const struct profile *profile = table->profile;
	char text[UNITS_SIZE];
	unsigned int m;

	report_row_begin(&table->rows, line->name);
	if (*group)
		report_row_text(&table->rows, group_column(profile), group);
	for (m = 0; m < table->metrics; m++) {
		const struct metric *metric = &table->metric[m];

		if (report_is_share(metric))
			continue;
		report_cell(text, metric, report_value(profile, line->row, metric),
			    profile->input.hz, true);
		report_row_number(&table->rows, metric, "",
				  report_is_unknown(profile, line->row, metric) ? "" : text);
		if (!report_is_scaled_count(profile, metric))
			continue;
		report_share_cell(text, profile, line->row, metric);
		report_row_number(&table->rows, metric, REPORT_SHARE, text);
	}
	if (has_times(table))
		report_row_word(&table->rows, "times", report_certainty(table->profile, line->row));
	if (report_has_counts(table->metric, table->metrics))
		report_row_word(&table->rows, REPORT_COUNTS,
				report_counts_word(table->profile, line->row));
	report_row_end(&table->rows);
}

static void put_csv_heading(struct table *table)
{
	unsigned int m;

	put_string(table->out, profile_what(table->profile));
	if (table->profile->by >= PROFILE_BY_THREAD)
		put_format(table->out, ",%s", group_column(table->profile));
	for (m = 0; m < table->metrics; m++) {
		if (!report_is_share(&table->metric[m]))
			report_put_column(table->out, &table->metric[m], "");
		if (report_is_scaled_count(table->profile, &table->metric[m]))
			report_put_column(table->out, &table->metric[m], REPORT_SHARE);
	}
	if (has_times(table))
		put_string(table->out, ",times");
	if (report_has_counts(table->metric, table->metrics))
		put_string(table->out, "," REPORT_COUNTS);
	put_char(table->out, '\n');
}

static int put_group(struct table *table, uint32_t group)
{
	char name[NAME_SIZE];
	int result = fill_table(table, group);
	size_t shown, i;

	if (result || !table->lines) {
		empty_table(table);
		return result;
	}
	table->any = true;
	profile_group(table->profile, group, name, sizeof(name));
	text_clean(name);
	shown = table->lines;
	if (table->options->top && shown > (size_t)table->options->top)
		shown = (size_t)table->options->top;
	if (table->options->format != REPORT_TEXT) {
		for (i = 0; i < shown; i++)
			put_row(table, name, &table->line[i]);
	} else {
		if (*name)
			put_format(table->out, "\n%s:\n", name);
		put_blocks(table, shown);
		if (shown < table->lines)
			put_format(table->out, "\n(%zu more %ss)\n", table->lines - shown,
				   profile_what(table->profile));
	}
	empty_table(table);
	return EXIT_OK;
}

static int compare_numbers(const void *a, const void *b)
{
	uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;

	return (one > two) - (one < two);
}

static bool is_idle(const struct profile *profile, const struct metric *metric)
{
	size_t i;

	/* Show times on and off the CPU even if no thread waited. */
	if (!report_is_counter(metric) ||
	    (metric->time && metric->counter != COUNTERS_UNKNOWN_CPU))
		return false;
	for (i = 0; i < profile->rows; i++)
		if (profile_total(profile, i, metric->counter) ||
		    profile_self(profile, i, metric->counter))
			return false;
	return true;
}

/* Move counters without counts to the end, where they are not shown. */
static void hide_idle(struct table *table)
{
	struct metric idle[METRICS_MAX];
	unsigned int i, count = 0;

	table->shown = 0;
	for (i = 0; i < table->metrics; i++) {
		if (is_idle(table->profile, &table->metric[i]))
			idle[count++] = table->metric[i];
		else
			table->metric[table->shown++] = table->metric[i];
	}
	memcpy(table->metric + table->shown, idle, count * sizeof(idle[0]));
}

static void name_idle(struct table *table)
{
	const char *begin = "\nCounted nothing: ";
	size_t used = strlen(begin) - 1, length;
	bool any = false;
	unsigned int i;

	for (i = table->shown; i < table->metrics; i++) {
		if (table->metric[i].kind != METRIC_COUNTER_SELF || table->metric[i].time)
			continue;
		length = strlen(table->metric[i].over) + 2;
		if (used + length > (size_t)table->options->width) {
			begin = ",\n  ";
			used = 2;
		}
		put_string(table->out, begin);
		put_text(table->out, table->metric[i].over);
		used += length;
		begin = ", ";
		any = true;
	}
	if (any)
		put_char(table->out, '\n');
}

/* Write the part of the output that precedes the first group. */
static void begin_json(struct table *table)
{
	const struct profile *profile = table->profile;

	report_json_begin(table->out, "report", profile->by < PROFILE_BY_THREAD ?
			  profile_what(profile) : group_column(profile), &profile->input,
			  profile->analysis);
	report_json_rows(table->out);
}

static void begin_table(struct table *table)
{
	const struct profile *profile = table->profile;
	char coverage[COVERAGE_SIZE];

	if (table->options->format == REPORT_CSV)
		put_csv_heading(table);
	else if (table->options->format == REPORT_JSON)
		begin_json(table);
	else
		hide_idle(table);
	if (table->options->format == REPORT_TEXT && coverage_partial(&profile->input))
		put_format(table->out, "Trace %s.\n",
			   coverage_text(&profile->input, coverage));
}

int report_put(const struct report_options *options, struct output *out,
	       const struct profile *profile)
{
	struct table table = {
		.options = options, .profile = profile, .out = out,
		.rows = { .out = out, .what = profile_what(profile),
			  .json = options->format == REPORT_JSON },
	};
	uint32_t *group = calloc(profile->rows + 1, sizeof(*group));
	int result = EXIT_OK;
	size_t i;

	table.line = calloc(profile->rows + 1, sizeof(*table.line));
	if (!group || !table.line) {
		report("out of memory");
		free(group);
		free(table.line);
		return EXIT_UNREADABLE;
	}
	result = report_metrics(profile, &options->columns, table.metric, &table.metrics);
	if (!result)
		begin_table(&table);
	for (i = 0; i < profile->rows; i++)
		group[i] = profile->row[i].group;
	qsort(group, profile->rows, sizeof(*group), compare_numbers);
	for (i = 0; i < profile->rows && !result; i++)
		if (!i || group[i] != group[i - 1])
			result = put_group(&table, group[i]);
	if (!result && profile->rows && !table.any && !options->live)
		report("%s: no %s matches --filter", profile->input.options->path,
		       profile_what(profile));
	else if (!result && !profile->rows && profile->input.options->tid >= 0 && !options->live)
		report("%s: nothing matches --tid: see sifive-trace report --by thread",
		       profile->input.options->path);
	else if (options->format == REPORT_TEXT && !result)
		name_idle(&table);
	if (options->format == REPORT_TEXT && !result)
		report_turns(out, profile->analysis);
	if (options->format == REPORT_TEXT && !result && report_has_threads(&profile->input,
									    profile->analysis)) {
		report_threads(out, &profile->input, profile->analysis, (size_t)options->top);
		report_syscalls(out, &profile->input, profile->analysis, (size_t)options->top);
		report_faults(out, &profile->input, profile->analysis, (size_t)options->top);
	}
	if (options->format == REPORT_JSON && !result)
		report_json_end(out, &profile->input, profile->analysis);
	free(group);
	free(table.line);
	return result;
}

/* ---- the command ------------------------------------------------------- */

void report_notes(const struct analysis *analysis, const struct input *input)
{
	const struct analysis_stats *stats = analysis_stats(analysis);
	const char *name = input->options->path;

	analysis_notes(analysis, input);
	if (input->options->trace.quiet)
		return;
	if (analysis_turns(analysis))
		report("%s: %u events took turns on the counters: their counts are scaled to all cycles, marked ~",
		       name, turns_in(&input->meta));
	if (stats->unwound)
		report("%s: %" PRIu64 " call%s ended without an exit record (exceptions, longjmp, losses)",
		       name, stats->unwound, stats->unwound == 1 ? "" : "s");
	if (stats->cut)
		report("%s: %" PRIu64 " call%s had not ended at the end of the trace or a part of it, or where addresses were lost",
		       name, stats->cut, stats->cut == 1 ? "" : "s");
	if (stats->strays)
		report("%s: %" PRIu64 " exit record%s of calls that began before the trace, or in a gap",
		       name, stats->strays, stats->strays == 1 ? "" : "s");
	if (stats->uncounted)
		report("%s: counts of %" PRIu64 " record%s belong to no function (losses, migration to another hart)",
		       name, stats->uncounted, stats->uncounted == 1 ? "" : "s");
}

void report_choose_width(struct report_options *options)
{
	struct winsize size;

	if (options->width)
		return;
	options->width = WIDTH_DEFAULT;
	if (options->common.output || !isatty(STDOUT_FILENO))
		return;
	options->cut = true;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col >= WIDTH_LEAST)
		options->width = size.ws_col;
}

static int run(struct report_options *options)
{
	struct profile profile;
	struct output *out;
	int result, ended;

	result = profile_read(&profile, &options->common, (enum profile_by)options->by,
			      report_wants_spread(&options->columns), NULL);
	if (result <= EXIT_LOSSES) {
		report_notes(profile.analysis, &profile.input);
		out = pager_open(options->common.output);
		ended = out ? report_put(options, out, &profile) : EXIT_UNREADABLE;
		if (out && output_close(out))
			ended = EXIT_UNREADABLE;
		result = ended > result ? ended : result;
	}
	profile_free(&profile);
	return result;
}

/* An interval can be part of any call, so include calls of any length. */
static int check_intervals(struct report_options *options)
{
	if (options->sort || options->columns.count)
		return usage_error("--by interval has its own columns and order: --sort and --columns cannot be combined with it");
	if (options->common.calls == OPTIONS_CALLS_RECORDS)
		return usage_error("--by interval shows records in the flow of instructions: --calls records cannot be combined with it");
	if (!options_all_calls(&options->common))
		return usage_error("--by interval includes calls of any length: --time-threshold cannot be combined with it");
	return 0;
}

static int command_report(int argc, char **argv)
{
	struct report_options options = { 0 };
	int result;

	options_init(&options.common);
	result = options_parse(&report_command, &options, &options.common, OPTIONS_TRACES,
			       argc, argv);
	if (result)
		return result;
	if (options.by == REPORT_BY_CPU)
		options.by = PROFILE_BY_HART;
	if (options.runs && !options.diff.count)
		return usage_error("--runs selects how --diff reads the traces: give --diff too");
	if (options.diff.count && options.by >= PROFILE_BY_THREAD)
		return usage_error("--diff compares functions, objects or lines: other values of --by cannot be combined with it");
	if (options.diff.count && options.columns.count)
		return usage_error("--diff has its own columns: --columns cannot be combined with it");
	if (options.by == REPORT_BY_INTERVAL)
		return check_intervals(&options) ? EXIT_USAGE : report_intervals(&options);
	report_choose_width(&options);
	return options.diff.count ? report_compare(&options) : run(&options);
}

const struct cli_command report_command = {
	.name = "report",
	.run = command_report,
	.summary = "show the cost of each function: calls, time, counters",
	.arguments = "TRACE...|-",
	.help = "Print the cost of each function: calls, time and counters, including the functions that it called (total) and excluding them (self). Samples are shown as a flat profile." OPTIONS_SEVERAL,
	.groups = report_groups,
	.status = OPTIONS_STATUS,
	.whole = true,
};
