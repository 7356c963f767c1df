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

#endif /* PERF_DUMP_H */
