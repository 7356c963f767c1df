/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The sources of records: the compiler's function entry and exit hooks, and explicit calls. */
#ifndef PERF_HOOKS_H
#define PERF_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "thread.h"

/* Generate the writers for the current set-up. */
PERF_INTERNAL void perf_hooks_prepare(void);

/**
 * perf_hooks_open - start writing records
 * @open:	PERF_OPEN_*
 *
 * Writes the calling thread's header if it is due; other threads write their headers with their
 * first records. Reinstalls the signal handler that perf_hooks_close() removed.
 */
PERF_INTERNAL void perf_hooks_open(unsigned int open);

/**
 * perf_hooks_close - stop writing records
 * @pause:	whether records until perf_hooks_open() are counted as lost
 *
 * Returns when no other thread is writing a record. The caller may be a signal handler that
 * interrupted a record.
 */
PERF_INTERNAL void perf_hooks_close(bool pause);

/* Called after a fork: disable the hooks. */
PERF_INTERNAL void perf_hooks_forget(void);

/**
 * perf_hooks_busy - check whether the caller has interrupted its thread's own record
 * @frame:	frame of the program's call
 *
 * Abandons a record that will never be finished.
 */
PERF_INTERNAL bool perf_hooks_busy(uintptr_t frame);

/* Write a record with one address, if the pool is open. */
PERF_INTERNAL void perf_hooks_manual(uintptr_t address);

/*
 * The compiler's hooks under names that cannot be preempted: another library may define the public
 * names.
 */
PERF_INTERNAL void perf_hook_enter(void *function, void *site);
PERF_INTERNAL void perf_hook_exit(void *function, void *site);

#endif /* PERF_HOOKS_H */
