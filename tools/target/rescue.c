// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Saves the capture of a program that traced itself, after the program has ended: see capture.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "../command.h"
#include "capture.h"
#include "files.h"
#include "losses.h"
#include "machine.h"
#include "sidecar.h"

/* Maximum wait for a child of the program, in units of 10 ms. */
#define CHILD_STEPS	100

static bool still_held(int fd, const struct capture_mark *mark,
		       struct sifive_trace_status *status)
{
	memset(status, 0, sizeof(*status));
	status->size = sizeof(*status);
	return !ioctl(fd, SIFIVE_TRACE_IOC_STATUS, status) &&
	       status->flags & SIFIVE_TRACE_STATUS_CONFIGURED &&
	       status->holder == mark->pid;
}

/*
 * Return whether the program owns the capture. If no process holds a session, only the first
 * session since @mark can be the program's: the owner of a later session is known only while the
 * owner holds the session.
 */
static bool is_its_own(const struct capture_mark *mark,
		       const struct sifive_trace_status *status)
{
	bool held = status->flags & SIFIVE_TRACE_STATUS_CONFIGURED;
	uint32_t since = status->capture - mark->capture;

	return since && status->buffer == mark->buffer &&
	       (held ? status->holder == mark->pid : since == 1);
}

/*
 * Open the capture of a program that has ended, if no other session has been set up since the
 * capture. If a child of the program holds the session, wait for the child.
 */
static int open_capture(const struct capture_mark *mark,
			struct sifive_trace_status *status)
{
	const struct timespec step = { .tv_nsec = 10000000 };
	int fd = open(machine_device(), O_RDONLY | O_CLOEXEC);
	unsigned int steps = 0;

	if (fd < 0) {
		report("%s: %s", machine_device(), strerror(errno));
		return -1;
	}
	while (still_held(fd, mark, status) && steps++ < CHILD_STEPS)
		nanosleep(&step, NULL);
	if (is_its_own(mark, status))
		return fd;
	close(fd);
	return -1;
}

static int compare_sink(const char *name, const struct sifive_trace_sink *sink,
			bool quiet)
{
	if (capture_short(name, sink->bytes))
		return -1;
	/* The library has reported that a buffer was full. */
	if (!(sink->flags & SIFIVE_TRACE_STATUS_FULL))
		losses_sink(name, sink, quiet);
	return 0;
}

int capture_compare(const char *path, const struct capture_mark *mark,
		    bool quiet)
{
	struct sifive_trace_status status;
	struct sifive_trace_sink sink;
	int fd = open_capture(mark, &status), error = 0;
	char name[PATH_MAX];
	uint32_t i;

	for (i = 0; fd >= 0 && i < status.sinks; i++) {
		if (capture_sink(fd, i, &sink))
			break;
		perf_device_file(name, path, i, status.sinks);
		error |= compare_sink(name, &sink, quiet);
	}
	if (fd >= 0 && mark->sampled)
		error |= losses_samples(&status);
	if (fd >= 0)
		close(fd);
	return error;
}

/* Return whether @meta is the side-car file of a sink's file @name. */
static bool has_side_car(char name[PATH_MAX], char meta[SIDECAR_PATH], const char *path,
			 uint32_t index, uint32_t sinks)
{
	perf_device_file(name, path, index, sinks);
	snprintf(meta, SIDECAR_PATH, "%s.meta", name);
	return !access(meta, F_OK);
}

/* Report that a side-car file is incomplete. The trace is kept, because it is readable. */
static int report_incomplete(const char *name, const char *meta)
{
	report("%s: its side-car file %s is incomplete and does not list losses", name,
	       meta);
	return 1;
}

/*
 * Write a sink's bytes and complete its side-car file. Return 0, 1 after reporting that a write
 * failed, or -1 if no bytes can be read.
 */
static int rescue_sink(int fd, const char *path, uint32_t index, uint32_t sinks,
		       uint64_t ran, bool quiet)
{
	char name[PATH_MAX], meta[SIDECAR_PATH];
	struct sifive_trace_sink sink;
	bool finished;
	uint64_t bytes;
	int error;

	/* Without a side-car file, the owner of these bytes is unknown. */
	if (!has_side_car(name, meta, path, index, sinks) || capture_sink(fd, index, &sink))
		return -1;
	bytes = sink.bytes;
	error = capture_copy(fd, name, sink.offset, &sink.bytes, false);
	if (error > 0)
		capture_short(name, bytes);
	if (error)
		return error;
	if (sidecar_complete(fd, meta, &sink, NULL, ran, &finished))
		return report_incomplete(name, meta);
	losses_sink(name, &sink, quiet);
	return 0;
}

