// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Decodes an open trace: see trace.h. */
#include <stdlib.h>

#include "command.h"
#include "messages.h"
#include "progress.h"
#include "records.h"
#include "resume.h"
#include "stages.h"
#include "state.h"

/*
 * Called when no more data has arrived in a pipe: pass on the data that waits for corrections.
 * Return 0, or -1 after printing an error.
 */
static int catch_up(struct trace *trace)
{
	if (messages_deliver(trace, trace->clocks.stores))
		return -1;
	if (trace->ops->pause)
		trace->ops->pause(trace->context);
	return 0;
}

/* Return whether the consumer has stopped. */
static bool stops(struct trace *trace)
{
	if (trace->stages)
		return stages_poll(trace->stages);
	return trace->ops->stop && trace->ops->stop(trace->context);
}

/* Decode all bytes. Return 0, or -1 after printing an error. */
static int run(struct trace *trace)
{
	while (trace->in.filled) {
		nexus_feed(&trace->nexus, trace->in.buffer, trace->in.filled);
		if (messages_drain(trace) || (trace->in.paused && catch_up(trace)))
			return -1;
		progress_show(trace->progress, trace->stats.bytes);
		if (stops(trace))
			return 0;
		if (trace_fill(trace))
			return -1;
	}
	nexus_end(&trace->nexus);
	if (messages_drain(trace))
		return -1;
	if (trace->nexus.ts_scheme == NEXUS_TS_XOR)
		clocks_end(&trace->clocks);
	if (messages_deliver(trace, trace->clocks.stores))
		return -1;
	trace->stats.disorders = trace->clocks.disorders;
	trace->stats.stamped = trace->nexus.stamps != NEXUS_STAMPS_NONE;
	if (trace->stages)
		return stages_end(trace->stages);
	perfrec_flush(trace->perfrec);
	return 0;
}

int trace_run(struct trace *trace, const struct trace_ops *ops, void *context)
{
	int error;

	trace->ops = ops;
	trace->context = context;
	records_begin(trace);
	if (resume_streams(trace->perfrec, trace->meta, trace->channels)) {
		report("%s: out of memory", trace->in.path);
		return -1;
	}
	if (trace->skipped)
		records_gap(trace, &(struct nexus_message){
			.length = trace->skipped, .gap = NEXUS_GAP_MALFORMED,
		});
	/* Do not hold back data from a pipe until more arrives. */
	if (trace->jobs > 1 && !trace->in.live)
		trace->stages = stages_new(trace, trace->jobs);
	error = run(trace);
	stages_stop(trace->stages);
	trace->stats.callers -= trace->no_room;
	trace->stats.no_callers += trace->no_room;
	progress_end(trace->progress);
	trace->progress = NULL;
	return error;
}

int trace_span(struct trace *trace, struct range_span *span)
{
	static const struct trace_ops nothing;
	int error;

	*span = (struct range_span){ .timed = false };
	trace->ops = &nothing;
	trace->span = span;
	error = run(trace);
	progress_end(trace->progress);
	trace->progress = NULL;
	return error;
}

void trace_unwind(struct trace *trace,
		  unsigned int (*unwind)(void *context, const struct perfrec_stack *stack,
					 uint64_t address[SIFIVE_TRACE_CALLERS_MAX]),
		  void *context)
{
	trace->unwind = unwind;
	trace->unwinder = context;
}

void trace_settle(const struct trace *trace, uint32_t owner, unsigned int channel,
		  const struct perfrec_stamp *before)
{
	perfrec_settle_thread(trace->perfrec, owner, channel, before);
}

void trace_add(struct trace *trace, const struct trace_stats *stats)
{
	struct trace_stats *to = &trace->stats;
	unsigned int i;

	for (i = 0; i < PERFREC_TYPES; i++)
		to->records[i] += stats->records[i];
	if (stats->timed && (!to->timed || stats->first < to->first))
		to->first = stats->first;
	if (stats->timed && (!to->timed || stats->last > to->last))
		to->last = stats->last;
	to->timed += stats->timed;
	to->inferred += stats->inferred;
	to->flow_losses += stats->flow_losses;
	to->backwards += stats->backwards;
	to->left_out += stats->left_out;
}

void trace_release(struct trace *trace)
{
	perfrec_free(trace->perfrec);
	trace->perfrec = NULL;
	callers_free(&trace->callers);
	trace->callers = (struct callers){ 0 };
	stages_free(trace->stages);
	trace->stages = NULL;
}

unsigned int trace_sources(const struct trace *trace, unsigned int channel)
{
	return trace->stages ? stages_sources(trace->stages, channel) :
			       trace->sources[channel];
}

bool trace_wrapped(const struct trace *trace)
{
	return trace->wrapped;
}

uint32_t trace_channels(const struct trace *trace)
{
	return trace->channels;
}

uint64_t trace_time_mask(const struct trace *trace)
{
	return trace->nexus.ts_mask;
}

const struct trace_stats *trace_stats(const struct trace *trace)
{
	return &trace->stats;
}

void trace_close(struct trace *trace)
{
	if (!trace)
		return;
	progress_end(trace->progress);
	trace_release(trace);
	source_close(&trace->in);
	free(trace);
}
