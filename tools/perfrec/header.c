// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Decodes headers: see stream.h. */
#include <stdlib.h>
#include <string.h>

#include "stream.h"

/* Returned for a word that does not complete a part of a header. */
#define NO_PART			(PERFREC_PART_COUNT_TYPE - 1)

void header_lose(struct stream *stream, enum perfrec_reason reason)
{
	const struct perfrec_header *header = stream->header;

	/*
	 * The lost header may define other counters, so do not use the previous one. With DeltaXOR,
	 * keep it, because all later values are unknown in any case.
	 */
	if (!stream->tentative && header && header->count_type != PERFREC_DELTA_XOR)
		stream->header = NULL;
	lose(stream, reason, stream->reading->begin.offset,
	     stream->header_words);
}

void header_begin(struct perfrec *perfrec, struct stream *stream,
		  struct perfrec_stamp begin, bool tentative)
{
	report_loss(perfrec, stream);
	memset(stream->reading, 0, sizeof(*stream->reading));
	stream->reading->src = stream->record.src;
	stream->reading->channel = stream->record.channel;
	stream->reading->begin = begin;
	stream->header_words = 1;
	stream->tentative = tentative;
	stream->state = HEADER_COUNT_TYPE;
}

static void give_part(struct perfrec *perfrec, struct stream *stream, int part)
{
	if (perfrec->ops->part)
		perfrec->ops->part(perfrec->context, stream->reading, part);
}

/* Pass on the parts of a tentative header, after its words have turned out to be a header. */
static void give_parts(struct perfrec *perfrec, struct stream *stream)
{
	int part;

	for (part = PERFREC_PART_COUNT_TYPE; part < (int)stream->reading->counters;
	     part++)
		give_part(perfrec, stream, part);
}

/* Return whether the current header is a repetition that was due, and no loss preceded it. */
static bool is_repeated(const struct perfrec *perfrec, const struct stream *stream)
{
	uint64_t interval = perfrec->interval[stream->record.channel];

	return interval && stream->records == interval &&
	       stream->previous && !stream->broken &&
	       stream->reading->mask == stream->header->mask &&
	       stream->reading->count_type == stream->header->count_type &&
	       stream->reading->owned == stream->header->owned &&
	       stream->reading->owner == stream->header->owner;
}

/*
 * Use a DeltaXOR header for streams without a header: they probably use DeltaXOR, too, in which
 * case the transmitted words are not their addresses.
 */
static void assume_xor(struct perfrec *perfrec, const struct perfrec_header *header)
{
	struct perfrec_header *copy = malloc(sizeof(*copy));

	if (!copy)
		return;
	*copy = *header;
	copy->owned = false;
	copy->goes_on = false;
	copy->owner = 0;
	perfrec->assumed = copy;
}

static void finish_header(struct perfrec *perfrec, struct stream *stream)
{
	stream->reading->repeated = is_repeated(perfrec, stream);
	stream->previous = stream->reading->repeated;
	stream->records = 0;
	stream->reading->serial = ++stream->serial;
	if (stream->tentative)
		give_parts(perfrec, stream);
	stream->header = stream->reading;
	stream->reading = &stream->headers[stream->serial %
					   (PERFREC_HEADERS_KEPT + 1)];
	stream->state = BOUNDARY;
	stream->broken = false;
	/* The header ends a loss: clear its flag, unless a mark shows that records were dropped. */
	if (stream->lost)
		stream->lost &= (uint16_t)(stream->lost & PERFREC_MARKED && stream->record.dropped ?
					  PERFREC_MARKED | PERFREC_AFTER_LOSS : PERFREC_MARKED);
	stream->address = 0;
	if (stream->header->count_type == PERFREC_DELTA_XOR && !perfrec->assumed)
		assume_xor(perfrec, stream->header);
	if (perfrec->ops->header)
		perfrec->ops->header(perfrec->context, stream->header);
}

bool header_is_count_type(uint32_t value)
{
	const uint32_t owned = SIFIVE_TRACE_RECORD_OWNED;
	const uint32_t flags = owned | SIFIVE_TRACE_RECORD_GOES_ON;

	return (value & SIFIVE_TRACE_RECORD_TYPE) <= SIFIVE_TRACE_RECORD_TYPE_MAX &&
	       !(value & ~(flags | SIFIVE_TRACE_RECORD_TYPE)) &&
	       (value & flags) != SIFIVE_TRACE_RECORD_GOES_ON;
}

static void take_count_type(struct stream *stream, uint32_t value)
{
	struct perfrec_header *header = stream->reading;

	header->count_type = value & SIFIVE_TRACE_RECORD_TYPE;
	header->owned = value & SIFIVE_TRACE_RECORD_OWNED;
	header->goes_on = value & SIFIVE_TRACE_RECORD_GOES_ON;
	stream->state = header->owned ? HEADER_OWNER : HEADER_MASK;
}

bool header_word(struct perfrec *perfrec, struct stream *stream, const struct store *word)
{
	struct perfrec_header *header = stream->reading;
	struct perfrec_counter *counter = &header->counter[header->counters];
	unsigned int first = counter == header->counter ? 0 :
			     counter[-1].number + 1;
	int part = NO_PART;

	if (word->bytes != (stream->state == HEADER_COUNT_TYPE ? 1 : 4))
		return false;

	switch (stream->state) {
	case HEADER_COUNT_TYPE:
		if (!header_is_count_type(word->value))
			return false;
		take_count_type(stream, word->value);
		part = PERFREC_PART_COUNT_TYPE;
		break;
	case HEADER_OWNER:
		header->owner = word->value;
		stream->state = HEADER_MASK;
		break;
	case HEADER_MASK:
		header->mask = word->value;
		header->mask_word = stamp(word);
		stream->state = HEADER_TYPE;
		part = PERFREC_PART_MASK;
		break;
	case HEADER_TYPE:
		if (!perfrec_is_event_type(word->value))
			return false;
		counter->number = (uint8_t)
			(first + (unsigned int)__builtin_ctz(header->mask >> first));
		counter->type = word->value;
		stream->state = word->value == PERFREC_EVENT_RAW ?
				HEADER_DATA_LOW : HEADER_CODE;
		break;
	case HEADER_CODE:
		counter->code = word->value;
		stream->state = HEADER_INFO;
		break;
	case HEADER_DATA_LOW:
		counter->event_data = word->value;
		stream->state = HEADER_DATA_HIGH;
		break;
	case HEADER_DATA_HIGH:
		counter->event_data |= (uint64_t)word->value << 32;
		stream->state = HEADER_INFO;
		break;
	default:
		counter->csr = (uint16_t)PERFREC_INFO_CSR(word->value);
		counter->width = (uint8_t)PERFREC_INFO_WIDTH(word->value);
		counter->end = stamp(word);
		part = (int)header->counters++;
		stream->state = HEADER_TYPE;
		break;
	}
	stream->header_words++;
	if (part != NO_PART && !stream->tentative)
		give_part(perfrec, stream, part);

	if (stream->state == HEADER_TYPE &&
	    header->counters == (unsigned int)__builtin_popcount(header->mask))
		finish_header(perfrec, stream);
	return true;
}
