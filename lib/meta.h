/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The side-car file of a trace, FILE.meta: a JSON object with what its bytes do
 * not say. SIFIVE_TRACE_META=0 in the environment turns it off.
 */
#ifndef PERF_META_H
#define PERF_META_H

#include <linux/sifive_trace.h>

#include "compiler.h"
#include "device.h"

/**
 * perf_meta_write - write the side-car of a trace file
 * @path:	the trace file's
 * @fd:		the trace file, open; beside what is no file there is no side-car.
 *		-1: there is none yet
 * @sink:	whose bytes are in it
 * @capture:	all of it; NULL: what it has lost is not known yet
 */
PERF_INTERNAL int perf_meta_write(const char *path, int fd,
				  const struct sifive_trace_sink *sink,
				  const struct perf_capture *capture);

/** perf_meta_remove - remove the side-car of a trace file, if there is one */
PERF_INTERNAL void perf_meta_remove(const char *path);

#endif /* PERF_META_H */
