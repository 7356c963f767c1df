// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that a record is the sequence of stores that the record format specifies. Some sequences
 * are hand-made. A second encoder, written from the format's description, generates the others:
 * every record kind, count type and address size with 0 to 32 counters, with and without upper
 * halves. Counters must be read before the first store.
 */
#include "kselftest_harness.h"

#include "record_mock.h"

#include "../../lib/counter.c"
#include "../../lib/record.c"

static struct perf_stream stream = MOCK_STREAM(&mock_layout);

static int start(uint32_t type, const struct perf_counter *counter, uint32_t count)
{
	int rc;

	mock_reset();
	rc = perf_layout_init(&mock_layout, type, counter, count);
	if (!rc)
		mock_header(&stream);
	mock_stores = 0;
	return rc;
}

static void record(uint32_t kind, uint64_t address, uint64_t address2)
{
	mock_record(&stream, kind, address, address2);
}

/* Fill in the counters in @mask, each @width bits wide; return their number. */
static uint32_t counters_of(uint32_t mask, unsigned int width,
			    struct perf_counter *counter)
{
	uint32_t count = 0;
	unsigned int i;

	for (i = 0; i < 32; i++)
		if (mask & 1u << i)
			counter[count++] = (struct perf_counter) {
				.number = i, .info = mock_info(i, width),
			};
	return count;
}

TEST(enter_and_exit_records_have_two_addresses)
{
	ASSERT_EQ(0, start(SIFIVE_TRACE_RECORD_RAW, NULL, 0));
	record(PERF_RECORD_ENTER, 0x10400, 0x10522);
	EXPECT_STORES({ 8, 0 }, { 32, 0x10400 }, { 32, 0x10522 });
	record(PERF_RECORD_EXIT, 0x10400, 0x10522);
	EXPECT_STORES({ 8, 1 }, { 32, 0x10400 }, { 32, 0x10522 });
}

TEST(manual_and_isr_records_have_one_address)
{
	ASSERT_EQ(0, start(SIFIVE_TRACE_RECORD_DELTA, NULL, 0));
	record(PERF_RECORD_MANUAL, 0x10400, 0x999);
	EXPECT_STORES({ 8, 2 }, { 32, 0x10400 });
	record(PERF_RECORD_ISR, 0x10402, 0x999);
	EXPECT_STORES({ 8, 3 }, { 32, 0x10402 });
}

/* Bit 0 of the lower half indicates that an upper half follows. */
TEST(long_addresses_have_an_upper_half)
{
	ASSERT_EQ(0, start(SIFIVE_TRACE_RECORD_RAW, NULL, 0));
	record(PERF_RECORD_ENTER, 0x3fb2345678, 0xfffffffe);
	EXPECT_STORES({ 8, 0 }, { 32, 0xb2345679 }, { 32, 0x3f },
		      { 32, 0xfffffffe });
	record(PERF_RECORD_EXIT, 0x100000000, 0xffffffff80000002);
	EXPECT_STORES({ 8, 1 }, { 32, 0x1 }, { 32, 0x1 },
		      { 32, 0x80000003 }, { 32, 0xffffffff });
}

/* Every address is XORed with the previous address, starting from 0 at the header. */
TEST(xor_addresses_refer_to_the_previous_address)
{
	ASSERT_EQ(0, start(SIFIVE_TRACE_RECORD_XOR, NULL, 0));
	record(PERF_RECORD_ENTER, 0x10400, 0x10522);
	EXPECT_STORES({ 8, 0 }, { 32, 0x10400 }, { 32, 0x122 });
	record(PERF_RECORD_ENTER, 0x3fb2000000, 0x3fb2000010);
	EXPECT_STORES({ 8, 0 }, { 32, 0xb2010523 }, { 32, 0x3f }, { 32, 0x10 });
	record(PERF_RECORD_MANUAL, 0x3fb2000010, 0);
	EXPECT_STORES({ 8, 2 }, { 32, 0 });
	record(PERF_RECORD_MANUAL, 0x10, 0);
	EXPECT_STORES({ 8, 2 }, { 32, 0xb2000001 }, { 32, 0x3f });

	mock_header(&stream);
	mock_stores = 0;
	record(PERF_RECORD_MANUAL, 0x10, 0);
	EXPECT_STORES({ 8, 2 }, { 32, 0x10 });
}

