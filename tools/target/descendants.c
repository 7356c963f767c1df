// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See descendants.h. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../command.h"
#include "../text.h"
#include "../trace/meta.h"
#include "descendants.h"
#include "perf_ring.h"

#define LIBRARY		"libsifive-perf.so"

/* Maximum number of programs, of all processes together. */
#define IMAGES		65536

/* Size of a program's name, with its NUL. */
#define NAME_SIZE	16

/* An executable mapping of a program. */
struct code {
	char		*path;
	uint64_t	address, length, offset;
};

/**
 * struct descendants_image - a program in a process's memory
 * @from, @to:	times between which it ran, in nanoseconds; @to is UINT64_MAX if it has not ended
 * @base:	number of the image that fork() copied, from 1, or 0 if the process executed the
 *		program
 * @copied:	number of mappings that @base had when it was copied
 * @name:	name of the process in the kernel, or "" if unknown
 * @library:	set if the library is in its memory
 * @replaced:	set if the process has executed another program
 * @joined:	set if the library in it has written its file
 * @loaded:	number of programs with the library that the process has executed, or which loaded
 *		the library later
 * @part:	number of the file that the library writes: even for a copy
 * @executed:	number of programs that the process has executed from this one
 * @gone:	set if the process has ended, and its id now belongs to a process that is not a
 *		descendant
 * @code:	the @codes executable mappings, if @library is clear
 */
struct descendants_image {
	pid_t		pid, parent;
	uint64_t	from, to;
	size_t		base, copied;
	char		name[NAME_SIZE];
	bool		library, replaced, joined, gone;
	unsigned int	loaded, part, executed;
	struct code	*code;
	size_t		codes;
};

static uint64_t key_of(const void *array, uint32_t number)
{
	return (uint64_t)((const struct descendants_image *)array)[number - 1].pid;
}

static struct descendants_image *find(const struct descendants *d, pid_t pid)
{
	const uint32_t number = *hash_find(&d->index, (uint64_t)pid, key_of, d->image);
	struct descendants_image *image = number ? &d->image[number - 1] : NULL;

	return image && !image->gone ? image : NULL;
}

static struct descendants_image *insert(struct descendants *d, pid_t pid, pid_t parent,
					uint64_t time)
{
	struct descendants_image *image;

	if (d->count == IMAGES) {
		d->left_out++;
		return NULL;
	}
	d->changes++;
	image = &d->image[d->count++];
	*image = (struct descendants_image){
		.pid = pid, .parent = parent, .from = time, .to = UINT64_MAX,
	};
	*hash_find(&d->index, (uint64_t)pid, key_of, d->image) = (uint32_t)d->count;
	return image;
}

int descendants_open(struct descendants *d)
{
	d->index.bits = hash_bits(IMAGES);
	d->index.slot = calloc(1u << d->index.bits, sizeof(*d->index.slot));
	d->image = calloc(IMAGES, sizeof(*d->image));
	if (d->index.slot && d->image && insert(d, getpid(), getppid(), 0))
		return 0;
	report("out of memory");
	descendants_close(d);
	return -1;
}

static void free_code(struct descendants_image *image)
{
	while (image->codes)
		free(image->code[--image->codes].path);
	free(image->code);
	image->code = NULL;
}

void descendants_close(struct descendants *d)
{
	size_t i;

	for (i = 0; i < d->count; i++)
		free_code(&d->image[i]);
	free(d->index.slot);
	free(d->image);
	*d = (struct descendants){ .count = 0 };
}

/* ---- events ------------------------------------------------------------------ */

static void begin(struct descendants *d, const struct perf_task *task)
{
	const struct descendants_image *parent = find(d, (pid_t)task->parent);
	struct descendants_image *image = find(d, (pid_t)task->pid);

	if (!parent) {
		if (image)
			image->gone = true;
		return;
	}
	image = insert(d, (pid_t)task->pid, (pid_t)task->parent, perf_ring_time(&task->header));
	if (!image)
		return;
	image->base = (size_t)(parent - d->image) + 1;
	image->copied = parent->codes;
	image->library = parent->library;
	memcpy(image->name, parent->name, sizeof(image->name));
}

static void end(struct descendants *d, const struct perf_task *task)
{
	struct descendants_image *image = find(d, (pid_t)task->pid);

	if (image)
		image->to = perf_ring_time(&task->header);
}

static void execute(struct descendants *d, const struct perf_comm *comm)
{
	struct descendants_image *old = find(d, (pid_t)comm->pid), *image;

	if (!old)
		return;
	old->executed++;
	if (!d->programs)
		return;
	old->to = perf_ring_time(&comm->header);
	old->replaced = true;
	image = insert(d, old->pid, old->parent, old->to);
	if (!image)
		return;
	image->loaded = old->loaded;
	snprintf(image->name, sizeof(image->name), "%s", comm->name);
}

/*
 * Add a mapping to the process's program. The program's own file is the first mapping: the kernel
 * maps it before the loader, which maps the library.
 */
static void map(struct descendants *d, const struct perf_mapping *mapping)
{
	struct descendants_image *image = find(d, (pid_t)mapping->pid);
	struct code code = {
		.address = mapping->address, .length = mapping->length,
		.offset = mapping->offset,
	}, *more;

	if (image && !image->library &&
	    !strncmp(text_base(mapping->path), LIBRARY, strlen(LIBRARY))) {
		image->library = true;
		image->part = 2 * image->loaded++ + 1;
		free_code(image);
	}
	if (!image || image->library)
		return;
	code.path = strdup(mapping->path);
	more = code.path ? reallocarray(image->code, image->codes + 1, sizeof(*more)) : NULL;
	if (!more) {
		free(code.path);
		d->missed++;
		return;
	}
	image->code = more;
	more[image->codes++] = code;
	d->changes++;
	d->mapped = true;
}

