/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which function an object's calls of the hooks reach.
 *
 * The C library has empty hooks. Where the program itself is not linked with this
 * library, they come first in the search order: objects that have hooks, and this
 * library with them, call the empty ones. Their pointers are changed to the library's.
 * So are pointers to dlclose(), see objects.h.
 */
#ifndef PERF_BIND_H
#define PERF_BIND_H

#include <stdbool.h>

#include "compiler.h"

/**
 * perf_bind - have the hooks of all loaded objects, and dlclose(), reach the library
 * @hooks:	calls are to be recorded
 *
 * Then an object whose calls go elsewhere, to another profiler for example, is named in
 * a warning; where all go elsewhere this fails. Not in signal handlers: it takes the
 * loader's lock.
 */
PERF_INTERNAL int perf_bind(bool hooks);

/* The same for objects that were loaded since; what they have called is missing. */
PERF_INTERNAL void perf_bind_late(void);

/* Warn of calls that are missing since perf_bind(). */
PERF_INTERNAL void perf_bind_report(void);

/* The same if nothing could be recorded but calls, and no object has any. */
PERF_INTERNAL void perf_bind_report_unused(void);

#endif /* PERF_BIND_H */
