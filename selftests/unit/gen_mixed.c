// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See gen_mixed.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/sifive_trace_format.h>

#include "gen_mixed.h"

#define CHANNEL		6	/* of the first thread of each source */
#define CHANNELS	2
#define SAMPLES		8	/* channel of samples */
#define COUNTERS	3
#define DEPTH		12

/* A source's bytes and streams. The last stream contains the samples. */
struct source {
	struct gen	gen;
	struct gen_stream stream[CHANNELS + 1];
	unsigned int	streams;
	bool		samples;
	bool		drops;		/* threads may drop records */
	uint64_t	value[CHANNELS + 1][COUNTERS];
	uint64_t	function[CHANNELS][DEPTH];
	uint64_t	site[CHANNELS][DEPTH];
	unsigned int	depth[CHANNELS];
	uint32_t	running;
};

static uint64_t below(uint64_t *seed, uint64_t limit)
{
	return gen_random(seed) % limit;
}

static void *grow(void *old, size_t count, size_t size)
{
	/* The memory doubles whenever the count is a power of two. */
	if (count & (count - 1))
		return old;
	old = realloc(old, (count ? 2 * count : 1) * size);
	if (!old) {
		perror("realloc");
		exit(1);
	}
	return old;
}

static void add_message(struct mixed *mixed, struct mixed_message message)
{
	mixed->message = grow(mixed->message, mixed->messages, sizeof(*mixed->message));
	mixed->message[mixed->messages++] = message;
}

/* Add the messages in the bytes from @from on. The first message was sent at @now. */
static void add_messages(struct mixed *mixed, const struct source *source, unsigned int src,
			 size_t from, uint64_t now)
{
	size_t at, end;

	for (; from < source->gen.length; from = end, now += source->gen.step) {
		for (at = from; (source->gen.data[at] & 3) != 3; at++)
			;
		end = at + 1;
		add_message(mixed, (struct mixed_message){
			.time = now, .offset = from, .length = end - from,
			.src = (uint8_t)src,
		});
	}
}

static struct mixed_record *new_record(struct mixed *mixed)
{
	mixed->record = grow(mixed->record, mixed->records, sizeof(*mixed->record));
	memset(&mixed->record[mixed->records], 0, sizeof(*mixed->record));
	return &mixed->record[mixed->records++];
}

static void count(struct source *source, unsigned int stream, uint64_t *seed)
{
	unsigned int i;

	for (i = 0; i < source->stream[stream].counters; i++)
		source->value[stream][i] += below(seed, 1ull << (1 + below(seed, 20)));
}

static uint64_t address_of(uint64_t *seed)
{
	return (below(seed, 2) ? 0x3f8a000000ull : 0x10000ull) + 2 * below(seed, 0x2000);
}

static void put_call(struct source *source, unsigned int stream, uint64_t *seed)
{
	unsigned int *depth = &source->depth[stream];
	const bool enters = !*depth || (*depth < DEPTH && below(seed, 2));
	uint64_t address[2];

	if (enters) {
		source->function[stream][*depth] = address_of(seed);
		source->site[stream][(*depth)++] = address_of(seed);
	} else {
		--*depth;
	}
	address[0] = source->function[stream][*depth - enters];
	address[1] = source->site[stream][*depth - enters];
	gen_record(&source->stream[stream], enters ? 0 : 1, address, source->value[stream]);
}

static void put_sample(struct source *source, unsigned int stream, struct mixed_record *record,
		       uint64_t *seed)
{
	uint64_t reg[SIFIVE_TRACE_STACK_REGISTERS], word[8], address = address_of(seed);
	unsigned int i;

	if (below(seed, 2)) {
		record->thread = 100 + (uint32_t)below(seed, 4);
		gen_thread(&source->stream[stream], record->thread);
	}
	if (below(seed, 2)) {
		record->callers = 1 + (unsigned int)below(seed, MIXED_CALLERS);
		for (i = 0; i < record->callers; i++)
			record->caller[i] = address_of(seed);
		gen_callers(&source->stream[stream], record->caller, record->callers);
	} else if (below(seed, 2)) {
		for (i = 0; i < SIFIVE_TRACE_STACK_REGISTERS; i++)
			reg[i] = gen_random(seed) >> below(seed, 64);
		for (i = 0; i < 8; i++)
			word[i] = gen_random(seed) >> below(seed, 64);
		gen_stack(&source->stream[stream], reg, word, 1 + (unsigned int)below(seed, 8));
		record->stack = true;
	}
	gen_record(&source->stream[stream], SIFIVE_TRACE_RECORD_ISR, &address,
		   source->value[stream]);
}

