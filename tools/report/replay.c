// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * sifive-trace replay: prints calls in trace order. The line of an enter record is held back until
 * the next record of any thread, so that a call without callees can be printed as one line.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "command.h"
#include "coverage.h"
#include "options.h"
#include "output.h"
#include "cause.h"
#include "pager.h"
#include "units.h"

#define NAME_SIZE	512
#define INDENT_MAX	40
#define LABEL_WIDTH	20

/*
 * A frame's user value: OPENED is set if the line of the call has been printed; the upper half is
 * the number of frames up to the outermost one that --filter selects, or 0 if it selects none.
 */
#define OPENED		1ull
#define BASE_SHIFT	32
/* Replaces the function's number for lines without a function. */
#define NO_FUNCTION	UINT32_MAX

struct replay {
	struct options		common;
	struct analysis		*analysis;
	struct output		*out;
	uint64_t		hz;
	size_t			time_width;
	int			depth;		/* 0: all */
	bool			shown;		/* set if a line has been printed */
	uint64_t		short_records;	/* number of records that the threshold omits */
	struct cli_list		filter;
	uint8_t			*match;		/* by function: 2 if it matches, else 1; or NULL */
	/* The thread of the call whose line is held back, or NULL; and the depth of this call. */
	struct analysis_thread	*waiting;
	unsigned int		waiting_depth;
	const struct input	*input;
	/*
	 * For a snapshot: the lines for the start and the end of the call that triggered it have
	 * not been printed yet.
	 */
	bool			begins;
	bool			ends;
};

static const struct cli_option replay_options[] = {
	OPTIONS_DEPTH(struct replay, depth),
	OPTIONS_FILTER(struct replay, filter),
	OPTIONS_TID(struct replay, common),
	CLI_OUTPUT(struct replay, common.output),
	{ .name = NULL }
};

static const struct cli_group replay_groups[] = {
	{ NULL, replay_options, 0 },
	{ NULL, options_clock, offsetof(struct replay, common) },
	OPTIONS_CALLS_GROUPS(struct replay, common),
	{ .options = NULL }
};

/* Return whether --filter selects a function. */
static bool matches(const struct replay *replay, uint32_t function)
{
	char name[NAME_SIZE];

	if (function == NO_FUNCTION)
		return false;
	if (!replay->match[function]) {
		analysis_name(replay->analysis, function, name, sizeof(name));
		replay->match[function] = 1 + options_matches(&replay->filter, name);
	}
	return replay->match[function] == 2;
}

/*
 * Return the number of frames up to the outermost one that --filter selects, for a line of frame
 * @depth. If the frame does not exist yet, the line is a call to @function.
 */
static unsigned int base_of(const struct replay *replay, const struct analysis_thread *thread,
			    unsigned int depth, uint32_t function)
{
	const unsigned int inner = depth < thread->depth ? depth : thread->depth;
	unsigned int base = 0;

	if (!replay->match)
		return 1;
	if (inner)
		base = (unsigned int)(thread->frame[inner - 1].user >> BASE_SHIFT);
	return base || depth <= thread->depth || !matches(replay, function) ? base : depth;
}

/* Return whether to show a line: see base_of(). */
static bool wanted(const struct replay *replay, const struct analysis_thread *thread,
		   unsigned int depth, uint32_t function)
{
	const unsigned int base = base_of(replay, thread, depth, function);

	return options_thread(&replay->common, thread->thread->tid) && base &&
	       (!replay->depth || depth - base < (unsigned int)replay->depth);
}

static enum store_time frame_time(const struct analysis_frame *frame)
{
	if (!frame->timed)
		return TIME_UNKNOWN;
	return frame->inferred ? TIME_INFERRED : TIME_EXACT;
}

static enum store_time thread_time(const struct analysis_thread *thread)
{
	if (!thread->timed)
		return TIME_UNKNOWN;
	return thread->inferred ? TIME_INFERRED : TIME_EXACT;
}

static void put_trigger(struct replay *replay, uint64_t time, const char *what)
{
	uint64_t hz;

	if (time < replay->input->from || time > replay->input->to)
		return;
	hz = input_time(replay->input, &time);
	put_inferred(replay->out, time, hz, replay->time_width);
	put_right(replay->out, "", 12);
	put_format(replay->out, "  * the snapshot's call %s\n", what);
}

