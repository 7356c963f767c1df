// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "error.h"
#include "hooks.h"
#include "session.h"

/* Bytes read from the device and written to the file at a time. */
#define DUMP_CHUNK	4096

/* Whether this thread may use what was set up. */
PERF_LOCAL int check_owner(const struct perf_session *session)
{
	if (session->state < PERF_SESSION_READY ||
	    perf_hooks_stream() == session->stream)
		return 0;
	return perf_error("the trace belongs to another thread: call this from the one that called the initialisation function");
}

PERF_LOCAL int check_ready(const struct perf_session *session)
{
	if (session->state == PERF_SESSION_NONE)
		return perf_error("call perfInit() first");
	if (session->state == PERF_SESSION_IDLE)
		return perf_error("call perfManualInit() or perfFuncEntryExitInit() first");
	return check_owner(session);
}

PERF_LOCAL int check_not_busy(const struct perf_session *session)
{
	if (!session->stream->busy)
		return 0;
	return perf_error("a record is being written: call this outside of signal handlers");
}

/*
 * The stream has pages of its own that a child finds zeroed after fork(), and so
 * closed: the stimulus page is not there for it to write to. That holds from the
 * child's first instruction, before any handler that the program registered.
 */
PERF_LOCAL struct perf_stream *stream_alloc(void)
{
	void *stream = mmap(NULL, sizeof(struct perf_stream),
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stream == MAP_FAILED)
		goto fail;
	if (!madvise(stream, sizeof(struct perf_stream), MADV_WIPEONFORK))
		return stream;

	munmap(stream, sizeof(struct perf_stream));
fail:
	perf_error("cannot get memory for the trace's state: %s",
		   strerror(errno));
	return NULL;
}

PERF_LOCAL void stream_free(struct perf_stream *stream)
{
	if (stream)
		munmap(stream, sizeof(*stream));
}

/* The one CPU that the calling thread may run on. */
PERF_LOCAL int pinned_cpu(void)
{
	cpu_set_t cpus;
	unsigned int cpu;

	CPU_ZERO(&cpus);
	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return perf_error("cannot tell which CPUs the program may run on: %s",
				  strerror(errno));

	if (CPU_COUNT(&cpus) != 1)
		return perf_error("the program may run on %d CPUs, but one encoder traces one: "
				  "pin the program to one CPU, for example: taskset -c 1 ./prog",
				  CPU_COUNT(&cpus));

	for (cpu = 0; !CPU_ISSET(cpu, &cpus); cpu++)
		;
	return (int)cpu;
}

PERF_INTERNAL int perf_session_begin(struct perf_session *session,
				     unsigned int cores, unsigned int funnels)
{
	struct perf_device device;

	if (perf_session_end(session))
		return -1;

	session->state = PERF_SESSION_NONE;
	if (perf_device_open(&device))
		return -1;

	if (device.info.encoders != cores || device.info.funnels != funnels)
		perf_notice("the program expects %u encoders and %u funnels, the driver has found %u and %u: using the driver's",
			    cores, funnels, device.info.encoders,
			    device.info.funnels);

	perf_device_close(&device);
	session->state = PERF_SESSION_IDLE;
	return 0;
}

PERF_INTERNAL int perf_session_setup(struct perf_session *session,
				     const struct perf_setup *setup)
{
	struct perf_device *device = &session->device;
	const char *header = getenv("SIFIVE_TRACE_HEADER");
	struct perf_stream *stream = NULL;
	int cpu, stimulus;

	cpu = pinned_cpu();
	if (cpu < 0 || perf_device_open(device))
		return -1;

	if (perf_device_choose(device, cpu))
		goto fail;

	stimulus = perf_device_channel(device, setup->channel);
	if (stimulus < 0 ||
	    perf_device_take(device, (unsigned int)stimulus, setup->buffer))
		goto fail;

	if (setup->count &&
	    perf_device_counters(device, setup->counter, setup->count))
		goto fail;

	if (perf_device_map(device))
		goto fail;

	stream = stream_alloc();
	if (!stream)
		goto fail;

	if (perf_stream_init(stream,
			     perf_device_stimulus(device, (unsigned int)stimulus),
			     perf_device_timestamp(device), setup->type,
			     setup->counter, setup->count)) {
		perf_error("the driver gave two events the same counter");
		goto fail;
	}

	session->stream = stream;
	session->open = PERF_OPEN_MANUAL | (setup->hooks ? PERF_OPEN_HOOKS : 0);
	session->header_once = header && !strcmp(header, "once");
	session->header_written = false;
	session->missed = 0;
	session->state = PERF_SESSION_READY;
	perf_hooks_attach(stream);
	return 0;

fail:
	stream_free(stream);
	perf_device_close(device);
	return -1;
}

