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

/* The lower half may carry into the upper half between two reads. */
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

/* X(number, CSR, CSR of the upper half on RV32) for each counter with a CSR. */
#define PERF_COUNTER_CSRS(X) \
	X(0,  0xc00, 0xc80) \
	X(2,  0xc02, 0xc82) \
	X(3,  0xc03, 0xc83) \
	X(4,  0xc04, 0xc84) \
	X(5,  0xc05, 0xc85) \
	X(6,  0xc06, 0xc86) \
	X(7,  0xc07, 0xc87) \
	X(8,  0xc08, 0xc88) \
	X(9,  0xc09, 0xc89) \
	X(10, 0xc0a, 0xc8a) \
	X(11, 0xc0b, 0xc8b) \
	X(12, 0xc0c, 0xc8c) \
	X(13, 0xc0d, 0xc8d) \
	X(14, 0xc0e, 0xc8e) \
	X(15, 0xc0f, 0xc8f) \
	X(16, 0xc10, 0xc90) \
	X(17, 0xc11, 0xc91) \
	X(18, 0xc12, 0xc92) \
	X(19, 0xc13, 0xc93) \
	X(20, 0xc14, 0xc94) \
	X(21, 0xc15, 0xc95) \
	X(22, 0xc16, 0xc96) \
	X(23, 0xc17, 0xc97) \
	X(24, 0xc18, 0xc98) \
	X(25, 0xc19, 0xc99) \
	X(26, 0xc1a, 0xc9a) \
	X(27, 0xc1b, 0xc9b) \
	X(28, 0xc1c, 0xc9c) \
	X(29, 0xc1d, 0xc9d) \
	X(30, 0xc1e, 0xc9e) \
	X(31, 0xc1f, 0xc9f)

/* Read one counter. @ts: as in counter.h, needed only for the timestamp. */
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
