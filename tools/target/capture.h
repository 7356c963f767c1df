/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Handles captures in the command's own session, in which the kernel samples a program or
 * everything that runs. Also saves captures to files, including captures from other sessions.
 */
#ifndef SIFIVE_TRACE_CAPTURE_H
#define SIFIVE_TRACE_CAPTURE_H

#include "lib/session.h"
#include "drain.h"
#include "launch.h"
#include "objects.h"
#include "perf_maps.h"
#include "select.h"
#include "tree.h"
#include "trigger.h"

/**
 * capture_begin() - acquire the hardware and the counters for sampling
 * @device:	the session; needs perf_device_close(), even after an error
 * @setup:	settings, in which the counters are filled in. Everything that runs is sampled if
 *		sampling.flags has SIFIVE_TRACE_SAMPLING_ALL, otherwise only the process that calls
 *		START
 * @threads:	set if programs also write records, in which case samples need another channel
 *
 * Return: 0, or -1 with sifive_trace_error().
 */
int capture_begin(struct perf_device *device, struct perf_setup *setup, bool threads);

/**
 * struct capture_mark - identifies the capture of a program that traces itself
 * @buffer:	total buffer size of all sinks, in bytes
 * @capture:	number of the previous capture, from sifive_trace_status.capture
 * @period:	sampling period, as adjusted by the driver
 * @sampled:	set if samples are expected
 * @sinks:	number of sinks
 * @pid:	process id of the program
 * @began:	time of the program's start, in nanoseconds of CLOCK_MONOTONIC
 */
struct capture_mark {
	uint64_t	buffer;
	uint32_t	capture;
	uint64_t	period;
	bool		sampled;
	uint32_t	sinks;
	pid_t		pid;
	uint64_t	began;
};

/**
 * capture_try() - check that the resources that a program will request are available
 * @wanted:	settings that the program will request
 * @threads:	as for capture_begin()
 * @mark:	set, except for @pid and @began
 *
 * Takes all resources and releases them again. Return: 0, or -1 with sifive_trace_error().
 */
int capture_try(const struct perf_setup *wanted, bool threads, struct capture_mark *mark);

/**
 * struct capture_details - description of the programs for a side-car file; pointers may be NULL
 * @launch:	the program that was run
 * @calls:	enum calls_of: which calls were requested, if there is instruction trace
 * @objects:	the objects in memory, on which objects_report() can then report; NULL if they are
 *		passed to capture_save() instead
 * @tree:	the processes, whose separate lists of objects are written instead of @objects
 * @names:	the names of threads that do not use the library
 * @kernel:	objects that all processes of @tree share
 * @maps:	lists of generated functions
 * @hit:	call that triggered the snapshot; ignored if its @function is NULL
 * @clock:	converts the times in @hit; set if @hit is set
 */
struct capture_details {
	const struct launch		*launch;
	int				calls;
	struct objects			*objects;
	struct tree			*tree;
	struct names			*names;
	const struct objects		*kernel;
	const struct perf_maps		*maps;
	const struct trigger_hit	*hit;
	const struct trigger_clock	*clock;
};

/**
 * capture_describe() - write the part of a side-car file that describes settings and programs
 * @path:	file to write, to be passed to capture_save() as @description
 * @setup:	settings, as set by capture_begin()
 * @details:	description of the programs
 */
int capture_describe(const char *path, const struct perf_setup *setup,
		     const struct capture_details *details);

/**
 * capture_save() - write a capture's bytes and side-car files
 * @fd:		the trace device
 * @path:	path of the file; with several sinks, .0, .1 ... are inserted before its suffix
 * @description: file written by capture_describe(), or NULL for none
 * @objects:	the objects in memory, or NULL if the description has them
 * @drain:	state of the copying, if the bytes were drained, or NULL
 * @ran:	nanoseconds from the capture's start to its stop, or 0 if unknown
 * @quiet:	whether to print only errors and losses
 *
 * Return: 0, or -1 after printing an error.
 */
int capture_save(int fd, const char *path, const char *description,
		 struct objects *objects, const struct drain *drain, uint64_t ran,
		 bool quiet);

