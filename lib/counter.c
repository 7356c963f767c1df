// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "counter.h"

#ifdef PERF_COUNTERS_READ

/* Reads one counter; @ts as in counter.h, used by the timestamp alone. */
typedef uint64_t counter_reader(const volatile uint32_t *ts);

#define COUNTER_READER(number, low, high)				\
PERF_LOCAL uint64_t read_counter_##number(const volatile uint32_t *ts)	\
{									\
	(void)ts;							\
	return perf_counter_csr_##number();				\
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
