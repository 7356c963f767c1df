// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See kept_report.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

#include "kept_report.h"

char reported[4096];

static void keep(const char *format, va_list arguments)
{
	size_t used = strlen(reported);

	vsnprintf(reported + used, sizeof(reported) - used, format, arguments);
}

void report(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	keep(format, arguments);
	va_end(arguments);
}

int usage_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	keep(format, arguments);
	va_end(arguments);
	return EXIT_USAGE;
}

/* Messages are kept in any case. */
void report_to(void (*receive)(void *context, const char *text), void *context)
{
	(void)receive;
	(void)context;
}