/* Return whether a child of the program holds the session, in which case SRAM cannot be read. */
static bool is_busy(int fd, const char *path, uint32_t sinks)
{
	char name[PATH_MAX], meta[SIDECAR_PATH];

	if (!has_side_car(name, meta, path, 0, sinks) || !capture_locked(fd))
		return false;
	report("a child of the program holds its trace in SRAM, which cannot be read now: after the child has ended, use sifive-trace dump -o FILE, and read that with --meta %s",
	       meta);
	return true;
}

int capture_rescue(const char *path, const struct capture_mark *mark,
		   bool quiet)
{
	struct sifive_trace_status status = { .capture = mark->capture };
	uint64_t ran = perf_device_now() - mark->began;
	int fd = open_capture(mark, &status), error = 0, one;
	bool incomplete = false;
	uint32_t i;

	if (fd >= 0 && is_busy(fd, path, status.sinks))
		error = 1;
	else if (fd < 0 || !status.bytes)
		error = -1;
	if (fd < 0 && status.capture - mark->capture > 1)
		report("another session has configured the trace hardware: the program's records are lost");
	/* Continue after a failed write, because the next sink's bytes may still fit. */
	for (i = 0; !error && i < status.sinks; i++) {
		one = rescue_sink(fd, path, i, status.sinks, ran, quiet);
		if (one > 0 || (one && i))
			incomplete = true;
		else
			error = one;
	}
	if (!error)
		losses_report(fd, &status, false);
	if (fd >= 0)
		close(fd);
	if (!error && incomplete)
		error = 1;
	if (error < 0)
		files_remove(path);
	return error;
}

/*
 * Return whether bytes were copied. Copied bytes show that the program recorded, even if its
 * library could not write a side-car file.
 */
static bool has_bytes(const struct drain *drain)
{
	uint32_t i;

	for (i = 0; i < drain->sinks; i++)
		if (drain->sink[i].bytes)
			return true;
	return false;
}

/* Add the numbers of copied and lost bytes of a drained sink to its side-car file. */
static int finish_sink(int fd, const struct drain *drain, uint32_t index, uint64_t ran,
		       bool *finished)
{
	char name[PATH_MAX], meta[SIDECAR_PATH];
	struct sifive_trace_sink sink;
	bool there = has_side_car(name, meta, drain->path, index, drain->sinks);
	const char *why;
	int error;

	if (capture_sink(fd, index, &sink) ||
	    (!there && machine_side_car() && !has_bytes(drain)))
		return -1;
	why = drain_account(drain, index, &sink);
	error = !!why;
	if (there ? sidecar_complete(fd, meta, &sink, drain, ran, finished) : machine_side_car())
		error = report_incomplete(name, meta);
	losses_gaps(name, &sink, why);
	return error;
}

/* Keep the bytes of a capture whose state cannot be read; return 1, or -1 if there are none. */
static int keep_bytes(const struct drain *drain)
{
	char name[PATH_MAX], meta[SIDECAR_PATH];
	uint32_t i;

	if (!has_bytes(drain))
		return -1;
	for (i = 0; i < drain->sinks; i++)
		if (has_side_car(name, meta, drain->path, i, drain->sinks))
			report_incomplete(name, meta);
	return 1;
}

/* Return whether the driver has freed the capture although no other session has replaced it. */
static bool was_freed(const struct sifive_trace_status *status, const struct drain *drain)
{
	return status->capture == drain->capture && !status->buffer;
}

int capture_drained(struct drain *drain, const struct capture_mark *mark, bool *finished)
{
	struct sifive_trace_status status = { .capture = mark->capture };
	int fd = open_capture(mark, &status), error = 0;
	uint64_t ran = perf_device_now() - mark->began;
	uint32_t i;

	*finished = !machine_side_car();
	if (fd < 0 || status.capture != drain->capture) {
		if (was_freed(&status, drain))
			report("a trace component was bound or unbound, which has ended the recording. The rest of the program's records are lost: record again");
		else if (status.capture != mark->capture)
			report("another session has configured the trace hardware: the rest of the program's records are lost");
		if (fd >= 0)
			close(fd);
		*finished = true;
		return keep_bytes(drain);
	}
	drain_rest(drain);
	for (i = 0; error >= 0 && i < drain->sinks; i++)
		error |= finish_sink(fd, drain, i, ran, finished);
	if (error >= 0) {
		losses_report(fd, &status, *finished);
		losses_times(&status, drain, drain->quiet);
	}
	if (error >= 0 && mark->sampled)
		error |= losses_samples(&status) ? 1 : 0;
	close(fd);
	return error;
}
