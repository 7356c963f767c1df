/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Shows readers that a recording is running: each trace that is written while the program runs has
 * a lock file beside it, TRACE.recording, which trace-format.rst describes.
 */
#ifndef SIFIVE_TRACE_LOCK_H
#define SIFIVE_TRACE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/device.h"

/**
 * struct locks - the lock files of a recording; none if zeroed
 * @fd:		their descriptors, or -1, one for each of the @sinks sinks
 * @path:	path of the traces, see capture_save()
 * @beat:	time at which the files were last touched, in nanoseconds of CLOCK_MONOTONIC
 */
struct locks {
	int		fd[PERF_MAX_SINKS];
	uint32_t	sinks;
	const char	*path;
	uint64_t	beat;
};

/**
 * locks_create() - create and lock the files; do this before the traces are created
 *
 * A file that cannot be created is missing: readers then take the trace for complete.
 */
void locks_create(struct locks *locks, const char *path, uint32_t sinks);

/** locks_beat() - touch the files if that is due; call this at least once a second */
void locks_beat(struct locks *locks);

/** locks_remove() - remove the files, because traces and side-car files are complete */
void locks_remove(struct locks *locks);

#endif /* SIFIVE_TRACE_LOCK_H */
