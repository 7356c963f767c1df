// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See objects.h. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../command.h"
#include "../trace/meta.h"
#include "jit_dumps.h"
#include "objects.h"
#include "proc.h"

/* Size limit for the objects' text in a side-car file. */
#define BYTES_MAX	(META_BYTES_MAX / 4 * 3)

/*
 * Error of the pair of clock readings, in nanoseconds; NTP changes the rate of CLOCK_MONOTONIC by
 * at most 1/CLOCK_DRIFT. Without these limits, readers would decode an object's code where generated
 * code replaces it, within this error.
 */
#define CLOCK_ERROR	10000
#define CLOCK_DRIFT	2000

/* Maximum length of an object's text, excluding its path. */
#define BYTES_EACH	(ELF_BUILD_ID_SIZE + 192)

static bool is_vdso(const char *path)
{
	return !strcmp(path, META_VDSO);
}

/* Return whether @path is the name of code that the kernel maps into processes without a file. */
static bool is_kernels(const char *path)
{
	return is_vdso(path) || !strcmp(path, META_PROBES);
}

/*
 * Read a file's build-id and segments. Return false for a readable file that is not a program.
 */
static bool look_at_file(const struct objects *objects, struct object *object,
			 uint64_t offset)
{
	const char *path = object->path;
	char copy[PATH_MAX];
	struct elf elf;
	int error;

	if (is_vdso(path)) {
		snprintf(copy, sizeof(copy), "%s/" META_VDSO, objects->files);
		path = copy;
	}
	error = elf_open(path, ELF_BEGINNING, &elf);
	if (!error) {
		elf_build_id(&elf, object->build_id);
		object->bias = elf_bias(&elf, object->start, offset);
	}
	elf_close(&elf);
	return error != ENOEXEC;
}

static bool is_current(const struct object *object)
{
	return object->to == UINT64_MAX;
}

/*
 * Return an object of the same file that contains all of @found's addresses. The bias of @found
 * need not be known.
 */
static struct object *containing(const struct objects *objects, const struct object *found)
{
	size_t i;

	for (i = 0; i < objects->count; i++)
		if (is_current(&objects->object[i]) && !objects->object[i].unknown &&
		    objects->object[i].start <= found->start &&
		    objects->object[i].end >= found->end &&
		    !strcmp(objects->object[i].path, found->path))
			return &objects->object[i];
	return NULL;
}

/* Return an object of the same file, with the same bias, that overlaps @found. */
static struct object *overlapping(const struct objects *objects, const struct object *found)
{
	size_t i;

	for (i = 0; i < objects->count; i++)
		if (is_current(&objects->object[i]) && !objects->object[i].unknown &&
		    objects->object[i].start < found->end &&
		    objects->object[i].end > found->start &&
		    objects->object[i].bias == found->bias &&
		    !strcmp(objects->object[i].path, found->path))
			return &objects->object[i];
	return NULL;
}

static void append(struct objects *objects, const struct object *found)
{
	struct object *more;

	more = realloc(objects->object, (objects->count + 1) * sizeof(*more));
	if (!more) {
		free(found->path);
		return;
	}
	objects->object = more;
	more[objects->count++] = *found;
}

/*
 * Extend an object by an overlapping mapping: execve() maps a program's first segment with the size
 * of the whole program, and then shortens it.
 */
static void extend(struct object *object, const struct object *found)
{
	if (found->start < object->start)
		object->start = found->start;
	if (found->end > object->end)
		object->end = found->end;
	object->seen = found->seen;
	if (object->pid != found->pid)
		object->pid = 0;
}

static bool overlap(const struct object *one, const struct object *other)
{
	return one->start < other->end && other->start < one->end;
}

/* Add the part of object number @i from @start to @end, which begins at @time. */
static void keep_part(struct objects *objects, size_t i, uint64_t start, uint64_t end,
		      uint64_t time)
{
	struct object part = objects->object[i];

	part.path = strdup(part.path);
	part.start = start;
	part.end = end;
	part.time = part.from = time;
	part.from_error = -1;
	part.to = UINT64_MAX;
	if (part.path)
		append(objects, &part);
}

