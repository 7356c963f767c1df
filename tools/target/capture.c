// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See capture.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/event.h"

#include "../command.h"
#include "capture.h"
#include "files.h"
#include "machine.h"
#include "sidecar.h"

/* Size of the copy buffer. */
#define CHUNK	65536

/* Time to wait for a program's child, in steps of 10 ms. */
#define CHILD_STEPS	100

/*
 * Takes hardware and counters, and sets up sampling; perf_device_close() releases them.
 */
static int begin(struct perf_device *device, struct perf_setup *setup)
{
	struct perf_sampling *sampling = &setup->sampling;

	if (perf_device_open(device) ||
	    perf_device_choose(device, &setup->cpus) ||
	    perf_device_take(device, &setup->take) ||
	    perf_device_check_channel(device, setup->channel) ||
	    perf_device_counters(device, setup->counter, setup->count,
				 setup->per_thread))
		return -1;
	sampling->channel = setup->channel;
	if (!sampling->interval && !sampling->period)
		return 0;
	return perf_device_sample(device, sampling, setup->type, false);
}

int capture_begin(struct perf_device *device, struct perf_setup *setup)
{
	int cpu;

	if (!CPU_COUNT(&setup->cpus))
		for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
			CPU_SET(cpu, &setup->cpus);
	setup->sampling.exec = !setup->sampling.all;
	return begin(device, setup);
}

int capture_try(const struct perf_setup *wanted, struct capture_mark *mark)
{
	struct sifive_trace_status status = { .size = sizeof(status) };
	struct perf_setup setup = *wanted;
	struct perf_device device;
	int error;

	if (!CPU_COUNT(&setup.cpus) &&
	    sched_getaffinity(0, sizeof(setup.cpus), &setup.cpus))
		return perf_error("cannot read the program's CPU affinity: %s",
				  strerror(errno));
	error = begin(&device, &setup);
	if (!error && ioctl(device.fd, SIFIVE_TRACE_IOC_STATUS, &status))
		error = perf_error("%s: %s", machine_device(), strerror(errno));
	mark->buffer = status.buffer;
	mark->capture = status.capture;
	mark->sinks = status.sinks;
	mark->period = setup.sampling.period;
	mark->sampled = setup.sampling.interval || setup.sampling.period;
	/* No stimulus page is mapped. */
	perf_device_close(&device);
	return error;
}

static void put_event(struct output *out, const char *name,
		      const struct perf_counter *counter)
{
	char usual[PERF_EVENT_NAME];

	put_string(out, "\"event\":");
	put_json(out, perf_counter_name(counter, name, usual, sizeof(usual)));
}

/* The command line, for people. */
static void put_program(struct output *out, const char *path, char **argv)
{
	const char *between = "";

	put_string(out, "\"exe\":");
	put_json(out, path);
	put_string(out, ",\n\"args\":[");
	for (; *argv; argv++) {
		put_string(out, between);
		put_json(out, *argv);
		between = ",";
	}
	put_string(out, "],\n");
}

int capture_describe(const char *path, const struct perf_setup *setup,
		     const struct launch *launch, struct objects *objects)
{
	struct output *out = output_open(path);
	uint32_t i;

	if (!out)
		return -1;
	if (launch)
		put_program(out, launch->path, launch->argv);
	put_format(out, "\"count_type\":%u,\n\"per_thread\":%s,\n\"channel\":%u,\n\"counters\":[",
		   setup->type, setup->per_thread ? "true" : "false",
		   setup->channel);
	for (i = 0; i < setup->count; i++) {
		const struct perf_counter *c = &setup->counter[i];

		put_format(out, "%s{\"number\":%u,", i ? "," : "", c->number);
		put_event(out, setup->name[i], c);
		put_format(out, ",\"type\":%u,\"code\":%u,\"data\":%" PRIu64
			   ",\"flags\":%u,\"info\":%u}", c->type, c->code,
			   c->data, c->flags, c->info);
	}
	put_format(out, "],\n\"sampling\":{\"channel\":%u,", setup->channel);
	if (setup->sampling.period) {
		put_format(out, "\"period\":%" PRIu64 ",", setup->sampling.period);
		put_event(out, setup->sampling_name, &setup->sampling.event);
	} else {
		put_format(out, "\"interval_ns\":%" PRIu64,
			   setup->sampling.interval);
	}
	put_string(out, "},\n");
	if (objects)
		objects_write(objects, out, setup->take.ring);
	return output_close(out);
}

