// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clocks.h"
#include "command.h"
#include "progress.h"
#include "resume.h"
#include "ring.h"
#include "source.h"
#include "trace.h"

/* Skipped bytes that may contain a header and its first record. */
#define TAIL	(8u << 10)

/* Further chunks to search if there are messages but no record. */
#define CHUNKS_AHEAD	16

/* Stores to decode at once. */
#define STORES	64

/* Limit of damaged places to search for timestamps. */
#define RECOVERIES	4096

struct trace {
	struct source		in;
	uint32_t		channels;	/* bit n: channel n is decoded */
	struct progress		*progress;
	struct nexus		nexus;
	struct perfrec		*perfrec;
	struct perfrec_ops	perfrec_ops;
	const struct trace_ops	*ops;
	void			*context;
	struct trace_stats	stats;
	/* Sources that have sent words on each channel. */
	uint8_t			source[PERFREC_CHANNELS][PERFREC_SOURCES];
	uint8_t			sources[PERFREC_CHANNELS];
	/* A record or header has been completed. */
	bool			begun[PERFREC_CHANNELS][PERFREC_SOURCES];
	/* Bytes skipped as no message before the SRC width was known. */
	uint64_t		skipped;
	/* A ring that has overwritten its oldest bytes. */
	bool			wrapped;
	/* For a piece of a recording. */
	const struct meta	*meta;
	uint64_t		rest[PERFREC_CHANNELS][PERFREC_SOURCES];
	struct ring_times	times;
	struct clocks		clocks;
	unsigned int		recoveries;
};

static void on_stream(void *context, unsigned int src, unsigned int channel)
{
	struct trace *trace = context;

	trace->source[channel][trace->sources[channel]++] = (uint8_t)src;
}

/* The trace timestamp, which has no CSR, is nobody's count. */
static bool counts_events(const struct perfrec_header *header)
{
	unsigned int i;

	for (i = 0; i < header->counters; i++)
		if (header->counter[i].csr)
			return true;
	return false;
}

static void on_header(void *context, const struct perfrec_header *header)
{
	struct trace *trace = context;

	trace->stats.headers++;
	trace->stats.counted |= counts_events(header);
	trace->begun[header->channel][header->src] = true;
	if (trace->ops->header)
		trace->ops->header(trace->context, header);
}

/*
 * The last record of a moved thread on its old source waits for a word there, which may not
 * come before the thread returns.
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

void trace_settle(const struct trace *trace, uint32_t owner, unsigned int channel,
		  const struct perfrec_stamp *before)
{
	perfrec_settle_thread(trace->perfrec, owner, channel, before);
}

/* A record before a ring's first header that depends on overwritten records. */
static bool is_rootless(const struct perfrec_record *record)
{
	return record->header && !record->header->serial &&
	       !(record->flags & PERFREC_ADDRESS_KNOWN);
}

/* A record that another piece of the recording has: the one before, or the next. */
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

	if (!is_rootless(record) && !is_others(trace, record))
		trace->ops->address(trace->context, record);
}

static void on_counter(void *context, const struct perfrec_record *record,
		       unsigned int i, const struct perfrec_stamp *end)
{
	struct trace *trace = context;

	if (!is_rootless(record) && !is_others(trace, record))
		trace->ops->counter(trace->context, record, i, end);
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
	if (is_rootless(record)) {
		stats->rootless++;
		return;
	}
	stats->assumed += record->header && !record->header->serial;
	stats->records[record->type]++;
	stats->no_header += !record->header;
	stats->unaddressed += !(record->flags & PERFREC_ADDRESS_KNOWN);
	if (record->address_end.time_known) {
		uint64_t time = record->address_end.time;

		if (!stats->timed || time < stats->first)
			stats->first = time;
		if (!stats->timed || time > stats->last)
			stats->last = time;
		stats->timed++;
		stats->inferred += record->address_end.time_known == TIME_INFERRED;
	}
	if (trace->ops->record)
		trace->ops->record(trace->context, record);
}

static void on_lost(void *context, const struct perfrec_loss *loss)
{
	struct trace *trace = context;
	bool *begun = &trace->begun[loss->channel][loss->src];

	/* The next piece has what this one's end has cut. */
	if (loss->offset == RESUME_BEFORE ||
	    (trace->meta->continued && loss->reason == PERFREC_TRUNCATED))
		return;
	/* A ring begins within records. */
	if (trace->wrapped && !*begun && loss->reason == PERFREC_NO_START) {
		trace->stats.ring_words += loss->words;
	} else {
		trace->stats.losses++;
		trace->stats.lost_words += loss->words;
		trace->stats.truncated += loss->reason == PERFREC_TRUNCATED;
	}
	*begun = true;
	if (trace->ops->lost)
		trace->ops->lost(trace->context, loss);
}

