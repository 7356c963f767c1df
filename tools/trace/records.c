// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Decodes a trace's stores into records, and keeps the statistics: see records.h. */
#include <string.h>

#include "records.h"
#include "ring.h"
#include "resume.h"
#include "stages.h"
#include "state.h"

static void on_stream(void *context, unsigned int src, unsigned int channel)
{
	struct trace *trace = context;

	trace->source[channel][trace->sources[channel]++] = (uint8_t)src;
	if (trace->stages)
		stages_stream(trace->stages, channel);
}

/*
 * Return whether any of a header's counters counts events. The trace timestamp does not: it has no
 * CSR.
 */
static bool counts_events(const struct perfrec_header *header)
{
	unsigned int i;

	for (i = 0; i < header->counters; i++)
		if (header->counter[i].csr ||
		    header->counter[i].type == PERFREC_EVENT_FIRMWARE)
			return true;
	return false;
}

static void on_header(void *context, const struct perfrec_header *header)
{
	struct trace *trace = context;

	trace->stats.headers++;
	trace->stats.counted |= counts_events(header);
	trace->begun[header->channel][header->src] = true;
	if (trace->stages)
		stages_header(trace->stages, header);
	else if (trace->ops->header)
		trace->ops->header(trace->context, header);
}

/*
 * Complete the records of this channel on other sources. After a thread has migrated, its last
 * record on the previous source waits for one more word from that source. That word may not arrive
 * until the thread migrates back.
 */
static void settle_others(struct trace *trace,
			  const struct perfrec_record *record)
{
	unsigned int channel = record->channel, i;
	uint8_t *source = trace->source[channel];

	if (record->begin.offset < RING_SKEW)
		return;
	for (i = 0; i < trace->sources[channel]; i++)
		if (source[i] != record->src)
			perfrec_settle(trace->perfrec, source[i], channel,
				       record->begin.offset - RING_SKEW);
}

/* Return whether a record before a ring's first header depends on overwritten records. */
static bool is_rootless(const struct trace *trace, const struct perfrec_record *record)
{
	return trace->wrapped && record->header && !record->header->serial &&
	       !(record->flags & PERFREC_ADDRESS_KNOWN);
}

/* Return whether a record belongs to the previous or the next piece of the recording. */
static bool is_others(const struct trace *trace, const struct perfrec_record *record)
{
	return record->address_end.offset >= trace->rest[record->channel][record->src];
}

static void on_part(void *context, const struct perfrec_header *header, int part)
{
	struct trace *trace = context;

	trace->ops->part(trace->context, header, part);
}

static void on_address(void *context, const struct perfrec_record *record)
{
	struct trace *trace = context;

	if (!is_rootless(trace, record) && !is_others(trace, record))
		trace->ops->address(trace->context, record);
}

static void on_counter(void *context, const struct perfrec_record *record,
		       unsigned int i, const struct perfrec_stamp *end)
{
	struct trace *trace = context;

	if (!is_rootless(trace, record) && !is_others(trace, record))
		trace->ops->counter(trace->context, record, i, end);
}

static __attribute__((noinline, cold))
void count_unusual(struct trace_stats *stats, const struct perfrec_record *record)
{
	if (record->flags & PERFREC_MARKED)
		stats->dropped += record->dropped;
	if (!(record->flags & PERFREC_ADDRESS_KNOWN))
		stats->unaddressed++;
	if (record->flags & PERFREC_CALLERS) {
		stats->callers += record->callers != NULL;
		stats->no_callers += !record->callers;
	}
}

#define USUAL_FLAGS	(PERFREC_ADDRESS_KNOWN | PERFREC_MARKED | PERFREC_CALLERS)

/* Count a record. Rarely taken branches are cheaper than unconditional additions. */
static inline void count(struct trace *trace, const struct perfrec_record *record)
{
	struct trace_stats *stats = &trace->stats;

	stats->records[record->type]++;
	if (!record->header || (!record->header->serial && !trace->wrapped))
		stats->no_header++;
	else if (!record->header->serial)
		stats->assumed++;
	if ((record->flags & USUAL_FLAGS) != PERFREC_ADDRESS_KNOWN)
		count_unusual(stats, record);
	trace_count_time(stats, &record->address_end);
	/* A call begins with the first word of its record. */
	if (record->begin.time_known != TIME_UNKNOWN && record->begin.time < stats->first)
		stats->first = record->begin.time;
}

