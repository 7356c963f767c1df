// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <linux/sifive_trace_regs.h>

#include "descriptor.h"
#include "device.h"
#include "environment.h"
#include "error.h"

#define DEVICE_PATH	"/dev/sifive-trace"

#ifndef PERF_DROPIN
#define SLOTS_SIZE	(SIFIVE_TRACE_THREADS * sizeof(struct sifive_trace_slot))
#endif /* PERF_DROPIN */

#define NEED_PERFMON \
	"permission denied: run as root, or give the program CAP_PERFMON " \
	"(setcap cap_perfmon+ep PROGRAM)"

#define NEED_RAWIO \
	"permission denied: this encoder's page also controls its DMA: run as " \
	"root, or give the program CAP_PERFMON and CAP_SYS_RAWIO " \
	"(setcap cap_perfmon,cap_sys_rawio+ep PROGRAM)"

/*
 * Address range of the stimulus pages, kept for the life of the process. Where no page is mapped,
 * ordinary memory receives late stores. The losses page is the last page.
 */
static char *pages;

#define PAGES		(PERF_LOSSES_PAGE + 1)

PERF_LOCAL int device_call(struct perf_device *device, unsigned long request,
			   void *argument)
{
	int fd = perf_device_fd(device);

	return fd < 0 ? -1 : ioctl(fd, request, argument);
}

/* ---- errors ------------------------------------------------------------------ */

PERF_LOCAL int read_status(struct perf_device *device,
			   struct sifive_trace_status *status)
{
	memset(status, 0, sizeof(*status));
	status->size = sizeof(*status);
	return device_call(device, SIFIVE_TRACE_IOC_STATUS, status);
}

PERF_INTERNAL int perf_device_error(struct perf_device *device, int error,
				    const char *what, const char *reason)
{
	struct sifive_trace_status status;
	bool known = !read_status(device, &status);
	/* STATUS requires no permission, so if STATUS also fails, ioctl(2) is forbidden. */
	bool filtered = !known && (errno == EPERM || errno == EACCES ||
				   errno == ENOSYS);
	/* If the caller holds the hardware, another resource is busy. */
	bool held = error == EBUSY && known && status.holder &&
		    !(status.flags & SIFIVE_TRACE_STATUS_OWNER);

	perf_error("%s: ", what);

	if (filtered)
		perf_error_add("the program's seccomp filter denies ioctl(2): allow it for %s, or install the filter after the trace has ended",
			       device->path);
	else if (reason)
		perf_error_add("%s", reason);
	else if (error == EACCES || error == EPERM)
		perf_error_add(NEED_PERFMON);
	else if (held && status.holder == getpid())
		perf_error_add("this process already holds it");
	else if (held)
		perf_error_add("process %d holds the trace hardware", status.holder);
	else if (error == ENODEV)
		perf_error_add("the driver has been unbound from the hardware");
	else if (error == ENOTTY)
		perf_error_add("%s is not a trace device, or its driver is older than this library",
			       device->path);
	else
		perf_error_add("%s", strerror(error));

	if (known && status.message[0] && (reason || !held))
		perf_error_add(" (%.*s)", (int)sizeof(status.message),
			       status.message);
	return -1;
}

PERF_LOCAL int open_error(const char *path, int error)
{
	if (error == EACCES)
		return perf_error("cannot open %s: permission denied: run as root, or give your group the device by a udev rule and the program CAP_PERFMON",
				  path);
	if (error == EPERM)
		return perf_error("cannot open %s: " NEED_PERFMON, path);
	if (error != ENOENT && error != ENXIO && error != ENODEV)
		return perf_error("cannot open %s: %s", path, strerror(error));
#ifndef PERF_DROPIN
	struct stat status;

	/* Do not use access(), which would link C library code that looks up the user's groups. */
	if (!stat("/sys/bus/platform/drivers/sifive-trace-encoder", &status))
		return error == ENOENT ?
		       perf_error("no trace device %s, though the module is loaded: mount devtmpfs on /dev, or correct SIFIVE_TRACE_DEVICE",
				  path) :
		       perf_error("the module is loaded, but found no trace encoder: see \"sifive-trace info\"");
#endif /* PERF_DROPIN */
	return perf_error("no trace device %s: load sifive_trace.ko, or see \"sifive-trace info\"",
			  path);
}

