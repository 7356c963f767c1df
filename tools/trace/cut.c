// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See cut.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cut.h"
#include "nexus/nexus.h"
#include "perfrec/perfrec.h"
#include "switches.h"

/* Exceeds the number of words in the longest header, and in the longest record with callers. */
#define WORDS	(162 + 2 * SIFIVE_TRACE_CALLERS_MAX)
/* Maximum number of stores in a record on a channel without headers. */
#define OTHERS	(SWITCHES_WORDS + 2)

/* Number of stores decoded per call. */
#define STORES	64

/**
 * struct stream - state of a stream that the next piece needs
 * @header:	the latest header, or NULL if unknown
 * @lost:	set if stores have been lost since that header
 * @known:	set if @record is the latest record, and no store has been lost since then
 * @dropped, @waited: sums of the values of the marks after the latest record
 * @headed:	set if a header follows the latest mark of dropped records
 * @begun:	the @words stores after the latest record, header or mark
 */
struct stream {
	const struct perfrec_header *header;
	bool			lost;
	bool			known;
	struct perfrec_record	record;
	uint64_t		dropped;
	uint64_t		waited;
	bool			headed;
	unsigned int		words;
	struct store		begun[WORDS];
};

/**
 * struct cut - a trace that is being followed
 * @stream:	streams of the trace; NULL before their first store
 * @store:	the store that is being decoded
 * @ended:	set if the store shows that the record before it is complete
 * @misfit:	set if the store fits neither a record nor a header
 * @begin:	offset at which the current piece begins
 */
struct cut {
	struct nexus		nexus;
	struct perfrec		*perfrec;
	struct perfrec_ops	ops;
	struct stream		*stream[PERFREC_SOURCES][PERFREC_CHANNELS];
	const struct store	*store;
	bool			ended;
	bool			misfit;
	uint64_t		begin;
};

static void on_header(void *context, const struct perfrec_header *header)
{
	struct cut *cut = context;
	struct stream *stream = cut->stream[header->src][header->channel];

	stream->header = header;
	stream->lost = false;
	stream->known = false;
	stream->headed = true;
	stream->words = 0;
	cut->ended = false;
}

static void on_record(void *context, const struct perfrec_record *record)
{
	struct cut *cut = context;
	struct stream *stream = cut->stream[record->src][record->channel];

	/* Ignore an assumed header. */
	stream->header = record->header && record->header->serial ? record->header : NULL;
	stream->record = *record;
	stream->known = stream->header && record->flags & PERFREC_ADDRESS_KNOWN;
	stream->dropped = 0;
	stream->waited = 0;
	stream->words = 0;
	/* If the latest store has two bytes or is an address, it ends the record. */
	cut->ended = cut->store->bytes != 2 &&
		     !(record->header && !record->header->counters);
}

static void on_lost(void *context, const struct perfrec_loss *loss)
{
	struct cut *cut = context;
	struct stream *stream = cut->stream[loss->src][loss->channel];

	stream->lost = true;
	stream->known = false;
	cut->misfit = true;
}

struct cut *cut_new(unsigned int src_bits, unsigned int ts_width)
{
	const struct nexus_options options = { .src_bits = src_bits, .ts_width = ts_width };
	struct cut *cut = calloc(1, sizeof(*cut));

	if (!cut)
		return NULL;
	cut->ops = (struct perfrec_ops){
		.header = on_header, .record = on_record, .lost = on_lost,
	};
	cut->perfrec = perfrec_new(&cut->ops, cut);
	if (cut->perfrec && !nexus_init(&cut->nexus, &options))
		return cut;
	cut_free(cut);
	return NULL;
}

void cut_free(struct cut *cut)
{
	unsigned int src, channel;

	if (!cut)
		return;
	perfrec_free(cut->perfrec);
	for (src = 0; src < PERFREC_SOURCES; src++)
		for (channel = 0; channel < PERFREC_CHANNELS; channel++)
			free(cut->stream[src][channel]);
	free(cut);
}

