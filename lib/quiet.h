/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Prevents failed writes by the library from ending the program: a write() to a pipe without a
 * reader sends SIGPIPE, and a write() beyond the file size limit sends SIGXFSZ.
 */
#ifndef PERF_QUIET_H
#define PERF_QUIET_H

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "compiler.h"

#ifndef PERF_DROPIN
/**
 * struct perf_quiet - the calling thread's signals before perf_quiet_begin()
 * @mask:	blocked signals
 * @pending:	pending signals
 */
struct perf_quiet {
	sigset_t mask, pending;
};

PERF_INTERNAL void perf_quiet_begin(struct perf_quiet *quiet);

/* Discard the signals that writes have caused since perf_quiet_begin(). */
PERF_INTERNAL void perf_quiet_end(const struct perf_quiet *quiet);

/*
 * Print a line to standard error. The shared library, which a program may be unaware of, prints
 * nothing unless descriptor 2 refers to the same file as when the program started.
 */
#ifdef PERF_SHARED
PERF_INTERNAL void perf_quiet_line(const char *line, size_t length);
#else
PERF_INLINE void perf_quiet_line(const char *line, size_t length)
{
	if (write(STDERR_FILENO, line, length) < 0)
		return;
}
#endif
#endif /* PERF_DROPIN */

#endif /* PERF_QUIET_H */
