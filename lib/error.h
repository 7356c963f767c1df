/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The text of perfErrorString(), and messages to standard error.
 *
 * The text is per thread. A function that fails sets the text and returns -1; its callers keep
 * the text.
 */
#ifndef PERF_ERROR_H
#define PERF_ERROR_H

#include "compiler.h"

#define PERF_PRINTF(string, first) \
	__attribute__((format(printf, string, first)))

/* Clear the text at the beginning of a call. */
PERF_INTERNAL void perf_error_clear(void);

/* Return the text: one line without newline, empty if there was no error. */
PERF_INTERNAL const char *perf_error_text(void);

/* Set the text. Returns -1. */
PERF_INTERNAL int perf_error(const char *format, ...) PERF_PRINTF(1, 2);

/* Append to the text. */
PERF_INTERNAL void perf_error_add(const char *format, ...) PERF_PRINTF(1, 2);

/* Print the text as the reason why @call failed, unless the user has silenced errors. */
PERF_INTERNAL void perf_error_print(const char *call);

/* Which messages to print. */
enum perf_verbosity {
	PERF_SILENT,
	PERF_ERRORS,
	PERF_NOTICES,
};

/* Append a separate sentence to the text; print it if the verbosity is at least @least. */
PERF_INTERNAL void perf_tell(enum perf_verbosity least, const char *format, ...)
	PERF_PRINTF(2, 3);

#define perf_notice(...)	perf_tell(PERF_NOTICES, __VA_ARGS__)
#define perf_warning(...)	perf_tell(PERF_ERRORS, __VA_ARGS__)

#endif /* PERF_ERROR_H */
