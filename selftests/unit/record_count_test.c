// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Proves what Delta and DeltaXOR counts mean: a difference modulo the counter's
 * width, right across one wrap, 0 when nothing was counted, beginning at the
 * header; and an XOR chain from which absolute values are rebuilt.
 */
#include "kselftest_harness.h"

#include "record_mock.h"

#include "../../lib/counter.c"
#include "../../lib/record.c"

static struct perf_stream stream = MOCK_STREAM(&mock_layout);

/* The count of the one counter of the last record. */
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

FIXTURE(width)
{
	uint64_t max;
};

FIXTURE_VARIANT(width)
{
	unsigned int bits;
};

FIXTURE_VARIANT_ADD(width, w64) { .bits = 64 };
FIXTURE_VARIANT_ADD(width, w48) { .bits = 48 };
FIXTURE_VARIANT_ADD(width, w40) { .bits = 40 };
FIXTURE_VARIANT_ADD(width, w32) { .bits = 32 };
FIXTURE_VARIANT_ADD(width, w1) { .bits = 1 };

FIXTURE_SETUP(width)
{
	self->max = ~UINT64_C(0) >> (64 - variant->bits);
	mock_reset();
}

FIXTURE_TEARDOWN(width)
{
}

static int start(uint32_t type, unsigned int bits, uint64_t now)
{
	const struct perf_counter counter = {
		.number = 3, .info = mock_info(3, bits),
	};

	mock_counter[3] = now;
	if (perf_layout_init(&mock_layout, type, &counter, 1))
		return -1;
	mock_header(&stream);
	mock_stores = 0;
	return 0;
}

TEST_F(width, delta_unchanged)
{
	ASSERT_EQ(0, start(PERF_COUNT_DELTA, variant->bits, self->max));
	EXPECT_EQ(0, record(self->max));
	EXPECT_EQ(0, record(self->max));
}

TEST_F(width, delta_wrap)
{
	ASSERT_EQ(0, start(PERF_COUNT_DELTA, variant->bits, self->max));
	EXPECT_EQ(1, record(0));
	EXPECT_EQ(self->max & 0xffffffffffff, record(self->max));
	EXPECT_EQ(1, record(0));
}

/* Steps of more than the counter holds wrap as it does. */
TEST_F(width, delta_steps)
{
	const uint64_t step[] = { 7, 1000, 3 };
	uint64_t now = self->max - 6;
	unsigned int i;

	ASSERT_EQ(0, start(PERF_COUNT_DELTA, variant->bits, now & self->max));
	for (i = 0; i < sizeof(step) / sizeof(step[0]); i++) {
		now += step[i];
		EXPECT_EQ(step[i] & self->max, record(now & self->max));
	}
	EXPECT_EQ((self->max - 4) & self->max & 0xffffffffffff,
		  record((now - 5) & self->max));
}

TEST_F(width, xor_absolute)
{
	static const uint64_t values[] = {
		0, 1, 1, 0xffffffff, 0x100000000, 0xffffffffffff, 3, ~UINT64_C(0),
	};
	uint64_t rebuilt = 0;
	unsigned int i;

	/* What the counter was at the header plays no part. */
	ASSERT_EQ(0, start(PERF_COUNT_XOR, variant->bits, 0x1234 & self->max));
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		rebuilt ^= record(values[i] & self->max);
		EXPECT_EQ(values[i] & self->max & 0xffffffffffff, rebuilt);
	}
}

TEST_F(width, raw)
{
	ASSERT_EQ(0, start(PERF_COUNT_RAW, variant->bits, 0));
	EXPECT_EQ(self->max & 0xffffffffffff, record(self->max));
	EXPECT_EQ(self->max & 0xffffffffffff, record(self->max));
	EXPECT_EQ(0, record(0));
}

/* A second header begins anew: Delta from what the counter is then, XOR from 0. */
TEST(header_restarts)
{
	mock_reset();
	ASSERT_EQ(0, start(PERF_COUNT_DELTA, 64, 100));
	EXPECT_EQ(50, record(150));
	mock_counter[3] = 1000;
	mock_header(&stream);
	mock_stores = 0;
	EXPECT_EQ(1, record(1001));

	ASSERT_EQ(0, start(PERF_COUNT_XOR, 64, 100));
	EXPECT_EQ(0x150, record(0x150));
	mock_header(&stream);
	mock_stores = 0;
	EXPECT_EQ(0x151, record(0x151));
}

TEST(mask_of_info)
{
	EXPECT_EQ(~UINT64_C(0), perf_counter_mask(63 << 12 | 0xc03));
	EXPECT_EQ(0xffffffffff, perf_counter_mask(39 << 12));
	EXPECT_EQ(1, perf_counter_mask(0));
}

TEST_HARNESS_MAIN
