// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that the message decoder handles every layout, finds the messages' ends, and recovers from
 * damage. nexus_time_test.c tests the decoder's times.
 */
#include <kselftest_harness.h>

#include "gen.h"
#include "nexus_collect.h"

static struct collected all;

static void decode(unsigned int src_bits, const void *data, size_t length)
{
	struct nexus_options options = { .src_bits = src_bits };

	collect(&options, data, length, length ? length : 1, &all);
}

TEST(example_ict_with_sync_is_decoded)
{
	static const uint8_t bytes[] = { 0x8c, 0x00, 0x01, 0xa0, 0x3f };

	decode(0, bytes, sizeof(bytes));
	ASSERT_EQ(1, all.items);
	EXPECT_EQ(NEXUS_MESSAGE, all.item[0]);
	EXPECT_EQ(NEXUS_ICT_SYNC, all.message[0].tcode);
	EXPECT_EQ(0, all.message[0].src);
	EXPECT_EQ(0, all.message[0].fixed[0]);
	EXPECT_EQ(0, all.message[0].fixed[1]);
	EXPECT_EQ(1, all.message[0].fields);
	EXPECT_EQ(0, all.message[0].field[0]);
	EXPECT_EQ(NEXUS_SYNC | NEXUS_TIMESTAMP | NEXUS_TIME_KNOWN,
		  all.message[0].flags);
	EXPECT_EQ(1000, all.message[0].time);
}

TEST(example_data_acquisition_is_decoded)
{
	static const uint8_t bytes[] = {
		0x8c, 0x00, 0x01, 0xa0, 0x3f,
		0x1c, 0x61, 0x98, 0x24, 0x5c, 0x64, 0xc0, 0x05, 0x6b,
	};
	struct store store;

	decode(0, bytes, sizeof(bytes));
	ASSERT_EQ(2, all.items);
	EXPECT_EQ(NEXUS_DATA_ACQUISITION, all.message[1].tcode);
	EXPECT_EQ(5, all.message[1].offset);
	EXPECT_EQ(9, all.message[1].length);
	EXPECT_EQ(2, all.message[1].fields);
	EXPECT_EQ(0x18, all.message[1].field[0]);
	EXPECT_EQ(0x70657266, all.message[1].field[1]);
	EXPECT_EQ(1010, all.message[1].time);
	ASSERT_TRUE(nexus_store(&all.message[1], &store));
	EXPECT_EQ(6, store.channel);
	EXPECT_EQ(4, store.bytes);
	EXPECT_EQ(0x70657266, store.value);
}

TEST(example_with_source_is_decoded)
{
	static const uint8_t bytes[] = {
		0x8c, 0x08, 0x01, 0xa4, 0x3f,
		0x1c, 0x80, 0x05, 0x98, 0x24, 0x5c, 0x64, 0xc0, 0x05, 0x6b,
	};

	decode(2, bytes, sizeof(bytes));
	ASSERT_EQ(2, all.items);
	EXPECT_EQ(NEXUS_ICT_SYNC, all.message[0].tcode);
	EXPECT_EQ(2, all.message[0].src);
	EXPECT_EQ(0, all.message[0].field[0]);
	EXPECT_EQ(1001, all.message[0].time);
	EXPECT_EQ(NEXUS_DATA_ACQUISITION, all.message[1].tcode);
	EXPECT_EQ(0, all.message[1].src);
	EXPECT_EQ(0x18, all.message[1].field[0]);
	EXPECT_EQ(0x70657266, all.message[1].field[1]);
	/* Source 0 has not sent an absolute timestamp. */
	EXPECT_EQ(NEXUS_TIMESTAMP, all.message[1].flags);
}

/* Every layout of nexus.h, with fixed fields that select its optional field. */
static const struct layout {
	uint8_t		tcode;
	uint8_t		fixed[3];
	uint8_t		bits[3];
	unsigned int	fields;
} layouts[] = {
	{ 2,  { 0 },	 { 0 },	   1 },
	{ 3,  { 0 },	 { 0 },	   1 },
	{ 4,  { 3 },	 { 2 },	   2 },
	{ 7,  { 0 },	 { 0 },	   2 },
	{ 8,  { 9 },	 { 4 },	   1 },
	{ 9,  { 15 },	 { 4 },	   2 },
	{ 11, { 5 },	 { 4 },	   2 },
	{ 12, { 5, 2 },	 { 4, 2 }, 2 },
	{ 27, { 1 },	 { 4 },	   1 },
	{ 27, { 2 },	 { 4 },	   2 },
	{ 28, { 1 },	 { 2 },	   3 },
	{ 29, { 8, 1 },	 { 4, 2 }, 3 },
	{ 30, { 0 },	 { 0 },	   1 },
	{ 33, { 4, 0 },	 { 4, 2 }, 1 },
	{ 33, { 4, 1 },	 { 4, 2 }, 2 },
	{ 34, { 0, 0 },	 { 4, 2 }, 1 },
	{ 34, { 9, 1 },	 { 4, 2 }, 2 },
	{ 35, { 0, 0 },	 { 4, 2 }, 1 },
	{ 35, { 9, 1 },	 { 4, 2 }, 2 },
};

