/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Accesses to the stimulus page.
 *
 * The offset of a store in an ITC stimulus register determines the size of the value: 32 bits at
 * 0, 16 bits at 2, 8 bits at 3. The order of these stores is the order of the messages: the page is
 * I/O memory, and volatile keeps the compiler from reordering the stores.
 */
#ifndef PERF_MMIO_H
#define PERF_MMIO_H

#include <stdint.h>

#include "compiler.h"

#ifdef PERF_MMIO_MOCK

PERF_INTERNAL void perf_stimulus32(volatile uint32_t *stimulus, uint32_t value);
PERF_INTERNAL void perf_stimulus16(volatile uint32_t *stimulus, uint16_t value);
PERF_INTERNAL void perf_stimulus8(volatile uint32_t *stimulus, uint8_t value);
PERF_INTERNAL uint32_t perf_mmio_read32(const volatile uint32_t *reg);

#else

/*
 * Stores are in assembly, because compilers sign-extend a value before a volatile store, which
 * costs an instruction each time. Parameters wider than the store save another instruction.
 */
PERF_INLINE void perf_stimulus32(volatile uint32_t *stimulus, unsigned long value)
{
	__asm__ volatile("sw %z1, 0(%0)" : : "r"(stimulus), "rJ"(value) : "memory");
}

PERF_INLINE void perf_stimulus16(volatile uint32_t *stimulus, unsigned long value)
{
	__asm__ volatile("sh %z1, 2(%0)" : : "r"(stimulus), "rJ"(value) : "memory");
}

PERF_INLINE void perf_stimulus8(volatile uint32_t *stimulus, uint32_t value)
{
	__asm__ volatile("sb %z1, 3(%0)" : : "r"(stimulus), "rJ"(value) : "memory");
}

PERF_INLINE uint32_t perf_mmio_read32(const volatile uint32_t *reg)
{
	return *reg;
}

#endif

/*
 * Fences for handing over a stimulus register, whose owner is recorded in memory. The first fence
 * follows the old owner's accesses; the second precedes the new owner's.
 */
PERF_INLINE void perf_mmio_release(void)
{
#ifdef __riscv
	__asm__ volatile("fence iorw, w" : : : "memory");
#endif
}

PERF_INLINE void perf_mmio_acquire(void)
{
#ifdef __riscv
	__asm__ volatile("fence r, iorw" : : : "memory");
#endif
}

#endif /* PERF_MMIO_H */
