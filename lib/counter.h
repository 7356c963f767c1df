/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reading counters from user mode.
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

/* X(number, CSR, CSR of the upper half on RV32) for each counter with a CSR. */
#define PERF_COUNTER_CSRS(X) \
	X(0,  0xc00, 0xc80) \
	PERF_COUNTER_CSRS_FROM_2(X)

#define PERF_COUNTER_CSRS_FROM_2(X) \
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

#if !defined(__riscv) && !defined(PERF_COUNTER_MOCK)
#error "counters are RISC-V control and status registers: use a RISC-V compiler"
#endif

/*
 * The trace timestamp, in ticks. @ts points to tsLower, which tsUpper follows.
 * The lower half may carry into the upper one between two reads.
 */
PERF_INLINE uint64_t perf_counter_timestamp(const volatile uint32_t *ts)
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
 * perf_counters_read - read counters, one after the other
 * @number:	their numbers, 0 to 31
 * @count:	how many
 * @ts:		as above, for the timestamp only
 * @now:	filled
 *
 * Traps (SIGILL) unless scounteren and mcounteren let user mode read these
 * CSRs. The caller handles migration to another hart in between.
 */
PERF_INTERNAL void perf_counters_read(const uint8_t *number, uint32_t count,
				      const volatile uint32_t *ts, uint64_t *now);
#endif

/**
 * perf_counter_mask - mask of a counter's width
 * @info:	its SBI counter_info
 */
PERF_INTERNAL uint64_t perf_counter_mask(uint32_t info);

#endif /* PERF_COUNTER_H */
