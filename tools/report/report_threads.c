// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Writes threads' times on and off the CPU, system calls and page faults, as text and JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "report.h"
#include "syscall_names.h"
#include "units.h"

#define COLUMNS	10
#define WIDTH	12
#define NUMBER	10
#define NAME_SIZE 512

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
		blocked(times), times->time[ONCPU_WOKEN], times->longest,
		times->time[ONCPU_STOPPED], times->time[ONCPU_WAITS], times->time[ONCPU_UNKNOWN],
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

/* Return the threads with context switches, or NULL if out of memory; set *@count. */
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

/* Choose the columns that are always shown, and those with a nonzero value for any thread. */
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
	return analysis_oncpu(analysis) && !input->limited && input->options->tid < 0;
}

void report_threads(struct output *out, const struct input *input,
		    const struct analysis *analysis, size_t top)
{
	static const char * const heading[COLUMNS] = {
		"wall", "on-cpu", "off-cpu", "preempted", "blocked", "woken", "longest",
		"stopped", "waited", "unknown",
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
		put_seconds(out, "longest", line[i].times->longest, input->hz);
		put_format(out, ",\"wakeups\":%" PRIu64, line[i].times->wakeups);
		put_format(out, ",\"switches\":%" PRIu64 ",\"exited\":%s,\"exact\":%s}",
			   line[i].times->outs, line[i].times->exited ? "true" : "false",
			   is_exact(&line[i], analysis) ? "true" : "false");
	}
	put_string(out, "\n]");
	free(line);
}

/* ---- system calls -------------------------------------------------------- */

/* One row of the table. */
struct call {
	uint32_t			number;
	const struct syscall_times	*times;
};

static int by_total(const void *a, const void *b)
{
	const struct call *one = a, *two = b;

	if (one->times->total != two->times->total)
		return one->times->total > two->times->total ? -1 : 1;
	return one->number < two->number ? -1 : 1;
}

/* Return the system calls in the trace, or NULL if none or out of memory; set *@count. */
static struct call *find_calls(const struct analysis *analysis, size_t *count)
{
	const struct syscall_times *time = oncpu_syscalls(analysis_oncpu(analysis))->time;
	struct call *call = time ? calloc(SYSCALLS_MAX + 1, sizeof(*call)) : NULL;
	uint32_t i;

	*count = 0;
	for (i = 0; call && i <= SYSCALLS_MAX; i++)
		if (time[i].calls)
			call[(*count)++] = (struct call){ i, &time[i] };
	if (call)
		qsort(call, *count, sizeof(*call), by_total);
	return call;
}

static const char *call_name(char *text, size_t size, uint32_t number)
{
	if (syscall_name(number))
		return syscall_name(number);
	if (number == SYSCALLS_MAX)
		snprintf(text, size, "(%d and above)", SYSCALLS_MAX);
	else
		snprintf(text, size, "%" PRIu32, number);
	return text;
}

static void put_count(struct output *out, uint64_t number, bool marked)
{
	char text[UNITS_SIZE];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	put_right(out, units_mark(text, marked), NUMBER);
}

static void put_ticks(struct output *out, uint64_t ticks, uint64_t hz, bool marked)
{
	char text[UNITS_SIZE];

	units_time(text, ticks, hz);
	put_right(out, units_mark(text, marked), WIDTH);
}

static void put_call(struct output *out, const struct call *call, uint64_t hz, bool marked)
{
	const struct syscall_times *times = call->times;
	char text[32];

	put_count(out, times->calls, marked);
	put_count(out, times->errors, marked);
	put_ticks(out, times->total, hz, marked);
	put_ticks(out, times->off, hz, marked);
	put_ticks(out, hz ? times->total : times->total / times->calls, hz * times->calls, marked);
	put_ticks(out, times->longest, hz, marked);
	put_format(out, "  %s\n", call_name(text, sizeof(text), call->number));
}

void report_syscalls(struct output *out, const struct input *input,
		     const struct analysis *analysis, size_t top)
{
	bool marked = analysis_doubts_oncpu(analysis);
	struct call *call;
	size_t calls, i;

	call = find_calls(analysis, &calls);
	if (!call)
		return;
	put_format(out, "\n%*s%*s%12s%12s%12s%12s  system call\n", NUMBER, "calls", NUMBER,
		   "errors", "total", "off-cpu", "average", "longest");
	for (i = 0; i < calls && (!top || i < top); i++)
		put_call(out, &call[i], input->hz, marked);
	if (top && calls > top)
		put_format(out, "\n(%zu more system calls)\n", calls - top);
	free(call);
}