/* Print the start and the end of the call that triggered the snapshot, unless later than @time. */
static void put_triggers(struct replay *replay, uint64_t time)
{
	const struct meta_trigger *trigger = &replay->input->meta.trigger;
	const uint64_t from = cause_time(replay->input, trigger->from, time);
	const uint64_t to = cause_time(replay->input, trigger->to, time);

	if (replay->begins && from <= time) {
		replay->begins = false;
		put_trigger(replay, from, replay->ends ? "begins" : "begins: the trigger");
	}
	if (replay->ends && !replay->begins && to <= time) {
		replay->ends = false;
		put_trigger(replay, to, "has ended: the trigger");
	}
}

/* Print the time, the duration (if any), the thread and the indentation. */
static void begin_line(struct replay *replay,
		       const struct analysis_thread *thread, enum store_time known,
		       uint64_t time, const char *duration, unsigned int depth)
{
	unsigned int base;
	uint64_t hz;

	if (known && (replay->begins || replay->ends))
		put_triggers(replay, time);
	hz = input_time(replay->input, &time);
	if (known == TIME_INFERRED)
		put_inferred(replay->out, time, hz, replay->time_width);
	else if (known)
		put_time(replay->out, time, hz, replay->time_width);
	else
		put_right(replay->out, "-", replay->time_width);
	replay->shown = true;
	put_right(replay->out, duration, 12);
	put_string(replay->out, "  ");
	put_left(replay->out, thread->thread->label, LABEL_WIDTH);
	/* Calls outside the call that --filter selects have no line. */
	base = base_of(replay, thread, depth + 1, NO_FUNCTION);
	depth = base ? depth + 1 - base : 0;
	put_spaces(replay->out, 2 + 2 * (size_t)(depth < INDENT_MAX ? depth :
						 INDENT_MAX));
}

static void put_name(struct replay *replay, uint32_t function)
{
	char name[NAME_SIZE];

	analysis_name(replay->analysis, function, name, sizeof(name));
	put_text(replay->out, name);
}

/* Print the line that was held back, because the call has a callee or another thread continues. */
static void open_waiting(struct replay *replay)
{
	struct analysis_thread *thread = replay->waiting;
	const struct analysis_frame *frame;

	if (!thread)
		return;
	replay->waiting = NULL;
	frame = &thread->frame[replay->waiting_depth - 1];
	begin_line(replay, thread, frame_time(frame), analysis_begin(frame), "",
		   replay->waiting_depth - 1);
	put_name(replay, frame->function);
	put_string(replay->out, "() {\n");
}

/*
 * Print the lines of the thread's @depth outermost calls that have not been printed yet. With a
 * threshold, a call's line is printed only once it is known that the call, or a line within it,
 * must be shown.
 */
static void open_callers(struct replay *replay, struct analysis_thread *thread,
			 unsigned int depth)
{
	unsigned int i = base_of(replay, thread, depth, NO_FUNCTION);

	for (i -= i > 0; i < depth && wanted(replay, thread, i + 1, NO_FUNCTION); i++) {
		struct analysis_frame *frame = &thread->frame[i];

		if (frame->user & OPENED)
			continue;
		frame->user |= OPENED;
		begin_line(replay, thread, frame_time(frame), analysis_begin(frame), "", i);
		put_name(replay, frame->function);
		put_string(replay->out, "() {\n");
	}
}

static void on_enter(void *context, struct analysis_thread *thread)
{
	struct analysis_frame *frame = &thread->frame[thread->depth - 1];
	struct replay *replay = context;
	unsigned int base;

	/* The frame's own base is not set yet. */
	thread->depth--;
	base = base_of(replay, thread, thread->depth + 1, frame->function);
	thread->depth++;
	frame->user = (uint64_t)base << BASE_SHIFT;
	if (replay->input->shortest || !wanted(replay, thread, thread->depth, NO_FUNCTION))
		return;
	replay->waiting = thread;
	replay->waiting_depth = thread->depth;
}

/*
 * Called before the record changes the calls, so the call whose line is held back is the innermost
 * one. Ignores records without a line.
 */
static void on_step(void *context, struct analysis_thread *thread,
		    const struct analysis_step *step)
{
	struct replay *replay = context;
	bool ends = step->record->type == PERFREC_EXIT;

	if (replay->input->shortest || (ends && thread == replay->waiting))
		return;
	if (wanted(replay, thread, thread->depth + !ends, step->function))
		open_waiting(replay);
}

