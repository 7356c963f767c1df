/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Applies filters to function entries and exits. A filter can select functions, calls up to a depth
 * (depth.h), and a part of each thread: from a call to one function until that call returns or
 * another function is called. Without a filter, none of this code is executed.
 */
#ifndef PERF_PART_H
#define PERF_PART_H

#include "compiler.h"
#include "writer.h"

/*
 * Return a writer that passes functions selected by the filter to @writer; without a filter,
 * return @writer itself.
 */
PERF_INTERNAL perf_writer *perf_part_hook(perf_writer *writer);

/* Called in a new child, which begins a new part with its next call. */
PERF_INTERNAL void perf_part_forget(void);

#endif /* PERF_PART_H */
