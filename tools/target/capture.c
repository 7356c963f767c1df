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
#include <unistd.h>

#include "lib/error.h"
#include "lib/event.h"
#include "lib/switches.h"
#include "lib/turns.h"

#include "../command.h"
#include "../text.h"
#include "calls.h"
#include "capture.h"
#include "files.h"
#include "losses.h"
#include "machine.h"
#include "sidecar.h"

/* Size of the copy buffer. */
#define CHUNK	65536

/*
 * Return the channel that the library chooses for samples: the next higher one, or else the
 * lowest.
 */
static unsigned int next_channel(const struct perf_device *device, unsigned int channel)
{
	uint32_t others = perf_device_channels(device) & ~(1u << channel);

	return (unsigned int)__builtin_ctz(others >> channel ? others & -(1u << channel) :
					   others);
}

static int take_switches(struct perf_device *device, struct perf_setup *setup, bool threads)
{
	const struct sifive_trace_sampling *sampling = &setup->sampling;
	uint32_t flags = sampling->flags & SIFIVE_TRACE_SAMPLING_ALL ? SIFIVE_TRACE_SWITCHES_ALL :
			 threads ? SIFIVE_TRACE_SWITCHES_CHILDREN : 0;
	uint32_t used = 1u << setup->channel | 1u << sampling->channel;

	if (setup->syscalls)
		flags |= SIFIVE_TRACE_SWITCHES_SYSCALLS;
	if (setup->faults)
		flags |= SIFIVE_TRACE_SWITCHES_FAULTS;
	if (setup->take.instruction.mode)
		used |= ~PERF_STIMULUS_FREE;
	setup->encoders = device->count;
	setup->switch_channel = perf_switches_set(device, used, flags);
	return setup->switch_channel < 0 ? -1 : 0;
}

/* Take the hardware and counters, and set up sampling; perf_device_close() undoes this. */
static int begin(struct perf_device *device, struct perf_setup *setup, bool threads)
{
	struct sifive_trace_sampling *sampling = &setup->sampling;

	if (perf_device_open(device))
		return -1;
	/* If the perf driver is unknown, our driver cannot read the sampling counter. */
	if (device->info.flags & SIFIVE_TRACE_INFO_FIXED_SHARED)
		setup->counter[0].flags &= ~SIFIVE_TRACE_EVENT_OF_SAMPLES;
	if (perf_device_choose(device, &setup->cpus) ||
	    perf_device_take(device, &setup->take) ||
	    perf_device_check_channel(device, setup->channel) ||
	    perf_device_counters(device, setup->counter, setup->name, setup->count,
				 setup->per_thread, sampling->interval || sampling->period ? 0 :
				 setup->turn_us) ||
	    perf_turns_check(setup))
		return -1;
	sampling->channel = threads ? next_channel(device, setup->channel) : setup->channel;
	if (setup->take.flags & SIFIVE_TRACE_CONFIG_RING &&
	    setup->type == SIFIVE_TRACE_RECORD_XOR && !(threads && setup->header_once))
		sampling->flags |= SIFIVE_TRACE_SAMPLING_HEADERS;
	if (setup->switches && take_switches(device, setup, threads))
		return -1;
	if (!sampling->interval && !sampling->period)
		return 0;
	return perf_device_sample(device, sampling, setup->type, threads && setup->header_once);
}

/* Without -C, record on the CPUs that the program may run on. */
static int use_affinity(struct perf_setup *setup)
{
	if (CPU_COUNT(&setup->cpus) ||
	    !sched_getaffinity(0, sizeof(setup->cpus), &setup->cpus))
		return 0;
	return perf_error("cannot read the program's CPU affinity: %s", strerror(errno));
}

