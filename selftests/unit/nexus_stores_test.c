// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests that decoding stores in bulk gives the same result as decoding message by message. */
#include <stdlib.h>
#include <string.h>

#include <kselftest_harness.h>

#include "gen.h"
#include "nexus/nexus.h"

#define STORES_MAX	20000

struct stores {
	size_t		count;
	size_t		at_once;	/* number of stores decoded by nexus_stores() */
	size_t		gaps;
	struct store	store[STORES_MAX];
};

static struct stores one, many;

static void add(struct stores *to, const struct store *store)
{
	if (to->count == STORES_MAX)
		abort();
	to->store[to->count++] = *store;
}

/* Decode up to @batch stores at a time or, if it is 0, message by message. */
static void drain(struct nexus *nexus, size_t batch, struct stores *to)
{
	struct nexus_message message;
	enum nexus_item item;
	struct store store[64];
	size_t count, i;

	do {
		do {
			memset(store, 0, sizeof(store));
			count = batch ? nexus_stores(nexus, store, batch) : 0;
			to->at_once += count;
			for (i = 0; i < count; i++)
				add(to, &store[i]);
		} while (count && count == batch);
		memset(store, 0, sizeof(store));
		item = nexus_next(nexus, &message);
		to->gaps += item == NEXUS_GAP;
		if (item == NEXUS_MESSAGE && nexus_store(&message, store))
			add(to, store);
	} while (item != NEXUS_MORE);
}

static void decode(const struct nexus_options *options, const struct gen *gen,
		   size_t piece, size_t batch, struct stores *to)
{
	struct nexus nexus;
	size_t at, size;

	memset(to, 0, sizeof(*to));
	if (nexus_init(&nexus, options))
		abort();
	for (at = 0; at < gen->length; at += size) {
		uint8_t *copy;

		size = gen->length - at < piece ? gen->length - at : piece;
		/* Allocate exactly @size bytes, so that reading beyond them is detected. */
		copy = malloc(size);
		if (!copy)
			abort();
		memcpy(copy, gen->data + at, size);
		nexus_feed(&nexus, copy, size);
		drain(&nexus, batch, to);
		free(copy);
	}
	nexus_end(&nexus);
	drain(&nexus, batch, to);
}

static void expect_same(struct __test_metadata *_metadata)
{
	size_t i;

	ASSERT_EQ(one.count, many.count);
	ASSERT_EQ(one.gaps, many.gaps);
	for (i = 0; i < one.count; i++) {
		const struct store *a = &one.store[i], *b = &many.store[i];

		ASSERT_EQ(a->offset, b->offset);
		ASSERT_EQ(a->time, b->time);
		ASSERT_EQ(a->value, b->value);
		ASSERT_EQ(a->src, b->src);
		ASSERT_EQ(a->channel, b->channel);
		ASSERT_EQ(a->bytes, b->bytes);
		ASSERT_EQ(a->time_known, b->time_known);
	}
}

/* Use values, tags and time steps of every length, so that some messages are long. */
static void fill(struct gen *gen, uint64_t *seed, unsigned int count)
{
	static const unsigned int sizes[] = { 1, 2, 4, 4 };
	unsigned int i;

	for (i = 0; i < count; i++) {
		unsigned int bytes = sizes[gen_random(seed) % 4];
		uint32_t value = (uint32_t)gen_random(seed);

		value >>= gen_random(seed) % 32;
		if (bytes < 4)
			value &= (1u << 8 * bytes) - 1;
		gen->step = gen_random(seed) >> (24 + gen_random(seed) % 40);
		gen_store(gen, (unsigned int)gen_random(seed) %
			  (1u << gen->src_bits), (unsigned int)gen_random(seed) % 32,
			  bytes, value);
	}
}

TEST(every_store_decodes_the_same_in_batches)
{
	static const unsigned int widths[] = { 0, 7, 20, 40, 64 };
	struct nexus_options options = { 0 };
	unsigned int src_bits, w, scheme, src;
	uint64_t seed = 21;

	for (src_bits = 0; src_bits <= NEXUS_SRC_BITS_MAX; src_bits++) {
		for (w = 0; w < 5; w++) {
			for (scheme = 0; scheme < 2; scheme++) {
				struct gen gen;

				gen_init(&gen, src_bits, widths[w]);
				gen.ts_delta = scheme == NEXUS_TS_DELTA;
				/* The last source has no absolute time. */
				for (src = 0; src + 1 < 1u << src_bits; src++)
					gen_sync(&gen, src);
				fill(&gen, &seed, 2000);
				options.src_bits = src_bits;
				options.ts_width = widths[w];
				options.ts_scheme = scheme;
				decode(&options, &gen, gen.length, 0, &one);
				decode(&options, &gen, gen.length, 64, &many);
				ASSERT_EQ(2000, one.count);
				expect_same(_metadata);
				gen_free(&gen);
			}
		}
	}
}