static bool is_magic(const struct store *store)
{
	return store->bytes == 4 && store->value == SIFIVE_TRACE_RECORD_MAGIC;
}

/*
 * After a discarded record, keep only the latest store, or the two latest stores if they may begin
 * a header.
 */
static void drop_words(struct stream *stream)
{
	unsigned int kept = 1;

	if (stream->words > 1 && is_magic(&stream->begun[stream->words - 2]) &&
	    stream->begun[stream->words - 1].bytes == 1)
		kept = 2;
	memmove(stream->begun, &stream->begun[stream->words - kept],
		kept * sizeof(stream->begun[0]));
	stream->words = kept;
}

/* If the stores form a complete mark, add its value to the sum, and remove the stores. */
static void keep_mark(struct stream *stream)
{
	const struct store *mark = stream->begun;

	if (stream->words != 2 || !perfrec_is_mark(mark) || mark[1].bytes != 4)
		return;
	if (mark->value == SIFIVE_TRACE_RECORD_DROPPED) {
		stream->dropped += mark[1].value;
		stream->headed = false;
	} else {
		stream->waited += (uint64_t)mark[1].value <<
				  (mark->value == SIFIVE_TRACE_RECORD_WAITED_LONG ? 32 : 0);
	}
	stream->words = 0;
}

/*
 * In a stream without a header, keep only the latest stores, which may begin a context-switch
 * record (switches.h).
 */
static void drop_others(struct stream *stream)
{
	unsigned int i;

	if (stream->header || stream->words <= OTHERS)
		return;
	for (i = 0; i < stream->words; i++)
		if (is_magic(&stream->begun[i]))
			return;
	memmove(stream->begun, &stream->begun[stream->words - OTHERS],
		OTHERS * sizeof(stream->begun[0]));
	stream->words = OTHERS;
}

static int on_store(struct cut *cut, const struct store *store)
{
	struct stream **slot = &cut->stream[store->src][store->channel];
	struct stream *stream = *slot;
	int error;

	if (!stream)
		*slot = calloc(1, sizeof(**slot));
	stream = *slot;
	if (!stream)
		return -1;
	/* Drop the oldest store, which does not belong to any record or header. */
	if (stream->words == WORDS) {
		memmove(stream->begun, stream->begun + 1,
			(WORDS - 1) * sizeof(stream->begun[0]));
		stream->words--;
	}
	stream->begun[stream->words++] = *store;
	cut->store = store;
	cut->ended = false;
	cut->misfit = false;
	error = perfrec_push(cut->perfrec, store);
	if (cut->ended)
		stream->begun[stream->words++] = *store;
	else if (cut->misfit && stream->words)
		drop_words(stream);
	keep_mark(stream);
	drop_others(stream);
	return error ? -1 : 0;
}

/* Called if messages from source @src, or from all sources if @src is -1, are missing. */
static void lose(struct cut *cut, int src)
{
	unsigned int source, channel;

	perfrec_lost(cut->perfrec, src);
	for (source = 0; source < PERFREC_SOURCES; source++)
		for (channel = 0; channel < PERFREC_CHANNELS; channel++) {
			struct stream *stream = cut->stream[source][channel];

			if (!stream || (src >= 0 && source != (unsigned int)src))
				continue;
			stream->lost = true;
			stream->known = false;
			stream->words = 0;
		}
}

static int on_item(struct cut *cut, enum nexus_item item, const struct nexus_message *message)
{
	struct store store;

	if (item == NEXUS_GAP)
		lose(cut, -1);
	else if (nexus_store(message, &store))
		return on_store(cut, &store);
	else if (message->tcode == NEXUS_ERROR)
		lose(cut, message->src);
	return 0;
}

