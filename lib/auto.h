/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Traces a program as the environment requests (SIFIVE_TRACE_RECORD), from before its main() to
 * its exit. sifive_trace(3) lists the variables.
 */
#ifndef PERF_AUTO_H
#define PERF_AUTO_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"

/* A constructor that starts tracing if the environment requests it. */
PERF_INTERNAL void perf_auto_start(void);

/*
 * End the session that the environment requested, because the program traces itself. @frame is as
 * for perf_session_enter().
 */
PERF_INTERNAL void perf_auto_yield(uintptr_t frame);

/**
 * perf_auto_child - record a new child if its parent is a member of a recording
 * @fork:	whether fork() is creating the child now; otherwise it was created without fork()
 * @idle:	whether fork() interrupted no record
 * @alone:	whether the parent has no other threads, which could hold the loader's locks
 */
PERF_INTERNAL void perf_auto_child(bool fork, bool idle, bool alone);

#endif /* PERF_AUTO_H */
