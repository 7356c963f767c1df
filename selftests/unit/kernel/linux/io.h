/* SPDX-License-Identifier: GPL-2.0-only */
/* Register writes, which are logged for the test. */
#ifndef KERNEL_IO_H
#define KERNEL_IO_H

#include <linux/bits.h>

#define __iomem

void writel(u32 value, void *reg);
void writew(u16 value, void *reg);
void writeb(u8 value, void *reg);

#endif /* KERNEL_IO_H */
