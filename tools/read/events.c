// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Turns the callbacks of an analysis into events. */
#include <assert.h>
#include <string.h>

#include "reader.h"

/* The public interface uses the same values. */
static_assert((int)SIFIVE_RECORD_ENTER == PERFREC_ENTER &&
	      (int)SIFIVE_RECORD_EXIT == PERFREC_EXIT &&
	      (int)SIFIVE_RECORD_MANUAL == PERFREC_MANUAL &&
	      (int)SIFIVE_RECORD_SAMPLE == PERFREC_ISR, "SIFIVE_RECORD_* equal PERFREC_*");
static_assert((int)SIFIVE_CALL_EXIT == ANALYSIS_EXIT &&
	      (int)SIFIVE_CALL_UNWOUND == ANALYSIS_UNWOUND &&
	      (int)SIFIVE_CALL_CUT == ANALYSIS_CUT, "SIFIVE_CALL_* equal ANALYSIS_*");
static_assert((int)SIFIVE_SPAN_UNKNOWN == ONCPU_UNKNOWN &&
	      (int)SIFIVE_SPAN_RUNS == ONCPU_RUNS &&
	      (int)SIFIVE_SPAN_PREEMPTED == ONCPU_PREEMPTED &&
	      (int)SIFIVE_SPAN_SLEEPS == ONCPU_SLEEPS &&
	      (int)SIFIVE_SPAN_UNINTERRUPTIBLE == ONCPU_UNINTERRUPTIBLE &&
	      (int)SIFIVE_SPAN_STOPPED == ONCPU_STOPPED &&
	      (int)SIFIVE_SPAN_WAITS == ONCPU_WAITS &&
	      (int)SIFIVE_SPAN_WOKEN == ONCPU_WOKEN &&
	      (int)SIFIVE_SPAN_SEVERAL == ONCPU_MERGED, "SIFIVE_SPAN_* equal ONCPU_*");

static bool is_wanted(const struct sifive_reader *reader, enum sifive_event_kind kind)
{
	return reader->wanted & kind;
}

/* Return the next free slot. Can block until the caller has taken earlier events. */
static struct reader_slot *begin(struct sifive_reader *reader, enum sifive_event_kind kind)
{
	struct reader_slot *slot;

	if (reader->filled == READER_EVENTS)
		reader_hand_over(reader);
	slot = &reader->slot[reader->filled++];
	memset(&slot->event, 0, sizeof(slot->event));
	slot->event.kind = kind;
	slot->event.function = SIFIVE_NO_FUNCTION;
	slot->event.caller = SIFIVE_NO_FUNCTION;
	return slot;
}

static void set_time(struct sifive_event *event, uint64_t time, bool inferred)
{
	event->time = time;
	event->flags |= SIFIVE_TIMED | (inferred ? SIFIVE_INFERRED : 0);
}

/* Copy the counts, and return their number. */
static unsigned int copy_counts(const struct counters *counters, uint64_t *count,
				const uint64_t *from)
{
	memcpy(count, from, counters->count * sizeof(*count));
	return counters->count;
}

static void set_record(struct sifive_event *event, const struct perfrec_record *record)
{
	event->address = record->address[0];
	event->caller_address = record->addresses == 2 ? record->address[1] : 0;
	event->type = record->type;
	event->source = record->src;
	event->channel = record->channel;
	event->offset = record->begin.offset;
}

static void on_step(void *context, struct analysis_thread *thread,
		    const struct analysis_step *step)
{
	const struct perfrec_record *record = step->record;
	struct sifive_reader *reader = context;
	struct sifive_event *event;
	struct reader_slot *slot;

	if (!is_wanted(reader, SIFIVE_EVENT_RECORD))
		return;
	slot = begin(reader, SIFIVE_EVENT_RECORD);
	event = &slot->event;
	if (record->address_end.time_known)
		set_time(event, record->address_end.time,
			 record->address_end.time_known == TIME_INFERRED);
	set_record(event, record);
	event->counters = copy_counts(analysis_counters(reader->analysis), slot->count,
				      step->delta);
	event->count = slot->count;
	event->counted = step->counted;
	event->thread = thread->thread->id;
	event->function = step->function;
	event->depth = thread->depth;
	if (perfrec_callers(record)) {
		memcpy(slot->callers, step->caller, step->callers * sizeof(slot->callers[0]));
		event->callers = slot->callers;
		event->caller_count = step->callers;
	}
}

