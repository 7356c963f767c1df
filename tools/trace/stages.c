// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Manages threads, queues and their items: see stages.h. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "stages.h"
#include "state.h"

/* There are only three stages, so a fourth thread would be idle. */
#define THREADS_MAX	3
/* Maximum number of batches in a queue. */
#define SLOTS		4
/* Initial size of a batch's items, in bytes. */
#define ITEMS_FIRST	(256u << 10)

/* Size of the part of a record that does not depend on the number of counters. */
#define RECORD_FIXED	offsetof(struct perfrec_record, sent)
/* Counters are copied in groups of this size. */
#define GROUP		4
#define GROUP_BYTES	(GROUP * sizeof(uint64_t))

/* A batch that waits for the second stage. */
struct stores {
	struct store		store[CLOCKS_QUEUE];
	size_t			count;
	struct clocks_event	event[CLOCKS_EVENTS];
	unsigned int		events;
	unsigned int		polls;		/* number of polls before this batch */
	bool			end;		/* the trace ends after this batch */
};

/* An item of a batch that waits for the third stage; its data follows. */
struct item {
	uint32_t	kind;		/* enum stages_item */
	uint32_t	serial;		/* 1 + the serial number of a record's header, or 0 */
	uint64_t	bytes;		/* size of the data, a multiple of 8 */
};

struct items {
	uint8_t		*at;
	size_t		used;
	size_t		room;
};

/* A queue, and the stage that reads it. */
struct queue {
	unsigned int	pushed;
	unsigned int	done;
	bool		running;
};

struct stages {
	struct trace		*trace;
	pthread_mutex_t		lock;
	pthread_cond_t		changed;
	/* Protected by the lock. */
	struct queue		records;
	struct queue		consumer;
	bool			ending;

	pthread_t		thread[THREADS_MAX];
	unsigned int		threads;
	atomic_bool		failed;
	atomic_bool		stopped;
	struct stores		*stores[SLOTS];
	struct items		items[SLOTS];
	/*
	 * For the second stage: the destination of items, unless the stage calls the
	 * consumer itself.
	 */
	struct items		*out;
	bool			direct;
	/*
	 * Set if the second stage calls the consumer from the start, so the consumer receives all
	 * headers directly.
	 */
	bool			through;
	uint32_t		sent[PERFREC_CHANNELS][PERFREC_SOURCES];
	/*
	 * For the third stage: copies of headers for the consumer, kept for as long as perfrec
	 * keeps the originals.
	 */
	struct perfrec_header	*kept[PERFREC_CHANNELS][PERFREC_SOURCES];
	uint8_t			sources[PERFREC_CHANNELS];
};

/* ---- the third stage ---------------------------------------------------- */

static struct perfrec_header *kept(const struct stages *stages, unsigned int channel,
				   unsigned int src, uint32_t serial)
{
	return &stages->kept[channel][src][serial ? (serial - 1) % (PERFREC_HEADERS_KEPT + 1) :
					   PERFREC_HEADERS_KEPT];
}

/*
 * Copy a header of @bytes bytes, including its counters. Return the copy, or NULL if out of memory.
 */
static const struct perfrec_header *keep(struct stages *stages,
					 const struct perfrec_header *header, size_t bytes)
{
	struct perfrec_header **all = &stages->kept[header->channel][header->src], *copy;

	if (!*all)
		*all = malloc((PERFREC_HEADERS_KEPT + 1) * sizeof(**all));
	if (!*all) {
		stages->failed = true;
		return NULL;
	}
	copy = kept(stages, header->channel, header->src, header->serial);
	memcpy(copy, header, bytes);
	return copy;
}

static void consume_header(struct stages *stages, const struct perfrec_header *header,
			   size_t bytes)
{
	const struct trace_ops *ops = stages->trace->ops;

	header = keep(stages, header, bytes);
	if (header && ops->header)
		ops->header(stages->trace->context, header);
}

