// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <errno.h>
#include <sys/ioctl.h>

#include "switches.h"

PERF_INTERNAL int perf_switches_set(struct perf_device *device, uint32_t used, uint32_t flags)
{
	const uint32_t all = perf_device_channels(device);
	/* Use the highest channel, because threads take the lowest. */
	const unsigned int channel = 31 - (unsigned int)__builtin_clz(all & ~used);
	struct sifive_trace_switches arg = {
		.size		= sizeof(arg),
		.flags		= flags | SIFIVE_TRACE_SWITCHES_WAKEUPS,
		/* Registers 16 to 31 may be channels 0 to 15. */
		.channel	= all == ~0u ? channel : channel + PERF_CHANNELS / 2,
	};
	int fd = perf_device_fd(device);

	if (fd >= 0 && !ioctl(fd, SIFIVE_TRACE_IOC_SWITCHES, &arg))
		return (int)channel;
	return perf_device_error(device, errno, "cannot record context switches", NULL);
}