static void on_recorded(void *context, struct analysis_thread *thread,
			const struct analysis_point *point)
{
	const struct perfrec_record *record = point->record;
	struct sifive_reader *reader = context;
	struct reader_slot *slot = begin(reader, SIFIVE_EVENT_POINT);
	struct sifive_event *event = &slot->event;

	if (record->begin.time_known)
		set_time(event, record->begin.time, record->begin.time_known == TIME_INFERRED);
	set_record(event, record);
	event->counters = copy_counts(analysis_recorded(reader->analysis), slot->count,
				      point->delta);
	event->count = slot->count;
	event->counted = point->counted;
	event->thread = thread->thread->id;
	event->function = point->function;
	if (thread->depth)
		event->caller = thread->frame[thread->depth - 1].function;
	event->depth = thread->depth;
	event->flags |= (point->first ? SIFIVE_FIRST : 0) |
			(point->lost ? SIFIVE_AFTER_LOSS : 0) |
			(point->moved ? SIFIVE_MOVED : 0);
}

static void on_leave(void *context, struct analysis_thread *thread,
		     const struct analysis_end *end)
{
	const struct analysis_frame *frame = &thread->frame[thread->depth - 1];
	struct sifive_reader *reader = context;
	const struct counters *counters = analysis_counters(reader->analysis);
	struct sifive_event *event;
	struct reader_slot *slot;

	if (!is_wanted(reader, SIFIVE_EVENT_CALL))
		return;
	slot = begin(reader, SIFIVE_EVENT_CALL);
	event = &slot->event;
	if (end->timed) {
		set_time(event, analysis_begin(frame), end->inferred);
		event->length = end->total;
		event->self = end->self;
		event->waited = frame->waited;
		if (analysis_unsure(frame, end))
			event->flags |= SIFIVE_SELF_INFERRED;
	}
	if (frame->outermost)
		event->flags |= SIFIVE_OUTERMOST;
	event->counters = copy_counts(counters, slot->count, end->count);
	copy_counts(counters, slot->count_self, end->count_self);
	event->count = slot->count;
	event->count_self = slot->count_self;
	event->counted = UINT64_MAX;
	event->thread = thread->thread->id;
	event->function = frame->function;
	if (thread->depth > 1)
		event->caller = frame[-1].function;
	event->depth = thread->depth - 1;
	event->type = end->why;
}

static void on_span(void *context, struct thread *thread, enum oncpu_state state,
		    uint64_t from, uint64_t to)
{
	struct sifive_reader *reader = context;
	struct sifive_event *event;

	if (!is_wanted(reader, SIFIVE_EVENT_SPAN))
		return;
	event = &begin(reader, SIFIVE_EVENT_SPAN)->event;
	set_time(event, from, analysis_doubts_oncpu(reader->analysis));
	event->length = to - from;
	event->thread = thread->id;
	event->type = state;
}

static void on_lost(void *context, struct analysis_thread *thread)
{
	struct sifive_reader *reader = context;
	struct sifive_event *event;

	if (!is_wanted(reader, SIFIVE_EVENT_LOST))
		return;
	event = &begin(reader, SIFIVE_EVENT_LOST)->event;
	if (thread->timed)
		set_time(event, thread->now, thread->inferred);
	event->thread = thread->thread->id;
	event->offset = thread->offset;
}

static void on_pause(void *context)
{
	struct sifive_reader *reader = context;

	if (is_wanted(reader, SIFIVE_EVENT_IDLE))
		begin(reader, SIFIVE_EVENT_IDLE);
	if (reader->filled)
		reader_hand_over(reader);
}

static bool on_stop(void *context)
{
	const struct sifive_reader *reader = context;

	return reader->cancelled;
}

void reader_set_ops(struct sifive_reader *reader)
{
	reader->ops = (struct analysis_ops){
		.lost = on_lost,
		.step = on_step,
		.leave = on_leave,
		/* Without this callback, a message reports that points are left out. */
		.recorded = is_wanted(reader, SIFIVE_EVENT_POINT) ? on_recorded : NULL,
		.span = on_span,
		.pause = on_pause,
		.stop = on_stop,
	};
}
