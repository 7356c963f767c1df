// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bind.h"
#include "dump.h"
#include "error.h"
#include "hooks.h"
#include "meta.h"
#include "objects.h"
#include "session.h"

#ifdef PERF_DROPIN
#ifdef PERF_META
#include "sifive_linux_perf_meta.h"
#else
#define perf_meta_write(path, fd, sink, capture) 0
#endif
#endif

/* The buffer is large, because each piece costs three system calls and a file system access. */
#define DUMP_CHUNK	(256u << 10)

/* Adds the number of bytes written to @written, even if writing fails. */
PERF_LOCAL int write_all(int fd, const char *from, size_t size, uint64_t *written)
{
	while (size) {
		ssize_t done = write(fd, from, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (!done)
			errno = EIO;
		if (done <= 0)
			return -1;
		from += done;
		*written += (uint64_t)done;
		size -= (size_t)done;
	}
	return 0;
}

/* Empty a file. Called only after new data exists, so that an old trace is kept until then. */
PERF_LOCAL int empty(int fd, const char *path)
{
	/* Devices and pipes have no length. */
	if (!ftruncate(fd, 0) || errno == EINVAL)
		return 0;
	return perf_error("cannot write %s: %s", path, strerror(errno));
}

/* Copy @bytes of the capture, starting at @offset, to @fd. */
PERF_LOCAL int copy_capture(struct perf_device *device, int fd,
			    const char *path, uint64_t offset, uint64_t bytes)
{
	/* Static, because the stacks of threads may be small. Only one call can be in progress. */
	static char chunk[DUMP_CHUNK];
	uint64_t copied = 0;
	ssize_t got = 0;

	while (copied < bytes) {
		uint64_t left = bytes - copied;
		size_t size = left < sizeof(chunk) ? (size_t)left : sizeof(chunk);

		got = perf_device_read(device, chunk, size, offset + copied);
		if (got <= 0)
			break;
		if (!copied && empty(fd, path))
			return -1;
		if (write_all(fd, chunk, (size_t)got, &copied))
			return perf_error("cannot write %s: %s: the file has %llu bytes of the trace",
					  path, strerror(errno), (unsigned long long)copied);
	}
	if (got < 0)
		return -1;
	if (copied < bytes)
		return perf_error("the trace ended after %llu of %llu bytes: another session has configured the trace hardware",
				  (unsigned long long)copied, (unsigned long long)bytes);
	return bytes ? 0 : empty(fd, path);
}

/* Open the file of sink @index. */
PERF_LOCAL int open_file(const char *path, uint32_t index, uint32_t sinks)
{
	char name[PATH_MAX];
	int mode = 0666, fd;

#ifndef PERF_DROPIN
	struct stat status;

	/* Other users must not be able to read the kernel's addresses or the program's stack. */
	if (perf_session.setup.sampling.flags & SIFIVE_TRACE_SAMPLING_KERNEL)
		mode = 0600;
#endif /* PERF_DROPIN */
	if (strlen(path) + sizeof(".63") > sizeof(name))
		return perf_error("the trace's name is too long");
	perf_device_file(name, path, index, sinks);
	/* The user did not choose numbered names: a link with such a name could lead anywhere. */
	fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | (sinks > 1 ? O_NOFOLLOW : 0), mode);
#ifndef PERF_DROPIN
	/* An existing file keeps its mode, so change the mode, unless the file is a device. */
	if (fd >= 0 && mode == 0600 && !fstat(fd, &status) && S_ISREG(status.st_mode) &&
	    status.st_mode & 077 && fchmod(fd, 0600)) {
		perf_error("cannot keep others from reading %s: %s", name, strerror(errno));
		close(fd);
		return -1;
	}
#endif /* PERF_DROPIN */
	return fd >= 0 ? fd : perf_error("cannot create %s: %s", name, errno == ELOOP ?
					 "it is a symbolic link: remove it" : strerror(errno));
}

/* Write the capture of a sink to its file, and write the side-car file. */
PERF_LOCAL int write_sink(struct perf_device *device, const char *path, uint32_t index,
			  const struct sifive_trace_status *capture, int fd)
{
	struct sifive_trace_sink sink;
	char name[PATH_MAX];
	int rc = perf_device_sink(device, index, &sink);

	perf_device_file(name, path, index, capture->sinks);
	if (!rc)
		rc = copy_capture(device, fd, name, sink.offset, sink.bytes);
	return rc ? rc : perf_meta_write(name, fd, &sink, capture);
}

