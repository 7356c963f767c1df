// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Writes machine-readable output of report and graph: csv or JSON rows, and the beginning of the
 * JSON document.
 */
#include <inttypes.h>
#include <stdio.h>

#include "coverage.h"
#include "report.h"

/* Version of the JSON format; it does not change when members are added. */
#define JSON_VERSION	1

const char *report_column_name(char text[REPORT_COLUMN_SIZE], const struct metric *metric,
			       const char *what)
{
	bool counter = report_is_counter(metric);

	snprintf(text, REPORT_COLUMN_SIZE, "%s%s%s%s%s", counter ? metric->over : "",
		 counter ? ":" : "", metric->name,
		 metric->kind == METRIC_RATIO ? metric->over : "", what);
	return text;
}

void report_put_column(struct output *out, const struct metric *metric, const char *what)
{
	char text[REPORT_COLUMN_SIZE];

	put_char(out, ',');
	put_field(out, report_column_name(text, metric, what));
}

void report_row_begin(struct report_rows *rows, const char *name)
{
	if (rows->json)
		put_format(rows->out, "%s\n{\"%s\":", rows->any ? "," : "",
			   rows->what ? rows->what : "function");
	rows->any = true;
	if (rows->json)
		put_json(rows->out, name);
	else
		put_quoted(rows->out, name);
}

static void put_key(struct report_rows *rows, const char *column)
{
	put_char(rows->out, ',');
	if (!rows->json)
		return;
	put_json(rows->out, column);
	put_char(rows->out, ':');
}

void report_row_text(struct report_rows *rows, const char *column, const char *text)
{
	put_key(rows, column);
	if (rows->json)
		put_json(rows->out, text);
	else
		put_quoted(rows->out, text);
}

void report_row_word(struct report_rows *rows, const char *column, const char *word)
{
	put_key(rows, column);
	put_format(rows->out, rows->json ? "\"%s\"" : "%s", word);
}

void report_row_number(struct report_rows *rows, const struct metric *metric,
		       const char *what, const char *number)
{
	char column[REPORT_COLUMN_SIZE];

	put_key(rows, report_column_name(column, metric, what));
	put_string(rows->out, rows->json && !*number ? "null" : number);
}

void report_row_end(struct report_rows *rows)
{
	put_string(rows->out, rows->json ? "}" : "\n");
}

/* ---- the start of the JSON output --------------------------------------- */

struct count {
	const char	*key;
	uint64_t	count;
};

static void put_counts(struct output *out, const char *name, const struct count *counts,
		       size_t number)
{
	size_t i;

	put_format(out, ",\n\"%s\":{", name);
	for (i = 0; i < number; i++)
		put_format(out, "%s\"%s\":%" PRIu64, i ? "," : "", counts[i].key,
			   counts[i].count);
	put_char(out, '}');
}

#define PUT_COUNTS(out, name, counts) \
	put_counts(out, name, counts, sizeof(counts) / sizeof((counts)[0]))

/* Describe the contents of the trace, and its missing and damaged parts. */
static void put_contents(struct output *out, const struct input *input)
{
	const struct trace_stats *stats = trace_stats(input->trace);
	const uint64_t all = stats->records[PERFREC_ENTER] + stats->records[PERFREC_EXIT] +
			     stats->records[PERFREC_MANUAL] + stats->records[PERFREC_ISR];
	const struct count records[] = {
		{ "enter", stats->records[PERFREC_ENTER] },
		{ "exit", stats->records[PERFREC_EXIT] },
		{ "manual", stats->records[PERFREC_MANUAL] },
		{ "samples", stats->records[PERFREC_ISR] },
		{ "inferred_times", stats->inferred },
		{ "unknown_times", all - stats->timed },
		{ "unknown_addresses", stats->unaddressed },
		{ "unknown_headers", stats->no_header },
	};

	PUT_COUNTS(out, "records", records);
	put_string(out, ",\n");
	coverage_damage_json(input, out);
}

static void put_calls(struct output *out, const struct analysis_stats *stats)
{
	const struct count calls[] = {
		{ "ended", stats->calls },
		{ "inferred_times", stats->inferred },
		{ "unknown_times", stats->untimed },
		{ "without_exit", stats->unwound },
		{ "cut", stats->cut },
		{ "exits_without_enter", stats->strays },
		{ "too_deep", stats->too_deep },
		{ "records_without_counts", stats->uncounted },
		{ "counts_backwards", stats->backwards },
		{ "counts_beyond_limit", stats->beyond },
	};

	PUT_COUNTS(out, "calls", calls);
}

static void put_trace(struct output *out, const struct input *input,
		      const struct analysis *analysis)
{
	const struct counters *counters = analysis_counters(analysis);
	bool any = false;
	unsigned int c;

	put_string(out, "{\"path\":");
	put_json(out, input->options->path);
	if (input->meta.exe) {
		put_string(out, ",\"exe\":");
		put_json(out, input->meta.exe);
	}
	put_format(out, ",\"time_unit\":\"%s\",\"ts_hz\":%" PRIu64 ",\n\"coverage\":{",
		   input->hz ? "seconds" : "ticks", input->hz);
	coverage_json(input, out);
	put_char(out, '}');
	put_contents(out, input);
	put_calls(out, analysis_stats(analysis));
	put_string(out, ",\n\"counters\":[");
	for (c = 0; c < counters->count; c++) {
		if (counters->hidden[c])
			continue;
		if (any)
			put_char(out, ',');
		put_json(out, counters->name[c]);
		any = true;
	}
	put_char(out, ']');
	report_json_turns(out, analysis);
	put_char(out, '}');
}

void report_json_begin(struct output *out, const char *command, const char *by,
		       const struct input *input, const struct analysis *analysis)
{
	put_format(out, "{\"version\":%d,\"exporter\":\"sifive-trace " VERSION
		   "\",\"command\":\"%s\",\"by\":\"%s\",\n\"traces\":[", JSON_VERSION,
		   command, by);
	put_trace(out, input, analysis);
}

void report_json_more(struct output *out, const struct input *input,
		      const struct analysis *analysis)
{
	put_string(out, ",\n");
	put_trace(out, input, analysis);
}

void report_json_rows(struct output *out)
{
	put_string(out, "],\n\"rows\":[");
}

void report_json_runs(struct output *out, unsigned int before, const char *column)
{
	put_format(out, "],\n\"runs\":{\"before\":%u,\"test\":\"mann-whitney\",\"correction\":\"holm\",\"column\":",
		   before);
	put_json(out, column);
	put_string(out, "},\n\"rows\":[");
}

void report_json_end(struct output *out, const struct input *input,
		     const struct analysis *analysis)
{
	put_string(out, "\n]");
	if (input && report_has_threads(input, analysis)) {
		report_json_threads(out, input, analysis);
		report_json_syscalls(out, input, analysis);
		report_json_faults(out, input, analysis);
	}
	put_string(out, "}\n");
}