int cut_feed(struct cut *cut, const void *bytes, size_t length)
{
	struct store store[STORES];
	struct nexus_message message;
	enum nexus_item item;
	int error = 0;
	size_t count, i;

	nexus_feed(&cut->nexus, bytes, length);
	do {
		count = nexus_stores(&cut->nexus, store, STORES);
		for (i = 0; i < count; i++)
			error |= on_store(cut, &store[i]);
		if (count == STORES)
			continue;
		item = nexus_next(&cut->nexus, &message);
		if (item == NEXUS_MORE)
			break;
		error |= on_item(cut, item, &message);
	} while (!error);
	return error;
}

ssize_t cut_place(const struct cut *cut, const uint8_t *bytes, size_t length)
{
	size_t i;

	if (!cut->nexus.carried && !cut->nexus.in_gap)
		return 0;
	for (i = 0; i < length; i++)
		if ((bytes[i] & 3) == 3)
			return (ssize_t)i + 1;
	return -1;
}

/*
 * Return the store of the unfinished record's last address if the record is complete, except
 * perhaps for the upper part of its last count; otherwise return NULL.
 */
static const struct store *whole_record(const struct stream *stream)
{
	unsigned int i = 0, addresses, counts = 0, last;
	const struct store *kind;

	while (i < stream->words && perfrec_is_callers(&stream->begun[i]))
		do
			i++;
		while (i < stream->words && stream->begun[i].bytes == 4);
	kind = &stream->begun[i++];
	if (!stream->header || stream->words <= i || kind->bytes != 1 ||
	    kind->value >= PERFREC_TYPES)
		return NULL;
	for (addresses = kind->value <= PERFREC_EXIT ? 2 : 1;
	     addresses && i < stream->words; addresses--)
		i += stream->begun[i].value & 1 ? 2 : 1;
	for (last = i - 1; i < stream->words; i++)
		counts += stream->begun[i].bytes == 4;
	return !addresses && counts && counts == stream->header->counters ?
	       &stream->begun[last] : NULL;
}

static void put_word(struct output *out, unsigned int bytes, uint32_t value)
{
	put_format(out, " %u:%" PRIx32, bytes, value);
}

static void put_header_words(struct output *out, const struct perfrec_header *header)
{
	const uint32_t flags = header->owned ? SIFIVE_TRACE_RECORD_OWNED |
			       SIFIVE_TRACE_RECORD_GOES_ON : 0;
	unsigned int i;

	put_word(out, 4, SIFIVE_TRACE_RECORD_MAGIC);
	put_word(out, 1, header->count_type | flags);
	if (header->owned)
		put_word(out, 4, header->owner);
	put_word(out, 4, header->mask);
	for (i = 0; i < header->counters; i++) {
		const struct perfrec_counter *counter = &header->counter[i];

		put_word(out, 4, counter->type);
		if (counter->type == PERFREC_EVENT_RAW) {
			put_word(out, 4, (uint32_t)counter->event_data);
			put_word(out, 4, (uint32_t)(counter->event_data >> 32));
		} else {
			put_word(out, 4, counter->code);
		}
		put_word(out, 4, counter->csr | (counter->width - 1u) <<
				 SIFIVE_TRACE_COUNTER_WIDTH_SHIFT);
	}
}

static void put_header(struct output *out, const struct perfrec_header *header)
{
	put_string(out, ",\"header\":\"");
	put_header_words(out, header);
	put_char(out, '"');
}

/*
 * Write the record as if it were the first after a header: with complete addresses, and with either
 * counter values or counts since the header.
 */
static void put_record(struct output *out, const struct perfrec_record *record)
{
	unsigned int i;

	put_string(out, ",\"record\":\"");
	put_word(out, 1, record->type);
	for (i = 0; i < record->addresses; i++) {
		uint64_t address = record->address[i];

		/*
		 * DeltaXOR: like the first address, the second address is XORed with its
		 * predecessor.
		 */
		if (i && record->header->count_type == PERFREC_DELTA_XOR)
			address ^= record->address[0];
		put_word(out, 4, (uint32_t)address | !!(address >> 32));
		if (address >> 32)
			put_word(out, 4, (uint32_t)(address >> 32));
	}
	for (i = 0; i < record->counters; i++) {
		put_word(out, 4, (uint32_t)record->value[i]);
		if (record->value[i] >> 32 & 0xffff)
			put_word(out, 2, record->value[i] >> 32 & 0xffff);
	}
	put_char(out, '"');
}

