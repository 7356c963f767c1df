/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The side-car file of a trace, FILE.meta: a JSON object with the data that the
 * trace does not contain. SIFIVE_TRACE_META=0 in the environment turns it off.
 */
#ifndef PERF_META_H
#define PERF_META_H

#include <linux/sifive_trace.h>

#include "compiler.h"
#include "device.h"

/**
 * perf_meta_write - write the side-car file of a trace
 * @path:	path of the trace
 * @fd:		the open trace, or -1 if there is no trace yet; devices and pipes have no side-car
 *		file
 * @sink:	sink of the trace
 * @capture:	state of the whole capture, or NULL if losses are not known yet
 */
PERF_INTERNAL int perf_meta_write(const char *path, int fd,
				  const struct sifive_trace_sink *sink,
				  const struct sifive_trace_status *capture);

#ifndef PERF_DROPIN
/* To keep static programs small, only the shared library writes host, board and date. */
#if defined(PERF_SHARED) && !defined(PERF_MACHINE)
#define PERF_MACHINE
#endif

/* Remove the file PATH.SUFFIX next to the trace PATH, if it exists. */
PERF_INTERNAL void perf_meta_remove(const char *path, const char *suffix);

/**
 * perf_meta_part - write this process's part of the side-car file
 * @fd:		the open file, which this function closes
 * @name:	name of the file, for error messages
 * @ends:	whether the process is ending
 */
PERF_INTERNAL int perf_meta_part(int fd, const char *name, bool ends);
#endif /* PERF_DROPIN */

#endif /* PERF_META_H */
