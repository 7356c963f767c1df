// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Writes Perfetto's own trace format: a sequence of packets for each thread. Each name is written
 * once, times are relative to the previous packet, and counters are tracks. Times are in
 * nanoseconds, or in ticks if the rate is unknown.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../command.h"
#include "coverage.h"
#include "export.h"
#include "packets.h"
#include "protobuf.h"
#include "text.h"
#include "tracks.h"

/* Constants of Perfetto's format. */
#define SLICE_BEGIN	1
#define SLICE_END	2
#define INSTANT		3
#define COUNTER		4
#define UNIT_NANOSECONDS 1
#define UNIT_COUNT	2
#define CLOCK_REALTIME	1
#define CLOCK_BOOT	6
/* The lowest id of a clock that a sequence defines. */
#define CLOCK_OWN	64

/* Size of a thread's label with a suffix that names the track's contents. */
#define LABEL_SIZE	(sizeof(((struct thread *)NULL)->label) + 16)

/* The sequence and the tracks that are independent of threads. */
#define WHOLE		1
#define TRACK_COVERAGE	1
#define TRACK_CLOCK	2
#define TRACK_PROCESS	(1ull << 32)
#define TRACK_THREAD	(2ull << 32)
#define TRACK_COUNTER	(3ull << 32)
#define TRACK_CPU	(4ull << 32)
#define TRACK_RECORDS	(5ull << 32)
#define TRACK_COUNTED	(6ull << 32)

/* The sequences for a thread's times on and off the CPU, and for its records among calls. */
#define SEQUENCE_CPU	(1u << 31)
#define SEQUENCE_RECORDS (1u << 30)

/*
 * Ids of interned names. Events use NAME_LOST, and, starting at NAME_FUNCTION, the ids of
 * functions. Annotations use NOTE_*, and, starting at NOTE_COUNTER, the ids of counters.
 */
#define NAME_LOST	1
#define NAME_FUNCTION	2
#define NOTE_TIME	1
#define NOTE_END	2
#define NOTE_WAITED	3
#define NOTE_CPU_TIMES	4
#define NOTE_COUNTS	5
#define NOTE_COUNTER	6
#define NOTES_FIXED	(NOTE_COUNTER - 1)
#define NOTES_MAX	(COUNTERS_MAX + NOTES_FIXED)

/* Number of names per sequence that are remembered as written; others are written again. */
#define NAMES_KEPT	128

/**
 * struct track - a thread
 * @at:		time of its latest packet
 * @on_cpu:	set if the track of the thread's times on and off the CPU has begun
 * @records:	set if the track of the thread's records among calls has begun
 * @counters:	number of counters of calls that have a track
 * @counted:	number of counters of records among calls that have a track
 * @notes:	number of annotation names that have been written
 * @name:	numbers of event names that have been written, each at its remainder
 *		modulo NAMES_KEPT
 * @pending:	counts since the latest packet of each counter, by column
 * @ticks:	times on and off the CPU in the packets already written for the thread
 */
struct track {
	bool		begun;
	bool		on_cpu;
	bool		records;
	uint64_t	at;
	unsigned int	counters;
	unsigned int	counted;
	unsigned int	notes;
	uint32_t	name[NAMES_KEPT];
	uint64_t	pending[COUNTERS_MAX];
	uint64_t	ticks[COUNTERS_TIMES];
};

/* State of an export. */
struct perfetto {
	struct tracks	tracks;
	struct packets	packets;
};

static void put_packet(struct export *export, Perfetto__TracePacket *packet)
{
	struct perfetto *perfetto = export->private;

	packets_add(&perfetto->packets, export->out, packet);
}

static void put_descriptor(struct export *export, uint32_t sequence,
			   Perfetto__TrackDescriptor *descriptor)
{
	Perfetto__TracePacket packet = packets_new(sequence);

	descriptor->has_uuid = true;
	packet.track_descriptor = descriptor;
	put_packet(export, &packet);
}

