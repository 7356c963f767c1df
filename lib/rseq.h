/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* rseq(2), through which the kernel reports a thread's current CPU, and membarrier(2). */
#ifndef PERF_RSEQ_H
#define PERF_RSEQ_H

#include <stdbool.h>

#include "section.h"

/**
 * perf_rseq_find - find the calling thread's area
 *
 * Returns the C library's area if it has registered one, otherwise an area registered here for the
 * life of the thread. Returns NULL and sets errno if the kernel has no rseq, or other code has
 * registered an area that cannot be found. Call it with all signals blocked.
 */
PERF_INTERNAL struct perf_rseq *perf_rseq_find(void);

/**
 * perf_rseq_barrier - order all threads' memory accesses
 *
 * Stores of the caller before the barrier are visible to all threads' loads after it, and vice
 * versa. The other threads need no barrier.
 */
PERF_INTERNAL void perf_rseq_barrier(void);

#endif /* PERF_RSEQ_H */