/* Typical stores take the fast path, except at the end of each chunk. */
TEST(most_stores_take_the_fast_path)
{
	struct nexus_options options = { .src_bits = 2 };
	struct gen_stream stream;
	uint64_t value[3] = { 0 }, address[2], seed = 22;
	struct gen gen;
	unsigned int i;

	gen_init(&gen, 2, 40);
	gen_sync(&gen, 1);
	gen_stream_init(&stream, &gen, 1, 6, 0, 3, 64);
	gen_header(&stream);
	for (i = 0; i < 1000; i++) {
		value[0] += gen_random(&seed) % 100000;
		value[1] += gen_random(&seed) % 1000;
		address[0] = 0x2aaaaaa000 + gen_random(&seed) % 0x1000 * 2;
		address[1] = 0x10000 + gen_random(&seed) % 0x1000 * 2;
		gen.step = gen_random(&seed) % 300;
		gen_record(&stream, i & 1, address, value);
	}
	decode(&options, &gen, gen.length, 64, &many);
	EXPECT_LT(7000, many.count);
	EXPECT_GT(many.count / 100, many.count - many.at_once);
	gen_free(&gen);
}

/* Put errors, gaps, idle bytes, and unknown and long messages between the stores. */
TEST(stores_between_other_messages_decode_the_same_in_batches)
{
	static const uint8_t fixed[] = { 1 }, bits[] = { 4, 0 };
	static const uint64_t field[] = { 0x123456789abcdef0, 7 };
	struct nexus_options options = { .src_bits = 2, .ts_width = 40 };
	uint64_t seed = 23;
	struct gen gen;
	size_t piece;
	int i;

	gen_init(&gen, 2, 40);
	for (i = 0; i < 60; i++) {
		fill(&gen, &seed, (unsigned int)gen_random(&seed) % 9);
		switch (i % 6) {
		case 0:
			gen_sync(&gen, i / 6 % 4);
			break;
		case 1:
			gen_error(&gen, i / 6 % 4);
			break;
		case 2:
			gen_bytes(&gen, "\x1e\x41\x03", 3);
			break;
		case 3:
			gen_idle(&gen, i);
			break;
		case 4:
			gen_message(&gen, 57, 1, fixed, bits, field, 1);
			break;
		default:
			gen_message(&gen, NEXUS_DATA_ACQUISITION, 1, NULL,
				    bits + 1, field, 2);
			break;
		}
	}
	decode(&options, &gen, gen.length, 0, &one);
	EXPECT_LE(10, one.gaps);
	for (piece = 1; piece < gen.length; piece += 1 + piece / 5) {
		decode(&options, &gen, piece, 1 + piece % 64, &many);
		expect_same(_metadata);
	}
	gen_free(&gen);
}

TEST(random_bytes_decode_the_same_in_batches)
{
	struct nexus_options options = { .ts_width = 20 };
	uint64_t seed = 24;
	struct gen gen;
	size_t i, k;

	for (i = 0; i < 300; i++) {
		uint8_t bytes[3000];

		/* Decode random bytes, many of which could be parts of stores. */
		for (k = 0; k < sizeof(bytes); k++) {
			bytes[k] = (uint8_t)gen_random(&seed);
			if (!(gen_random(&seed) % 8))
				bytes[k] = NEXUS_DATA_ACQUISITION << 2;
			else if (gen_random(&seed) % 2)
				bytes[k] &= 0xfc;
		}
		gen_init(&gen, 0, 0);
		gen_bytes(&gen, bytes, sizeof(bytes));
		options.src_bits = i % 8;
		options.ts_scheme = i & 8 ? NEXUS_TS_DELTA : NEXUS_TS_XOR;
		decode(&options, &gen, gen.length, 0, &one);
		decode(&options, &gen, 1 + i * 10, 1 + i % 64, &many);
		expect_same(_metadata);
		gen_free(&gen);
	}
}

TEST_HARNESS_MAIN