/* The times of a ring's sources before the next message. */
static void start_clocks(struct trace *trace)
{
	unsigned int src;

	for (src = 0; src < NEXUS_SOURCES; src++)
		if (trace->times.known[src])
			nexus_set_time(&trace->nexus, src,
				       trace->times.time[src], TIME_INFERRED);
}

static void on_gap(struct trace *trace, const struct nexus_message *gap)
{
	struct trace_stats *stats = &trace->stats;

	switch (gap->gap) {
	case NEXUS_GAP_ALIGN:
		stats->align_bytes += gap->length;
		break;
	case NEXUS_GAP_TRUNCATED:
		/* All records so far are complete, so no record is cut here. */
		stats->cut_bytes += gap->length;
		break;
	default:
		stats->gaps++;
		stats->gap_bytes += gap->length;
		perfrec_lost(trace->perfrec, -1);
		break;
	}
	if (trace->ops->gap)
		trace->ops->gap(trace->context, gap);
}

/* Return 0, or -ENOMEM. */
static int on_store(struct trace *trace, const struct store *store)
{
	trace->stats.words[store->channel]++;
	if (!(trace->channels >> store->channel & 1))
		return 0;
	return perfrec_push(trace->perfrec, store);
}

/* Return 0, or -ENOMEM. */
static int on_message(struct trace *trace, const struct nexus_message *message)
{
	struct store store;

	trace->stats.messages++;
	if (nexus_store(message, &store))
		return on_store(trace, &store);
	if (message->tcode == NEXUS_ERROR) {
		trace->stats.errors++;
		perfrec_lost(trace->perfrec, message->src);
		if (trace->ops->error)
			trace->ops->error(trace->context, message);
	} else if (message->flags & NEXUS_UNKNOWN_TCODE) {
		trace->stats.unknown++;
	} else if (message->tcode == NEXUS_OWNERSHIP) {
		trace->stats.ownership++;
		if (trace->ops->ownership)
			trace->ops->ownership(trace->context, message);
	}
	return 0;
}

static int on_event(struct trace *trace, const struct clocks_event *event)
{
	if (event->item == NEXUS_MESSAGE)
		return on_message(trace, &event->message);
	on_gap(trace, &event->message);
	return 0;
}

/* Decodes the records of the @count oldest waiting stores. Returns 0 or -1. */
static int deliver(struct trace *trace, size_t count)
{
	struct clocks *clocks = &trace->clocks;
	unsigned int done = 0, i;
	size_t at = 0, end;
	int error = 0;

	while (!error && (at < count || done < clocks->events)) {
		end = done < clocks->events ? clocks->event[done].at : count;
		if (end > count)
			end = count;
		trace->stats.messages += end - at;
		for (; at < end && !error; at++)
			error = on_store(trace, &clocks->store[at]);
		if (error || done == clocks->events || clocks->event[done].at > count)
			break;
		error = on_event(trace, &clocks->event[done++]);
	}
	clocks->stores -= count;
	memmove(clocks->store, clocks->store + count,
		clocks->stores * sizeof(clocks->store[0]));
	clocks->events -= done;
	memmove(clocks->event, clocks->event + done,
		clocks->events * sizeof(clocks->event[0]));
	for (i = 0; i < clocks->events; i++)
		clocks->event[i].at -= count;
	if (error)
		report("%s: out of memory", trace->in.path);
	return error ? -1 : 0;
}

/* Messages other than stores, and gaps, wait as well. Returns 0 or -1. */
static int queue_event(struct trace *trace, enum nexus_item item,
		       const struct nexus_message *message)
{
	struct clocks *clocks = &trace->clocks;

	if (clocks->events == CLOCKS_EVENTS && deliver(trace, clocks->stores))
		return -1;
	clocks->event[clocks->events++] = (struct clocks_event){
		.at = clocks->stores, .item = item, .message = *message,
	};
	return 0;
}

/*
 * Search damaged bytes for timestamps, and skip what follows and belongs to them.
 * Returns whether the damage is certain.
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

static void damage(struct trace *trace, int src, struct nexus_message *damaged)
{
	clocks_break(&trace->clocks, src, damaged->offset);
	recover(trace, damaged);
}

/* A store may contain a swallowed timestamp. Returns whether this one does. */
static bool swallowed(struct trace *trace, struct nexus_message *message)
{
	clocks_break(&trace->clocks, message->src, message->offset);
	if (recover(trace, message)) {
		message->gap = NEXUS_GAP_MALFORMED;
		return true;
	}
	nexus_mix_stamps(&trace->nexus);
	return false;
}

