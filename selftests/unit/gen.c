// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/sifive_trace_format.h>

#include "gen.h"

/* A message under construction: bits that fill six-bit slices. */
struct slices {
	uint8_t		slice[64];
	unsigned int	count;
	unsigned int	bits;		/* number of bits used in the last slice */
};

static void *grow(void *old, size_t size)
{
	void *memory = realloc(old, size);

	if (!memory) {
		perror("realloc");
		exit(1);
	}
	return memory;
}

static uint64_t ones(unsigned int bits)
{
	return bits >= 64 ? ~0ull : (1ull << bits) - 1;
}

void gen_init(struct gen *gen, unsigned int src_bits, unsigned int ts_width)
{
	memset(gen, 0, sizeof(*gen));
	gen->src_bits = src_bits;
	gen->ts_width = ts_width;
	gen->now = 1000;
	gen->step = 1;
}

void gen_free(struct gen *gen)
{
	free(gen->data);
	free(gen->time);
	free(gen->truth);
}

static void add_time(struct gen *gen, uint64_t time)
{
	if (gen->times == gen->time_room) {
		gen->time_room = 2 * gen->time_room + 64;
		gen->time = grow(gen->time, gen->time_room * sizeof(*gen->time));
	}
	gen->time[gen->times++] = time;
}

void gen_bytes(struct gen *gen, const void *bytes, size_t length)
{
	if (gen->length + length > gen->room) {
		gen->room = 2 * (gen->room + length);
		gen->data = grow(gen->data, gen->room);
	}
	if (length)
		memcpy(gen->data + gen->length, bytes, length);
	gen->length += length;
}

void gen_idle(struct gen *gen, size_t length)
{
	static const uint8_t idle = 0xff;

	while (length--)
		gen_bytes(gen, &idle, 1);
}

/* Adding the value bit by bit is slow, but obviously correct. */
static void add_bits(struct slices *to, uint64_t value, unsigned int bits)
{
	unsigned int i;

	for (i = 0; i < bits; i++) {
		if (!to->count || to->bits == 6) {
			to->slice[to->count++] = 0;
			to->bits = 0;
		}
		to->slice[to->count - 1] |=
			(uint8_t)((value >> i & 1) << (2 + to->bits));
		to->bits++;
	}
}

/*
 * Add a variable-width field of as many bits as the value needs, but at least one; mark the field's
 * end in its last slice.
 */
static void add_field(struct slices *to, uint64_t value)
{
	unsigned int bits = 1;

	while (bits < 64 && value >> bits)
		bits++;
	add_bits(to, value, bits);
	to->slice[to->count - 1] |= 1;
	to->bits = 6;
}

static bool has_absolute_time(unsigned int tcode)
{
	return tcode == 9 || tcode == 11 || tcode == 12 || tcode == 29 ||
	       tcode == 35;
}

void gen_message(struct gen *gen, unsigned int tcode, unsigned int src,
		 const uint8_t *fixed, const uint8_t *bits,
		 const uint64_t *field, unsigned int fields)
{
	struct slices slices = { .count = 0 };
	uint64_t mask = ones(gen->ts_width);
	uint64_t now = gen->now & mask, last = gen->last[src] & mask;
	unsigned int i;

	add_bits(&slices, tcode, 6);
	add_bits(&slices, src, gen->src_bits);
	for (i = 0; bits && bits[i]; i++)
		add_bits(&slices, fixed[i], bits[i]);
	for (i = 0; i < fields; i++)
		add_field(&slices, field[i]);
	if (gen->ts_width) {
		if (has_absolute_time(tcode))
			add_field(&slices, now);
		else if (gen->ts_delta)
			add_field(&slices, (now - last) & mask);
		else
			add_field(&slices, now ^ last);
		gen->last[src] = gen->now;
	}
	slices.slice[slices.count - 1] |= 3;
	gen_bytes(gen, slices.slice, slices.count);
	add_time(gen, gen->now);
	gen->now += gen->step;
}

void gen_store(struct gen *gen, unsigned int src, unsigned int channel,
	       unsigned int bytes, uint32_t value)
{
	uint64_t field[2] = { 4 * channel + (4 - bytes), value };

	gen_message(gen, 7, src, NULL, NULL, field, 2);
}