static uint64_t nanoseconds(const struct export *export, uint64_t ticks)
{
	return export->input.hz ? export_nanoseconds(export, ticks) : ticks;
}

/* ---- tracks ------------------------------------------------------------- */

static uint32_t sequence_of(const struct thread *thread)
{
	return thread->id + WHOLE + 1;
}

/* Write the clock and the default track of a thread's packets. */
static void put_state(struct export *export, const struct thread *thread,
		      struct track *track)
{
	Perfetto__TracePacket packet = packets_new(sequence_of(thread));
	Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
	Perfetto__Clock boot = PERFETTO__CLOCK__INIT, own = PERFETTO__CLOCK__INIT, date;
	Perfetto__Clock *clocks[] = { &boot, &own, &date };
	Perfetto__Defaults defaults = PERFETTO__DEFAULTS__INIT;
	Perfetto__EventDefaults event = PERFETTO__EVENT_DEFAULTS__INIT;

	boot.has_id = true;
	boot.id = CLOCK_BOOT;
	boot.has_timestamp = true;
	boot.timestamp = track->at;
	own.has_id = true;
	own.id = CLOCK_OWN;
	own.has_timestamp = true;
	own.timestamp = track->at;
	own.has_is_incremental = true;
	own.is_incremental = true;
	/* Viewers can then show the date. */
	date = boot;
	date.id = CLOCK_REALTIME;
	snapshot.clock = clocks;
	snapshot.n_clock = input_is_utc(&export->input) ? 3 : 2;
	event.has_track_uuid = true;
	event.track_uuid = TRACK_THREAD + thread->id;
	defaults.event_defaults = &event;
	defaults.has_timestamp_clock = true;
	defaults.timestamp_clock = CLOCK_OWN;
	packet.sequence_flags = PACKETS_CLEARED;
	packet.clock_snapshot = &snapshot;
	packet.defaults = &defaults;
	put_packet(export, &packet);
}

static void put_thread(struct export *export, const struct thread *thread)
{
	Perfetto__TrackDescriptor descriptor = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__Thread own = PERFETTO__THREAD__INIT;
	char name[sizeof(thread->label)];

	snprintf(name, sizeof(name), "%s", thread->label);
	text_clean(name);
	own.has_pid = true;
	own.pid = (int32_t)tracks_pid(thread);
	own.has_tid = true;
	own.tid = (int32_t)tracks_tid(thread);
	own.name = name;
	descriptor.uuid = TRACK_THREAD + thread->id;
	descriptor.has_parent_uuid = true;
	descriptor.parent_uuid = TRACK_PROCESS + (uint32_t)tracks_pid(thread);
	descriptor.thread = &own;
	put_descriptor(export, sequence_of(thread), &descriptor);
}

static void put_process(struct export *export, const struct thread *thread, uint32_t sequence)
{
	Perfetto__TrackDescriptor descriptor = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__Process process = PERFETTO__PROCESS__INIT;
	const char *host = input_is_utc(&export->input) ? export->input.meta.host : NULL;
	char name[EXPORT_NAME_SIZE];

	snprintf(name, sizeof(name), "%s%s%s", host ? host : "", host ? ": " : "",
		 tracks_process(&export->input.meta, thread));
	text_clean(name);
	process.has_pid = true;
	process.pid = (int32_t)tracks_pid(thread);
	process.name = name;
	descriptor.uuid = TRACK_PROCESS + (uint32_t)tracks_pid(thread);
	descriptor.process = &process;
	put_descriptor(export, sequence, &descriptor);
}

/* Return a thread's state, or NULL if out of memory. It begins at the thread's first known time. */
static struct track *get_track(struct export *export, const struct analysis_thread *thread)
{
	struct perfetto *perfetto = export->private;
	struct track *track = tracks_get(&perfetto->tracks, thread->thread->id);

