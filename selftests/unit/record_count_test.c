// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that a Delta count is the difference from the previous record or the header, modulo the
 * counter's width; that it is correct across one wraparound, and 0 if nothing was counted; and that
 * absolute values can be reconstructed from DeltaXOR counts.
 */
#include "kselftest_harness.h"

#include "record_mock.h"

#include "../../lib/counter.c"
#include "../../lib/record.c"

static struct perf_stream stream = MOCK_STREAM(&mock_layout);

/* Return the count of the single counter in the last record. */
static uint64_t count(void)
{
	uint64_t value = mock_log[2].value;

	if (mock_stores == 4 && mock_log[3].bits == 16)
		value |= (uint64_t)mock_log[3].value << 32;
	mock_stores = 0;
	return value;
}

static uint64_t record(uint64_t now)
{
	mock_counter[3] = now;
	mock_record(&stream, PERF_RECORD_MANUAL, 0x2000, 0);
	return count();
}

static int start(uint32_t type, unsigned int bits, uint64_t now)
{
	const struct perf_counter counter = {
		.number = 3, .info = mock_info(3, bits),
	};

	mock_reset();
	mock_counter[3] = now;
	if (perf_layout_init(&mock_layout, type, &counter, 1))
		return -1;
	mock_header(&stream);
	mock_stores = 0;
	return 0;
}

#define WIDTH_RAW	SIFIVE_TRACE_RECORD_RAW
#define WIDTH_DELTA	SIFIVE_TRACE_RECORD_DELTA
#define WIDTH_XOR	SIFIVE_TRACE_RECORD_XOR
#include "record_widths.h"

/* After a second header, Delta restarts from the counter's current value, and DeltaXOR from 0. */
TEST(second_header_restarts_the_counts)
{
	ASSERT_EQ(0, start(SIFIVE_TRACE_RECORD_DELTA, 64, 100));
	EXPECT_EQ(50, record(150));
	mock_counter[3] = 1000;
	mock_header(&stream);
	mock_stores = 0;
	EXPECT_EQ(1, record(1001));

	ASSERT_EQ(0, start(SIFIVE_TRACE_RECORD_XOR, 64, 100));
	EXPECT_EQ(0x150, record(0x150));
	mock_header(&stream);
	mock_stores = 0;
	EXPECT_EQ(0x151, record(0x151));
}

TEST(counter_info_determines_the_mask)
{
	EXPECT_EQ(~UINT64_C(0), perf_counter_mask(63 << 12 | 0xc03));
	EXPECT_EQ(0xffffffffff, perf_counter_mask(39 << 12));
	EXPECT_EQ(1, perf_counter_mask(0));
}

TEST_HARNESS_MAIN
