/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What perfErrorString() says, and what goes to standard error.
 *
 * Text is kept per thread. A failing function sets it and returns -1; nobody
 * further up replaces it.
 */
#ifndef PERF_ERROR_H
#define PERF_ERROR_H

#include "compiler.h"

#define PERF_PRINTF(string, first) \
	__attribute__((format(printf, string, first)))

/* Nothing has gone wrong yet in this thread's current call. */
PERF_INTERNAL void perf_error_clear(void);

/* One line without newline, empty when there is nothing to say. */
PERF_INTERNAL const char *perf_error_text(void);

/* Set the text. Returns -1. */
PERF_INTERNAL int perf_error(const char *format, ...) PERF_PRINTF(1, 2);

/* Add to the text. */
PERF_INTERNAL void perf_error_add(const char *format, ...) PERF_PRINTF(1, 2);

/* Print the text as the failure of @call, unless silenced. */
PERF_INTERNAL void perf_error_print(const char *call);

/* Set the text to something that is no failure; print it if asked for notices. */
PERF_INTERNAL void perf_notice(const char *format, ...) PERF_PRINTF(1, 2);

/* Add something that was lost to the text; print that unless silenced. */
PERF_INTERNAL void perf_warning(const char *format, ...) PERF_PRINTF(1, 2);

#endif /* PERF_ERROR_H */