void gen_sync(struct gen *gen, unsigned int src)
{
	static const uint8_t fixed[] = { 0, 0 }, bits[] = { 4, 2, 0 };
	uint64_t on = 2;

	gen_message(gen, 35, src, fixed, bits, &on, 1);
}

void gen_start(struct gen *gen, uint64_t address)
{
	static const uint8_t fixed[] = { 5 }, bits[] = { 4, 0 };
	const uint64_t field[] = { 0, address >> 1 };

	gen_message(gen, 9, 0, fixed, bits, field, 2);
}

void gen_error(struct gen *gen, unsigned int src)
{
	static const uint8_t fixed[] = { 0 }, bits[] = { 4, 0 };
	uint64_t code = 0x20;

	gen_message(gen, 8, src, fixed, bits, &code, 1);
}

static void store(struct gen_stream *stream, unsigned int bytes, uint32_t value)
{
	gen_store(stream->gen, stream->src, stream->channel, bytes, value);
}

void gen_header(struct gen_stream *stream)
{
	uint32_t mask = 0, count_type = stream->count_type;
	unsigned int i;

	for (i = 0; i < stream->counters; i++)
		mask |= 1u << stream->counter[i].number;
	store(stream, 4, SIFIVE_TRACE_RECORD_MAGIC);
	if (stream->owner)
		count_type |= SIFIVE_TRACE_RECORD_OWNED;
	if (stream->owner && stream->goes_on)
		count_type |= SIFIVE_TRACE_RECORD_GOES_ON;
	store(stream, 1, count_type);
	if (stream->owner)
		store(stream, 4, stream->owner);
	store(stream, 4, mask);
	for (i = 0; i < stream->counters; i++) {
		struct gen_counter *counter = &stream->counter[i];

		store(stream, 4, counter->type);
		if (counter->type == 2) {
			store(stream, 4, (uint32_t)counter->event_data);
			store(stream, 4, (uint32_t)(counter->event_data >> 32));
		} else {
			store(stream, 4, counter->code);
		}
		store(stream, 4, counter->csr | (counter->width - 1) << SIFIVE_TRACE_COUNTER_WIDTH_SHIFT);
		counter->sum = 0;
		/* XOR starts from 0, so the first record contains the value itself. */
		if (stream->count_type == 2)
			counter->previous = 0;
	}
	stream->previous_address = 0;
	stream->fresh = true;
}

static void put_address(struct gen_stream *stream, uint64_t address)
{
	uint64_t sent = address;

	if (stream->count_type == 2) {
		sent ^= stream->previous_address;
		stream->previous_address = address;
	}
	if (sent >> 32) {
		store(stream, 4, (uint32_t)sent | 1);
		store(stream, 4, (uint32_t)(sent >> 32));
	} else {
		store(stream, 4, (uint32_t)sent);
	}
}

static struct gen_truth *new_truth(struct gen *gen)
{
	if (gen->truths == gen->truth_room) {
		gen->truth_room = 2 * gen->truth_room + 16;
		gen->truth = grow(gen->truth,
				  gen->truth_room * sizeof(*gen->truth));
	}
	memset(&gen->truth[gen->truths], 0, sizeof(*gen->truth));
	return &gen->truth[gen->truths++];
}

static void put_counter(struct gen_stream *stream, struct gen_truth *truth,
			unsigned int i, uint64_t value)
{
	struct gen_counter *counter = &stream->counter[i];
	uint64_t mask = ones(counter->width);
	uint64_t step = (value - counter->previous) & mask;
	uint64_t sent;

	counter->sum = (counter->sum + step) & mask;
	if (stream->count_type == 1)
		sent = step;
	else if (stream->count_type == 2)
		sent = value ^ counter->previous;
	else
		sent = value;
	sent &= ones(48);
	store(stream, 4, (uint32_t)sent);
	if (sent >> 32)
		store(stream, 2, (uint32_t)(sent >> 32));

	truth->sent[i] = sent;
	truth->value[i] = stream->count_type == 1 ? counter->sum :
						    value & ones(48);
	truth->delta[i] = step & ones(48);
	counter->previous = value;
}

void gen_thread(struct gen_stream *stream, uint32_t id)
{
	store(stream, 1, SIFIVE_TRACE_RECORD_THREAD);
	store(stream, 4, id);
}

