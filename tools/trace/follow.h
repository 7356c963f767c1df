/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Follows a trace that a recorder is still writing. The recorder's lock file, TRACE.recording, shows
 * whether it is running: see "Lock file" in trace-format.rst.
 */
#ifndef SIFIVE_TRACE_FOLLOW_H
#define SIFIVE_TRACE_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "meta.h"

/* Whether and why a trace does not grow any more. */
enum follow_state {
	FOLLOW_RUNS,		/* it may still grow */
	FOLLOW_ENDED,		/* trace and side-car file are complete */
	FOLLOW_KILLED,		/* incomplete, but the recorder does not seem to be running */
	FOLLOW_REPLACED,	/* another file has the trace's name, or none */
	FOLLOW_TRUNCATED,	/* the trace is shorter than what has been read */
	FOLLOW_INTERRUPTED,	/* SIGINT */
};

/**
 * struct follow - a trace that may be growing
 * @path:	the trace
 * @meta:	path of its side-car file, or NULL if none is to be read
 * @state:	enum follow_state; once it is not FOLLOW_RUNS, it no longer changes
 *
 * The other members are private to follow.c: the file that is being read, the side-car file that
 * was read last, and when and how the lock file last changed.
 */
struct follow {
	const char		*path;
	const char		*meta;
	enum follow_state	state;
	char			beside[4096 + 8];
	char			lock[4096 + 16];
	char			boot[64];
	struct stat		trace;
	struct stat		read;
	struct timespec		touched;
	int64_t			since;
};

/**
 * follow_begin() - find out whether a trace is being written and, if it is, wait until its files
 * exist
 * @follow:	the result; valid as long as @path and @meta
 * @path:	the trace; standard input and pipes end by themselves and are not followed
 * @meta:	value of --meta, or NULL
 *
 * SIGINT then ends the trace instead of the command. Each message is printed only once from now on,
 * because a trace may be opened several times. Return: an exit code; errors have been printed.
 */
int follow_begin(struct follow *follow, const char *path, const char *meta);

/**
 * follow_open() - note the side-car file, which is about to be read, and the trace
 *
 * Call this before the trace is opened, each time.
 */
void follow_open(struct follow *follow);

/**
 * follow_wait() - wait for the trace to grow, and look whether it still can
 * @fd:		the trace, read up to its end; @state must be FOLLOW_RUNS
 *
 * If @state is another one after the call, what can be read then is all.
 */
void follow_wait(struct follow *follow, int fd);

/** follow_stops() - return whether SIGINT has ended the trace */
bool follow_stops(struct follow *follow);

/** follow_outdated() - return whether the side-car file has changed since follow_open() */
bool follow_outdated(const struct follow *follow);

/**
 * follow_end() - report why the trace ended, unless it is complete
 * @coverage:	from its side-car file, as it was read last
 *
 * Return: an exit code.
 */
int follow_end(const struct follow *follow, const struct meta_coverage *coverage);

#endif /* SIFIVE_TRACE_FOLLOW_H */
