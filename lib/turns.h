/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Events that take turns on a counter, because there are more events than counters. */
#ifndef PERF_TURNS_H
#define PERF_TURNS_H

#include "compiler.h"
#include "session.h"

/**
 * perf_turns_check - check whether readers can scale the counts
 * @setup:	set-up to check; if events take turns, its count type changes from Delta to XOR
 *
 * Returns 0, or -1 if events take turns but cycles are not always counted.
 */
PERF_INTERNAL int perf_turns_check(struct perf_setup *setup);

#endif /* PERF_TURNS_H */
