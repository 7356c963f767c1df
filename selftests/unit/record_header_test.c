// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that the header of a stream is the sequence of stores that the record format
 * specifies: for each event type and count type, with counters in any order; and that streams that
 * a header cannot describe are rejected.
 */
#include "kselftest_harness.h"

#include "record_mock.h"

#include "../../lib/counter.c"
#include "../../lib/record.c"

#define MAGIC	{ 32, 0x70657266 }

static struct perf_stream stream = MOCK_STREAM(&mock_layout);

static int start(uint32_t type, const struct perf_counter *counter, uint32_t count)
{
	int rc;

	mock_reset();
	rc = perf_layout_init(&mock_layout, type, counter, count);
	if (!rc)
		mock_header(&stream);
	return rc;
}

TEST(header_without_counters_is_encoded)
{
	ASSERT_EQ(0, start(SIFIVE_TRACE_RECORD_RAW, NULL, 0));
	EXPECT_STORES(MAGIC, { 8, 0 }, { 32, 0 });
	ASSERT_EQ(0, start(SIFIVE_TRACE_RECORD_DELTA, NULL, 0));
	EXPECT_STORES(MAGIC, { 8, 1 }, { 32, 0 });
	ASSERT_EQ(0, start(SIFIVE_TRACE_RECORD_XOR, NULL, 0));
	EXPECT_STORES(MAGIC, { 8, 2 }, { 32, 0 });
}

TEST(general_event_is_encoded)
{
	const struct perf_counter cycles = {
		.number = 0, .info = 0x3fc00, .type = 0, .code = 1,
	};

	ASSERT_EQ(0, start(SIFIVE_TRACE_RECORD_RAW, &cycles, 1));
	EXPECT_STORES(MAGIC, { 8, 0 }, { 32, 0x1 },
		      { 32, 0 }, { 32, 1 }, { 32, 0x3fc00 });
}

TEST(timestamp_event_is_encoded)
{
	const struct perf_counter ts = {
		.number = 1, .info = 0x27000, .type = 0, .code = 0x80,
	};

	ASSERT_EQ(0, start(SIFIVE_TRACE_RECORD_DELTA, &ts, 1));
	EXPECT_STORES(MAGIC, { 8, 1 }, { 32, 0x2 },
		      { 32, 0 }, { 32, 0x80 }, { 32, 0x27000 });
}

TEST(cache_event_is_encoded)
{
	/* Data TLB write misses have code 3 << 3 | 1 << 1 | 1. */
	const struct perf_counter dtlb = {
		.number = 31, .info = 0x2fc1f, .type = 1, .code = 0x1b,
	};

	ASSERT_EQ(0, start(SIFIVE_TRACE_RECORD_XOR, &dtlb, 1));
	EXPECT_STORES(MAGIC, { 8, 2 }, { 32, 0x80000000 },
		      { 32, 1 }, { 32, 0x1b }, { 32, 0x2fc1f });
}

/* Both halves of the selector are written, even if the upper half is 0. */
TEST(raw_event_has_a_64_bit_selector)
{
	struct perf_counter raw = {
		.number = 3, .info = 0x27c03, .type = 2,
		.data = 0x123456789abcdef0,
	};

	ASSERT_EQ(0, start(SIFIVE_TRACE_RECORD_RAW, &raw, 1));
	EXPECT_STORES(MAGIC, { 8, 0 }, { 32, 0x8 },
		      { 32, 2 }, { 32, 0x9abcdef0 }, { 32, 0x12345678 },
		      { 32, 0x27c03 });

	raw.data = 0x20000;
	ASSERT_EQ(0, start(SIFIVE_TRACE_RECORD_RAW, &raw, 1));
	EXPECT_STORES(MAGIC, { 8, 0 }, { 32, 0x8 },
		      { 32, 2 }, { 32, 0x20000 }, { 32, 0 }, { 32, 0x27c03 });
}

/* Definitions are in order of counter number, regardless of the list's order. */
TEST(counters_are_in_ascending_order)
{
	const struct perf_counter counters[] = {
		{ .number = 7, .info = 0x3fc07, .type = 2, .data = 5 },
		{ .number = 2, .info = 0x3fc02, .type = 0, .code = 2 },
		{ .number = 1, .info = 0x27000, .type = 0, .code = 0x80 },
		{ .number = 31, .info = 0x3fc1f, .type = 1, .code = 0x10 },
		{ .number = 0, .info = 0x3fc00, .type = 0, .code = 1 },
	};

	ASSERT_EQ(0, start(SIFIVE_TRACE_RECORD_DELTA, counters, 5));
	EXPECT_STORES(MAGIC, { 8, 1 }, { 32, 0x80000087 },
		      { 32, 0 }, { 32, 1 }, { 32, 0x3fc00 },
		      { 32, 0 }, { 32, 0x80 }, { 32, 0x27000 },
		      { 32, 0 }, { 32, 2 }, { 32, 0x3fc02 },
		      { 32, 2 }, { 32, 5 }, { 32, 0 }, { 32, 0x3fc07 },
		      { 32, 1 }, { 32, 0x10 }, { 32, 0x3fc1f });
}

TEST(all_counters_are_encoded)
{
	struct perf_counter counters[32];
	unsigned int i;

	for (i = 0; i < 32; i++)
		counters[i] = (struct perf_counter) {
			.number = 31 - i, .info = mock_info(31 - i, 48), .code = i,
		};

	ASSERT_EQ(0, start(SIFIVE_TRACE_RECORD_RAW, counters, 32));
	EXPECT_EQ(3 + 3 * 32, mock_stores);
	EXPECT_EQ(0xffffffff, mock_log[2].value);
	for (i = 0; i < 32; i++) {
		EXPECT_EQ(31 - i, mock_log[3 + 3 * i + 1].value);
		EXPECT_EQ(mock_info(i, 48), mock_log[3 + 3 * i + 2].value);
	}
}

TEST(invalid_layouts_are_refused)
{
	struct perf_counter counters[33] = { 0 };

	/* An unknown count type, and too many counters. */
	EXPECT_EQ(-1, start(3, NULL, 0));
	EXPECT_EQ(-1, start(SIFIVE_TRACE_RECORD_RAW, counters, 33));

	/* Two counters with the same number, and a number that does not exist. */
	EXPECT_EQ(-1, start(SIFIVE_TRACE_RECORD_RAW, counters, 2));
	counters[0].number = 32;
	EXPECT_EQ(-1, start(SIFIVE_TRACE_RECORD_RAW, counters, 1));
	counters[0].number = ~0u;
	EXPECT_EQ(-1, start(SIFIVE_TRACE_RECORD_RAW, counters, 1));
	EXPECT_EQ(0, mock_stores);
}

TEST_HARNESS_MAIN
