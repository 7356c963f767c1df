// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Handles sources, queues and gaps: see flow.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "flow.h"
#include "walk.h"

#define RCODE_ICNT		0
#define RCODE_HIST		1
#define RCODE_REPEAT		2
/* Version 0 only: the number of consecutive branches that were not taken, or that were taken. */
#define RCODE_NOT_TAKEN		8
#define RCODE_TAKEN		9

#define SYNC_ENABLE		5

#define TCODE_VENDOR		56
#define TCODE_VENDOR_LAST	62

/*
 * A source: its waiting messages, the checked part of its path, and the part that has been shown.
 * @starts: the latest message shown is the Sync message that starts the flow.
 * @named: an Ownership message has followed the latest SYNC_ENABLE message.
 */
struct source {
	struct walk		checked;
	struct walk		shown;
	bool			begun;
	bool			starts;
	bool			named;
	unsigned int		waiting;
	struct walk_message	queue[FLOW_QUEUE];
};

struct flow {
	struct code		*code;
	const struct flow_ops	*ops;
	void			*context;
	struct flow_stats	stats;
	struct source		*source[NEXUS_SOURCES];
};

static void count_event(void *context, const struct flow_place *place,
			const struct flow_event *event)
{
	struct flow *flow = context;

	if (event->what == FLOW_LOST)
		flow->stats.gaps[event->reason]++;
	if (flow->ops->event)
		flow->ops->event(flow->context, place, event);
}

struct flow *flow_new(struct code *code, const struct flow_ops *ops, void *context)
{
	struct flow *flow = calloc(1, sizeof(*flow));

	if (!flow)
		return NULL;
	flow->code = code;
	flow->ops = ops;
	flow->context = context;
	return flow;
}

void flow_free(struct flow *flow)
{
	unsigned int i;

	if (!flow)
		return;
	for (i = 0; i < NEXUS_SOURCES; i++)
		free(flow->source[i]);
	free(flow);
}

static void set_up_walk(struct flow *flow, struct walk *walk, unsigned int src)
{
	walk->code = flow->code;
	walk->show_run = flow->ops->run;
	walk->consumer = flow->context;
	walk->show_event = count_event;
	walk->flow = flow;
	walk->place.src = (uint8_t)src;
}

static struct source *find_source(struct flow *flow, unsigned int src)
{
	struct source *source = flow->source[src];

	if (source)
		return source;
	source = calloc(1, sizeof(*source));
	if (!source)
		return NULL;
	set_up_walk(flow, &source->checked, src);
	set_up_walk(flow, &source->shown, src);
	flow->source[src] = source;
	return source;
}

/* ---- messages ---------------------------------------------------------- */

static bool has_sync(const struct walk_message *message)
{
	return message->tcode == NEXUS_PROG_TRACE_SYNC ||
	       message->tcode == NEXUS_DIRECT_BRANCH_SYNC ||
	       message->tcode == NEXUS_INDIRECT_BRANCH_SYNC ||
	       message->tcode == NEXUS_INDIRECT_HISTORY_SYNC;
}

/* Return false if the meaning of the RCODE is unknown. */
static bool set_resource(struct walk_message *to, const struct nexus_message *from)
{
	to->repeat = 1;
	switch (to->reason) {
	case RCODE_ICNT:
		to->icnt = from->field[0];
		return true;
	case RCODE_HIST:
		to->hist = from->field[0];
		return to->hist;
	case RCODE_REPEAT:
		to->hist = from->field[0];
		to->repeat = from->field[1];
		return to->hist;
	case RCODE_NOT_TAKEN:
	case RCODE_TAKEN:
		to->hist = to->reason == RCODE_TAKEN ? 3 : 2;
		to->repeat = from->field[0];
		return true;
	default:
		return false;
	}
}

