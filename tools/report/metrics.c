// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Computes the numbers in a report's rows, and the additional columns of --columns. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "report.h"
#include "text.h"
#include "units.h"

/* A ratio is stored as an integer, multiplied by this number. */
#define RATIO_PARTS	1000000
/* Averages are in fractions of a tick, because a call may take only a few ticks. */
#define AVERAGE_PARTS	1000

static const char takes_columns[] =
	"total%, avg, min, max, p1 to p99, ipc, mpki or COUNTER/COUNTER, each once, separated by commas";

/* Parse a keyword of --columns and store a copy of it. */
static bool parse_column(struct report_column *column, const char *word, size_t length)
{
	static const struct {
		const char		*word;
		enum metric_kind	kind;
	} words[] = {
		{ "avg", METRIC_AVERAGE }, { "min", METRIC_LEAST }, { "max", METRIC_MOST },
		{ "total%", METRIC_TOTAL_SHARE }, { "ipc", METRIC_RATIO }, { "mpki", METRIC_RATIO },
	};
	const char *slash;
	unsigned int i;
	long percent;
	char *end;

	*column = (struct report_column) { METRIC_RATIO, .length = length };
	if (length >= sizeof(column->text))
		return false;
	memcpy(column->text, word, length);
	slash = strchr(column->text, '/');
	if (slash)
		return slash > column->text && slash[1];
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(column->text, words[i].word)) {
			column->kind = words[i].kind;
			return true;
		}
	column->kind = METRIC_QUANTILE;
	percent = strtol(column->text + 1, &end, 10);
	column->percent = (unsigned int)percent;
	return *column->text == 'p' && column->text[1] >= '0' && column->text[1] <= '9' &&
	       !*end && percent >= 1 && percent <= 99;
}

/* Return whether an earlier column is the same as the latest column. */
static bool is_repeated(const struct report_columns *columns)
{
	unsigned int i, last = columns->count - 1;

	for (i = 0; i < last; i++)
		if (!strcmp(columns->column[i].text, columns->column[last].text))
			return true;
	return false;
}

int report_set_columns(void *at, const struct cli_option *option, const char *value)
{
	struct report_columns *columns = at;
	const char *word = value;

	columns->count = 0;
	for (;;) {
		size_t length = strcspn(word, ",");

		if (columns->count == REPORT_COLUMNS_MAX ||
		    !parse_column(&columns->column[columns->count++], word, length) ||
		    is_repeated(columns))
			return cli_refuse(option, takes_columns, value);
		if (!word[length])
			return EXIT_OK;
		word += length + 1;
	}
}

bool report_wants_spread(const struct report_columns *columns)
{
	unsigned int i;

	for (i = 0; i < columns->count; i++)
		if (columns->column[i].kind != METRIC_RATIO &&
		    columns->column[i].kind != METRIC_TOTAL_SHARE)
			return true;
	return false;
}

/* Return whether a column is computed from the times of calls. */
static bool needs_times(const struct report_columns *columns)
{
	unsigned int i;

	for (i = 0; i < columns->count; i++)
		if (columns->column[i].kind != METRIC_RATIO)
			return true;
	return false;
}

static void add(struct metric *metric, unsigned int *count,
		enum metric_kind kind, unsigned int counter, unsigned int width,
		const char *over, const char *name)
{
	metric[(*count)++] = (struct metric){
		.kind = kind, .counter = counter, .width = width, .over = over, .name = name,
	};
}

/*
 * Return the index of the counter named @name, a name of @length letters, or -1 if there is none.
 */
static int find_counter(const struct counters *counters, const char *name, size_t length)
{
	unsigned int c;

	for (c = 0; c < counters->count; c++)
		if (!counters->hidden[c] && counters_is(counters->name[c], name, length))
			return (int)c;
	return -1;
}

static int add_ratio(const struct counters *counters, const struct report_column *column,
		     struct metric *metric, unsigned int *count)
{
	static const struct {
		const char	*name;
		const char	*counters;
		unsigned int	times;
	} named[] = {
		{ "ipc", "instructions/cycles", 1 },
		{ "mpki", "cache-misses/instructions", 1000 },
	};
	const bool is_named = !strchr(column->text, '/');
	const unsigned int which = is_named && !strcmp(column->text, named[1].name);
	const char *both = is_named ? named[which].counters : column->text;
	const char *slash = strchr(both, '/');
	int over = find_counter(counters, both, (size_t)(slash - both));
	int under = find_counter(counters, slash + 1, strlen(slash + 1));
	unsigned int width = (unsigned int)column->length;