/*
 * Copy *@bytes of the device from @offset on, and set *@bytes to the number copied.
 * @end: stop at the end of the data. Return 1 if a write failed, -1 if a read did.
 */
static int copy(int fd, const char *path, uint64_t offset, __u64 *bytes,
		bool end)
{
	struct output *out = output_open(path);
	uint64_t copied = 0, left;
	char chunk[CHUNK];
	ssize_t got = 1;

	if (!out)
		return 1;
	while (copied < *bytes && got > 0 && !output_failed(out)) {
		left = *bytes - copied;
		got = pread(fd, chunk, left < CHUNK ? left : CHUNK,
			    (off_t)(offset + copied));
		if (got < 0 && errno == EINTR) {
			got = 1;
			continue;
		}
		if (got > 0) {
			put_bytes(out, chunk, (size_t)got);
			copied += (uint64_t)got;
		}
	}
	if (got < 0)
		report("%s: %s", machine_device(), strerror(errno));
	if (!got && copied < *bytes && !end) {
		report("%s: the trace has ended early: another session has configured the trace hardware",
		       path);
		got = -1;
	}
	*bytes = copied;
	if (output_close(out) && got >= 0)
		return 1;
	return got < 0 ? -1 : 0;
}

/*
 * A running ring is read as it was when reading began, and no call returns its
 * length. So each sink is read separately, to its end.
 */
static int copy_running(int fd, const char *path, uint32_t index, uint32_t sinks,
			struct sifive_trace_sink *sink)
{
	char node[PATH_MAX];
	int own = -1, error;

	if (sinks > 1) {
		snprintf(node, sizeof(node), "%s.%u", machine_device(), index);
		own = open(node, O_RDONLY | O_CLOEXEC);
		if (own < 0) {
			report("%s: %s: sifive-trace stop ends the recording, then dump can write it",
			       node, strerror(errno));
			return -1;
		}
	}
	sink->bytes = sink->buffer;
	error = copy(own < 0 ? fd : own, path, 0, &sink->bytes, true);
	if (own >= 0)
		close(own);
	return error;
}

static int get_sink(int fd, uint32_t index, struct sifive_trace_sink *sink)
{
	*sink = (struct sifive_trace_sink) {
		.size = sizeof(*sink), .index = index,
	};
	return ioctl(fd, SIFIVE_TRACE_IOC_SINK, sink);
}

/* For a drained sink. */
static void report_gaps(const char *name, const struct sifive_trace_sink *sink, bool full)
{
	bool more = sink->flags & SIFIVE_TRACE_STATUS_GAP_MORE;

	if (!sink->gaps)
		return;
	report("%s: %s%" PRIu64 " bytes are missing in %" PRIu64 " place%s: %s", name,
	       more ? "at least " : "", (uint64_t)sink->lost, (uint64_t)sink->gaps,
	       sink->gaps == 1 ? "" : "s",
	       full ? "the file did not take them" :
	       "they were overwritten before the command had read them: a larger -b, or fewer records, loses less");
}

/* Not a loss: the user asked for a ring. */
static void report_sink(const char *name, const struct sifive_trace_sink *sink,
			bool quiet)
{
	if (sink->flags & SIFIVE_TRACE_STATUS_FULL)
		report("%s: the buffer was full after %" PRIu64
		       " bytes, later records were lost: -b makes it larger",
		       name, (uint64_t)sink->bytes);
	else if (!quiet && sink->flags & SIFIVE_TRACE_STATUS_WRAPPED)
		report("%s: the newest %" PRIu64
		       " bytes: the ring has overwritten older records: -b makes it larger",
		       name, (uint64_t)sink->bytes);
}