int capture_begin(struct perf_device *device, struct perf_setup *setup, bool threads)
{
	int cpu;

	if (threads && use_affinity(setup))
		return -1;
	if (!CPU_COUNT(&setup->cpus))
		for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
			CPU_SET(cpu, &setup->cpus);
	if (!(setup->sampling.flags & SIFIVE_TRACE_SAMPLING_ALL))
		setup->sampling.flags |= SIFIVE_TRACE_SAMPLING_EXEC;
	/*
	 * With -c, if the kernel writes all records, the counter that triggers samples also
	 * provides the count of the first event. The counter cannot provide hart counts, which
	 * include code that is not sampled.
	 */
	if (setup->sampling.period && setup->per_thread && !threads)
		setup->counter[0].flags |= SIFIVE_TRACE_EVENT_OF_SAMPLES;
	return begin(device, setup, threads);
}

int capture_try(const struct perf_setup *wanted, bool threads, struct capture_mark *mark)
{
	struct sifive_trace_status status = { .size = sizeof(status) };
	struct perf_setup setup = *wanted;
	struct perf_device device;
	int error;

	if (use_affinity(&setup))
		return -1;
	error = begin(&device, &setup, threads);
	if (!error && ioctl(device.fd, SIFIVE_TRACE_IOC_STATUS, &status))
		error = perf_error("%s: %s", machine_device(), strerror(errno));
	mark->buffer = status.buffer;
	mark->capture = status.capture;
	mark->sinks = status.sinks;
	mark->period = setup.sampling.period;
	mark->sampled = setup.sampling.interval || setup.sampling.period;
	/* No pages of the program are replaced, because no stimulus page has been mapped. */
	perf_device_close(&device);
	return error;
}

/*
 * Write the user's name for an event, or an empty name for a standard event, whose name readers
 * contain.
 */
static void put_event(struct output *out, const char *name)
{
	if (!*name)
		return;
	put_string(out, "\"event\":");
	put_json(out, name);
	put_string(out, ",");
}

/* Write the program's path and arguments, which readers display. */
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

static void put_sampling(struct output *out, const struct perf_setup *setup)
{
	const struct sifive_trace_sampling *sampling = &setup->sampling;

	put_string(out, "\"sampling\":{");
	put_event(out, setup->sampling_name);
	put_format(out, "\"channel\":%u,\"%s\":%llu", sampling->channel,
		   sampling->period ? "period" : "interval_ns",
		   sampling->period ? sampling->period : sampling->interval);
	if (sampling->flags & SIFIVE_TRACE_SAMPLING_HEADERS)
		put_format(out, ",\"header_interval\":%u",
			   SIFIVE_TRACE_SAMPLING_HEADER_EVERY);
	put_string(out, "},\n");
}

static void put_files(struct output *out, const char *dir)
{
	put_string(out, "\"files\":");
	put_json(out, text_base(dir));
	put_string(out, ",\n");
}

int capture_describe(const char *path, const struct perf_setup *setup,
		     const struct capture_details *details)
{
	struct objects *objects = details->objects;
	struct output *out = output_open(path);
	uint32_t i;
	int error;

	if (!out)
		return -1;
	if (setup->header_interval)
		put_format(out, "\"header_interval\":%u,\n", setup->header_interval);
	if (details->launch)
		put_program(out, details->launch->path, details->launch->argv);
	put_format(out, "\"count_type\":%u,\n\"per_thread\":%s,\n\"channel\":%u,\n\"counters\":[",
		   setup->type, setup->per_thread ? "true" : "false",
		   setup->channel);
	for (i = 0; i < setup->count; i++) {
		const struct perf_counter *c = &setup->counter[i];

		put_format(out, "%s{\"number\":%u,", i ? "," : "", c->number);
		put_event(out, setup->name[i]);
		put_format(out, "\"type\":%u,\"code\":%u,\"data\":%" PRIu64
			   ",\"flags\":%u,\"info\":%u}", c->type, c->code,
			   c->data, c->flags, c->info);
	}
	put_string(out, "],\n");
	if (setup->sampling.interval || setup->sampling.period)
		put_sampling(out, setup);
	calls_describe(out, &setup->take, details->calls);
	if (setup->switches)
		put_format(out, "\"switches\":{\"channel\":%d,\"encoders\":%u},\n",
			   setup->switch_channel, setup->encoders);
	if (details->hit && details->hit->function)
		trigger_describe(out, details->hit, details->clock);
	if ((objects && objects->files) || (details->maps && details->maps->made))
		put_files(out, details->maps ? details->maps->dir : objects->files);
	if (details->maps)
		perf_maps_write(details->maps, out);
	error = details->tree && tree_write(details->tree, details->names, details->kernel, out);
	if (details->names && !details->tree)
		names_write(details->names, out);
	if (objects && !details->tree)
		objects_write(objects, out, setup->take.flags & SIFIVE_TRACE_CONFIG_RING);
	return output_close(out) || error ? -1 : 0;
}

