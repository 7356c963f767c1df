// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "trace_records.h"

#define SOURCES		64
#define CHANNELS	32
#define VALUE_BITS	48
#define VALUE_MASK	(BIT64(VALUE_BITS) - 1)

enum { RAW, DELTA, XOR };

/**
 * struct stream - the messages of one source and channel
 * @state:	kind of the next word
 * @left:	number of words of a header, addresses of a record, or upper parts of a stack's
 *		value that are still to come
 * @at:		index of the next counter or address
 * @had_one:	a record has been decoded since the header
 * @xor:	latest address, to which the next address is relative
 * @count:	counts of the current record, as sent
 * @now:	the record being decoded
 */
struct stream {
	enum {
		START, TYPE, OWNER, MASK, COUNTER, RECORD, THREAD, NAMED, CALLER, CALLER_HIGH,
		STACK, ADDRESS, HIGH, COUNT
	} state;
	unsigned int left, at;
	bool had_one;
	uint64_t xor;
	uint64_t count[TRACE_COUNTERS];
	struct trace_record now;
};

struct reading {
	struct trace_totals *totals;
	void (*each)(const struct trace_record *record, void *arg);
	void *arg;
	struct stream stream[SOURCES][CHANNELS];
};

/*
 * Called when all counters of a record have arrived. Only the next word shows that they have
 * arrived, because the last counter can have an upper half.
 */
static void finish(struct reading *r, struct stream *s)
{
	unsigned int i;

	for (i = 0; i < s->now.counters; i++) {
		uint64_t before = s->now.value[i], value = s->count[i];

		if (s->now.type == DELTA)
			value = (before + value) & VALUE_MASK;
		else if (s->now.type == XOR)
			value ^= before;
		r->totals->backwards += s->had_one && value < before;
		s->now.value[i] = value;
	}
	s->had_one = true;
	r->totals->records++;
	if (r->each)
		r->each(&s->now, r->arg);
	s->now.named = false;
	s->now.callers = 0;
	s->now.values = 0;
	s->state = RECORD;
}

static void bad(struct reading *r, struct stream *s)
{
	r->totals->bad++;
	s->now.named = false;
	s->state = START;
}

static void read_begin(struct reading *r, struct stream *s, unsigned int bytes,
		       uint32_t value)
{
	if (bytes == 4 && value == SIFIVE_TRACE_RECORD_MAGIC) {
		s->state = TYPE;
	} else if (bytes == 1 && s->state == RECORD && value <= TRACE_ISR) {
		s->state = ADDRESS;
		s->now.kind = value;
		s->left = value == TRACE_ENTER || value == TRACE_EXIT ? 2 : 1;
		s->at = 0;
	} else if (bytes == 1 && s->state == RECORD && value == SIFIVE_TRACE_RECORD_THREAD) {
		s->state = THREAD;
	} else if (bytes == 1 && s->state == RECORD && value == SIFIVE_TRACE_RECORD_CALLERS) {
		s->state = CALLER;
	} else if (bytes == 1 && s->state == RECORD && value == SIFIVE_TRACE_RECORD_STACK) {
		s->state = STACK;
		s->left = 0;
	} else {
		bad(r, s);
	}
}

/*
 * Called after a thread's id; the sample's callers or stack, if any, and its kind follow.
 */
static void read_thread(struct reading *r, struct stream *s, unsigned int bytes, uint32_t value)
{
	if (s->state == THREAD && bytes == 4) {
		s->now.named = true;
		s->now.thread = value;
		s->state = NAMED;
	} else if (s->state == NAMED && bytes == 1 &&
		   (value == TRACE_ISR || value == SIFIVE_TRACE_RECORD_CALLERS ||
		    value == SIFIVE_TRACE_RECORD_STACK)) {
		s->state = RECORD;
		read_begin(r, s, bytes, value);
	} else {
		bad(r, s);
	}
}

/*
 * Called within a list of callers; the sample's stack, if any, and its kind follow.
 */
static void read_caller(struct reading *r, struct stream *s, unsigned int bytes, uint32_t value)
{
	uint64_t *address = &s->now.caller[s->now.callers];

	if (s->state == CALLER && bytes == 1 && s->now.callers &&
	    (value == TRACE_ISR || value == SIFIVE_TRACE_RECORD_STACK)) {
		s->state = RECORD;
		read_begin(r, s, bytes, value);
		return;
	}
	if (bytes != 4 || s->now.callers == SIFIVE_TRACE_CALLERS_MAX) {
		s->now.callers = 0;
		bad(r, s);
		return;
	}
	if (s->state == CALLER)
		*address = s->now.callers ? address[-1] : 0;
	*address ^= s->state == CALLER ? value & ~1u : (uint64_t)value << 32;
	if (s->state == CALLER && value & 1) {
		s->state = CALLER_HIGH;
	} else {
		s->now.callers++;
		s->state = CALLER;
	}
}

/* Called within a stack, which is followed by the sample's kind. */
static void read_stack(struct reading *r, struct stream *s, unsigned int bytes, uint32_t value)
{
	const unsigned int most = SIFIVE_TRACE_STACK_REGISTERS + SIFIVE_TRACE_STACK_MAX / 8;
	struct trace_record *now = &s->now;

	if (bytes == 1 && value == TRACE_ISR && now->values >= SIFIVE_TRACE_STACK_REGISTERS) {
		s->state = RECORD;
		read_begin(r, s, bytes, value);
	} else if (bytes == 4 && now->values < most) {
		s->left = 2;
		if (now->values++ < TRACE_STACK_VALUES)
			now->stack[now->values - 1] = value;
	} else if (bytes == 2 && s->left) {
		if (now->values <= TRACE_STACK_VALUES)
			now->stack[now->values - 1] |= (uint64_t)value << (64 - 16 * s->left);
		s->left--;
	} else {
		now->values = 0;
		bad(r, s);
	}
}