/* Set the callers of a record whose stack preceded it in the queue. */
static void set_callers(struct trace *trace, struct perfrec_record *record)
{
	if (!(record->flags & PERFREC_CALLERS) || record->callers != &records_unwound)
		return;
	record->callers = trace->unwound[record->channel][record->src];
	trace->no_room += !record->callers;
}

static void consume_record(struct stages *stages, const struct item *item)
{
	const uint8_t *data = (const uint8_t *)(item + 1);
	struct trace *trace = stages->trace;
	struct perfrec_record record;
	unsigned int i;

	memcpy(&record, data, RECORD_FIXED);
	data += RECORD_FIXED;
	for (i = 0; i < record.counters; i += GROUP) {
		memcpy(record.sent + i, data, GROUP_BYTES);
		memcpy(record.value + i, data + GROUP_BYTES, GROUP_BYTES);
		memcpy(record.delta + i, data + 2 * GROUP_BYTES, GROUP_BYTES);
		data += 3 * GROUP_BYTES;
	}
	if (item->serial)
		record.header = kept(stages, record.channel, record.src, item->serial - 1);
	set_callers(trace, &record);
	trace->ops->record(trace->context, &record);
}

static void consume(struct stages *stages, const struct item *item)
{
	const struct trace_ops *ops = stages->trace->ops;
	void *context = stages->trace->context;
	const void *data = item + 1;

	switch (item->kind) {
	case STAGES_STREAM:
		stages->sources[*(const uint64_t *)data]++;
		break;
	case STAGES_KEEP:
		keep(stages, data, item->bytes);
		break;
	case STAGES_HEADER:
		consume_header(stages, data, item->bytes);
		break;
	case STAGES_STACK:
		records_unwind(stages->trace, data);
		break;
	case STAGES_RECORD:
		consume_record(stages, item);
		break;
	case STAGES_LOST:
		ops->lost(context, data);
		break;
	case STAGES_MARKS:
		ops->marks(context, data);
		break;
	case STAGES_GAP:
		ops->gap(context, data);
		break;
	case STAGES_ERROR:
		ops->error(context, data);
		break;
	case STAGES_MESSAGE:
		ops->message(context, data);
		break;
	case STAGES_OWNERSHIP:
		ops->ownership(context, data);
		break;
	case STAGES_SWITCH:
		ops->switched(context, data);
		break;
	default:
		stages->stopped = ops->stop(context);
		break;
	}
}

static void consume_all(struct stages *stages, struct items *items)
{
	const struct item *item;
	size_t at = 0;

	while (at < items->used && !stages->stopped && !stages->failed) {
		item = (const struct item *)(items->at + at);
		consume(stages, item);
		at += sizeof(*item) + item->bytes;
	}
	items->used = 0;
}

/* ---- threads ------------------------------------------------------------ */

static void push_stores(struct stages *stages, struct stores *stores);

static bool has_work(const struct queue *queue)
{
	return !queue->running && queue->pushed != queue->done;
}

static bool is_full(const struct queue *queue)
{
	return queue->pushed - queue->done == SLOTS;
}

static bool is_idle(const struct queue *queue)
{
	return !queue->running && queue->pushed == queue->done;
}

/* Process a queue's next batch. Called with the lock held, which is released during the work. */
static void run(struct stages *stages, struct queue *queue)
{
	unsigned int slot = queue->done % SLOTS;

	queue->running = true;
	pthread_mutex_unlock(&stages->lock);
	if (queue == &stages->consumer)
		consume_all(stages, &stages->items[slot]);
	else
		push_stores(stages, stages->stores[slot]);
	pthread_mutex_lock(&stages->lock);
	queue->running = false;
	queue->done++;
	pthread_cond_broadcast(&stages->changed);
}

/* Do available work, or wait for a change. Called with the lock held. */
static void help(struct stages *stages)
{
	if (has_work(&stages->consumer))
		run(stages, &stages->consumer);
	else if (has_work(&stages->records) && !is_full(&stages->consumer))
		run(stages, &stages->records);
	else
		pthread_cond_wait(&stages->changed, &stages->lock);
}

static void *work(void *context)
{
	struct stages *stages = context;

	pthread_mutex_lock(&stages->lock);
	while (!stages->ending)
		help(stages);
	pthread_mutex_unlock(&stages->lock);
	return NULL;
}

