// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Reports messages: the command prints them, the trace-reading library stores them. */
#include <stdarg.h>
#include <stdio.h>

#include "command.h"
#include "text.h"

static _Thread_local void (*keep)(void *context, const char *text);
static _Thread_local void *keeper;

void report_to(void (*receive)(void *context, const char *text), void *context)
{
	keep = receive;
	keeper = context;
}

static void vreport(const char *format, va_list arguments)
{
	char text[8192];

	/* File names, and text from files, can contain any byte. */
	vsnprintf(text, sizeof(text), format, arguments);
	text_clean(text);
	if (keep)
		keep(keeper, text);
	else
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
