// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Discards the messages of a target that is linked with the whole command. */
#include "command.h"

void report_to(void (*receive)(void *context, const char *text), void *context)
{
	(void)receive;
	(void)context;
}

void report(const char *format, ...)
{
	(void)format;
}

int usage_error(const char *format, ...)
{
	(void)format;
	return EXIT_USAGE;
}
