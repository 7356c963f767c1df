/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Writing what was captured to files. */
#ifndef PERF_DUMP_H
#define PERF_DUMP_H

#include "compiler.h"

/**
 * perf_dump - write the capture, and its side-car, to files
 * @path:	the file's; of several sinks each has its own, numbered
 *
 * For callers of perf_session_enter(). Says what is not in the files.
 */
PERF_INTERNAL int perf_dump(const char *path);

/**
 * perf_dump_early - write the side-cars alone, before there is a capture
 * @path:	as for perf_dump()
 *
 * With them somebody else can write what a program leaves in the kernel that ends
 * before it writes it. A ring is said to have wrapped, which nobody knows yet.
 */
PERF_INTERNAL int perf_dump_early(const char *path);

/** perf_dump_forget - remove those side-cars */
PERF_INTERNAL void perf_dump_forget(const char *path);

#endif /* PERF_DUMP_H */