PERF_INTERNAL int perf_session_end(struct perf_session *session)
{
	if (check_owner(session))
		return -1;
	if (session->state == PERF_SESSION_ON)
		return perf_error("tracing is on: call perfTraceOff() first");
	if (session->state < PERF_SESSION_READY)
		return 0;
	if (check_not_busy(session))
		return -1;

	perf_hooks_attach(NULL);
	stream_free(session->stream);
	session->stream = NULL;
	perf_device_close(&session->device);
	session->state = PERF_SESSION_IDLE;
	return 0;
}

PERF_INTERNAL int perf_session_on(struct perf_session *session)
{
	struct perf_stream *stream = session->stream;
	struct perf_capture capture;
	int full;

	if (check_ready(session))
		return -1;
	if (session->state == PERF_SESSION_ON)
		return 0;
	if (check_not_busy(session))
		return -1;

	full = perf_device_start(&session->device);
	if (full < 0 ||
	    (full && perf_device_capture(&session->device, &capture)))
		return -1;
	if (full)
		return perf_error("trace buffer full: %llu bytes captured: write them with perfWriteTrace(), then initialise again, with a larger SBABufferSize",
				  (unsigned long long)capture.bytes);

	if (!session->header_written || !session->header_once) {
		perf_stream_claim(stream);
		perf_stream_header(stream);
		perf_stream_release(stream);
		session->header_written = true;
	}

	session->state = PERF_SESSION_ON;
	perf_hooks_open(stream, session->open, &session->missed);
	return 0;
}

PERF_INTERNAL int perf_session_off(struct perf_session *session)
{
	if (check_ready(session))
		return -1;
	if (session->state == PERF_SESSION_READY)
		return 0;

	perf_hooks_close(session->stream);
	session->state = PERF_SESSION_READY;
	return perf_device_stop(&session->device);
}

PERF_INTERNAL int perf_session_record(struct perf_session *session,
				      uintptr_t address)
{
	struct perf_stream *stream = perf_hooks_stream();

	if (PERF_UNLIKELY(!stream || stream != session->stream)) {
		if (session->state == PERF_SESSION_ON)
			__atomic_fetch_add(&session->missed, 1, __ATOMIC_RELAXED);
		return check_ready(session);
	}

	if (PERF_UNLIKELY(perf_hooks_manual(stream, address)))
		return check_not_busy(session);
	return 0;
}

PERF_LOCAL int write_all(int fd, const char *from, size_t size)
{
	while (size) {
		ssize_t done = write(fd, from, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		from += done;
		size -= (size_t)done;
	}
	return 0;
}

/* Copy @bytes of the capture from @offset on to @fd. */
PERF_LOCAL int copy_capture(struct perf_device *device, int fd,
			    const char *path, uint64_t offset, uint64_t bytes)
{
	char chunk[DUMP_CHUNK];
	uint64_t copied = 0;
	ssize_t got = 0;

	while (copied < bytes) {
		uint64_t left = bytes - copied;
		size_t size = left < sizeof(chunk) ? (size_t)left : sizeof(chunk);

		got = perf_device_read(device, chunk, size, offset + copied);
		if (got <= 0)
			break;
		if (write_all(fd, chunk, (size_t)got))
			return perf_error("cannot write %s: %s: it holds about %llu bytes of the trace",
					  path, strerror(errno),
					  (unsigned long long)copied);
		copied += (uint64_t)got;
	}
	return got < 0 ? -1 : 0;
}

/*
 * The name of sink @index's file: of one sink @path itself, of several with the
 * number before the last extension: trace.0.rtd, trace.1.rtd …
 */
PERF_LOCAL void file_name(char *name, size_t size, const char *path,
			  uint32_t index, uint32_t sinks)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	const char *dot = strrchr(base, '.');
	size_t stem = dot && dot != base ? (size_t)(dot - path) : strlen(path);

	if (sinks < 2)
		snprintf(name, size, "%s", path);
	else
		snprintf(name, size, "%.*s.%u%s", (int)stem, path, index,
			 path + stem);
}