/* Decodes the next message that nexus_stores() does not take. Returns 0 or -1. */
static int on_item(struct trace *trace, enum nexus_item item,
		   struct nexus_message *message)
{
	struct clocks *clocks = &trace->clocks;
	struct store *store = &clocks->store[clocks->stores];

	if (item == NEXUS_GAP) {
		if (message->gap == NEXUS_GAP_ALIGN)
			start_clocks(trace);
		else
			damage(trace, -1, message);
		return queue_event(trace, item, message);
	}
	if (message->flags & NEXUS_TIMESTAMP && message->flags & NEXUS_SYNC) {
		clocks->absolute[message->src] = message->offset;
		trace->stats.absolute = true;
	}
	if (message->flags & NEXUS_CONTRARY) {
		clocks_correct(clocks, message);
		trace->stats.corrected++;
	}
	if (message->flags & NEXUS_UNKNOWN_TCODE)
		damage(trace, message->src, message);
	else if (message->tcode == NEXUS_ERROR)
		clocks_break(clocks, message->src, message->offset);
	else if (message->flags & NEXUS_STAMP_MISSING && swallowed(trace, message))
		return queue_event(trace, NEXUS_GAP, message);
	if (!nexus_store(message, store))
		return queue_event(trace, item, message);
	clocks->stores++;
	return 0;
}

static int drain(struct trace *trace)
{
	struct clocks *clocks = &trace->clocks;
	struct nexus_message message;
	enum nexus_item item;
	size_t count;

	for (;;) {
		if (clocks->stores > CLOCKS_QUEUE - STORES &&
		    deliver(trace, clocks->stores - CLOCKS_AHEAD))
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
		    deliver(trace, clocks->stores - CLOCKS_AHEAD))
			return -1;
		if (on_item(trace, item, &message))
			return -1;
	}
}

/* Return 0, or -1: the reason has been printed. */
static int fill(struct trace *trace)
{
	int error = source_fill(&trace->in);

	trace->stats.bytes = trace->in.bytes;
	return error;
}

static int fill_up(struct trace *trace)
{
	int error = source_fill_up(&trace->in);

	trace->stats.bytes = trace->in.bytes;
	return error;
}

/* The user's settings override the side-car file, which overrides the defaults. */
static int choose(int said, int meta, int otherwise)
{
	if (said >= 0)
		return said;
	return meta >= 0 ? meta : otherwise;
}

static uint32_t choose_channels(const struct trace_options *options,
				const struct meta *meta)
{
	uint32_t channels = 0;
	size_t i;

	if (options->channel == TRACE_ALL_CHANNELS)
		return ~0u;
	if (options->channel >= 0)
		return 1u << options->channel;
	for (i = 0; i < meta->threads; i++)
		channels |= 1u << meta->thread[i].channel;
	if (meta->channel >= 0)
		channels |= 1u << meta->channel;
	if (meta->sampling.channel >= 0)
		channels |= 1u << meta->sampling.channel;
	return channels ? channels : 1u << PERFREC_CHANNEL_DEFAULT;
}

/* One repeated byte: idle bytes, or memory that was never written. */
static bool is_blank(const struct trace *trace)
{
	return trace->in.filled && !memcmp(trace->in.buffer, trace->in.buffer + 1,
					trace->in.filled - 1);
}

/*
 * Infers what a ring has overwritten. A trace whose first time builds on an earlier
 * one is a ring too, whatever cut it.
 */
static int set_up_ring(struct trace *trace, const struct nexus_options *nexus,
		       const struct meta *meta)
{
	struct perfrec_header header;

	trace->wrapped = nexus->ring || meta->wrapped > 0;
	perfrec_repeat(trace->perfrec, meta->header_interval);
	if (trace->wrapped && ring_header(meta, &header) &&
	    perfrec_assume(trace->perfrec, &header)) {
		report("%s: out of memory", trace->in.path);
		return -1;
	}
	if (resume_clocks(&trace->nexus, meta)) {
		trace->stats.absolute = true;
		return 0;
	}
	/* Only if the trace can be read more than once. */
	if (trace->in.fd == STDIN_FILENO || lseek(trace->in.fd, 0, SEEK_CUR) < 0 ||
	    !(trace->wrapped || ring_begins(trace->in.buffer, trace->in.filled, nexus)))
		return 0;
	if (ring_times(trace->in.fd, nexus, &trace->times)) {
		report("%s: cannot read: %s", trace->in.path, strerror(errno));
		return -1;
	}
	trace->stats.worked_out = trace->times.worked_out;
	trace->stats.contrary = trace->times.contrary;
	if (!nexus->ring)
		start_clocks(trace);
	return 0;
}