/* ---- the second stage --------------------------------------------------- */

/* Append an item; return the memory for its data, or NULL if out of memory. */
static void *append(struct stages *stages, enum stages_item kind, uint32_t serial, size_t bytes)
{
	struct items *out = stages->out;
	size_t whole = (bytes + 7) & ~(size_t)7, needed = out->used + sizeof(struct item) + whole;
	size_t room = out->room ? out->room : ITEMS_FIRST;
	struct item *item;
	uint8_t *more;

	while (room < needed)
		room *= 2;
	if (room > out->room) {
		more = realloc(out->at, room);
		if (!more) {
			stages->failed = true;
			return NULL;
		}
		out->at = more;
		out->room = room;
	}
	item = (struct item *)(out->at + out->used);
	*item = (struct item){ .kind = kind, .serial = serial, .bytes = whole };
	out->used = needed;
	return item + 1;
}

static void append_copy(struct stages *stages, enum stages_item kind, const void *data,
			size_t bytes)
{
	void *to = append(stages, kind, 0, bytes);

	if (to)
		memcpy(to, data, bytes);
}

/* Pass all appended items to the third stage. */
static void pass_on(struct stages *stages)
{
	pthread_mutex_lock(&stages->lock);
	if (stages->out->used) {
		stages->consumer.pushed++;
		pthread_cond_broadcast(&stages->changed);
	}
	pthread_mutex_unlock(&stages->lock);
}

/* Wait for the third stage to finish; afterwards, the second stage calls the consumer. */
static void go_through(struct stages *stages)
{
	pass_on(stages);
	pthread_mutex_lock(&stages->lock);
	while (!is_idle(&stages->consumer)) {
		if (has_work(&stages->consumer))
			run(stages, &stages->consumer);
		else
			pthread_cond_wait(&stages->changed, &stages->lock);
	}
	pthread_mutex_unlock(&stages->lock);
	stages->direct = true;
}

void stages_stream(struct stages *stages, unsigned int channel)
{
	const uint64_t number = channel;

	if (!stages->direct)
		append_copy(stages, STAGES_STREAM, &number, sizeof(number));
	else
		stages->sources[channel]++;
}

static size_t header_bytes(const struct perfrec_header *header)
{
	return offsetof(struct perfrec_header, counter) +
	       header->counters * sizeof(header->counter[0]);
}

void stages_header(struct stages *stages, const struct perfrec_header *header)
{
	const struct trace *trace = stages->trace;

	if (stages->through) {
		if (trace->ops->header)
			trace->ops->header(trace->context, header);
		return;
	}
	if (header->owned && !stages->direct)
		go_through(stages);
	stages->sent[header->channel][header->src] = header->serial + 1;
	if (!stages->direct)
		append_copy(stages, STAGES_HEADER, header, header_bytes(header));
	else
		consume_header(stages, header, header_bytes(header));
}

static void send_header(struct stages *stages, const struct perfrec_header *header)
{
	stages->sent[header->channel][header->src] = header->serial + 1;
	if (!stages->direct)
		append_copy(stages, STAGES_KEEP, header, header_bytes(header));
	else
		keep(stages, header, header_bytes(header));
}

static void give_record(struct stages *stages, const struct perfrec_record *record)
{
	struct trace *trace = stages->trace;
	struct perfrec_record copy = *record;

	if (stages->failed)
		return;
	if (record->header)
		copy.header = kept(stages, record->channel, record->src,
				   record->header->serial);
	set_callers(trace, &copy);
	trace->ops->record(trace->context, &copy);
}

