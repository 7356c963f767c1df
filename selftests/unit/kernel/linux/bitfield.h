/* SPDX-License-Identifier: GPL-2.0-only */
/* Access to a register field, given by its mask. */
#ifndef KERNEL_BITFIELD_H
#define KERNEL_BITFIELD_H

#include <linux/bits.h>

#define FIELD_GET(mask, reg)	(((reg) & (mask)) >> __builtin_ctzl(mask))

#endif /* KERNEL_BITFIELD_H */