/* Bits 47:32 follow when they are not zero; bits 63:48 never do. */
TEST(raw_counts_are_encoded)
{
	const struct perf_counter counters[] = {
		{ .number = 0, .info = 0x3fc00 },
		{ .number = 2, .info = 0x3fc02 },
		{ .number = 5, .info = 0x3fc05 },
		{ .number = 9, .info = 0x3fc09 },
		{ .number = 31, .info = 0x3fc1f },
	};

	ASSERT_EQ(0, start(SIFIVE_TRACE_RECORD_RAW, counters, 5));
	mock_counter[0] = 0xffffffff;
	mock_counter[2] = 0x100000000;
	mock_counter[5] = 0xffff800000000001;
	mock_counter[9] = 0xabcd000012345678;
	mock_counter[31] = 0x0000fedc00000000;
	record(PERF_RECORD_MANUAL, 0x2000, 0);
	EXPECT_STORES({ 8, 2 }, { 32, 0x2000 },
		      { 32, 0xffffffff },
		      { 32, 0 }, { 16, 1 },
		      { 32, 1 }, { 16, 0x8000 },
		      { 32, 0x12345678 },
		      { 32, 0 }, { 16, 0xfedc });
}

/* The manual's example: cycle, timestamp, instret and four hpmcounters. */
TEST(record_with_seven_counters_is_encoded)
{
	struct perf_counter counters[32];
	uint32_t count = counters_of(0x7f, 64, counters);
	unsigned int i;

	ASSERT_EQ(0, start(SIFIVE_TRACE_RECORD_DELTA, counters, count));
	for (i = 0; i < 7; i++)
		mock_counter[i] += 10 * i + 1;
	mock_counter[4] += 0x500000000;
	record(PERF_RECORD_ENTER, 0x10400, 0x10522);
	EXPECT_STORES({ 8, 0 }, { 32, 0x10400 }, { 32, 0x10522 },
		      { 32, 1 }, { 32, 11 }, { 32, 21 }, { 32, 31 },
		      { 32, 41 }, { 16, 5 }, { 32, 51 }, { 32, 61 });
	record(PERF_RECORD_EXIT, 0x10400, 0x10522);
	EXPECT_STORES({ 8, 1 }, { 32, 0x10400 }, { 32, 0x10522 },
		      { 32, 0 }, { 32, 0 }, { 32, 0 }, { 32, 0 },
		      { 32, 0 }, { 32, 0 }, { 32, 0 });
}

/* A carry between the halves of the timestamp is never visible. */
TEST(timestamp_carry_is_never_visible)
{
	const struct perf_counter ts = { .number = 1, .info = mock_info(1, 40) };
	uint64_t first, value;
	unsigned int back;

	ASSERT_EQ(0, start(SIFIVE_TRACE_RECORD_RAW, &ts, 1));
	for (back = 0; back < 8; back++) {
		mock_ts_step = 1;
		mock_counter[1] = 0x500000000 - back;
		first = mock_counter[1];
		record(PERF_RECORD_MANUAL, 0x2000, 0);
		ASSERT_EQ(4, mock_stores);
		value = (uint64_t)mock_log[3].value << 32 | mock_log[2].value;
		EXPECT_GE(value, first);
		EXPECT_LT(value, mock_counter[1]);
		mock_stores = 0;
	}
}

/* The second encoder, which is simple rather than fast. */
struct reference {
	uint32_t mask, type;
	uint64_t width, address, last[32];
	struct mock_store store[MOCK_LOG_MAX];
	size_t stores;
};

static struct reference ref;

static void put(unsigned int bits, uint64_t value)
{
	ref.store[ref.stores++] = (struct mock_store) { bits, (uint32_t)value };
}

static void put_address(uint64_t address)
{
	uint64_t value = ref.type == SIFIVE_TRACE_RECORD_XOR ? address ^ ref.address : address;

	ref.address = address;
	if (value >> 32 == 0) {
		put(32, value);
		return;
	}
	put(32, (value & 0xffffffff) | 1);
	put(32, value >> 32);
}