static void put_mark(struct output *out, uint32_t kind, uint64_t value)
{
	if (value) {
		put_word(out, 1, kind);
		put_word(out, 4, (uint32_t)value);
	}
}

/*
 * Write the marks. Also write a header that follows a mark of dropped records: it shows that the
 * next records do not depend on records before the mark.
 */
static void put_marks(struct output *out, const struct stream *stream)
{
	put_mark(out, SIFIVE_TRACE_RECORD_DROPPED, stream->dropped);
	if (stream->dropped && stream->headed)
		put_header_words(out, stream->header);
	put_mark(out, SIFIVE_TRACE_RECORD_WAITED, (uint32_t)stream->waited);
	put_mark(out, SIFIVE_TRACE_RECORD_WAITED_LONG, stream->waited >> 32);
}

static void put_begun(struct output *out, const struct stream *stream)
{
	unsigned int i;

	put_string(out, ",\"begun\":\"");
	put_marks(out, stream);
	for (i = 0; i < stream->words; i++) {
		const struct store *store = &stream->begun[i];

		put_word(out, store->bytes, store->value);
		if (store->time_known)
			put_format(out, "%c%" PRIx64,
				   store->time_known == TIME_EXACT ? '@' : '~', store->time);
	}
	put_char(out, '"');
}

static void put_stream(struct output *out, const struct stream *stream, unsigned int src,
		       unsigned int channel)
{
	put_format(out, "{\"src\":%u,\"channel\":%u", src, channel);
	if (stream->header)
		put_header(out, stream->header);
	if (stream->lost)
		put_string(out, ",\"lost\":true");
	if (stream->known)
		put_record(out, &stream->record);
	if (stream->words || stream->dropped || stream->waited)
		put_begun(out, stream);
	put_char(out, '}');
}

void cut_write(const struct cut *cut, struct output *out)
{
	const char *between = "";
	unsigned int src, channel;

	put_string(out, "\"clocks\":[");
	for (src = 0; src < NEXUS_SOURCES; src++) {
		if (!cut->nexus.quality[src])
			continue;
		put_format(out, "%s{\"src\":%u,\"time\":%" PRIu64 ",\"inferred\":%s}", between,
			   src, cut->nexus.now[src],
			   cut->nexus.quality[src] == TIME_INFERRED ? "true" : "false");
		between = ",";
	}
	put_string(out, "],\n\"streams\":[");
	for (between = "\n", src = 0; src < PERFREC_SOURCES; src++)
		for (channel = 0; channel < PERFREC_CHANNELS; channel++) {
			if (!cut->stream[src][channel])
				continue;
			put_string(out, between);
			put_stream(out, cut->stream[src][channel], src, channel);
			between = ",\n";
		}
	put_char(out, ']');
}

void cut_begin(struct cut *cut)
{
	cut->begin = cut->nexus.offset;
}

void cut_rest(const struct cut *cut, struct output *out)
{
	const char *between = "";
	unsigned int src, channel;

	put_string(out, "\"rest\":[");
	for (src = 0; src < PERFREC_SOURCES; src++)
		for (channel = 0; channel < PERFREC_CHANNELS; channel++) {
			const struct stream *stream = cut->stream[src][channel];
			const struct store *last = stream ? whole_record(stream) : NULL;

			if (!last)
				continue;
			put_format(out, "%s{\"src\":%u,\"channel\":%u,\"offset\":%" PRIu64 "}",
				   between, src, channel,
				   last->offset > cut->begin ? last->offset - cut->begin : 0);
			between = ",";
		}
	put_char(out, ']');
}