void stages_record(struct stages *stages, const struct perfrec_record *record)
{
	const struct perfrec_header *header = record->header;
	const struct trace *trace = stages->trace;
	unsigned int i, groups = (record->counters + GROUP - 1) / GROUP;
	uint8_t *to;

	if (!trace->ops->record)
		return;
	if (stages->through) {
		trace->ops->record(trace->context, record);
		return;
	}
	/* The header may not have been sent yet, for example if it is an assumed header. */
	if (header && stages->sent[record->channel][record->src] != header->serial + 1)
		send_header(stages, header);
	if (stages->direct) {
		give_record(stages, record);
		return;
	}
	to = append(stages, STAGES_RECORD, header ? header->serial + 1 : 0,
		    RECORD_FIXED + 3 * groups * GROUP_BYTES);
	if (!to)
		return;
	memcpy(to, record, RECORD_FIXED);
	to += RECORD_FIXED;
	for (i = 0; i < groups; i++) {
		memcpy(to, record->sent + i * GROUP, GROUP_BYTES);
		memcpy(to + GROUP_BYTES, record->value + i * GROUP, GROUP_BYTES);
		memcpy(to + 2 * GROUP_BYTES, record->delta + i * GROUP, GROUP_BYTES);
		to += 3 * GROUP_BYTES;
	}
}

bool stages_stack(struct stages *stages, const struct perfrec_stack *stack)
{
	if (stages->direct)
		return false;
	append_copy(stages, STAGES_STACK, stack, perfrec_stack_bytes(stack));
	return true;
}

void stages_lost(struct stages *stages, const struct perfrec_loss *loss)
{
	const struct trace *trace = stages->trace;

	if (!trace->ops->lost)
		return;
	if (!stages->direct)
		append_copy(stages, STAGES_LOST, loss, sizeof(*loss));
	else
		trace->ops->lost(trace->context, loss);
}

void stages_marks(struct stages *stages, const struct perfrec_record *record)
{
	const struct trace *trace = stages->trace;

	if (!trace->ops->marks)
		return;
	if (!stages->direct)
		append_copy(stages, STAGES_MARKS, record, sizeof(*record));
	else
		trace->ops->marks(trace->context, record);
}

void stages_message(struct stages *stages, enum stages_item kind,
		    void (*give)(void *context, const struct nexus_message *message),
		    const struct nexus_message *message)
{
	if (!stages->direct)
		append_copy(stages, kind, message, sizeof(*message));
	else
		give(stages->trace->context, message);
}

void stages_switch(struct stages *stages, const struct trace_switch *record)
{
	if (!stages->direct)
		append_copy(stages, STAGES_SWITCH, record, sizeof(*record));
	else
		stages->trace->ops->switched(stages->trace->context, record);
}

unsigned int stages_sources(const struct stages *stages, unsigned int channel)
{
	return stages->sources[channel];
}

static void poll(struct stages *stages)
{
	const struct trace *trace = stages->trace;

	if (!stages->direct)
		append(stages, STAGES_POLL, 0, 0);
	else
		stages->stopped = trace->ops->stop(trace->context);
}

/* Run the second stage for one batch. */
static void push_stores(struct stages *stages, struct stores *stores)
{
	const struct records_batch batch = {
		.store = stores->store, .stores = stores->count,
		.event = stores->event, .events = stores->events,
	};
	struct trace *trace = stages->trace;
	unsigned int done, i;

	if (stages->stopped || stages->failed)
		return;
	/* help() has ensured that the slot is free. */
	stages->out = &stages->items[stages->consumer.pushed % SLOTS];
	for (i = 0; i < stores->polls && !stages->stopped; i++)
		poll(stages);
	if (records_push(trace, &batch, &done))
		stages->failed = true;
	if (stores->end)
		perfrec_flush(trace->perfrec);
	if (!stages->direct)
		pass_on(stages);
}

/* ---- the first stage ---------------------------------------------------- */

/* Return an empty slot, or NULL if out of memory. */
static struct stores *empty_slot(struct stages *stages, unsigned int number)
{
	struct stores **stores = &stages->stores[number % SLOTS];

	if (!*stores)
		*stores = malloc(sizeof(**stores));
	if (!*stores)
		return NULL;
	(*stores)->count = 0;
	(*stores)->events = 0;
	(*stores)->polls = 0;
	(*stores)->end = false;
	return *stores;
}

static struct stores *current_slot(const struct stages *stages)
{
	return stages->stores[stages->records.pushed % SLOTS];
}

