// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests the comparison of repeated runs: probabilities must equal published probabilities, and
 * differences by chance must rarely be reported as a change.
 */
#include <math.h>

#include <kselftest_harness.h>

#include "gen.h"
#include "ranks.h"

#define RUNS		10
#define FUNCTIONS	20
#define SEEDS		200

/* Some samples have ties. Some have fewer values than RANKS_EXACT, others more. */
TEST(probabilities_are_as_published)
{
	static const double low[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
	static const double high[] = { 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25 };
	static const double tied[] = { 1, 1, 2 }, other[] = { 2, 3, 3 };
	static const double same[] = { 7, 7, 7 };
	static const double none[39];
	double few[20], many[30];
	unsigned int i;

	/*
	 * 2 of the 20 ways to choose 3 of 6 ranks are as extreme as this choice; so are 2 of the
	 * 184756 ways to choose 10 of 20.
	 */
	EXPECT_LT(fabs(ranks_p(low, 3, high, 3) - 0.1), 1e-12);
	EXPECT_LT(fabs(ranks_p(low, 10, high, 10) - 2.0 / 184756), 1e-15);
	EXPECT_LT(fabs(ranks_p(high, 10, low, 10) - 2.0 / 184756), 1e-15);
	/*
	 * The ranks are 1.5, 1.5 and 3.5 out of 1.5, 1.5, 3.5, 3.5, 5.5 and 5.5: 4 of the 20
	 * possible sums are as extreme.
	 */
	EXPECT_LT(fabs(ranks_p(tied, 3, other, 3) - 0.2), 1e-12);
	EXPECT_EQ(RANKS_SAME, ranks_p(same, 3, same, 3));
	EXPECT_LT(fabs(ranks_p(low, 10, high, 15) - 2.0 / 3268760), 1e-15);
	/* Two of 32 values differ from the others: 1 of the 496 ways to choose 2 is as extreme. */
	EXPECT_LT(fabs(ranks_p(low, 2, none, 30) - 1.0 / 496), 1e-12);
	EXPECT_LT(fabs(ranks_p(none, 30, low, 2) - 1.0 / 496), 1e-12);
	/* The difference is about (300 - 0.5) / sqrt(20 * 30 * 51 / 12) standard deviations. */
	for (i = 0; i < 30; i++)
		many[i] = 100 + i;
	for (i = 0; i < 20; i++)
		few[i] = i;
	EXPECT_LT(fabs(ranks_p(few, 20, many, 30) - 3.01e-9), 2e-11);
	/* No probability can be less than that of a single way to choose 9 of 48. */
	EXPECT_GE(ranks_p(few, 9, none, 39), 1.0 / 1677106640);
}

TEST(probabilities_are_corrected_for_the_number_of_tests)
{
	double p[] = { 0.04, 0.01, 0.03, 0.9 };
	double *at[] = { &p[0], &p[1], &p[2], &p[3] };

	ranks_holm(at, 4);
	EXPECT_LT(fabs(p[1] - 0.04), 1e-12);
	EXPECT_LT(fabs(p[2] - 0.09), 1e-12);
	EXPECT_LT(fabs(p[0] - 0.09), 1e-12);
	EXPECT_LT(fabs(p[3] - 0.9), 1e-12);
}

TEST(median_of_an_even_number_of_values_is_between_the_middle_two)
{
	double odd[] = { 9, 1, 5 }, even[] = { 9, 1, 5, 7 };

	EXPECT_EQ(5, ranks_median(odd, 3));
	EXPECT_EQ(6, ranks_median(even, 4));
}

/*
 * Return the time of a run: 1000 times @factor, with noise that has a standard deviation of 1.2 %.
 */
static double run(uint64_t *seed, double factor)
{
	double noise = 0;
	unsigned int i;

	for (i = 0; i < 4; i++)
		noise += (double)(gen_random(seed) >> 11) / 0x1p53 - 0.5;
	return 1000 * factor * (1 + 0.02 * noise);
}

/*
 * Compare the times of FUNCTIONS functions, the first of which takes @factor times as long after a
 * change. Return a bit mask of functions reported as changed with RANKS_CONFIDENCE.
 */
static unsigned int named(uint64_t *seed, double factor)
{
	double p[FUNCTIONS], *at[FUNCTIONS], side[2][RUNS];
	unsigned int f, i, mask = 0;

	for (f = 0; f < FUNCTIONS; f++) {
		for (i = 0; i < RUNS; i++) {
			side[0][i] = run(seed, 1);
			side[1][i] = run(seed, f ? 1 : factor);
		}
		p[f] = ranks_p(side[0], RUNS, side[1], RUNS);
		at[f] = &p[f];
	}
	ranks_holm(at, FUNCTIONS);
	for (f = 0; f < FUNCTIONS; f++)
		mask |= (unsigned int)(1 - p[f] >= RANKS_CONFIDENCE) << f;
	return mask;
}

/*
 * At a confidence of 99 %, at most 1 of 100 comparisons may report a function as changed by chance.
 */
TEST(five_percent_change_in_ten_runs_is_reported_and_chance_is_not)
{
	unsigned int i, wrong = 0, missed = 0, others = 0, mask;
	uint64_t seed = 1;

	for (i = 0; i < SEEDS; i++) {
		wrong += named(&seed, 1) != 0;
		mask = named(&seed, 1.05);
		missed += !(mask & 1);
		others += mask > 1;
	}
	EXPECT_GE(SEEDS / 100, wrong);
	EXPECT_GE(SEEDS / 100, others);
	EXPECT_GE(SEEDS / 100, missed);
}

TEST_HARNESS_MAIN
