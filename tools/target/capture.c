// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See capture.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/event.h"

#include "../command.h"
#include "capture.h"
#include "machine.h"

/* Bytes copied at a time. */
#define CHUNK	65536

/* Take hardware and counters, and set sampling; for perf_device_close(). */
static int begin(struct perf_device *device, struct perf_setup *setup)
{
	struct perf_sampling *sampling = &setup->sampling;

	if (perf_device_open(device) ||
	    perf_device_choose(device, &setup->cpus) ||
	    perf_device_check_channel(device, setup->channel))
		return -1;
	sampling->channel = setup->channel;
	setup->take.channels = perf_device_registers(device,
						     1u << setup->channel);
	if (perf_device_take(device, &setup->take) ||
	    perf_device_counters(device, setup->counter, setup->count,
				 setup->per_thread))
		return -1;
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

int capture_try(const struct perf_setup *wanted)
{
	struct perf_setup setup = *wanted;
	struct perf_device device;
	int error;

	if (!CPU_COUNT(&setup.cpus) &&
	    sched_getaffinity(0, sizeof(setup.cpus), &setup.cpus))
		return perf_error("cannot tell which CPUs the program may run on: %s",
				  strerror(errno));
	error = begin(&device, &setup);
	/* Nothing is mapped. */
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

/* As it was called, for people. */
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
		     const struct launch *launch, const struct objects *objects)
{
	struct output *out = output_open(path);
	uint32_t i;

	if (!out)
		return -1;
	if (launch)
		put_program(out, launch->path, launch->argv);
	put_format(out, "\"count_type\":%u,\n\"channel\":%u,\n\"counters\":[",
		   setup->type, setup->channel);
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
		objects_write(objects, out);
	return output_close(out);
}

/* All of a file, behind what was written before. */
static int put_file(struct output *out, const char *path)
{
	FILE *file = fopen(path, "re");
	char text[4096];
	size_t got;

	if (!file) {
		report("%s: %s", path, strerror(errno));
		return -1;
	}
	while ((got = fread(text, 1, sizeof(text), file)))
		put_bytes(out, text, got);
	fclose(file);
	return 0;
}

static void put_sources(int fd, const struct sifive_trace_sink *sink,
			struct output *out)
{
	struct sifive_trace_encoder encoder;
	bool layout = false;
	const char *between = "";
	uint32_t i;

	put_string(out, "\"sources\":[");
	for (i = 0; machine_encoder(fd, i, &encoder); i++) {
		if (!(sink->encoders >> i & 1))
			continue;
		layout |= encoder.flags & SIFIVE_TRACE_ENCODER_TS_CHANNELS;
		put_format(out, "%s{\"src\":%u,\"hart\":%" PRIu64 ",\"cpu\":%d}",
			   between, encoder.src, (uint64_t)encoder.hart,
			   encoder.cpu);
		between = ",";
	}
	put_format(out, "],\n\"ts_channels\":%s,\n", layout ? "true" : "false");
}

static int write_meta(int fd, const char *trace,
		      const struct sifive_trace_sink *sink,
		      const char *description, const struct objects *objects)
{
	struct sifive_trace_status status = { .size = sizeof(status) };
	struct sifive_trace_info info = { .size = sizeof(info) };
	char path[PATH_MAX + 8];
	struct output *out;
	struct stat link;
	int error;

	snprintf(path, sizeof(path), "%s.meta", trace);
	/* Nobody has named this file: it is not written through a link. */
	if (!lstat(path, &link) && S_ISLNK(link.st_mode))
		unlink(path);
	out = output_open(path);
	if (!out)
		return -1;
	error = ioctl(fd, SIFIVE_TRACE_IOC_INFO, &info) ||
		ioctl(fd, SIFIVE_TRACE_IOC_STATUS, &status);
	if (error)
		report("%s: %s", machine_device(), strerror(errno));
	put_format(out, "{\"version\":1,\n\"srcbits\":%u,\n\"ts_width\":%u,\n\"ts_hz\":%"
		   PRIu64 ",\n\"ts_scheme\":\"xor\",\n\"wrapped\":%s,\n",
		   sink->src_bits, info.ts_width, (uint64_t)info.ts_hz,
		   sink->flags & SIFIVE_TRACE_STATUS_WRAPPED ? "true" : "false");
	put_sources(fd, sink, out);
	if (description && put_file(out, description))
		error = -1;
	if (objects)
		objects_write(objects, out);
	put_format(out, "\"lost\":{\"samples\":%" PRIu64 "}}\n",
		   (uint64_t)status.samples_lost);
	return output_close(out) || error ? -1 : 0;
}

static int copy(int fd, const char *path, uint64_t offset, uint64_t bytes)
{
	struct output *out = output_open(path);
	char chunk[CHUNK];
	ssize_t got = 1;

	if (!out)
		return -1;
	while (bytes && got > 0 && !output_failed(out)) {
		got = pread(fd, chunk, bytes < CHUNK ? bytes : CHUNK,
			    (off_t)offset);
		if (got < 0 && errno == EINTR) {
			got = 1;
			continue;
		}
		if (got > 0) {
			put_bytes(out, chunk, (size_t)got);
			offset += (uint64_t)got;
			bytes -= (uint64_t)got;
		}
	}
	if (got < 0)
		report("%s: %s", machine_device(), errno == EBUSY ?
		       "trace SRAM cannot be read while the capture runs: stop it first" :
		       strerror(errno));
	if (!got && bytes) {
		report("%s: the trace has ended early: something else has set the hardware up",
		       path);
		got = -1;
	}
	return output_close(out) || got < 0 ? -1 : 0;
}

static void report_losses(const struct sifive_trace_status *status)
{
	char counters[512];

	if (status->samples_lost)
		report("%" PRIu64 " of %" PRIu64 " samples were lost",
		       (uint64_t)status->samples_lost,
		       (uint64_t)(status->samples + status->samples_lost));
	if (!status->counters_lost)
		return;
	machine_counters(status->counters_lost, counters, sizeof(counters));
	report("counters were taken away or stopped by something else, do not trust their values: %s",
	       counters);
}

int capture_save(int fd, const char *path, const char *description,
		 const struct objects *objects)
{
	struct sifive_trace_status status = { .size = sizeof(status) };
	struct sifive_trace_sink sink;
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
	for (i = 0; i < status.sinks; i++) {
		sink = (struct sifive_trace_sink) {
			.size = sizeof(sink), .index = i,
		};
		if (ioctl(fd, SIFIVE_TRACE_IOC_SINK, &sink)) {
			report("%s: %s", machine_device(), strerror(errno));
			return -1;
		}
		perf_device_file(name, sizeof(name), path, i, status.sinks);
		if (copy(fd, name, sink.offset, sink.bytes) ||
		    write_meta(fd, name, &sink, description, objects))
			return -1;
		if (sink.flags & SIFIVE_TRACE_STATUS_FULL)
			report("%s: the buffer was full after %" PRIu64
			       " bytes, later records were lost: -b makes it larger",
			       name, (uint64_t)sink.bytes);
	}
	report_losses(&status);
	return 0;
}

uint64_t capture_show(const char *path, bool quiet)
{
	char name[PATH_MAX];
	struct stat status;
	uint64_t bytes = 0;
	unsigned int i;

	/* One file, or one for each sink. */
	for (i = 0; i <= SIFIVE_TRACE_MAX_ENCODERS; i++) {
		perf_device_file(name, sizeof(name), path, i ? i - 1 : 0, i ? 2 : 1);
		if (stat(name, &status))
			continue;
		bytes += (uint64_t)status.st_size;
		if (!quiet)
			report("%s: %" PRIu64 " bytes: sifive-trace report %s",
			       name, (uint64_t)status.st_size, name);
	}
	return bytes;
}

/* A trace and its side-car file; false: there was none. */
static bool remove_one(const char *path)
{
	char meta[PATH_MAX + 8];
	struct stat status;

	if (lstat(path, &status) || !S_ISREG(status.st_mode))
		return false;
	snprintf(meta, sizeof(meta), "%s.meta", path);
	unlink(meta);
	return !unlink(path);
}

void capture_remove(const char *path)
{
	char name[PATH_MAX];
	unsigned int i;

	remove_one(path);
	for (i = 0; i < SIFIVE_TRACE_MAX_ENCODERS; i++) {
		perf_device_file(name, sizeof(name), path, i, 2);
		if (!remove_one(name))
			return;
	}
}

int capture_path(const char *wanted, char *path, size_t size)
{
	size_t length = strlen(wanted), stem = length;
	struct stat status;
	bool folder = length && wanted[length - 1] == '/';
	char here[PATH_MAX];
	int used;

	if (folder && mkdir(wanted, 0777) && errno != EEXIST) {
		report("%s: %s", wanted, strerror(errno));
		return -1;
	}
	if (!folder && !stat(wanted, &status))
		folder = S_ISDIR(status.st_mode);
	if (!getcwd(here, sizeof(here))) {
		report("the current folder is not known: %s", strerror(errno));
		return -1;
	}
	while (stem > 1 && wanted[stem - 1] == '/')
		stem--;
	used = snprintf(path, size, "%s%s%.*s%s", *wanted == '/' ? "" : here,
			*wanted == '/' ? "" : "/", (int)stem, wanted,
			folder ? "/trace.rtd" : "");
	if (used > 0 && (size_t)used < size)
		return 0;
	report("%s: the name is too long", wanted);
	return -1;
}
