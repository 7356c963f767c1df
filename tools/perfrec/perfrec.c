// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Decodes performance records from the stores to a channel: see perfrec.h. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"

struct perfrec *perfrec_new(const struct perfrec_ops *ops, void *context)
{
	struct perfrec *perfrec = calloc(1, sizeof(*perfrec));

	if (!perfrec)
		return NULL;
	perfrec->ops = ops;
	perfrec->context = context;
	return perfrec;
}

void perfrec_free(struct perfrec *perfrec)
{
	struct stream *stream, *next;

	if (!perfrec)
		return;
	for (stream = perfrec->first; stream; stream = next) {
		next = stream->next;
		free(stream->caller);
		free(stream->stack);
		free(stream);
	}
	callers_free(&perfrec->callers);
	free(perfrec->assumed);
	free(perfrec);
}

int perfrec_assume(struct perfrec *perfrec, const struct perfrec_header *header, bool ring)
{
	perfrec->assumed = malloc(sizeof(*header));
	if (!perfrec->assumed)
		return -ENOMEM;
	*perfrec->assumed = *header;
	perfrec->ring = ring;
	return 0;
}

void perfrec_repeat(struct perfrec *perfrec, uint32_t channels, uint64_t records)
{
	unsigned int i;

	for (i = 0; i < PERFREC_CHANNELS; i++)
		if (channels >> i & 1)
			perfrec->interval[i] = records;
}

/* Give a stream without a header the assumed header, with serial number 0. */
static __attribute__((noinline, cold)) void assume_header(struct stream *stream,
			  const struct perfrec_header *assumed)
{
	struct perfrec_header *header = &stream->headers[PERFREC_HEADERS_KEPT];

	*header = *assumed;
	header->src = stream->record.src;
	header->channel = stream->record.channel;
	header->serial = 0;
	stream->header = header;
	stream->broken = true;
}

/* Not inlined: otherwise, perfrec_push() would save more registers for each word. */
static __attribute__((noinline)) struct stream *
stream_new(struct perfrec *perfrec, const struct store *word)
{
	struct stream *stream = malloc(sizeof(*stream));

	if (!stream)
		return NULL;
	memset(stream, 0, offsetof(struct stream, headers));
	stream->state = BOUNDARY;
	stream->reading = &stream->headers[0];
	stream->record.src = word->src;
	stream->record.channel = word->channel;
	stream->loss.src = word->src;
	stream->loss.channel = word->channel;
	stream->guessed = -1;
	stream->next = perfrec->first;
	perfrec->first = stream;
	if (perfrec->ops->stream)
		perfrec->ops->stream(perfrec->context, word->src, word->channel);
	return stream;
}

static uint64_t width_mask(unsigned int width)
{
	return ~0ull >> (64 - width);
}

static void lose_record(struct stream *stream, enum perfrec_reason reason)
{
	const uint64_t offset = stream->caller_words ? stream->mark_offset :
						       stream->record.begin.offset;

	lose(stream, reason, offset, stream->record.words + stream->caller_words);
	stream->caller_words = 0;
}

static void begin_record(struct perfrec *perfrec, struct stream *stream,
			 const struct store *word)
{
	struct perfrec_record *record = &stream->record;

	report_loss(perfrec, stream);
	if (__builtin_expect(!stream->header, false) && !stream->serial && perfrec->assumed)
		assume_header(stream, perfrec->assumed);
	record->type = word->value;
	record->begin = stamp(word);
	record->addresses = 0;
	record->counters = 0;
	record->words = 1;
	stream->doubtful = (stream->state == LOST) | stream->magic;
	stream->given = 0;
	stream->upper_seen = true;
	stream->state = RECORD_ADDRESS;
}

