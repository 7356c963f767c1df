/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Writes a capture to files. */
#ifndef PERF_DUMP_H
#define PERF_DUMP_H

#include "compiler.h"

/**
 * perf_dump - write the capture and its side-car files
 * @path:	path of the file; with several sinks, the files are numbered
 *
 * Call between perf_session_enter() and perf_session_leave(). Reports data missing from the files.
 */
PERF_INTERNAL int perf_dump(const char *path);

#ifndef PERF_DROPIN
/**
 * perf_dump_early - write only the side-car files, before there is a capture
 * @path:	path of the file, as for perf_dump()
 *
 * If the program ends without writing its capture, another process can save it with these files.
 * These files describe a ring as wrapped, because the ring may wrap before it is saved.
 */
PERF_INTERNAL int perf_dump_early(const char *path);

/**
 * perf_dump_drained - write only the side-car files of a stopped capture
 * @path:	path of the file, as for perf_dump()
 *
 * Another process writes the capture itself. Reports losses as perf_dump() does.
 */
PERF_INTERNAL int perf_dump_drained(const char *path);

/** perf_dump_forget - remove the side-car files of perf_dump_early() */
PERF_INTERNAL void perf_dump_forget(const char *path);
#endif /* PERF_DROPIN */

#endif /* PERF_DUMP_H */