#define LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

static const uint64_t values[] = {
	0, 1, 2, 3, 0xf, 0x3f, 0x40, 0xfff, 0x1000, 0xffffffff, 0x100000000,
	0xffffffffffff, 0x1000000000000, 0x8000000000000000, ~0ull,
};

#define VALUES (sizeof(values) / sizeof(values[0]))

static void check_layout(struct __test_metadata *_metadata,
			 const struct layout *layout, unsigned int src_bits,
			 unsigned int ts_width, size_t v)
{
	const uint64_t field[3] = {
		values[v], values[(v + 5) % VALUES], values[(v * 7 + 3) % VALUES],
	};
	unsigned int src = (1u << src_bits) - 1, i;
	const struct nexus_message *message = &all.message[1];
	struct gen gen;

	gen_init(&gen, src_bits, ts_width);
	gen_sync(&gen, src);
	gen_message(&gen, layout->tcode, src, layout->fixed, layout->bits,
		    field, layout->fields);
	gen_idle(&gen, 3);
	decode(src_bits, gen.data, gen.length);

	/* Three 64-bit fields and a timestamp are longer than any message. */
	if (gen.length - 3 - all.message[0].length > NEXUS_MESSAGE_MAX) {
		EXPECT_EQ(NEXUS_GAP, all.item[1]);
		EXPECT_EQ(NEXUS_GAP_TOO_LONG, message->gap);
		gen_free(&gen);
		return;
	}
	ASSERT_EQ(2, all.items);
	ASSERT_EQ(NEXUS_MESSAGE, all.item[1]);
	EXPECT_EQ(layout->tcode, message->tcode);
	EXPECT_EQ(src, message->src);
	EXPECT_EQ(layout->fixed[0], message->fixed[0]);
	EXPECT_EQ(layout->fixed[1], message->fixed[1]);
	ASSERT_EQ(layout->fields, message->fields);
	for (i = 0; i < layout->fields; i++)
		EXPECT_EQ(field[i], message->field[i]);
	EXPECT_EQ(ts_width ? NEXUS_TIMESTAMP : 0,
		  message->flags & NEXUS_TIMESTAMP);
	if (ts_width) {
		EXPECT_EQ(layout->tcode == NEXUS_ERROR ? NEXUS_TIME_INFERRED : 0,
			  message->flags & NEXUS_TIME_INFERRED);
		EXPECT_TRUE(message->flags & NEXUS_TIME_KNOWN);
		EXPECT_EQ(1001, message->time);
	} else {
		EXPECT_FALSE(message->flags & NEXUS_TIME_KNOWN);
	}
	EXPECT_EQ(gen.length - 3,
		  message->offset + message->length);
	gen_free(&gen);
}

TEST(every_layout_and_source_width_is_decoded)
{
	unsigned int src_bits;
	size_t i, v;

	for (src_bits = 0; src_bits <= NEXUS_SRC_BITS_MAX; src_bits++) {
		for (i = 0; i < LAYOUTS; i++) {
			for (v = 0; v < VALUES; v++) {
				check_layout(_metadata, &layouts[i], src_bits, 0, v);
				check_layout(_metadata, &layouts[i], src_bits, 40, v);
			}
		}
	}
}

TEST(options_out_of_range_are_refused)
{
	struct nexus_options options = { .src_bits = NEXUS_SRC_BITS_MAX + 1 };
	struct nexus nexus;

	EXPECT_EQ(-EINVAL, nexus_init(&nexus, &options));
	options.src_bits = 0;
	options.ts_width = 65;
	EXPECT_EQ(-EINVAL, nexus_init(&nexus, &options));
	options.ts_width = 64;
	options.ts_scheme = 2;
	EXPECT_EQ(-EINVAL, nexus_init(&nexus, &options));
	options.ts_scheme = NEXUS_TS_DELTA;
	EXPECT_EQ(0, nexus_init(&nexus, &options));
}

