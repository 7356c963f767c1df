// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device.h"
#include "error.h"

#define DEVICE_PATH	"/dev/sifive-trace"

#define NEED_PERFMON \
	"permission denied: run as root, or give the program CAP_PERFMON " \
	"(setcap cap_perfmon+ep PROGRAM)"

#define NEED_RAWIO \
	"permission denied: this encoder's page also controls its DMA: run as " \
	"root, or give the program CAP_PERFMON and CAP_SYS_RAWIO " \
	"(setcap cap_perfmon,cap_sys_rawio+ep PROGRAM)"

PERF_LOCAL int read_status(struct perf_device *device,
			   struct sifive_trace_status *status)
{
	memset(status, 0, sizeof(*status));
	status->size = sizeof(*status);
	return ioctl(device->fd, SIFIVE_TRACE_IOC_STATUS, status);
}

/*
 * Explain a failed call: what was attempted, why it failed, and what the kernel
 * says about it. @reason overrides the words for @error where not NULL.
 */
PERF_LOCAL int device_error(struct perf_device *device, int error,
			    const char *what, const char *reason)
{
	struct sifive_trace_status status;
	bool known = !read_status(device, &status);

	perf_error("%s: ", what);

	if (reason)
		perf_error_add("%s", reason);
	else if (error == EACCES || error == EPERM)
		perf_error_add(NEED_PERFMON);
	else if (error == EBUSY && known && status.holder == getpid())
		perf_error_add("this process has it already");
	else if (error == EBUSY && known && status.holder)
		perf_error_add("process %d has the trace hardware",
			       (int)status.holder);
	else if (error == ENODEV)
		perf_error_add("the driver has been unbound from the hardware");
	else if (error == ENOTTY)
		perf_error_add("%s is not a trace device", device->path);
	else
		perf_error_add("%s", strerror(error));

	if (known && status.message[0])
		perf_error_add(" (%.*s)", (int)sizeof(status.message),
			       status.message);
	return -1;
}

PERF_LOCAL int open_error(const char *path, int error)
{
	switch (error) {
	case ENOENT:
	case ENXIO:
	case ENODEV:
		return perf_error("no trace device %s: is the module loaded? "
				  "(insmod sifive_trace.ko)", path);
	case EACCES:
		return perf_error("cannot open %s: its mode forbids it: run as root, or let a udev rule give your group the device and the program CAP_PERFMON",
				  path);
	case EPERM:
		return perf_error("cannot open %s: " NEED_PERFMON, path);
	default:
		return perf_error("cannot open %s: %s", path, strerror(error));
	}
}

PERF_INTERNAL int perf_device_open(struct perf_device *device)
{
	struct sifive_trace_info *info = &device->info;
	const char *path = secure_getenv("SIFIVE_TRACE_DEVICE");

	memset(device, 0, sizeof(*device));
	device->path = path && *path ? path : DEVICE_PATH;
	device->fd = open(device->path, O_RDWR | O_CLOEXEC);
	if (device->fd < 0)
		return open_error(device->path, errno);

	info->size = sizeof(*info);
	if (ioctl(device->fd, SIFIVE_TRACE_IOC_INFO, info)) {
		device_error(device, errno, "cannot ask for the trace hardware",
			     NULL);
		goto fail;
	}

	if (info->abi != SIFIVE_TRACE_ABI) {
		perf_error("the driver has interface %u, this library needs %u: "
			   "rebuild the program with the driver's library",
			   info->abi, (unsigned int)SIFIVE_TRACE_ABI);
		goto fail;
	}

	return 0;

fail:
	perf_device_close(device);
	return -1;
}

PERF_INTERNAL void perf_device_close(struct perf_device *device)
{
	if (device->page)
		munmap(device->page, device->info.page_size);
	perf_device_abandon(device);
}

PERF_INTERNAL void perf_device_abandon(struct perf_device *device)
{
	if (device->fd >= 0)
		close(device->fd);
	device->fd = -1;
	device->page = NULL;
}

PERF_LOCAL int read_encoder(struct perf_device *device, uint32_t index)
{
	struct sifive_trace_encoder *encoder = &device->encoder;

	memset(encoder, 0, sizeof(*encoder));
	encoder->size = sizeof(*encoder);
	encoder->index = index;
	if (!ioctl(device->fd, SIFIVE_TRACE_IOC_ENCODER, encoder))
		return 0;
	return device_error(device, errno, "cannot ask for a trace encoder",
			    NULL);
}