PERF_LOCAL int plain_call(struct perf_device *device, unsigned long request, void *argument,
			  const char *what)
{
	if (!device_call(device, request, argument))
		return 0;
	return perf_device_error(device, errno, what, NULL);
}

PERF_LOCAL int read_info(struct perf_device *device)
{
	device->info = (struct sifive_trace_info) { .size = sizeof(device->info) };
	return plain_call(device, SIFIVE_TRACE_IOC_INFO, &device->info,
			  "cannot query the trace hardware");
}

/*
 * Map memory in place of a page; with MAP_FIXED_NOREPLACE, only if nothing else is mapped there.
 * The memory's stimulus registers read as ready, so that threads that poll for room continue.
 */
PERF_LOCAL bool put_memory(char *place, size_t size, int fixed)
{
	char *memory = mmap(place, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);

	if (memory == MAP_FAILED)
		return false;
	memset(memory + TR_ITC_STIMULUS, 1, PERF_CHANNELS * sizeof(uint32_t));
	return true;
}

/* Replace all pages with memory. Returns false if a page could not be replaced. */
PERF_LOCAL bool put_memories(const struct perf_device *device, int fixed)
{
	const size_t size = device->info.page_size;
	bool done = true;
	uint32_t i;

	for (i = 0; i < device->mapped; i++)
		done &= put_memory(pages + i * size, size, fixed);
	if (device->mapped)
		done &= put_memory(pages + PERF_LOSSES_PAGE * size, size, fixed);
	return done;
}

/* Forget the open device. @own: the descriptor number still refers to it, so close it. */
PERF_LOCAL void abandon(struct perf_device *device, bool own)
{
	if (own)
		close(device->fd);
	device->fd = -1;
	device->capture = 0;
	device->count = 0;
	device->mapped = 0;
#ifndef PERF_DROPIN
	device->slots = NULL;
#endif /* PERF_DROPIN */
}

PERF_INTERNAL void perf_device_close(struct perf_device *device)
{
	bool own = device->mapped ? perf_descriptor_mapped(device, device->fd) :
				    device->fd >= 0;

	put_memories(device, MAP_FIXED);
#ifndef PERF_DROPIN
	if (device->slots)
		munmap(device->slots, SLOTS_SIZE);
#endif /* PERF_DROPIN */
	abandon(device, own);
}

PERF_INTERNAL int perf_device_open(struct perf_device *device)
{
	struct sifive_trace_info *info = &device->info;
	const char *path = perf_environment("SIFIVE_TRACE_DEVICE");
	struct stat about;

	memset(device, 0, sizeof(*device));
	snprintf(device->path, sizeof(device->path), "%s", path ? path : DEVICE_PATH);
	device->fd = perf_descriptor_up(open(device->path, O_RDWR | O_CLOEXEC));
	if (device->fd < 0)
		return open_error(device->path, errno);
	if (!fstat(device->fd, &about))
		device->node = about.st_rdev;

	if (!read_info(device)) {
		if (info->abi == SIFIVE_TRACE_ABI)
			return 0;
		perf_error("the driver has interface version %u, this library needs %u: "
			   "rebuild the program with the driver's library",
			   info->abi, (unsigned int)SIFIVE_TRACE_ABI);
	}
	perf_device_close(device);
	return -1;
}

PERF_INTERNAL void perf_device_forget(struct perf_device *device, bool fork)
{
	fork = fork && put_memories(device, MAP_FIXED_NOREPLACE);
#ifndef PERF_DROPIN
	if (fork && device->slots)
		put_memory(device->slots, SLOTS_SIZE, MAP_FIXED_NOREPLACE);
#endif /* PERF_DROPIN */
	/* The child may have reused the address range, so the library must not use it. */
	if (!fork)
		pages = NULL;
	abandon(device, perf_descriptor_session(device, device->fd));
}

PERF_LOCAL int read_encoder(struct perf_device *device, uint32_t index,
			    struct sifive_trace_encoder *encoder)
{
	*encoder = (struct sifive_trace_encoder) { .size = sizeof(*encoder), .index = index };
	return plain_call(device, SIFIVE_TRACE_IOC_ENCODER, encoder, "cannot query a trace encoder");
}