/* Return whether the message is valid. */
static bool convert(struct walk_message *to, const struct nexus_message *from)
{
	*to = (struct walk_message){
		.offset = from->offset, .time = from->time, .tcode = from->tcode,
		.reason = from->fixed[0],
		.time_known = from->flags & NEXUS_TIME_INFERRED ? TIME_INFERRED :
			      from->flags & NEXUS_TIME_KNOWN ? TIME_EXACT : TIME_UNKNOWN,
	};
	switch (from->tcode) {
	case NEXUS_RESOURCE_FULL:
		return set_resource(to, from);
	case NEXUS_REPEAT_BRANCH:
		to->repeat = from->field[0];
		return true;
	case NEXUS_OWNERSHIP:
		to->address = from->field[0];
		return true;
	case NEXUS_INDIRECT_HISTORY_SYNC:
	case NEXUS_INDIRECT_BRANCH_SYNC:
		to->btype = from->fixed[1];
		break;
	case NEXUS_INDIRECT_HISTORY:
	case NEXUS_INDIRECT_BRANCH:
		to->btype = from->fixed[0];
		break;
	}
	to->icnt = from->field[0];
	if (from->tcode == NEXUS_CORRELATION) {
		to->hist = from->fields > 1 ? from->field[1] : 0;
		return from->fields == 1 || to->hist;
	}
	to->address = from->field[1] << 1;
	if (from->fields > 2)
		to->hist = from->field[2];
	return from->fields <= 2 || to->hist;
}

/* ---- the queue --------------------------------------------------------- */

static void emit(struct walk *walk, const struct flow_event *event)
{
	walk->show_event(walk->flow, &walk->place, event);
}

static void emit_context(struct walk *walk, const struct walk_message *message)
{
	walk->place.done = 0;
	emit(walk, &(struct flow_event){
		.what = message->reason, .known = true, .address = message->address });
}

static void show_context(struct walk *walk, const struct walk_message *message)
{
	walk->place.offset = message->offset;
	emit_context(walk, message);
}

static void lose(struct source *source, enum flow_gap why, uint64_t offset)
{
	struct walk *walk = &source->shown;
	struct flow_event event = { .what = FLOW_LOST, .reason = why };

	if (walk->state == WALK_ON && walk->into < walk->block->halfwords) {
		event.known = true;
		event.address = walk->block->start + 2 * walk->into;
	}
	walk->place.offset = offset;
	walk->place.done = 0;
	emit(walk, &event);
	walk_lose(walk);
	walk_lose(&source->checked);
	/* Keep the mode, even if only dropped messages have revealed it. */
	walk->mode = source->checked.mode;
}

/* Waiting messages may be wrong, so show only their contexts. */
static void drop(struct flow *flow, struct source *source, enum flow_gap why)
{
	unsigned int i;

	lose(source, why, source->waiting ? source->queue[0].offset :
					    source->shown.place.offset);
	for (i = 0; i < source->waiting; i++)
		if (source->queue[i].tcode == NEXUS_OWNERSHIP)
			show_context(&source->shown, &source->queue[i]);
		else
			flow->stats.missed++;
	source->waiting = 0;
}

/* Return whether the message agrees with the code. */
static bool show_next(struct source *source, struct walk_message *message)
{
	source->starts = source->shown.state < WALK_AWAY;
	return walk_show(&source->shown, message) != WALK_CONTRADICTION;
}

/* Show the oldest messages in the queue. */
static void show(struct flow *flow, struct source *source, unsigned int count)
{
	uint64_t before = source->shown.instructions;
	unsigned int i;

	for (i = 0; i < count; i++)
		if (source->queue[i].tcode == NEXUS_OWNERSHIP)
			show_context(&source->shown, &source->queue[i]);
		else if (!show_next(source, &source->queue[i]))
			break;
	source->waiting -= i;
	memmove(source->queue, source->queue + i, source->waiting * sizeof(source->queue[0]));
	flow->stats.instructions += source->shown.instructions - before;
	/*
	 * A checked message can contradict the code if one object replaced another at the message's
	 * time.
	 */
	if (i < count)
		drop(flow, source, FLOW_GAP_CONTRADICTION);
}

static void add(struct flow *flow, struct source *source, const struct walk_message *message)
{
	if (source->waiting == FLOW_QUEUE)
		show(flow, source, FLOW_QUEUE / 2);
	if (source->checked.state == WALK_LOST && message->tcode != NEXUS_OWNERSHIP)
		flow->stats.missed++;
	else
		source->queue[source->waiting++] = *message;
}