static void put_record(struct mixed *mixed, struct source *source, uint64_t *seed)
{
	const unsigned int stream = (unsigned int)below(seed, source->streams);
	struct mixed_record *record = new_record(mixed);
	struct gen_stream *to = &source->stream[stream];
	uint64_t address = address_of(seed);

	record->begin = source->gen.length;
	if (!below(seed, 40)) {
		record->waited = below(seed, 100000);
		gen_store(&source->gen, to->src, to->channel, 1, SIFIVE_TRACE_RECORD_WAITED);
		gen_store(&source->gen, to->src, to->channel, 4, (uint32_t)record->waited);
	} else if (source->drops && !below(seed, 80)) {
		mixed->drops = true;
		record->dropped = 1 + below(seed, 9);
		gen_store(&source->gen, to->src, to->channel, 1, SIFIVE_TRACE_RECORD_DROPPED);
		gen_store(&source->gen, to->src, to->channel, 4, (uint32_t)record->dropped);
		gen_header(to);
	} else if (!below(seed, 60)) {
		gen_header(to);
	}
	count(source, stream, seed);
	if (source->samples && stream == source->streams - 1)
		put_sample(source, stream, record, seed);
	else if (below(seed, 10))
		put_call(source, stream, seed);
	else
		gen_record(to, SIFIVE_TRACE_RECORD_MANUAL, &address, source->value[stream]);
	record->truth = source->gen.truth[source->gen.truths - 1];
}

static void put_switch(struct mixed *mixed, struct source *source, unsigned int src, uint64_t *seed)
{
	struct mixed_switch *change;

	mixed->change = grow(mixed->change, mixed->changes, sizeof(*mixed->change));
	change = &mixed->change[mixed->changes++];
	*change = (struct mixed_switch){ .src = (uint8_t)src };
	if (source->running) {
		change->thread = source->running;
		change->kind = (uint8_t)(0x11 + below(seed, 3));
		source->running = 0;
	} else {
		source->running = 100 + (uint32_t)below(seed, 4);
		change->thread = source->running;
		change->kind = SIFIVE_TRACE_SWITCH_IN;
	}
	gen_store(&source->gen, src, MIXED_SWITCHES, 1, change->kind);
	change->offset = source->gen.length;
	change->time = source->gen.now;
	gen_store(&source->gen, src, MIXED_SWITCHES, 4, change->thread);
}

