// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Sorts records in a window per channel, or in a common window for all channels: see order.h. */
#include <stdlib.h>
#include <string.h>

#include "order.h"
#include "ring.h"

/* Maximum number of records in RING_SKEW bytes. */
#define MOVES	64

/*
 * The place of a thread's record, which may not be in the stream of the thread's previous record.
 */
struct move {
	uint32_t		owner;
	unsigned int		channel;
	struct perfrec_stamp	begin;
};

struct order {
	struct threads	*threads;
	reorder_give	give;
	void		*context;
	struct reorder	*reorder[PERFREC_CHANNELS];
	struct reorder	*common;	/* replaces @reorder if headers name threads */
	uint32_t	moving;		/* channels whose threads change sources */
	bool		hold;
	struct move	move[MOVES];
	unsigned int	moves;
	bool		no_memory;
	uint64_t	position;	/* offset of the latest record in the file */
};

struct order *order_new(struct threads *threads, reorder_give give, void *context)
{
	struct order *order = calloc(1, sizeof(*order));
	unsigned int i;

	if (!order)
		return NULL;
	for (i = 0; i < PERFREC_CHANNELS; i++)
		order->moving |= (uint32_t)threads_move(threads, i) << i;
	order->threads = threads;
	order->give = give;
	order->context = context;
	return order;
}

void order_free(struct order *order)
{
	unsigned int i;

	if (!order)
		return;
	for (i = 0; i < PERFREC_CHANNELS; i++)
		reorder_free(order->reorder[i]);
	reorder_free(order->common);
	free(order);
}

void order_hold(struct order *order)
{
	order->hold = true;
	order->moving = ~0u;
}

static struct reorder **reorder_of(struct order *order, unsigned int channel)
{
	return order->common ? &order->common : &order->reorder[channel];
}

/* Return whether all earlier words that reordering has delayed have arrived. */
static bool is_due(const struct order *order, const struct perfrec_stamp *begin)
{
	return begin->offset + RING_SKEW < order->position;
}

static void settle_first(struct order *order, const struct trace *trace)
{
	const struct move move = order->move[0];

	memmove(order->move, order->move + 1, --order->moves * sizeof(move));
	trace_settle(trace, move.owner, move.channel, &move.begin);
}

/*
 * The thread's latest record in another stream may be waiting for a word that never arrives. Pass
 * that record on first, because it precedes the new record.
 */
static void note_record(struct order *order, const struct trace *trace,
			const struct perfrec_record *record)
{
	const struct thread *thread = threads_find(order->threads, record);

	if (!thread)
		return;
	if (is_due(order, &record->begin)) {
		trace_settle(trace, (uint32_t)thread->tid, thread->channel,
			     &record->begin);
		return;
	}
	if (order->moves == MOVES)
		settle_first(order, trace);
	order->move[order->moves++] = (struct move){
		.owner = (uint32_t)thread->tid, .channel = thread->channel,
		.begin = record->begin,
	};
}

static __attribute__((noinline))
void push_common(struct order *order, const struct trace *trace,
		 const struct perfrec_record *record)
{
	if (record->begin.offset > order->position)
		order->position = record->begin.offset;
	while (order->moves && is_due(order, &order->move[0].begin))
		settle_first(order, trace);
	note_record(order, trace, record);
	reorder_push(order->common, record);
}

/* Records of a channel with one source are in order; records from several sources need a window. */
static __attribute__((noinline))
void push_moving(struct order *order, const struct trace *trace,
		 const struct perfrec_record *record)
{
	struct reorder **reorder = &order->reorder[record->channel];

	if (order->hold || trace_sources(trace, record->channel) > 1) {
		*reorder = reorder_new(order->give, order->context);
		order->no_memory |= !*reorder;
	}
	if (*reorder)
		reorder_push(*reorder, record);
	else
		order->give(order->context, record);
}

/* The functions above are not inlined, so that the common paths need no stack frame. */
void order_push(struct order *order, const struct trace *trace,
		const struct perfrec_record *record)
{
	struct reorder *reorder = order->reorder[record->channel];

	if (__builtin_expect(!!order->common, false))
		push_common(order, trace, record);
	else if (reorder)
		reorder_push(reorder, record);
	else if (order->moving >> record->channel & 1 || record->flags & PERFREC_NAMED)
		push_moving(order, trace, record);
	else
		order->give(order->context, record);
}

/* Called when a header shows that threads may change channels. */
static void begin_sharing(struct order *order, const struct trace *trace,
			  uint64_t position)
{
	const struct perfrec_record *record;
	unsigned int i;

	order->common = reorder_new(order->give, order->context);
	order->no_memory |= !order->common;
	if (!order->common)
		return;
	order->position = position;
	for (i = 0; i < PERFREC_CHANNELS; i++)
		while (order->reorder[i] && (record = reorder_take(order->reorder[i]))) {
			note_record(order, trace, record);
			reorder_push(order->common, record);
		}
}

void order_header(struct order *order, const struct trace *trace,
		  const struct perfrec_header *header)
{
	struct reorder *reorder;

	if (header->owned)
		threads_share(order->threads, header->channel);
	if (header->owned && !order->common)
		begin_sharing(order, trace, header->begin.offset);
	/*
	 * Records in the window refer to headers, of which the trace reader keeps only the latest.
	 * Flush the window if the header of one of its records is about to be freed.
	 */
	reorder = *reorder_of(order, header->channel);
	if (!reorder || !reorder_expires(reorder, header))
		return;
	while (order->moves)
		settle_first(order, trace);
	reorder_flush(reorder);
}

bool order_failed(const struct order *order)
{
	return order->no_memory;
}

void order_flush(struct order *order)
{
	unsigned int i;

	for (i = 0; i < PERFREC_CHANNELS; i++)
		if (order->reorder[i])
			reorder_flush(order->reorder[i]);
	if (order->common)
		reorder_flush(order->common);
}