PERF_INTERNAL int perf_device_choose(struct perf_device *device, int cpu)
{
	const struct sifive_trace_encoder *encoder = &device->encoder;
	char others[64] = "";
	size_t used = 0;
	uint32_t i;

	for (i = 0; i < device->info.encoders; i++) {
		if (read_encoder(device, i))
			return -1;
		if (encoder->cpu == cpu)
			return 0;
		if (encoder->cpu >= 0 && used < sizeof(others))
			used += (size_t)snprintf(others + used,
						 sizeof(others) - used, "%s%d",
						 used ? ", " : "", encoder->cpu);
	}

	if (!used)
		return perf_error("CPU %d has no trace encoder", cpu);
	return perf_error("CPU %d has no trace encoder: pin the program to one that has (CPU %s)",
			  cpu, others);
}

PERF_INTERNAL int perf_device_channel(const struct perf_device *device,
				      unsigned int channel)
{
	if (!(device->encoder.flags & SIFIVE_TRACE_ENCODER_TS_CHANNELS))
		return (int)channel;

	if (channel >= PERF_CHANNELS / 2)
		return perf_error("ITC channel %u does not exist on CPU %d's encoder: its "
				  "registers 16-31 are channels 0-15 with timestamps; "
				  "use a channel below 16",
				  channel, (int)device->encoder.cpu);
	return (int)channel + PERF_CHANNELS / 2;
}

PERF_INTERNAL int perf_device_take(struct perf_device *device,
				   unsigned int stimulus, uint32_t buffer)
{
	struct sifive_trace_config config = {
		.size		= sizeof(config),
		.sink		= buffer ? SIFIVE_TRACE_SINK_SBA :
					   SIFIVE_TRACE_SINK_SRAM,
		.channels	= 1u << stimulus,
		.buffer		= buffer,
		.encoders	= UINT64_C(1) << device->encoder.index,
	};
	const char *reason = NULL;
	char what[96];
	int error;

	/* Whether programs can read its timestamp is known from now on. */
	if (!ioctl(device->fd, SIFIVE_TRACE_IOC_CONFIG, &config))
		return read_encoder(device, device->encoder.index);
	error = errno;

	if (buffer)
		snprintf(what, sizeof(what),
			 "cannot take CPU %d's encoder and %lu bytes of memory",
			 (int)device->encoder.cpu, (unsigned long)buffer);
	else
		snprintf(what, sizeof(what),
			 "cannot take CPU %d's encoder and its SRAM",
			 (int)device->encoder.cpu);

	if (error == EOPNOTSUPP)
		reason = buffer ?
			"this hardware cannot trace to memory that way; SBABufferSize 0 takes SRAM" :
			"this hardware has no trace SRAM there; an SBABufferSize above 0 takes memory";
	else if (error == ENOMEM)
		reason = "no buffer of that size can be had: make SBABufferSize smaller, "
			 "or reserve memory for it in the device tree";

	return device_error(device, error, what, reason);
}

PERF_LOCAL int counters_error(struct perf_device *device, int error,
			      const struct perf_counter *counter,
			      uint32_t count, uint32_t failed)
{
	const char *reason = NULL;
	char what[96] = "cannot take the counters";

	if (failed < count) {
		const struct perf_counter *c = &counter[failed];

		if (c->type == PERF_EVENT_RAW)
			snprintf(what, sizeof(what),
				 "cannot count event %u of the list (raw 0x%llx)",
				 failed, (unsigned long long)c->data);
		else
			snprintf(what, sizeof(what),
				 "cannot count event %u of the list (type %u code %u)",
				 failed, c->type, c->code);

		if (error == EOPNOTSUPP)
			reason = "this processor's firmware does not offer it";
		else if (error == EBUSY)
			reason = "no counter that can count it is free";
		else if (error == EINVAL)
			reason = "there is no such event";
	}

	return device_error(device, error, what, reason);
}