PERF_INTERNAL int perf_device_choose(struct perf_device *device,
				     const cpu_set_t *cpus)
{
	struct sifive_trace_encoder encoder;
	int other = -1, cpu;
	uint32_t i;

	device->count = 0;
	for (i = 0; i < device->info.encoders && i < PERF_CPUS; i++) {
		if (read_encoder(device, i, &encoder)) {
			device->count = 0;
			return -1;
		}
		if (encoder.cpu < 0 || encoder.cpu >= PERF_CPU_NUMBERS)
			continue;
		if (CPU_ISSET(encoder.cpu, cpus))
			device->encoder[device->count++] = encoder;
		else
			other = encoder.cpu;
	}
	if (device->count)
		return 0;

	for (cpu = 0; cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, cpus); cpu++)
		;
	if (other < 0)
		return perf_error("CPU %d has no trace encoder", cpu);
	return perf_error("CPU %d has no trace encoder: run the program on a CPU that has one, for example with taskset -c %d",
			  cpu, other);
}

PERF_INTERNAL uint32_t perf_device_channels(const struct perf_device *device)
{
	uint32_t i;

	for (i = 0; i < device->count; i++)
		if (device->encoder[i].flags & SIFIVE_TRACE_ENCODER_TS_CHANNELS)
			return (1u << PERF_CHANNELS / 2) - 1;
	return ~0u;
}

PERF_INTERNAL int perf_device_check_channel(const struct perf_device *device,
					    unsigned int channel)
{
	if (perf_device_channels(device) & 1u << channel)
		return 0;
	return perf_error("ITC channel %u does not exist on this processor's encoders: their "
			  "registers 16-31 are channels 0-15 with timestamps; "
			  "use a channel below 16", channel);
}

PERF_LOCAL unsigned int register_of(const struct sifive_trace_encoder *encoder,
				    unsigned int channel)
{
	return encoder->flags & SIFIVE_TRACE_ENCODER_TS_CHANNELS ?
	       channel + PERF_CHANNELS / 2 : channel;
}

PERF_LOCAL int take_error(struct perf_device *device, int error, unsigned long long buffer)
{
	char what[96], encoders[32], memory[48] = "its SRAM";
	const char *reason = NULL;

	if (device->count == 1)
		snprintf(encoders, sizeof(encoders), "CPU %d's encoder", device->encoder[0].cpu);
	else
		snprintf(encoders, sizeof(encoders), "%u encoders", device->count);
	if (buffer)
		snprintf(memory, sizeof(memory), "%llu bytes of memory", buffer);
	snprintf(what, sizeof(what), "cannot take %s and %s", encoders, memory);

	if (error == EOPNOTSUPP)
		reason = buffer ?
			"this hardware cannot trace to memory; use SRAM with SBABufferSize 0 or --sink sram" :
			"this hardware has no trace SRAM; use memory with an SBABufferSize above 0 or --sink sba";
	else if (error == ENOMEM)
		reason = "no buffer of that size is available: reduce SBABufferSize or -b, "
			 "or reserve memory for it in the device tree";
	return perf_device_error(device, error, what, reason);
}

PERF_INTERNAL int perf_device_take(struct perf_device *device,
				   const struct sifive_trace_config *wanted)
{
	struct sifive_trace_config config = *wanted;
	struct sifive_trace_status status;
	uint32_t i;

	config.size = sizeof(config);
	config.sink = config.buffer ? SIFIVE_TRACE_SINK_SBA : SIFIVE_TRACE_SINK_SRAM;
	/* Select all registers, because only CONFIG determines the register of each channel. */
	config.channels = ~0u;
#ifndef PERF_DROPIN
	if (config.instruction.mode)
		config.channels = PERF_STIMULUS_FREE;
	if (config.flags & SIFIVE_TRACE_CONFIG_DRAIN)
		config.watermark = config.buffer / 16;
#endif /* PERF_DROPIN */
	for (i = 0; i < device->count; i++)
		config.encoders |= UINT64_C(1) << device->encoder[i].index;
	if (device_call(device, SIFIVE_TRACE_IOC_CONFIG, &config))
		return take_error(device, errno, config.buffer);

	device->began = device->ran = 0;
	if (!read_status(device, &status))
		device->capture = status.capture;
	/* Read the results of CONFIG: channels, timestamps and the timestamp rate. */
	if (read_info(device))
		return -1;
	for (i = 0; i < device->count; i++)
		if (read_encoder(device, device->encoder[i].index, &device->encoder[i]))
			return -1;
	return 0;
}

