/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Tracing a program from its environment, without a call in it: from before its
 * main() to its exit, when SIFIVE_TRACE_RECORD is 1. Environment:
 *
 *	SIFIVE_TRACE_EVENTS	names with commas between
 *	SIFIVE_TRACE_COUNT	raw, delta (usual) or xor
 *	SIFIVE_TRACE_BUFFER	bytes, or with k or M behind: 1M
 *	SIFIVE_TRACE_SINK	sba (usual) or sram
 *	SIFIVE_TRACE_RING	1: keep the newest bytes
 *	SIFIVE_TRACE_CHANNEL	ITC channel: 6
 *	SIFIVE_TRACE_CPUS	such as 0-2,5; usually all
 *	SIFIVE_TRACE_PER_THREAD	1: each thread has counts of its own
 *	SIFIVE_TRACE_INTERVAL	microseconds between samples
 *	SIFIVE_TRACE_PERIOD, SIFIVE_TRACE_PERIOD_EVENT	events between samples
 *	SIFIVE_TRACE_FILTER	file of the functions to record
 *	SIFIVE_TRACE_HEADER	once: one header for each thread and CPU
 *	SIFIVE_TRACE_OUTPUT	file to write at exit: trace.rtd
 */
#ifndef PERF_AUTO_H
#define PERF_AUTO_H

#include "compiler.h"

/* A program's constructors run behind these. */
#define PERF_EARLY		101
#define PERF_EARLY_AUTO		102

/* Does what the environment asks for; a constructor. */
PERF_INTERNAL void perf_auto_start(void);

/* The program traces itself: leave the session to it. In a session's call. */
PERF_INTERNAL void perf_auto_yield(void);

#endif /* PERF_AUTO_H */