static void on_leave(void *context, struct analysis_thread *thread,
		     const struct analysis_end *end)
{
	const struct analysis_frame *frame = &thread->frame[thread->depth - 1];
	struct replay *replay = context;
	char duration[UNITS_SIZE] = "-";

	if (!wanted(replay, thread, thread->depth, NO_FUNCTION))
		return;
	if (replay->input->shortest && !(frame->user & OPENED)) {
		open_callers(replay, thread, thread->depth - 1);
		replay->waiting = thread;
	}
	if (end->timed) {
		units_time(duration, end->total, replay->hz);
		units_mark(duration, end->inferred);
	}
	if (replay->waiting == thread) {
		replay->waiting = NULL;
		begin_line(replay, thread, frame_time(frame), analysis_begin(frame), duration,
			   thread->depth - 1);
		put_name(replay, frame->function);
		put_string(replay->out, "()");
	} else {
		open_waiting(replay);
		begin_line(replay, thread, thread_time(thread), thread->now, duration,
			   thread->depth - 1);
		put_string(replay->out, "} ");
		put_name(replay, frame->function);
	}
	if (end->why == ANALYSIS_UNWOUND)
		put_string(replay->out, "  (no exit record)");
	else if (end->why == ANALYSIS_CUT)
		put_string(replay->out, "  (had not ended)");
	put_char(replay->out, '\n');
}

static void on_point(void *context, struct analysis_thread *thread,
		     const struct analysis_step *step)
{
	struct replay *replay = context;
	uint32_t function = step->function;
	unsigned int i;

	/* A sample may have been taken in a function that one of the selected functions called. */
	for (i = 0; replay->match && i < step->callers && !matches(replay, function); i++)
		function = step->caller[i];
	if (!wanted(replay, thread, thread->depth + 1, function))
		return;
	if (replay->input->shortest)
		open_callers(replay, thread, thread->depth);
	begin_line(replay, thread, thread_time(thread), thread->now, "",
		   thread->depth);
	put_string(replay->out, step->record->type == PERFREC_ISR ? "* sample in " :
								     "* manual in ");
	put_name(replay, step->function);
	put_char(replay->out, '\n');
}

static void put_recorded_counts(struct replay *replay, const struct analysis_point *point)
{
	const struct counters *counters = analysis_recorded(replay->analysis);
	uint64_t counted = point->counted;
	unsigned int c;

	for (; counted; counted &= counted - 1) {
		c = (unsigned int)__builtin_ctzll(counted);
		put_format(replay->out, "  %s +", counters->name[c]);
		put_number(replay->out, point->delta[c], 0);
	}
	if (!point->counted && counters->count)
		put_string(replay->out, point->first ? "  (the thread's first record)" :
						       "  (counts since the previous record are unknown)");
	if (point->moved)
		put_string(replay->out, "  (on another hart since then)");
	if (point->lost)
		put_string(replay->out, "  (records may be missing before it)");
	put_char(replay->out, '\n');
}

/* Handle a record among calls from the instruction trace. */
static void on_recorded(void *context, struct analysis_thread *thread,
			const struct analysis_point *point)
{
	const struct perfrec_record *record = point->record;
	struct replay *replay = context;

	if (!wanted(replay, thread, thread->depth + 1, point->function))
		return;
	/*
	 * With a threshold, only manual records are shown, because the other records are within
	 * calls that may be left out.
	 */
	if (replay->input->shortest && record->type != PERFREC_MANUAL) {
		replay->short_records++;
		return;
	}
	if (replay->input->shortest)
		open_callers(replay, thread, thread->depth);
	open_waiting(replay);
	begin_line(replay, thread, record->begin.time_known, record->begin.time, "",
		   thread->depth);
	put_format(replay->out, "* record: %s ", perfrec_type_name(record->type));
	put_name(replay, point->function);
	put_recorded_counts(replay, point);
}

/* Time on the CPU needs no line, because the thread's records show that it is running. */
static void on_span(void *context, struct thread *of, enum oncpu_state state, uint64_t from,
		    uint64_t to)
{
	struct analysis_thread *thread = of->state;
	struct replay *replay = context;
	char duration[UNITS_SIZE];

	if (state == ONCPU_RUNS || !thread || !wanted(replay, thread, thread->depth + 1, NO_FUNCTION))
		return;
	if (replay->input->shortest) {
		if (to - from < replay->input->shortest)
			return;
		open_callers(replay, thread, thread->depth);
	}
	open_waiting(replay);
	units_time(duration, to - from, replay->hz);
	units_mark(duration, analysis_doubts_oncpu(replay->analysis));
	begin_line(replay, thread, TIME_EXACT, from, duration, thread->depth);
	if (state == ONCPU_UNKNOWN || state == ONCPU_MERGED)
		put_format(replay->out, "* on or off the CPU: %s\n", oncpu_name(state));
	else
		put_format(replay->out, "* off the CPU: %s\n", oncpu_name(state));
}