TEST(store_sizes_are_decoded)
{
	struct nexus_message message = { .tcode = NEXUS_DATA_ACQUISITION };
	struct store store;

	message.field[0] = 31 * 4 + 2;
	message.field[1] = 0xffff;
	ASSERT_TRUE(nexus_store(&message, &store));
	EXPECT_EQ(31, store.channel);
	EXPECT_EQ(2, store.bytes);
	message.field[1] = 0x10000;
	ASSERT_TRUE(nexus_store(&message, &store));
	EXPECT_EQ(0, store.bytes);
	message.field[0] = 3;
	message.field[1] = 0xff;
	ASSERT_TRUE(nexus_store(&message, &store));
	EXPECT_EQ(1, store.bytes);
	message.field[0] = 1;
	ASSERT_TRUE(nexus_store(&message, &store));
	EXPECT_EQ(0, store.bytes);
	message.field[0] = 0;
	message.field[1] = 0x100000000;
	ASSERT_TRUE(nexus_store(&message, &store));
	EXPECT_EQ(0, store.bytes);
	message.field[0] = 32 * 4;
	EXPECT_FALSE(nexus_store(&message, &store));
	message.field[0] = 0;
	message.tcode = NEXUS_ICT;
	EXPECT_FALSE(nexus_store(&message, &store));
}

/* Write a sync, stores of several sizes, and idle bytes. */
static void sample(struct gen *gen, unsigned int src_bits)
{
	unsigned int i;

	gen_init(gen, src_bits, 40);
	gen_sync(gen, 0);
	for (i = 0; i < 6; i++) {
		gen_store(gen, 0, 6, 1, i);
		gen_store(gen, 0, 6, 4, 0x12345678u >> (4 * i));
		gen_idle(gen, i % 3);
		gen_store(gen, 0, 6, 2, 0xffffu >> i);
	}
}

TEST(idle_bytes_between_messages_are_skipped)
{
	struct gen gen;
	size_t i;

	gen_init(&gen, 0, 40);
	gen_idle(&gen, 9);
	gen_sync(&gen, 0);
	for (i = 0; i < 40; i++) {
		gen_store(&gen, 0, 6, 4, (uint32_t)i);
		gen_idle(&gen, i);
	}
	decode(0, gen.data, gen.length);
	ASSERT_EQ(41, all.items);
	EXPECT_EQ(0, all.gaps);
	for (i = 0; i < 40; i++)
		EXPECT_EQ(i, all.message[i + 1].field[1]);
	decode(0, gen.data, 9);
	EXPECT_EQ(0, all.items);
	gen_free(&gen);
}

TEST(empty_input_contains_no_messages)
{
	decode(0, NULL, 0);
	EXPECT_EQ(0, all.items);
}

/* The result must not depend on how the input is cut into chunks. */
TEST(chunk_boundaries_do_not_affect_the_result)
{
	static struct collected whole;
	struct nexus_options options = { .src_bits = 2 };
	struct gen gen;
	size_t piece;

	sample(&gen, 2);
	gen_bytes(&gen, "\x02\x00\x00", 3);
	gen_store(&gen, 0, 6, 4, 1);
	gen_store(&gen, 0, 6, 4, 2);
	collect(&options, gen.data, gen.length, gen.length, &whole);
	EXPECT_EQ(1, whole.gaps);
	for (piece = 1; piece < gen.length; piece++) {
		collect(&options, gen.data, gen.length, piece, &all);
		ASSERT_EQ(whole.items, all.items);
		EXPECT_EQ(0, memcmp(whole.item, all.item, sizeof(all.item)));
		EXPECT_EQ(0, memcmp(whole.message, all.message,
				    sizeof(all.message)));
	}
	gen_free(&gen);
}

/* Whichever byte a ring begins with, decoding is correct from the second message at the latest. */
TEST(ring_is_decoded_from_the_second_message)
{
	struct nexus_options options = { .ring = true };
	static struct collected whole;
	struct gen gen;
	size_t start, i, first;

	sample(&gen, 0);
	decode(0, gen.data, gen.length);
	whole = all;
	for (start = 1; start + 12 < gen.length; start++) {
		collect(&options, gen.data + start, gen.length - start, 7, &all);
		ASSERT_LT(1, all.items);
		EXPECT_EQ(1, all.gaps);
		EXPECT_EQ(NEXUS_GAP, all.item[0]);
		EXPECT_EQ(NEXUS_GAP_ALIGN, all.message[0].gap);
		first = whole.items - (all.items - 1);
		for (i = 1; i < all.items; i++) {
			EXPECT_EQ(whole.message[first + i - 1].offset - start,
				  all.message[i].offset);
			EXPECT_EQ(whole.message[first + i - 1].field[1],
				  all.message[i].field[1]);
			EXPECT_FALSE(all.message[i].flags & NEXUS_TIME_KNOWN);
		}
	}
	gen_free(&gen);
}

