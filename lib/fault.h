/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Handles the loss of user-mode access to the counters, for example after a change of
 * kernel.perf_user_access, which revokes all threads' access.
 */
#ifndef PERF_FAULT_H
#define PERF_FAULT_H

#include "compiler.h"

/*
 * Install a SIGILL handler. After a failed read of a counter, the handler restores access and
 * repeats the read; it passes all other signals on to the previous handler.
 */
PERF_INTERNAL void perf_fault_catch(void);

/* Restore the previous handler, unless the program has installed another handler. */
PERF_INTERNAL void perf_fault_release(void);

#endif /* PERF_FAULT_H */