/* Wait for a free slot after the current slot; return it, or NULL if out of memory. */
static struct stores *next_slot(struct stages *stages)
{
	struct queue *queue = &stages->records;

	pthread_mutex_lock(&stages->lock);
	while (queue->pushed - queue->done >= SLOTS - 1)
		help(stages);
	pthread_mutex_unlock(&stages->lock);
	return empty_slot(stages, queue->pushed + 1);
}

static void push(struct stages *stages)
{
	pthread_mutex_lock(&stages->lock);
	stages->records.pushed++;
	pthread_cond_broadcast(&stages->changed);
	pthread_mutex_unlock(&stages->lock);
}

int stages_push(struct stages *stages, struct clocks *clocks, size_t count)
{
	struct stores *next = next_slot(stages), *current = current_slot(stages);

	if (!next || stages->failed)
		return -ENOMEM;
	while (current->events < clocks->events &&
	       clocks->event[current->events].at <= count)
		current->events++;
	memcpy(current->event, clocks->event, current->events * sizeof(clocks->event[0]));
	current->count = count;
	clocks_shift(clocks, count, current->events);
	memcpy(next->store, current->store + count, clocks->stores * sizeof(next->store[0]));
	clocks->store = next->store;
	push(stages);
	return 0;
}

void stages_catch_up(struct stages *stages)
{
	pthread_mutex_lock(&stages->lock);
	while (!is_idle(&stages->records))
		help(stages);
	pthread_mutex_unlock(&stages->lock);
}

bool stages_poll(struct stages *stages)
{
	/* Count the polls: near the end of a file, there may be several before the next batch. */
	current_slot(stages)->polls += !!stages->trace->ops->stop;
	return stages->stopped;
}

int stages_end(struct stages *stages)
{
	current_slot(stages)->end = true;
	push(stages);
	pthread_mutex_lock(&stages->lock);
	while (!is_idle(&stages->records) || !is_idle(&stages->consumer))
		help(stages);
	pthread_mutex_unlock(&stages->lock);
	if (stages->failed)
		report("%s: out of memory", stages->trace->in.path);
	return stages->failed ? -1 : 0;
}

struct stages *stages_new(struct trace *trace, unsigned int threads)
{
	struct stages *stages = calloc(1, sizeof(*stages));
	const struct trace_ops *ops = trace->ops;

	if (!stages)
		return NULL;
	stages->trace = trace;
	pthread_mutex_init(&stages->lock, NULL);
	pthread_cond_init(&stages->changed, NULL);
	memcpy(stages->sources, trace->sources, sizeof(stages->sources));
	stages->through = ops->part || ops->address || ops->counter || trace->meta->streams;
	stages->direct = stages->through;
	if (!empty_slot(stages, 0)) {
		stages_free(stages);
		return NULL;
	}
	trace->clocks.store = stages->stores[0]->store;
	while (stages->threads + 1 < threads && stages->threads + 1 < THREADS_MAX &&
	       !pthread_create(&stages->thread[stages->threads], NULL, work, stages))
		stages->threads++;
	return stages;
}

void stages_stop(struct stages *stages)
{
	unsigned int i;

	if (!stages)
		return;
	pthread_mutex_lock(&stages->lock);
	stages->ending = true;
	pthread_cond_broadcast(&stages->changed);
	pthread_mutex_unlock(&stages->lock);
	while (stages->threads)
		pthread_join(stages->thread[--stages->threads], NULL);
	for (i = 0; i < SLOTS; i++) {
		free(stages->stores[i]);
		stages->stores[i] = NULL;
		free(stages->items[i].at);
		stages->items[i].at = NULL;
	}
}

void stages_free(struct stages *stages)
{
	unsigned int i, k;

	if (!stages)
		return;
	for (i = 0; i < PERFREC_CHANNELS; i++)
		for (k = 0; k < PERFREC_SOURCES; k++)
			free(stages->kept[i][k]);
	pthread_cond_destroy(&stages->changed);
	pthread_mutex_destroy(&stages->lock);
	free(stages);
}
