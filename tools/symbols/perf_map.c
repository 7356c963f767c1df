// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See perf_map.h. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "compare.h"
#include "perf_map.h"

/* Maximum size of the file. */
#define BYTES_MAX	(64 << 20)

#define BEGIN		"/tmp/perf-"
#define END		".map"

struct perf_map {
	char				*text;
	struct perf_map_function	*function;	/* functions by start */
	size_t				functions;
};

bool perf_map_is(const char *path)
{
	size_t digits;

	if (strncmp(path, BEGIN, strlen(BEGIN)))
		return false;
	path += strlen(BEGIN);
	digits = strspn(path, "0123456789");
	return digits && !strcmp(path + digits, END);
}

/* In order of start; of functions with the same start, the last one in the file comes first. */
static int by_start(const void *a, const void *b)
{
	const struct perf_map_function *one = a, *two = b;
	const int result = compare_numbers(one->start, two->start);

	return result ? result : compare_numbers((uintptr_t)two->name, (uintptr_t)one->name);
}

/* Read "START SIZE NAME". Return false for another line. */
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
	return function->size && function->start + function->size > function->start;
}

static bool read_functions(struct perf_map *map)
{
	struct perf_map_function function, *more;
	char *line, *next = map->text;
	size_t room = 0, kept = 0, i;

	while ((line = strsep(&next, "\n"))) {
		if (!read_line(line, &function))
			continue;
		if (map->functions == room) {
			room = room ? 2 * room : 1024;
			more = realloc(map->function, room * sizeof(*more));
			if (!more)
				return false;
			map->function = more;
		}
		map->function[map->functions++] = function;
	}
	if (map->functions)
		qsort(map->function, map->functions, sizeof(function), by_start);
	for (i = 0; i < map->functions; i++)
		if (!i || map->function[i].start != map->function[i - 1].start)
			map->function[kept++] = map->function[i];
	map->functions = kept;
	return true;
}

static bool read_text(struct perf_map *map, int fd)
{
	struct stat status;
	size_t length = 0;
	ssize_t got = 1;

	errno = EINVAL;
	if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_size > BYTES_MAX)
		return false;
	map->text = malloc((size_t)status.st_size + 1);
	while (map->text && length < (size_t)status.st_size && got > 0) {
		got = read(fd, map->text + length, (size_t)status.st_size - length);
		length += got > 0 ? (size_t)got : 0;
	}
	if (map->text)
		map->text[length] = '\0';
	return map->text && got >= 0;
}

struct perf_map *perf_map_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct perf_map *map = fd >= 0 ? calloc(1, sizeof(*map)) : NULL;

	if (map && read_text(map, fd) && read_functions(map)) {
		close(fd);
		return map;
	}
	report("%s: not used: %s: generated functions are shown as addresses", path,
	       strerror(errno));
	if (fd >= 0)
		close(fd);
	perf_map_close(map);
	return NULL;
}

const struct perf_map_function *perf_map_find(const struct perf_map *map, uint64_t address)
{
	size_t low = 0, high = map ? map->functions : 0;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (map->function[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - map->function[low - 1].start >= map->function[low - 1].size)
		return NULL;
	return &map->function[low - 1];
}

void perf_map_close(struct perf_map *map)
{
	if (!map)
		return;
	free(map->function);
	free(map->text);
	free(map);
}