	if (!track || track->begun || !thread->timed)
		return track;
	track->begun = true;
	track->at = export_time(export, thread->now);
	put_state(export, thread->thread, track);
	put_process(export, thread->thread, sequence_of(thread->thread));
	put_thread(export, thread->thread);
	return track;
}

static uint64_t counter_uuid(uint64_t first, const struct thread *thread, unsigned int column)
{
	return first + (uint64_t)thread->id * COUNTERS_MAX + column;
}

static void put_counter(struct export *export, uint32_t sequence, uint64_t uuid, uint64_t parent,
			int unit, const char *counter_name, const char *label)
{
	Perfetto__TrackDescriptor descriptor = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__Counter counter = PERFETTO__COUNTER__INIT;
	char name[COUNTERS_NAME_SIZE + LABEL_SIZE + 1];

	snprintf(name, sizeof(name), "%s %s", counter_name, label);
	text_clean(name);
	counter.has_unit = true;
	counter.unit = unit;
	counter.has_is_incremental = true;
	counter.is_incremental = true;
	descriptor.uuid = uuid;
	descriptor.has_parent_uuid = true;
	descriptor.parent_uuid = parent;
	descriptor.name = name;
	descriptor.counter = &counter;
	put_descriptor(export, sequence, &descriptor);
}

/* Create tracks for new counters. */
static void describe_counters(struct export *export, const struct thread *thread,
			      struct track *track)
{
	const struct counters *counters = analysis_counters(export->analysis);

	for (; track->counters < counters->count; track->counters++)
		put_counter(export, sequence_of(thread),
			    counter_uuid(TRACK_COUNTER, thread, track->counters),
			    TRACK_THREAD + thread->id,
			    track->counters < counters->times && export->input.hz ?
			    UNIT_NANOSECONDS : UNIT_COUNT,
			    export_counter_name(export, track->counters), thread->label);
}

/* ---- events ------------------------------------------------------------- */

/**
 * struct event - a thread's packet that contains an event
 * @name:	name of the event, if it is new to the sequence
 * @note:	annotations, followed by those names that are new to the sequence
 */
struct event {
	Perfetto__TracePacket	packet;
	Perfetto__TrackEvent	event;
	Perfetto__InternedData	interned;
	Perfetto__Name		name;
	Perfetto__Name		*names;
	char			text[EXPORT_NAME_SIZE];
	Perfetto__Annotation	note[NOTES_MAX];
	Perfetto__Annotation	*notes[NOTES_MAX];
	Perfetto__Name		note_name[NOTES_MAX];
	Perfetto__Name		*note_names[NOTES_MAX];
};

static void begin_event(struct event *event, const struct thread *thread, int type)
{
	event->packet = packets_new(sequence_of(thread));
	perfetto__track_event__init(&event->event);
	perfetto__interned_data__init(&event->interned);
	event->packet.track_event = &event->event;
	event->event.has_type = true;
	event->event.type = type;
	event->event.annotation = event->notes;
}

static void end_event(struct export *export, struct event *event, struct track *track,
		      uint64_t now)
{
	uint64_t at = export_time(export, now);

	/* After damage, wall-clock times may wrap. */
	if (at < track->at)
		at = track->at;
	event->packet.has_timestamp = true;
	event->packet.timestamp = at - track->at;
	track->at = at;
	if (event->interned.n_event_name || event->interned.n_annotation_name)
		event->packet.interned_data = &event->interned;
	put_packet(export, &event->packet);
}

/*
 * Give an event the name @text or, if that is NULL, a function's name. Include the text only if the
 * name is new to the sequence.
 */