void gen_callers(struct gen_stream *stream, const uint64_t *address, unsigned int count)
{
	uint64_t before = 0, value;
	unsigned int i;

	store(stream, 1, 0xfb);
	for (i = 0; i < count; i++) {
		value = address[i] ^ before;
		before = address[i];
		store(stream, 4, (uint32_t)value | (value >> 32 != 0));
		if (value >> 32)
			store(stream, 4, (uint32_t)(value >> 32));
	}
}

static void put_value(struct gen_stream *stream, uint64_t value)
{
	store(stream, 4, (uint32_t)value);
	if (value >> 32)
		store(stream, 2, (uint32_t)(value >> 32 & 0xffff));
	if (value >> 48)
		store(stream, 2, (uint32_t)(value >> 48));
}

void gen_stack(struct gen_stream *stream, const uint64_t reg[SIFIVE_TRACE_STACK_REGISTERS],
	       const uint64_t *word, unsigned int words)
{
	unsigned int i;

	store(stream, 1, SIFIVE_TRACE_RECORD_STACK);
	for (i = 0; i < SIFIVE_TRACE_STACK_REGISTERS; i++)
		put_value(stream, reg[i]);
	for (i = 0; i < words; i++)
		put_value(stream, word[i]);
}

void gen_record(struct gen_stream *stream, unsigned int type,
		const uint64_t *address, const uint64_t *value)
{
	struct gen *gen = stream->gen;
	struct gen_truth *truth = new_truth(gen);
	unsigned int i;

	truth->src = stream->src;
	truth->channel = stream->channel;
	truth->type = (uint8_t)type;
	truth->first = stream->fresh;
	truth->owner = stream->owner;
	truth->addresses = type < 2 ? 2 : 1;
	truth->counters = stream->counters;
	truth->offset = gen->length;
	truth->begin_time = gen->now;

	store(stream, 1, type);
	for (i = 0; i < truth->addresses; i++) {
		put_address(stream, address[i]);
		truth->address[i] = address[i];
	}
	truth->address_time = gen->last[stream->src];
	for (i = 0; i < stream->counters; i++)
		put_counter(stream, truth, i, value[i]);
	stream->fresh = false;
}

void gen_stream_init(struct gen_stream *stream, struct gen *gen, uint8_t src,
		     uint8_t channel, uint8_t count_type,
		     unsigned int counters, unsigned int width)
{
	unsigned int i;

	memset(stream, 0, sizeof(*stream));
	stream->gen = gen;
	stream->src = src;
	stream->channel = channel;
	stream->count_type = count_type;
	stream->counters = counters;
	for (i = 0; i < counters; i++) {
		stream->counter[i].number = i;
		stream->counter[i].code = i + 1;
		stream->counter[i].csr = 0xc00 + i;
		stream->counter[i].width = width;
	}
}

/* A generated trace from which gen_merge() takes messages. */
struct merged {
	const struct gen *gen;
	size_t at;		/* position of the next message */
	size_t message;		/* its number */
};

/* Append the next message and the idle bytes before it. No message here ends in idle bytes. */
static void take_message(struct gen *to, struct merged *from)
{
	const uint8_t *data = from->gen->data;
	size_t end = from->at;

	while (end < from->gen->length && data[end] == 0xff)
		end++;
	if (end < from->gen->length) {
		while ((data[end++] & 3) != 3)
			;
		if (from->message < from->gen->times)
			add_time(to, from->gen->time[from->message++]);
	}
	gen_bytes(to, data + from->at, end - from->at);
	from->at = end;
}

void gen_merge(struct gen *to, const struct gen *a, const struct gen *b,
	       uint64_t *seed)
{
	struct merged from[2] = { { .gen = a }, { .gen = b } };
	unsigned int which;

	for (;;) {
		const bool ended[2] = { from[0].at == a->length, from[1].at == b->length };

		if (ended[0] && ended[1])
			return;
		if (ended[0] || ended[1])
			which = ended[0];
		else if (a->ts_width && from[0].message < a->times && from[1].message < b->times)
			which = b->time[from[1].message] < a->time[from[0].message];
		else
			which = gen_random(seed) & 1;
		take_message(to, &from[which]);
	}
}

uint64_t gen_random(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}
