/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads counters from user mode.
 *
 * Counter numbers are bit positions of a record's counter mask: 0 cycle, 1 trace timestamp,
 * 2 instret, n hpmcounter n. A csrr instruction contains the number of its CSR, so a table
 * has one function per CSR.
 */
#ifndef PERF_COUNTER_H
#define PERF_COUNTER_H

#include <stdint.h>

#include "compiler.h"
#include <linux/sifive_trace_format.h>

#include "mmio.h"

#define PERF_COUNTER_MAX	32
#define PERF_COUNTER_TIMESTAMP	1

/* SBI counter_info. */
#define PERF_COUNTER_CSR(info)		((info) & (uint32_t)SIFIVE_TRACE_COUNTER_CSR)
#define PERF_COUNTER_WIDTH(info) \
	((((info) & (uint32_t)SIFIVE_TRACE_COUNTER_WIDTH) >> \
	  SIFIVE_TRACE_COUNTER_WIDTH_SHIFT) + 1)

/* The user-mode CSR of counter 0; counter n is n CSRs after it. */
#define PERF_CSR_CYCLE		0xc00u

#if !defined(__riscv) && !defined(PERF_COUNTER_MOCK)
#error "counters are RISC-V control and status registers: use a RISC-V compiler"
#endif

/*
 * Return the trace timestamp, in ticks. @ts points to tsLower, which tsUpper follows. The lower
 * half may carry into the upper half between two reads.
 */
PERF_INLINE PERF_OPTIONAL uint64_t perf_counter_timestamp(const volatile uint32_t *ts)
{
	uint32_t upper, lower;

	do {
		upper = perf_mmio_read32(&ts[1]);
		lower = perf_mmio_read32(&ts[0]);
	} while (PERF_UNLIKELY(upper != perf_mmio_read32(&ts[1])));

	return (uint64_t)upper << 32 | lower;
}

/* The one-file Linux library reads counters only in restartable sequences. */
#ifndef PERF_DROPIN
#define PERF_COUNTERS_READ
#endif /* PERF_DROPIN */

#ifdef PERF_COUNTERS_READ
/**
 * perf_counters_read - read counters, one after another
 * @number:	the counters' numbers, 0 to 31
 * @count:	number of counters
 * @ts:		pointer to tsLower, which tsUpper follows; used only for the timestamp
 * @now:	values read
 *
 * Traps (SIGILL) unless scounteren and mcounteren permit user mode to read these CSRs. The caller
 * handles migration to another hart between the reads.
 */
PERF_INTERNAL void perf_counters_read(const uint8_t *number, uint32_t count,
				      const volatile uint32_t *ts, uint64_t *now);
#endif

/**
 * perf_counter_mask - get a mask with a counter's width
 * @info:	SBI counter_info of the counter
 */
PERF_INTERNAL uint64_t perf_counter_mask(uint32_t info);

#endif /* PERF_COUNTER_H */
