/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Where the kernel keeps a thread's current CPU: rseq(2), and membarrier(2). */
#ifndef PERF_RSEQ_H
#define PERF_RSEQ_H

#include <stdbool.h>

#include "section.h"

/**
 * perf_rseq_find - the calling thread's area
 *
 * The C library's where it has registered one, otherwise one that is registered
 * here, once and for the life of the thread. NULL: the kernel has no rseq, or
 * something else in the program has registered an area that cannot be found.
 * To be called with all signals blocked.
 */
PERF_INTERNAL struct perf_rseq *perf_rseq_find(void);

/**
 * perf_rseq_barrier - order all threads' memory accesses
 *
 * What the caller stored before is seen by what any thread of the process loads
 * after, and the other way round; the other threads need no barrier of their own.
 */
PERF_INTERNAL void perf_rseq_barrier(void);

#endif /* PERF_RSEQ_H */
