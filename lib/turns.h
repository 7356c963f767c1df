/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Events that take turns on a counter, because there are more events than counters. */
#ifndef PERF_TURNS_H
#define PERF_TURNS_H

#include "compiler.h"
#include "session.h"

/**
 * perf_turns_check - whether readers can scale the counts
 * @setup:	its counters; differences since a header become XOR counts
 *
 * Returns 0, or -1 if events take turns but cycles are not always counted.
 */
PERF_INTERNAL int perf_turns_check(struct perf_setup *setup);

#endif /* PERF_TURNS_H */
