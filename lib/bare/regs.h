/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Registers for programs without an operating system: trace components and CLINT. */
#ifndef PERF_BARE_REGS_H
#define PERF_BARE_REGS_H

#include <linux/sifive_trace_regs.h>

/* Extract the field that a mask selects, and shift a value into such a field. */
#define FIELD_OF(mask, value)	(((value) & (mask)) / ((mask) & -(mask)))
#define FIELD(mask, value)	((uint32_t)(value) * ((mask) & -(mask)))

#define CLINT_MTIMECMP(hart)	(0x4000 + 8 * (hart))
#define CLINT_MTIME		0xbff8

#endif /* PERF_BARE_REGS_H */