static void check_gap(struct __test_metadata *_metadata, const void *bad,
		      size_t length, enum nexus_gap reason)
{
	struct gen gen;
	size_t before;

	gen_init(&gen, 0, 40);
	gen_sync(&gen, 0);
	gen_store(&gen, 0, 6, 4, 1);
	before = gen.length;
	gen_bytes(&gen, bad, length);
	gen_store(&gen, 0, 6, 4, 2);
	decode(0, gen.data, gen.length);
	ASSERT_EQ(4, all.items);
	EXPECT_EQ(NEXUS_MESSAGE, all.item[1]);
	EXPECT_TRUE(all.message[1].flags & NEXUS_TIME_KNOWN);
	EXPECT_EQ(NEXUS_GAP, all.item[2]);
	EXPECT_EQ(reason, all.message[2].gap);
	EXPECT_EQ(before, all.message[2].offset);
	EXPECT_EQ(length, all.message[2].length);
	EXPECT_EQ(NEXUS_MESSAGE, all.item[3]);
	EXPECT_EQ(2, all.message[3].field[1]);
	EXPECT_TRUE(all.message[3].flags & NEXUS_TIME_INFERRED);
	EXPECT_LT(0, strlen(nexus_gap_name(reason)));
	gen_free(&gen);
}

TEST(reserved_mseo_is_a_gap)
{
	check_gap(_metadata, "\x1c\x61\x9a\x24\x03", 5, NEXUS_GAP_RESERVED);
	check_gap(_metadata, "\x02\x03", 2, NEXUS_GAP_RESERVED);
}

TEST(overlong_message_is_a_gap)
{
	uint8_t bytes[100] = { 0x1c, 0x61 };

	bytes[NEXUS_MESSAGE_MAX] = 3;
	check_gap(_metadata, bytes, NEXUS_MESSAGE_MAX + 1, NEXUS_GAP_TOO_LONG);
	bytes[NEXUS_MESSAGE_MAX] = 0;
	bytes[99] = 3;
	check_gap(_metadata, bytes, 100, NEXUS_GAP_TOO_LONG);
}

TEST(malformed_message_is_a_gap)
{
	/* The message ends within its TCODE, or within fixed fields. */
	check_gap(_metadata, "\x1f", 1, NEXUS_GAP_MALFORMED);
	check_gap(_metadata, "\x1d\x03", 2, NEXUS_GAP_MALFORMED);
	check_gap(_metadata, "\x8c\x03", 2, NEXUS_GAP_MALFORMED);
	/* A data acquisition message with one field, and another with four fields. */
	check_gap(_metadata, "\x1c\x63", 2, NEXUS_GAP_MALFORMED);
	check_gap(_metadata, "\x1c\x61\x01\x01\x03", 5, NEXUS_GAP_MALFORMED);
	check_gap(_metadata, "\x1c\x61\x01\x01\x01\x03", 6, NEXUS_GAP_MALFORMED);
	/* An ICT whose CKDF is reserved. */
	check_gap(_metadata, "\x88\x80\x01\x03", 4, NEXUS_GAP_MALFORMED);
	/* A field of more than 64 bits. */
	check_gap(_metadata, "\x1c\x61\xfc\xfc\xfc\xfc\xfc\xfc\xfc\xfc\xfc\xfc\xff",
		  13, NEXUS_GAP_MALFORMED);
	/* A message that ends within its TCODE, so its layout is unknown. */
	check_gap(_metadata, "\xe3", 1, NEXUS_GAP_MALFORMED);
}

TEST(message_of_maximum_length_is_decoded)
{
	uint8_t bytes[NEXUS_MESSAGE_MAX] = { 0x1c, 0x61 };

	/* Leading zeros do not change a value, however many there are. */
	bytes[2] = 0x04;
	bytes[NEXUS_MESSAGE_MAX - 1] = 3;
	decode(0, bytes, sizeof(bytes));
	ASSERT_EQ(1, all.items);
	EXPECT_EQ(0, all.gaps);
	EXPECT_EQ(1, all.message[0].field[1]);
}