/* No loss, but the program took longer. */
static void report_waits(const struct sifive_trace_status *status, const struct drain *drain)
{
	if (drain && !drain->quiet && status->waits)
		report("the program waited for this command %" PRIu64 " times, %.3f s in all threads together: a larger -b, or fewer records, makes it wait less",
		       (uint64_t)status->waits, (double)status->waited / 1e9);
}

/* No loss, but what happened meanwhile is not there. */
static void report_pauses(const struct sifive_trace_status *status)
{
	if (status->pauses)
		report("paused %" PRIu64 " time%s, %.3f s: what ran meanwhile was not recorded",
		       (uint64_t)status->pauses, status->pauses == 1 ? "" : "s",
		       (double)status->paused / 1e9);
}

static void report_losses(int fd, const struct sifive_trace_status *status)
{
	struct sifive_trace_losses losses = { .size = sizeof(losses) };
	char counters[512];
	uint64_t records = 0;

	if (!ioctl(fd, SIFIVE_TRACE_IOC_LOSSES, &losses))
		records = losses.signals + losses.threads + losses.abandoned +
			  losses.refused + losses.children;
	if (records)
		report("the program could not write %" PRIu64 " records: sifive-trace report says which",
		       records);

	if (status->samples_lost)
		report("%" PRIu64 " of %" PRIu64 " samples were lost",
		       (uint64_t)status->samples_lost,
		       (uint64_t)(status->samples + status->samples_lost));
	if (status->flags & SIFIVE_TRACE_STATUS_CHANGED)
		report("records may be missing: a program has changed registers of %u trace components while they ran: sifive-trace info names the encoders",
		       machine_changed(status));
	if (!status->counters_lost)
		return;
	machine_counters(status->counters_lost, counters, sizeof(counters));
	report("counters did not count all the time on all harts, their values cannot be trusted: %s",
	       counters);
	if (*status->message)
		report("the driver's last message: %.*s", (int)sizeof(status->message),
		       (const char *)status->message);
}

/*
 * Reports how many of a sink's @bytes are not in a file, and how to get them;
 * returns whether any are missing.
 */
static bool is_short(const char *name, uint64_t bytes)
{
	struct stat file;
	uint64_t have = stat(name, &file) ? 0 : (uint64_t)file.st_size;

	if (have >= bytes)
		return false;
	report("%s: not all could be written: %" PRIu64 " of %" PRIu64
	       " bytes are missing: until the next recording, sifive-trace dump -o FILE writes all of them elsewhere, which is read with --meta %s.meta",
	       name, bytes - have, bytes, name);
	return true;
}

/* Trace SRAM cannot be read while it is written. */
static bool is_locked(int fd)
{
	struct sifive_trace_sink sink;
	char byte;

	return !get_sink(fd, 0, &sink) && sink.kind == SIFIVE_TRACE_SINK_SRAM &&
	       pread(fd, &byte, 1, 0) < 0 && errno == EBUSY;
}

/* Copies what a stopped sink, or a running one, holds to its file. */
static int save_sink(int fd, const char *name, uint32_t index,
		     const struct sifive_trace_status *status,
		     struct sifive_trace_sink *sink)
{
	uint64_t bytes = sink->bytes;
	int error;

	if (status->flags & SIFIVE_TRACE_STATUS_RUNNING)
		return copy_running(fd, name, index, status->sinks, sink);
	error = copy(fd, name, sink->offset, &sink->bytes, false);
	if (error > 0)
		is_short(name, bytes);
	return error;
}

