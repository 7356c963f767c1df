// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests that counts in the kernel's records have the same meaning as in the library's records (see
 * record_count_test.c). A Delta count is a difference modulo the counter's width that starts at the
 * header; it is correct across one wrap, and 0 if nothing was counted. Absolute values can be
 * reconstructed from DeltaXOR counts. Also tests per-thread differences and the encoding of headers
 * and addresses.
 */
#include "kselftest_harness.h"

#include <linux/io.h>

#include "../../driver/counters/record.h"

struct store {
	unsigned int place, bits;
	u32 value;
};

static u32 stimulus;
static struct store stores[256];
static unsigned int count_of_stores;

static void store(void *reg, unsigned int bits, u32 value)
{
	stores[count_of_stores++ % 256] = (struct store) {
		.place = (unsigned int)((char *)reg - (char *)&stimulus),
		.bits = bits, .value = value,
	};
}

void writel(u32 value, void *reg)
{
	store(reg, 32, value);
}

void writew(u16 value, void *reg)
{
	store(reg, 16, value);
}

void writeb(u8 value, void *reg)
{
	store(reg, 8, value);
}

#define KIND_ISR	3
#define NUMBER		3
#define PC		0x2000

static struct sifive_trace_event events[SIFIVE_TRACE_MAX_COUNTERS];
static struct sft_stream stream;
static u64 counters[SIFIVE_TRACE_MAX_COUNTERS];

/* Return the counter_info of a counter with this width. */
static u32 info(unsigned int number, unsigned int bits)
{
	return (0xc00 + number) | (bits - 1) << 12;
}

/* Write a header while the counter has the value @now. */
static int start(u32 type, unsigned int bits, u64 now)
{
	events[NUMBER].info = info(NUMBER, bits);
	stream = (struct sft_stream) {
		.stimulus = &stimulus, .event = events, .mask = 1u << NUMBER,
		.type = type,
	};
	counters[NUMBER] = now;
	sft_record_header(&stream, counters);
	count_of_stores = 0;
	return 0;
}

/* Return the counter in the next record, or ~0 if that is not a record with one counter. */
static u64 record(u64 now)
{
	u64 value;

	counters[NUMBER] = now;
	count_of_stores = 0;
	sft_record_repeat(&stream, counters);
	sft_record_isr(&stream, PC, counters);
	if (count_of_stores < 3 || count_of_stores > 4 || stores[0].bits != 8 ||
	    stores[0].value != KIND_ISR || stores[2].bits != 32)
		return ~0ull;
	value = stores[2].value;
	if (count_of_stores == 4) {
		if (stores[3].bits != 16 || !stores[3].value)
			return ~0ull;
		value |= (u64)stores[3].value << 32;
	}
	return value;
}

#define WIDTH_RAW	SIFIVE_TRACE_SAMPLING_RAW
#define WIDTH_DELTA	SIFIVE_TRACE_SAMPLING_DELTA
#define WIDTH_XOR	SIFIVE_TRACE_SAMPLING_XOR
#include "record_widths.h"

TEST_F(width, delta_restarts_with_each_header)
{
	ASSERT_EQ(0, start(SIFIVE_TRACE_SAMPLING_DELTA, variant->bits, 0));
	EXPECT_EQ(1, record(1));
	counters[NUMBER] = self->max;
	sft_record_header(&stream, counters);
	EXPECT_EQ(1, record(0));
}

/* Write @count records at 0x1000, 0x1010 ...; return the number of headers among them. */
static unsigned int headers_among(unsigned int count)
{
	unsigned int i, headers = 0;

	count_of_stores = 0;
	for (i = 0; i < count; i++) {
		counters[NUMBER] = 1000 + i;
		sft_record_repeat(&stream, counters);
		sft_record_isr(&stream, 0x1000 + 16 * i, counters);
	}
	for (i = 0; i < count_of_stores; i++)
		headers += stores[i].bits == 32 &&
			   stores[i].value == SIFIVE_TRACE_RECORD_MAGIC;
	return headers;
}

