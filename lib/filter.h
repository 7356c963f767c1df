/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Selects the functions to record, as address ranges of objects. A filter file has lines
 *
 *	OBJECT START END
 *
 * OBJECT is the file name of the program or of a shared object, without its directory. START and
 * END are hexadecimal and relative to the load address, as nm(1) prints them for a shared object or
 * a PIE. Empty lines and lines that begin with # are ignored. A line that begins with "> " names
 * functions: when a thread calls one of them, its recording begins, and ends when the call returns.
 * A line that begins with "< " names functions that end recording earlier, when they are entered.
 * "^ N" records a thread's nested calls only up to depth N. If a file has only lines of these three
 * kinds, all functions are recorded.
 */
#ifndef PERF_FILTER_H
#define PERF_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"

enum perf_filter_set {
	PERF_FILTER_RECORD,
	PERF_FILTER_FROM,
	PERF_FILTER_TO,
	PERF_FILTER_SETS,
};

/*
 * Read a filter file; a @path of NULL removes the filter. Objects that are loaded later
 * are looked up when their code runs.
 */
PERF_INTERNAL int perf_filter_load(const char *path);

/* Return a mask of the existing sets, bit n for set n, or 0 if there is no filter. */
PERF_INTERNAL unsigned int perf_filter_on(void);

/* Return the depth up to which nested calls are recorded, or 0 if there is no limit. */
PERF_INTERNAL uint32_t perf_filter_depth(void);

/* Return whether a function is in a set. */
PERF_INTERNAL bool perf_filter_has(uintptr_t function, enum perf_filter_set set);

#endif /* PERF_FILTER_H */