	if (over < 0 || under < 0) {
		report("--columns: the trace has no counter \"%.*s\": sifive-trace report shows the names",
		       (int)(over < 0 ? slash - both : (long)strlen(slash + 1)),
		       over < 0 ? both : slash + 1);
		return EXIT_USAGE;
	}
	add(metric, count, METRIC_RATIO, (unsigned int)over, width > 9 ? width : 9,
	    counters_of_hart(counters, (unsigned int)over) ||
	    counters_of_hart(counters, (unsigned int)under) ? COUNTERS_HART : "",
	    column->text);
	metric[*count - 1].under = (unsigned int)under;
	metric[*count - 1].times = is_named ? named[which].times : 1;
	return EXIT_OK;
}

/* Add the columns of times or counters that the user has requested. */
static int add_columns(const struct profile *profile, const struct report_columns *columns,
		       bool ratios, struct metric *metric, unsigned int *count)
{
	unsigned int i;

	for (i = 0; i < columns->count; i++) {
		const struct report_column *column = &columns->column[i];

		if ((column->kind == METRIC_RATIO) != ratios)
			continue;
		if (column->kind == METRIC_TOTAL_SHARE)
			add(metric, count, column->kind, 0, 6, "", column->text);
		else if (!ratios)
			add(metric, count, column->kind, column->percent, 10, "", column->text);
		else if (add_ratio(analysis_counters(profile->analysis), column, metric, count))
			return EXIT_USAGE;
	}
	return EXIT_OK;
}

int report_metrics(const struct profile *profile, const struct report_columns *columns,
		   struct metric metric[METRICS_MAX], unsigned int *number)
{
	const struct counters *counters = analysis_counters(profile->analysis);
	const bool callers = trace_stats(profile->input.trace)->callers;
	bool calls = false, samples = false, points = false;
	unsigned int count = 0, c;
	size_t i;

	for (i = 0; i < profile->rows; i++) {
		calls |= profile->row[i].calls > 0;
		samples |= profile->row[i].samples > 0;
		points |= profile->row[i].points > 0;
	}
	if (calls)
		add(metric, &count, METRIC_CALLS, 0, 9, "", "calls");
	if (calls && trace_stats(profile->input.trace)->timed) {
		add(metric, &count, METRIC_TOTAL, 0, 10, "time", "total");
		add(metric, &count, METRIC_SELF, 0, 10, "", "self");
		add(metric, &count, METRIC_SELF_SHARE, 0, 6, "", "self%");
		add_columns(profile, columns, false, metric, &count);
	} else if (needs_times(columns)) {
		report("--columns: the trace has no calls with a time");
		return EXIT_USAGE;
	}
	if (samples) {
		add(metric, &count, METRIC_SAMPLES, 0, 9, "", "samples");
		add(metric, &count, METRIC_SAMPLES_SHARE, 0, 8, "", "samples%");
	}
	if (callers)
		add(metric, &count, METRIC_SAMPLES_TOTAL, 0, 13, "", "samples:total");
	if (points)
		add(metric, &count, METRIC_POINTS, 0, 9, "", "manual");
	for (c = 0; c < counters->count; c++) {
		unsigned int width = (unsigned int)strlen(counters->name[c]);
		/*
		 * Reserve space for the mark on inexact times, and on counts of events that take
		 * turns.
		 */
		unsigned int least = c < counters->times || counters->turn[c] ? 11 : 9;

		/* Times on and off the CPU are per thread; samples may be per hart. */
		if (counters->hidden[c] || (c < counters->times && !calls))
			continue;
		/* A counter's total and self columns share the counter's name as a heading. */
		if (calls || callers) {
			add(metric, &count, METRIC_COUNTER_TOTAL, c, least,
			    counters->name[c], "total");
			metric[count - 1].time = c < counters->times;
			width = width > least + 1 ? width - least - 1 : 0;
		}
		add(metric, &count, METRIC_COUNTER_SELF, c, width > least ? width : least,
		    counters->name[c], "self");
		metric[count - 1].time = c < counters->times;
	}
	*number = count;
	return add_columns(profile, columns, true, metric, number);
}

static uint64_t count_of(const struct profile *profile, size_t row, unsigned int column,
			 bool total)
{
	return total ? profile_total(profile, row, column) : profile_self(profile, row, column);
}

