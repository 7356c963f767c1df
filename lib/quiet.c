// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <stddef.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "quiet.h"

PERF_INTERNAL void perf_quiet_begin(struct perf_quiet *quiet)
{
	sigset_t block;

	sigemptyset(&block);
	sigaddset(&block, SIGPIPE);
	sigaddset(&block, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &block, &quiet->mask);
	sigpending(&quiet->pending);
}

PERF_INTERNAL void perf_quiet_end(const struct perf_quiet *quiet)
{
	const struct timespec no_time = { .tv_nsec = 0 };
	const int error = errno;
	sigset_t discard;

	sigemptyset(&discard);
	if (!sigismember(&quiet->pending, SIGPIPE))
		sigaddset(&discard, SIGPIPE);
	if (!sigismember(&quiet->pending, SIGXFSZ))
		sigaddset(&discard, SIGXFSZ);
	while (sigtimedwait(&discard, NULL, &no_time) > 0)
		;
	pthread_sigmask(SIG_SETMASK, &quiet->mask, NULL);
	errno = error;
}

#ifdef PERF_SHARED
/* Standard error when the program starts; all zero if there is none. */
static struct stat standard;

PERF_LOCAL void note_standard_error(void)
{
	if (fstat(STDERR_FILENO, &standard))
		standard = (struct stat) { .st_ino = 0 };
}

PERF_RUN(".init_array", PERF_FIRST) static void (*quiet_begins)(void) = note_standard_error;

PERF_INTERNAL void perf_quiet_line(const char *line, size_t length)
{
	struct perf_quiet quiet;
	struct stat now;
	ssize_t written;

	/* A daemon closes its descriptors, so a file that it opens later can have this number. */
	if (fstat(STDERR_FILENO, &now) || now.st_dev != standard.st_dev ||
	    now.st_ino != standard.st_ino)
		return;
	perf_quiet_begin(&quiet);
	written = write(STDERR_FILENO, line, length);
	(void)written;
	perf_quiet_end(&quiet);
}
#endif