static void name_event(struct export *export, struct event *event, struct track *track,
		       uint32_t number, const char *text)
{
	uint32_t *kept = &track->name[number % NAMES_KEPT];

	event->event.has_name_iid = true;
	event->event.name_iid = number;
	if (*kept == number)
		return;
	*kept = number;
	if (text)
		snprintf(event->text, sizeof(event->text), "%s", text);
	else
		analysis_name(export->analysis, number - NAME_FUNCTION,
			      event->text, sizeof(event->text));
	text_clean(event->text);
	perfetto__name__init(&event->name);
	event->name.has_iid = true;
	event->name.iid = number;
	event->name.name = event->text;
	event->names = &event->name;
	event->interned.event_name = &event->names;
	event->interned.n_event_name = 1;
}

static Perfetto__Annotation *add_note(struct event *event, uint64_t number)
{
	size_t i = event->event.n_annotation++;
	Perfetto__Annotation *note = event->notes[i] = &event->note[i];

	perfetto__annotation__init(note);
	note->has_name_iid = true;
	note->name_iid = number;
	return note;
}

static void add_text(struct event *event, uint64_t number, const char *text)
{
	add_note(event, number)->string_value = (char *)text;
}

static void add_number(struct event *event, uint64_t number, uint64_t value)
{
	Perfetto__Annotation *note = add_note(event, number);

	note->has_uint_value = true;
	note->uint_value = value;
}

/* Write the annotation names that are new to the sequence. */
static void name_notes(struct export *export, struct event *event, struct track *track)
{
	const struct counters *counters = analysis_counters(export->analysis);
	static char * const fixed[NOTES_FIXED] = { "time", "end", "waited", "cpu_times",
		"counts" };

	for (; track->notes < counters->count + NOTES_FIXED; track->notes++) {
		size_t i = event->interned.n_annotation_name++;
		Perfetto__Name *name = event->note_names[i] = &event->note_name[i];

		perfetto__name__init(name);
		name->has_iid = true;
		name->iid = track->notes + 1;
		name->name = track->notes < NOTES_FIXED ? fixed[track->notes] :
			     (char *)export_counter_name(export, track->notes - NOTES_FIXED);
	}
	event->interned.annotation_name = event->note_names;
}

/* ---- records ------------------------------------------------------------ */

/* Write the counts since counts were last written. */
static void put_counts(struct export *export, const struct analysis_thread *thread,
		       struct track *track)
{
	const unsigned int times = analysis_counters(export->analysis)->times;
	struct event event;
	unsigned int c;

	describe_counters(export, thread->thread, track);
	for (c = 0; c < times; c++)
		track->pending[c] = export_own_time(export, &track->ticks[c], track->pending[c]);
	for (c = 0; c < track->counters; c++) {
		if (!track->pending[c])
			continue;
		begin_event(&event, thread->thread, COUNTER);
		event.event.has_track_uuid = true;
		event.event.track_uuid = counter_uuid(TRACK_COUNTER, thread->thread, c);
		event.event.has_counter_value = true;
		event.event.counter_value = protobuf_number(track->pending[c]);
		end_event(export, &event, track, thread->now);
		track->pending[c] = 0;
	}
}

static void perfetto_step(void *context, struct analysis_thread *thread,
			  const struct analysis_step *step)
{
	struct export *export = context;
	struct track *track = get_track(export, thread);
	uint64_t known = step->counted;

	if (!track)
		return;
	for (; known; known &= known - 1) {
		unsigned int c = (unsigned int)__builtin_ctzll(known);

		track->pending[c] += step->delta[c];
	}
	if (thread->timed)
		put_counts(export, thread, track);
}

static void perfetto_lost(void *context, struct analysis_thread *thread)
{
	struct export *export = context;
	struct track *track = get_track(export, thread);
	struct event event;

	if (!track || !thread->timed)
		return;
	begin_event(&event, thread->thread, INSTANT);
	name_event(export, &event, track, NAME_LOST, "records lost");
	end_event(export, &event, track, thread->now);
}

static void put_function(struct export *export, struct analysis_thread *thread,
			 struct track *track, int type, uint32_t function, bool inferred)
{
	struct event event;

