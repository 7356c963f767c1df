/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Defines the kernel's types and bit macros that driver/counters/record.c needs, for tests on the
 * host.
 */
#ifndef KERNEL_BITS_H
#define KERNEL_BITS_H

#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define U16_MAX			UINT16_MAX
#define GENMASK_ULL(high, low)	(~0ull >> (63 - (high)) & ~0ull << (low))
#define GENMASK(high, low)	((unsigned long)GENMASK_ULL(high, low))
#define lower_32_bits(value)	((u32)(value))
#define upper_32_bits(value)	((u32)((u64)(value) >> 32))

#define for_each_set_bit(bit, mask, size)			\
	for ((bit) = 0; (bit) < (size); (bit)++)		\
		if (*(mask) >> (bit) & 1)

#endif /* KERNEL_BITS_H */