double report_share(const struct profile *profile, size_t row, unsigned int column, bool total)
{
	const struct turns *turns = analysis_turns(profile->analysis);
	uint64_t all;

	if (!turns || !analysis_counters(profile->analysis)->turn[column])
		return 1;
	all = count_of(profile, row, turns_cycles(turns), total);
	return !all ? 0 : (double)count_of(profile, row, turns_column(turns, column), total) /
			  (double)all;
}

/*
 * Return a function's count; if its event takes turns, return an estimate for all cycles of the
 * function.
 */
static uint64_t scaled(const struct profile *profile, size_t row, unsigned int column, bool total)
{
	const uint64_t count = count_of(profile, row, column, total);
	const double share = report_share(profile, row, column, total);
	double estimate;

	if (share == 1)
		return count;
	estimate = share > 0 ? (double)count / share + 0.5 : 0;
	return estimate < (double)UINT64_MAX ? (uint64_t)estimate : UINT64_MAX;
}

/* Return a ratio of self counts, because callees have separate rows. */
static uint64_t ratio(const struct profile *profile, size_t row, const struct metric *metric)
{
	uint64_t under = scaled(profile, row, metric->under, false);

	if (!under)
		return 0;
	return (uint64_t)((double)scaled(profile, row, metric->counter, false) * metric->times *
			  RATIO_PARTS / (double)under + 0.5);
}

uint64_t report_value(const struct profile *profile, size_t row,
		      const struct metric *metric)
{
	const struct profile_row *r = &profile->row[row];

	switch (metric->kind) {
	case METRIC_CALLS:
		return r->calls;
	case METRIC_TOTAL:
	case METRIC_TOTAL_SHARE:
		return r->total;
	case METRIC_SELF:
	case METRIC_SELF_SHARE:
		return r->self;
	case METRIC_SAMPLES:
	case METRIC_SAMPLES_SHARE:
		return r->samples;
	case METRIC_SAMPLES_TOTAL:
		return r->samples_total;
	case METRIC_POINTS:
		return r->points;
	case METRIC_COUNTER_TOTAL:
		return scaled(profile, row, metric->counter, true);
	case METRIC_AVERAGE:
		return spread_mean(&profile->spreads, row, AVERAGE_PARTS);
	case METRIC_LEAST:
		return spread_least(&profile->spreads, row);
	case METRIC_MOST:
		return spread_most(&profile->spreads, row);
	case METRIC_QUANTILE:
		return spread_quantile(&profile->spreads, row, metric->counter);
	case METRIC_RATIO:
		return ratio(profile, row, metric);
	default:
		return scaled(profile, row, metric->counter, false);
	}
}

static bool is_named(const struct metric *metric, const char *name)
{
	size_t length = strlen(name);

	if (metric->kind == METRIC_COUNTER_TOTAL)
		return counters_is(metric->over, name, length);
	if (metric->kind == METRIC_COUNTER_SELF)
		return counters_is(metric->over, name, length) ||
		       (length > 5 && !strcmp(name + length - 5, ":self") &&
			counters_is(metric->over, name, length - 5));
	return !strcmp(name, metric->name);
}

bool report_is_scaled(const struct profile *profile, const struct metric *metric)
{
	const struct counters *counters = analysis_counters(profile->analysis);

	if (metric->kind == METRIC_RATIO)
		return counters->turn[metric->counter] || counters->turn[metric->under];
	return report_is_counter(metric) && counters->turn[metric->counter];
}

static bool has_samples_alone(const struct profile_row *row)
{
	return !row->calls && !row->points && (row->samples || row->samples_total);
}

/* Return whether a metric omits the counts of samples because the counts of calls include them. */
static bool counts_again(const struct profile *profile, const struct metric *metric)
{
	const uint64_t repeated = analysis_repeated(profile->analysis);

	return (report_is_counter(metric) && repeated >> metric->counter & 1) ||
	       (metric->kind == METRIC_RATIO &&
		(repeated >> metric->counter & 1 || repeated >> metric->under & 1));
}

bool report_is_scaled_count(const struct profile *profile, const struct metric *metric)
{
	return report_is_counter(metric) && report_is_scaled(profile, metric);
}

void report_share_cell(char *text, const struct profile *profile, size_t row,
		       const struct metric *metric)
{
	snprintf(text, UNITS_SIZE, "%.6f",
		 report_share(profile, row, metric->counter,
			      metric->kind == METRIC_COUNTER_TOTAL));
}

