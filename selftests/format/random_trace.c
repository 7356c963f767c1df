// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Writes a random trace and its side-car file. The traces of many seeds contain counters of all
 * widths, all count types and kinds of timestamps, several sources, channels and headers, abandoned
 * records, marks, callers and Error messages. Every fourth trace is a ring.
 *
 *	random_trace SEED FILE
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/sifive_trace_format.h>

#include "gen.h"

#define STREAMS		3
#define PARTS		300
#define SWITCHES	30	/* channel for context switches */

static uint64_t seed;
static bool ring;
/* Each of the two sources has its own half of the streams. */
static struct gen_stream stream[2][STREAMS];

static uint64_t below(uint64_t limit)
{
	return gen_random(&seed) % limit;
}

static bool one_in(unsigned int n)
{
	return !below(n);
}

static uint64_t random_value(void)
{
	return gen_random(&seed) >> below(64);
}

static void begin(struct gen_stream *s, struct gen *gen, unsigned int src,
		  unsigned int number)
{
	static const unsigned int widths[] = { 64, 48, 40, 32, 1 };
	unsigned int i;

	gen_stream_init(s, gen, (uint8_t)src, (uint8_t)(5 + 9 * number + src),
			(uint8_t)below(3), (unsigned int)below(8), 48);
	for (i = 0; i < s->counters; i++) {
		s->counter[i].width = widths[below(5)];
		s->counter[i].type = (uint32_t)below(3);
		s->counter[i].event_data = random_value();
		s->counter[i].number += src;
	}
}

/*
 * Copy the first stream's counters to @s, because a ring's side-car file describes the counters
 * only once, for all streams.
 */
static void begin_alike(struct gen_stream *s)
{
	const struct gen_stream *first = &stream[0][0];

	s->count_type = first->count_type;
	s->counters = first->counters;
	memcpy(s->counter, first->counter, sizeof(s->counter));
}

/* Write a sample's thread; some threads have no id, or are incomplete. */
static void write_thread(struct gen_stream *s)
{
	gen_store(s->gen, s->src, s->channel, 1, SIFIVE_TRACE_RECORD_THREAD);
	if (!one_in(50))
		gen_store(s->gen, s->src, s->channel, one_in(50) ? 2 : 4,
			  one_in(100) ? SIFIVE_TRACE_RECORD_MAGIC : (uint32_t)below(5));
	if (one_in(50))
		write_thread(s);
}

/* Write a sample's callers; some lists are incomplete, or too long. */
static void write_callers(struct gen_stream *s)
{
	uint64_t count = one_in(20) ? below(2 * SIFIVE_TRACE_CALLERS_MAX) : 1 + below(6);
	const uint64_t same = random_value() & ~1ull;

	gen_store(s->gen, s->src, s->channel, 1, SIFIVE_TRACE_RECORD_CALLERS);
	while (count--) {
		const uint64_t value = one_in(4) ? 0 : one_in(4) ? same : random_value() & ~1ull;

		gen_store(s->gen, s->src, s->channel, 4,
			  one_in(200) ? SIFIVE_TRACE_RECORD_MAGIC :
			  (uint32_t)value | (value >> 32 ? 1 : 0));
		if (value >> 32 && !one_in(100))
			gen_store(s->gen, s->src, s->channel, 4, (uint32_t)(value >> 32));
	}
}

/* Write a sample's stack; some stacks are incomplete, or too long. */
static void write_stack(struct gen_stream *s)
{
	uint64_t values = one_in(50) ? below(1100) : one_in(10) ? below(16) : 16 + below(20);
	unsigned int parts;

	gen_store(s->gen, s->src, s->channel, 1, SIFIVE_TRACE_RECORD_STACK);
	while (values--) {
		gen_store(s->gen, s->src, s->channel, 4,
			  one_in(300) ? SIFIVE_TRACE_RECORD_MAGIC : (uint32_t)random_value());
		for (parts = one_in(300) ? 3 : (unsigned int)below(3); parts; parts--)
			gen_store(s->gen, s->src, s->channel, 2, (uint32_t)below(0x10000));
	}
}

static void write_record(struct gen_stream *s)
{
	const unsigned int kind = (unsigned int)below(4);
	uint64_t address[2] = { random_value() & ~1ull, random_value() & ~1ull };
	uint64_t value[GEN_COUNTERS];
	unsigned int i;

	for (i = 0; i < s->counters; i++)
		value[i] = random_value() & ~0ull >> (64 - s->counter[i].width);
	if (kind == SIFIVE_TRACE_RECORD_ISR ? one_in(2) : one_in(50))
		write_thread(s);
	if (kind == SIFIVE_TRACE_RECORD_ISR && one_in(2))
		write_callers(s);
	if (kind == SIFIVE_TRACE_RECORD_ISR && one_in(4))
		write_stack(s);
	gen_record(s, kind, address, value);
}

/* Write an abandoned record, with or without the mark that ends it. */
static void abandon(struct gen_stream *s)
{
	gen_store(s->gen, s->src, s->channel, 1, 0);
	if (one_in(2))
		gen_store(s->gen, s->src, s->channel, 4, 0x10001);
	if (one_in(2))
		gen_store(s->gen, s->src, s->channel, 1, 0xff);
	gen_header(s);
}

/*
 * Write a header after another thread has taken the channel, or after the previous owner has taken
 * the channel back.
 */
static void take_channel(struct gen_stream *s)
{
	s->owner = 1 + (uint32_t)below(3);
	s->goes_on = one_in(2);
	gen_header(s);
}

