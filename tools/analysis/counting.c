// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Computes the counts between two of a thread's records: see calls.h. */
#include <stdlib.h>

#include "calls.h"

/* Return the column of the cycles that are always counted, or COUNTERS_NONE if there are none. */
static uint8_t cycles_of(const struct stream *stream, const struct perfrec_record *record)
{
	unsigned int i;

	for (i = 0; record->header && i < record->counters; i++)
		if (record->header->counter[i].type == PERFREC_EVENT_GENERAL &&
		    record->header->counter[i].code == SIFIVE_TRACE_EVENT_CYCLES)
			return stream->column[i];
	return COUNTERS_NONE;
}

/* Charge a stream's columns to its calls and manual records rather than to samples. */
static void charge(struct analysis *analysis, const struct stream *stream)
{
	uint64_t columns = stream->columns;
	unsigned int i;

	for (i = 0; analysis->turns && stream->counters && i < analysis->counters.count; i++)
		if (analysis->counters.turn[i])
			columns |= 1ull << i;
	columns &= ~analysis->charged;
	analysis->charged |= columns;
	if (columns && analysis->wanted->uncharge)
		analysis->wanted->uncharge(analysis->context, columns);
}

void counting_own(struct analysis *analysis, struct stream *stream)
{
	if (!stream->sampled)
		return;
	stream->sampled = false;
	charge(analysis, stream);
}

uint64_t counting_point(struct analysis *analysis, const struct analysis_thread *thread,
			struct stream *stream, const struct analysis_step *step)
{
	uint64_t counted = step->counted;

	if (step->record->type != PERFREC_ISR)
		counting_own(analysis, stream);
	if (thread->depth)
		return 0;
	/* Time outside calls does not belong to any function. */
	if (analysis->oncpu)
		counted &= ~((1ull << COUNTERS_TIMES) - 1);
	if (!stream->sampled || thread->frame)
		return counted;
	analysis->stats.aside += counted != 0;
	analysis->sampled |= counted;
	return counted & ~analysis->charged;
}

struct stream *counting_new_stream(struct analysis *analysis, struct counters *counters,
				   const struct perfrec_record *record)
{
	struct stream **slot = &analysis->stream[record->src][record->channel];
	struct stream *stream = *slot;
	unsigned int i;

	if (!stream)
		stream = *slot = calloc(1, sizeof(**slot));
	if (!stream) {
		analysis->no_memory = true;
		return NULL;
	}
	stream->header = record->header;
	stream->serial = record->header ? record->header->serial : 0;
	stream->counters = record->counters;
	stream->based = false;
	stream->resumed = stream->serial == 1 && meta_goes_on(analysis->meta, record->src,
							      record->channel);
	counters_assign(counters, record->header, record->counters,
			stream->column);
	stream->columns = 0;
	for (i = 0; i < stream->counters; i++)
		if (stream->column[i] != COUNTERS_NONE)
			stream->columns |= 1ull << stream->column[i];
	stream->cycles = cycles_of(stream, record);
	stream->sampled = record->type == PERFREC_ISR;
	if (!stream->sampled && counters == &analysis->counters)
		charge(analysis, stream);
	if (analysis->turns && stream->cycles != COUNTERS_NONE)
		turns_set_cycles(analysis->turns, stream->cycles);
	return stream;
}

void counting_restart(struct analysis *analysis)
{
	unsigned int src, channel;

	for (src = 0; src < PERFREC_SOURCES; src++)
		for (channel = 0; channel < PERFREC_CHANNELS; channel++)
			if (analysis->stream[src][channel])
				analysis->stream[src][channel]->serial = UINT32_MAX;
}

struct analysis_thread *counting_sampler(struct analysis *analysis, struct stream *stream,
					 const struct perfrec_record *record)
{
	struct thread *thread = threads_find(analysis->threads, record);

	if (!stream->sampler)
		stream->sampler = calloc(1, sizeof(*stream->sampler));
	if (!thread || !stream->sampler) {
		analysis->no_memory = true;
		return NULL;
	}
	stream->sampler->thread = thread;
	return stream->sampler;
}

/*
 * Exclude a count if the sum of all large counts would exceed 63 bits. Smaller counts are not
 * passed to this function: no trace is long enough for their sum to matter.
 */