/**
 * capture_heads() - write the side-car files at the beginning of a capture
 * @fd:		the trace device
 * @drain:	state of the copying
 * @description: file that capture_describe() has written
 *
 * Return: 0, or -1 after printing an error.
 */
int capture_heads(int fd, const struct drain *drain, const char *description);

/** capture_sink() - get the state of a sink; return 0, or -1 with errno */
int capture_sink(int fd, uint32_t index, struct sifive_trace_sink *sink);

/**
 * capture_copy() - copy a capture's bytes to a file
 * @fd:		the trace device
 * @path:	the file
 * @offset:	offset of the first byte
 * @bytes:	number of bytes to copy; on return, the number of bytes copied
 * @end:	whether to stop at the end of the data
 *
 * Return: 0; 1 if a write failed, -1 if a read failed. The error has been printed.
 */
int capture_copy(int fd, const char *path, uint64_t offset, __u64 *bytes, bool end);

/**
 * capture_short() - if the file @name is shorter than a sink's @bytes, report how much is missing
 * and how to save it; return whether bytes are missing
 */
bool capture_short(const char *name, uint64_t bytes);

/** capture_locked() - return whether the capture is in trace SRAM that is being written */
bool capture_locked(int fd);

/** capture_samples() - return 0, or -1 after reporting that the capture contains no samples */
int capture_samples(int fd);

/**
 * capture_compare() - report captured data that a program's files lack
 * @path:	path of the file, see capture_save()
 * @mark:	mark of the program's capture
 * @quiet:	whether to print only errors and losses
 *
 * Return: 0, or -1 after reporting that the files are incomplete or have no samples.
 */
int capture_compare(const char *path, const struct capture_mark *mark,
		    bool quiet);

/**
 * capture_rescue() - write the capture of a program that ended without writing it
 * @path:	path of the file, see capture_save(); side-car files exist
 * @mark:	mark of the program's capture
 * @quiet:	whether to print only errors and losses
 *
 * Return: 0; -1 if there is no capture, in which case the side-car files have been removed; or 1
 * after reporting that the capture cannot be read yet, or that a write failed, in which case the
 * side-car files are kept.
 */
int capture_rescue(const char *path, const struct capture_mark *mark,
		   bool quiet);

/**
 * capture_drained() - finish the files of a program whose capture was drained
 * @drain:	state of the copying
 * @mark:	mark of the program's capture
 * @finished:	set to whether the program has written its part of the side-car file
 *
 * Return: 0; -1 if there is no such capture; or 1 after reporting that data is missing.
 */
int capture_drained(struct drain *drain, const struct capture_mark *mark, bool *finished);

/**
 * capture_running() - copy a running ring
 * @path:	file for the bytes of sink @index of @sinks
 * @sink:	state of the sink, whose @bytes is set to the number of bytes copied
 *
 * Return: 0; 1 if a write failed, -1 if a read failed; the error has been printed.
 */
int capture_running(int fd, const char *path, uint32_t index, uint32_t sinks,
		    struct sifive_trace_sink *sink);

/** capture_records() - return whether a program that traces itself is recording */
bool capture_records(const struct capture_mark *mark);

/**
 * capture_peek() - copy the ring of a running program that traces itself
 * @fd:		the device, open for reading
 * @path:	path of the snapshot
 * @output:	path of the program's trace, whose side-car files the program wrote when it started
 * @mark:	mark of the program's capture
 * @hit:	the call that triggered the snapshot; its @function is NULL if there is none
 *
 * Return: 0; 1 if the program is not recording; -1 after printing an error.
 */
int capture_peek(int fd, const char *path, const char *output, const struct capture_mark *mark,
		 const struct trigger_hit *hit);

/** capture_name_call() - write the call that triggered the last snapshot into its side-car files */
void capture_name_call(const char *output, uint32_t sinks, const struct trigger_hit *hit);

/** capture_name_part() - name the recorded calls in the side-car files; return 0 or -1 */
int capture_name_part(const char *output, uint32_t sinks, const struct meta_part *part);

#endif /* SIFIVE_TRACE_CAPTURE_H */