	begin_event(&event, thread->thread, type);
	name_event(export, &event, track, function + NAME_FUNCTION, NULL);
	if (inferred) {
		name_notes(export, &event, track);
		add_text(&event, NOTE_TIME, "inferred");
	}
	end_event(export, &event, track, thread->now);
}

static void perfetto_enter(void *context, struct analysis_thread *thread)
{
	struct analysis_frame *frame = &thread->frame[thread->depth - 1];
	struct export *export = context;
	struct track *track = get_track(export, thread);

	frame->user = track && frame->timed;
	if (frame->user)
		put_function(export, thread, track, SLICE_BEGIN, frame->function, frame->inferred);
}

static void perfetto_leave(void *context, struct analysis_thread *thread,
			   const struct analysis_end *end)
{
	const struct analysis_frame *frame = &thread->frame[thread->depth - 1];
	struct export *export = context;
	struct track *track = get_track(export, thread);
	const struct counters *counters = analysis_counters(export->analysis);
	const uint64_t known = export_known(export, thread);
	struct event event;
	unsigned int c;

	if (!frame->user)
		return;
	begin_event(&event, thread->thread, SLICE_END);
	name_notes(export, &event, track);
	for (c = 0; c < counters->count; c++)
		if (known >> c & 1)
			add_number(&event, NOTE_COUNTER + c, c < counters->times ?
				   nanoseconds(export, end->count[c]) : end->count[c]);
	if (counters->times && analysis_doubts_oncpu(export->analysis))
		add_text(&event, NOTE_CPU_TIMES, "inferred");
	if (export_partial(export, thread))
		add_text(&event, NOTE_COUNTS, "partial");
	if (end->inferred)
		add_text(&event, NOTE_TIME, "inferred");
	if (frame->doubts & ANALYSIS_WAIT_UNKNOWN)
		add_text(&event, NOTE_WAITED, "unknown");
	else if (frame->waited)
		add_number(&event, NOTE_WAITED, nanoseconds(export, frame->waited));
	if (end->why != ANALYSIS_EXIT)
		add_text(&event, NOTE_END, "no exit record");
	else if (!end->timed)
		add_text(&event, NOTE_END, "later, at an unknown time");
	end_event(export, &event, track, thread->now);
}

static void perfetto_point(void *context, struct analysis_thread *thread,
			   const struct analysis_step *step)
{
	struct export *export = context;
	struct track *track = get_track(export, thread);

	if (track && thread->timed)
		put_function(export, thread, track, INSTANT, step->function, thread->inferred);
}

/* ---- times on and off the CPU ------------------------------------------- */

/* Begin a separate track, because its times need not be nested in the thread's calls. */
static void begin_track(struct export *export, const struct thread *thread, uint32_t sequence,
			uint64_t uuid, const char *what)
{
	Perfetto__TracePacket packet = packets_new(sequence);
	Perfetto__TrackDescriptor descriptor = PERFETTO__TRACK_DESCRIPTOR__INIT;
	char name[LABEL_SIZE];

	packet.sequence_flags = PACKETS_CLEARED;
	put_packet(export, &packet);
	put_process(export, thread, sequence);
	snprintf(name, sizeof(name), "%s %s", thread->label, what);
	text_clean(name);
	descriptor.uuid = uuid;
	descriptor.has_parent_uuid = true;
	descriptor.parent_uuid = TRACK_PROCESS + (uint32_t)tracks_pid(thread);
	descriptor.name = name;
	put_descriptor(export, sequence, &descriptor);
}

static void put_edge(struct export *export, const struct thread *thread, int type,
		     const char *name, uint64_t time)
{
	Perfetto__TracePacket packet = packets_new(SEQUENCE_CPU + thread->id);
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
	Perfetto__Annotation note = PERFETTO__ANNOTATION__INIT, *notes = &note;

	event.has_type = true;
	event.type = type;
	event.has_track_uuid = true;
	event.track_uuid = TRACK_CPU + thread->id;
	event.name = (char *)name;
	note.name = "time";
	note.string_value = "inferred";
	event.annotation = &notes;
	event.n_annotation = name && analysis_doubts_oncpu(export->analysis);
	packet.track_event = &event;
	packet.has_timestamp = true;
	packet.timestamp = export_time(export, time);
	put_packet(export, &packet);
}

