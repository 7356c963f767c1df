/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Lets writes of the library fail without ending the program: a write() to a pipe that nobody reads
 * sends SIGPIPE, and one beyond the limit of a file's size sends SIGXFSZ.
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

/* Discard the signals that writes have sent since perf_quiet_begin(). */
PERF_INTERNAL void perf_quiet_end(const struct perf_quiet *quiet);

/*
 * Print a line to standard error. The shared library, which a program may be unaware of, prints
 * nothing once descriptor 2 is no longer the file that it was when the program started.
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
