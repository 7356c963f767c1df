/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tracing a program from its environment, without a call in it: from before its
 * main() to its exit, when SIFIVE_TRACE_RECORD says yes. sifive_trace(3) lists the
 * variables.
 */
#ifndef PERF_AUTO_H
#define PERF_AUTO_H

#include "compiler.h"

/* Does what the environment asks for; a constructor. */
PERF_INTERNAL void perf_auto_start(void);

/* The program traces itself: leave the session to it. In a session's call. */
PERF_INTERNAL void perf_auto_yield(void);

#endif /* PERF_AUTO_H */