/* Set the record's addresses and flags. The stream does not change. */
static inline __attribute__((always_inline)) void rebuild_addresses(struct stream *stream)
{
	struct perfrec_record *record = &stream->record;
	const struct perfrec_header *header = stream->header;
	uint64_t before = stream->address;
	unsigned int i;

	record->header = header;
	record->flags = stream->lost;
	for (i = 0; i < record->addresses; i++) {
		uint64_t address = record->sent_address[i];

		if (header && header->count_type == PERFREC_DELTA_XOR) {
			address ^= before;
			before = address;
		}
		record->address[i] = address;
	}
	if (!header || __builtin_expect(stream->broken, false)) {
		record->flags |= PERFREC_STALE;
		if (!header)
			return;
		if (header->count_type != PERFREC_DELTA_XOR)
			record->flags |= PERFREC_ADDRESS_KNOWN;
		if (header->count_type == PERFREC_RAW)
			record->flags |= PERFREC_VALUE_KNOWN;
	} else {
		record->flags |= PERFREC_ADDRESS_KNOWN | PERFREC_VALUE_KNOWN;
	}
	if (header->count_type == PERFREC_DELTA ||
	    (stream->previous && record->flags & PERFREC_VALUE_KNOWN))
		record->flags |= PERFREC_DELTA_KNOWN;
}

/* Return the previous value, from which the latest value is computed, or 0 after a header. */
static inline uint64_t value_before(const struct stream *stream, unsigned int i)
{
	return stream->records ? stream->value[i] : 0;
}

/* Compute the value of counter @i from the transmitted and the previous value. */
static inline uint64_t rebuild_value(const struct perfrec_header *header,
				     unsigned int i, uint64_t before, uint64_t sent)
{
	switch (header->count_type) {
	case PERFREC_RAW:
		return sent;
	case PERFREC_DELTA:
		return (before + sent) & width_mask(header->counter[i].width);
	default:
		return before ^ sent;
	}
}

/* Compute the record's values from the transmitted words and the previous record. */
static void rebuild(struct stream *stream)
{
	struct perfrec_record *record = &stream->record;
	const struct perfrec_header *header = stream->header;
	unsigned int i;

	rebuild_addresses(stream);
	stream->lost = 0;
	if (!header) {
		for (i = 0; i < record->counters; i++) {
			record->value[i] = record->sent[i];
			record->delta[i] = 0;
		}
		return;
	}
	stream->address = record->address[record->addresses - 1];
	for (i = 0; i < record->counters; i++) {
		uint64_t mask = width_mask(header->counter[i].width);
		uint64_t sent = record->sent[i];
		uint64_t value = rebuild_value(header, i, value_before(stream, i), sent);
		uint64_t before = header->repeated ? stream->value[i] :
						     value_before(stream, i);

		if (header->count_type == PERFREC_DELTA)
			record->delta[i] = sent & mask;
		else
			record->delta[i] = (value - before) & mask &
					   width_mask(PERFREC_VALUE_BITS);
		record->value[i] = value;
		stream->value[i] = value;
	}
	stream->records++;
	stream->previous = true;
}

/* Return whether @word is the upper part of the latest counter. */
static bool upper_part(const struct stream *stream, const struct store *word)
{
	return word->bytes == 2 && stream->state >= RECORD_COUNTER &&
	       !stream->upper_seen;
}

/*
 * Pass on the latest counter. @word is the word that shows that the counter is complete, or NULL if
 * the counter's own last word shows this.
 */
static __attribute__((noinline)) void
give_counter(struct perfrec *perfrec, struct stream *stream,
			 const struct store *word)
{
	struct perfrec_record *record = &stream->record;
	unsigned int i = stream->given;

	if (word)
		stream->latest = stamp(word);
	if (i >= record->counters)
		return;
	record->value[i] = stream->header ?
			   rebuild_value(stream->header, i, value_before(stream, i),
					 record->sent[i]) : record->sent[i];
	stream->given++;
	perfrec->ops->counter(perfrec->context, record, i, &stream->latest);
}

static __attribute__((noinline, cold)) void finish_unusual(struct stream *stream)
{
	struct perfrec_record *record = &stream->record;

	if (record->flags & (PERFREC_CALLERS | PERFREC_NAMED)) {
		record->words += stream->caller_words;
		stream->caller_words = 0;
	}
	if (record->flags & UNSURE) {
		record->flags &= (uint16_t)~(UNSURE | PERFREC_VALUE_KNOWN | PERFREC_DELTA_KNOWN);
		stream->previous = false;
	}
	if (record->flags & DOUBTED) {
		record->flags &= (uint16_t)~DOUBTED;
		stream->lost |= PERFREC_AFTER_LOSS;
	}
}

