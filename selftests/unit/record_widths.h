/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tests, for every record writer, that counts have the correct meaning at each counter width.
 * Define before including this:
 *
 *	WIDTH_RAW, WIDTH_DELTA, WIDTH_XOR	the writer's constants for the count types,
 *	start(type, bits, now)	writes a header; the single counter then has the value @now,
 *	record(now)		writes a record at the value @now, and returns the count.
 */
#ifndef RECORD_WIDTHS_H
#define RECORD_WIDTHS_H

/* Mask of the bits of a count that a record can hold. */
#define WIDTH_48	UINT64_C(0xffffffffffff)

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
}

FIXTURE_TEARDOWN(width)
{
}

TEST_F(width, delta_of_an_unchanged_counter_is_0)
{
	ASSERT_EQ(0, start(WIDTH_DELTA, variant->bits, self->max));
	EXPECT_EQ(0, record(self->max));
	EXPECT_EQ(0, record(self->max));
}

TEST_F(width, delta_wraps_like_the_counter)
{
	ASSERT_EQ(0, start(WIDTH_DELTA, variant->bits, self->max));
	EXPECT_EQ(1, record(0));
	EXPECT_EQ(self->max & WIDTH_48, record(self->max));
	EXPECT_EQ(1, record(0));
}

/* Steps that exceed the counter's width wrap like the counter. */
TEST_F(width, delta_equals_the_step_modulo_the_width)
{
	const uint64_t step[] = { 7, 1000, 3 };
	uint64_t now = self->max - 6;
	unsigned int i;

	ASSERT_EQ(0, start(WIDTH_DELTA, variant->bits, now & self->max));
	for (i = 0; i < sizeof(step) / sizeof(step[0]); i++) {
		now += step[i];
		EXPECT_EQ(step[i] & self->max, record(now & self->max));
	}
	EXPECT_EQ((self->max - 4) & self->max & WIDTH_48,
		  record((now - 5) & self->max));
}

TEST_F(width, xor_starts_from_0)
{
	static const uint64_t values[] = {
		0, 1, 1, 0xffffffff, 0x100000000, WIDTH_48, 3, ~UINT64_C(0),
	};
	uint64_t rebuilt = 0;
	unsigned int i;

	/* The counter's value at the header does not matter. */
	ASSERT_EQ(0, start(WIDTH_XOR, variant->bits, 0x1234 & self->max));
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		rebuilt ^= record(values[i] & self->max);
		EXPECT_EQ(values[i] & self->max & WIDTH_48, rebuilt);
	}
}

TEST_F(width, raw_count_is_the_counters_low_48_bits)
{
	ASSERT_EQ(0, start(WIDTH_RAW, variant->bits, 0));
	EXPECT_EQ(self->max & WIDTH_48, record(self->max));
	EXPECT_EQ(self->max & WIDTH_48, record(self->max));
	EXPECT_EQ(0, record(0));
}

#endif /* RECORD_WIDTHS_H */
