// SPDX-License-Identifier: GPL-2.0-only
/* Produce one message on the CPU to which this program is pinned, and print its bytes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/sifive_trace.h>
#include <linux/sifive_trace_regs.h>

static int fail(int fd, const char *call)
{
	struct sifive_trace_status status = { .size = sizeof(status) };

	perror(call);
	if (!ioctl(fd, SIFIVE_TRACE_IOC_STATUS, &status) && status.message[0])
		fprintf(stderr, "%s\n", status.message);
	return 1;
}

int main(void)
{
	struct sifive_trace_info info = { .size = sizeof(info) };
	struct sifive_trace_encoder encoder = { .size = sizeof(encoder) };
	struct sifive_trace_config config = {
		.size = sizeof(config),
		.sink = SIFIVE_TRACE_SINK_SBA,
		/* Register 6 or 22 produces messages on channel 6; CONFIG determines which. */
		.channels = 1u << 6 | 1u << 22,
		.buffer = 4096,
	};
	struct sifive_trace_run run = { .size = sizeof(run) };
	int fd, cpu = sched_getcpu();
	unsigned int channel = 6;
	unsigned char byte;
	char *page;

	fd = open("/dev/sifive-trace", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return fail(fd, "/dev/sifive-trace");
	if (ioctl(fd, SIFIVE_TRACE_IOC_INFO, &info))
		return fail(fd, "INFO");
	for (encoder.index = 0; encoder.index < info.encoders; encoder.index++)
		if (!ioctl(fd, SIFIVE_TRACE_IOC_ENCODER, &encoder) &&
		    encoder.cpu == cpu)
			break;
	if (encoder.index == info.encoders) {
		fprintf(stderr, "CPU %d has no trace encoder\n", cpu);
		return 1;
	}

	config.encoders = 1ull << encoder.index;
	if (ioctl(fd, SIFIVE_TRACE_IOC_CONFIG, &config))
		return fail(fd, "CONFIG");
	if (ioctl(fd, SIFIVE_TRACE_IOC_ENCODER, &encoder))
		return fail(fd, "ENCODER");
	if (encoder.flags & SIFIVE_TRACE_ENCODER_TS_CHANNELS)
		channel += 16;
	page = mmap(NULL, info.page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    (off_t)encoder.mmap_offset);
	if (page == MAP_FAILED)
		return fail(fd, "mmap");

	if (ioctl(fd, SIFIVE_TRACE_IOC_START, &run))
		return fail(fd, "START");
	*(volatile uint32_t *)(page + TR_ITC_STIMULUS + 4 * channel) = 0x12345678;
	if (ioctl(fd, SIFIVE_TRACE_IOC_STOP, &run))
		return fail(fd, "STOP");

	while (read(fd, &byte, 1) == 1)
		printf("%02x ", byte);
	printf("\n");
	return 0;
}
