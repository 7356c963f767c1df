// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "counter.h"

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

static perf_counter_reader *const readers[PERF_COUNTER_MAX] = {
	PERF_COUNTER_CSRS(COUNTER_READER_ENTRY)
	[PERF_COUNTER_TIMESTAMP] = read_timestamp,
};

PERF_INTERNAL perf_counter_reader *perf_counter_reader_of(unsigned int number)
{
	return readers[number];
}

PERF_INTERNAL uint64_t perf_counter_mask(uint32_t info)
{
	return ~UINT64_C(0) >> (64 - PERF_COUNTER_WIDTH(info));
}