/*
 * End the objects that the process of @found had mapped at the addresses of @found. Unknown code
 * replaces only its own addresses, because a program can change some pages of an object. Once there
 * are more objects than a reader accepts, end none of them, so that the objects become ambiguous.
 * Otherwise, a program that repeatedly loads the same few objects in turn would add an object at
 * each load.
 */
static void replace(struct objects *objects, struct object *found)
{
	const size_t count = objects->count;
	size_t i;

	if (!found->time || count >= META_OBJECTS_MAX)
		return;
	for (i = 0; i < count; i++) {
		struct object other = objects->object[i];

		if (!is_current(&other) || !overlap(&other, found) || !other.pid ||
		    other.pid != found->pid || other.time >= found->time)
			continue;
		objects->object[i].to = found->time;
		objects->object[i].to_error = found->unknown ? -1 : 0;
		found->from = found->time;
		found->from_error |= !found->unknown && other.unknown;
		if (found->unknown && other.start < found->start)
			keep_part(objects, i, other.start, found->start, found->time);
		if (found->unknown && other.end > found->end)
			keep_part(objects, i, found->end, other.end, found->time);
	}
}

/* Return whether a process has changed code of the same file that @found overlaps. */
static bool is_changed(const struct objects *objects, const struct object *found)
{
	size_t i;

	for (i = 0; i < objects->count; i++)
		if (objects->object[i].unknown && is_current(&objects->object[i]) &&
		    objects->object[i].pid == found->pid &&
		    overlap(&objects->object[i], found) &&
		    !strcmp(objects->object[i].path, found->path))
			return true;
	return false;
}

/*
 * Add code that no file contains, because it replaces the code of objects at its addresses. If it
 * overlaps none, it is needed only if an object replaces it later, so there is a limit for programs
 * that generate code all the time.
 */
static void add_unknown(struct objects *objects, const char *path, const struct object *mapping)
{
	struct object found = *mapping;
	bool overlaps = false;
	size_t i;

	found.unknown = true;
	found.seen = ++objects->found;
	found.to = UINT64_MAX;
	for (i = 0; i < objects->count; i++) {
		const struct object *other = &objects->object[i];

		if (other->unknown && is_current(other) && other->pid == found.pid &&
		    other->start <= found.start && other->end >= found.end)
			return;
		overlaps |= !other->unknown && overlap(other, &found);
	}
	if (!overlaps && objects->count >= META_OBJECTS_MAX / 2)
		return;
	found.path = strdup(path);
	if (!found.path)
		return;
	replace(objects, &found);
	append(objects, &found);
}

/*
 * If a file has the flag TEXTREL, the loader makes its code writable, and then only executable again.
 * On RISC-V, linkers set this flag even if there is nothing to relocate.
 */
static bool relocates_code(const char *path)
{
	struct elf elf;
	bool relocates = !elf_open(path, ELF_ALL, &elf) && elf_relocates_code(&elf);

	elf_close(&elf);
	return relocates;
}

/*
 * Return whether a process has mapped a part of an object again. A loader maps a whole object, so
 * this is a change of protection, which allowed the process to write to the part.
 */
static bool is_part_again(const struct object *known, const struct object *found)
{
	return found->time > known->time && (!known->pid || known->pid == found->pid) &&
	       (known->start < found->start || known->end > found->end) &&
	       !relocates_code(found->path);
}

/* Add @mapping, which maps a file from @offset: extend the file's known object, or append one. */
static void add(struct objects *objects, const char *path, const struct object *mapping,
		uint64_t offset)
{
	struct object found = *mapping;
	struct object *known;

	found.path = strdup(path);
	found.bias = found.start - offset;
	found.seen = ++objects->found;
	found.to = UINT64_MAX;
	if (!found.path)
		return;
	if (is_changed(objects, &found)) {
		free(found.path);
		return;
	}
	known = containing(objects, &found);
	if (known && is_part_again(known, &found)) {
		add_unknown(objects, path, mapping);
		free(found.path);
		return;
	}
	if (!known && look_at_file(objects, &found, offset)) {
		known = overlapping(objects, &found);
		if (!known) {
			replace(objects, &found);
			append(objects, &found);
			return;
		}
	}
	if (known)
		extend(known, &found);
	free(found.path);
}