static void on_record(void *context, const struct perfrec_record *record)
{
	struct trace *trace = context;
	struct trace_stats *stats = &trace->stats;

	if (is_others(trace, record))
		return;
	if (trace->sources[record->channel] > 1 && !trace->ops->counter)
		settle_others(trace, record);

	trace->begun[record->channel][record->src] = true;
	if (is_rootless(trace, record)) {
		stats->rootless++;
		if (record->flags & PERFREC_MARKED)
			stats->dropped += record->dropped;
		return;
	}
	count(trace, record);
	if (trace->stages)
		stages_record(trace->stages, record);
	else if (trace->ops->record)
		trace->ops->record(trace->context, record);
}

static void on_lost(void *context, const struct perfrec_loss *loss)
{
	struct trace *trace = context;
	bool *begun = &trace->begun[loss->channel][loss->src];

	/* Records that the end of this piece cuts off are complete in the next piece. */
	if (loss->offset == RESUME_BEFORE ||
	    (trace->meta->continued && loss->reason == PERFREC_TRUNCATED))
		return;
	/* A ring that begins within a record is not a loss. */
	if (trace->wrapped && !*begun && loss->reason == PERFREC_NO_START) {
		trace->stats.ring_words += loss->words;
	} else {
		trace->stats.losses++;
		trace->stats.lost_words += loss->words;
		trace->stats.truncated += loss->reason == PERFREC_TRUNCATED;
	}
	*begun = true;
	if (trace->stages)
		stages_lost(trace->stages, loss);
	else if (trace->ops->lost)
		trace->ops->lost(trace->context, loss);
}

/* The next piece repeats and counts the marks after this piece's last record. */
static void on_marks(void *context, const struct perfrec_record *record)
{
	struct trace *trace = context;

	if (trace->meta->continued)
		return;
	trace->stats.dropped += record->dropped;
	if (trace->stages)
		stages_marks(trace->stages, record);
	else if (trace->ops->marks)
		trace->ops->marks(trace->context, record);
}

const struct perfrec_callers records_unwound;

const struct perfrec_callers *records_unwind(struct trace *trace,
					     const struct perfrec_stack *stack)
{
	const struct perfrec_callers **list = &trace->unwound[stack->channel][stack->src];
	uint64_t address[2 * SIFIVE_TRACE_CALLERS_MAX + 1];
	unsigned int count = stack->callers;

	memcpy(address, stack->caller, count * sizeof(*address));
	if (count)
		address[count++] = stack->reg[0] & ~1ull;
	count += trace->unwind(trace->unwinder, stack, address + count);
	if (count > SIFIVE_TRACE_CALLERS_MAX) {
		count = SIFIVE_TRACE_CALLERS_MAX;
		address[count - 1] = PERFREC_CUT;
	}
	*list = callers_get(&trace->callers, address, count);
	return *list;
}

static const struct perfrec_callers *on_stack(void *context, const struct perfrec_stack *stack)
{
	struct trace *trace = context;

	return trace->stages && stages_stack(trace->stages, stack) ? &records_unwound :
	       records_unwind(trace, stack);
}

static void give_message(struct trace *trace, enum stages_item item,
			 void (*give)(void *context, const struct nexus_message *message),
			 const struct nexus_message *message)
{
	if (give && trace->stages)
		stages_message(trace->stages, item, give, message);
	else if (give)
		give(trace->context, message);
}

/*
 * Return whether an event's time is absolute, in which case later times from its source are not
 * doubtful.
 */
static bool is_absolute(const struct clocks_event *event)
{
	return event->item == NEXUS_MESSAGE && nexus_is_absolute(&event->message);
}

/* Mark as inferred the doubtful times of a batch's stores from @offset on. */
static void doubt_times(const struct trace *trace, const struct records_batch *batch,
			uint64_t offset)
{
	bool doubted[NEXUS_SOURCES];
	unsigned int next = 0;
	size_t i;

	memcpy(doubted, trace->doubted, sizeof(doubted));
	for (i = 0; i < batch->stores; i++) {
		struct store *store = &batch->store[i];

		for (; next < batch->events && batch->event[next].at <= i; next++)
			if (is_absolute(&batch->event[next]) &&
			    batch->event[next].message.offset >= offset)
				doubted[batch->event[next].message.src] = false;
		if (store->offset >= offset && doubted[store->src] &&
		    store->time_known == TIME_EXACT)
			store->time_known = TIME_INFERRED;
	}
}

