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
 * struct capture_mark - what tells the capture of a program that traces itself
 * @buffer:	bytes of all its sinks
 * @capture:	the one before it, as sifive_trace_status.capture counts
 * @period:	of its samples, as the driver takes it
 * @pid:	the program
 */
struct capture_mark {
	uint64_t	buffer;
	uint32_t	capture;
	uint64_t	period;
	pid_t		pid;
};

/**
 * capture_try() - whether a program that does all this itself will get it
 * @wanted:	what it will ask for
 * @mark:	all but its program is set
 *
 * Takes everything and gives it back. Return: 0, or -1 with perf_error_text().
 */
int capture_try(const struct perf_setup *wanted, struct capture_mark *mark);

/**
 * capture_describe() - what a side-car file says of the setup
 * @path:	a file for capture_save(), which joins it to the rest
 * @setup:	as capture_begin() left it
 * @launch:	the program that was run, or NULL
 * @objects:	what was in memory, for objects_report() afterwards; NULL:
 *		capture_save() gets to know
 */
int capture_describe(const char *path, const struct perf_setup *setup,
		     const struct launch *launch, struct objects *objects);

/**
 * capture_save() - write a capture's bytes and side-car files
 * @fd:		the trace device
 * @path:	of the file; several sinks give PATH with .0, .1 …
 * @description: file that capture_describe() has written, NULL: nothing is known
 * @objects:	what was in memory; NULL: the description says it
 * @quiet:	say only what went wrong
 *
 * Return: 0, or -1: the reason has been printed.
 */
int capture_save(int fd, const char *path, const char *description,
		 struct objects *objects, bool quiet);

/**
 * capture_compare() - say what the files of a program lack of what it recorded
 * @path:	as for capture_save()
 * @mark:	its capture
 * @quiet:	say only what went wrong
 *
 * Return: 0; -1: they are not complete, which has been reported.
 */
int capture_compare(const char *path, const struct capture_mark *mark,
		    bool quiet);

/**
 * capture_rescue() - write what a program has left that wrote no trace
 * @path:	as for capture_save(); there are side-car files already
 * @mark:	its capture
 * @quiet:	say only what went wrong
 *
 * Return: 0; -1: there is nothing of it, nor side-car files any more; 1: it cannot be
 * read yet, or not all could be written, which has been reported, and there are side-car
 * files.
 */
int capture_rescue(const char *path, const struct capture_mark *mark,
		   bool quiet);

#endif /* SIFIVE_TRACE_CAPTURE_H */
