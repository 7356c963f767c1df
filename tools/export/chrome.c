// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Writes Chrome's trace JSON, which Perfetto reads: calls as pairs of events, and each
 * counter's rate as a track. Times are in microseconds, or in ticks if the rate is
 * unknown.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../command.h"
#include "coverage.h"
#include "export.h"
#include "tracks.h"

/* Counts since @since. */
struct counting {
	bool		begun;
	uint64_t	since;
	uint64_t	known;
	uint64_t	sum[COUNTERS_MAX];
};

/**
 * struct track - state of a thread
 * @calls:	counts of calls
 * @records:	counts between two records, in a trace that contains instruction trace
 */
struct track {
	bool		named;
	struct counting	calls;
	struct counting	records;
};

struct chrome {
	bool		any;		/* set once an event has been written */
	struct tracks	tracks;
};

static int chrome_begin(struct export *export)
{
	struct chrome *chrome = calloc(1, sizeof(*chrome));

	if (!chrome) {
		report("out of memory");
		return -1;
	}
	chrome->tracks.size = sizeof(struct track);
	export->private = chrome;
	put_string(export->out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
	return 0;
}

/* Write nanoseconds as microseconds, or ticks if their rate is unknown. */
static void put_nanoseconds(struct export *export, uint64_t nanoseconds)
{
	char part[4];
	int i;

	if (!export->input.hz) {
		put_number(export->out, nanoseconds, 0);
		return;
	}
	put_number(export->out, nanoseconds / 1000, 0);
	part[0] = '.';
	for (i = 3; i; i--, nanoseconds /= 10)
		part[i] = (char)('0' + nanoseconds % 10);
	put_bytes(export->out, part, sizeof(part));
}

static void put_micro(struct export *export, uint64_t ticks)
{
	put_nanoseconds(export, export->input.hz ? export_nanoseconds(export, ticks) : ticks);
}

/* {"ph":"B","pid":1,"tid":1 */
static void begin_event(struct export *export, const char *phase,
			const struct thread *thread)
{
	struct chrome *chrome = export->private;

	put_string(export->out, chrome->any ? ",\n{\"ph\":\"" : "{\"ph\":\"");
	chrome->any = true;
	put_string(export->out, phase);
	put_string(export->out, "\",\"pid\":");
	put_number(export->out, (uint64_t)tracks_pid(thread), 0);
	put_string(export->out, ",\"tid\":");
	put_number(export->out, (uint64_t)tracks_tid(thread), 0);
}

static void put_ts(struct export *export, uint64_t ticks)
{
	put_string(export->out, ",\"ts\":");
	put_nanoseconds(export, export_time(export, ticks));
}

static void put_function(struct export *export, uint32_t function)
{
	char name[EXPORT_NAME_SIZE];

	put_string(export->out, ",\"name\":");
	analysis_name(export->analysis, function, name, sizeof(name));
	put_json(export->out, name);
}

/* Return a thread's state, or NULL if out of memory. The first call writes the thread's name. */
static struct track *get_track(struct export *export, const struct thread *thread)
{
	struct chrome *chrome = export->private;
	struct track *track = tracks_get(&chrome->tracks, thread->id);

	if (!track || track->named)
		return track;
	track->named = true;
	begin_event(export, "M", thread);
	put_string(export->out, ",\"name\":\"thread_name\",\"args\":{\"name\":");
	put_json(export->out, thread->label);
	put_string(export->out, "}}");
	return track;
}

/*
 * Write the rates between counting->since and @now; for a time column, write its share of that
 * period.
 */
static void put_rates(struct export *export, const struct thread *thread,
		      struct counting *counting, const struct counters *counters,
		      const char *what, uint64_t now)
{
	const double ticks = (double)(now - counting->since);
	const double time = export->input.hz ? ticks / (double)export->input.hz : ticks;
	const char *unit = export->input.hz ? "/s" : "/tick";
	char name[COUNTERS_NAME_SIZE + 80];

	for (; counting->known; counting->known &= counting->known - 1) {
		const unsigned int c = (unsigned int)__builtin_ctzll(counting->known);
		const bool share = c < counters->times;

		snprintf(name, sizeof(name), "%s%s %s%s", counters->name[c], share ? " share" : unit,
			 thread->label, what);
		begin_event(export, "C", thread);
		put_string(export->out, ",\"name\":");
		put_json(export->out, name);
		put_ts(export, counting->since);
		put_format(export->out, ",\"args\":{\"value\":%.6g}}",
			   (double)counting->sum[c] / (share ? ticks : time));
		counting->sum[c] = 0;
	}
}

/* Add the counts of a record at @now. Return whether @now is later than the previous records. */
static bool add_counts(struct counting *counting, uint64_t now, uint64_t known,
		       const uint64_t *delta)
{
	if (!counting->begun || !known || now < counting->since) {
		/* From this record on, the counts are known. */
		counting->begun = true;
		counting->since = now;
		for (; counting->known; counting->known &= counting->known - 1)
			counting->sum[__builtin_ctzll(counting->known)] = 0;
		return false;
	}
	counting->known |= known;
	for (; known; known &= known - 1) {
		unsigned int c = (unsigned int)__builtin_ctzll(known);

		counting->sum[c] += delta[c];
	}
	return now > counting->since;
}

static void chrome_step(void *context, struct analysis_thread *thread,
			const struct analysis_step *step)
{
	struct export *export = context;
	struct track *track = get_track(export, thread->thread);

	if (!track)
		return;
	if (!thread->timed) {
		track->calls.begun = false;
		return;
	}
	if (!add_counts(&track->calls, thread->now, step->counted, step->delta))
		return;
	put_rates(export, thread->thread, &track->calls, analysis_counters(export->analysis), "",
		  thread->now);
	track->calls.since = thread->now;
}

static void chrome_enter(void *context, struct analysis_thread *thread)
{
	struct analysis_frame *frame = &thread->frame[thread->depth - 1];
	struct export *export = context;

	frame->user = frame->timed;
	if (!frame->timed)
		return;
	begin_event(export, "B", thread->thread);
	put_ts(export, thread->now);
	put_function(export, frame->function);
	if (frame->inferred)
		put_string(export->out, ",\"args\":{\"time\":\"inferred\"}");
	put_char(export->out, '}');
}

/* Write the part of the slice's length in which the thread waited, in the same unit. */
static void put_waited(struct export *export, const struct analysis_frame *frame)
{
	if (frame->doubts & ANALYSIS_WAIT_UNKNOWN)
		put_string(export->out, "\"unknown\"");
	else
		put_micro(export, frame->waited);
}

/*
 * Write the count of each counter of the thread. Times are in the unit of the slice's length. Return
 * whether anything was written.
 */
static bool put_counts(struct export *export, const struct analysis_thread *thread,
		       const uint64_t *count)
{
	const struct counters *counters = analysis_counters(export->analysis);
	const uint64_t known = export_known(export, thread);
	bool any = false;
	unsigned int c;

	for (c = 0; c < counters->count; c++) {
		if (!(known >> c & 1))
			continue;
		if (any)
			put_char(export->out, ',');
		any = true;
		if (c < counters->times) {
			put_format(export->out, "\"%s_%s\":", counters->name[c],
				   export->input.hz ? "us" : "ticks");
			put_micro(export, count[c]);
			continue;
		}
		put_json(export->out, counters->name[c]);
		put_char(export->out, ':');
		put_number(export->out, count[c], 0);
	}
	if (counters->times && analysis_doubts_oncpu(export->analysis))
		put_string(export->out, ",\"cpu_times\":\"inferred\"");
	if (export_partial(export, thread))
		put_string(export->out, ",\"counts\":\"partial\"");
	return any;
}

static void chrome_leave(void *context, struct analysis_thread *thread,
			 const struct analysis_end *end)
{
	const struct analysis_frame *frame = &thread->frame[thread->depth - 1];
	struct export *export = context;
	bool any;

	if (!frame->user)
		return;
	begin_event(export, "E", thread->thread);
	put_ts(export, thread->now);
	put_string(export->out, ",\"args\":{");
	any = put_counts(export, thread, end->count);
	if (end->inferred) {
		put_string(export->out, any ? ",\"time\":\"inferred\"" : "\"time\":\"inferred\"");
		any = true;
	}
	if (frame->waited || frame->doubts & ANALYSIS_WAIT_UNKNOWN) {
		put_string(export->out, any ? ",\"waited\":" : "\"waited\":");
		put_waited(export, frame);
		any = true;
	}
	if (end->why != ANALYSIS_EXIT || !end->timed) {
		if (any)
			put_char(export->out, ',');
		put_format(export->out, "\"end\":\"%s\"", end->why != ANALYSIS_EXIT ?
			   "no exit record" : "later, at an unknown time");
	}
	put_string(export->out, "}}");
}

static void chrome_lost(void *context, struct analysis_thread *thread)
{
	struct export *export = context;

	if (!thread->timed)
		return;
	begin_event(export, "i", thread->thread);
	put_ts(export, thread->now);
	put_string(export->out, ",\"name\":\"records lost\",\"s\":\"t\",\"cat\":\"loss\"}");
}

static void chrome_point(void *context, struct analysis_thread *thread,
			 const struct analysis_step *step)
{
	struct export *export = context;

	if (!thread->timed)
		return;
	begin_event(export, "i", thread->thread);
	put_ts(export, thread->now);
	put_function(export, step->function);
	put_format(export->out, ",\"s\":\"t\",\"cat\":\"%s\"%s}",
		   perfrec_type_name(step->record->type), thread->inferred ?
		   ",\"args\":{\"time\":\"inferred\"}" : "");
}

static void put_point(struct export *export, const struct thread *thread,
		      const struct analysis_point *point)
{
	const struct counters *counters = analysis_recorded(export->analysis);
	const struct perfrec_stamp *stamp = &point->record->begin;
	const char *note = export_point_note(point);
	uint64_t counted = point->counted;
	char name[EXPORT_NAME_SIZE];

	begin_event(export, "i", thread);
	put_ts(export, stamp->time);
	put_string(export->out, ",\"name\":");
	export_point_name(export, point, name);
	put_json(export->out, name);
	put_format(export->out, ",\"s\":\"t\",\"cat\":\"record\",\"args\":{\"type\":\"%s\"",
		   perfrec_type_name(point->record->type));
	for (; counted; counted &= counted - 1) {
		unsigned int c = (unsigned int)__builtin_ctzll(counted);

		put_char(export->out, ',');
		put_json(export->out, counters->name[c]);
		put_char(export->out, ':');
		put_number(export->out, point->delta[c], 0);
	}
	if (stamp->time_known == TIME_INFERRED)
		put_string(export->out, ",\"time\":\"inferred\"");
	if (note)
		put_format(export->out, ",\"note\":\"%s\"", note);
	put_string(export->out, "}}");
}

static void chrome_recorded(void *context, struct analysis_thread *thread,
			    const struct analysis_point *point)
{
	const struct perfrec_stamp *stamp = &point->record->begin;
	struct export *export = context;
	struct track *track = get_track(export, thread->thread);

	if (!track)
		return;
	if (!stamp->time_known) {
		track->records.begun = false;
		export->untimed++;
		return;
	}
	put_point(export, thread->thread, point);
	if (!add_counts(&track->records, stamp->time, point->counted, point->delta))
		return;
	put_rates(export, thread->thread, &track->records, analysis_recorded(export->analysis),
		  " records", stamp->time);
	track->records.since = stamp->time;
}

/* Use a separate track of the thread for async events, which need not be nested in its calls. */
static void put_span(struct export *export, const struct thread *thread, const char *phase,
		     enum oncpu_state state, uint64_t time)
{
	begin_event(export, phase, thread);
	put_ts(export, time);
	put_format(export->out, ",\"cat\":\"cpu\",\"id\":%u,\"name\":\"%s\"%s}", thread->id + 1,
		   oncpu_name(state), analysis_doubts_oncpu(export->analysis) ?
		   ",\"args\":{\"time\":\"inferred\"}" : "");
}

static void chrome_span(void *context, struct thread *thread, enum oncpu_state state,
			uint64_t from, uint64_t to)
{
	put_span(context, thread, "b", state, from);
	put_span(context, thread, "e", state, to);
}

static int chrome_end(struct export *export)
{
	char accuracy[UTC_TEXT];

	put_string(export->out, "\n],\"otherData\":{");
	coverage_json(&export->input, export->out);
	put_string(export->out, ",\n");
	coverage_damage_json(&export->input, export->out);
	if (input_is_utc(&export->input)) {
		utc_text(&export->input.utc, accuracy);
		put_format(export->out, ",\n\"clock\":\"utc, %s\"", accuracy);
	}
	put_string(export->out, "}}\n");
	return 0;
}

static void chrome_free(struct export *export)
{
	struct chrome *chrome = export->private;

	if (chrome)
		tracks_free(&chrome->tracks);
	free(chrome);
}

static const struct analysis_ops chrome_ops = {
	.lost = chrome_lost,
	.step = chrome_step,
	.enter = chrome_enter,
	.leave = chrome_leave,
	.point = chrome_point,
	.recorded = chrome_recorded,
	.span = chrome_span,
	.stop = export_stop,
};

const struct exporter export_chrome = {
	.name = "chrome",
	.help = "JSON for ui.perfetto.dev: calls of each thread, rate of each counter",
	.all_calls = true,
	.dated = true,
	.begin = chrome_begin,
	.ops = &chrome_ops,
	.end = chrome_end,
	.free = chrome_free,
};
