/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Selects the functions to record, as address ranges of objects. A filter file has lines
 *
 *	OBJECT START END
 *
 * OBJECT is the file name of the program or of a shared object, without its folder. START
 * and END are hexadecimal and relative to the load address, as nm(1) prints for a shared
 * object or a PIE. Empty lines and lines that begin with # are ignored.
 */
#ifndef PERF_FILTER_H
#define PERF_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"

/*
 * Read a filter file; NULL for no filter. Objects that are loaded later are looked
 * up when their code runs.
 */
PERF_INTERNAL int perf_filter_load(const char *path);

/* Whether there is a filter. */
PERF_INTERNAL bool perf_filter_on(void);

/* Whether a function is recorded. */
PERF_INTERNAL bool perf_filter_has(uintptr_t function);

#endif /* PERF_FILTER_H */
