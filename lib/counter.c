// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "counter.h"

#ifdef PERF_COUNTERS_READ

#if defined(PERF_COUNTER_MOCK)

PERF_INTERNAL uint64_t perf_counter_mock(unsigned int number);

#define COUNTER_BODY(number, low, high)					\
	return perf_counter_mock(number)

#elif __riscv_xlen == 64

#define COUNTER_BODY(number, low, high)					\
	uint64_t value;							\
									\
	__asm__ volatile("csrr %0, " #low : "=r"(value));		\
	return value

#else

/* The lower half may carry into the upper one between two reads. */
#define COUNTER_BODY(number, low, high)					\
	uint32_t upper, lower, again;					\
									\
	do {								\
		__asm__ volatile("csrr %0, " #high "\n\t"		\
				 "csrr %1, " #low "\n\t"		\
				 "csrr %2, " #high			\
				 : "=&r"(upper), "=&r"(lower),		\
				   "=r"(again));			\
	} while (upper != again);					\
	return (uint64_t)upper << 32 | lower
#endif

/* Reads one counter; @ts as in counter.h, for the timestamp only. */
typedef uint64_t counter_reader(const volatile uint32_t *ts);

#define COUNTER_READER(number, low, high)				\
PERF_LOCAL uint64_t read_counter_##number(const volatile uint32_t *ts)	\
{									\
	(void)ts;							\
	COUNTER_BODY(number, low, high);				\
}
PERF_COUNTER_CSRS(COUNTER_READER)

PERF_LOCAL uint64_t read_timestamp(const volatile uint32_t *ts)
{
	return perf_counter_timestamp(ts);
}

#define COUNTER_READER_ENTRY(number, low, high) \
	[number] = read_counter_##number,

static counter_reader *const readers[PERF_COUNTER_MAX] = {
	PERF_COUNTER_CSRS(COUNTER_READER_ENTRY)
	[PERF_COUNTER_TIMESTAMP] = read_timestamp,
};

PERF_INTERNAL void perf_counters_read(const uint8_t *number, uint32_t count,
				      const volatile uint32_t *ts, uint64_t *now)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		now[i] = readers[number[i]](ts);
}

#endif

PERF_INTERNAL uint64_t perf_counter_mask(uint32_t info)
{
	return ~UINT64_C(0) >> (64 - PERF_COUNTER_WIDTH(info));
}