static void read_mask(struct stream *s, uint32_t mask)
{
	s->now.counters = (unsigned int)__builtin_popcount(mask);
	s->left = 0;
	s->at = 0;
	s->had_one = false;
	s->xor = 0;
	memset(s->now.value, 0, sizeof(s->now.value));
	s->state = COUNTER;
}

/*
 * A counter's definition consists of a type, a code and an info word. For a raw event, the code has
 * two words.
 */
static void read_counter(struct stream *s, uint32_t value)
{
	if (!s->left) {
		s->left = value == 2 ? 3 : 2;
		return;
	}
	if (!--s->left)
		s->at++;
}

static void end_address(struct stream *s)
{
	uint64_t *address = &s->now.address[s->at];

	if (s->now.type == XOR) {
		*address ^= s->xor;
		s->xor = *address;
	}
	s->at++;
	s->state = ADDRESS;
	if (!--s->left) {
		s->at = 0;
		s->state = COUNT;
	}
}

static void read_word(struct reading *r, struct stream *s, unsigned int bytes,
		      const struct trace_message *m)
{
	const uint32_t value = m->value;

	if (s->state == COUNT && bytes == 2 && s->at) {
		s->count[s->at - 1] |= (uint64_t)value << 32;
		return;
	}
	if (s->state == COUNT && s->at == s->now.counters)
		finish(r, s);
	if (bytes == 1 && value == TRACE_BREAK) {
		r->totals->breaks++;
		s->state = START;
		return;
	}
	if (s->state == START || s->state == RECORD) {
		read_begin(r, s, bytes, value);
		return;
	}
	if (s->state == THREAD || s->state == NAMED) {
		read_thread(r, s, bytes, value);
		return;
	}
	if (s->state == CALLER || s->state == CALLER_HIGH) {
		read_caller(r, s, bytes, value);
		return;
	}
	if (s->state == STACK) {
		read_stack(r, s, bytes, value);
		return;
	}
	if (bytes != (s->state == TYPE ? 1 : 4)) {
		bad(r, s);
		return;
	}
	s->now.time = m->time;
	switch (s->state) {
	case TYPE:
		s->now.type = value & SIFIVE_TRACE_RECORD_TYPE;
		s->now.owner = 0;
		s->state = value & SIFIVE_TRACE_RECORD_OWNED ? OWNER : MASK;
		return;
	case OWNER:
		s->now.owner = value;
		s->state = MASK;
		return;
	case MASK:
		read_mask(s, value);
		break;
	case COUNTER:
		read_counter(s, value);
		break;
	case ADDRESS:
		s->now.address[s->at] = value & ~1u;
		if (value & 1)
			s->state = HIGH;
		else
			end_address(s);
		return;
	case HIGH:
		s->now.address[s->at] |= (uint64_t)value << 32;
		end_address(s);
		return;
	default:
		s->count[s->at++] = value;
		return;
	}
	if (s->at == s->now.counters) {
		r->totals->headers++;
		s->state = RECORD;
	}
}

static int read_sink(struct reading *r, const uint8_t *bytes, unsigned int index,
		     const struct sifive_trace_sink *sink)
{
	unsigned int number[SOURCES] = { 0 };
	struct trace_stream decoded;
	unsigned int i, j;
	size_t n;

	memset(r->stream, 0, sizeof(r->stream));
	if (trace_decode(bytes + sink->offset, sink->bytes, sink->src_bits, &decoded))
		return -1;
	for (n = 0; n < decoded.count; n++) {
		const struct trace_message *m = &decoded.message[n];
		/* A sink without SRC belongs to one encoder. */
		unsigned int src = sink->src_bits ? m->src % SOURCES : index;
		unsigned int channel = m->tag / 4 % CHANNELS;

		if (m->tcode == TRACE_TCODE_ERROR)
			r->totals->bad++;
		if (m->tcode != TRACE_TCODE_DATA)
			continue;
		if (!number[src])
			number[src] = ++r->totals->sources;
		r->stream[src][channel].now.encoder = number[src] - 1;
		r->stream[src][channel].now.src = src;
		r->stream[src][channel].now.channel = channel;
		read_word(r, &r->stream[src][channel], 4 - m->tag % 4, m);
	}
	free(decoded.message);
	for (i = 0; i < SOURCES; i++)
		for (j = 0; j < CHANNELS; j++) {
			struct stream *s = &r->stream[i][j];

			if (s->state == COUNT && s->at == s->now.counters)
				finish(r, s);
			r->totals->unfinished += s->state != START &&
						 s->state != RECORD;
		}
	return 0;
}

int trace_records(int fd, struct trace_totals *totals,
		  void (*each)(const struct trace_record *record, void *arg),
		  void *arg)
{
	struct reading *r = malloc(sizeof(*r));
	struct sifive_trace_sink sink;
	unsigned int i;
	uint8_t *bytes;
	ssize_t size;
	int rc = 0;

	memset(totals, 0, sizeof(*totals));
	if (!r)
		return -1;
	r->totals = totals;
	r->each = each;
	r->arg = arg;
	size = trace_read_all(fd, &bytes);
	if (size < 0)
		rc = -1;
	for (i = 0; !rc && !trace_sink(fd, i, &sink); i++) {
		/* If the capture is running, decode the bytes that have been read. */
		if (sink.offset > (size_t)size)
			rc = -1;
		else if (sink.bytes > (size_t)size - sink.offset)
			sink.bytes = (size_t)size - sink.offset;
		if (!rc)
			rc = read_sink(r, bytes, i, &sink);
	}
	free(bytes);
	free(r);
	return rc;
}
