// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sifive_trace.h"

#include "environment.h"
#include "error.h"
#include "quiet.h"

/* Size of the text: a path, an explanation and the kernel's message. */
#define ERROR_LEN	448

/* TLS accesses must not allocate memory, because signal handlers use the text. */
static __thread char text[ERROR_LEN] PERF_THREAD_MODEL;

PERF_LOCAL void print(enum perf_verbosity least, const char *call, const char *what)
{
	int word = perf_environment_word("SIFIVE_TRACE_VERBOSE", PERF_ENVIRONMENT_FLAG);
	enum perf_verbosity verbosity = word < 0 ? PERF_ERRORS :
					word % 2 ? PERF_SILENT : PERF_NOTICES;
	char line[ERROR_LEN + 64];
	int length = snprintf(line, sizeof(line), "sifive-perf: %s%s\n", call, what);

#ifndef PERF_DROPIN
	if (verbosity >= least)
		perf_quiet_line(line, (size_t)length);
#else
	if (verbosity >= least && write(STDERR_FILENO, line, (size_t)length) < 0)
		return;
#endif /* PERF_DROPIN */
}

PERF_INTERNAL void perf_error_clear(void)
{
	text[0] = '\0';
}

PERF_INTERNAL const char *perf_error_text(void)
{
	return text;
}

#ifndef PERF_DROPIN
PERF_API const char *sifive_trace_error(void)
{
	return text;
}
#endif /* PERF_DROPIN */

PERF_INTERNAL int perf_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return -1;
}

/* Append to the text. Returns the beginning of the appended text. */
PERF_LOCAL PERF_PRINTF(1, 0) const char *append(const char *format, va_list args)
{
	size_t used = strlen(text);

	vsnprintf(text + used, sizeof(text) - used, format, args);
	return text + used;
}

PERF_INTERNAL void perf_error_add(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	append(format, args);
	va_end(args);
}

PERF_INTERNAL void perf_error_print(const char *call)
{
	print(PERF_ERRORS, call, text);
}

PERF_INTERNAL void perf_tell(enum perf_verbosity least, const char *format, ...)
{
	va_list args;

	if (text[0])
		perf_error_add("; ");
	va_start(args, format);
	print(least, "", append(format, args));
	va_end(args);
}