PERF_INTERNAL int perf_device_counters(struct perf_device *device,
				       struct perf_counter *counter,
				       uint32_t count)
{
	struct sifive_trace_counters counters = {
		.size	= sizeof(counters),
		.count	= count,
		.failed	= ~0u,
	};
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (counter[i].type == PERF_EVENT_GENERAL &&
		    counter[i].code == SIFIVE_TRACE_EVENT_TIMESTAMP &&
		    !(device->encoder.flags & SIFIVE_TRACE_ENCODER_TS_READABLE))
			return perf_error("event %u of the list: programs cannot read the "
					  "trace timestamp of CPU %d's encoder: leave "
					  "HW_TIMESTAMP out, messages have it anyway",
					  i, (int)device->encoder.cpu);

		counters.event[i].type = counter[i].type;
		counters.event[i].code = counter[i].code;
		counters.event[i].data = counter[i].data;
	}

	if (ioctl(device->fd, SIFIVE_TRACE_IOC_COUNTERS, &counters))
		return counters_error(device, errno, counter, count,
				      counters.failed);

	for (i = 0; i < count; i++) {
		uint32_t number = counters.event[i].counter;
		uint32_t csr = number == PERF_COUNTER_TIMESTAMP ?
			       0 : PERF_CSR_CYCLE + number;

		/* Readers go by the number: the CSR has to be the usual one. */
		if (number >= PERF_COUNTER_MAX ||
		    PERF_COUNTER_CSR(counters.event[i].info) != csr)
			return perf_error("event %u of the list got counter %u with CSR 0x%03x, which this library cannot read",
					  i, number,
					  PERF_COUNTER_CSR(counters.event[i].info));

		counter[i].number = number;
		counter[i].info = counters.event[i].info;
	}

	return 0;
}

PERF_INTERNAL int perf_device_map(struct perf_device *device)
{
	const char *reason = NULL;
	void *page;

	if (device->info.page_size <
	    SIFIVE_TRACE_PAGE_STIMULUS + PERF_CHANNELS * sizeof(uint32_t))
		return perf_error("the driver's stimulus pages are too small (%u bytes)",
				  device->info.page_size);

	page = mmap(NULL, device->info.page_size, PROT_READ | PROT_WRITE,
		    MAP_SHARED, device->fd, (off_t)device->encoder.mmap_offset);
	if (page == MAP_FAILED) {
		int error = errno;

		if ((error == EPERM || error == EACCES) &&
		    device->encoder.flags & SIFIVE_TRACE_ENCODER_RAWIO)
			reason = NEED_RAWIO;
		return device_error(device, error,
				    "cannot map the stimulus registers", reason);
	}

	device->page = page;
	return 0;
}

PERF_INTERNAL volatile uint32_t *perf_device_stimulus(const struct perf_device *device,
						      unsigned int number)
{
	return (volatile uint32_t *)((char *)device->page +
				     SIFIVE_TRACE_PAGE_STIMULUS) + number;
}

PERF_INTERNAL const volatile uint32_t *perf_device_timestamp(const struct perf_device *device)
{
	return (const volatile uint32_t *)((char *)device->page +
					   SIFIVE_TRACE_PAGE_TS_LOWER);
}

PERF_INTERNAL int perf_device_start(struct perf_device *device)
{
	struct sifive_trace_run run = { .size = sizeof(run) };

	if (!ioctl(device->fd, SIFIVE_TRACE_IOC_START, &run))
		return 0;
	if (errno == ENOSPC)
		return 1;
	return device_error(device, errno, "cannot start the trace", NULL);
}

PERF_INTERNAL int perf_device_stop(struct perf_device *device)
{
	struct sifive_trace_run run = { .size = sizeof(run) };

	if (!ioctl(device->fd, SIFIVE_TRACE_IOC_STOP, &run))
		return 0;
	return device_error(device, errno, "cannot stop the trace", NULL);
}

PERF_INTERNAL int perf_device_capture(struct perf_device *device,
				      struct perf_capture *capture)
{
	struct sifive_trace_status status;

	if (read_status(device, &status))
		return device_error(device, errno,
				    "cannot ask for the trace's state", NULL);

	capture->bytes = status.bytes;
	capture->sinks = status.sinks <= PERF_MAX_SINKS ? status.sinks :
			 PERF_MAX_SINKS;
	capture->full = status.flags & SIFIVE_TRACE_STATUS_FULL;
	return 0;
}

PERF_INTERNAL int perf_device_sink(struct perf_device *device, uint32_t index,
				   uint64_t *offset, uint64_t *bytes)
{
	struct sifive_trace_sink sink = { .size = sizeof(sink), .index = index };

	if (ioctl(device->fd, SIFIVE_TRACE_IOC_SINK, &sink))
		return device_error(device, errno,
				    "cannot ask for a sink's state", NULL);
	*offset = sink.offset;
	*bytes = sink.bytes;
	return 0;
}

PERF_INTERNAL ssize_t perf_device_read(struct perf_device *device, void *to,
				       size_t size, uint64_t offset)
{
	ssize_t got;

	do {
		got = pread(device->fd, to, size, (off_t)offset);
	} while (got < 0 && errno == EINTR);

	if (got < 0)
		return device_error(device, errno, "cannot read the trace", NULL);
	return got;
}
