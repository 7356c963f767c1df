// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Error messages of the command. */
#include <stdarg.h>
#include <stdio.h>

#include "command.h"
#include "text.h"

static void vreport(const char *format, va_list arguments)
{
	char text[8192];

	/* File names, and text from files, may contain any byte. */
	vsnprintf(text, sizeof(text), format, arguments);
	text_clean(text);
	fprintf(stderr, "sifive-trace: %s\n", text);
}

void report(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vreport(format, arguments);
	va_end(arguments);
}

int usage_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vreport(format, arguments);
	va_end(arguments);
	return EXIT_USAGE;
}
