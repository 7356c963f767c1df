// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The times of threads on and off the CPU, as text and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "report.h"
#include "units.h"

#define COLUMNS	8
#define WIDTH	12

/* Times of one thread, by column. */
struct line {
	const struct thread	*thread;
	const struct oncpu_times *times;
	uint64_t		off;
};

static uint64_t off_time(const struct oncpu_times *times)
{
	return times->wall - times->time[ONCPU_RUNS] - times->time[ONCPU_UNKNOWN];
}

static uint64_t blocked(const struct oncpu_times *times)
{
	return times->time[ONCPU_SLEEPS] + times->time[ONCPU_UNINTERRUPTIBLE];
}

static uint64_t value(const struct line *line, unsigned int column)
{
	const struct oncpu_times *times = line->times;
	const uint64_t values[COLUMNS] = {
		times->wall, times->time[ONCPU_RUNS], line->off, times->time[ONCPU_PREEMPTED],
		blocked(times), times->time[ONCPU_STOPPED], times->time[ONCPU_WAITS],
		times->time[ONCPU_UNKNOWN],
	};

	return values[column];
}

static int by_off(const void *a, const void *b)
{
	const struct line *one = a, *two = b;

	if (one->off != two->off)
		return one->off > two->off ? -1 : 1;
	return (one->thread->id > two->thread->id) - (one->thread->id < two->thread->id);
}

/* The threads with a switch, and their number; NULL if out of memory. */
static struct line *find_lines(const struct analysis *analysis, size_t *count)
{
	struct threads *threads = analysis_threads((struct analysis *)analysis);
	struct line *line = calloc(threads_count(threads) + 1, sizeof(*line));
	unsigned int i;

	*count = 0;
	for (i = 0; line && i < threads_count(threads); i++) {
		const struct thread *thread = threads_get(threads, i);
		const struct oncpu_times *times = oncpu_times(thread);

		if (times)
			line[(*count)++] = (struct line){ thread, times, off_time(times) };
	}
	if (line)
		qsort(line, *count, sizeof(*line), by_off);
	return line;
}

/* The usual columns, and other columns that are not all 0. */
static void choose_columns(const struct line *line, size_t lines, bool shown[COLUMNS])
{
	unsigned int c;
	size_t i;

	for (c = 0; c < COLUMNS; c++) {
		shown[c] = c < 5;
		for (i = 0; i < lines; i++)
			shown[c] |= value(&line[i], c) > 0;
	}
}

static bool is_exact(const struct line *line, const struct analysis *analysis)
{
	return !line->times->time[ONCPU_UNKNOWN] && !analysis_doubts_oncpu(analysis);
}

static void put_line(struct output *out, const struct line *line, const bool *shown,
		     const struct input *input, bool marked)
{
	char text[UNITS_SIZE];
	unsigned int c;

	for (c = 0; c < COLUMNS; c++) {
		if (!shown[c])
			continue;
		units_time(text, value(line, c), input->hz);
		put_right(out, units_mark(text, marked && c && c < COLUMNS - 1), WIDTH);
	}
	snprintf(text, sizeof(text), "%" PRIu64, line->times->outs);
	put_right(out, units_mark(text, marked), WIDTH);
	put_string(out, "  ");
	put_text(out, line->thread->label);
	put_string(out, line->times->exited ? " (exited)\n" : "\n");
}

bool report_has_threads(const struct input *input, const struct analysis *analysis)
{
	return analysis_oncpu(analysis) && !input->options->range.set;
}

void report_threads(struct output *out, const struct input *input,
		    const struct analysis *analysis, size_t top)
{
	static const char * const heading[COLUMNS] = {
		"wall", "on-cpu", "off-cpu", "preempted", "blocked", "stopped", "waited", "unknown",
	};
	bool shown[COLUMNS];
	struct line *line;
	size_t lines, i;
	unsigned int c;

	line = find_lines(analysis, &lines);
	choose_columns(line, line ? lines : 0, shown);
	put_char(out, '\n');
	for (c = 0; c < COLUMNS; c++)
		if (shown[c])
			put_right(out, heading[c], WIDTH);
	put_right(out, "switches", WIDTH);
	put_string(out, "  thread\n");
	for (i = 0; line && i < lines && (!top || i < top); i++)
		put_line(out, &line[i], shown, input, !is_exact(&line[i], analysis));
	if (top && lines > top)
		put_format(out, "\n(%zu more threads)\n", lines - top);
	free(line);
}

static void put_seconds(struct output *out, const char *key, uint64_t ticks, uint64_t hz)
{
	const struct metric time = { .kind = METRIC_TOTAL };
	char text[UNITS_SIZE];

	put_format(out, ",\"%s\":%s", key, report_cell(text, &time, ticks, hz, true));
}

void report_json_threads(struct output *out, const struct input *input,
			 const struct analysis *analysis)
{
	struct line *line;
	size_t lines, i;
	unsigned int s;

	line = find_lines(analysis, &lines);
	put_string(out, ",\n\"threads\":[");
	for (i = 0; line && i < lines; i++) {
		put_string(out, i ? ",\n{\"thread\":" : "\n{\"thread\":");
		put_json(out, line[i].thread->label);
		put_format(out, ",\"tid\":%" PRId64, line[i].thread->tid);
		put_seconds(out, "wall", line[i].times->wall, input->hz);
		put_seconds(out, "on-cpu", line[i].times->time[ONCPU_RUNS], input->hz);
		put_seconds(out, "off-cpu", line[i].off, input->hz);
		for (s = 0; s < ONCPU_STATES; s++)
			if (s != ONCPU_RUNS)
				put_seconds(out, oncpu_name((enum oncpu_state)s),
					    line[i].times->time[s], input->hz);
		put_format(out, ",\"switches\":%" PRIu64 ",\"exited\":%s,\"exact\":%s}",
			   line[i].times->outs, line[i].times->exited ? "true" : "false",
			   is_exact(&line[i], analysis) ? "true" : "false");
	}
	put_string(out, "\n]");
	free(line);
}
