// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that a drained capture costs nothing while no program stores: the stimulus pages are not
 * mapped, and neither the driver's work nor its thread runs. The next store is read as usual. A
 * capture to which the kernel writes remains active, because the kernel's records need no page.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_more.h"

#define BUFFER	0x100000
#define PART	10
#define ROUNDS	2

/* Channel of the kernel's context-switch records. */
#define SWITCHES	9

#define TRACING	"/sys/kernel/debug/tracing/"
#define WORKS	TRACING "events/workqueue/workqueue_execute_start/enable"

FIXTURE(idle) {
	struct trace_session s;
	uint32_t next;
	uint8_t bytes[65536];
	size_t filled;
};

FIXTURE_SETUP(idle)
{
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	if (!trace_has_sink(&self->s, SIFIVE_TRACE_SINK_SBA))
		SKIP(return, "this board has no SBA sink");
	if (access(WORKS, W_OK))
		SKIP(return, "needs root and the kernel's workqueue events");
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
}

FIXTURE_TEARDOWN(idle)
{
	trace_session_close(&self->s);
}

static long page_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

/* Store a value; return the number of page faults, which is 0 if the stimulus page is mapped. */
static long store(struct _test_data_idle *self)
{
	const long before = page_faults();

	trace_store(self->s.page, self->s.reg, self->next++, 4);
	return page_faults() - before;
}

/* Store one part, wait for it as a reader does, and read it. */
static void record_part(struct __test_metadata *_metadata, struct _test_data_idle *self)
{
	struct pollfd wait = { .fd = self->s.fd, .events = POLLIN };
	uint32_t i;
	ssize_t got;

	for (i = 0; i < PART; i++)
		store(self);
	ASSERT_EQ(1, poll(&wait, 1, -1));
	got = read(self->s.fd, self->bytes + self->filled, sizeof(self->bytes) - self->filled);
	ASSERT_LT(0, got);
	self->filled += (size_t)got;
}

/* Return the id of the driver's thread. */
static int driver_thread(void)
{
	DIR *all = opendir("/proc");
	char path[300], name[32];
	struct dirent *entry;
	int pid = 0;

	while (all && !pid && (entry = readdir(all))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		if (atoi(entry->d_name) > 0 && trace_file_read(path, name, sizeof(name)) > 0 &&
		    !strncmp(name, "sifive-trace\n", 13))
			pid = atoi(entry->d_name);
	}
	closedir(all);
	return pid;
}

/* Return the number of waits by the driver's thread, which waits after each run. */
static long thread_runs(int pid)
{
	char path[64], status[4096];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (trace_file_read(path, status, sizeof(status)) <= 0)
		return -1;
	at = strstr(status, "\nvoluntary_ctxt_switches:");
	return at ? strtol(at + 25, NULL, 10) : -1;
}

/* Discard the kernel's trace. */
static void clear_trace(void)
{
	int fd = open(TRACING "trace", O_WRONLY | O_TRUNC);

	if (fd < 0)
		abort();
	close(fd);
}

/*
 * Return the number of times that the driver's work has run since the kernel's trace was discarded.
 */
static unsigned int work_runs(void)
{
	FILE *trace = fopen(TRACING "trace", "r");
	unsigned int runs = 0;
	char line[512];

	while (trace && fgets(line, sizeof(line), trace))
		runs += !!strstr(line, "[sifive_trace]");
	if (!trace || fclose(trace))
		abort();
	return runs;
}

/* Wait until the driver has not run for a second. */
static void until_driver_rests(struct __test_metadata *_metadata)
{
	const int pid = driver_thread();
	unsigned int works;
	long before;

	ASSERT_LT(0, pid);
	ASSERT_LE(0, trace_file_write(WORKS, "1"));
	do {
		before = thread_runs(pid);
		ASSERT_LE(0, before);
		clear_trace();
		sleep(1);
		works = work_runs();
	} while (works || thread_runs(pid) != before);
	ASSERT_LE(0, trace_file_write(WORKS, "0"));
}