#define UNUSUAL	(PERFREC_CALLERS | PERFREC_NAMED | UNSURE | DOUBTED)

static void finish_record(struct perfrec *perfrec, struct stream *stream)
{
	if (!stream->header)
		stream->guessed = (int)stream->record.counters;
	stream->state = BOUNDARY;
	rebuild(stream);
	if (__builtin_expect(stream->record.flags & UNUSUAL, false))
		finish_unusual(stream);
	if (perfrec->ops->record)
		perfrec->ops->record(perfrec->context, &stream->record);
}

/* Not inlined, because few consumers need addresses. */
static __attribute__((noinline)) void
give_address(struct perfrec *perfrec, struct stream *stream)
{
	if (perfrec->ops->address) {
		rebuild_addresses(stream);
		perfrec->ops->address(perfrec->context, &stream->record);
	}
	if (stream->header && !stream->header->counters)
		finish_record(perfrec, stream);
}

/* Return whether the words of the first address may be a header's mask and an event type. */
static inline bool is_typed(const struct stream *stream)
{
	return stream->low[0] & 1 &&
	       perfrec_is_event_type(stream->record.sent_address[0] >> 32);
}

/*
 * Return whether the record that ends before @word (NULL: at the end of the trace) is in fact the
 * rest of a header without its magic: a mask, an event type, and three or four words for each bit
 * of the mask, without gaps. After any other record, a 32-bit @word is a damaged magic.
 */
static __attribute__((noinline)) bool
is_header_rest(const struct stream *stream, const struct store *word)
{
	const struct perfrec_header *header = stream->header;
	uint64_t words = stream->record.words - 2;
	uint64_t set = (uint64_t)__builtin_popcount(stream->low[0]);

	if (word && word->bytes == 4 && word->value != SIFIVE_TRACE_RECORD_MAGIC)
		return stream->doubtful || is_typed(stream) ||
		       (header && stream->low[0] == header->mask);
	return header && is_typed(stream) && words >= 3 * set && words <= 4 * set;
}

/* End a record that no later word can complete. */
static void end_record(struct perfrec *perfrec, struct stream *stream)
{
	if (perfrec->ops->counter)
		give_counter(perfrec, stream, NULL);
	if (is_header_rest(stream, NULL))
		lose_record(stream, PERFREC_CUT_RECORD);
	else
		finish_record(perfrec, stream);
}

static void finish_addresses(struct perfrec *perfrec, struct stream *stream,
			     const struct store *word)
{
	struct perfrec_record *record = &stream->record;

	if (++record->addresses < (record->type <= PERFREC_EXIT ? 2 : 1)) {
		stream->state = RECORD_ADDRESS;
		return;
	}
	record->address_end = stamp(word);
	stream->state = RECORD_COUNTER;
	if (perfrec->ops->address || (stream->header && !stream->header->counters))
		give_address(perfrec, stream);
}

/* Decode one word of a record. Return false if it does not fit. */
static bool record_word(struct perfrec *perfrec, struct stream *stream,
			const struct store *word)
{
	struct perfrec_record *record = &stream->record;
	const struct perfrec_header *header = stream->header;

	if (upper_part(stream, word) && word->value) {
		record->sent[record->counters - 1] |= (uint64_t)word->value << 32;
		stream->upper_seen = true;
		record->words++;
		if (perfrec->ops->counter)
			give_counter(perfrec, stream, word);
		if (stream->state == RECORD_LAST)
			finish_record(perfrec, stream);
		return true;
	}
	if (word->bytes != 4 || stream->state == RECORD_LAST)
		return false;
	record->words++;

	switch (stream->state) {
	case RECORD_ADDRESS:
		stream->low[record->addresses] = word->value;
		record->sent_address[record->addresses] = word->value & ~1u;
		if (word->value & 1)
			stream->state = RECORD_ADDRESS_HIGH;
		else
			finish_addresses(perfrec, stream, word);
		return true;
	case RECORD_ADDRESS_HIGH:
		/* An upper part of 0 is not sent. */
		if (!word->value) {
			record->words--;
			return false;
		}
		record->sent_address[record->addresses] |=
			(uint64_t)word->value << 32;
		finish_addresses(perfrec, stream, word);
		return true;
	default:
		if (record->counters == PERFREC_COUNTERS) {
			record->words--;
			return false;
		}
		if (perfrec->ops->counter)
			give_counter(perfrec, stream, word);
		record->sent[record->counters++] = word->value;
		stream->upper_seen = false;
		if (header && record->counters == header->counters) {
			stream->state = RECORD_LAST;
			stream->last = word->offset;
		}
		return true;
	}
}