void objects_map(struct objects *objects, pid_t pid, uint64_t time, const char *path,
		 uint64_t address, uint64_t length, uint64_t offset)
{
	const struct object mapping = {
		.start = address, .end = address + length, .pid = pid, .time = time,
	};

	if (objects->files && is_kernels(path))
		add(objects, path, &mapping, 0);
	/* perf's names for mappings without a path: "//anon", "//enomem" and "//toolong". */
	else if (*path == '/' && strncmp(path, "//", 2) && strncmp(path, "/dev/", 5) &&
		 !jit_dumps_is(path))
		add(objects, path, &mapping, offset);
	else if (time && *path != '[')
		add_unknown(objects, path, &mapping);
}

void objects_map_writable(struct objects *objects, pid_t pid, uint64_t time, const char *path,
			  uint64_t address, uint64_t length)
{
	const struct object mapping = {
		.start = address, .end = address + length, .pid = pid, .time = time,
	};

	if (!relocates_code(path))
		add_unknown(objects, path, &mapping);
}

void objects_add_code(struct objects *objects, const char *path,
		      uint64_t address, uint64_t length, uint64_t offset)
{
	objects_map(objects, 0, 0, path, address, length, offset);
}

void objects_add_kernel(struct objects *objects, uint64_t start, uint64_t end)
{
	const struct object found = {
		.path = strdup(META_KERNEL), .start = start, .end = end, .seen = UINT64_MAX,
		.to = UINT64_MAX,
	};

	if (found.path)
		append(objects, &found);
}

void objects_fork(struct objects *objects, pid_t pid)
{
	size_t i;

	for (i = 0; i < objects->count; i++)
		if (objects->object[i].pid == pid)
			objects->object[i].pid = 0;
}

/* Record only code, because other segments contain no functions. */
void objects_add(struct objects *objects, pid_t pid)
{
	char line[PATH_MAX + 128], path[PATH_MAX];
	uint64_t start, end, offset;
	FILE *maps;

	snprintf(path, sizeof(path), "%s/%d/maps", proc_dir(), (int)pid);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*2c%*1[x]%*c %" SCNx64
			   " %*s %*s %4095[^\n]", &start, &end, &offset,
			   path) == 4)
			objects_map(objects, pid, 0, path, start, end - start, offset);
	if (maps)
		fclose(maps);
}

static int add_other(void *objects, pid_t pid)
{
	if (pid != getpid())
		objects_add(objects, pid);
	return 0;
}

void objects_add_all(struct objects *objects)
{
	proc_each(proc_dir(), add_other, objects);
}

static int by_address(const void *left, const void *right)
{
	const struct object * const *a = left, * const *b = right;

	return ((*a)->start > (*b)->start) - ((*a)->start < (*b)->start);
}

static int oldest_first(const void *left, const void *right)
{
	const struct object * const *a = left, * const *b = right;

	return (*a > *b) - (*a < *b);
}

static int newest_first(const void *left, const void *right)
{
	const struct object * const *a = left, * const *b = right;

	return ((*a)->seen < (*b)->seen) - ((*a)->seen > (*b)->seen);
}

/* Return whether two objects share an address at the same time. */
static bool collide(const struct objects *objects, const struct object *one,
		    const struct object *other)
{
	return overlap(one, other) &&
	       (!objects->clock.hz || (one->from < other->to && other->from < one->to));
}

/*
 * Store in @list the objects of files that do not collide with other objects; return their number.
 * In address order, an object can collide only with objects that begin before its end.
 */
static size_t choose(struct objects *objects, const struct object **list)
{
	size_t count = objects->count, kept = 0, i, n;
	bool *collides = calloc(count + 1, sizeof(*collides));

	for (i = 0; collides && i < count; i++)
		list[i] = &objects->object[i];
	if (collides)
		qsort(list, count, sizeof(*list), by_address);
	for (i = 0; collides && i < count; i++) {
		for (n = i + 1; n < count && list[n]->start < list[i]->end; n++)
			if (collide(objects, list[i], list[n]))
				collides[i] = collides[n] = true;
		objects->ambiguous += collides[i] && !list[i]->unknown;
		if (!collides[i] && !list[i]->unknown)
			list[kept++] = list[i];
	}
	free(collides);
	return kept;
}

/*
 * Return an upper bound for the length of an object's text; an escaped JSON character takes up to 6
 * bytes.
 */