static void perfetto_span(void *context, struct thread *thread, enum oncpu_state state,
			  uint64_t from, uint64_t to)
{
	struct export *export = context;
	struct perfetto *perfetto = export->private;
	struct track *track = tracks_get(&perfetto->tracks, thread->id);

	if (!track)
		return;
	if (!track->on_cpu)
		begin_track(export, thread, SEQUENCE_CPU + thread->id, TRACK_CPU + thread->id,
			    "on/off CPU");
	track->on_cpu = true;
	put_edge(export, thread, SLICE_BEGIN, oncpu_name(state), from);
	put_edge(export, thread, SLICE_END, NULL, to);
}

/* ---- records among calls ------------------------------------------------ */

/* Write an event to the thread's sequence of records, in which names are not interned. */
static void put_recorded(struct export *export, const struct thread *thread,
			 Perfetto__TrackEvent *event, uint64_t time)
{
	Perfetto__TracePacket packet = packets_new(SEQUENCE_RECORDS + thread->id);

	event->has_type = true;
	event->has_track_uuid = true;
	packet.track_event = event;
	packet.has_timestamp = true;
	packet.timestamp = export_time(export, time);
	put_packet(export, &packet);
}

static Perfetto__Annotation *add_named(struct event *event, const char *name)
{
	Perfetto__Annotation *note = add_note(event, 0);

	note->has_name_iid = false;
	note->name = (char *)name;
	return note;
}

/* Write a record, with the counts since the previous record. */
static void put_point(struct export *export, const struct thread *thread,
		      const struct analysis_point *point)
{
	const struct counters *counters = analysis_recorded(export->analysis);
	const struct perfrec_stamp *stamp = &point->record->begin;
	const char *note = export_point_note(point);
	uint64_t counted = point->counted;
	Perfetto__Annotation *count;
	struct event event;

	begin_event(&event, thread, INSTANT);
	export_point_name(export, point, event.text);
	text_clean(event.text);
	event.event.name = event.text;
	event.event.track_uuid = TRACK_RECORDS + thread->id;
	for (; counted; counted &= counted - 1) {
		unsigned int c = (unsigned int)__builtin_ctzll(counted);

		count = add_named(&event, counters->name[c]);
		count->has_uint_value = true;
		count->uint_value = point->delta[c];
	}
	if (stamp->time_known == TIME_INFERRED)
		add_named(&event, "time")->string_value = (char *)"inferred";
	if (note)
		add_named(&event, "note")->string_value = (char *)note;
	put_recorded(export, thread, &event.event, stamp->time);
}

static void begin_records(struct export *export, const struct thread *thread, struct track *track)
{
	const struct counters *counters = analysis_recorded(export->analysis);
	const uint32_t sequence = SEQUENCE_RECORDS + thread->id;
	char label[LABEL_SIZE];

	if (!track->records)
		begin_track(export, thread, sequence, TRACK_RECORDS + thread->id, "records");
	track->records = true;
	snprintf(label, sizeof(label), "%s records", thread->label);
	for (; track->counted < counters->count; track->counted++)
		put_counter(export, sequence, counter_uuid(TRACK_COUNTED, thread, track->counted),
			    TRACK_RECORDS + thread->id, UNIT_COUNT,
			    counters->name[track->counted], label);
}