int capture_save(int fd, const char *path, const char *description,
		 struct objects *objects, const struct drain *drain, uint64_t ran,
		 bool quiet)
{
	struct sifive_trace_status status = { .size = sizeof(status) };
	struct sifive_trace_sink sink;
	int error, failed = 0;
	char name[PATH_MAX];
	uint32_t i;

	if (ioctl(fd, SIFIVE_TRACE_IOC_STATUS, &status)) {
		report("%s: %s", machine_device(), strerror(errno));
		return -1;
	}
	if (!status.sinks) {
		report("nothing has been captured since the module was loaded");
		return -1;
	}
	if (is_locked(fd)) {
		report("trace SRAM cannot be read while recording: stop it first");
		return -1;
	}
	for (i = 0; i < status.sinks; i++) {
		if (get_sink(fd, i, &sink)) {
			report("%s: %s", machine_device(), strerror(errno));
			return -1;
		}
		perf_device_file(name, sizeof(name), path, i, status.sinks);
		error = drain && !drain_account(drain, i, &sink);
		/* Written in any case: it is small, and a later dump needs it. */
		failed |= sidecar_write(fd, name, &sink, description, objects, drain,
					ran);
		if (!drain)
			error = save_sink(fd, name, i, &status, &sink);
		else
			report_gaps(name, &sink, error);
		if (!error)
			report_sink(name, &sink, quiet);
		failed |= error;
	}
	report_losses(fd, &status);
	if (!quiet)
		report_pauses(&status);
	report_waits(&status, drain);
	return failed ? -1 : 0;
}

int capture_heads(int fd, const struct drain *drain, const char *description)
{
	struct sifive_trace_sink sink;
	char name[PATH_MAX];
	int error = 0;
	uint32_t i;

	for (i = 0; i < drain->sinks && !error; i++) {
		perf_device_file(name, sizeof(name), drain->path, i, drain->sinks);
		error = get_sink(fd, i, &sink) ||
			sidecar_write(fd, name, &sink, description, NULL, drain, 0);
	}
	return error ? -1 : 0;
}

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
 * True of the first session since then, if no other process holds a session. The
 * owner of a later one is known only while it is held.
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
 * Open the capture of a program that has ended, if no other session was set up
 * since. A child of the program may hold the session until it ends.
 */
static int open_capture(const struct capture_mark *mark,
			struct sifive_trace_status *status)
{
	const struct timespec step = { .tv_nsec = 10000000 };
	int fd = open(machine_device(), O_RDONLY | O_CLOEXEC);
	unsigned int steps = 0;

	if (fd < 0)
		return -1;
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
	if (is_short(name, sink->bytes))
		return -1;
	/* The library has already reported that a buffer was full. */
	if (!(sink->flags & SIFIVE_TRACE_STATUS_FULL))
		report_sink(name, sink, quiet);
	return 0;
}

static int check_samples(const struct sifive_trace_status *status)
{
	if (status->samples)
		return 0;
	if (status->samples_lost)
		report("no sample was recorded: all %" PRIu64 " were lost: a larger -b, or a longer -i or -c, loses fewer",
		       (uint64_t)status->samples_lost);
	else
		report("no sample was recorded: the program ran for less than one interval or period: choose a shorter -i or -c");
	return -1;
}

int capture_samples(int fd)
{
	struct sifive_trace_status status = { .size = sizeof(status) };

	if (!ioctl(fd, SIFIVE_TRACE_IOC_STATUS, &status))
		return check_samples(&status);
	report("%s: %s", machine_device(), strerror(errno));
	return -1;
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
		if (get_sink(fd, i, &sink))
			break;
		perf_device_file(name, sizeof(name), path, i, status.sinks);
		error |= compare_sink(name, &sink, quiet);
	}
	if (fd >= 0 && mark->sampled)
		error |= check_samples(&status);
	if (fd >= 0)
		close(fd);
	return error;
}

/* Whether @meta is the side-car file of a sink's file @name. */
static bool has_side_car(char name[PATH_MAX], char meta[SIDECAR_PATH], const char *path,
			 uint32_t index, uint32_t sinks)
{
	perf_device_file(name, PATH_MAX, path, index, sinks);
	snprintf(meta, SIDECAR_PATH, "%s.meta", name);
	return !access(meta, F_OK);
}