PERF_INTERNAL struct sifive_trace_event perf_device_event(const struct perf_counter *counter)
{
	return (struct sifive_trace_event) {
		.type	= counter->type,
		.code	= counter->code,
		.data	= counter->data,
		.flags	= counter->flags,
	};
}

/* Return the first chosen encoder without @flag, or NULL if all have the flag. */
PERF_LOCAL const struct sifive_trace_encoder *first_without(const struct perf_device *device,
							    uint32_t flag)
{
	uint32_t i;

	for (i = 0; i < device->count; i++)
		if (!(device->encoder[i].flags & flag))
			return &device->encoder[i];
	return NULL;
}

PERF_INTERNAL bool perf_device_stalls(const struct perf_device *device)
{
	return !first_without(device, SIFIVE_TRACE_ENCODER_CAN_STALL);
}

#ifndef PERF_DROPIN
/* Explain why an event has no counter although the events before it in the list have counters. */
PERF_LOCAL const char *no_room(struct perf_device *device, const struct perf_counter *counter,
			       uint32_t before, char *text, size_t size)
{
	struct sifive_trace_query query = {
		.size = sizeof(query), .event = perf_device_event(counter),
	};

	if (counter->type == SIFIVE_TRACE_EVENT_FIRMWARE)
		return "firmware has no counter left";
	if (device_call(device, SIFIVE_TRACE_IOC_EVENT, &query) || !query.counters)
		return "no counter that can count it is free";
	snprintf(text, size,
		 "the %u event%s before it need%s all counters that can count it: %d of this processor's %d",
		 before, before == 1 ? "" : "s", before == 1 ? "s" : "",
		 __builtin_popcount(query.counters), __builtin_popcount(query.readable));
	return text;
}
#endif /* PERF_DROPIN */

PERF_LOCAL int counters_error(struct perf_device *device, int error,
			      PERF_OPTIONAL const struct perf_counter *counter,
			      char (*name)[PERF_EVENT_NAME],
			      uint32_t count, uint32_t failed)
{
	const char *reason = NULL;
	char what[128];
#ifndef PERF_DROPIN
	char room[160];
#endif /* PERF_DROPIN */

	if (failed >= count)
		return perf_device_error(device, error, "cannot take the counters", NULL);
	snprintf(what, sizeof(what), "cannot count %s%sevent %u of the list",
		 name[failed], *name[failed] ? ", " : "", failed);
	if (error == EOPNOTSUPP)
		reason = "this processor's firmware does not support it";
	else if (error == EINVAL)
		reason = "there is no such event";
	else if (error == EBUSY)
#ifdef PERF_DROPIN
		reason = "no counter that can count it is free";
#else
		reason = no_room(device, &counter[failed], failed, room, sizeof(room));
#endif /* PERF_DROPIN */
	return perf_device_error(device, error, what, reason);
}

PERF_INTERNAL int perf_device_counters(struct perf_device *device,
				       struct perf_counter *counter,
				       char (*name)[PERF_EVENT_NAME],
				       uint32_t count, bool per_thread,
				       PERF_OPTIONAL uint32_t turn_us)
{
	struct sifive_trace_counters counters = {
		.size	= sizeof(counters),
		.count	= count,
		.flags	= per_thread ? SIFIVE_TRACE_COUNTERS_PER_THREAD : 0,
		.failed	= ~0u,
	};
	const struct sifive_trace_encoder *closed =
		first_without(device, SIFIVE_TRACE_ENCODER_TS_READABLE);
	int error;
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (counter[i].type == SIFIVE_TRACE_EVENT_GENERAL &&
		    counter[i].code == SIFIVE_TRACE_EVENT_TIMESTAMP &&
		    closed)
			return perf_error("event %u of the list: programs cannot read the "
					  "trace timestamp of CPU %d's encoder: omit it%s",
					  i, closed->cpu, closed->ts_registers ?
					  ", because every message has a timestamp" :
					  closed->flags & SIFIVE_TRACE_ENCODER_TESTED ?
					  ", because this hardware provides no times" : "");
		counters.event[i] = perf_device_event(&counter[i]);
	}

	error = device_call(device, SIFIVE_TRACE_IOC_COUNTERS, &counters);