/* Return whether a record can end here: all counters are present, or their number is unknown. */
static bool record_complete(const struct stream *stream)
{
	return stream->state == RECORD_LAST ||
	       (stream->state == RECORD_COUNTER && !stream->header);
}

/*
 * Return whether a header begins within an incomplete record: the latest word was a magic, and
 * @word can be a count type.
 */
static bool header_within(const struct stream *stream,
			  const struct store *word)
{
	return stream->magic && word->bytes == 1 && header_is_count_type(word->value) &&
	       ((stream->state >= RECORD_ADDRESS && stream->state != RECORD_LAST) ||
		sample_begun(stream));
}

/* Return whether a stream's first word may be part of an incomplete header. */
static bool header_rest(const struct perfrec *perfrec, const struct store *word)
{
	return perfrec->ring && word->bytes == 1 &&
	       word->value <= SIFIVE_TRACE_RECORD_TYPE_MAX;
}

static void begin_mark(struct perfrec *perfrec, struct stream *stream, const struct store *word)
{
	report_loss(perfrec, stream);
	stream->mark = (uint8_t)word->value;
	stream->mark_offset = word->offset;
	stream->around = stream->state;
	stream->state = MARK;
}

/* Decode the value of a mark. Return false if @word is not a value. */
static bool mark_word(struct stream *stream, const struct store *word)
{
	struct perfrec_record *record = &stream->record;
	uint64_t value = word->value;

	stream->state = stream->around;
	if (word->bytes != 4) {
		lose(stream, PERFREC_NO_START, stream->mark_offset, 1);
		return false;
	}
	if (!(stream->lost & PERFREC_MARKED)) {
		record->dropped = 0;
		record->waited = 0;
	}
	stream->lost |= PERFREC_MARKED;
	if (stream->mark == SIFIVE_TRACE_RECORD_DROPPED) {
		record->dropped += value;
		stream->lost |= PERFREC_AFTER_LOSS;
		stream->broken = true;
		stream->previous = false;
	} else if (stream->mark == SIFIVE_TRACE_RECORD_WAITED) {
		record->waited += value;
	} else {
		record->waited += value << 32;
	}
	return true;
}

/* End the stream's unfinished record before its latest word, which begins a header. */
static void end_within(struct perfrec *perfrec, struct stream *stream)
{
	struct perfrec_record *record = &stream->record;

	if (sample_begun(stream)) {
		stream->caller_words--;
		sample_lose(stream, PERFREC_CUT_RECORD);
		return;
	}
	record->words--;
	if (record_complete(stream) && record->counters) {
		record->counters--;
		finish_record(perfrec, stream);
	} else {
		lose_record(stream, PERFREC_CUT_RECORD);
	}
}

static void drop_begun(struct stream *stream, enum perfrec_reason reason)
{
	if (stream->state >= RECORD_ADDRESS)
		lose_record(stream, reason);
	else if (sample_begun(stream))
		sample_lose(stream, reason);
	else if (stream->state >= HEADER_COUNT_TYPE)
		header_lose(stream, reason);
	else if (stream->state == MARK)
		lose(stream, reason, stream->mark_offset, 1);
}

/* Because words may be missing, drop all of a stream's state that depends on earlier words. */
static void interrupt(struct perfrec *perfrec, struct stream *stream)
{
	drop_begun(stream, PERFREC_INTERRUPTED);
	report_loss(perfrec, stream);
	stream->broken = true;
	stream->lost |= PERFREC_AFTER_LOSS;
	stream->previous = false;
	stream->magic = false;
	stream->state = LOST;
}

/*
 * Handle a @word that does not fit its stream. This shows that bytes were damaged or lost, perhaps
 * in other streams, unless the writer abandoned a record, or the stream may contain data other than
 * records.
 */
