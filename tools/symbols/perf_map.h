/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds functions that a just-in-time compiler has listed in a file for perf: perf-PID.map. */
#ifndef SIFIVE_TRACE_PERF_MAP_H
#define SIFIVE_TRACE_PERF_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct perf_map;

/** struct perf_map_function - a function; @name is valid until perf_map_close() */
struct perf_map_function {
	uint64_t	start;
	uint64_t	size;
	const char	*name;
};

/** perf_map_is() - whether an object's path is that of such a file: /tmp/perf-PID.map */
bool perf_map_is(const char *path);

/**
 * perf_map_open() - read a file
 *
 * Return: its functions, or NULL after printing an error.
 */
struct perf_map *perf_map_open(const char *path);

/** perf_map_find() - return the function that contains an address, or NULL; @map may be NULL */
const struct perf_map_function *perf_map_find(const struct perf_map *map, uint64_t address);

/** perf_map_close() - free; NULL is allowed */
void perf_map_close(struct perf_map *map);

#endif /* SIFIVE_TRACE_PERF_MAP_H */
