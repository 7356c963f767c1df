// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bind.h"
#include "error.h"
#include "objects.h"
#include "session.h"

static struct perf_object *objects, **objects_end = &objects;
static unsigned int objects_count;
static uint64_t left_out;

/* Time of the last look: new objects were loaded after it. */
static struct {
	bool timed;
	uint64_t time;
} looked;

/* Not the session's lock, which a thread may hold while it waits for the loader. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

PERF_LOCAL void find_build_id(struct perf_object *object, const char *note, size_t size)
{
	const size_t header = sizeof(ElfW(Nhdr));

	while (size >= header) {
		const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)(const void *)note;
		size_t name = (n->n_namesz + 3) & ~(size_t)3;
		size_t data = (n->n_descsz + 3) & ~(size_t)3;

		if (name > size - header || data > size - header - name)
			return;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 &&
		    !memcmp(note + header, "GNU", 4) &&
		    n->n_descsz <= PERF_BUILD_ID) {
			object->id_length = n->n_descsz;
			memcpy(object->id, note + header + name, n->n_descsz);
			return;
		}
		note += header + name + data;
		size -= header + name + data;
	}
}

/* The range and build-id of an object; false for one without a file. */
PERF_LOCAL bool read_object(const struct dl_phdr_info *info, struct perf_object *found)
{
	uintptr_t vdso = (uintptr_t)getauxval(AT_SYSINFO_EHDR);
	int i;

	*found = (struct perf_object){
		.start = UINTPTR_MAX, .bias = info->dlpi_addr,
	};
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + phdr->p_vaddr;

		if (phdr->p_type == PT_NOTE)
			find_build_id(found, (const char *)from, phdr->p_memsz);
		if (phdr->p_type != PT_LOAD)
			continue;
		if (from < found->start)
			found->start = from;
		if (from + phdr->p_memsz > found->end)
			found->end = from + phdr->p_memsz;
	}
	return found->start < found->end &&
	       !(vdso && vdso - found->start < found->end - found->start);
}

PERF_LOCAL bool is_same(const struct perf_object *a, const struct perf_object *b,
			const char *name)
{
	return a->start == b->start && a->end == b->end &&
	       a->id_length == b->id_length &&
	       !memcmp(a->id, b->id, a->id_length) && !strcmp(a->name, name);
}

/* The last object that overlaps an object's addresses. */
PERF_LOCAL struct perf_object *last_at(const struct perf_object *found)
{
	struct perf_object *object, *last = NULL;

	for (object = objects; object; object = object->next)
		if (object->start < found->end && found->start < object->end)
			last = object;
	return last;
}

/*
 * The path of an existing file, without links, from the kernel: realpath() would link 2 KB
 * of the C library.
 */
PERF_LOCAL bool find_path(const char *name, char *path)
{
	int fd = open(name, O_PATH | O_CLOEXEC);
	struct stat status;
	ssize_t length;
	char link[32];

	if (fd < 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, PATH_MAX - 1);
	close(fd);
	path[length < 0 ? 0 : length] = '\0';
	return !stat(path, &status);
}

PERF_LOCAL void add_object(const struct perf_object *found, const char *name)
{
	char path[PATH_MAX];
	struct perf_object *object;

	/* The file may have been deleted: its name is still the object's. */
	if (!find_path(*name ? name : "/proc/self/exe", path)) {
		if (*name != '/' || strlen(name) >= sizeof(path))
			return;
		strcpy(path, name);
	}
	object = objects_count < PERF_OBJECTS ?
		 malloc(sizeof(*object) + strlen(path) + strlen(name) + 2) : NULL;
	if (!object) {
		left_out++;
		return;
	}
	*object = *found;
	object->begins = looked.timed;
	object->from = looked.time;
	object->seen = true;
	strcpy(object->path, path);
	object->name = object->path + strlen(path) + 1;
	strcpy(object->name, name);
	*objects_end = object;
	objects_end = &object->next;
	objects_count++;
}

PERF_LOCAL int note_object(struct dl_phdr_info *info, size_t size, void *unused)
{
	const char *name = info->dlpi_name ? info->dlpi_name : "";
	struct perf_object found, *last;

	(void)size;
	(void)unused;
	if (!read_object(info, &found))
		return 0;
	last = last_at(&found);
	if (!last || !is_same(last, &found, name)) {
		add_object(&found, name);
		return 0;
	}
	/* No later object was at these addresses. */
	last->ended = false;
	last->seen = true;
	return 0;
}

PERF_LOCAL void note_locked(void)
{
	struct perf_object *object;

	for (object = objects; object; object = object->next)
		object->seen = false;
	dl_iterate_phdr(note_object, NULL);
	looked.timed = perf_pool_time(&looked.time);
	for (object = objects; object; object = object->next) {
		if (object->seen || object->ended)
			continue;
		object->ended = looked.timed;
		object->to = looked.time;
	}
}

PERF_INTERNAL void perf_objects_note(void)
{
	pthread_mutex_lock(&lock);
	note_locked();
	pthread_mutex_unlock(&lock);
}

PERF_INTERNAL void perf_objects_begin(void)
{
	struct perf_object *object;

	pthread_mutex_lock(&lock);
	while (objects) {
		object = objects;
		objects = object->next;
		free(object);
	}
	objects_end = &objects;
	objects_count = 0;
	left_out = 0;
	looked.timed = false;
	note_locked();
	pthread_mutex_unlock(&lock);
}

/* Not freed: another thread may have been changing the list when the child was made. */
PERF_INTERNAL void perf_objects_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	objects = NULL;
	objects_end = &objects;
	objects_count = 0;
}

PERF_INTERNAL void perf_objects_each(void (*each)(const struct perf_object *object,
						  void *argument),
				     void *argument)
{
	const struct perf_object *object;

	pthread_mutex_lock(&lock);
	for (object = objects; object; object = object->next)
		each(object, argument);
	pthread_mutex_unlock(&lock);
}

PERF_INTERNAL uint64_t perf_objects_left_out(void)
{
	return left_out;
}

/* ---- dlclose() ------------------------------------------------------------ */

/* Absent from static programs, which cannot close objects. */
#pragma weak dlsym

/* If the C library precedes this one, RTLD_NEXT finds another dlclose() first. */
PERF_LOCAL int close_next(void *handle)
{
	void *next = dlsym(RTLD_NEXT, "dlclose");

	if (!next)
		next = dlsym(RTLD_DEFAULT, "dlclose");
	return ((int (*)(void *))(uintptr_t)next)(handle);
}

PERF_INTERNAL int perf_objects_close(void *handle)
{
	const bool noted = perf_session.state >= PERF_SESSION_READY;
	int rc;

	if (noted) {
		perf_bind_late();
		perf_objects_note();
	}
	rc = close_next(handle);
	if (noted)
		perf_objects_note();
	return rc;
}

#ifdef PERF_SHARED
PERF_API int dlclose(void *handle) __attribute__((alias("perf_objects_close")));
#endif