static __attribute__((noinline, cold)) void
contradict(struct perfrec *perfrec, const struct stream *stream, const struct store *word)
{
	struct stream *other;

	if (!stream->serial || (word->bytes == 1 && (word->value == SIFIVE_TRACE_RECORD_BREAK ||
	    (stream->magic && header_is_count_type(word->value)))))
		return;
	for (other = perfrec->first; other; other = other->next)
		if (other != stream)
			interrupt(perfrec, other);
	if (perfrec->ops->damaged)
		perfrec->ops->damaged(perfrec->context, word->offset);
}

/* Return whether a store can follow a complete record. */
static bool can_follow(const struct store *word)
{
	if (word->bytes == 1)
		return word->value < PERFREC_TYPES || word->value == SIFIVE_TRACE_RECORD_BREAK ||
		       perfrec_is_mark(word) || perfrec_is_callers(word);
	return word->bytes == 4 && word->value == SIFIVE_TRACE_RECORD_MAGIC;
}

/* Like ends_before(), for a @word that does not begin a record. */
static __attribute__((noinline)) bool
ends_before_other(struct stream *stream, const struct store *word)
{
	const struct perfrec_header *header = stream->header;

	if (word->bytes == 2 || (!header && word->bytes != 1) ||
	    ((word->bytes == 4 || is_typed(stream)) && is_header_rest(stream, word)))
		return false;
	if (header && header->counters && !stream->upper_seen && !can_follow(word) &&
	    header->counter[header->counters - 1].width > 32)
		stream->lost |= UNSURE;
	return true;
}

/* Return whether a record with all counters ends before @word. */
static inline bool ends_before(struct stream *stream, const struct store *word)
{
	if (__builtin_expect(word->bytes == 1 && word->value < PERFREC_TYPES, true))
		return !(is_typed(stream) && is_header_rest(stream, word));
	return ends_before_other(stream, word);
}

static void step(struct perfrec *perfrec, struct stream *stream,
		 const struct store *word)
{
	if (header_within(stream, word)) {
		end_within(perfrec, stream);
		header_begin(perfrec, stream, stream->magic_stamp, true);
	}

	if (stream->state >= RECORD_ADDRESS) {
		if (record_word(perfrec, stream, word))
			return;
		if (perfrec->ops->counter)
			give_counter(perfrec, stream, word);
		if (record_complete(stream) && ends_before(stream, word)) {
			finish_record(perfrec, stream);
		} else {
			lose_record(stream, PERFREC_CUT_RECORD);
			contradict(perfrec, stream, word);
		}
	} else if (sample_begun(stream)) {
		if (sample_word(perfrec, stream, word))
			return;
	} else if (stream->state >= MARK) {
		const bool mark = stream->state == MARK;

		if (mark ? mark_word(stream, word) : header_word(perfrec, stream, word))
			return;
		if (!mark)
			header_lose(stream, PERFREC_CUT_HEADER);
		contradict(perfrec, stream, word);
	}

	if (word->bytes == 1 && word->value < PERFREC_TYPES) {
		begin_record(perfrec, stream, word);
	} else if (word->bytes == 4 && word->value == SIFIVE_TRACE_RECORD_MAGIC) {
		header_begin(perfrec, stream, stamp(word), stream->state == LOST);
	} else if (perfrec_is_mark(word)) {
		begin_mark(perfrec, stream, word);
	} else if (perfrec_is_callers(word)) {
		sample_begin(perfrec, stream, word);
	} else {
		if (stream->state != LOST)
			contradict(perfrec, stream, word);
		lose(stream, PERFREC_NO_START, word->offset, 1);
	}
}

int perfrec_push(struct perfrec *perfrec, const struct store *word)
{
	struct stream **slot, *stream;
	bool first;

	if (word->src >= PERFREC_SOURCES || word->channel >= PERFREC_CHANNELS)
		return -EINVAL;
	slot = &perfrec->stream[word->src * PERFREC_CHANNELS + word->channel];
	first = !*slot;
	if (first)
		*slot = stream_new(perfrec, word);
	stream = *slot;
	if (!stream)
		return -ENOMEM;
	if (first && header_rest(perfrec, word)) {
		lose(stream, PERFREC_NO_START, word->offset, 1);
		return 0;
	}

	step(perfrec, stream, word);
	stream->magic = word->bytes == 4 && word->value == SIFIVE_TRACE_RECORD_MAGIC;
	if (stream->magic)
		stream->magic_stamp = stamp(word);
	return 0;
}