#ifndef PERF_DROPIN
	if (PERF_TURNS && error && errno == EBUSY && turn_us) {
		counters.flags |= SIFIVE_TRACE_COUNTERS_TURNS;
		counters.turn_us = turn_us;
		error = device_call(device, SIFIVE_TRACE_IOC_COUNTERS, &counters);
	}
#endif /* PERF_DROPIN */
	if (error)
		return counters_error(device, errno, counter, name, count,
				      counters.failed);

	for (i = 0; i < count; i++) {
		uint32_t number = counters.event[i].counter;
		uint32_t csr = number == PERF_COUNTER_TIMESTAMP ||
			       counter[i].type == SIFIVE_TRACE_EVENT_FIRMWARE ||
			       counter[i].flags & SIFIVE_TRACE_EVENT_OF_SAMPLES ?
			       0 : PERF_CSR_CYCLE + number;

		/* Readers have only a counter's number, so the number must determine the CSR. */
		if (number >= PERF_COUNTER_MAX ||
		    PERF_COUNTER_CSR(counters.event[i].info) != csr)
			return perf_error("event %u of the list has counter %u with CSR 0x%03x, which this library cannot read",
					  i, number,
					  PERF_COUNTER_CSR(counters.event[i].info));

		counter[i].number = number;
		counter[i].info = counters.event[i].info;
#ifndef PERF_DROPIN
		counter[i].turn = counters.event[i].turn;
#endif /* PERF_DROPIN */
	}

	return 0;
}

PERF_INTERNAL int perf_device_sample(struct perf_device *device,
				     struct sifive_trace_sampling *sampling,
				     uint32_t type, bool once)
{
	struct sifive_trace_sampling arg = *sampling;
	const char *reason = NULL;

	arg.size = sizeof(arg);
	arg.channel = register_of(&device->encoder[0], sampling->channel);
	arg.count_type = type;
	if (once)
		arg.flags |= SIFIVE_TRACE_SAMPLING_ONE_HEADER;
	if (!device_call(device, SIFIVE_TRACE_IOC_SAMPLING, &arg)) {
		sampling->interval = arg.interval;
		sampling->period = arg.period;
		return 0;
	}

	if (errno == EOPNOTSUPP && sampling->period)
		reason = "the event's counter cannot interrupt here: sample by time";
	return perf_device_error(device, errno, "cannot sample", reason);
}

PERF_INTERNAL void *perf_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory != MAP_FAILED)
		return memory;
	perf_error("cannot allocate memory for the trace's state: %s", strerror(errno));
	return NULL;
}

PERF_LOCAL bool map_page(const struct perf_device *device, uint32_t index, uint64_t offset)
{
	return mmap(perf_device_page(device, index), device->info.page_size,
		    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, device->fd,
		    (off_t)offset) != MAP_FAILED;
}

PERF_INTERNAL int perf_device_map(struct perf_device *device)
{
	const size_t size = device->info.page_size;
	uint32_t i;

	if (size < TR_ITC_STIMULUS + PERF_CHANNELS * sizeof(uint32_t))
		return perf_error("the driver's stimulus pages are too small (%zu bytes)",
				  size);
	if (!pages)
		pages = perf_memory(PAGES * size);
	if (!pages)
		return -1;

	for (i = 0; i < device->count; i++) {
		const struct sifive_trace_encoder *encoder = &device->encoder[i];
		bool rawio = encoder->flags & SIFIVE_TRACE_ENCODER_RAWIO;

		/* Also count a failed attempt, because it may have removed the previous mapping. */
		device->mapped = i + 1;
		if (map_page(device, i, encoder->mmap_offset))
			continue;
		rawio &= errno == EPERM || errno == EACCES;
		return perf_device_error(device, errno, "cannot map the stimulus registers",
					 rawio ? NEED_RAWIO : NULL);
	}
	if (map_page(device, PERF_LOSSES_PAGE, SIFIVE_TRACE_MMAP_LOSSES))
		return 0;
	return perf_device_error(device, errno, "cannot map the page of losses", NULL);
}

