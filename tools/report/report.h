/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Computes a profile's numbers and their columns, for report, top and graph. */
#ifndef SIFIVE_TRACE_REPORT_H
#define SIFIVE_TRACE_REPORT_H

#include "output.h"
#include "profile.h"

/* Maximum number of columns that a user can add. */
#define REPORT_COLUMNS_MAX 16
/* Maximum number of metrics: total and self of every counter, and all other metrics. */
#define METRICS_MAX	(2 * COUNTERS_MAX + 8 + REPORT_COLUMNS_MAX)
/* Minimum width of names, even on a narrow page. */
#define NAME_MIN	20
#define NAME_SIZE	512
/* Size of a column's name in csv and JSON. */
#define REPORT_COLUMN_SIZE	(COUNTERS_NAME_SIZE + 32)
/* Maximum number of traces that --diff compares. */
#define REPORT_RUNS_MAX	(2 * CLI_LIST_MAX)

enum metric_kind {
	METRIC_CALLS,
	METRIC_TOTAL,
	METRIC_SELF,
	METRIC_SELF_SHARE,
	METRIC_TOTAL_SHARE,
	METRIC_SAMPLES,
	METRIC_SAMPLES_SHARE,
	METRIC_SAMPLES_TOTAL,
	METRIC_POINTS,
	METRIC_COUNTER_TOTAL,
	METRIC_COUNTER_SELF,
	METRIC_AVERAGE,
	METRIC_LEAST,
	METRIC_MOST,
	METRIC_QUANTILE,
	METRIC_RATIO,
};

/* A metric: a number in each row, and the column that shows it. */
struct metric {
	enum metric_kind	kind;
	bool			time;		/* set if the counter is a time on or off the CPU */
	unsigned int		counter;	/* counter's column, or quantile's percentage */
	unsigned int		under;		/* a ratio's second counter */
	unsigned int		times;		/* factor by which a ratio is multiplied */
	unsigned int		width;
	const char		*over;		/* first line of the heading */
	const char		*name;
};

/**
 * struct report_column - a keyword of --columns
 * @text:	the keyword, of @length letters
 * @percent:	percentage, for a quantile
 */
struct report_column {
	enum metric_kind	kind;
	size_t			length;
	char			text[2 * COUNTERS_NAME_SIZE];
	unsigned int		percent;
};

struct report_columns {
	struct report_column	column[REPORT_COLUMNS_MAX];
	unsigned int		count;
};

struct report_options {
	struct options		common;
	struct report_columns	columns;
	int			by;		/* enum profile_by, or REPORT_BY_INTERVAL */
	const char		*sort;
	struct cli_list		diff;
	bool			runs;		/* --runs: each trace is a separate run */
	struct cli_list		filter;		/* see options_matches() */
	int			top;		/* --top: number of lines; 0: all */
	int			width;
	bool			cut;		/* truncate names that do not fit */
	int			format;		/* enum report_format */
	bool			live;		/* set if the trace is still being written */
};

/* This value follows those of enum profile_by. */
#define REPORT_BY_INTERVAL	(PROFILE_BY_HART + 1)
/* A synonym of PROFILE_BY_HART. */
#define REPORT_BY_CPU		(REPORT_BY_INTERVAL + 1)

/* Values of --format, in the order in which the option lists its keywords. */
enum report_format {
	REPORT_TEXT,
	REPORT_CSV,
	REPORT_JSON,
};

/**
 * struct report_rows - the rows of csv and JSON, which have the same columns
 * @what:	name of the first column, or NULL for "function"
 * @json:	set for JSON; the heading of csv is written separately
 * @any:	set if a row has been written
 */
struct report_rows {
	struct output	*out;
	const char	*what;
	bool		json;
	bool		any;
};

/* The options that report and top share, for a struct report_options. */
extern const struct cli_option report_table_options[];

/**
 * report_choose_width() - set the width: in files and pipes, names are not truncated unless
 * --width is given
 */
void report_choose_width(struct report_options *options);

/**
 * report_put() - write the tables of a profile
 *
 * Return: an exit code; errors have been printed.
 */
int report_put(const struct report_options *options, struct output *out,
	       const struct profile *profile);

/** report_notes() - report irregularities that affect the numbers */
void report_notes(const struct analysis *analysis, const struct input *input);

/** report_set_columns() - @set function of the option --columns */
int report_set_columns(void *at, const struct cli_option *option, const char *value);

/** report_wants_spread() - return whether a column requires the distribution of the calls' times */
bool report_wants_spread(const struct report_columns *columns);

