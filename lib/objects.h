/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The objects that were loaded while a trace was set up, including unloaded ones:
 * dlclose() notes an object before it may be unloaded.
 */
#ifndef PERF_OBJECTS_H
#define PERF_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"

/* Limit of the side-car file's reader. */
#define PERF_OBJECTS	4096

/* SHA-1 build-ids are the longest in use; there is room for longer ones. */
#define PERF_BUILD_ID	32

/**
 * struct perf_object - a loaded object
 * @next:	the object that was noted after it
 * @start:	its first address
 * @end:	its end, exclusive
 * @bias:	load bias: address in memory minus address in the file
 * @begins:	it was loaded after @from, in the trace's time
 * @ended:	it was unloaded before @to
 * @id_length:	bytes of @id, 0 for none
 * @id:		its build id
 * @path:	its file
 * @name:	the loader's name for it
 */
struct perf_object {
	struct perf_object *next;
	uintptr_t start, end, bias;
	bool begins, ended, seen;
	uint64_t from, to;
	size_t id_length;
	unsigned char id[PERF_BUILD_ID];
	char *name;
	char path[];
};

/* Called at set-up: forget an earlier trace's objects, and note the loaded ones. */
PERF_INTERNAL void perf_objects_begin(void);

/* Note newly loaded and unloaded objects. */
PERF_INTERNAL void perf_objects_note(void);

/* Forget everything, in a child of fork(). */
PERF_INTERNAL void perf_objects_forget(void);

/* Call @each for each object, in order of loading. */
PERF_INTERNAL void perf_objects_each(void (*each)(const struct perf_object *object,
						  void *argument),
				     void *argument);

/* The number of objects beyond PERF_OBJECTS. */
PERF_INTERNAL uint64_t perf_objects_left_out(void);

/* dlclose() that notes the objects before and after. */
PERF_INTERNAL int perf_objects_close(void *handle);

#endif /* PERF_OBJECTS_H */