void report_json_syscalls(struct output *out, const struct input *input,
			  const struct analysis *analysis)
{
	const bool marked = analysis_doubts_oncpu(analysis);
	struct call *call;
	size_t calls, i;
	char text[32];

	call = find_calls(analysis, &calls);
	put_string(out, ",\n\"syscalls\":[");
	for (i = 0; call && i < calls; i++) {
		put_string(out, i ? ",\n{\"syscall\":" : "\n{\"syscall\":");
		put_json(out, call_name(text, sizeof(text), call[i].number));
		put_format(out, ",\"number\":%" PRIu32 ",\"calls\":%" PRIu64 ",\"errors\":%" PRIu64,
			   call[i].number, call[i].times->calls, call[i].times->errors);
		put_seconds(out, "total", call[i].times->total, input->hz);
		put_seconds(out, "off-cpu", call[i].times->off, input->hz);
		put_seconds(out, "longest", call[i].times->longest, input->hz);
		put_format(out, ",\"exact\":%s}", marked ? "false" : "true");
	}
	put_string(out, "\n]");
	free(call);
}

/* ---- page faults --------------------------------------------------------- */

/* One row of the table. */
struct fault {
	uint32_t			function;
	const struct fault_counts	*counts;
};

static int by_faults(const void *a, const void *b)
{
	const struct fault *one = a, *two = b;

	if (one->counts->faults != two->counts->faults)
		return one->counts->faults > two->counts->faults ? -1 : 1;
	return one->function < two->function ? -1 : 1;
}

/* Return the functions with faults, or NULL if none or out of memory; set *@count. */
static struct fault *find_faults(const struct analysis *analysis, size_t *count)
{
	const struct faults *faults = analysis_faults(analysis);
	struct fault *fault = faults->count ? calloc(faults->count, sizeof(*fault)) : NULL;
	uint32_t i;

	*count = 0;
	for (i = 0; fault && i < faults->count; i++)
		if (faults->of[i].faults)
			fault[(*count)++] = (struct fault){ i, &faults->of[i] };
	if (fault)
		qsort(fault, *count, sizeof(*fault), by_faults);
	return fault;
}

/* Return whether records of page faults may be missing. */
static bool lacks_faults(const struct input *input, const struct analysis *analysis)
{
	return oncpu_stats(analysis_oncpu(analysis))->losses || input->meta.lost.switches ||
	       input->meta.lost.elsewhere;
}

void report_faults(struct output *out, const struct input *input,
		   const struct analysis *analysis, size_t top)
{
	const bool marked = lacks_faults(input, analysis);
	struct fault *fault;
	char name[NAME_SIZE];
	size_t faults, i;

	fault = find_faults(analysis, &faults);
	if (!fault)
		return;
	put_format(out, "\n%*s%*s  page faults\n", NUMBER, "all", NUMBER, "major");
	for (i = 0; i < faults && (!top || i < top); i++) {
		put_count(out, fault[i].counts->faults, marked);
		put_count(out, fault[i].counts->major, marked);
		put_string(out, "  ");
		analysis_name(analysis, fault[i].function, name, sizeof(name));
		put_text(out, name);
		put_char(out, '\n');
	}
	if (top && faults > top)
		put_format(out, "\n(%zu more functions)\n", faults - top);
	free(fault);
}

void report_json_faults(struct output *out, const struct input *input,
			const struct analysis *analysis)
{
	const char *exact = lacks_faults(input, analysis) ? "false" : "true";
	struct fault *fault;
	char name[NAME_SIZE];
	size_t faults, i;

	fault = find_faults(analysis, &faults);
	put_string(out, ",\n\"page_faults\":[");
	for (i = 0; i < faults; i++) {
		put_string(out, i ? ",\n{\"function\":" : "\n{\"function\":");
		analysis_name(analysis, fault[i].function, name, sizeof(name));
		put_json(out, name);
		put_format(out, ",\"faults\":%" PRIu64 ",\"major\":%" PRIu64 ",\"exact\":%s}",
			   fault[i].counts->faults, fault[i].counts->major, exact);
	}
	put_string(out, "\n]");
	free(fault);
}