/* Return 1 if a write failed, which has been reported. */
static int rescue_sink(int fd, const char *path, uint32_t index, uint32_t sinks,
		       uint64_t ran, bool quiet)
{
	char name[PATH_MAX], meta[SIDECAR_PATH];
	struct sifive_trace_sink sink;
	bool finished;
	uint64_t bytes;
	int error;

	/* Without a side-car file the owner of these bytes is unknown. */
	if (!has_side_car(name, meta, path, index, sinks) || get_sink(fd, index, &sink))
		return -1;
	bytes = sink.bytes;
	error = copy(fd, name, sink.offset, &sink.bytes, false);
	if (error > 0)
		is_short(name, bytes);
	if (!error)
		error = sidecar_complete(fd, meta, &sink, NULL, ran, &finished);
	if (error)
		return error;
	report_sink(name, &sink, quiet);
	return 0;
}

/* A session of an ended program that another process still holds. */
static bool is_busy(int fd, const char *path, uint32_t sinks)
{
	char name[PATH_MAX], meta[SIDECAR_PATH];

	if (!has_side_car(name, meta, path, 0, sinks) || !is_locked(fd))
		return false;
	report("a child of the program holds its trace, in SRAM that cannot be read meanwhile: when it has ended: sifive-trace dump -o FILE, which is read with --meta %s",
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
		report("another session has configured the trace hardware since: the program's records are lost");
	/* The next sink's bytes may fit even if this one's do not. */
	for (i = 0; !error && i < status.sinks; i++) {
		one = rescue_sink(fd, path, i, status.sinks, ran, quiet);
		if (one > 0)
			incomplete = true;
		else
			error = one;
	}
	if (!error)
		report_losses(fd, &status);
	if (fd >= 0)
		close(fd);
	if (!error && incomplete)
		error = 1;
	if (error < 0)
		files_remove(path);
	return error;
}

/* Add the copied and lost bytes of a drained sink to its side-car file. */
static int finish_sink(int fd, const struct drain *drain, uint32_t index, uint64_t ran,
		       bool *finished)
{
	char name[PATH_MAX], meta[SIDECAR_PATH];
	struct sifive_trace_sink sink;
	bool there = has_side_car(name, meta, drain->path, index, drain->sinks), full;
	int error;

	if (get_sink(fd, index, &sink) || (!there && machine_side_car()))
		return -1;
	full = !drain_account(drain, index, &sink);
	error = full;
	if (there && sidecar_complete(fd, meta, &sink, drain, ran, finished))
		error = 1;
	report_gaps(name, &sink, full);
	return error;
}

int capture_drained(struct drain *drain, const struct capture_mark *mark, bool *finished)
{
	struct sifive_trace_status status;
	int fd = open_capture(mark, &status), error = -1;
	char name[PATH_MAX], meta[SIDECAR_PATH];
	uint64_t ran = perf_device_now() - mark->began;
	uint32_t i;

	*finished = !machine_side_car();
	if (fd >= 0 && status.capture == drain->capture) {
		drain_rest(drain);
		for (i = 0, error = 0; error >= 0 && i < drain->sinks; i++)
			error |= finish_sink(fd, drain, i, ran, finished);
	} else if (status.capture != mark->capture) {
		report("another session has configured the trace hardware since: the rest of the program's records is lost");
		error = drain->sink[0].bytes && has_side_car(name, meta, drain->path, 0, drain->sinks) ?
			1 : -1;
		*finished = true;
	}
	if (error >= 0 && !*finished)
		report_losses(fd, &status);
	if (error >= 0 && !drain->quiet)
		report_pauses(&status);
	if (error >= 0)
		report_waits(&status, drain);
	if (error >= 0 && mark->sampled)
		error |= check_samples(&status) ? 1 : 0;
	if (fd >= 0)
		close(fd);
	return error;
}
