/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The objects that were loaded while a trace was set up, also those that have gone:
 * dlclose() notes an object before it may be unloaded.
 */
#ifndef PERF_OBJECTS_H
#define PERF_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"

/* Objects that the side-car file can tell of, as its reader takes no more. */
#define PERF_OBJECTS	4096

/* Longest build id in use is SHA-1's; there is room for longer ones. */
#define PERF_BUILD_ID	32

/**
 * struct perf_object - an object in memory
 * @next:	the one that was noted after it
 * @start:	its first address
 * @end:	the address behind its last one
 * @bias:	what its addresses have more than those in its file
 * @begins:	it was not there at @from, in the trace's time
 * @ended:	it had gone at @to
 * @id_length:	bytes of @id, 0: it has none
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

/* Forget what an earlier trace had, and note what is loaded: a trace is set up. */
PERF_INTERNAL void perf_objects_begin(void);

/* Note what is loaded now, and what has gone since. */
PERF_INTERNAL void perf_objects_note(void);

/* Forget all, in a child made by fork(). */
PERF_INTERNAL void perf_objects_forget(void);

/* Call @each for each object, in the order in which they came. */
PERF_INTERNAL void perf_objects_each(void (*each)(const struct perf_object *object,
						  void *argument),
				     void *argument);

/* How many there were beyond PERF_OBJECTS. */
PERF_INTERNAL uint64_t perf_objects_left_out(void);

/* dlclose() that notes objects before and after. */
PERF_INTERNAL int perf_objects_close(void *handle);

#endif /* PERF_OBJECTS_H */
