/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The objects that were loaded at any time while a trace was set up: dlclose() records
 * loaded objects before it may unload one.
 */
#ifndef PERF_OBJECTS_H
#define PERF_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"
#include "object.h"

/* Limit imposed by the side-car file's reader. */
#define PERF_OBJECTS	4096

/* Called at set-up: forget an earlier trace's objects, and record the loaded objects. */
PERF_INTERNAL void perf_objects_begin(void);

/* Record newly loaded and unloaded objects. */
PERF_INTERNAL void perf_objects_note(void);

/* In a child of fork(): forget everything, or, in the shared library, only unloaded objects. */
PERF_INTERNAL void perf_objects_forget(void);

/* Call @each for each object, in order of loading. */
PERF_INTERNAL void perf_objects_each(perf_object_use *each, void *argument);

/* Return the number of objects beyond PERF_OBJECTS. */
PERF_INTERNAL uint64_t perf_objects_left_out(void);

/* Replaces dlclose() in the shared library: also records the objects before and after the call. */
PERF_INTERNAL int perf_objects_close(void *handle);

#endif /* PERF_OBJECTS_H */
