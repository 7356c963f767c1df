/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Copies the files that just-in-time compilers write for perf: lists of the names of functions, and
 * dumps with their code.
 */
#ifndef SIFIVE_TRACE_PERF_MAPS_H
#define SIFIVE_TRACE_PERF_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "../output.h"
#include "../trace/meta.h"
#include "jit_dumps.h"

/**
 * struct perf_maps - the files of a recording
 * @began:	when the recording began
 * @dir:	directory for copies
 * @made:	whether that directory exists
 * @pid:	the @count processes with copied lists
 * @dumps:	the dumps that have been found
 * @bytes:	total size of all copies
 */
struct perf_maps {
	time_t		began;
	const char	*dir;
	bool		made;
	pid_t		pid[META_PROCESSES_MAX];
	size_t		count;
	struct jit_dumps dumps;
	uint64_t	bytes;
};

/** perf_maps_begin() - begin to copy the files, replacing earlier copies */
void perf_maps_begin(struct perf_maps *maps, const char *dir);

/**
 * perf_maps_copy() - copy a process's list, /tmp/perf-PID.map, and its dumps, if they exist
 *
 * A file must belong to the process's user, the user running the command, or root. A list that is
 * older than the process belongs to an earlier process with the same id; if the process has ended,
 * a list that is older than the recording is also ignored. A dump must begin like one, because the
 * process chooses its directory. A failure is reported.
 */
void perf_maps_copy(struct perf_maps *maps, pid_t pid);

/** perf_maps_write() - write "generated" of a side-car file, if any file has been copied */
void perf_maps_write(const struct perf_maps *maps, struct output *output);

#endif /* SIFIVE_TRACE_PERF_MAPS_H */