/**
 * report_metrics() - choose the metrics of a profile's rows
 * @columns:	the columns that the user has added; they must remain valid
 * @number:	set to the number of metrics
 *
 * Return: EXIT_OK, or EXIT_USAGE after printing an error if the trace lacks data for one of
 * @columns.
 */
int report_metrics(const struct profile *profile, const struct report_columns *columns,
		   struct metric metric[METRICS_MAX], unsigned int *number);

/**
 * report_value() - return the value of a row's metric, for report_cell(); for a share, the number
 * from which the share is computed
 */
uint64_t report_value(const struct profile *profile, size_t row,
		      const struct metric *metric);

/** report_is_scaled() - return whether a number is an estimate, because its event takes turns */
bool report_is_scaled(const struct profile *profile, const struct metric *metric);

/** report_is_scaled_count() - like report_is_scaled(), but only true for a count */
bool report_is_scaled_count(const struct profile *profile, const struct metric *metric);

/* Suffix of the name of a column with shares. */
#define REPORT_SHARE	":share"

/**
 * report_share_cell() - write the report_share() of a scaled count as text of up to UNITS_SIZE
 * bytes
 */
void report_share_cell(char *text, const struct profile *profile, size_t row,
		       const struct metric *metric);

/**
 * report_share() - return the share of a row's cycles in which a column's event was counted; 1
 * for all cycles
 */
double report_share(const struct profile *profile, size_t row, unsigned int column, bool total);

/** report_turns() - write the accuracy of the totals of events that take turns */
void report_turns(struct output *out, const struct analysis *analysis);

/** report_json_turns() - like report_turns(), but as JSON */
void report_json_turns(struct output *out, const struct analysis *analysis);

/** report_is_unknown() - return whether no call of a row has a time, for example after a loss */
bool report_is_unknown(const struct profile *profile, size_t row, const struct metric *metric);

/** report_is_uncertain() - return whether a row's number is inexact, and is marked "~" */
bool report_is_uncertain(const struct profile *profile, size_t row,
			 const struct metric *metric);

/**
 * report_certainty() - return a word for the certainty of a row's times, including times on and off
 * the CPU
 */
const char *report_certainty(const struct profile *profile, size_t row);

/* The column that shows whether a row's counts are complete: in csv and JSON, after the times. */
#define REPORT_COUNTS	"counts"

/** report_has_counts() - return whether to show this column: one of @count metrics is a count */
bool report_has_counts(const struct metric *metric, unsigned int count);

/**
 * report_counts_word() - return "exact", or "partial" if the row's counts are too low because
 * counts of some calls are unknown
 */
const char *report_counts_word(const struct profile *profile, size_t row);

/**
 * report_sort_metric() - find the metric that --sort names
 * @metric:	the @count metrics of the profile
 *
 * Return: its index; -1 for "name"; -2 after printing an error if there is no such metric.
 */
int report_sort_metric(const struct report_options *options,
		       const struct metric *metric, unsigned int count);

/** report_is_counter() - return whether a number is a counter's count */
static inline bool report_is_counter(const struct metric *metric)
{
	return metric->kind == METRIC_COUNTER_TOTAL || metric->kind == METRIC_COUNTER_SELF;
}

/**
 * report_is_spread() - return whether a number is an average, minimum, maximum or percentile of the
 * calls' times
 */
static inline bool report_is_spread(const struct metric *metric)
{
	return metric->kind >= METRIC_AVERAGE && metric->kind <= METRIC_QUANTILE;
}

/** report_is_time() - return whether a number is in ticks */
static inline bool report_is_time(const struct metric *metric)
{
	return metric->kind == METRIC_TOTAL || metric->kind == METRIC_SELF || metric->time ||
	       report_is_spread(metric);
}

/** report_is_share() - return whether a number is a percentage, which csv omits */
static inline bool report_is_share(const struct metric *metric)
{
	return metric->kind == METRIC_SELF_SHARE || metric->kind == METRIC_TOTAL_SHARE ||
	       metric->kind == METRIC_SAMPLES_SHARE;
}

/** report_cell() - format a number as text, for tables or csv */
const char *report_cell(char *text, const struct metric *metric, uint64_t value,
			uint64_t hz, bool exact);

/** report_column_name() - return a number's name in csv and JSON, with its qualifiers */
const char *report_column_name(char text[REPORT_COLUMN_SIZE], const struct metric *metric,
			       const char *what);