#ifndef PERF_DROPIN
PERF_INTERNAL int perf_device_map_slots(struct perf_device *device)
{
	device->slots = mmap(NULL, SLOTS_SIZE, PROT_READ, MAP_SHARED, device->fd,
			     SIFIVE_TRACE_MMAP_THREADS);
	if (device->slots != MAP_FAILED)
		return 0;
	device->slots = NULL;
	return perf_device_error(device, errno, "cannot map the threads' counts", NULL);
}
#endif /* PERF_DROPIN */

PERF_INTERNAL void *perf_device_page(const struct perf_device *device,
				     uint32_t index)
{
	return pages + index * (size_t)device->info.page_size;
}

PERF_INTERNAL void perf_device_stream(const struct perf_device *device, uint32_t index,
				      unsigned int channel, struct perf_stream *stream)
{
	uint32_t *page = perf_device_page(device, index);

	stream->stimulus = page + TR_ITC_STIMULUS / sizeof(*page) +
			   register_of(&device->encoder[index], channel);
	stream->ts = page + TR_TS_LOWER / sizeof(*page);
}

PERF_INTERNAL uint64_t perf_device_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

PERF_INTERNAL int perf_device_start(struct perf_device *device, uint32_t flags)
{
	struct sifive_trace_start run = { .size = sizeof(run), .flags = flags };
	uint64_t now = perf_device_now();

#ifndef PERF_DROPIN
	run.processes = (uintptr_t)device->processes;
	run.count = device->process_count;
#endif /* PERF_DROPIN */
	if (!device_call(device, SIFIVE_TRACE_IOC_START, &run)) {
		if (!device->began)
			device->began = now;
		return 0;
	}
	if (errno == ENOSPC)
		return 1;
	return perf_device_error(device, errno, "cannot start the trace", NULL);
}

PERF_INTERNAL int perf_device_stop(struct perf_device *device)
{
	struct sifive_trace_run run = { .size = sizeof(run) };
	int error = device_call(device, SIFIVE_TRACE_IOC_STOP, &run) ? errno : 0;

	/* Components stop even if STOP returns an error. */
	if (device->began)
		device->ran = perf_device_now() - device->began;
	return error ? perf_device_error(device, error, "cannot stop the trace", NULL) : 0;
}

PERF_INTERNAL int perf_device_capture(struct perf_device *device,
				      struct sifive_trace_status *capture)
{
	if (read_status(device, capture))
		return perf_device_error(device, errno, "cannot query the state of the trace", NULL);
	if (capture->sinks > PERF_MAX_SINKS)
		capture->sinks = PERF_MAX_SINKS;
	if (capture->flags & SIFIVE_TRACE_STATUS_CHANGED && !capture->changed)
		capture->changed = 1;
	capture->message[sizeof(capture->message) - 1] = '\0';
	return 0;
}

PERF_INTERNAL int perf_device_sink(struct perf_device *device, uint32_t index,
				   struct sifive_trace_sink *sink)
{
	*sink = (struct sifive_trace_sink) { .size = sizeof(*sink), .index = index };
	return plain_call(device, SIFIVE_TRACE_IOC_SINK, sink, "cannot query a sink's state");
}

PERF_INTERNAL void perf_device_file(char *name, const char *path, uint32_t index, uint32_t sinks)
{
	const char *dot = strrchr(path, '.');
	const bool suffix = dot && dot != path && dot[-1] != '/' && !strchr(dot, '/');
	const size_t stem = suffix ? (size_t)(dot - path) : strlen(path);

	if (sinks < 2)
		snprintf(name, PATH_MAX, "%s", path);
	else
		snprintf(name, PATH_MAX, "%.*s.%u%s", (int)stem, path, index, path + stem);
}

PERF_INTERNAL ssize_t perf_device_read(struct perf_device *device, void *to,
				       size_t size, uint64_t offset)
{
	int fd = perf_device_fd(device);
	ssize_t got = -1;

	if (fd >= 0)
		do {
			got = pread(fd, to, size, (off_t)offset);
		} while (got < 0 && errno == EINTR);
	if (got < 0)
		return perf_device_error(device, errno, "cannot read the trace", NULL);
	return got;
}
