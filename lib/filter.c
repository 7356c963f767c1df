// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "filter.h"
#include "thread.h"

/* Maximum number of loaded objects in a program with a filter. */
#define OBJECTS		256

struct range {
	uintptr_t start, end;
};

/* The sorted address ranges of one object, for each set of functions. */
struct filter_object {
	char *name;
	struct ranges {
		struct range *range;
		size_t count;
	} set[PERF_FILTER_SETS];
	struct filter_object *next;
};

/*
 * Loaded objects that the hooks search, in two tables, one of which is always complete. If the C
 * library can find shared objects, the tables contain only the program itself, because shared
 * objects can be replaced at any time. An entry without ranges distinguishes an object without a
 * filter from a new object.
 */
struct loaded {
	uintptr_t start, end, bias;
	const struct filter_object *object;
};

struct table {
	unsigned int count;
	struct loaded loaded[OBJECTS];
};

/*
 * _dl_find_object() is async-signal-safe and can be called within dlopen(), unlike
 * dl_iterate_phdr(), the only alternative before glibc 2.35.
 */
#ifdef DLFO_STRUCT_HAS_EH_DBASE
extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));
#define CAN_FIND	(!!_dl_find_object)
#else
#define CAN_FIND	false
#endif

static struct filter_object *filter_objects;
/* Objects from the previous set-up, kept because a thread may be searching them. */
static struct filter_object *old_objects;
static struct table tables[2];
static struct table *volatile current = &tables[0];
static unsigned int on;
static uint32_t depth;
/* The program's file, whose name may differ from the name with which the program was started. */
static char program[PATH_MAX];

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
	unsigned int set;

	while ((object = old_objects)) {
		old_objects = object->next;
		for (set = 0; set < PERF_FILTER_SETS; set++)
			free(object->set[set].range);
		free(object->name);
		free(object);
	}
	old_objects = filter_objects;
	filter_objects = NULL;
	current->count = 0;
	on = 0;
	depth = 0;
}

