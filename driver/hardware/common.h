/* SPDX-License-Identifier: GPL-2.0-only */
/* The system's lock, and error messages for calls and bindings. */
#ifndef SFT_COMMON_H
#define SFT_COMMON_H

#include <linux/compiler.h>

#include <linux/sifive_trace.h>

/**
 * struct sft_why - the error message or report for a request
 * @text:	the message, or empty if there is nothing to report
 */
struct sft_why {
	char text[SIFIVE_TRACE_MESSAGE_LEN];
};

/* topology.c */
void sft_lock(void);
void sft_unlock(void);

/* why.c */
__printf(3, 4) int sft_fail(struct sft_why *why, int err, const char *fmt, ...);
__printf(2, 3) void sft_add(struct sft_why *why, const char *fmt, ...);

#endif /* SFT_COMMON_H */
