// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Places records in the instruction flow: see joined.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "joined.h"
#include "trace.h"

/* Maximum number of waiting messages per source; records before the oldest message are complete. */
#define WAITING		(3 * TRACE_SETTLE_BRANCHES)
/* Maximum number of waiting records, over all sources; the flow may never reach some of them. */
#define RECORDS_MAX	8192

/* A copy of a header, because the decoder keeps only a stream's newest headers. */
struct kept {
	struct perfrec_header	header;
	unsigned int		users;
};

struct pending {
	struct pending		*previous;
	struct pending		*next;
	struct perfrec_record	record;
	struct kept		*kept;		/* NULL if the record has no header */
	bool			late;		/* the flow had passed the record */
};

/**
 * struct lane - messages and records that wait for a source's flow
 * @message:	waiting messages: a ring of WAITING elements, in which @messages messages begin at
 *		@first
 * @oldest, @newest: waiting records, ordered by place
 * @latest:	header of each channel's latest record
 * @context:	the latest Ownership message's context
 * @leaving:	the context before @context, or 0 if none of its instructions are waiting
 * @shown:	file offset of the latest run or event
 * @held:	file offset at which instruction trace stopped within an incomplete record, or 0
 */
struct lane {
	struct nexus_message	message[WAITING];
	unsigned int		first;
	unsigned int		messages;
	struct pending		*oldest;
	struct pending		*newest;
	struct kept		*latest[PERFREC_CHANNELS];
	uint64_t		context;
	uint64_t		leaving;
	uint64_t		shown;
	uint64_t		held;
};

struct joined {
	struct code		*code;
	struct flow		*flow;
	const struct joined_ops	*ops;
	void			*context;
	struct lane		*lane[NEXUS_SOURCES];	/* NULL before its first message */
	unsigned int		records;		/* number of waiting records */
};

/* ---- records ----------------------------------------------------------- */

static void drop(struct kept *kept)
{
	if (kept && !--kept->users)
		free(kept);
}

/* Return a copy of a record's header, or NULL if out of memory. */
static struct kept *keep(struct lane *lane, const struct perfrec_record *record)
{
	struct kept **latest = &lane->latest[record->channel], *kept = *latest;

	if (!kept || kept->header.serial != record->header->serial ||
	    kept->header.begin.offset != record->header->begin.offset) {
		kept = malloc(sizeof(*kept));
		if (!kept)
			return NULL;
		kept->header = *record->header;
		kept->users = 1;
		drop(*latest);
		*latest = kept;
	}
	kept->users++;
	return kept;
}

static struct pending *take_oldest(struct joined *joined, struct lane *lane)
{
	struct pending *pending = lane->oldest;

	lane->oldest = pending->next;
	if (lane->oldest)
		lane->oldest->previous = NULL;
	else
		lane->newest = NULL;
	joined->records--;
	return pending;
}

static void release(struct pending *pending)
{
	drop(pending->kept);
	free(pending);
}

static void give_oldest(struct joined *joined, struct lane *lane, bool early)
{
	struct pending *pending = take_oldest(joined, lane);

	joined->ops->record(joined->context, &pending->record, early || pending->late);
	release(pending);
}

static void give_before(struct joined *joined, struct lane *lane, uint64_t offset)
{
	while (lane->oldest && lane->oldest->record.begin.offset < offset)
		give_oldest(joined, lane, false);
}

static void give_all(struct joined *joined, struct lane *lane)
{
	while (lane->oldest)
		give_oldest(joined, lane, false);
}

/* Records on different channels may end in a different order from that in which they began. */
static void insert(struct joined *joined, struct lane *lane, struct pending *pending)
{
	struct pending *before = lane->newest;

	while (before && before->record.begin.offset > pending->record.begin.offset)
		before = before->previous;
	pending->previous = before;
	pending->next = before ? before->next : lane->oldest;
	*(before ? &before->next : &lane->oldest) = pending;
	*(pending->next ? &pending->next->previous : &lane->newest) = pending;
	joined->records++;
}

/* Return a copy of a record, or NULL if out of memory. */
static struct pending *copy(struct lane *lane, const struct perfrec_record *record)
{
	struct pending *pending = malloc(sizeof(*pending));

	if (!pending)
		return NULL;
	*pending = (struct pending){
		.record = *record, .late = record->begin.offset < lane->shown,
	};
	if (!record->header)
		return pending;
	pending->kept = keep(lane, record);
	if (!pending->kept) {
		free(pending);
		return NULL;
	}
	pending->record.header = &pending->kept->header;
	return pending;
}

/* ---- the flow ---------------------------------------------------------- */

static void on_run(void *context, const struct flow_place *place, const struct flow_run *run)
{
	struct joined *joined = context;
	struct lane *lane = joined->lane[place->src];

	give_before(joined, lane, place->offset);
	lane->shown = place->offset;
	if (joined->ops->flow.run)
		joined->ops->flow.run(joined->context, place, run);
}

static void on_event(void *context, const struct flow_place *place,
		     const struct flow_event *event)
{
	struct joined *joined = context;
	struct lane *lane = joined->lane[place->src];

	give_before(joined, lane, place->offset);
	lane->shown = place->offset;
	if (joined->ops->flow.event)
		joined->ops->flow.event(joined->context, place, event);
}

static const struct flow_ops flow_ops = { .run = on_run, .event = on_event };

struct joined *joined_new(struct code *code, const struct joined_ops *ops, void *context)
{
	struct joined *joined = calloc(1, sizeof(*joined));