/* Report what is missing from the trace. */
PERF_LOCAL void report_losses(const struct sifive_trace_status *capture)
{
	const struct sifive_trace_losses *lost = perf_losses();
	const __u64 signals = lost->signals + lost->queued;
	const char *message = *capture->message ? capture->message : "none";
	const int changed = __builtin_popcountll(capture->changed);

	if (capture->flags & SIFIVE_TRACE_STATUS_FULL)
		perf_warning("trace buffer full: %llu bytes captured, later records were lost",
			     capture->bytes);
	if (lost->threads || signals || lost->abandoned)
		perf_warning("records not written: %llu of threads without a channel or CPUs without an encoder, %llu of signal handlers that interrupted a record, %llu unfinished",
			     lost->threads, signals, lost->abandoned);
	if (lost->refused)
		perf_warning("records not written: %llu of threads that cannot read the counters: %s",
			     lost->refused, perf_pool->refusal ?
			     strerror(perf_pool->refusal) : "created by clone(), without rseq");
	if (lost->children)
		perf_warning("records not written: %llu of children created by vfork(), which have no channel",
			     lost->children);
	if (lost->names)
		perf_warning("the side-car file lists the first %d %s: %llu later ones are missing",
			     PERF_JOINED, "threads", lost->names);
#ifndef PERF_DROPIN
	if (perf_objects_left_out())
		perf_warning("the side-car file lists the first %d %s: %llu later ones are missing",
			     PERF_OBJECTS, "loaded objects",
			     (unsigned long long)perf_objects_left_out());
	perf_bind_report();
#endif /* PERF_DROPIN */
	if (capture->samples_lost)
		perf_warning("%llu of %llu samples were lost",
			     capture->samples_lost, capture->samples + capture->samples_lost);
	if (changed)
		perf_warning("records may be missing: the registers of %d trace component%s were changed while they ran: do not let programs store to an encoder's control registers; the driver's last message: %s",
			     changed, changed > 1 ? "s" : "", message);
	if (capture->counters_lost)
		perf_warning("counters 0x%x were stopped at times on some harts: do not trust their values; the driver's last message: %s",
			     capture->counters_lost, message);
}

PERF_INTERNAL int perf_dump(const char *path)
{
	struct perf_device *device = &perf_session.device;
	struct sifive_trace_status capture = { .sinks = 0 };
	bool on = perf_session.state == PERF_SESSION_ON;
	int fd[PERF_MAX_SINKS], rc = 0;
	uint32_t i, opened;

	if (perf_session_check_ready() || perf_device_capture(device, &capture))
		return -1;
	/* Create the files first: after a failure, tracing continues and earlier traces remain. */
	for (opened = 0; !rc && opened < capture.sinks; opened += !rc) {
		fd[opened] = open_file(path, opened, capture.sinks);
		rc = fd[opened] < 0 ? -1 : 0;
	}
	on = on && !rc;

#ifndef PERF_DROPIN
	perf_bind_late();
	perf_objects_note();
#endif /* PERF_DROPIN */
	if (on) {
		perf_session_end_records(true);
		rc = perf_device_stop(device);
	}
	if (!rc)
		rc = perf_device_capture(device, &capture);
#ifndef PERF_DROPIN
	/*
	 * Remove an earlier trace's list of kernel function names, which may be another kernel's.
	 * Only sifive-trace record writes a new list, after the program has ended.
	 */
	if (!rc)
		perf_meta_remove(path, "kallsyms");
#endif /* PERF_DROPIN */
	for (i = 0; !rc && i < opened; i++)
		rc = write_sink(device, path, i, &capture, fd[i]);
	for (i = 0; i < opened; i++)
		if (close(fd[i]) && !rc)
			rc = perf_error("cannot write %s: %s", path, strerror(errno));

	if (on) {
		/* START may fail because the buffer is full, which is not an error. */
		if (perf_device_start(device, 0) < 0) {
			perf_session_end_records(false);
			perf_session.state = PERF_SESSION_READY;
			rc = -1;
		} else {
			perf_session_begin_records();
		}
	}

	if (!rc)
		report_losses(&capture);
	return rc;
}

#ifndef PERF_DROPIN
/* Write the side-car files of all sinks. @capture: NULL at the program's start. */
PERF_LOCAL int write_side_cars(const char *path, uint32_t sinks,
			       const struct sifive_trace_status *capture)
{
	struct sifive_trace_sink sink;
	char name[PATH_MAX];
	uint32_t i;

	for (i = 0; i < sinks; i++) {
		perf_device_file(name, path, i, sinks);
		if (perf_device_sink(&perf_session.device, i, &sink))
			return -1;
		if (!capture)
			sink.flags |= SIFIVE_TRACE_STATUS_WRAPPED;
		/* Include drained bytes. If a trace has fewer bytes, the others were never read. */
		sink.bytes += sink.given;
		if (perf_meta_write(name, -1, &sink, capture))
			return -1;
	}
	return 0;
}

PERF_INTERNAL int perf_dump_early(const char *path)
{
	struct sifive_trace_status capture;

	if (perf_device_capture(&perf_session.device, &capture))
		return -1;
	perf_objects_note();
	return write_side_cars(path, capture.sinks, NULL);
}

PERF_INTERNAL int perf_dump_drained(const char *path)
{
	struct sifive_trace_status capture;

	if (perf_device_capture(&perf_session.device, &capture))
		return -1;
	perf_bind_late();
	perf_objects_note();
	if (write_side_cars(path, capture.sinks, &capture))
		return -1;
	report_losses(&capture);
	return 0;
}

PERF_INTERNAL void perf_dump_forget(const char *path)
{
	struct sifive_trace_status capture;
	char name[PATH_MAX];
	uint32_t i;

	if (perf_device_capture(&perf_session.device, &capture))
		return;
	for (i = 0; i < capture.sinks; i++) {
		perf_device_file(name, path, i, capture.sinks);
		perf_meta_remove(name, "meta");
	}
}
#endif /* PERF_DROPIN */
