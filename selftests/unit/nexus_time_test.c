// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests the message decoder's times: schemes, widths, losses. */
#include <kselftest_harness.h>

#include "gen.h"
#include "nexus_collect.h"

static struct collected all;

FIXTURE(time) {
	struct gen gen;
	struct nexus_options options;
};

FIXTURE_VARIANT(time) {
	bool		delta;
	unsigned int	width;
};

FIXTURE_VARIANT_ADD(time, xor_40) { .delta = false, .width = 40 };
FIXTURE_VARIANT_ADD(time, xor_16) { .delta = false, .width = 16 };
FIXTURE_VARIANT_ADD(time, xor_64) { .delta = false, .width = 64 };
FIXTURE_VARIANT_ADD(time, delta_40) { .delta = true, .width = 40 };
FIXTURE_VARIANT_ADD(time, delta_16) { .delta = true, .width = 16 };
FIXTURE_VARIANT_ADD(time, delta_64) { .delta = true, .width = 64 };

FIXTURE_SETUP(time)
{
	gen_init(&self->gen, 2, variant->width);
	self->gen.ts_delta = variant->delta;
	self->options = (struct nexus_options){
		.src_bits = 2,
		.ts_width = variant->width,
		.ts_scheme = variant->delta ? NEXUS_TS_DELTA : NEXUS_TS_XOR,
	};
}

FIXTURE_TEARDOWN(time)
{
	gen_free(&self->gen);
}

static void decode(struct gen *gen, const struct nexus_options *options)
{
	collect(options, gen->data, gen->length, gen->length, &all);
}

TEST_F(time, follows_each_source)
{
	uint64_t seed = 3, expected[2][100];
	size_t i;

	gen_sync(&self->gen, 1);
	gen_sync(&self->gen, 3);
	for (i = 0; i < 100; i++) {
		self->gen.now += gen_random(&seed) % 90;
		expected[0][i] = self->gen.now;
		gen_store(&self->gen, 1, 6, 4, (uint32_t)i);
		expected[1][i] = self->gen.now;
		gen_store(&self->gen, 3, 6, 4, (uint32_t)i);
	}
	decode(&self->gen, &self->options);
	ASSERT_EQ(202, all.items);
	for (i = 0; i < 100; i++) {
		EXPECT_EQ(expected[0][i], all.message[2 + 2 * i].time);
		EXPECT_EQ(expected[1][i], all.message[3 + 2 * i].time);
	}
}

TEST_F(time, is_extended_across_wraparounds)
{
	uint64_t step, expected[50];
	size_t i;

	step = variant->width == 64 ? 1ull << 50 : (1ull << variant->width) / 3;
	gen_sync(&self->gen, 0);
	for (i = 0; i < 50; i++) {
		self->gen.now += step;
		expected[i] = self->gen.now;
		/* Absolute times wrap like relative times. */
		if (i % 7 == 6)
			gen_sync(&self->gen, 0);
		else
			gen_store(&self->gen, 0, 6, 4, (uint32_t)i);
	}
	decode(&self->gen, &self->options);
	ASSERT_EQ(51, all.items);
	for (i = 0; i < 50; i++)
		EXPECT_EQ(expected[i], all.message[i + 1].time);
}

TEST_F(time, is_unknown_until_an_absolute_timestamp)
{
	gen_store(&self->gen, 1, 6, 4, 0);
	gen_sync(&self->gen, 2);
	gen_store(&self->gen, 1, 6, 4, 1);
	gen_store(&self->gen, 2, 6, 4, 2);
	gen_sync(&self->gen, 1);
	gen_store(&self->gen, 1, 6, 4, 3);
	decode(&self->gen, &self->options);
	ASSERT_EQ(6, all.items);
	EXPECT_FALSE(all.message[0].flags & NEXUS_TIME_KNOWN);
	EXPECT_FALSE(all.message[2].flags & NEXUS_TIME_KNOWN);
	EXPECT_TRUE(all.message[3].flags & NEXUS_TIME_KNOWN);
	EXPECT_EQ(1003, all.message[3].time);
	EXPECT_TRUE(all.message[5].flags & NEXUS_TIME_KNOWN);
	EXPECT_EQ(1005, all.message[5].time);
}

TEST_F(time, is_inferred_after_an_error)
{
	gen_sync(&self->gen, 1);
	gen_sync(&self->gen, 2);
	gen_error(&self->gen, 1);
	gen_store(&self->gen, 1, 6, 4, 0);
	gen_store(&self->gen, 2, 6, 4, 1);
	gen_sync(&self->gen, 1);
	gen_store(&self->gen, 1, 6, 4, 2);
	decode(&self->gen, &self->options);
	ASSERT_EQ(7, all.items);
	EXPECT_EQ(NEXUS_ERROR, all.message[2].tcode);
	EXPECT_EQ(0, all.message[2].fixed[0]);
	EXPECT_EQ(0x20, all.message[2].field[0]);
	EXPECT_TRUE(all.message[2].flags & NEXUS_TIME_INFERRED);
	EXPECT_TRUE(all.message[3].flags & NEXUS_TIME_INFERRED);
	EXPECT_TRUE(all.message[3].flags & NEXUS_TIME_KNOWN);
	EXPECT_EQ(1003, all.message[3].time);
	EXPECT_TRUE(all.message[4].flags & NEXUS_TIME_KNOWN);
	EXPECT_FALSE(all.message[4].flags & NEXUS_TIME_INFERRED);
	EXPECT_EQ(1004, all.message[4].time);
	EXPECT_EQ(1005, all.message[5].time);
	EXPECT_EQ(1006, all.message[6].time);
}