static void on_pause(void *context)
{
	struct replay *replay = context;

	output_flush(replay->out);
}

static bool on_stop(void *context)
{
	struct replay *replay = context;

	return output_failed(replay->out);
}

static const struct analysis_ops replay_ops = {
	.step = on_step,
	.enter = on_enter,
	.leave = on_leave,
	.point = on_point,
	.recorded = on_recorded,
	.span = on_span,
	.pause = on_pause,
	.stop = on_stop,
};

static void put_heading(struct replay *replay)
{
	output_bold(replay->out, true);
	put_char(replay->out, '#');
	put_right(replay->out, replay->hz ? "seconds" : "ticks", replay->time_width - 1);
	put_right(replay->out, "duration", 12);
	put_string(replay->out, "  ");
	put_left(replay->out, "thread", LABEL_WIDTH);
	put_string(replay->out, "  function");
	output_bold(replay->out, false);
	put_char(replay->out, '\n');
}

static int run(struct replay *replay)
{
	char coverage[COVERAGE_SIZE];
	struct input input;
	int result;

	replay->common.trace.watched = !output_to_file(replay->common.output);
	result = input_open(&input, &replay->common);

	if (!result) {
		replay->hz = input.hz;
		replay->time_width = input_is_utc(&input) ? INPUT_UTC_WIDTH : 14;
		replay->input = &input;
		replay->begins = input.meta.trigger.function && input.meta.trigger.timed;
		replay->ends = replay->begins && input.meta.trigger.ended;
	}
	if (!result) {
		replay->analysis = analysis_new(&input.meta, input.symbols,
						&replay_ops, replay);
		replay->out = pager_open(replay->common.output);
		if (!replay->analysis || !replay->out)
			result = EXIT_UNREADABLE;
		else
			analysis_limit(replay->analysis, &input);
		if (!result && replay->filter.count) {
			replay->match = calloc(FUNCTIONS_MAX, sizeof(*replay->match));
			if (!replay->match) {
				report("out of memory");
				result = EXIT_UNREADABLE;
			}
		}
	}
	if (!result) {
		put_heading(replay);
		if (analysis_run(replay->analysis, input.trace))
			result = EXIT_UNREADABLE;
	}
	/* The call that triggered the snapshot may end after the last line. */
	if (!result && trace_stats(input.trace)->timed && (replay->begins || replay->ends))
		put_triggers(replay, trace_stats(input.trace)->last);
	if (!result && *coverage_text(&input, coverage))
		put_format(replay->out, "# %s\n", coverage);
	if (output_close(replay->out))
		result = EXIT_UNREADABLE;
	if (!result) {
		result = input_summary(&input, INPUT_RECORDS);
		analysis_notes(replay->analysis, &input);
		if (replay->short_records && !replay->common.trace.quiet)
			report("%s: %" PRIu64 " records of functions are left out: with --time-threshold, only manual records are shown",
			       replay->common.path, replay->short_records);
	}
	if (result <= EXIT_LOSSES && !replay->shown)
		report("%s: no call matches --filter, --tid and --depth: see sifive-trace report --by thread",
		       replay->common.path);
	analysis_free(replay->analysis);
	free(replay->match);
	input_close(&input);
	return result;
}

static int command_replay(int argc, char **argv)
{
	struct replay replay = { 0 };
	int result;

	options_init(&replay.common);
	result = options_parse(&replay_command, &replay, &replay.common, OPTIONS_TRACES,
			       argc, argv);
	return result ? result : run(&replay);
}

const struct cli_command replay_command = {
	.name = "replay",
	.run = command_replay,
	.summary = "show the calls of the program in trace order",
	.arguments = "TRACE...|-",
	.help = "Print each call with its duration, in the order of the trace. The calls of all threads are interleaved." OPTIONS_SEVERAL,
	.groups = replay_groups,
	.status = OPTIONS_STATUS,
	.whole = true,
};
