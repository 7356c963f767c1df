/* SPDX-License-Identifier: GPL-2.0-only */
/* The system's lock, and why a call or a binding fails, for all files. */
#ifndef SFT_COMMON_H
#define SFT_COMMON_H

#include <linux/compiler.h>

struct device;

/* main.c */
void sft_lock(void);
void sft_unlock(void);
__printf(2, 3) int sft_fail(int err, const char *fmt, ...);
__printf(1, 2) void sft_add(const char *fmt, ...);

/* nodes.c */
__printf(3, 4) int sft_refuse(struct device *dev, int err, const char *fmt, ...);
int sft_probed(struct device *dev, int err);

#endif /* SFT_COMMON_H */