TEST_F(time, continues_after_an_error)
{
	uint64_t now;

	gen_sync(&self->gen, 0);
	gen_error(&self->gen, 0);
	/*
	 * A wrap without messages is detected, unless the time has advanced by the whole
	 * range.
	 */
	self->gen.now += (1ull << (variant->width - 1)) + 5;
	gen_sync(&self->gen, 0);
	self->gen.now += (1ull << (variant->width - 1)) + 5;
	now = self->gen.now;
	gen_sync(&self->gen, 0);
	decode(&self->gen, &self->options);
	ASSERT_EQ(4, all.items);
	if (variant->width < 64)
		EXPECT_EQ(now, all.message[3].time);
}

TEST_F(time, is_repeated_for_a_message_without_timestamp)
{
	gen_sync(&self->gen, 0);
	gen_store(&self->gen, 0, 6, 4, 0);
	self->gen.ts_width = 0;
	gen_store(&self->gen, 0, 6, 4, 1);
	decode(&self->gen, &self->options);
	ASSERT_EQ(3, all.items);
	EXPECT_EQ(NEXUS_TIME_KNOWN | NEXUS_STAMP_MISSING, all.message[2].flags);
	EXPECT_EQ(1001, all.message[2].time);
}

/* A time that goes back shows which bit was wrong, so the clock is corrected. */
TEST_F(time, is_corrected_by_a_contradiction)
{
	size_t length;

	if (variant->delta)
		return;
	self->gen.now = 1025;
	gen_sync(&self->gen, 0);
	/* These messages do not reach the decoder. */
	length = self->gen.length;
	self->gen.now = 1025 + 64;
	gen_store(&self->gen, 0, 6, 4, 1);
	self->gen.length = length;
	self->gen.now = 1152;
	gen_store(&self->gen, 0, 6, 4, 2);
	self->gen.now = 1152 + 64;
	gen_store(&self->gen, 0, 6, 4, 3);
	decode(&self->gen, &self->options);
	ASSERT_EQ(3, all.items);
	EXPECT_EQ(1152 + 64, all.message[1].time);
	EXPECT_FALSE(all.message[1].flags & NEXUS_TIME_INFERRED);
	EXPECT_TRUE(all.message[2].flags & NEXUS_CONTRARY);
	EXPECT_EQ(64, all.message[2].contrary);
	EXPECT_TRUE(all.message[2].flags & NEXUS_TIME_INFERRED);
	EXPECT_EQ(1152 + 64, all.message[2].time);
}

TEST(all_sync_messages_contain_an_absolute_time)
{
	static const uint8_t tcode[] = { 9, 11, 12, 29, 35 };
	static const uint8_t fixed[] = { 1, 0 };
	static const uint8_t bits[][3] = {
		{ 4 }, { 4 }, { 4, 2 }, { 4, 2 }, { 4, 2 },
	};
	static const uint64_t field[3] = { 1, 2, 3 };
	static const unsigned int fields[] = { 2, 2, 2, 3, 1 };
	struct nexus_options options = { .src_bits = 0 };
	size_t i;

	for (i = 0; i < sizeof(tcode); i++) {
		struct gen gen;

		gen_init(&gen, 0, 40);
		gen.now = 0x123456789a;
		gen_message(&gen, tcode[i], 0, fixed, bits[i], field, fields[i]);
		decode(&gen, &options);
		ASSERT_EQ(1, all.items);
		EXPECT_EQ(NEXUS_SYNC | NEXUS_TIMESTAMP | NEXUS_TIME_KNOWN,
			  all.message[0].flags);
		EXPECT_EQ(0x123456789a, all.message[0].time);
		gen_free(&gen);
	}
}

TEST(timestamp_width_is_40_by_default)
{
	struct nexus_options options = { .src_bits = 0 };
	struct gen gen;

	gen_init(&gen, 0, 40);
	gen.now = (1ull << 40) - 2;
	gen_sync(&gen, 0);
	gen.now += 3;
	gen_store(&gen, 0, 6, 4, 0);
	decode(&gen, &options);
	ASSERT_EQ(2, all.items);
	EXPECT_EQ((1ull << 40) + 2, all.message[1].time);
	gen_free(&gen);
}

TEST_HARNESS_MAIN
