/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A capture of the command's own: records that the kernel writes, of a program or of
 * whatever runs on the CPUs; and any capture written to files.
 */
#ifndef SIFIVE_TRACE_CAPTURE_H
#define SIFIVE_TRACE_CAPTURE_H

#include "lib/session.h"
#include "launch.h"
#include "objects.h"

/**
 * capture_begin() - take hardware and counters, to sample
 * @device:	filled, also after an error; for perf_device_close()
 * @setup:	what is wanted, sampling.all tells whether of all that runs or of the
 *		process that calls START; its counters are filled in
 *
 * Return: 0, or -1 with perf_error_text().
 */
int capture_begin(struct perf_device *device, struct perf_setup *setup);

/**
 * capture_try() - whether a program that does all this itself will get it
 *
 * Takes everything and gives it back. Return: 0, or -1 with perf_error_text().
 */
int capture_try(const struct perf_setup *wanted);

/**
 * capture_describe() - what a side-car file says of the setup
 * @path:	a file for capture_save(), which joins it to the rest
 * @setup:	as capture_begin() left it
 * @launch:	the program that was run, or NULL
 * @objects:	what was in memory; NULL: capture_save() gets to know
 */
int capture_describe(const char *path, const struct perf_setup *setup,
		     const struct launch *launch, const struct objects *objects);

/**
 * capture_save() - write a capture's bytes and side-car files
 * @fd:		the trace device
 * @path:	of the file; several sinks give PATH with .0, .1 …
 * @description: file that capture_describe() has written, NULL: nothing is known
 * @objects:	what was in memory; NULL: the description says it
 *
 * Return: 0, or -1: the reason has been printed.
 */
int capture_save(int fd, const char *path, const char *description,
		 const struct objects *objects);

/** capture_show() - say which files there are; the bytes of all of them */
uint64_t capture_show(const char *path, bool quiet);

/** capture_remove() - remove what an earlier recording has left of that name */
void capture_remove(const char *path);

/** capture_path() - the file that -o means: a folder gets a trace.rtd; 0 or -1 */
int capture_path(const char *wanted, char *path, size_t size);

#endif /* SIFIVE_TRACE_CAPTURE_H */
