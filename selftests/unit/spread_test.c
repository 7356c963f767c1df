// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests the statistics of spread.c (minimum, maximum, mean, quantiles), for durations of any length
 * and for more durations than fit in memory.
 */
#include <stdlib.h>
#include <string.h>

#include <kselftest_harness.h>

#include "gen.h"
#include "spread.h"

#define TIMES	20000

static int by_time(const void *a, const void *b)
{
	const uint64_t *one = a, *two = b;

	return (*one > *two) - (*one < *two);
}

TEST(quantiles_of_times_of_any_size_are_accurate)
{
	struct spreads spreads = { 0 };
	uint64_t *took = malloc(TIMES * sizeof(*took)), seed = 1, is, got;
	unsigned int percent;
	size_t i;

	ASSERT_NE(NULL, took);
	for (i = 0; i < TIMES; i++) {
		/* Times have up to 64 bits, so their sum can exceed 64 bits. */
		took[i] = gen_random(&seed);
		took[i] = took[i] & 63 ? took[i] >> (took[i] & 63) : UINT64_MAX - i;
		spread_add(&spreads, 3, took[i]);
	}
	qsort(took, TIMES, sizeof(*took), by_time);
	EXPECT_EQ(took[0], spread_least(&spreads, 3));
	EXPECT_EQ(took[TIMES - 1], spread_most(&spreads, 3));
	for (percent = 1; percent < 100; percent++) {
		is = took[(TIMES * percent + 99) / 100 - 1];
		got = spread_quantile(&spreads, 3, percent);
		EXPECT_GE(is / SPREAD_PART, got > is ? got - is : is - got);
	}
	EXPECT_EQ(0, spreads.full);
	EXPECT_FALSE(spread_known(&spreads, 2));
	EXPECT_FALSE(spread_known(&spreads, 1000000));
	spreads_free(&spreads);
	free(took);
}

TEST(times_at_step_boundaries_are_exact)
{
	static const uint64_t limits[] = {
		0, 1, 255, 256, 511, 512, 513, 1023, 1024, UINT64_C(1) << 63, UINT64_MAX,
	};
	unsigned int i;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct spreads spreads = { 0 };

		spread_add(&spreads, 0, limits[i]);
		EXPECT_EQ(limits[i], spread_least(&spreads, 0));
		EXPECT_EQ(limits[i], spread_quantile(&spreads, 0, 50));
		EXPECT_EQ(limits[i], spread_mean(&spreads, 0, 1));
		EXPECT_EQ(limits[i], spread_most(&spreads, 0));
		spreads_free(&spreads);
	}
}

/* Calls that do not fit in memory are omitted from all statistics; this omission is reported. */
TEST(memory_use_is_limited)
{
	struct spreads spreads = { 0 };
	uint64_t ticks;
	size_t row;

	for (row = 0; row < 10000 && !spreads.full; row++)
		for (ticks = 1; ticks; ticks <<= 1)
			spread_add(&spreads, row, ticks);
	EXPECT_EQ(1, spreads.full);
	EXPECT_GE(SPREAD_BYTES, spreads.bytes);
	EXPECT_LT(100, row);
	spread_add(&spreads, 0, 7);
	EXPECT_EQ(1, spread_least(&spreads, 0));
	EXPECT_EQ(UINT64_C(1) << 63, spread_most(&spreads, 0));
	spreads_free(&spreads);
}

TEST_HARNESS_MAIN
