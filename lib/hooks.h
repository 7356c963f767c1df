/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Where records come from: the compiler's function entry and exit hooks, and
 * explicit calls.
 */
#ifndef PERF_HOOKS_H
#define PERF_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "thread.h"

/* Make the writers of what is set up. */
PERF_INTERNAL void perf_hooks_prepare(void);

/**
 * perf_hooks_open - let records be written
 * @open:	PERF_OPEN_*
 *
 * The calling thread's header goes out at once if it is due; other threads' with
 * their first record. Restores the signal handler of perf_hooks_close().
 */
PERF_INTERNAL void perf_hooks_open(unsigned int open);

/**
 * perf_hooks_close - let no more records be written
 * @pause:	until perf_hooks_open() they are counted as lost
 *
 * Returns when no thread is writing one any more, but for the calling one, which
 * may be a signal handler that interrupted its own.
 */
PERF_INTERNAL void perf_hooks_close(bool pause);

/* The process was forked: hooks do nothing. */
PERF_INTERNAL void perf_hooks_forget(void);

/**
 * perf_hooks_busy - whether the caller interrupts a record of its own thread
 * @frame:	of the program's call
 *
 * One that nobody will finish any more is given up.
 */
PERF_INTERNAL bool perf_hooks_busy(uintptr_t frame);

/* Write a record with one address, if the pool is open. */
PERF_INTERNAL void perf_hooks_manual(uintptr_t address);

/*
 * The compiler's hooks, by names that nothing comes before: those that programs call
 * may be somebody else's.
 */
PERF_INTERNAL void perf_hook_enter(void *function, void *site);
PERF_INTERNAL void perf_hook_exit(void *function, void *site);

#endif /* PERF_HOOKS_H */
