/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Traces a program by environment variables alone, from before its main() to its
 * exit, if SIFIVE_TRACE_RECORD says so. sifive_trace(3) lists the variables.
 */
#ifndef PERF_AUTO_H
#define PERF_AUTO_H

#include "compiler.h"

#ifndef PERF_DROPIN
/* A constructor: does what the environment asks for. */
PERF_INTERNAL void perf_auto_start(void);

/* The program traces itself: leave the session to it. Called within a session call. */
PERF_INTERNAL void perf_auto_yield(void);
#endif /* PERF_DROPIN */

#ifdef PERF_DROPIN
PERF_INLINE void perf_auto_yield(void)
{
}
#endif

#endif /* PERF_AUTO_H */
