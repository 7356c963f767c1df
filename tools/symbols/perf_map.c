// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See perf_map.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "compare.h"
#include "list_file.h"
#include "meta.h"
#include "perf_map.h"

/* Maximum number of functions. */
#define FUNCTIONS_MAX	(1u << 20)
#define NAME_MAX_BYTES	1024

#define BEGIN		"/tmp/perf-"
#define END		".map"

#define NONE		UINT32_MAX

/*
 * struct perf_map - a list of functions, and the function at each address
 * @function:	functions in the order of the list
 * @edge:	the functions' starts and ends, sorted, each once
 * @at:		number of the function between each edge and the next edge, or NONE
 */
struct perf_map {
	char				*text;
	size_t				length;
	struct perf_map_function	*function;
	uint32_t			functions;
	uint64_t			*edge;
	uint32_t			*at;
	uint32_t			edges;
};

int64_t perf_map_pid(const char *path)
{
	size_t digits;

	if (strncmp(path, BEGIN, strlen(BEGIN)))
		return -1;
	path += strlen(BEGIN);
	digits = strspn(path, "0123456789");
	if (!digits || digits > 10 || strcmp(path + digits, END))
		return -1;
	return strtoll(path, NULL, 10);
}

/* Read "START SIZE NAME". Return false if the line has any other form. */
static bool read_line(char *line, struct perf_map_function *function)
{
	char *rest, *name;

	function->start = strtoull(line, &rest, 16);
	if (rest == line || *rest != ' ')
		return false;
	function->size = strtoull(rest + 1, &name, 16);
	if (name == rest + 1 || *name != ' ' || !name[1])
		return false;
	function->name = name + 1;
	if (strnlen(function->name, NAME_MAX_BYTES + 1) > NAME_MAX_BYTES)
		name[1 + NAME_MAX_BYTES] = '\0';
	return function->size && function->start + function->size > function->start;
}

/* Return false if out of memory. */
static bool read_functions(struct perf_map *map, const char *path)
{
	struct perf_map_function function, *more;
	char *line = map->text, *end;
	size_t room = 0;

	if (strlen(map->text) != map->length)
		report("%s: contains a NUL byte: the rest of the file is not used", path);

	for (; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (!read_line(line, &function))
			continue;
		if (map->functions == FUNCTIONS_MAX) {
			report("%s: only the first %u functions are used", path, FUNCTIONS_MAX);
			break;
		}
		if (map->functions == room) {
			room = room ? 2 * room : 1024;
			more = realloc(map->function, room * sizeof(*more));
			if (!more)
				return false;
			map->function = more;
		}
		map->function[map->functions++] = function;
	}
	return true;
}

static int by_value(const void *a, const void *b)
{
	return compare_numbers(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Return the number of edges up to and including @address. */
static uint32_t edges_to(const struct perf_map *map, uint64_t address)
{
	uint32_t low = 0, high = map->edges;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (map->edge[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Follow and compress the path from @i to the first edge whose function is not known yet. */
static uint32_t first_free(uint32_t *next, uint32_t i)
{
	while (next[i] != i) {
		next[i] = next[next[i]];
		i = next[i];
	}
	return i;
}

/*
 * Find the function between each pair of edges, from the last function in the list to the first.
 * Return false if out of memory.
 */
static bool place_functions(struct perf_map *map)
{
	uint32_t *next, i, k, end;

	map->edge = malloc((2ull * map->functions + 1) * sizeof(*map->edge));
	map->at = malloc((2ull * map->functions + 1) * sizeof(*map->at));
	next = malloc((2ull * map->functions + 1) * sizeof(*next));
	if (!map->edge || !map->at || !next) {
		free(next);
		return false;
	}
	for (i = 0; i < map->functions; i++) {
		map->edge[2 * i] = map->function[i].start;
		map->edge[2 * i + 1] = map->function[i].start + map->function[i].size;
	}
	qsort(map->edge, 2ull * map->functions, sizeof(*map->edge), by_value);
	for (i = 0; i < 2 * map->functions; i++)
		if (!i || map->edge[i] != map->edge[map->edges - 1])
			map->edge[map->edges++] = map->edge[i];
	for (i = 0; i <= map->edges; i++) {
		map->at[i] = NONE;
		next[i] = i;
	}
	for (i = map->functions; i--;) {
		end = edges_to(map, map->function[i].start + map->function[i].size) - 1;
		k = edges_to(map, map->function[i].start) - 1;
		/* Drop a function whose start has been overwritten, because it cannot be called. */
		if (map->at[k] != NONE)
			continue;
		while (k < end) {
			map->at[k] = i;
			next[k] = k + 1;
			k = first_free(next, k);
		}
	}
	free(next);
	return true;
}

struct perf_map *perf_map_open(const char *path)
{
	struct perf_map *map = calloc(1, sizeof(*map));

	if (map)
		map->text = list_file_read(path, META_LIST_BYTES_MAX, &map->length);
	if (map && map->text && read_functions(map, path) && place_functions(map))
		return map;
	report(META_LIST_UNUSED, path, strerror(errno));
	perf_map_close(map);
	return NULL;
}

const struct perf_map_function *perf_map_find(const struct perf_map *map, uint64_t address)
{
	const uint32_t edges = map ? edges_to(map, address) : 0;

	return edges && map->at[edges - 1] != NONE ? &map->function[map->at[edges - 1]] : NULL;
}

void perf_map_close(struct perf_map *map)
{
	if (!map)
		return;
	free(map->edge);
	free(map->at);
	free(map->function);
	free(map->text);
	free(map);
}