static size_t bytes_of(const struct object *object)
{
	const signed char *c = (const signed char *)object->path;
	size_t bytes = BYTES_EACH;

	for (; *c; c++)
		bytes += *c < 0x20 || *c == 0x7f || strchr("\"\\<", *c) ? 6 : 1;
	return bytes;
}

/* Return a time in ticks, after the clocks' maximum error has been added in direction @error. */
static uint64_t ticks_of(const struct objects *objects, uint64_t ns, int error)
{
	const uint64_t most = CLOCK_ERROR + (objects->clock.ns - ns) / CLOCK_DRIFT;

	if (error < 0)
		ns = ns > most ? ns - most : 0;
	else if (error)
		ns = ns + most < objects->clock.ns ? ns + most : objects->clock.ns;
	return trigger_ticks(&objects->clock, ns);
}

static uint64_t first_tick(const struct objects *objects, const struct object *object)
{
	return object->from ? ticks_of(objects, object->from, object->from_error) : 0;
}

static uint64_t end_tick(const struct objects *objects, const struct object *object)
{
	return ticks_of(objects, object->to, object->to_error);
}

/* Return whether the object was replaced before the trace's clock started, or within one tick. */
static bool is_too_short(const struct objects *objects, const struct object *object)
{
	return objects->clock.hz && !is_current(object) &&
	       end_tick(objects, object) <= first_tick(objects, object);
}

static void write_one(const struct objects *objects, const struct object *object,
		      struct output *output)
{
	put_string(output, "\n{\"path\":");
	put_json(output, object->path);
	if (*object->build_id) {
		put_string(output, ",\"build_id\":");
		put_json(output, object->build_id);
	}
	put_format(output, ",\"start\":%" PRIu64 ",\"end\":%" PRIu64
		   ",\"bias\":%" PRIu64, object->start, object->end,
		   object->bias);
	if (objects->clock.hz && object->from)
		put_format(output, ",\"from\":%" PRIu64, first_tick(objects, object));
	if (objects->clock.hz && !is_current(object))
		put_format(output, ",\"to\":%" PRIu64, end_tick(objects, object) - 1);
	put_char(output, '}');
}

void objects_write(struct objects *objects, struct output *output, bool newest)
{
	const struct object **list = calloc(objects->count + 1, sizeof(*list));
	size_t count = 0, bytes = 0, written = 0, i;

	objects->ambiguous = 0;
	if (list)
		count = choose(objects, list);
	objects->left_out = list ? count : objects->count;
	if (count)
		qsort(list, count, sizeof(*list),
		      newest ? newest_first : oldest_first);
	put_string(output, "\"objects\":[");
	for (i = 0; i < count && written < META_OBJECTS_MAX; i++) {
		if (!is_too_short(objects, list[i])) {
			bytes += bytes_of(list[i]);
			if (bytes > BYTES_MAX)
				break;
			put_string(output, written++ ? "," : "");
			write_one(objects, list[i], output);
		}
		objects->left_out--;
	}
	put_string(output, "],\n");
	free(list);
}

size_t objects_write_shared(const struct objects *shared, struct output *output)
{
	size_t i;

	for (i = 0; i < shared->count; i++) {
		put_string(output, i ? "," : "");
		write_one(shared, &shared->object[i], output);
	}
	return shared->count;
}

void objects_report(const struct objects *objects)
{
	if (objects->missed)
		report("up to %" PRIu64 " loads of programs or shared objects were missed: some addresses may have no names",
		       objects->missed);
	if (objects->late)
		report("%" PRIu64 " CPU%s came online during the recording: some programs, shared objects and threads may have no names",
		       objects->late, objects->late == 1 ? "" : "s");
	if (objects->ambiguous)
		report("%" PRIu64 " programs and shared objects had the same addresses as others: these addresses have no names",
		       objects->ambiguous);
	if (objects->left_out)
		report("%" PRIu64 " programs and shared objects do not fit into the side-car file: addresses in them have no names; record for a shorter time",
		       objects->left_out);
}

void objects_free(struct objects *objects)
{
	size_t i;

	for (i = 0; i < objects->count; i++)
		free(objects->object[i].path);
	free(objects->object);
	memset(objects, 0, sizeof(*objects));
}
