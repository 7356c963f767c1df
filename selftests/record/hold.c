// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds counters with perf events, on all CPUs, while a command runs:
 *
 *	hold COMMAND...
 *
 * Opens more events than the hardware has counters, and pins them, so that perf does not release
 * the counters.
 */
#include <err.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENTS	32

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES, .pinned = 1,
	};
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), cpu;
	int i;

	if (argc < 2)
		errx(2, "hold COMMAND...");
	/* The events are inherited by the command. */
	for (cpu = 0; cpu < cpus; cpu++)
		for (i = 0; i < EVENTS; i++)
			if (syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, 0) < 0)
				err(1, "perf_event_open");
	execvp(argv[1], argv + 1);
	err(1, "%s", argv[1]);
}