/*
 * Copy *@bytes bytes of the device, starting at @offset, and set *@bytes to the number copied. If
 * @end is set, stop at the end of the data. Return 1 if a write failed, -1 if a read failed.
 */
int capture_copy(int fd, const char *path, uint64_t offset, __u64 *bytes,
		 bool end)
{
	struct output *out = files_open(path);
	uint64_t copied = 0, left;
	static char chunk[CHUNK];
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
		report("%s: %s", machine_device(), errno == EBUSY ?
		       "another program is reading it, such as sifive-trace record, which writes the trace" :
		       strerror(errno));
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
 * The driver reads a running ring from a copy, and no ioctl returns the length of the copy.
 * Therefore, read each sink through its own node, up to the end of its data.
 */
int capture_running(int fd, const char *path, uint32_t index, uint32_t sinks,
		    struct sifive_trace_sink *sink)
{
	char node[PATH_MAX];
	int own = -1, error;

	if (sinks > 1) {
		snprintf(node, sizeof(node), "%s.%u", machine_device(), index);
		own = open(node, O_RDONLY | O_CLOEXEC);
		if (own < 0) {
			report("%s: %s: end the recording with sifive-trace stop, then write it with sifive-trace dump",
			       node, strerror(errno));
			return -1;
		}
	}
	sink->bytes = sink->buffer;
	error = capture_copy(own < 0 ? fd : own, path, 0, &sink->bytes, true);
	if (own >= 0)
		close(own);
	return error;
}

int capture_sink(int fd, uint32_t index, struct sifive_trace_sink *sink)
{
	*sink = (struct sifive_trace_sink) {
		.size = sizeof(*sink), .index = index,
	};
	return ioctl(fd, SIFIVE_TRACE_IOC_SINK, sink);
}

/*
 * If the file @name is shorter than the sink's @bytes, report how much is missing and how to save
 * it, and return true.
 */
bool capture_short(const char *name, uint64_t bytes)
{
	struct stat file;
	uint64_t have = stat(name, &file) ? 0 : (uint64_t)file.st_size;

	if (have >= bytes)
		return false;
	report("%s: could not be written in full: %" PRIu64 " of %" PRIu64
	       " bytes are missing: until the next recording, write all of them elsewhere with sifive-trace dump -o FILE, and read that file with --meta %s.meta",
	       name, bytes - have, bytes, name);
	return true;
}

/* Return whether the capture is in trace SRAM, which cannot be read while it is being written. */
bool capture_locked(int fd)
{
	struct sifive_trace_sink sink;
	char byte;

	return !capture_sink(fd, 0, &sink) && sink.kind == SIFIVE_TRACE_SINK_SRAM &&
	       pread(fd, &byte, 1, 0) < 0 && errno == EBUSY;
}

/*
 * Check that this user may read the capture, before files of an earlier trace are replaced. Unlike
 * read(), the check consumes no bytes of a drained capture.
 */
static int check_reader(int fd)
{
	if (lseek(fd, 0, SEEK_CUR) >= 0)
		return 0;
	if (errno == EPERM)
		report("%s: %s: the capture is another user's, or contains kernel addresses: run this as root, or with CAP_PERFMON",
		       machine_device(), strerror(errno));
	else
		report("%s: %s", machine_device(), strerror(errno));
	return -1;
}

/*
 * Copy the contents of a stopped or running sink to its file. If nothing could be read, no file
 * is left behind.
 */
static int save_sink(int fd, const char *name, uint32_t index,
		     const struct sifive_trace_status *status,
		     struct sifive_trace_sink *sink)
{
	const bool running = status->flags & SIFIVE_TRACE_STATUS_RUNNING;
	uint64_t bytes = sink->bytes;
	int error;

	if (running)
		error = capture_running(fd, name, index, status->sinks, sink);
	else
		error = capture_copy(fd, name, sink->offset, &sink->bytes, false);
	if (error > 0 && !running)
		capture_short(name, bytes);
	if (error < 0 && !sink->bytes)
		files_remove_one(name);
	return error;
}

int capture_save(int fd, const char *path, const char *description,
		 struct objects *objects, const struct drain *drain, uint64_t ran,
		 bool quiet)
{
	struct sifive_trace_status status = { .size = sizeof(status) };
	struct sifive_trace_sink sink;
	int error, failed = 0;
	const char *why;
	char name[PATH_MAX];
	bool running;
	uint32_t i;

	if (ioctl(fd, SIFIVE_TRACE_IOC_STATUS, &status)) {
		report("%s: %s", machine_device(), strerror(errno));
		return -1;
	}
	running = !drain && status.flags & SIFIVE_TRACE_STATUS_RUNNING;
	if (!status.sinks) {
		report("nothing has been captured since the module was loaded");
		return -1;
	}
	if (check_reader(fd))
		return -1;
	if (capture_locked(fd)) {
		report("trace SRAM cannot be read while recording: stop it first");
		return -1;
	}
	for (i = 0; i < status.sinks; i++) {
		if (capture_sink(fd, i, &sink)) {
			report("%s: %s", machine_device(), strerror(errno));
			return -1;
		}
		perf_device_file(name, path, i, status.sinks);
		why = drain ? drain_account(drain, i, &sink) : NULL;
		error = !!why;
		/* Only once a running ring has been copied is it known how much of it was there. */
		if (running)
			error = save_sink(fd, name, i, &status, &sink);
		if (error < 0 && !sink.bytes) {
			failed = error;
			continue;
		}
		/* Always write the side-car file, because later dumps require it. */
		failed |= sidecar_write(fd, name, &sink, description, objects, drain,
					ran, false);
		if (drain)
			losses_gaps(name, &sink, why);
		else if (!running)
			error = save_sink(fd, name, i, &status, &sink);
		if (!error)
			losses_sink(name, &sink, quiet);
		failed |= error;
	}
	losses_report(fd, &status, false);
	losses_times(&status, drain, quiet);
	return failed ? -1 : 0;
}

int capture_heads(int fd, const struct drain *drain, const char *description)
{
	struct sifive_trace_sink sink;
	char name[PATH_MAX];
	int error = 0;
	uint32_t i;

	for (i = 0; i < drain->sinks && !error; i++) {
		perf_device_file(name, drain->path, i, drain->sinks);
		error = capture_sink(fd, i, &sink);
		/* The bytes in the buffer are not in the trace yet, but they are not lost. */
		sink.bytes = 0;
		error = error || sidecar_write(fd, name, &sink, description, NULL, drain, 0,
					       true);
	}
	return error ? -1 : 0;
}

int capture_samples(int fd)
{
	struct sifive_trace_status status = { .size = sizeof(status) };

	if (!ioctl(fd, SIFIVE_TRACE_IOC_STATUS, &status))
		return losses_samples(&status);
	report("%s: %s", machine_device(), strerror(errno));
	return -1;
}
