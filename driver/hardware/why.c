// SPDX-License-Identifier: GPL-2.0-only
/* The reason for a failed call or binding, as text. */

#include <linux/kernel.h>
#include <linux/string.h>

#include "common.h"

/*
 * Store the reason for a failure; only the first reason is kept. @why may be NULL. Returns @err,
 * for use in a return statement.
 */
int sft_fail(struct sft_why *why, int err, const char *fmt, ...)
{
	va_list args;

	if (!why || why->text[0])
		return err;
	va_start(args, fmt);
	vscnprintf(why->text, sizeof(why->text), fmt, args);
	va_end(args);
	return err;
}

/* Append a report that does not depend on whether the request fails. */
void sft_add(struct sft_why *why, const char *fmt, ...)
{
	size_t used = strlen(why->text);
	va_list args;

	if (used)
		used += scnprintf(why->text + used, sizeof(why->text) - used, "; ");
	va_start(args, fmt);
	vscnprintf(why->text + used, sizeof(why->text) - used, fmt, args);
	va_end(args);
}