/* Messages may be missing, so each source's times are doubtful up to its next absolute time. */
static void on_damaged(void *context, uint64_t offset)
{
	struct trace *trace = context;

	trace->damaged = true;
	memset(trace->doubted, true, sizeof(trace->doubted));
	if (trace->batch)
		doubt_times(trace, trace->batch, offset);
	switches_lost(&trace->stats.switches, -1);
	give_message(trace, STAGES_GAP, trace->ops->gap, &(struct nexus_message){
		.offset = offset, .gap = NEXUS_GAP_CONTRADICTED,
	});
}

void records_gap(struct trace *trace, const struct nexus_message *gap)
{
	struct trace_stats *stats = &trace->stats;

	switch (gap->gap) {
	case NEXUS_GAP_TIMES:
		perfrec_doubt(trace->perfrec, gap->src);
		break;
	case NEXUS_GAP_ALIGN:
		stats->align_bytes += gap->length;
		break;
	case NEXUS_GAP_TRUNCATED:
		/*
		 * Only the last message is incomplete; perfrec_flush() handles the records before
		 * it.
		 */
		stats->cut_bytes += gap->length;
		break;
	default:
		stats->gaps++;
		stats->gap_bytes += gap->length;
		perfrec_lost(trace->perfrec, -1);
		switches_lost(&trace->stats.switches, -1);
		break;
	}
	give_message(trace, STAGES_GAP, trace->ops->gap, gap);
}

/* Pass a store to the decoder for its channel. Return 0, or -ENOMEM. */
static int on_store(struct trace *trace, const struct store *store)
{
	trace->stats.words[store->channel]++;
	if (!(trace->channels >> store->channel & 1))
		return switches_push(&trace->stats.switches, store);
	return perfrec_push(trace->perfrec, store);
}

/* Complete the source's records whose counters precede @offset. */
static void settle(struct trace *trace, unsigned int src, uint64_t offset)
{
	uint32_t channels;

	for (channels = trace->channels; channels; channels &= channels - 1)
		perfrec_settle(trace->perfrec, src, (unsigned int)__builtin_ctz(channels), offset);
}

static bool is_unfinished(const struct trace *trace, unsigned int src)
{
	uint32_t channels;

	for (channels = trace->channels; channels; channels &= channels - 1)
		if (perfrec_unfinished(trace->perfrec, src,
				       (unsigned int)__builtin_ctz(channels)))
			return true;
	return false;
}

/*
 * Handle an instruction trace message: see TRACE_SETTLE_BRANCHES. Return whether the instruction
 * trace stops before a record is complete.
 */
static bool on_branch(struct trace *trace, const struct nexus_message *message)
{
	const unsigned int src = message->src;

	trace->stats.branches++;
	if (trace->ops->counter)
		return false;
	if (message->tcode == NEXUS_CORRELATION) {
		/*
		 * If the thread has executed no code since the last word, it may be about to store
		 * another word.
		 */
		settle(trace, src, trace->shown[src]);
		trace->unfinished[src] = is_unfinished(trace, src);
		return trace->unfinished[src];
	}
	/*
	 * A Sync message shows where the thread continues, but not the code that it has executed.
	 */
	if (message->tcode != NEXUS_PROG_TRACE_SYNC)
		trace->shown[src] = message->offset;
	if (++trace->branches[src] % TRACE_SETTLE_BRANCHES == 0) {
		settle(trace, src, trace->settled[src]);
		trace->settled[src] = message->offset;
	}
	return false;
}

/*
 * Handle a context switch: after a thread has continued on another source, it stores no more words
 * through the previous source.
 */
static void on_context(struct trace *trace, const struct nexus_message *message)
{
	const uint64_t thread = NEXUS_PROCESS_CONTEXT(message->field[0]);
	unsigned int i;

	if (trace->ops->counter)
		return;
	for (i = 0; i < NEXUS_SOURCES && thread; i++)
		if (i != message->src && trace->unfinished[i] && trace->thread[i] == thread) {
			settle(trace, i, message->offset);
			trace->unfinished[i] = false;
		}
	trace->thread[message->src] = thread;
}