static void check_all(struct __test_metadata *_metadata, struct _test_data_idle *self)
{
	struct trace_stream stream;
	uint8_t *rest;
	ssize_t size;

	ASSERT_EQ(0, trace_stop(self->s.fd));
	size = trace_read_all(self->s.fd, &rest);
	ASSERT_LE(0, size);
	ASSERT_GE(sizeof(self->bytes) - self->filled, (size_t)size);
	memcpy(self->bytes + self->filled, rest, (size_t)size);
	free(rest);
	ASSERT_EQ(0, trace_decode(self->bytes, self->filled + (size_t)size,
				  self->s.encoder.src_bits, &stream));
	EXPECT_EQ(self->next, trace_consecutive(&stream, NULL, NULL));
	free(stream.message);
}

static void check_idle_times(struct __test_metadata *_metadata, struct _test_data_idle *self,
			     uint32_t flags)
{
	struct sifive_trace_status status;
	unsigned int round;

	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER,
					  SIFIVE_TRACE_CONFIG_DRAIN | flags));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	for (round = 0; round < ROUNDS; round++) {
		record_part(_metadata, self);
		until_driver_rests(_metadata);
		ASSERT_EQ(0, trace_status(self->s.fd, &status));
		EXPECT_EQ(0, status.waits);
		EXPECT_EQ(1, store(self));
	}
	until_driver_rests(_metadata);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	record_part(_metadata, self);
	check_all(_metadata, self);
}

TEST_F_TIMEOUT(idle, waiting_capture_costs_nothing_until_next_store, 300)
{
	check_idle_times(_metadata, self, SIFIVE_TRACE_CONFIG_WAIT);
}

TEST_F_TIMEOUT(idle, dropping_capture_costs_nothing_until_next_store, 300)
{
	check_idle_times(_metadata, self, SIFIVE_TRACE_CONFIG_DROP);
}

TEST_F_TIMEOUT(idle, drained_capture_costs_nothing_until_next_store, 300)
{
	check_idle_times(_metadata, self, 0);
}

/* Unread bytes must not end the checks, because a check resumes stores when there is room. */
TEST_F_TIMEOUT(idle, full_sink_remains_checked, 300)
{
	const volatile uint8_t *full;

	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER,
					  SIFIVE_TRACE_CONFIG_DRAIN | SIFIVE_TRACE_CONFIG_DROP));
	full = mmap(NULL, (size_t)getpagesize(), PROT_READ, MAP_SHARED, self->s.fd,
		    SIFIVE_TRACE_MMAP_LOSSES);
	ASSERT_NE(MAP_FAILED, full);
	full += SIFIVE_TRACE_FULL_BYTES + self->s.encoder.index;
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	while (!*full)
		trace_store(self->s.page, self->s.reg, 0, 4);
	sleep(3);
	EXPECT_NE(0, *full);
	ASSERT_EQ(0, fcntl(self->s.fd, F_SETFL, O_NONBLOCK));
	while (*full)
		if (read(self->s.fd, self->bytes, sizeof(self->bytes)) < 0)
			usleep(1000);
	until_driver_rests(_metadata);
	EXPECT_EQ(1, store(self));
}

TEST_F_TIMEOUT(idle, capture_with_switches_remains_checked, 300)
{
	struct sifive_trace_switches switches = TRACE_ARG(sifive_trace_switches);

	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER,
					  SIFIVE_TRACE_CONFIG_DRAIN | SIFIVE_TRACE_CONFIG_WAIT));
	switches.channel = trace_register(&self->s.encoder, SWITCHES);
	ASSERT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SWITCHES, &switches));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	record_part(_metadata, self);
	sleep(3);
	EXPECT_EQ(0, store(self));
}

TRACE_HARNESS_MAIN