/** report_put_column() - write a number's heading in csv, with its qualifiers */
void report_put_column(struct output *out, const struct metric *metric,
		       const char *what);

/**
 * report_row_begin() - begin a row, to be followed by its columns in order and report_row_end()
 * @name:	the function, or what @rows->what names
 */
void report_row_begin(struct report_rows *rows, const char *name);
void report_row_text(struct report_rows *rows, const char *column, const char *text);
void report_row_word(struct report_rows *rows, const char *column, const char *word);
/* @number: as from report_cell(), or "" if unknown; @what: as in report_put_column() */
void report_row_number(struct report_rows *rows, const struct metric *metric,
		       const char *what, const char *number);
void report_row_end(struct report_rows *rows);

/**
 * report_json_begin() - write the beginning of the JSON document, with the trace
 * @by:		how rows are grouped: "function", "object", "thread" and others
 *
 * Must be followed by report_json_rows() and the rows.
 */
void report_json_begin(struct output *out, const char *command, const char *by,
		       const struct input *input, const struct analysis *analysis);

/** report_json_more() - write another trace of --diff */
void report_json_more(struct output *out, const struct input *input,
			const struct analysis *analysis);

/**
 * report_json_runs() - write how --diff compares the runs; call this instead of report_json_rows()
 * @before:	number of traces from before the change; these traces come first
 * @column:	the column to which the confidences refer, or "" if there is none
 */
void report_json_runs(struct output *out, unsigned int before, const char *column);

/** report_json_rows() - write the part of JSON between the traces and the rows */
void report_json_rows(struct output *out);

/** report_json_end() - write the part of JSON after the rows, with threads unless @input is NULL */
void report_json_end(struct output *out, const struct input *input,
		     const struct analysis *analysis);

/**
 * report_has_threads() - return whether to show threads' times on and off the CPU: if they are
 * known, --time selects the whole trace, and the user has not given --tid
 */
bool report_has_threads(const struct input *input, const struct analysis *analysis);

/** report_threads() - write each thread's times on and off the CPU, if they are known */
void report_threads(struct output *out, const struct input *input,
		    const struct analysis *analysis, size_t top);

/** report_syscalls() - write the system calls of all threads, if there are any */
void report_syscalls(struct output *out, const struct input *input,
		     const struct analysis *analysis, size_t top);

/** report_faults() - write the page faults of all threads by function, if there are any */
void report_faults(struct output *out, const struct input *input,
		   const struct analysis *analysis, size_t top);

/** report_json_faults() - write the page faults as JSON */
void report_json_faults(struct output *out, const struct input *input,
			const struct analysis *analysis);

/** report_json_syscalls() - write the system calls as JSON */
void report_json_syscalls(struct output *out, const struct input *input,
			  const struct analysis *analysis);

/** report_json_threads() - write the threads' times as JSON */
void report_json_threads(struct output *out, const struct input *input,
			 const struct analysis *analysis);

/** report_put_name() - write the name after the columns, truncated to the page's width */
void report_put_name(const struct report_options *options, struct output *out,
		     unsigned int used, const char *name);

/** report_intervals() - read a trace and write its intervals; return an exit code */
int report_intervals(const struct report_options *options);

/**
 * struct report_runs - the traces that --diff compares
 * @profile:	@count profiles; the first @before are from before the change
 */
struct report_runs {
	struct profile	*profile;
	unsigned int	before;
	unsigned int	count;
};

/** report_diff() - write two programs' runs side by side; return an exit code */
int report_diff(const struct report_options *options, struct output *out,
		const struct report_runs *runs);

/**
 * report_tell_coverage() - report runs that are not completely covered, whose totals therefore
 * cannot be compared
 * @input:	the @count traces; if there are two, the traces before and after the change
 * @out:	if not NULL, also write the coverage of each trace there
 */
void report_tell_coverage(const struct input * const *input, unsigned int count,
			  struct output *out);

/**
 * report_compares_times() - return whether times can be compared: all traces have a tick rate, or
 * none has
 *
 * If not, report it.
 */
bool report_compares_times(const struct input * const *input, unsigned int count);

/**
 * report_other() - set the options for reading a trace of --diff
 * @options:	set to a copy of @first
 *
 * Return: an exit code; errors have been printed.
 */
int report_other(struct options *options, const struct options *first, const char *path);

/** report_compare() - read the traces of --diff and compare them; return an exit code */
int report_compare(const struct report_options *options);

#endif /* SIFIVE_TRACE_REPORT_H */
