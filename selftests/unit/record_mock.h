/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The library's record writers for tests on the host: stores to the stimulus register are logged,
 * and counters and the timestamp are variables.
 *
 * Include this instead of the library's headers, once per program.
 */
#ifndef RECORD_MOCK_H
#define RECORD_MOCK_H

#include <stdint.h>
#include <string.h>

#define PERF_MMIO_MOCK
#define PERF_COUNTER_MOCK

#include "../../lib/record.h"

#define MOCK_LOG_MAX	4096

/* One store of 32, 16 or 8 bits. */
struct mock_store {
	unsigned int bits;
	uint32_t value;
};

static struct mock_store mock_log[MOCK_LOG_MAX];
static size_t mock_stores;

/* The counters' values, by counter number; counter 1 is the timestamp. */
static uint64_t mock_counter[32];

/* Added to the timestamp by each access to one of its halves. */
static uint64_t mock_ts_step;

/* Length of the log at the time of the latest counter read. */
static size_t mock_last_read;

/* Called before each store, to test interruptions of a record. */
static void (*mock_interrupt)(void);

/* Called before the next store only. */
static bool mock_interrupt_once;

/* Represents the stimulus register, and tsLower and tsUpper. */
static volatile uint32_t mock_stimulus[1];
static volatile uint32_t mock_ts[2];

static inline void mock_reset(void)
{
	mock_stores = 0;
	mock_last_read = 0;
	mock_ts_step = 0;
	mock_interrupt = NULL;
	mock_interrupt_once = false;
	memset(mock_counter, 0, sizeof(mock_counter));
}

static inline void mock_store(unsigned int bits, uint32_t value)
{
	void (*interrupt)(void) = mock_interrupt;

	if (interrupt) {
		mock_interrupt = NULL;
		interrupt();
		if (!mock_interrupt_once)
			mock_interrupt = interrupt;
		mock_interrupt_once = false;
	}
	if (mock_stores < MOCK_LOG_MAX)
		mock_log[mock_stores] = (struct mock_store) { bits, value };
	mock_stores++;
}

#ifndef MOCK_DEVICE
PERF_INTERNAL void perf_stimulus32(volatile uint32_t *stimulus, uint32_t value)
{
	(void)stimulus;
	mock_store(32, value);
}

PERF_INTERNAL void perf_stimulus16(volatile uint32_t *stimulus, uint16_t value)
{
	(void)stimulus;
	mock_store(16, value);
}

PERF_INTERNAL void perf_stimulus8(volatile uint32_t *stimulus, uint8_t value)
{
	(void)stimulus;
	mock_store(8, value);
}

PERF_INTERNAL uint32_t perf_mmio_read32(const volatile uint32_t *reg)
{
	uint64_t now = mock_counter[1];

	mock_last_read = mock_stores;
	mock_counter[1] += mock_ts_step;
	return reg == &mock_ts[0] ? (uint32_t)now : (uint32_t)(now >> 32);
}
#endif

PERF_INTERNAL uint64_t perf_counter_mock(unsigned int number)
{
	mock_last_read = mock_stores;
	return mock_counter[number];
}

/* The layout of a test's streams. */
static struct perf_layout mock_layout __attribute__((unused));

/* The stimulus register and the timestamp of this program. */
#define MOCK_STREAM(of) \
	{ .stimulus = mock_stimulus, .ts = mock_ts, .layout = (of), \
	  .last = (uint64_t [PERF_COUNTER_MAX]) { 0 } }

static inline void mock_header(struct perf_stream *stream)
{
	uint64_t now[PERF_COUNTER_MAX];

	perf_counters_read(stream->layout->number, stream->layout->count,
			   stream->ts, now);
	perf_stream_header(stream, 0, 0, now);
}

static inline void mock_record(struct perf_stream *stream, uint32_t kind,
			       uint64_t address, uint64_t address2)
{
	uint64_t now[PERF_COUNTER_MAX];

	perf_counters_read(stream->layout->number, stream->layout->count,
			   stream->ts, now);
	perf_stream_record(stream, kind, address, address2, now);
}

/* Return the counter_info of counter @number with @width bits. */
static inline uint32_t mock_info(unsigned int number, unsigned int width)
{
	return (number == 1 ? 0 : 0xc00 + number) | (width - 1) << 12;
}

/*
 * Compare the log with an expected sequence, then empty the log. Return the index of the
 * first difference, or -1 if there is none; a missing or extra store counts as a difference.
 */
static inline long mock_compare(const struct mock_store *expected, size_t count)
{
	size_t stores = mock_stores;
	size_t i;

	mock_stores = 0;
	for (i = 0; i < stores && i < count; i++)
		if (mock_log[i].bits != expected[i].bits ||
		    mock_log[i].value != expected[i].value)
			return (long)i;
	return stores == count ? -1 : (long)i;
}

/* EXPECT that exactly these stores, each { bits, value }, were made since the last check. */
#define EXPECT_STORES(...)						\
do {									\
	const struct mock_store __expected[] = { __VA_ARGS__ };		\
	size_t __stores = mock_stores;					\
	long __at = mock_compare(__expected,				\
				 sizeof(__expected) / sizeof(__expected[0])); \
									\
	if (__at >= 0)							\
		TH_LOG("store %ld of %zu: %u bits 0x%x", __at, __stores, \
		       mock_log[__at].bits, mock_log[__at].value);	\
	EXPECT_EQ(-1, __at);						\
} while (0)

#endif /* RECORD_MOCK_H */