static void put_record(uint32_t kind, uint64_t address, uint64_t address2)
{
	unsigned int i;

	ref.stores = 0;
	put(8, kind);
	put_address(address);
	if (kind == 0 || kind == 1)
		put_address(address2);

	for (i = 0; i < 32; i++) {
		uint64_t value = mock_counter[i];

		if (!(ref.mask & 1u << i))
			continue;
		if (ref.type == SIFIVE_TRACE_RECORD_DELTA)
			value = (value - ref.last[i]) & ref.width;
		else if (ref.type == SIFIVE_TRACE_RECORD_XOR)
			value ^= ref.last[i];
		ref.last[i] = mock_counter[i];

		put(32, value & 0xffffffff);
		if (value >> 32 & 0xffff)
			put(16, value >> 32 & 0xffff);
	}
}

/* Return a number without an upper part, with an upper part, or with bits that are never sent. */
static uint64_t sample(unsigned int seed)
{
	uint64_t x = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);

	x ^= x >> 29;
	switch (seed % 5) {
	case 0:
		return x & 0xffffffff;
	case 1:
		return x & 0xffffffffffff;
	case 2:
		return x | 0xffff000000000000;
	case 3:
		return x & 0xffff0000ffffffff;
	default:
		return 0;
	}
}

/* Return a mask that grows from the lowest or from the highest bit, or a mask with holes. */
static uint32_t some_mask(unsigned int i)
{
	if (i <= 32)
		return (uint32_t)((UINT64_C(1) << i) - 1);
	if (i <= 64)
		return (uint32_t)(~UINT64_C(0) << (64 - i));
	if (i & 1)
		return ((1u << (i - 65) / 2) - 1) & ~2u;
	return 0x55555555u << (i % 7);
}

TEST(random_records_are_encoded_correctly)
{
	static const uint64_t addresses[] = {
		0x10400, 0x10522, 0xfffffffe, 0x3fb2345678, 0x3fb2345678,
		0xffffffff80000000, 0, 0x100000000,
	};
	static const unsigned int widths[] = { 64, 48, 40, 33, 32, 31, 8, 1 };
	struct perf_counter counters[32];
	unsigned int seed = 0;
	unsigned int i, w, n, c;
	uint32_t type, kind, count;
	long at;

	for (i = 0; i < 80; i++) {
		for (w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
			for (type = 0; type < 3; type++) {
				count = counters_of(some_mask(i), widths[w], counters);
				ASSERT_EQ(0, start(type, counters, count));
				memset(&ref, 0, sizeof(ref));
				ref.mask = some_mask(i);
				ref.type = type;
				ref.width = ~UINT64_C(0) >> (64 - widths[w]);

				for (n = 0; n < 24; n++) {
					for (c = 0; c < 32; c++)
						mock_counter[c] = sample(seed++) & ref.width;
					kind = n % 4;
					record(kind, addresses[n % 8],
					       addresses[(n * 3 + 1) % 8]);
					put_record(kind, addresses[n % 8],
						   addresses[(n * 3 + 1) % 8]);

					ASSERT_EQ(0, mock_last_read);
					at = mock_compare(ref.store, ref.stores);
					ASSERT_EQ(-1, at) {
						TH_LOG("mask 0x%x width %u type %u record %u: store %ld is %u bits 0x%x",
						       ref.mask, widths[w], type, n, at,
						       mock_log[at].bits, mock_log[at].value);
					}
				}
			}
		}
	}
}

/* Two streams are independent. */
TEST(streams_are_independent)
{
	static struct perf_layout layout;
	struct perf_stream other = MOCK_STREAM(&layout);
	const struct perf_counter cycles = { .number = 0, .info = 0x3fc00 };

	ASSERT_EQ(0, start(SIFIVE_TRACE_RECORD_XOR, &cycles, 1));
	ASSERT_EQ(0, perf_layout_init(&layout, SIFIVE_TRACE_RECORD_DELTA, &cycles, 1));
	mock_counter[0] = 100;
	mock_header(&other);
	mock_stores = 0;

	mock_counter[0] = 0x111;
	record(PERF_RECORD_MANUAL, 0x2000, 0);
	mock_record(&other, PERF_RECORD_MANUAL, 0x3000, 0);
	record(PERF_RECORD_MANUAL, 0x2000, 0);
	EXPECT_STORES({ 8, 2 }, { 32, 0x2000 }, { 32, 0x111 },
		      { 8, 2 }, { 32, 0x3000 }, { 32, 0x111 - 100 },
		      { 8, 2 }, { 32, 0 }, { 32, 0 });
}

TEST_HARNESS_MAIN
