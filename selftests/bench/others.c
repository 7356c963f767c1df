// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the cost of other ways to record, in instructions including the kernel's.
 *
 *	others WHAT...	prints a line for each: WHAT, then instructions and bytes
 *
 *	hook	calls to empty entry and exit hooks, as inserted by the compiler
 *	read	read() of a perf event, and of a group of seven
 *	marker	write() of as many bytes as a record has, to trace_marker
 *	mcount	the call to _mcount that the compiler inserts; uftrace provides _mcount
 */
#include <err.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "meter.h"
#include "traced.h"

/* Size of an entry record with seven counters. */
#define RECORD_BYTES	60

void __cyg_profile_func_enter(void *function, void *site)
{
	asm volatile("" : : "r" (function), "r" (site));
}

void __cyg_profile_func_exit(void *function, void *site)
{
	asm volatile("" : : "r" (function), "r" (site));
}

static uint64_t nothing;

static void say(const char *what, uint64_t instructions, int bytes)
{
	printf("%s %lu %d\n", what, instructions, bytes);
	fflush(stdout);
}

static void run_hook(void)
{
	uint64_t enter, exit;

	meter_traced(traced_hooks, &enter, &exit);
	say("hook-entry", enter, 0);
	say("hook-exit", exit, 0);
}

/* An entry in uftrace's buffer has two words. */
static void run_mcount(void)
{
	uint64_t enter, exit;

	/* The first call allocates the thread's buffer. */
	traced_mcount();
	meter_traced(traced_mcount, &enter, &exit);
	say("uftrace-entry", enter, 16);
	say("uftrace-exit", exit, 16);
}

/* Open a fixed counter or a raw event, as in the records. */
static int open_event(int i, int group)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = i < 2 ? PERF_TYPE_HARDWARE : PERF_TYPE_RAW,
		.config = i < 2 ? i : 0x100 + i - 2,
		.read_format = PERF_FORMAT_GROUP,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, group, 0);

	if (fd < 0)
		err(1, "perf_event_open of event %d", i);
	return fd;
}

static void run_read(void)
{
	uint64_t values[8];
	struct meter meter;
	int i, fd;

	fd = open_event(0, -1);
	METER(&meter, (void)!read(fd, values, sizeof(values)));
	say("read-1", meter_cost(&meter) - nothing, 0);
	for (i = 1; i < 7; i++)
		open_event(i, fd);
	METER(&meter, (void)!read(fd, values, sizeof(values)));
	if (read(fd, values, sizeof(values)) != sizeof(values) || values[0] != 7)
		errx(1, "the group's read() did not return seven values");
	say("read-7", meter_cost(&meter) - nothing, 0);
}

static void run_marker(void)
{
	static const char path[] = "/sys/kernel/tracing/trace_marker";
	char record[RECORD_BYTES];
	struct meter meter;
	int fd;

	mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		err(1, "%s", path);
	memset(record, 'x', sizeof(record));
	if (write(fd, record, sizeof(record)) != sizeof(record))
		err(1, "write to %s", path);
	METER(&meter, (void)!write(fd, record, sizeof(record)));
	say("marker", meter_cost(&meter) - nothing, sizeof(record));
}

int main(int argc, char **argv)
{
	int i;

	meter_pin(0);
	meter_open();
	nothing = meter_nothing();
	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "hook"))
			run_hook();
		else if (!strcmp(argv[i], "read"))
			run_read();
		else if (!strcmp(argv[i], "marker"))
			run_marker();
		else if (!strcmp(argv[i], "mcount"))
			run_mcount();
		else
			errx(2, "unknown way to record: %s", argv[i]);
	}
	return 0;
}