static void contradiction(struct flow *flow, struct source *source)
{
	drop(flow, source, FLOW_GAP_CONTRADICTION);
}

static void follow(struct flow *flow, struct source *source, struct walk_message *message)
{
	bool begins = source->checked.state < WALK_AWAY;
	enum walk_result result = walk_check(&source->checked, message);

	if (result == WALK_CONTRADICTION) {
		contradiction(flow, source);
		begins = true;
		if (has_sync(message))
			result = walk_check(&source->checked, message);
	}
	if (result == WALK_CONTRADICTION) {
		flow->stats.missed++;
		return;
	}
	add(flow, source, message);
	/* Once tracing is off, nothing can contradict the flow. */
	if (result != WALK_CONFIRMED && source->checked.state != WALK_OFF)
		return;
	flow->stats.confirmed += has_sync(message) && !begins;
	show(flow, source, source->waiting);
}

/* Called for a TCODE that N-Trace does not define: it is damaged or vendor-defined. */
static int unknown(struct flow *flow, const struct nexus_message *message)
{
	struct source *source = flow->source[message->src];

	if (source && source->checked.state != WALK_LOST &&
	    (message->tcode < TCODE_VENDOR || message->tcode > TCODE_VENDOR_LAST))
		drop(flow, source, FLOW_GAP_DAMAGE);
	return 0;
}

/*
 * The kernel turns the trace on and then names the running thread, to which the waiting messages
 * belong. From then on, it names each thread to which it is about to switch.
 */
static void begin_context(struct flow *flow, struct source *source,
			  struct walk_message *message)
{
	message->reason = source->named ? FLOW_SWITCHES : FLOW_CONTEXT;
	source->named = true;
	if (message->reason == FLOW_CONTEXT && source->starts &&
	    source->shown.state >= WALK_AWAY) {
		source->starts = false;
		emit_context(&source->shown, message);
		return;
	}
	add(flow, source, message);
	if (source->checked.state < WALK_AWAY)
		show(flow, source, source->waiting);
}

int flow_message(struct flow *flow, const struct nexus_message *message)
{
	struct walk_message converted;
	struct source *source;
	bool fine;

	if (message->flags & NEXUS_UNKNOWN_TCODE)
		return unknown(flow, message);
	if (!nexus_is_branch(message) && message->tcode != NEXUS_ERROR &&
	    message->tcode != NEXUS_OWNERSHIP)
		return 0;
	source = find_source(flow, message->src);
	if (!source)
		return -ENOMEM;
	if (message->tcode == NEXUS_ERROR) {
		show(flow, source, source->waiting);
		if (source->shown.state != WALK_LOST)
			lose(source, FLOW_GAP_OVERFLOW, message->offset);
		return 0;
	}
	/* The source's clock shows that a message is damaged or missing. */
	if (message->flags & NEXUS_CONTRARY && source->checked.state != WALK_LOST)
		drop(flow, source, FLOW_GAP_DAMAGE);
	fine = convert(&converted, message);
	if (message->tcode == NEXUS_OWNERSHIP) {
		begin_context(flow, source, &converted);
		return 0;
	}
	flow->stats.messages++;
	flow->stats.syncs += has_sync(&converted);
	source->named &= !has_sync(&converted) || converted.reason != SYNC_ENABLE;
	if (!fine && source->checked.state != WALK_LOST)
		contradiction(flow, source);
	if (source->checked.state < WALK_AWAY && !has_sync(&converted)) {
		flow->stats.missed++;
		if (!source->begun || source->checked.state == WALK_OFF)
			lose(source, FLOW_GAP_NO_SYNC, message->offset);
		source->begun = true;
		return 0;
	}
	if (!fine)
		return 0;
	source->begun = true;
	follow(flow, source, &converted);
	return 0;
}

