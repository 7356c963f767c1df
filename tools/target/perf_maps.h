/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Copies the files in which just-in-time compilers list their functions for perf. */
#ifndef SIFIVE_TRACE_PERF_MAPS_H
#define SIFIVE_TRACE_PERF_MAPS_H

#include <stdbool.h>
#include <sys/types.h>

#include "objects.h"

/**
 * struct perf_maps - where to copy the files
 * @folder:	folder for copies, which must not exist yet if @made is clear
 * @made:	whether the folder exists
 * @objects:	receives the addresses of the functions
 */
struct perf_maps {
	const char	*folder;
	bool		made;
	struct objects	*objects;
};

/**
 * perf_maps_copy() - copy the file of a process, /tmp/perf-PID.map, if there is one
 *
 * The file must belong to the process's user, this user or root. An earlier copy of this recording
 * is replaced. A failure is reported.
 */
void perf_maps_copy(struct perf_maps *maps, pid_t pid);

#endif /* SIFIVE_TRACE_PERF_MAPS_H */
