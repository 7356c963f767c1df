// SPDX-License-Identifier: Apache-2.0 OR MIT
/* What counters counted between two records of a thread: see calls.h. */
#include <stdlib.h>

#include "calls.h"

/* The column of the cycles that are always counted, COUNTERS_NONE if there are none. */
static uint8_t cycles_of(const struct stream *stream, const struct perfrec_record *record)
{
	unsigned int i;

	for (i = 0; record->header && i < record->counters; i++)
		if (record->header->counter[i].type == PERFREC_EVENT_GENERAL &&
		    record->header->counter[i].code == SIFIVE_TRACE_EVENT_CYCLES)
			return stream->column[i];
	return COUNTERS_NONE;
}

struct stream *counting_stream(struct analysis *analysis, struct counters *counters,
			       const struct perfrec_record *record)
{
	struct stream **slot = &analysis->stream[record->src][record->channel];
	struct stream *stream = *slot;
	uint32_t serial = record->header ? record->header->serial : 0;

	if (stream && stream->header == record->header &&
	    stream->serial == serial && stream->counters == record->counters)
		return stream;
	if (!stream)
		*slot = calloc(1, sizeof(**slot));
	stream = *slot;
	if (!stream) {
		analysis->no_memory = true;
		return NULL;
	}
	stream->header = record->header;
	stream->serial = serial;
	stream->counters = record->counters;
	stream->based = false;
	stream->resumed = serial == 1 && meta_goes_on(analysis->meta, record->src,
						      record->channel);
	counters_assign(counters, record->header, record->counters,
			stream->column);
	stream->cycles = cycles_of(stream, record);
	if (analysis->turns && stream->cycles != COUNTERS_NONE)
		turns_set_cycles(analysis->turns, stream->cycles);
	return stream;
}

/*
 * Counter @i of a thread with its own counts: the difference from the thread's
 * latest record on any hart. Returns whether the result is known.
 */
static bool thread_delta(struct analysis_thread *thread, struct stream *stream,
			 const struct perfrec_record *record, unsigned int i,
			 bool lost, uint64_t *delta)
{
	unsigned int column = stream->column[i];
	uint64_t value = record->value[i];
	bool known = thread->last_known[column];

	if (!(record->flags & PERFREC_VALUE_KNOWN)) {
		thread->last_known[column] = false;
		*delta = record->delta[i];
		return record->flags & PERFREC_DELTA_KNOWN &&
		       thread->had_record && thread->src == record->src;
	}
	if (record->header->count_type == PERFREC_DELTA) {
		/*
		 * The header contains the counts of the thread's latest record, on whichever hart
		 * it was written. If these are unknown, a new chain begins, whose sums are not
		 * comparable with earlier chains'.
		 */
		if (!stream->based) {
			known = known && !lost && !stream->resumed;
			if (!known)
				thread->chain[column] = ++thread->chains;
			stream->base[i] = known ? thread->last[column] : 0;
			stream->chain[i] = thread->chain[column];
		}
		value += stream->base[i];
		known = (known || !stream->based) && stream->chain[i] == thread->chain[column];
		thread->chain[column] = stream->chain[i];
	}
	*delta = (value - thread->last[column]) & counters_mask(record, i);
	if (record->header->count_type == PERFREC_DELTA &&
	    !thread->last_known[column])
		*delta = record->delta[i];
	thread->last[column] = value;
	thread->last_known[column] = true;
	return known;
}

uint64_t counting_count(struct analysis *analysis, struct analysis_thread *thread,
			struct stream *stream, const struct perfrec_record *record, bool lost)
{
	bool here = !thread->had_record || thread->src == record->src;
	bool resumed = stream->resumed && !stream->based;
	uint64_t known = 0;
	unsigned int i;

	if (!record->header)
		return 0;
	if (!analysis->meta->per_thread) {
		if (__builtin_expect(record->header->goes_on, false)) {
			here &= stream->based;
			stream->based = true;
		}
		/*
		 * Whether the counts include other threads' use of the hart while the thread was
		 * elsewhere.
		 */
		if (!here || lost || !(record->flags & PERFREC_DELTA_KNOWN))
			return 0;
		for (i = 0; i < record->counters; i++) {
			if (stream->column[i] == COUNTERS_NONE)
				continue;
			analysis->delta[stream->column[i]] = record->delta[i];
			known |= 1ull << stream->column[i];
		}
		return known;
	}
	for (i = 0; i < record->counters; i++) {
		uint64_t delta;

		if (stream->column[i] == COUNTERS_NONE ||
		    !thread_delta(thread, stream, record, i, lost, &delta))
			continue;
		analysis->delta[stream->column[i]] = delta;
		known |= 1ull << stream->column[i];
	}
	stream->based = record->flags & PERFREC_VALUE_KNOWN;
	/* The lost records may include the function that ran before. */
	return lost || resumed ? 0 : known;
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
			   whole ? analysis->delta[stream->cycles] : 0, analysis->delta);
}

bool counting_lost(const struct analysis *analysis, const struct stream *stream,
		   const struct analysis_thread *thread, const struct perfrec_record *record)
{
	const struct losses *losses = &analysis->losses[PERFREC_SOURCES];

	if (record->flags & PERFREC_AFTER_LOSS)
		return true;
	if (losses->latest <= thread->offset || !thread->had_record || !record->header)
		return false;
	if (thread->src == record->src) {
		if (stream->thread == thread && stream->part_serial == record->header->serial)
			return false;
		losses = &analysis->losses[record->src];
	}
	return losses_between(losses, thread->offset, record->begin.offset);
}
