/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* CSRs of machine mode, for counters, their events, and traps. */
#ifndef PERF_BARE_CSR_H
#define PERF_BARE_CSR_H

#include <stdint.h>

#include "../compiler.h"

#define csr_get(csr) __extension__ ({					\
	unsigned long csr_value;					\
									\
	__asm__ volatile("csrr %0, " #csr : "=r"(csr_value) : : "memory"); \
	csr_value;							\
})

#define csr_put(csr, value)						\
	__asm__ volatile("csrw " #csr ", %0" : : "rK"((unsigned long)(value)) : "memory")

#define csr_or(csr, bits)						\
	__asm__ volatile("csrs " #csr ", %0" : : "rK"((unsigned long)(bits)) : "memory")

#define csr_not(csr, bits)						\
	__asm__ volatile("csrc " #csr ", %0" : : "rK"((unsigned long)(bits)) : "memory")

#define MCAUSE_TIMER	((1ul << (__riscv_xlen - 1)) | 7)
#define MIE_TIMER	(1ul << 7)
#define MSTATUS_MIE	(1ul << 3)

/*
 * Start hpmcounter @number (3 to 31) counting @event from 0. Returns the counter's width
 * in bits, or 0 if the counter does not exist or cannot count the event.
 */
PERF_INTERNAL unsigned int bare_counter_start(unsigned int number, uint64_t event);

/* Start fixed counter @number (cycle or instret). */
PERF_INTERNAL void bare_fixed_start(unsigned int number);

#endif /* PERF_BARE_CSR_H */