/*
 * The SRC width from the bytes at hand, the first of which may be damaged or blank,
 * and then from later ones. -1: all are idle.
 */
struct look {
	int	src_bits;
	bool	records;
	bool	idle;		/* nothing but idle bytes so far */
};

static void look(struct trace *trace, const struct nexus_options *nexus,
		 struct look *look)
{
	bool records;
	int found;

	look->idle &= is_blank(trace) && trace->in.buffer[0] == 0xff;
	if (is_blank(trace))
		return;
	found = infer_src_bits(trace->in.buffer, trace->in.filled, nexus, &records);
	if (found < 0 || (look->src_bits >= 0 && !records))
		return;
	look->src_bits = found;
	look->records = records;
}

/* Searches ahead, and returns to the beginning of the trace. Returns 0 or -1. */
static int look_ahead(struct trace *trace, const struct nexus_options *nexus,
		      off_t start, struct look *found)
{
	unsigned int chunks = 0;

	while (trace->in.filled && !found->records &&
	       (found->src_bits < 0 || chunks++ < CHUNKS_AHEAD)) {
		if (fill(trace))
			return -1;
		if (trace->in.filled)
			look(trace, nexus, found);
	}
	return source_rewind(&trace->in, start) ? -1 : fill(trace);
}

/* Input that can be read only once: skip bytes outside messages. Returns 0 or -1. */
static int look_on(struct trace *trace, const struct nexus_options *nexus,
		   struct look *found)
{
	size_t gone, i;

	while (found->src_bits < 0 &&
	       (trace->in.filled == SOURCE_CHUNK || trace->in.paused)) {
		gone = trace->in.filled == SOURCE_CHUNK ? SOURCE_CHUNK - TAIL : 0;
		for (i = 0; i < gone; i++)
			trace->skipped += trace->in.buffer[i] != 0xff;
		trace->in.filled -= gone;
		memmove(trace->in.buffer, trace->in.buffer + gone, trace->in.filled);
		if (fill_up(trace))
			return -1;
		look(trace, nexus, found);
	}
	return 0;
}

static int find_src_bits(struct trace *trace, const struct nexus_options *nexus,
			 off_t start, int *src_bits, bool *idle)
{
	struct look found = { .src_bits = -1, .idle = true };
	bool file = start >= 0 && trace->in.file;

	look(trace, nexus, &found);
	if (trace->in.filled == SOURCE_CHUNK && !found.records &&
	    (file ? look_ahead(trace, nexus, start, &found) :
		    look_on(trace, nexus, &found)))
		return -1;
	*src_bits = found.src_bits;
	*idle = found.idle;
	return 0;
}

/* Read enough of a pipe to infer how to decode it, or until it pauses. Return 0, or -1. */
static int fill_first(struct trace *trace, const struct nexus_options *nexus,
		      bool src_known, bool scheme_known)
{
	int error = fill(trace);

	while (!error && trace->in.paused &&
	       !infer_is_clear(trace->in.buffer, trace->in.filled, nexus, src_known,
			       scheme_known))
		error = fill_up(trace);
	return error;
}

static int set_up(struct trace *trace, const struct trace_options *options,
		  const struct meta *meta)
{
	struct nexus_options nexus = { 0 };
	struct trace_stats *stats = &trace->stats;
	bool idle = false;
	int src_bits, scheme;
	off_t start;

	start = lseek(trace->in.fd, 0, SEEK_CUR);
	nexus.ts_width = (unsigned int)choose(options->ts_width, meta->ts_width, 0);
	/* A ring that was read from the driver begins with a whole message. */
	nexus.ring = options->ring;
	src_bits = choose(options->src_bits, meta->src_bits, -1);
	nexus.src_bits = src_bits < 0 ? 0 : (unsigned int)src_bits;
	scheme = choose(options->ts_scheme, meta->ts_scheme, -1);
	if (fill_first(trace, &nexus, src_bits >= 0, scheme >= 0))
		return -1;
	if (!trace->in.filled) {
		report("%s: empty: nothing was recorded", trace->in.path);
		return -1;
	}

	trace->channels = choose_channels(options, meta);

	stats->src_from = options->src_bits >= 0 ? "as given" : "from the side-car file";
	if (src_bits < 0) {
		stats->src_from = "inferred";
		if (find_src_bits(trace, &nexus, start, &src_bits, &idle))
			return -1;
	}
	if (src_bits < 0 && idle) {
		report("%s: only idle bytes: nothing was recorded",
		       trace->in.path);
		return -1;
	}
	if (src_bits < 0) {
		report("%s: not a trace, or damaged: with any srcbits more messages are malformed than whole (-s N reads it anyway)",
		       trace->in.path);
		return -1;
	}
	nexus.src_bits = (unsigned int)src_bits;
	if (scheme < 0) {
		scheme = (int)infer_ts_scheme(trace->in.buffer, trace->in.filled, &nexus);
		stats->scheme_inferred = scheme == NEXUS_TS_DELTA;
	}
	nexus.ts_scheme = (enum nexus_ts_scheme)scheme;
	trace->clocks.mask = ~0ull >> (64 - (nexus.ts_width ? nexus.ts_width :
						 NEXUS_TS_WIDTH_DEFAULT));
	nexus.offset = trace->stats.bytes - trace->in.filled;
	stats->src_bits = nexus.src_bits;
	if (nexus_init(&trace->nexus, &nexus)) {
		report("%s: srcbits must be 0 to %d, the timestamp 1 to 64 bits",
		       trace->in.path, NEXUS_SRC_BITS_MAX);
		return -1;
	}
	return set_up_ring(trace, &nexus, meta);
}