void flow_damaged(struct flow *flow, const struct nexus_message *gap)
{
	unsigned int i;

	/*
	 * If timestamps show that messages are missing, the code usually contradicts the flow, too.
	 */
	if (gap->gap == NEXUS_GAP_ALIGN || gap->gap == NEXUS_GAP_TRUNCATED ||
	    gap->gap == NEXUS_GAP_TIMES)
		return;
	for (i = 0; i < NEXUS_SOURCES; i++)
		if (flow->source[i] && flow->source[i]->checked.state != WALK_LOST)
			drop(flow, flow->source[i], FLOW_GAP_DAMAGE);
}

void flow_show(struct flow *flow, unsigned int src)
{
	if (flow->source[src])
		show(flow, flow->source[src], flow->source[src]->waiting);
}

void flow_flush(struct flow *flow)
{
	unsigned int i;

	for (i = 0; i < NEXUS_SOURCES; i++)
		flow_show(flow, i);
	flow->stats.full = code_full(flow->code);
}

const struct flow_stats *flow_stats(const struct flow *flow)
{
	return &flow->stats;
}

uint64_t flow_losses(const struct flow_stats *stats)
{
	return stats->gaps[FLOW_GAP_CONTRADICTION] + stats->gaps[FLOW_GAP_DAMAGE] + stats->full;
}

unsigned int flow_time(const struct flow_place *place, uint64_t *time)
{
	uint64_t span = place->time - place->before;

	if (!place->time_known)
		return TIME_UNKNOWN;
	*time = place->time;
	if (place->done >= place->halfwords || (place->known && !span))
		return place->time_known;
	if (!place->known || place->time < place->before)
		return TIME_UNKNOWN;
	*time = place->before + (uint64_t)((double)span * (double)place->done /
					   (double)place->halfwords);
	return TIME_INFERRED;
}

const char *flow_gap_name(unsigned int gap)
{
	static const char * const names[] = {
		[FLOW_GAP_NONE] = "nothing is missing",
		[FLOW_GAP_OVERFLOW] = "the encoder lost messages",
		[FLOW_GAP_DAMAGE] = "bytes that are not a message",
		[FLOW_GAP_CONTRADICTION] = "messages contradict the code",
		[FLOW_GAP_NO_CODE] = "no file contains the code",
		[FLOW_GAP_KERNEL] = "kernel code, which no file contains",
		[FLOW_GAP_LEFT_OUT] = "omitted, as requested by record --calls",
		[FLOW_GAP_NO_RETURN] = "a return to an unseen caller",
		[FLOW_GAP_NO_SYNC] = "no Sync message yet",
	};

	return gap < FLOW_GAPS ? names[gap] : "unknown";
}

void flow_summary(const struct flow_stats *stats, const char *name)
{
	unsigned int i;

	report("%s: %" PRIu64 " instructions, %" PRIu64 " of %" PRIu64 " Sync messages confirm them",
	       name, stats->instructions, stats->confirmed, stats->syncs);
	if (stats->gaps[FLOW_GAP_LEFT_OUT])
		report("%s: %" PRIu64 " part%s of the flow %s", name,
		       stats->gaps[FLOW_GAP_LEFT_OUT],
		       stats->gaps[FLOW_GAP_LEFT_OUT] == 1 ? "" : "s",
		       flow_gap_name(FLOW_GAP_LEFT_OUT));
	for (i = 0; i < FLOW_GAPS; i++)
		if (stats->gaps[i] && i != FLOW_GAP_LEFT_OUT)
			report("%s: instructions are missing in %" PRIu64 " place%s: %s", name,
			       stats->gaps[i], stats->gaps[i] == 1 ? "" : "s",
			       flow_gap_name(i));
	if (stats->missed)
		report("%s: %" PRIu64 " messages of instruction trace are not shown", name,
		       stats->missed);
	if (stats->full)
		report("%s: part of the flow is missing: too much code; specify fewer files with -e, or read a part of the trace", name);
}

const char *flow_sync_name(unsigned int sync)
{
	static const char * const names[] = {
		"trigger from outside", "reset", "periodic", "debug mode left",
		"instruction counter full", "trace on", "trace event",
		"encoder restarts", "reserved", "power on",
	};

	return sync < sizeof(names) / sizeof(names[0]) ? names[sync] : "reserved";
}