TEST(unknown_tcode_is_skipped)
{
	static const uint64_t field[] = { 5, 0x123456 };
	struct gen gen;

	gen_init(&gen, 2, 40);
	gen_sync(&gen, 1);
	gen_sync(&gen, 2);
	gen_message(&gen, 56, 2, NULL, NULL, field, 2);
	gen_store(&gen, 2, 6, 4, 7);
	gen_store(&gen, 1, 6, 4, 8);
	decode(2, gen.data, gen.length);
	ASSERT_EQ(5, all.items);
	EXPECT_EQ(0, all.gaps);
	EXPECT_EQ(56, all.message[2].tcode);
	EXPECT_EQ(2, all.message[2].src);
	EXPECT_EQ(NEXUS_UNKNOWN_TCODE, all.message[2].flags);
	EXPECT_EQ(0, all.message[2].fields);
	EXPECT_EQ(7, all.message[3].field[1]);
	/* The message may have had a timestamp to which the next timestamp is relative. */
	EXPECT_TRUE(all.message[3].flags & NEXUS_TIME_INFERRED);
	EXPECT_TRUE(all.message[4].flags & NEXUS_TIME_KNOWN);
	gen_free(&gen);
}

TEST(truncation_affects_only_the_last_message)
{
	static struct collected whole;
	struct gen gen;
	size_t cut, i;

	sample(&gen, 0);
	decode(0, gen.data, gen.length);
	whole = all;
	for (cut = 0; cut < gen.length; cut++) {
		decode(0, gen.data, cut);
		EXPECT_GE(1, all.gaps);
		for (i = 0; i + all.gaps < all.items; i++)
			EXPECT_EQ(0, memcmp(&whole.message[i], &all.message[i],
					    sizeof(all.message[i])));
		if (all.gaps) {
			EXPECT_EQ(NEXUS_GAP_TRUNCATED, all.message[i].gap);
			EXPECT_EQ(cut, all.message[i].offset +
				  all.message[i].length);
		}
	}
	gen_free(&gen);
}

/* After a flipped bit, the decoder must resynchronise and account for every byte. */
TEST(decoder_resynchronises_after_any_bit_flip)
{
	static struct collected whole;
	const struct nexus_message *last, *good;
	size_t bit, idle = 0, i;
	struct gen gen;

	sample(&gen, 0);
	gen_store(&gen, 0, 6, 4, 0xabcdef);
	gen_store(&gen, 0, 6, 4, 0xabcdef);
	decode(0, gen.data, gen.length);
	whole = all;
	good = &whole.message[whole.items - 1];
	for (i = 0; i < gen.length; i++)
		idle += gen.data[i] == 0xff;
	for (bit = 0; bit < 8 * (good->offset - 10); bit++) {
		gen.data[bit / 8] ^= 1 << bit % 8;
		decode(0, gen.data, gen.length);
		gen.data[bit / 8] ^= 1 << bit % 8;
		ASSERT_LT(2, all.items);
		EXPECT_LE(gen.length - idle, all.covered + 1);
		EXPECT_GE(gen.length, all.covered);
		last = &all.message[all.items - 1];
		EXPECT_EQ(good->offset, last->offset);
		EXPECT_EQ(good->field[0], last->field[0]);
		EXPECT_EQ(good->field[1], last->field[1]);
	}
	gen_free(&gen);
}

/* The decoder must not fail on random bytes, and must account for every byte except idle bytes. */
TEST(random_bytes_are_all_accounted_for)
{
	uint64_t seed = 7;
	unsigned int round;
	uint8_t bytes[400];
	size_t i, idle;

	for (round = 0; round < 2000; round++) {
		struct nexus_options options = {
			.src_bits = round % (NEXUS_SRC_BITS_MAX + 1),
			.ts_width = 1 + round % 64,
			.ts_scheme = round % 2,
			.ring = round % 5 == 0,
		};

		for (i = idle = 0; i < sizeof(bytes); i++) {
			bytes[i] = (uint8_t)gen_random(&seed);
			/* Few end marks result in long messages, many in short messages. */
			if (round % 3 && (bytes[i] & 3) > 1)
				bytes[i] ^= 2;
			idle += bytes[i] == 0xff;
		}
		collect(&options, bytes, sizeof(bytes), 1 + round % 97, &all);
		EXPECT_LE(sizeof(bytes) - idle, all.covered);
		EXPECT_GE(sizeof(bytes), all.covered);
		EXPECT_GE(sizeof(bytes), all.items);
	}
}

TEST_HARNESS_MAIN
