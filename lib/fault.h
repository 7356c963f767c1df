/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * What happens when user mode may no longer read the counters: a change of
 * kernel.perf_user_access, for example, takes it away from all threads.
 */
#ifndef PERF_FAULT_H
#define PERF_FAULT_H

#include "compiler.h"

/*
 * Take SIGILL: those that come from reading counters are put right and the read
 * is repeated, all others go to the handler that was there before.
 */
PERF_INTERNAL void perf_fault_catch(void);

/* Put the earlier handler back, unless the program has put another one there. */
PERF_INTERNAL void perf_fault_release(void);

#endif /* PERF_FAULT_H */