PERF_LOCAL int by_start(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

/* Sort ranges and join adjacent ranges, so that one binary search finds an address. */
PERF_LOCAL void arrange(struct ranges *ranges)
{
	struct range *range = ranges->range;
	size_t i, last = 0;

	if (!range)
		return;
	qsort(range, ranges->count, sizeof(*range), by_start);
	for (i = 1; i < ranges->count; i++) {
		if (range[i].start > range[last].end)
			range[++last] = range[i];
		else if (range[i].end > range[last].end)
			range[last].end = range[i].end;
	}
	ranges->count = last + 1;
}

#define BLANKS	" \t\r\n\v\f"

/* Read a name, which is quoted if it has spaces. Returns the rest of the line, or NULL on error. */
PERF_LOCAL char *take_name(char *line, char **name)
{
	const char *end = *line == '"' && strcspn(line + 1, "\"") ? "\"" : BLANKS;
	char *after;

	*name = line + (*end == '"');
	after = *name + strcspn(*name, end);
	/* An unmatched quotation mark is part of the name. */
	if (*end == '"' && !*after) {
		*name = line;
		after = line + strcspn(line, BLANKS);
	}
	if (!*after || after - *name > NAME_MAX)
		return NULL;
	*after = '\0';
	return after + 1;
}

PERF_LOCAL bool take_address(char **at, uintptr_t *address)
{
	*at += strspn(*at, BLANKS);
	errno = 0;
	*address = strtoul(*at, at, 16);
	return !errno && (!**at || strchr(BLANKS, **at));
}

PERF_LOCAL int set_depth(const char *path, unsigned int number, const char *text)
{
	char *end;
	unsigned long most = strtoul(text, &end, 10);

	if (!most || most > PERF_DEPTH_MAX || end[strspn(end, BLANKS)])
		return perf_error("%s:%u: invalid line: write ^ N, with N from 1 to %d", path,
				  number, PERF_DEPTH_MAX);
	depth = (uint32_t)most;
	return 0;
}

PERF_LOCAL int add_line(const char *path, unsigned int number, char *line)
{
	enum perf_filter_set set = PERF_FILTER_RECORD;
	struct filter_object *object;
	uintptr_t start, end;
	struct ranges *ranges;
	struct range *more;
	char *at, *name;

	line += strspn(line, BLANKS);
	if (!*line || *line == '#')
		return 0;
	if (*line == '^' && strchr(BLANKS, line[1]))
		return set_depth(path, number, line + 1);
	if (strchr("><", *line) && strchr(BLANKS, line[1])) {
		set = *line == '>' ? PERF_FILTER_FROM : PERF_FILTER_TO;
		line += 1 + strspn(line + 1, BLANKS);
	}
	at = take_name(line, &name);
	if (!at || !take_address(&at, &start) || !take_address(&at, &end) ||
	    at[strspn(at, BLANKS)] || start >= end)
		return perf_error("%s:%u: invalid line: write OBJECT START END, with hexadecimal addresses",
				  path, number);

	object = find_filter_object(name);
	if (!object)
		return perf_error("out of memory");
	ranges = &object->set[set];
	more = realloc(ranges->range, (ranges->count + 1) * sizeof(*more));
	if (!more)
		return perf_error("out of memory");
	ranges->range = more;
	more[ranges->count++] = (struct range) { start, end };
	on |= 1u << set;
	return 0;
}

PERF_LOCAL const struct filter_object *object_of_file(const char *name)
{
	const struct filter_object *object;
	const char *slash = strrchr(name, '/');

	if (slash)
		name = slash + 1;
	for (object = filter_objects; object; object = object->next)
		if (!strcmp(object->name, name))
			return object;
	return NULL;
}

/*
 * Return the filter of the object loaded from @name, or the program's if @name is NULL or "".
 * Returns NULL if the object has no filter.
 */
PERF_LOCAL const struct filter_object *object_named(const char *name)
{
	const struct filter_object *object;

	if (name && *name)
		return object_of_file(name);
	object = object_of_file(program_invocation_name);
	return object ? object : object_of_file(program);
}

PERF_LOCAL int visit(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct table *table = argument;
	uintptr_t start = UINTPTR_MAX, end = 0;
	struct loaded *loaded;
	int i;

	(void)size;
	/* The first object is the program itself. */
	if (table->count == (CAN_FIND ? 1 : OBJECTS))
		return 1;
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

	loaded = &table->loaded[table->count++];
	*loaded = (struct loaded) { start, end, info->dlpi_addr,
				    object_named(info->dlpi_name) };
	return 0;
}

/* Find the currently loaded objects. */
PERF_LOCAL void update_table(void)
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

PERF_INTERNAL int perf_filter_load(const char *path)
{
	unsigned int number = 0, set;
	struct filter_object *object;
	char *line = NULL;
	size_t size = 0;
	ssize_t length;
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
	if (!rc && (on & (1u << PERF_FILTER_FROM | 1u << PERF_FILTER_TO)) == 1u << PERF_FILTER_TO)
		rc = perf_error("the filter %s has lines that begin with <, but none that begins with >: nothing would be recorded",
				path);
	free(line);
	fclose(file);
	if (rc) {
		forget_all();
		return rc;
	}

	for (object = filter_objects; object; object = object->next)
		for (set = 0; set < PERF_FILTER_SETS; set++)
			arrange(&object->set[set]);
	length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	program[length < 0 ? 0 : length] = '\0';
	/* An empty filter file selects no functions. */
	if (!(on & 1u << PERF_FILTER_FROM) && !depth)
		on |= 1u << PERF_FILTER_RECORD;
	update_table();
	return 0;
}

PERF_INTERNAL unsigned int perf_filter_on(void)
{
	return on;
}

PERF_INTERNAL uint32_t perf_filter_depth(void)
{
	return depth;
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

/* Look up a function whose object is not in the table. */
PERF_LOCAL bool find_other(uintptr_t function, struct loaded *found)
{
	const struct loaded *loaded;
#ifdef DLFO_STRUCT_HAS_EH_DBASE
	struct dl_find_object object;

	if (CAN_FIND) {
		if (_dl_find_object((void *)function, &object))
			return false;
		found->bias = object.dlfo_link_map->l_addr;
		found->object = object_named(object.dlfo_link_map->l_name);
		return true;
	}
#endif
	update_table();
	loaded = find_loaded(function);
	if (loaded)
		*found = *loaded;
	return loaded;
}

PERF_INTERNAL bool perf_filter_has(uintptr_t function, enum perf_filter_set set)
{
	const struct loaded *loaded = find_loaded(function);
	const struct range *range;
	struct loaded other;
	size_t low = 0, high;
	uintptr_t at;

	if (PERF_UNLIKELY(!loaded)) {
		if (!find_other(function, &other))
			return false;
		loaded = &other;
	}
	if (!loaded->object)
		return false;

	/* Find the last range that begins at or below the address. */
	at = function - loaded->bias;
	range = loaded->object->set[set].range;
	high = loaded->object->set[set].count;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (range[middle].start <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low && at < range[low - 1].end;
}
