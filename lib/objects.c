// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bind.h"
#include "error.h"
#include "join.h"
#include "joined.h"
#include "namespace.h"
#include "object.h"
#include "objects.h"
#include "session.h"

static struct perf_object *objects, **objects_end = &objects;
static unsigned int objects_count;
static uint64_t left_out;

/* Time of the latest check; new objects that the next check finds were loaded after that time. */
static struct {
	bool timed;
	uint64_t time;
} looked;

/* Separate from the session's lock, which a thread may hold while it waits for the loader. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

PERF_LOCAL bool is_same(const struct perf_object *a, const struct perf_object *b,
			const char *name)
{
	return a->start == b->start && a->end == b->end &&
	       a->id_length == b->id_length &&
	       !memcmp(a->id, b->id, a->id_length) && !strcmp(a->name, name);
}

/* Return the latest recorded object whose addresses overlap those of @found. */
PERF_LOCAL struct perf_object *last_at(const struct perf_object *found)
{
	struct perf_object *object, *last = NULL;

	for (object = objects; object; object = object->next)
		if (object->start < found->end && found->start < object->end)
			last = object;
	return last;
}

PERF_LOCAL void add_object(const struct perf_object *found, const char *name)
{
	char path[PATH_MAX];
	struct perf_object *object;

	if (!perf_object_path(name, path))
		return;
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
	object->path = strcpy((char *)(object + 1), path);
	object->name = strcpy((char *)(object + 1) + strlen(path) + 1, name);
	/* Another thread may call fork(), so the list must be valid at any time. */
	__atomic_store_n(objects_end, object, __ATOMIC_RELEASE);
	objects_end = &object->next;
	objects_count++;
}

PERF_LOCAL int note_object(struct dl_phdr_info *info, size_t size, void *unused)
{
	const char *name = info->dlpi_name ? info->dlpi_name : "";
	struct perf_object found, *last;

	(void)size;
	(void)unused;
	if (!perf_object_read(info, &found))
		return 0;
	last = last_at(&found);
	if (!last || !is_same(last, &found, name)) {
		add_object(&found, name);
		return 0;
	}
	/* Since this object was recorded, no other object has used its addresses. */
	last->ended = false;
	last->seen = true;
	return 0;
}

PERF_LOCAL void note_locked(void)
{
	struct perf_object *object;
	unsigned int n;

	for (object = objects; object; object = object->next)
		object->seen = false;
	for (n = 0; perf_namespace_each(n, note_object, NULL); n++)
		;
	looked.timed = perf_joined_time(&looked.time);
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

/* Nothing is freed, because fork() may have interrupted another thread's change of the list. */
PERF_INTERNAL void perf_objects_forget(void)
{
	struct perf_object *object = PERF_MEMBER ? objects : NULL;

	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	objects_end = &objects;
	objects_count = 0;
	looked.timed = false;
	for (; object; object = object->next) {
		if (object->ended)
			continue;
		object->begins = false;
		*objects_end = object;
		objects_end = &object->next;
		objects_count++;
	}
	*objects_end = NULL;
}

PERF_INTERNAL void perf_objects_each(perf_object_use *each, void *argument)
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

#ifdef PERF_SHARED
/* If the C library precedes this library, RTLD_NEXT finds no dlclose(), but RTLD_DEFAULT does. */
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
	int rc, cancelable;

	if (!noted)
		return close_next(handle);
	/* A thread cancelled while recording objects would block all other threads forever. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelable);
	perf_bind_late();
	perf_objects_note();
	rc = close_next(handle);
	perf_objects_note();
	pthread_setcancelstate(cancelable, NULL);
	return rc;
}

PERF_API int dlclose(void *handle) __attribute__((alias("perf_objects_close")));
#endif
