/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Copies the lists in which just-in-time compilers name their functions for perf. */
#ifndef SIFIVE_TRACE_PERF_MAPS_H
#define SIFIVE_TRACE_PERF_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "../output.h"
#include "../trace/meta.h"

/**
 * struct perf_maps - the lists of a recording
 * @began:	when the recording began
 * @dir:	directory for copies
 * @made:	whether that directory exists
 * @pid:	the @count processes with copied lists
 * @bytes:	total size of these copies
 */
struct perf_maps {
	time_t		began;
	const char	*dir;
	bool		made;
	pid_t		pid[META_PROCESSES_MAX];
	size_t		count;
	uint64_t	bytes;
};

/**
 * perf_maps_copy() - copy a process's list, /tmp/perf-PID.map, if it exists
 *
 * The list must belong to the process's user, the user running the command, or root. A list that is
 * older than the process belongs to an earlier process with the same id; if the process has ended,
 * a list that is older than the recording is also ignored. A failure is reported.
 */
void perf_maps_copy(struct perf_maps *maps, pid_t pid);

/** perf_maps_write() - write "generated" of a side-car file, if any list has been copied */
void perf_maps_write(const struct perf_maps *maps, struct output *output);

#endif /* SIFIVE_TRACE_PERF_MAPS_H */
