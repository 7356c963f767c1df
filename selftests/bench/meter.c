// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "meter.h"
#include "traced.h"

volatile uint64_t meter_middle;

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

uint64_t meter_median(uint64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

uint64_t meter_cost(struct meter *meter)
{
	return meter_median(meter->took, METER_CALLS);
}

uint64_t meter_nothing(void)
{
	struct meter meter;

	METER(&meter, (void)0);
	return meter_cost(&meter);
}

void meter_function(void (*function)(void), uint64_t *enter, uint64_t *exit)
{
	struct meter in, out;
	int i;

	for (i = 0; i < METER_CALLS; i++) {
		uint64_t begin = meter_instret(), end;

		function();
		end = meter_instret();
		in.took[i] = meter_middle - begin;
		out.took[i] = end - meter_middle;
	}
	*enter = meter_cost(&in);
	*exit = meter_cost(&out);
}

void meter_traced(void (*function)(void), uint64_t *enter, uint64_t *exit)
{
	uint64_t plain_enter, plain_exit;

	meter_function(traced_plain, &plain_enter, &plain_exit);
	meter_function(function, enter, exit);
	*enter -= plain_enter;
	*exit -= plain_exit;
}

void meter_pin(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		err(1, "cannot stay on CPU %d", cpu);
}

static void set_access(const char *value)
{
	static const char path[] = "/proc/sys/kernel/perf_user_access";
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, value, 1) != 1)
		err(1, "%s", path);
	close(fd);
}

int meter_open(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.pinned = 1,
	};
	int fd;

	set_access("2");
	/* Use a per-CPU event: a per-thread event would be programmed at each context switch. */
	fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
	if (fd < 0)
		err(1, "perf_event_open");
	return fd;
}

int meter_user(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.exclude_kernel = 1,
	};
	int fd;

	/* Without this setting, the event uses the fixed counter, which counts all modes. */
	set_access("1");
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (fd < 0)
		err(1, "perf_event_open");
	return fd;
}