void perfrec_lost(struct perfrec *perfrec, int src)
{
	struct stream *stream;

	for (stream = perfrec->first; stream; stream = stream->next)
		if (src < 0 || stream->record.src == src)
			interrupt(perfrec, stream);
}

void perfrec_doubt(struct perfrec *perfrec, unsigned int src)
{
	struct stream *stream;

	for (stream = perfrec->first; stream; stream = stream->next)
		if (stream->record.src != src)
			continue;
		else if (stream->state >= RECORD_ADDRESS)
			stream->record.flags |= PERFREC_AFTER_LOSS | DOUBTED;
		else
			stream->lost |= PERFREC_AFTER_LOSS;
}

/* Return whether the last counter appears to have decreased because it lacks its upper part. */
static bool lacks_upper(const struct stream *stream)
{
	const struct perfrec_header *header = stream->header;
	const unsigned int i = stream->record.counters - 1;
	uint64_t before;

	if (stream->upper_seen || !header || header->count_type == PERFREC_DELTA ||
	    header->counter[i].width <= 32 || !stream->previous)
		return false;
	before = value_before(stream, i);
	return rebuild_value(header, i, before, stream->record.sent[i]) < before;
}

void perfrec_settle(struct perfrec *perfrec, unsigned int src,
		    unsigned int channel, uint64_t offset)
{
	struct stream *stream;

	if (src >= PERFREC_SOURCES || channel >= PERFREC_CHANNELS)
		return;
	stream = perfrec->stream[src * PERFREC_CHANNELS + channel];
	if (stream && stream->state == RECORD_LAST &&
	    stream->last < offset && !lacks_upper(stream))
		end_record(perfrec, stream);
}

bool perfrec_unfinished(const struct perfrec *perfrec, unsigned int src, unsigned int channel)
{
	const struct stream *stream = NULL;

	if (src < PERFREC_SOURCES && channel < PERFREC_CHANNELS)
		stream = perfrec->stream[src * PERFREC_CHANNELS + channel];
	return stream && stream->state >= RECORD_ADDRESS;
}

static bool is_before(const struct perfrec_stamp *a, const struct perfrec_stamp *b)
{
	if (a->time_known && b->time_known)
		return a->time < b->time;
	return a->offset < b->offset;
}

void perfrec_settle_thread(struct perfrec *perfrec, uint32_t owner,
			   unsigned int channel, const struct perfrec_stamp *before)
{
	struct stream *stream;

	for (stream = perfrec->first; stream; stream = stream->next) {
		const struct perfrec_header *header = stream->header;
		bool same = header && header->owned ? header->owner == owner :
			    stream->record.channel == channel;

		if (same && stream->state == RECORD_LAST &&
		    is_before(&stream->record.begin, before))
			end_record(perfrec, stream);
	}
}

static int by_offset(const void *a, const void *b)
{
	const struct stream * const *first = a, * const *second = b;
	uint64_t one = (*first)->record.begin.offset;
	uint64_t two = (*second)->record.begin.offset;

	return (one > two) - (one < two);
}

void perfrec_flush(struct perfrec *perfrec)
{
	struct stream *open[STREAMS], *next;
	size_t count = 0, i;

	for (next = perfrec->first; next; next = next->next)
		open[count++] = next;
	qsort(open, count, sizeof(open[0]), by_offset);

	for (i = 0; i < count; i++) {
		struct stream *stream = open[i];

		if (stream->state == RECORD_LAST ||
		    (record_complete(stream) &&
		     (int)stream->record.counters == stream->guessed))
			end_record(perfrec, stream);
		else
			drop_begun(stream, PERFREC_TRUNCATED);
		report_loss(perfrec, stream);
		if (stream->lost & PERFREC_MARKED && perfrec->ops->marks)
			perfrec->ops->marks(perfrec->context, &stream->record);
	}
}