/* Handle a message. Return 0, or -ENOMEM. */
static int on_message(struct trace *trace, const struct nexus_message *message)
{
	struct nexus_message unfinished;
	struct store store;

	trace->stats.messages++;
	if (nexus_store(message, &store))
		return on_store(trace, &store);
	if (nexus_is_branch(message) && on_branch(trace, message)) {
		unfinished = *message;
		unfinished.flags |= NEXUS_UNFINISHED;
		message = &unfinished;
	} else if (message->tcode == NEXUS_OWNERSHIP) {
		on_context(trace, message);
	}
	give_message(trace, STAGES_MESSAGE, trace->ops->message, message);
	if (message->tcode == NEXUS_ERROR) {
		trace->stats.errors++;
		perfrec_lost(trace->perfrec, message->src);
		switches_lost(&trace->stats.switches, message->src);
		give_message(trace, STAGES_ERROR, trace->ops->error, message);
	} else if (message->flags & NEXUS_UNKNOWN_TCODE) {
		trace->stats.unknown++;
	} else if (message->tcode == NEXUS_OWNERSHIP) {
		trace->stats.ownership++;
		give_message(trace, STAGES_OWNERSHIP, trace->ops->ownership, message);
	}
	return 0;
}

static int on_event(struct trace *trace, const struct clocks_event *event)
{
	struct nexus_message doubtful;

	if (event->item != NEXUS_MESSAGE) {
		records_gap(trace, &event->message);
		return 0;
	}
	if (is_absolute(event))
		trace->doubted[event->message.src] = false;
	if (!trace->doubted[event->message.src] || !(event->message.flags & NEXUS_TIME_KNOWN))
		return on_message(trace, &event->message);
	doubtful = event->message;
	doubtful.flags |= NEXUS_TIME_INFERRED;
	return on_message(trace, &doubtful);
}

static void on_switch(void *context, const struct trace_switch *record)
{
	struct trace *trace = context;

	if (trace->stages)
		stages_switch(trace->stages, record);
	else
		trace->ops->switched(trace->context, record);
}

void records_begin(struct trace *trace)
{
	const struct trace_ops *ops = trace->ops;

	trace->stats.switches.give = ops->switched ? on_switch : NULL;
	trace->stats.switches.context = trace;
	trace->perfrec_ops = (struct perfrec_ops){
		.stream = on_stream, .header = on_header, .record = on_record,
		.lost = on_lost, .damaged = on_damaged, .marks = on_marks,
		/*
		 * The following callbacks are set only if needed, because they cost time for each
		 * word.
		 */
		.stack = trace->unwind && ops->record ? on_stack : NULL,
		.part = ops->part ? on_part : NULL,
		.address = ops->address ? on_address : NULL,
		.counter = ops->counter ? on_counter : NULL,
	};
}

static void add_store(struct trace *trace, const struct store *store)
{
	/* The first stage needs the number of words in order to recover clocks. */
	trace->stats.words[store->channel]++;
	if (store->time_known != TIME_UNKNOWN)
		range_add(trace->span, store->time);
}

void records_span(struct trace *trace, const struct records_batch *batch, unsigned int *done)
{
	const struct nexus_message *message;
	struct store store;
	size_t i;

	for (i = 0; i < batch->stores; i++)
		add_store(trace, &batch->store[i]);
	for (*done = 0; *done < batch->events && batch->event[*done].at <= batch->stores; ++*done) {
		message = &batch->event[*done].message;
		if (batch->event[*done].item != NEXUS_MESSAGE)
			continue;
		if (nexus_store(message, &store))
			add_store(trace, &store);
		else if (message->flags & NEXUS_TIME_KNOWN)
			range_add(trace->span, message->time);
	}
}

int records_push(struct trace *trace, const struct records_batch *batch, unsigned int *done)
{
	size_t at = 0, end;
	int error = 0;

	*done = 0;
	trace->batch = batch;
	if (trace->damaged)
		doubt_times(trace, batch, 0);
	while (!error && (at < batch->stores || *done < batch->events)) {
		end = *done < batch->events ? batch->event[*done].at : batch->stores;
		if (end > batch->stores)
			end = batch->stores;
		trace->stats.messages += end - at;
		for (; at < end && !error; at++)
			error = on_store(trace, &batch->store[at]);
		if (error || *done == batch->events || batch->event[*done].at > batch->stores)
			break;
		error = on_event(trace, &batch->event[(*done)++]);
	}
	trace->batch = NULL;
	return error;
}