bool report_is_unknown(const struct profile *profile, size_t row, const struct metric *metric)
{
	const struct profile_row *r = &profile->row[row];
	bool total = metric->kind == METRIC_TOTAL || metric->kind == METRIC_TOTAL_SHARE ||
		     (metric->time && metric->kind == METRIC_COUNTER_TOTAL);
	bool self = metric->kind == METRIC_SELF || metric->kind == METRIC_SELF_SHARE ||
		    (metric->time && metric->kind == METRIC_COUNTER_SELF);

	if (report_is_spread(metric))
		return !spread_known(&profile->spreads, row);
	if (has_samples_alone(r) && counts_again(profile, metric))
		return true;
	if (metric->kind == METRIC_RATIO)
		return !scaled(profile, row, metric->under, false) ||
		       report_share(profile, row, metric->counter, false) == 0;
	if (report_is_scaled(profile, metric))
		return report_share(profile, row, metric->counter,
				    metric->kind == METRIC_COUNTER_TOTAL) == 0;
	return r->untimed && ((total && !r->total) || (self && !r->self));
}

bool report_is_uncertain(const struct profile *profile, size_t row,
			 const struct metric *metric)
{
	const struct profile_row *r = &profile->row[row];

	if (metric->kind == METRIC_RATIO || (report_is_counter(metric) && !metric->time))
		return r->partial || report_is_scaled(profile, metric);
	if (metric->time && (analysis_doubts_oncpu(profile->analysis) ||
			     (metric->kind == METRIC_COUNTER_TOTAL ?
			      profile_total(profile, row, COUNTERS_UNKNOWN_CPU) :
			      profile_self(profile, row, COUNTERS_UNKNOWN_CPU))))
		return true;
	if (metric->kind == METRIC_TOTAL || metric->kind == METRIC_TOTAL_SHARE ||
	    report_is_spread(metric) || metric->time)
		return r->untimed || r->inferred;
	return (metric->kind == METRIC_SELF || metric->kind == METRIC_SELF_SHARE) &&
	       (r->untimed || r->self_inferred);
}

const char *report_certainty(const struct profile *profile, size_t row)
{
	static const struct metric total = { .kind = METRIC_COUNTER_TOTAL, .time = true };
	static const struct metric self = { .kind = METRIC_COUNTER_SELF, .time = true };
	const struct profile_row *r = &profile->row[row];
	bool inferred = r->self_inferred;

	if (r->untimed)
		return r->untimed == r->calls ? "unknown" : "partial";
	if (analysis_counters(profile->analysis)->times)
		inferred |= report_is_uncertain(profile, row, &total) ||
			    report_is_uncertain(profile, row, &self);
	return inferred ? "inferred" : "exact";
}

bool report_has_counts(const struct metric *metric, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (report_is_counter(&metric[i]) && !metric[i].time)
			return true;
	return false;
}

const char *report_counts_word(const struct profile *profile, size_t row)
{
	return profile->row[row].partial ? "partial" : "exact";
}

int report_sort_metric(const struct report_options *options,
		       const struct metric *metric, unsigned int count)
{
	static const char * const usual[] = {
		"self", "samples", "calls", "manual",
	};
	unsigned int i, k;

	if (options->sort && !strcmp(options->sort, "name"))
		return -1;
	for (k = 0; k < (options->sort ? 1 : 4); k++)
		for (i = 0; i < count; i++)
			if (is_named(&metric[i], options->sort ? options->sort :
								 usual[k]))
				return (int)i;
	if (!options->sort)
		return -1;
	report("--sort: the trace has no \"%s\" (try calls, total, self, samples, samples:total, name, or a counter: see sifive-trace report)",
	       options->sort);
	return -2;
}

const char *report_cell(char *text, const struct metric *metric, uint64_t value,
			uint64_t hz, bool exact)
{
	bool time = report_is_time(metric);

	if (metric->kind == METRIC_AVERAGE && hz)
		hz *= AVERAGE_PARTS;
	else if (metric->kind == METRIC_AVERAGE)
		value = value / AVERAGE_PARTS + (value % AVERAGE_PARTS >= AVERAGE_PARTS / 2);
	if (metric->kind == METRIC_RATIO)
		snprintf(text, UNITS_SIZE, exact ? "%.6f" : "%.3f",
			 (double)value / RATIO_PARTS);
	else if (exact && time && hz)
		snprintf(text, UNITS_SIZE, "%.9f", (double)value / (double)hz);
	else if (exact)
		snprintf(text, UNITS_SIZE, "%" PRIu64, value);
	else if (time)
		units_time(text, value, hz);
	else
		units_count(text, value);
	return text;
}
