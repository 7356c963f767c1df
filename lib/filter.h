/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which functions are recorded: those in given ranges of given objects.
 *
 * A filter file has lines
 *
 *	OBJECT START END
 *
 * OBJECT is the file name of the program or a shared object without its folder,
 * START and END are hexadecimal, relative to where the object is loaded (what
 * nm(1) says of a shared object or a PIE). Empty lines and lines that begin with
 * # are skipped.
 */
#ifndef PERF_FILTER_H
#define PERF_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"

/*
 * Read a filter file; NULL for no filter. Objects that are loaded later are looked
 * for when they run.
 */
PERF_INTERNAL int perf_filter_load(const char *path);

/* Whether there is a filter. */
PERF_INTERNAL bool perf_filter_on(void);

/* Whether a function is to be recorded. */
PERF_INTERNAL bool perf_filter_has(uintptr_t function);

#endif /* PERF_FILTER_H */