/* Write the capture of each sink to its file. */
PERF_LOCAL int copy_sinks(struct perf_device *device, const char *path,
			  const struct perf_capture *capture, const int *fd)
{
	uint64_t offset = 0, bytes = capture->bytes;
	char name[PATH_MAX];
	int rc = 0;
	uint32_t i;

	for (i = 0; !rc && i < capture->sinks; i++) {
		file_name(name, sizeof(name), path, i, capture->sinks);
		if (capture->sinks > 1)
			rc = perf_device_sink(device, i, &offset, &bytes);
		if (!rc)
			rc = copy_capture(device, fd[i], name, offset, bytes);
	}
	return rc;
}

PERF_LOCAL int close_files(const char *path, int *fd, uint32_t sinks, int rc)
{
	uint32_t i;

	for (i = 0; i < sinks; i++)
		if (fd[i] >= 0 && close(fd[i]) && !rc)
			rc = perf_error("cannot write %s: %s", path, strerror(errno));
	return rc;
}

PERF_LOCAL int open_files(const char *path, int *fd, uint32_t sinks)
{
	char name[PATH_MAX];
	uint32_t i;

	if (strlen(path) + sizeof(".63") > sizeof(name))
		return perf_error("the name of the trace's file is too long");
	for (i = 0; i < sinks; i++)
		fd[i] = -1;
	for (i = 0; i < sinks; i++) {
		file_name(name, sizeof(name), path, i, sinks);
		fd[i] = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (fd[i] >= 0)
			continue;
		perf_error("cannot make %s: %s", name, strerror(errno));
		return close_files(path, fd, sinks, -1);
	}
	return 0;
}

/* Say what is not in the trace of @bytes. */
PERF_LOCAL void report_losses(struct perf_session *session, uint64_t bytes,
			      bool full)
{
	uint32_t dropped = __atomic_exchange_n(&session->stream->dropped, 0,
					       __ATOMIC_RELAXED);
	uint32_t missed = __atomic_exchange_n(&session->missed, 0,
					      __ATOMIC_RELAXED);

	if (full)
		perf_warning("trace buffer full: %llu bytes captured, later records were lost",
			     (unsigned long long)bytes);
	if (dropped || missed)
		perf_warning("records not written: %u of other threads, %u of signal handlers that interrupted a record",
			     missed, dropped);
}

PERF_INTERNAL int perf_session_dump(struct perf_session *session,
				    const char *path)
{
	struct perf_device *device = &session->device;
	struct perf_stream *stream = session->stream;
	struct perf_capture capture = { .sinks = 0 };
	int fd[PERF_MAX_SINKS];
	int rc;

	if (check_ready(session) || check_not_busy(session) ||
	    perf_device_capture(device, &capture) ||
	    open_files(path, fd, capture.sinks))
		return -1;

	/* A signal handler's stores would be lost unseen: it shall find it busy. */
	perf_stream_claim(stream);

	rc = session->state == PERF_SESSION_ON ? perf_device_stop(device) : 0;
	if (!rc)
		rc = perf_device_capture(device, &capture);
	if (!rc)
		rc = copy_sinks(device, path, &capture, fd);
	rc = close_files(path, fd, capture.sinks, rc);

	/* A full buffer refuses to start: it would have gone on losing records. */
	if (session->state == PERF_SESSION_ON && perf_device_start(device) < 0) {
		perf_hooks_close(stream);
		session->state = PERF_SESSION_READY;
		rc = -1;
	}

	perf_stream_release(stream);

	if (!rc)
		report_losses(session, capture.bytes, capture.full);
	return rc;
}

PERF_INTERNAL void perf_session_forget(struct perf_session *session)
{
	perf_hooks_attach(NULL);
	if (session->state >= PERF_SESSION_READY) {
		perf_hooks_close(session->stream);
		stream_free(session->stream);
		perf_device_abandon(&session->device);
	}
	memset(session, 0, sizeof(*session));
}