static void limit_sum(struct analysis *analysis, unsigned int column)
{
	uint64_t *delta = &analysis->delta[column], *sum = &analysis->large[column];

	if (*delta <= INT64_MAX - *sum) {
		*sum += *delta;
		return;
	}
	*delta = 0;
	analysis->beyond |= 1ull << column;
	analysis->backwards |= 1ull << column;
}

void counting_backwards(struct analysis *analysis, const struct stream *stream,
			const struct perfrec_record *record, uint64_t known)
{
	unsigned int i, column;

	for (i = 0; i < record->counters; i++) {
		column = stream->column[i];
		if (column == COUNTERS_NONE || !(known >> column & 1))
			continue;
		if (!counters_backwards(record, i, analysis->delta[column])) {
			limit_sum(analysis, column);
			continue;
		}
		/* Sign-extend the negative difference, so that adding it decreases a sum. */
		analysis->delta[column] |= ~counters_mask(record, i);
		analysis->backwards |= 1ull << column;
	}
}

uint64_t counting_forwards(struct analysis *analysis, struct analysis_thread *thread,
			   const struct perfrec_record *record, uint64_t known)
{
	const uint64_t beyond = analysis->beyond & known;
	const uint64_t backwards = analysis->backwards & known & ~beyond;

	analysis->backwards = 0;
	analysis->beyond = 0;
	analysis->stats.beyond += (unsigned int)__builtin_popcountll(beyond);
	known &= ~beyond;
	if (!backwards)
		return known;
	analysis->went_back = true;
	analysis->stats.backwards += (unsigned int)__builtin_popcountll(backwards);
	/* A thread's own counts do not depend on the hart, so its records are out of order. */
	if (analysis->meta->per_thread && thread->src != record->src)
		calls_doubt(thread);
	return known & ~backwards;
}

uint64_t counting_turns(struct analysis *analysis, struct analysis_thread *thread,
			struct stream *stream, const struct perfrec_record *record,
			uint64_t known)
{
	struct turns_last **last = analysis->meta->per_thread ? &thread->turns : &stream->turns;
	const bool whole = stream->cycles != COUNTERS_NONE && known >> stream->cycles & 1;

	if (!record->header)
		return 0;
	if (!*last)
		*last = calloc(1, sizeof(**last));
	if (!*last) {
		analysis->no_memory = true;
		return 0;
	}
	return turns_count(analysis->turns, *last, record, whole,
			   whole ? analysis->delta[stream->cycles] : 0,
			   !analysis->limited || thread->place == ANALYSIS_INSIDE, analysis->delta);
}

/* Return whether context switches show where the thread was since its latest record. */
static bool is_covered(struct analysis *analysis, const struct analysis_thread *thread,
		       const struct perfrec_record *record)
{
	return analysis->oncpu && thread->timed && record->begin.time_known &&
	       oncpu_covers(analysis->oncpu, thread->thread, thread->now, record->begin.time);
}

void counting_gap(struct analysis *analysis, int src, uint64_t offset)
{
	unsigned int i;

	for (i = 0; i < PERFREC_SOURCES; i++)
		if (src < 0 || i == (unsigned int)src)
			losses_note(&analysis->losses[i], offset);
	losses_note(&analysis->losses[PERFREC_SOURCES], offset);
}

bool counting_lost_between(const struct analysis *analysis, const struct stream *stream,
			   const struct analysis_thread *thread,
			   const struct perfrec_record *record)
{
	const struct losses *losses = &analysis->losses[PERFREC_SOURCES];

	if (!thread->had_record || !record->header)
		return false;
	/* A channel's only thread may have moved to the source of a dropped record and back. */
	if ((thread->src != record->src ||
	     (thread->thread->src < 0 && !threads_shared(analysis->threads, record->channel))) &&
	    losses_between(&analysis->dropped[record->channel], thread->offset,
			   record->begin.offset))
		return true;
	if (thread->src == record->src) {
		if (stream->thread == thread && stream->part_serial == record->header->serial)
			return false;
		losses = &analysis->losses[record->src];
	}
	return losses_between(losses, thread->offset, record->begin.offset);
}

bool counting_elsewhere(struct analysis *analysis, const struct analysis_thread *thread,
			const struct perfrec_record *record)
{
	return thread->had_record && record->header && thread->thread->src < 0 &&
	       losses_between(&analysis->losses[PERFREC_SOURCES], thread->offset,
			      record->begin.offset) &&
	       !is_covered(analysis, thread, record);
}