static void make_source(struct mixed *mixed, struct source *source, unsigned int src,
			uint64_t *seed, unsigned int steps)
{
	const unsigned int counters = 1 + (unsigned int)below(seed, COUNTERS);
	static const unsigned int widths[] = { 64, 48, 40, 63 };
	const bool switches = below(seed, 2);
	unsigned int i, k;

	source->streams = 1 + (unsigned int)below(seed, CHANNELS);
	source->samples = below(seed, 2);
	source->streams += source->samples;
	for (i = 0; i < source->streams; i++) {
		const bool last = source->samples && i == source->streams - 1;

		gen_stream_init(&source->stream[i], &source->gen, (uint8_t)src,
				(uint8_t)(last ? SAMPLES : CHANNEL + i),
				(uint8_t)mixed->count_type, counters, widths[below(seed, 4)]);
		for (k = 0; k < counters; k++) {
			source->value[i][k] = gen_random(seed) >> (64 - 39 + below(seed, 20));
			source->stream[i].counter[k].previous = source->value[i][k];
		}
	}
	for (i = 0; i <= steps; i++) {
		const uint64_t now = source->gen.now;
		const size_t from = source->gen.length;

		if (!i) {
			gen_sync(&source->gen, src);
			for (k = 0; k < source->streams; k++)
				gen_header(&source->stream[k]);
		} else if (i == steps) {
			gen_sync(&source->gen, src);
		} else if (switches && !below(seed, 4)) {
			put_switch(mixed, source, src, seed);
		} else {
			put_record(mixed, source, seed);
		}
		add_messages(mixed, source, src, from, now);
		/* Sometimes the source pauses. */
		source->gen.now += below(seed, below(seed, 20) ? 40 : 30000);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct mixed_message *one = a, *other = b;

	if (one->time != other->time)
		return one->time < other->time ? -1 : 1;
	return (one->src > other->src) - (one->src < other->src);
}

static int by_source(const void *a, const void *b)
{
	const struct mixed_message *one = a, *other = b;

	if (one->src != other->src)
		return one->src < other->src ? -1 : 1;
	return (one->offset > other->offset) - (one->offset < other->offset);
}

static int by_place(const void *a, const void *b)
{
	const struct mixed_message *one = a, *other = b;

	return (one->at > other->at) - (one->at < other->at);
}

static int by_record(const void *a, const void *b)
{
	const struct mixed_record *one = a, *other = b;

	return (one->truth.offset > other->truth.offset) -
	       (one->truth.offset < other->truth.offset);
}

static int by_change(const void *a, const void *b)
{
	const struct mixed_switch *one = a, *other = b;

	return (one->offset > other->offset) - (one->offset < other->offset);
}

/* Return the position of a source's message in the trace. */
static uint64_t place(const struct mixed *mixed, unsigned int src, uint64_t offset)
{
	const struct mixed_message key = { .src = (uint8_t)src, .offset = offset }, *found;

	found = bsearch(&key, mixed->message, mixed->messages, sizeof(key), by_source);
	return found ? found->at : UINT64_MAX;
}

/* Merge the messages from all sources by time, and adjust all offsets. */
static void join(struct mixed *mixed, const struct source *source)
{
	size_t i;

	qsort(mixed->message, mixed->messages, sizeof(*mixed->message), by_time);
	for (i = 0; i < mixed->messages; i++) {
		struct mixed_message *message = &mixed->message[i];

		message->at = mixed->gen.length;
		gen_bytes(&mixed->gen, source[message->src].gen.data + message->offset,
			  message->length);
	}
	qsort(mixed->message, mixed->messages, sizeof(*mixed->message), by_source);
	for (i = 0; i < mixed->records; i++) {
		struct mixed_record *record = &mixed->record[i];

		record->begin = place(mixed, record->truth.src, record->begin);
		record->truth.offset = place(mixed, record->truth.src, record->truth.offset);
	}
	for (i = 0; i < mixed->changes; i++)
		mixed->change[i].offset = place(mixed, mixed->change[i].src,
						mixed->change[i].offset);
	qsort(mixed->message, mixed->messages, sizeof(*mixed->message), by_place);
	qsort(mixed->record, mixed->records, sizeof(*mixed->record), by_record);
	if (mixed->changes)
		qsort(mixed->change, mixed->changes, sizeof(*mixed->change), by_change);
}

void mixed_make(struct mixed *mixed, uint64_t *seed, unsigned int steps)
{
	struct source *source = calloc(MIXED_SOURCES, sizeof(*source));
	const uint64_t now = gen_random(seed) >> 30, step = 1 + below(seed, 20);
	const bool delta = below(seed, 2);
	bool drops;
	unsigned int i;

	if (!source)
		exit(1);
	memset(mixed, 0, sizeof(*mixed));
	gen_init(&mixed->gen, 2, 40);
	mixed->gen.ts_delta = delta;
	mixed->step = step;
	mixed->sources = 1 + (unsigned int)below(seed, MIXED_SOURCES);
	mixed->count_type = (unsigned int)below(seed, 3);
	drops = !below(seed, 4);
	for (i = 0; i < mixed->sources; i++) {
		gen_init(&source[i].gen, 2, 40);
		source[i].gen.ts_delta = delta;
		source[i].gen.now = now + below(seed, 100);
		source[i].gen.step = step;
		source[i].drops = drops;
		make_source(mixed, &source[i], i, seed, steps);
	}
	join(mixed, source);
	for (i = 0; i < mixed->sources; i++)
		gen_free(&source[i].gen);
	free(source);
}

void mixed_free(struct mixed *mixed)
{
	gen_free(&mixed->gen);
	free(mixed->message);
	free(mixed->record);
	free(mixed->change);
	memset(mixed, 0, sizeof(*mixed));
}