static void perfetto_recorded(void *context, struct analysis_thread *thread,
			      const struct analysis_point *point)
{
	const struct perfrec_stamp *stamp = &point->record->begin;
	struct export *export = context;
	struct perfetto *perfetto = export->private;
	struct track *track = tracks_get(&perfetto->tracks, thread->thread->id);
	uint64_t counted = point->counted;

	if (!track)
		return;
	if (!stamp->time_known) {
		export->untimed++;
		return;
	}
	begin_records(export, thread->thread, track);
	put_point(export, thread->thread, point);
	for (; counted; counted &= counted - 1) {
		const unsigned int c = (unsigned int)__builtin_ctzll(counted);
		Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;

		if (!point->delta[c])
			continue;
		event.type = COUNTER;
		event.track_uuid = counter_uuid(TRACK_COUNTED, thread->thread, c);
		event.has_counter_value = true;
		event.counter_value = protobuf_number(point->delta[c]);
		put_recorded(export, thread->thread, &event, stamp->time);
	}
}

/* ---- the trace ---------------------------------------------------------- */

static int perfetto_begin(struct export *export)
{
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));

	if (!perfetto) {
		report("out of memory");
		return -1;
	}
	perfetto->tracks.size = sizeof(struct track);
	if (input_is_utc(&export->input))
		packets_separate(&perfetto->packets, &export->input.meta);
	export->private = perfetto;
	return 0;
}

/* Write an instant on a track that belongs to no thread. */
static void put_whole(struct export *export, uint64_t uuid, const char *track, const char *text,
		      uint64_t time)
{
	Perfetto__TracePacket packet = packets_new(WHOLE);
	Perfetto__TrackDescriptor descriptor = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;

	packet.sequence_flags = PACKETS_CLEARED;
	put_packet(export, &packet);
	descriptor.uuid = uuid;
	descriptor.name = (char *)track;
	put_descriptor(export, WHOLE, &descriptor);
	packet = packets_new(WHOLE);
	event.has_type = true;
	event.type = INSTANT;
	event.has_track_uuid = true;
	event.track_uuid = uuid;
	event.name = (char *)text;
	packet.track_event = &event;
	packet.has_timestamp = true;
	packet.timestamp = export_time(export, time);
	put_packet(export, &packet);
}

/*
 * Write the trace's coverage as an instant event at the end of the trace or, if the
 * beginning of the run is missing, at the beginning of the trace. Write the accuracy of wall-clock
 * times at the beginning.
 */
static void put_notes(struct export *export)
{
	const struct trace_stats *stats = trace_stats(export->input.trace);
	const bool last = coverage_of(&export->input) == COVERAGE_LAST;
	char coverage[COVERAGE_SIZE], text[COVERAGE_SIZE + 16], accuracy[UTC_TEXT];

	if (*coverage_text(&export->input, coverage)) {
		snprintf(text, sizeof(text), "trace %s", coverage);
		put_whole(export, TRACK_COVERAGE, "coverage", text,
			  last ? stats->first : stats->last);
	}
	if (input_is_utc(&export->input) && stats->timed) {
		utc_text(&export->input.utc, accuracy);
		put_whole(export, TRACK_CLOCK, "clock", accuracy, stats->first);
	}
}

static int perfetto_end(struct export *export)
{
	struct perfetto *perfetto = export->private;

	put_notes(export);
	packets_flush(&perfetto->packets, export->out);
	return 0;
}

static void perfetto_free(struct export *export)
{
	struct perfetto *perfetto = export->private;

	if (perfetto)
		tracks_free(&perfetto->tracks);
	free(perfetto);
}

static const struct analysis_ops perfetto_ops = {
	.step = perfetto_step,
	.lost = perfetto_lost,
	.enter = perfetto_enter,
	.leave = perfetto_leave,
	.point = perfetto_point,
	.recorded = perfetto_recorded,
	.span = perfetto_span,
	.stop = export_stop,
};

const struct exporter export_perfetto = {
	.name = "perfetto",
	.help = "Perfetto's own format: the same as chrome, in a tenth of the size",
	.all_calls = true,
	.dated = true,
	.begin = perfetto_begin,
	.ops = &perfetto_ops,
	.end = perfetto_end,
	.free = perfetto_free,
};