void descendants_event(struct descendants *d, const struct perf_event_header *record)
{
	const struct perf_comm *comm = (const void *)record;
	const struct perf_task *task = (const void *)record;
	const struct perf_mapping *mapping = (const void *)record;
	/* Ignore the starts and ends of a process's other threads. */
	const bool is_process = record->size >= sizeof(*task) + PERF_TIME_SIZE &&
				task->pid == task->tid;

	if (record->type == PERF_RECORD_FORK && is_process)
		begin(d, task);
	else if (record->type == PERF_RECORD_EXIT && is_process)
		end(d, task);
	else if (d->programs && record->type == PERF_RECORD_MMAP2 &&
		 record->size > sizeof(*mapping) + PERF_TIME_SIZE)
		map(d, mapping);
	else if (record->type == PERF_RECORD_COMM &&
		 record->misc & PERF_RECORD_MISC_COMM_EXEC &&
		 record->size > sizeof(*comm) + PERF_TIME_SIZE)
		execute(d, comm);
}

/* ---- processes that have not joined --------------------------------------- */

static bool has_joined(const struct tree *tree, const struct descendants_image *image)
{
	char path[TREE_DIR + 32];

	snprintf(path, sizeof(path), "%s/%d.%u", tree->dir, (int)image->pid, image->part);
	return !access(path, F_OK);
}

/* Add the objects of the first @count mappings, and of the mappings that fork() copied. */
static void add_objects(const struct descendants *d, const struct descendants_image *image,
			size_t count, struct objects *objects)
{
	const struct code *code;
	size_t i;

	for (;;) {
		for (i = 0; i < count; i++) {
			code = &image->code[i];
			objects_add_code(objects, code->path, code->address, code->length,
					 code->offset);
		}
		if (!image->base)
			return;
		count = image->copied;
		image = &d->image[image->base - 1];
		/* An image has no mappings once the library is in its memory. */
		if (count > image->codes)
			count = image->codes;
	}
}

/* Return the path of the program, or NULL if unknown. */
static char *program_of(const struct descendants *d, const struct descendants_image *image)
{
	while (image->base)
		image = &d->image[image->base - 1];
	return image->codes ? image->code[0].path : NULL;
}

static void describe(const struct descendants *d, const struct descendants_image *image,
		     char **argv, struct tree *tree, const struct trigger_clock *clock)
{
	struct objects objects = { .count = 0 };
	const struct tree_process process = {
		.pid = image->pid, .parent = image->parent, .exe = program_of(d, image),
		.from = clock->hz ? trigger_ticks(clock, image->from) : 0,
		.to = clock->hz && image->to != UINT64_MAX ? trigger_ticks(clock, image->to) : 0,
		.argv = argv, .outside = true,
	};

	add_objects(d, image, image->codes, &objects);
	tree_add(tree, &process, &objects, false);
	objects_free(&objects);
}

static void name(struct descendants_rest *rest, const char *program)
{
	const size_t used = strlen(rest->names);
	const char *at = rest->names;
	size_t length;

	while (*at) {
		length = strcspn(at, ",");
		if (length == strlen(program) && !strncmp(at, program, length))
			return;
		at += length;
		at += strspn(at, ", ");
	}
	if (used + strlen(program) + 3 < sizeof(rest->names))
		sprintf(rest->names + used, "%s%s", used ? ", " : "", program);
}

void descendants_rest(struct descendants *d, pid_t program, char **argv, struct tree *tree,
		      const struct trigger_clock *clock, struct descendants_rest *rest)
{
	size_t described = tree_count(tree), i;
	struct descendants_image *image;
	bool first = true, begins;

	*rest = (struct descendants_rest){ .left_out = d->left_out };
	/*
	 * Skip the first image, which is this process; the program's process begins as a copy of
	 * it.
	 */
	for (i = 1; i < d->count; i++) {
		image = &d->image[i];
		/* A copy that executes a program need not have joined: see vfork(2). */
		if (image->library ? image->replaced && !image->part :
				     !image->base || image->replaced)
			continue;
		image->joined = has_joined(tree, image);
		rest->lost += image->library && !image->joined;
	}
	for (i = 1; i < d->count; i++) {
		image = &d->image[i];
		/* Only the first program of the process is the one that the command runs. */
		begins = first && image->pid == program && !image->base;
		first &= !begins;
		/*
		 * Omit images with the library, copies that have joined, copies of this process,
		 * and copies that ran only until they executed a program.
		 */
		if (image->library || image->joined || image->base == 1 ||
		    (image->base && image->replaced))
			continue;
		/* Processes that have joined take precedence in the side-car file. */
		if (described++ < META_PROCESSES_MAX)
			describe(d, image, begins ? argv : NULL, tree, clock);
		else
			rest->left_out++;
		if (!begins && !image->replaced) {
			rest->others++;
			name(rest, image->name);
		}
	}
}

size_t descendants_children(const struct descendants *d, pid_t program)
{
	size_t children = 0, i;

	for (i = 1; i < d->count; i++)
		children += d->image[i].base && d->image[i].pid != program;
	return children;
}

bool descendants_replaced(const struct descendants *d, pid_t program)
{
	const struct descendants_image *image = find(d, program);

	/* The first program that the process executes is the one that the command runs. */
	return image && image->executed > 1;
}

size_t descendants_running(const struct descendants *d, pid_t program)
{
	size_t running = 0, i;

	for (i = 1; i < d->count; i++)
		running += d->image[i].to == UINT64_MAX && !d->image[i].gone &&
			   d->image[i].pid != program;
	return running;
}
