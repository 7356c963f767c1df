// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "filter.h"

/* Objects that a program can have loaded, and still be filtered. */
#define OBJECTS		256

struct range {
	uintptr_t start, end;
};

/* Ranges of one object, sorted, and where it is loaded. */
struct filter_object {
	char *name;
	struct range *range;
	size_t count;
	struct filter_object *next;
};

/*
 * What is loaded, for hooks to search: two tables, of which one is complete.
 * An object that is in no filter has no ranges, so that it is known to be none
 * that was loaded since.
 */
struct loaded {
	uintptr_t start, end, bias;
	const struct filter_object *object;
};

struct table {
	unsigned int count;
	struct loaded loaded[OBJECTS];
};

static struct filter_object *filter_objects;
static struct table tables[2];
static struct table *volatile current = &tables[0];
static bool on;

PERF_LOCAL struct filter_object *find_filter_object(const char *name)
{
	struct filter_object *object;

	for (object = filter_objects; object; object = object->next)
		if (!strcmp(object->name, name))
			return object;

	object = calloc(1, sizeof(*object));
	if (!object)
		return NULL;
	object->name = strdup(name);
	if (!object->name) {
		free(object);
		return NULL;
	}
	object->next = filter_objects;
	filter_objects = object;
	return object;
}

PERF_LOCAL void forget_all(void)
{
	struct filter_object *object;

	current = &tables[0];
	tables[0].count = 0;
	while ((object = filter_objects)) {
		filter_objects = object->next;
		free(object->range);
		free(object->name);
		free(object);
	}
	on = false;
}

PERF_LOCAL int by_start(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

/* Sorted, and ranges that touch made one, so that one search finds all. */
PERF_LOCAL void arrange(struct filter_object *object)
{
	struct range *range = object->range;
	size_t i, last = 0;

	qsort(range, object->count, sizeof(*range), by_start);
	for (i = 1; i < object->count; i++) {
		if (range[i].start > range[last].end)
			range[++last] = range[i];
		else if (range[i].end > range[last].end)
			range[last].end = range[i].end;
	}
	if (object->count)
		object->count = last + 1;
}

PERF_LOCAL int add_line(const char *path, unsigned int number, const char *line)
{
	uintmax_t start, end;
	struct filter_object *object;
	struct range *more;
	char name[256], rest;

	if (sscanf(line, " %255s", name) != 1 || name[0] == '#')
		return 0;
	if (sscanf(line, " %255s %" SCNxMAX " %" SCNxMAX " %c", name, &start,
		   &end, &rest) != 3 || start >= end || end > UINTPTR_MAX)
		return perf_error("%s:%u: a line is: OBJECT START END, with hexadecimal addresses",
				  path, number);

	object = find_filter_object(name);
	if (!object)
		return perf_error("out of memory");
	more = realloc(object->range, (object->count + 1) * sizeof(*more));
	if (!more)
		return perf_error("out of memory");
	object->range = more;
	more[object->count++] = (struct range) { (uintptr_t)start, (uintptr_t)end };
	return 0;
}

PERF_INTERNAL int perf_filter_load(const char *path)
{
	unsigned int number = 0;
	struct filter_object *object;
	char *line = NULL;
	size_t size = 0;
	FILE *file;
	int rc = 0;

	forget_all();
	if (!path)
		return 0;

	file = fopen(path, "re");
	if (!file)
		return perf_error("cannot open the filter %s: %s", path,
				  strerror(errno));
	while (!rc && getline(&line, &size, file) >= 0)
		rc = add_line(path, ++number, line);
	if (!rc && ferror(file))
		rc = perf_error("cannot read the filter %s", path);
	free(line);
	fclose(file);
	if (rc) {
		forget_all();
		return rc;
	}

	for (object = filter_objects; object; object = object->next)
		arrange(object);
	on = true;
	return 0;
}

PERF_LOCAL int visit(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct table *table = argument;
	const char *name = info->dlpi_name, *slash;
	uintptr_t start = UINTPTR_MAX, end = 0;
	struct loaded *loaded;
	struct filter_object *object;
	int i;

	(void)size;
	if (table->count == OBJECTS)
		return 1;
	if (!name || !*name)
		name = program_invocation_name;
	slash = strrchr(name, '/');
	if (slash)
		name = slash + 1;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + phdr->p_vaddr;

		if (phdr->p_type != PT_LOAD || !(phdr->p_flags & PF_X))
			continue;
		if (from < start)
			start = from;
		if (from + phdr->p_memsz > end)
			end = from + phdr->p_memsz;
	}

	for (object = filter_objects; object; object = object->next)
		if (!strcmp(object->name, name))
			break;
	loaded = &table->loaded[table->count++];
	*loaded = (struct loaded) { start, end, info->dlpi_addr, object };
	return 0;
}

PERF_INTERNAL void perf_filter_update(void)
{
	static bool busy;
	struct table *table;

	if (!on || __atomic_test_and_set(&busy, __ATOMIC_ACQUIRE))
		return;
	table = current == &tables[0] ? &tables[1] : &tables[0];
	table->count = 0;
	dl_iterate_phdr(visit, table);
	__atomic_store_n(&current, table, __ATOMIC_RELEASE);
	__atomic_clear(&busy, __ATOMIC_RELEASE);
}

PERF_INTERNAL bool perf_filter_on(void)
{
	return on;
}

PERF_LOCAL const struct loaded *find_loaded(uintptr_t function)
{
	const struct table *table = current;
	unsigned int i;

	for (i = 0; i < table->count; i++) {
		const struct loaded *loaded = &table->loaded[i];

		if (function - loaded->start < loaded->end - loaded->start)
			return loaded;
	}
	return NULL;
}

PERF_INTERNAL bool perf_filter_has(uintptr_t function)
{
	const struct loaded *loaded = find_loaded(function);
	const struct range *range;
	size_t low = 0, high;
	uintptr_t at;

	/* Of an object that was loaded since. */
	if (PERF_UNLIKELY(!loaded)) {
		perf_filter_update();
		loaded = find_loaded(function);
	}
	if (!loaded || !loaded->object)
		return false;

	/* The last range that begins at or before it. */
	at = function - loaded->bias;
	range = loaded->object->range;
	high = loaded->object->count;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (range[middle].start <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low && at < range[low - 1].end;
}
