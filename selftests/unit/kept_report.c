// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See kept_report.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

#include "kept_report.h"

char reported[4096];

void report(const char *format, ...)
{
	size_t used = strlen(reported);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reported + used, sizeof(reported) - used, format, arguments);
	va_end(arguments);
}

int usage_error(const char *format, ...)
{
	(void)format;
	return 2;
}