struct trace *trace_open(const char *path, const struct trace_options *options,
			 const struct meta *meta)
{
	struct trace *trace = calloc(1, sizeof(*trace));
	size_t i;

	if (!trace) {
		report("%s: out of memory", path);
		return NULL;
	}
	if (source_open(&trace->in, path)) {
		free(trace);
		return NULL;
	}
	trace->meta = meta;
	memset(trace->rest, 0xff, sizeof(trace->rest));
	for (i = 0; i < meta->rests; i++)
		trace->rest[meta->rest[i].channel][meta->rest[i].src] = meta->rest[i].offset;
	trace->perfrec_ops = (struct perfrec_ops){
		.stream = on_stream, .header = on_header, .record = on_record,
		.lost = on_lost,
	};
	trace->perfrec = perfrec_new(&trace->perfrec_ops, trace);
	if (!trace->perfrec)
		report("%s: out of memory", path);
	if (!trace->perfrec || set_up(trace, options, meta)) {
		trace_close(trace);
		return NULL;
	}
	if (!options->quiet && !options->watched)
		trace->progress = progress_new(trace->in.fd);
	return trace;
}

/*
 * A pipe has no more data for now: show what waits for corrections. Return 0, or -1.
 */
static int catch_up(struct trace *trace)
{
	if (deliver(trace, trace->clocks.stores))
		return -1;
	if (trace->ops->pause)
		trace->ops->pause(trace->context);
	return 0;
}

int trace_run(struct trace *trace, const struct trace_ops *ops, void *context)
{
	trace->ops = ops;
	trace->context = context;
	/* Set only if needed: these callbacks cost time for each word. */
	trace->perfrec_ops.part = ops->part ? on_part : NULL;
	trace->perfrec_ops.address = ops->address ? on_address : NULL;
	trace->perfrec_ops.counter = ops->counter ? on_counter : NULL;
	if (resume_streams(trace->perfrec, trace->meta, trace->channels)) {
		report("%s: out of memory", trace->in.path);
		return -1;
	}
	if (trace->skipped)
		on_gap(trace, &(struct nexus_message){
			.length = trace->skipped, .gap = NEXUS_GAP_MALFORMED,
		});

	while (trace->in.filled) {
		nexus_feed(&trace->nexus, trace->in.buffer, trace->in.filled);
		if (drain(trace) || (trace->in.paused && catch_up(trace)))
			return -1;
		progress_show(trace->progress, trace->stats.bytes);
		if (ops->stop && ops->stop(context))
			break;
		if (fill(trace))
			return -1;
	}
	progress_end(trace->progress);
	trace->progress = NULL;
	if (trace->in.filled)
		return 0;
	nexus_end(&trace->nexus);
	if (drain(trace))
		return -1;
	if (trace->nexus.ts_scheme == NEXUS_TS_XOR)
		clocks_end(&trace->clocks);
	if (deliver(trace, trace->clocks.stores))
		return -1;
	trace->stats.stamped = trace->nexus.stamps != NEXUS_STAMPS_NONE;
	perfrec_flush(trace->perfrec);
	return 0;
}

void trace_release(struct trace *trace)
{
	perfrec_free(trace->perfrec);
	trace->perfrec = NULL;
}

unsigned int trace_sources(const struct trace *trace, unsigned int channel)
{
	return trace->sources[channel];
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