/* Write the mark for dropped records, or for a wait for room in the buffer. */
static void mark(struct gen_stream *s)
{
	const uint32_t kind = SIFIVE_TRACE_RECORD_WAITED_LONG + (uint32_t)below(3);

	gen_store(s->gen, s->src, s->channel, 1, kind);
	gen_store(s->gen, s->src, s->channel, 4, (uint32_t)below(1000));
	if (kind == SIFIVE_TRACE_RECORD_DROPPED)
		gen_header(s);
}

/* Write a message that is not part of a record. */
static void other_message(struct gen *gen, unsigned int src)
{
	static const uint8_t bits[] = { 4, 2, 0 };
	const uint8_t fixed[] = { (uint8_t)below(16), (uint8_t)below(2) };
	const uint64_t field[] = { random_value(), random_value() };

	gen_message(gen, 33 + (unsigned int)below(2), src, fixed, bits, field, 1u + fixed[1]);
}

/* Write a record to the channel for context switches: a switch, a mark, or a truncated record. */
static void write_switch(struct gen *gen, unsigned int src)
{
	static const uint8_t kinds[] = {
		0, 1, 2, 3, 4, 5, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0xff,
	};
	const uint8_t kind = kinds[below(sizeof(kinds))];

	gen_store(gen, src, SWITCHES, 1, kind);
	/* A page fault record has two words before the last word. */
	if (kind == 5 && !one_in(10))
		gen_store(gen, src, SWITCHES, 4, (uint32_t)random_value());
	if (kind == 5 && !one_in(10))
		gen_store(gen, src, SWITCHES, 4, (uint32_t)random_value());
	if (kind ? !one_in(10) : one_in(10))
		gen_store(gen, src, SWITCHES, one_in(20) ? 2 : 4,
			  kind == 5 ? (uint32_t)random_value() : (uint32_t)below(0x10000));
}

static void write_part(struct gen_stream *s)
{
	struct gen *gen = s->gen;

	gen->step = below(gen->ts_width == 12 ? 200 : 20000);
	if (one_in(30))
		gen_idle(gen, (size_t)below(9));
	if (one_in(30))
		other_message(gen, s->src);
	if (one_in(40))
		gen_sync(gen, s->src);
	if (one_in(8))
		write_switch(gen, s->src);
	if (one_in(15))
		take_channel(s);
	else if (one_in(20))
		gen_header(s);
	else if (one_in(20))
		abandon(s);
	else if (one_in(40))
		gen_error(gen, s->src);
	else if (one_in(30))
		mark(s);
	write_record(s);
}

/* Write all records from one source. */
static void fill(struct gen *gen, unsigned int src)
{
	unsigned int i;

	gen_sync(gen, src);
	for (i = 0; i < STREAMS; i++) {
		begin(&stream[src][i], gen, src, i);
		if (ring)
			begin_alike(&stream[src][i]);
		gen_header(&stream[src][i]);
	}
	for (i = 0; i < PARTS; i++)
		write_part(&stream[src][below(STREAMS)]);
}

/* Return the position after the first message that ends at @bytes or later. */
static size_t next_message(const struct gen *gen, size_t bytes)
{
	while (bytes < gen->length && (gen->data[bytes++] & 3) != 3)
		;
	return bytes;
}

static void write_meta(FILE *file, const struct gen *gen)
{
	const struct gen_stream *s = &stream[0][0];
	unsigned int i;

	fprintf(file, "{\"version\":1,\"srcbits\":%u,\"ts_width\":%u,\"ts_scheme\":\"%s\"",
		gen->src_bits, gen->ts_width ? gen->ts_width : 40,
		gen->ts_delta ? "delta" : "xor");
	fprintf(file, ",\"switches\":{\"channel\":%u}", SWITCHES);
	if (ring)
		fprintf(file, ",\"wrapped\":true,\"count_type\":%u,\"counters\":[",
			s->count_type);
	for (i = 0; ring && i < s->counters; i++)
		fprintf(file, "%s{\"number\":%u,\"type\":0,\"info\":%u}", i ? "," : "",
			s->counter[i].number,
			(s->counter[i].width - 1) << SIFIVE_TRACE_COUNTER_WIDTH_SHIFT);
	fprintf(file, "%s}\n", ring ? "]" : "");
}

static FILE *create(const char *path, const char *suffix)
{
	char name[4096];
	FILE *file;

	snprintf(name, sizeof(name), "%s%s", path, suffix);
	file = fopen(name, "w");
	if (!file) {
		perror(name);
		exit(1);
	}
	return file;
}

int main(int argc, char **argv)
{
	static const unsigned int ts_widths[] = { 40, 64, 12, 0 };
	struct gen trace, part[2];
	FILE *data, *meta;
	unsigned int i;
	size_t from;

	if (argc != 3)
		return 2;
	seed = strtoull(argv[1], NULL, 0);
	ring = one_in(4);
	/*
	 * In a ring, a narrow clock could wrap an unknown number of times before the first absolute
	 * time.
	 */
	gen_init(&trace, (unsigned int)below(8), ts_widths[ring ? below(2) : below(4)]);
	trace.ts_delta = one_in(2);
	for (i = 0; i < 2; i++) {
		gen_init(&part[i], trace.src_bits, trace.ts_width);
		part[i].ts_delta = trace.ts_delta;
		if (!i || trace.src_bits)
			fill(&part[i], i);
	}
	gen_merge(&trace, &part[0], &part[1], &seed);
	from = ring ? next_message(&trace, (size_t)below(trace.length)) : 0;

	data = create(argv[2], "");
	meta = create(argv[2], ".meta");
	fwrite(trace.data + from, 1, trace.length - from, data);
	write_meta(meta, &trace);
	gen_free(&trace);
	gen_free(&part[0]);
	gen_free(&part[1]);
	return fclose(data) || fclose(meta);
}