/* After a periodic header, the address and the counts are complete, as after the first header. */
TEST(periodic_headers_restart_the_encoding)
{
	ASSERT_EQ(0, start(SIFIVE_TRACE_SAMPLING_XOR, 64, 0));
	EXPECT_EQ(0, headers_among(20));
	stream.interval = 5;
	sft_record_header(&stream, counters);
	EXPECT_EQ(0, headers_among(5));
	EXPECT_EQ(1, headers_among(1));
	/* Magic, count type, mask, and type, code and info of the counter. */
	EXPECT_EQ(SIFIVE_TRACE_RECORD_MAGIC, stores[0].value);
	EXPECT_EQ(0x1000, stores[7].value);
	EXPECT_EQ(1000, stores[8].value);
	EXPECT_EQ(3, headers_among(4 + 5 + 5 + 1));
}

static bool stored(unsigned int at, unsigned int bits, unsigned int place, u32 value)
{
	return at < count_of_stores && stores[at].bits == bits &&
	       stores[at].place == place && stores[at].value == value;
}

TEST(addresses_are_encoded_by_count_type)
{
	ASSERT_EQ(0, start(SIFIVE_TRACE_SAMPLING_XOR, 64, 0));
	sft_record_isr(&stream, 0xffffffff80001235, counters);
	EXPECT_TRUE(stored(0, 8, 3, 3));
	EXPECT_TRUE(stored(1, 32, 0, 0x80001235));
	EXPECT_TRUE(stored(2, 32, 0, 0xffffffff));
	count_of_stores = 0;
	sft_record_isr(&stream, 0xffffffff80001204, counters);
	EXPECT_TRUE(stored(1, 32, 0, 0x30));
	EXPECT_EQ(3, count_of_stores);
	ASSERT_EQ(0, start(SIFIVE_TRACE_SAMPLING_RAW, 64, 0));
	sft_record_isr(&stream, 0x12345, counters);
	EXPECT_TRUE(stored(1, 32, 0, 0x12344));
}

/* Counters are in ascending order, regardless of the kinds of events. */
TEST(header_lists_counters_in_ascending_order)
{
	static const struct {
		unsigned int bits, place;
		u32 value;
	} want[] = {
		{ 32, 0, 0x70657266 }, { 8, 3, SIFIVE_TRACE_SAMPLING_RAW },
		{ 32, 0, 1u << 31 | 1u << 3 },
		{ 32, 0, 1 }, { 32, 0, 0x19 }, { 32, 0, 0x3fc03 },
		{ 32, 0, SIFIVE_TRACE_EVENT_RAW }, { 32, 0, 0x55667788 },
		{ 32, 0, 0x11223344 }, { 32, 0, 0x27c1f },
	};
	const unsigned int length = sizeof(want) / sizeof(want[0]);
	unsigned int i;

	ASSERT_EQ(0, start(SIFIVE_TRACE_SAMPLING_RAW, 64, 0));
	events[3] = (struct sifive_trace_event) {
		.type = 1, .code = 0x19, .info = info(3, 64),
	};
	events[31] = (struct sifive_trace_event) {
		.type = SIFIVE_TRACE_EVENT_RAW, .data = 0x1122334455667788,
		.info = info(31, 40),
	};
	stream.mask = 1u << 31 | 1u << 3;
	sft_record_header(&stream, counters);
	EXPECT_EQ(length, count_of_stores);
	for (i = 0; i < length; i++)
		EXPECT_TRUE(stored(i, want[i].bits, want[i].place, want[i].value)) {
			TH_LOG("store %u: %u bits %#x", i, stores[i].bits, stores[i].value);
		}
	/*
	 * Counts are in the same order. The upper 16 bits of a count follow it unless they are 0.
	 */
	counters[3] = 0x1200000034;
	counters[31] = 5;
	count_of_stores = 0;
	sft_record_isr(&stream, PC, counters);
	EXPECT_EQ(5, count_of_stores);
	EXPECT_TRUE(stored(2, 32, 0, 0x34));
	EXPECT_TRUE(stored(3, 16, 2, 0x12));
	EXPECT_TRUE(stored(4, 32, 0, 5));
}

TEST_HARNESS_MAIN
