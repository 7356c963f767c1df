// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Handles points: manual records and records of instrumented functions, in a trace whose calls are
 * generated from instruction trace. A point contains the exact counts since the thread's previous
 * point. Several functions may have run in between, so these counts are not charged to any of them.
 */
#include <stdlib.h>

#include "calls.h"

/* Return the state of a thread's points, or NULL if out of memory, which the analysis records. */
static struct analysis_thread *points_of(struct analysis *analysis,
					 struct analysis_thread *thread)
{
	if (!thread->recorded) {
		thread->recorded = calloc(1, sizeof(*thread->recorded));
		analysis->no_memory |= !thread->recorded;
	}
	if (thread->recorded)
		thread->recorded->thread = thread->thread;
	return thread->recorded;
}

/* Samples are not points: they count everything on a hart, or are not in the order of the flow. */
bool points_wants(struct analysis *analysis, const struct perfrec_record *record)
{
	if (record->type == PERFREC_ISR)
		return false;
	if (!analysis->flows)
		points_record(analysis, record);
	else if (flows_record(analysis->flows, record))
		analysis->no_memory = true;
	return true;
}

bool points_start_flow(struct analysis *analysis, const struct nexus_message *message)
{
	if (!nexus_is_branch(message) &&
	    !(analysis->held && message->tcode == NEXUS_OWNERSHIP))
		return false;
	if (analysis->joins || analysis->held)
		return true;
	analysis->first = *message;
	analysis->held = true;
	/* Unless a flow begins, the message counts as a loss. */
	analysis->made.flow_losses = 1;
	return false;
}

static bool is_outside(const struct analysis *analysis, const struct perfrec_record *record)
{
	return analysis->limited && (!record->begin.time_known ||
				     record->begin.time < analysis->from ||
				     record->begin.time > analysis->to);
}

void points_record(void *context, const struct perfrec_record *record)
{
	struct analysis *analysis = context;
	struct analysis_thread *thread = analysis_thread_of(analysis, record);
	struct analysis_thread *own = thread ? points_of(analysis, thread) : NULL;
	struct analysis_point point = { .record = record, .delta = analysis->delta };
	struct stream *stream;

	if (!own)
		return;
	/* Without a header, the addresses and counters are unknown. */
	if (!record->header) {
		own->broken = true;
		return;
	}
	stream = counting_stream(analysis, &analysis->recorded, record);
	if (!stream)
		return;
	point.lost = counting_lost(analysis, stream, own, record) || own->broken;
	point.first = !own->had_record;
	point.moved = own->had_record && (own->elsewhere || own->src != record->src);
	point.counted = analysis_count(analysis, own, stream, record, point.lost);
	if (point.first)
		point.counted = 0;
	stream->thread = own;
	stream->part_serial = record->header->serial;
	own->had_record = true;
	own->elsewhere = false;
	own->src = record->src;
	own->offset = record->begin.offset;
	own->broken = !(record->flags & PERFREC_ADDRESS_KNOWN);
	if (own->broken) {
		analysis->stats.unaddressed++;
		return;
	}
	if (is_outside(analysis, record)) {
		own->had_record = false;
		return;
	}
	symbols_where(analysis->symbols, record);
	point.address = record->address[0];
	point.function = analysis_function_at(analysis, record->address[0]);
	if (analysis->wanted->recorded)
		analysis->wanted->recorded(analysis->context, thread, &point);
	else
		analysis->points++;
}

void points_ran(void *context, const struct perfrec_record *where, uint64_t function,
		uint64_t instructions)
{
	struct analysis *analysis = context;
	struct analysis_thread *thread = analysis_thread_of(analysis, where);

	if (!thread)
		return;
	if (thread->recorded && thread->recorded->src != where->src)
		thread->recorded->elsewhere = true;
	symbols_where(analysis->symbols, where);
	analysis->wanted->ran(analysis->context, thread,
			      analysis_function_at(analysis, function), instructions);
}

void points_missing(void *context, const struct perfrec_record *where)
{
	struct analysis *analysis = context;
	struct analysis_thread *thread = analysis_thread_of(analysis, where);

	if (thread)
		analysis->wanted->missing(analysis->context, thread);
}
