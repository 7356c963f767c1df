// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "join.h"

#ifdef PERF_SHARED

#include "error.h"
#include "thread.h"

PERF_LOCAL int call_join(struct perf_device *device, struct sifive_trace_join *join)
{
	int fd = perf_device_fd(device);

	return fd < 0 ? -1 : ioctl(fd, SIFIVE_TRACE_IOC_JOIN, join);
}

/* Select the encoders that are part of the session. */
PERF_LOCAL int choose_session(struct perf_device *device)
{
	uint32_t i, count = 0;
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	if (perf_device_choose(device, &all))
		return -1;
	for (i = 0; i < device->count; i++)
		if (device->encoder[i].flags & SIFIVE_TRACE_ENCODER_SELECTED)
			device->encoder[count++] = device->encoder[i];
	device->count = count;
	return 0;
}

PERF_INTERNAL int perf_join(struct perf_device *device, struct sifive_trace_join *join,
			    bool wanted)
{
	if (choose_session(device))
		return -1;
	join->size = sizeof(*join);
	join->session = -1;
	join->channels = wanted ? perf_device_channels(device) : 0;
	if (call_join(device, join))
		return perf_error("cannot join the recording: %s: start the program from a recorded one, with CAP_PERFMON",
				  strerror(errno));
	device->joined = true;
	/* The ids are 0 if the holder's namespace has none, or if the driver is too old. */
	device->process = join->process ? (int32_t)join->process : perf_process_id();
	device->parent = join->process ? (int32_t)join->parent : getppid();
	return 0;
}

PERF_INTERNAL int perf_join_channel(bool *used)
{
	struct perf_device *device = perf_pool->device;
	struct sifive_trace_join join = {
		.size = sizeof(join), .session = -1, .channel = (int32_t)perf_pool->first,
	};

	if (!device->joined)
		return -1;
	join.channels = perf_device_channels(device);
	if (call_join(device, &join))
		return -1;
	*used = join.used;
	return join.channel;
}

#endif
