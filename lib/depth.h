/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds a thread's outermost calls, for a filter with a depth limit. Without a limit, this code is
 * not executed.
 */
#ifndef PERF_DEPTH_H
#define PERF_DEPTH_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "thread.h"

/* Start counting the calling thread's depth at its next call. */
PERF_INTERNAL void perf_depth_begin(void);

/**
 * perf_depth_shows - account for a function entry or exit in the calling thread
 * @limit:	depth up to which calls are recorded, 1 to PERF_DEPTH_MAX
 * @enter:	set for an entry, clear for an exit
 *
 * Returns whether to record the entry or exit.
 */
PERF_INTERNAL bool perf_depth_shows(const struct perf_call *call, uint32_t limit, bool enter);

#endif /* PERF_DEPTH_H */
