// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Decodes a trace's bytes into messages with times: see messages.h. */
#include <string.h>

#include "command.h"
#include "messages.h"
#include "records.h"
#include "stages.h"
#include "state.h"

/* Number of stores decoded per call. */
#define STORES	64

/* Maximum number of damaged places in which to search for timestamps. */
#define RECOVERIES	4096

int messages_deliver(struct trace *trace, size_t count)
{
	struct clocks *clocks = &trace->clocks;
	const struct records_batch batch = {
		.store = clocks->store, .stores = count,
		.event = clocks->event, .events = clocks->events,
	};
	unsigned int done;
	int error = 0;

	clocks_unwrap(clocks, &trace->nexus);
	if (trace->stages) {
		error = stages_push(trace->stages, clocks, count);
	} else {
		if (trace->span)
			records_span(trace, &batch, &done);
		else
			error = records_push(trace, &batch, &done);
		clocks_shift(clocks, count, done);
		memmove(clocks->store, clocks->store + count,
			clocks->stores * sizeof(clocks->store[0]));
	}
	if (error)
		report("%s: out of memory", trace->in.path);
	return error ? -1 : 0;
}

/* Queue a gap, or a message other than a store. Return 0, or -1 after printing an error. */
static int queue_event(struct trace *trace, enum nexus_item item,
		       const struct nexus_message *message)
{
	struct clocks *clocks = &trace->clocks;

	if (clocks->events == CLOCKS_EVENTS && messages_deliver(trace, clocks->stores))
		return -1;
	clocks->event[clocks->events++] = (struct clocks_event){
		.at = clocks->stores, .item = item, .message = *message,
	};
	return 0;
}

/*
 * Search damaged bytes for timestamps, and skip bytes after the damage that belong to a damaged
 * message. Return whether a flipped bit explains the damage.
 */
static bool recover(struct trace *trace, struct nexus_message *damaged)
{
	const struct clocks *clocks = &trace->clocks;
	struct nexus *nexus = &trace->nexus;
	uint64_t behind = nexus->offset - damaged->offset;
	uint64_t words[PERFREC_CHANNELS];
	int skip;
	size_t i;

	if (nexus->end || behind > (uint64_t)(nexus->in - trace->in.memory) ||
	    damaged->length > behind || trace->recoveries++ > RECOVERIES)
		return false;
	if (trace->stages)
		stages_catch_up(trace->stages);
	memcpy(words, trace->stats.words, sizeof(words));
	for (i = 0; i < clocks->stores; i++)
		words[clocks->store[i].channel]++;
	skip = clocks_recover(nexus, nexus->in - behind, (size_t)damaged->length,
			      words);
	if (skip < 0)
		return false;
	damaged->length += (uint64_t)skip;
	nexus_skip(nexus, (size_t)skip);
	return true;
}

/* Handle damaged bytes. Return whether a flipped bit explains the damage. */
static bool damage(struct trace *trace, int src, struct nexus_message *damaged)
{
	clocks_break(&trace->clocks, &trace->nexus, src, damaged->offset);
	return recover(trace, damaged);
}

/*
 * Handle a message with an unknown type. If the type differs in one bit from a store's type, and a
 * flipped bit explains the damage, convert the message to a gap.
 */
static bool was_store(struct trace *trace, struct nexus_message *message)
{
	const unsigned int changed = message->tcode ^ NEXUS_DATA_ACQUISITION;

	if (!damage(trace, message->src, message) || changed & (changed - 1))
		return false;
	message->gap = NEXUS_GAP_MALFORMED;
	return true;
}

/* Convert a store to a nonexistent channel to a gap. */
static void make_gap(struct trace *trace, struct nexus_message *message)
{
	struct nexus *nexus = &trace->nexus;
	unsigned int src;

	clocks_break(&trace->clocks, nexus, -1, message->offset);
	for (src = 0; src <= nexus->src_mask; src++)
		if (nexus->quality[src] == TIME_EXACT)
			nexus_set_time(nexus, src, nexus->now[src], TIME_INFERRED);
	message->gap = NEXUS_GAP_MALFORMED;
}

/*
 * Return whether damage explains a store's missing timestamp. If so, convert the message to a gap.
 */
static bool swallowed(struct trace *trace, struct nexus_message *message)
{
	clocks_break(&trace->clocks, &trace->nexus, message->src, message->offset);
	if (recover(trace, message)) {
		message->gap = NEXUS_GAP_MALFORMED;
		return true;
	}
	nexus_mix_stamps(&trace->nexus);
	return false;
}

/*
 * Handle a gap, or a message that nexus_stores() does not decode. Return 0, or -1 after printing an
 * error.
 */
static int on_item(struct trace *trace, enum nexus_item item,
		   struct nexus_message *message)
{
	struct clocks *clocks = &trace->clocks;
	struct store *store = &clocks->store[clocks->stores];
	const uint64_t since = clocks->absolute[message->src];

	if (item == NEXUS_GAP) {
		if (message->gap == NEXUS_GAP_ALIGN)
			trace_start_clocks(trace);
		else
			damage(trace, -1, message);
		return queue_event(trace, item, message);
	}
	if (nexus_is_absolute(message)) {
		if (head_check(&trace->head, &trace->nexus, message))
			trace->stats.corrected++;
		else
			clocks->absolute[message->src] = message->offset;
		trace->stats.absolute = true;
	}
	if (message->flags & NEXUS_CONTRARY && !clocks_slept(&trace->nexus, message)) {
		/* Any timestamp since the source's previous absolute time may be wrong. */
		if (trace->nexus.ts_scheme == NEXUS_TS_DELTA)
			clocks_doubt(clocks, message->src, since);
		else
			clocks_correct(clocks, &trace->nexus, message);
		trace->stats.corrected++;
	}
	if (message->flags & NEXUS_UNKNOWN_TCODE && was_store(trace, message))
		return queue_event(trace, NEXUS_GAP, message);
	if (message->tcode == NEXUS_ERROR)
		clocks_break(clocks, &trace->nexus, message->src, message->offset);
	else if (message->flags & NEXUS_STAMP_MISSING && swallowed(trace, message))
		return queue_event(trace, NEXUS_GAP, message);
	if (!nexus_store(message, store)) {
		if (message->tcode == NEXUS_DATA_ACQUISITION) {
			make_gap(trace, message);
			item = NEXUS_GAP;
		}
		return queue_event(trace, item, message);
	}
	clocks->stores++;
	return 0;
}

int messages_drain(struct trace *trace)
{
	struct clocks *clocks = &trace->clocks;
	struct nexus_message message;
	enum nexus_item item;
	size_t count;

	for (;;) {
		if (clocks->stores > CLOCKS_QUEUE - STORES &&
		    messages_deliver(trace, clocks->stores - CLOCKS_AHEAD))
			return -1;
		count = nexus_stores(&trace->nexus, clocks->store + clocks->stores,
				     STORES);
		clocks->stores += count;
		clocks_compare(clocks, &trace->nexus);
		if (count == STORES)
			continue;
		item = nexus_next(&trace->nexus, &message);
		if (item == NEXUS_MORE)
			return 0;
		if (clocks->stores > CLOCKS_QUEUE - STORES &&
		    messages_deliver(trace, clocks->stores - CLOCKS_AHEAD))
			return -1;
		if (on_item(trace, item, &message))
			return -1;
	}
}