	if (!joined)
		return NULL;
	joined->code = code;
	joined->ops = ops;
	joined->context = context;
	joined->flow = flow_new(code, &flow_ops, joined);
	if (joined->flow)
		return joined;
	free(joined);
	return NULL;
}

void joined_free(struct joined *joined)
{
	unsigned int i, c;

	if (!joined)
		return;
	for (i = 0; i < NEXUS_SOURCES; i++) {
		struct lane *lane = joined->lane[i];

		if (!lane)
			continue;
		while (lane->oldest)
			release(take_oldest(joined, lane));
		for (c = 0; c < PERFREC_CHANNELS; c++)
			drop(lane->latest[c]);
		free(lane);
	}
	flow_free(joined->flow);
	free(joined);
}

/* ---- messages ---------------------------------------------------------- */

static int follow_first(struct joined *joined, struct lane *lane)
{
	const struct nexus_message *message = &lane->message[lane->first];

	lane->first = (lane->first + 1) % WAITING;
	lane->messages--;
	return flow_message(joined->flow, message);
}

static int follow_all(struct joined *joined, struct lane *lane)
{
	int error = 0;

	while (!error && lane->messages)
		error = follow_first(joined, lane);
	return error;
}

/*
 * Follow the flow up to the place where instruction trace stopped, because the thread may continue
 * on another source.
 */
static int follow_held(struct joined *joined, struct lane *lane)
{
	const uint64_t held = lane->held;
	int error = 0;

	lane->held = 0;
	while (!error && lane->messages && lane->message[lane->first].offset <= held)
		error = follow_first(joined, lane);
	/* If the flow is lost, it may not have reached the place. */
	give_before(joined, lane, held);
	return error;
}

int joined_record(struct joined *joined, const struct perfrec_record *record)
{
	struct lane *lane = joined->lane[record->src];
	struct pending *pending;

	if (joined->records == RECORDS_MAX && lane && lane->oldest)
		give_oldest(joined, lane, true);
	if (!lane || joined->records == RECORDS_MAX) {
		joined->ops->record(joined->context, record, lane != NULL);
		return 0;
	}
	pending = copy(lane, record);
	if (!pending)
		return -ENOMEM;
	insert(joined, lane, pending);
	return record->begin.offset < lane->held ? follow_held(joined, lane) : 0;
}

static bool is_of_flow(const struct nexus_message *message)
{
	return nexus_is_branch(message) || message->tcode == NEXUS_ERROR ||
	       message->tcode == NEXUS_OWNERSHIP || message->flags & NEXUS_UNKNOWN_TCODE;
}

/*
 * Return whether the thread may continue on another source: it was switched out, or lost messages
 * may contain the switch.
 */
static bool is_end(const struct nexus_message *message)
{
	return message->tcode == NEXUS_CORRELATION || message->tcode == NEXUS_ERROR;
}

/*
 * Follow the flow of a source that the thread has left. The thread's last instructions there, at
 * the end of the kernel's switch, are in the next thread's part.
 */
static int follow_left(struct joined *joined, unsigned int src)
{
	int error = follow_all(joined, joined->lane[src]);

	joined->lane[src]->leaving = 0;
	flow_show(joined->flow, src);
	return error;
}

/*
 * Follow the flow of the thread's previous source, where the thread will never complete its record.
 */
static int begin_context(struct joined *joined, struct lane *lane, uint64_t context)
{
	struct lane *other;
	int error = 0;
	unsigned int i;

	for (i = 0; i < NEXUS_SOURCES && context && !error; i++) {
		other = joined->lane[i];
		if (other && other != lane && other->held && other->context == context)
			error = follow_held(joined, other);
		if (other && other != lane && other->leaving == context && !error &&
		    code_calls(joined->code) != META_CALLS_USER)
			error = follow_left(joined, i);
	}
	lane->leaving = lane->context;
	lane->context = context;
	return error;
}

int joined_message(struct joined *joined, const struct nexus_message *message)
{
	struct lane *lane = joined->lane[message->src];
	int error = 0;

	if (!is_of_flow(message))
		return 0;
	if (!lane) {
		lane = calloc(1, sizeof(*lane));
		if (!lane)
			return -ENOMEM;
		joined->lane[message->src] = lane;
	}
	if (lane->messages == WAITING)
		error = follow_first(joined, lane);
	lane->message[(lane->first + lane->messages++) % WAITING] = *message;
	if (!error && message->tcode == NEXUS_OWNERSHIP)
		error = begin_context(joined, lane, NEXUS_PROCESS_CONTEXT(message->field[0]));
	if (error || !is_end(message))
		return error;
	lane->held = message->offset;
	return message->flags & NEXUS_UNFINISHED ? 0 : follow_held(joined, lane);
}

static int follow_lanes(struct joined *joined)
{
	int error = 0;
	unsigned int i;

	for (i = 0; i < NEXUS_SOURCES && !error; i++)
		if (joined->lane[i])
			error = follow_all(joined, joined->lane[i]);
	return error;
}

void joined_damaged(struct joined *joined, const struct nexus_message *gap)
{
	/* Ignore errors: if memory remains short, processing the next message also fails. */
	follow_lanes(joined);
	flow_damaged(joined->flow, gap);
}

int joined_flush(struct joined *joined)
{
	int error = follow_lanes(joined);
	unsigned int i;

	flow_flush(joined->flow);
	for (i = 0; i < NEXUS_SOURCES; i++)
		if (joined->lane[i])
			give_all(joined, joined->lane[i]);
	return error;
}

const struct flow_stats *joined_stats(const struct joined *joined)
{
	return flow_stats(joined->flow);
}
