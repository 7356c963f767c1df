/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Binds each object's hook calls to the library.
 *
 * The C library has empty hooks. If the program itself is not linked with this
 * library, the empty hooks come first in the search order, even for objects
 * linked with this library. perf_bind() changes pointers to the empty hooks, and
 * pointers to dlclose(): see objects.h.
 */
#ifndef PERF_BIND_H
#define PERF_BIND_H

#include <stdbool.h>

#include "compiler.h"

#ifdef PERF_SHARED
/**
 * perf_bind - bind the hooks of all loaded objects, and dlclose(), to the library
 * @hooks:	whether calls are recorded
 *
 * Warns about an object whose calls reach other hooks, for example another profiler's, and fails if
 * this is so for all objects. Signal handlers must not call perf_bind(), because it takes the
 * loader's lock.
 */
PERF_INTERNAL int perf_bind(bool hooks);

/* Like perf_bind(), but for objects loaded later, whose calls until now are missing. */
PERF_INTERNAL void perf_bind_late(void);

/* Return whether any object calls the library's hooks. */
PERF_INTERNAL bool perf_bind_used(void);

/* Warn about calls that have been missed since perf_bind(). */
PERF_INTERNAL void perf_bind_report(void);

/* Warn if only calls are recorded and no object calls the hooks. */
PERF_INTERNAL void perf_bind_report_unused(void);
#else
/* A program that contains the library calls its own hooks. */
static inline int perf_bind(bool hooks)
{
	(void)hooks;
	return 0;
}

static inline void perf_bind_late(void) { }
static inline void perf_bind_report(void) { }
static inline void perf_bind_report_unused(void) { }
#endif

#endif /* PERF_BIND_H */
