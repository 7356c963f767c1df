/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reads the list of functions that a just-in-time compiler has written for perf: perf-PID.map. */
#ifndef SIFIVE_TRACE_PERF_MAP_H
#define SIFIVE_TRACE_PERF_MAP_H

#include <stdint.h>

struct perf_map;

/** struct perf_map_function - a function; @name is valid until perf_map_close() */
struct perf_map_function {
	uint64_t	start;
	uint64_t	size;
	const char	*name;
};

/** perf_map_pid() - return the process id in the path of a list, /tmp/perf-PID.map, or -1 */
int64_t perf_map_pid(const char *path);

/**
 * perf_map_open() - read a list
 *
 * Where functions overlap, the later function in the list is used. If that function overlaps the
 * start of an earlier function, the whole earlier function is dropped. A last line without a
 * newline is incomplete and is ignored. Names are truncated to 1024 bytes.
 *
 * Return: the functions, or NULL after printing an error.
 */
struct perf_map *perf_map_open(const char *path);

/** perf_map_find() - return the function that contains an address, or NULL; @map may be NULL */
const struct perf_map_function *perf_map_find(const struct perf_map *map, uint64_t address);

/** perf_map_close() - free; NULL is allowed */
void perf_map_close(struct perf_map *map);

#endif /* SIFIVE_TRACE_PERF_MAP_H */
