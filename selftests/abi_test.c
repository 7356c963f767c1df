// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that invalid calls fail with the specified error and have no effect. Invalid calls are
 * unknown calls, calls in the wrong order or without permission, and calls with invalid values for
 * CONFIG and COUNTERS.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <linux/sifive_trace_request.h>

#include "kselftest_harness.h"
#include "trace_device.h"
#include "trace_more.h"

/* ---- unknown calls, and calls that are made too early ------------------------- */

FIXTURE(device) {
	int fd;
	struct sifive_trace_info info;
};

FIXTURE_SETUP(device)
{
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, trace_info(self->fd, &self->info));
}

FIXTURE_TEARDOWN(device)
{
	close(self->fd);
}

TEST_F(device, unknown_calls_return_enotty)
{
	char argument[4096] = { 0 };
	unsigned int nr;

	*(uint32_t *)argument = 64;
	for (nr = _IOC_NR(SIFIVE_TRACE_IOC_REQUEST) + 1; nr < 256; nr++)
		ASSERT_EQ(-ENOTTY, trace_ioctl(self->fd,
					       _IOWR(SIFIVE_TRACE_IOC_TYPE, nr,
						     struct sifive_trace_info),
					       argument)) {
			TH_LOG("call %u", nr);
		}
}

/* Expect each unknown flag to be rejected; @flags points into @argument. */
static void unknown_flags(struct __test_metadata *_metadata, int fd,
			  unsigned long call, void *argument, uint32_t *flags,
			  uint32_t known)
{
	unsigned int bit;

	for (bit = 0; bit < 32; bit++) {
		if (known & 1u << bit)
			continue;
		*flags = 1u << bit;
		EXPECT_EQ(-EINVAL, trace_ioctl(fd, call, argument)) {
			TH_LOG("call %u, bit %u", (unsigned int)_IOC_NR(call), bit);
		}
	}
}

TEST_F(device, unknown_flags_return_einval)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	struct sifive_trace_thread thread = TRACE_ARG(sifive_trace_thread);
	struct sifive_trace_run start = TRACE_ARG(sifive_trace_run);
	struct sifive_trace_run stop = TRACE_ARG(sifive_trace_run);

	unknown_flags(_metadata, self->fd, SIFIVE_TRACE_IOC_CONFIG, &config,
		      &config.flags, SIFIVE_TRACE_CONFIG_RING |
		      SIFIVE_TRACE_CONFIG_OVERFLOW |
		      SIFIVE_TRACE_CONFIG_NO_TIMESTAMP |
		      SIFIVE_TRACE_CONFIG_DRAIN);
	EXPECT_EQ(0, trace_flags(self->fd));
	config = trace_simple_config(self->fd, 0);
	ASSERT_EQ(0, trace_config(self->fd, &config));
	unknown_flags(_metadata, self->fd, SIFIVE_TRACE_IOC_COUNTERS, &counters,
		      &counters.flags, SIFIVE_TRACE_COUNTERS_PER_THREAD |
		      SIFIVE_TRACE_COUNTERS_TURNS);
	unknown_flags(_metadata, self->fd, SIFIVE_TRACE_IOC_THREAD, &thread,
		      &thread.flags, SIFIVE_TRACE_THREAD_LEAVE);
	unknown_flags(_metadata, self->fd, SIFIVE_TRACE_IOC_START, &start,
		      &start.flags, SIFIVE_TRACE_START_REWIND | SIFIVE_TRACE_START_ON_EXEC);
	EXPECT_EQ(0, trace_flags(self->fd) & SIFIVE_TRACE_STATUS_RUNNING);
	ASSERT_EQ(0, trace_start(self->fd, 0));
	unknown_flags(_metadata, self->fd, SIFIVE_TRACE_IOC_STOP, &stop,
		      &stop.flags, 0);
	EXPECT_TRUE(trace_flags(self->fd) & SIFIVE_TRACE_STATUS_RUNNING);
}

TEST_F(device, info_describes_this_machine)
{
	EXPECT_EQ(SIFIVE_TRACE_ABI, self->info.abi);
	EXPECT_LT(0, self->info.encoders);
	EXPECT_GE(SIFIVE_TRACE_MAX_ENCODERS, self->info.encoders);
	EXPECT_EQ(getpagesize(), self->info.page_size);
	EXPECT_GE(64, self->info.ts_width);
	EXPECT_EQ(0, self->info.reserved);
	EXPECT_EQ(0, self->info.sinks_available &
		     ~(0x1fu << SIFIVE_TRACE_SINK_SRAM));
}

/* Return the hart that the kernel reports for a CPU, or -1 if it reports none. */
static long hart_of_cpu(int wanted)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	long value, hart = -1;
	char line[1024];
	int cpu = -1;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "processor : %ld", &value) == 1)
			cpu = (int)value;
		if (sscanf(line, "hart : %ld", &value) == 1 && cpu == wanted)
			hart = value;
	}
	if (f)
		fclose(f);
	return hart;
}

TEST_F(device, encoder_reports_hart_of_its_cpu)
{
	struct sifive_trace_encoder e, other;
	uint32_t i, j;

	for (i = 0; i < self->info.encoders; i++) {
		ASSERT_EQ(0, trace_encoder(self->fd, i, &e));
		EXPECT_EQ(i, e.index);
		EXPECT_NE('\0', e.name[0]);
		EXPECT_NE(NULL, memchr(e.name, '\0', sizeof(e.name)));
		EXPECT_EQ(0, e.mmap_offset % self->info.page_size);
		EXPECT_TRUE(e.cpu < 0 || e.hart == (uint64_t)hart_of_cpu(e.cpu));
		for (j = 0; j < i; j++) {
			ASSERT_EQ(0, trace_encoder(self->fd, j, &other));
			EXPECT_NE(e.mmap_offset, other.mmap_offset);
			EXPECT_NE(e.hart, other.hart);
			EXPECT_STRNE(e.name, other.name);
		}
	}
}

TEST_F(device, encoder_index_out_of_range_returns_einval)
{
	struct sifive_trace_encoder e;

	EXPECT_EQ(-EINVAL, trace_encoder(self->fd, self->info.encoders, &e));
	EXPECT_EQ(-EINVAL, trace_encoder(self->fd, ~0u, &e));
}

TEST_F(device, sink_index_out_of_range_returns_einval)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	struct sifive_trace_sink sink;

	ASSERT_EQ(0, trace_config(self->fd, &config));
	EXPECT_EQ(1, config.sinks);
	EXPECT_EQ(0, trace_sink(self->fd, 0, &sink));
	EXPECT_EQ(-EINVAL, trace_sink(self->fd, 1, &sink));
	EXPECT_EQ(-EINVAL, trace_sink(self->fd, ~0u, &sink));
}

TEST_F(device, start_without_session_returns_enxio)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_status status;

	EXPECT_EQ(-ENXIO, trace_start(self->fd, 0));
	EXPECT_EQ(-ENXIO, trace_stop(self->fd));
	EXPECT_EQ(-ENXIO, trace_ioctl(self->fd, SIFIVE_TRACE_IOC_COUNTERS, &counters));
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_EQ(0, status.flags);
	EXPECT_EQ(0, status.holder);
	EXPECT_NE('\0', status.message[0]);
}

/* ---- permissions -------------------------------------------------------------- */

TEST_F(device, second_session_is_refused_and_holder_is_reported)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	struct sifive_trace_status status;
	int second = trace_open(O_RDWR);
	char pid[16];

	ASSERT_LE(0, second);
	ASSERT_EQ(0, trace_config(self->fd, &config));

	config = trace_simple_config(second, 0);
	EXPECT_EQ(-EBUSY, trace_config(second, &config));
	ASSERT_EQ(0, trace_status(second, &status));
	snprintf(pid, sizeof(pid), " %d ", getpid());
	EXPECT_NE(NULL, strstr(status.message, pid)) {
		TH_LOG("message: %s", status.message);
	}
	EXPECT_EQ(getpid(), status.holder);
	EXPECT_EQ(SIFIVE_TRACE_STATUS_CONFIGURED, status.flags);
	EXPECT_EQ(-ENXIO, trace_start(second, 0));
	EXPECT_EQ(-ENXIO, trace_stop(second));

	/* The error message is returned only through the descriptor on which the call failed. */
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_STREQ("", status.message);
	EXPECT_EQ(SIFIVE_TRACE_STATUS_CONFIGURED | SIFIVE_TRACE_STATUS_OWNER,
		  status.flags);

	close(self->fd);
	self->fd = second;
	config = trace_simple_config(second, 0);
	EXPECT_EQ(0, trace_config(second, &config));
}

TEST_F(device, config_during_capture_returns_ebusy)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);

	ASSERT_EQ(0, trace_config(self->fd, &config));
	ASSERT_EQ(0, trace_start(self->fd, 0));
	config = trace_simple_config(self->fd, 0);
	EXPECT_EQ(-EBUSY, trace_config(self->fd, &config));
	EXPECT_EQ(-EBUSY, trace_ioctl(self->fd, SIFIVE_TRACE_IOC_COUNTERS, &counters));
	EXPECT_TRUE(trace_flags(self->fd) & SIFIVE_TRACE_STATUS_RUNNING);
	ASSERT_EQ(0, trace_stop(self->fd));
	config = trace_simple_config(self->fd, 0);
	EXPECT_EQ(0, trace_config(self->fd, &config));
}

/* Call CONFIG in a child with only these capabilities; return the errno of CONFIG. */
static int config_with_caps(int fd, uint64_t caps, bool other_user)
{
	struct sifive_trace_config config = trace_simple_config(fd, 0);
	struct sifive_trace_status status;
	struct sifive_trace_info info;
	pid_t child = fork();
	int ret;

	if (child)
		return -trace_wait(child);
	if (other_user ? setresuid(65534, 65534, 65534) : trace_keep_caps(caps))
		_exit(99);
	ret = trace_config(fd, &config);
	/* INFO and STATUS need no capability. */
	if (trace_info(fd, &info) || trace_status(fd, &status))
		_exit(98);
	if (ret && !status.message[0])
		_exit(97);
	_exit(-ret);
}

TEST_F(device, config_needs_capability)
{
	EXPECT_EQ(-EPERM, config_with_caps(self->fd, 0, true));
	EXPECT_EQ(-EPERM, config_with_caps(self->fd, 0, false));
	EXPECT_EQ(-EPERM, config_with_caps(self->fd, ~(BIT64(CAP_PERFMON) |
						       BIT64(CAP_SYS_ADMIN)) &
					   (BIT64(CAP_LAST_CAP + 1) - 1), false));
	EXPECT_EQ(0, trace_flags(self->fd));
	EXPECT_EQ(0, config_with_caps(self->fd, BIT64(CAP_PERFMON), false));
	EXPECT_EQ(0, config_with_caps(self->fd, BIT64(CAP_SYS_ADMIN), false));
}

/* ---- values of CONFIG ----------------------------------------------------------- */

/* Expect CONFIG to fail with @error and to have no effect. */
static void refused(struct __test_metadata *_metadata, int fd,
		    const struct sifive_trace_config *config, int error,
		    const char *what)
{
	struct sifive_trace_config copy = *config;
	struct sifive_trace_status status;

	EXPECT_EQ(-error, trace_config(fd, &copy)) {
		TH_LOG("%s", what);
	}
	ASSERT_EQ(0, trace_status(fd, &status));
	EXPECT_EQ(0, status.flags) {
		TH_LOG("%s: flags %#x", what, status.flags);
	}
	EXPECT_EQ(0, status.holder);
	EXPECT_EQ(0, status.bytes);
	EXPECT_NE('\0', status.message[0]) {
		TH_LOG("%s: no message", what);
	}
}

#define REFUSED(config, error, what) \
	refused(_metadata, self->fd, config, error, what)

TEST_F(device, config_refuses_invalid_sinks)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	uint32_t sinks[] = {
		SIFIVE_TRACE_SINK_DEFAULT, 1, 2, 3, SIFIVE_TRACE_SINK_ATB,
		SIFIVE_TRACE_SINK_PIB, SIFIVE_TRACE_SINK_FUNNEL, 9, 31, 32, ~0u,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sinks); i++) {
		config.sink = sinks[i];
		REFUSED(&config, EINVAL, "sink");
	}
}

TEST_F(device, config_refuses_missing_sink)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	uint32_t missing;

	for (missing = SIFIVE_TRACE_SINK_SRAM; missing <= SIFIVE_TRACE_SINK_SBA;
	     missing += SIFIVE_TRACE_SINK_SBA - SIFIVE_TRACE_SINK_SRAM) {
		if (self->info.sinks_available & 1u << missing)
			continue;
		config.sink = missing;
		config.buffer = missing == SIFIVE_TRACE_SINK_SBA ? 4096 : 0;
		REFUSED(&config, EOPNOTSUPP, "a sink that does not exist");
		return;
	}
	SKIP(return, "this board has both SBA and SRAM");
}

TEST_F(device, config_refuses_prescale_and_channels_out_of_range)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);

	config.prescale = 4;
	REFUSED(&config, EINVAL, "prescale 4");
	config.prescale = ~0u;
	REFUSED(&config, EINVAL, "prescale ~0");
	config.prescale = 0;
	config.channels = 0;
	REFUSED(&config, EINVAL, "no channel");
}

TEST_F(device, config_refuses_buffer_size_invalid_for_sink)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);

	config.sink = SIFIVE_TRACE_SINK_SBA;
	config.buffer = 0;
	REFUSED(&config, EINVAL, "SBA without buffer");
	config.sink = SIFIVE_TRACE_SINK_SRAM;
	config.buffer = 4096;
	REFUSED(&config, EINVAL, "SRAM with buffer");
}

TEST_F(device, config_refuses_excessive_buffer_sizes)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	unsigned int bits;

	if (config.sink != SIFIVE_TRACE_SINK_SBA)
		SKIP(return, "this board has no SBA sink");
	for (bits = 32; bits < 64; bits++) {
		config.buffer = BIT64(bits);
		REFUSED(&config, ENOMEM, "a power of two");
		config.buffer = BIT64(bits) + 1;
		REFUSED(&config, ENOMEM, "a power of two plus 1");
		config.buffer = BIT64(bits) - 1;
		REFUSED(&config, ENOMEM, "a power of two minus 1");
	}
	/* This size overflows when rounded up to the sink's word size. */
	config.buffer = ~0ull;
	REFUSED(&config, EINVAL, "~0");
}

TEST_F(device, config_refuses_nonexistent_encoders)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);

	if (self->info.encoders == 64)
		SKIP(return, "every bit of the mask selects an encoder");
	config.encoders = BIT64(self->info.encoders);
	REFUSED(&config, EINVAL, "the first encoder that does not exist");
	config.encoders = ~0ull;
	REFUSED(&config, EINVAL, "all bits");
	config.encoders = BIT64(63) | 1;
	REFUSED(&config, EINVAL, "the first and the last bit");
}

TEST_F(device, config_returns_effective_configuration)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	struct sifive_trace_status status;
	struct sifive_trace_encoder e;
	struct sifive_trace_sink sink;
	uint64_t covered = 0;
	uint32_t i;

	config.encoders = 0;
	if (config.sink == SIFIVE_TRACE_SINK_SBA)
		config.buffer = 4097;
	ASSERT_EQ(0, trace_config(self->fd, &config));
	EXPECT_NE(0, config.encoders);
	EXPECT_LT(0, config.sinks);
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_EQ(config.sinks, status.sinks);
	EXPECT_EQ(0, status.bytes);
	for (i = 0; i < config.sinks; i++) {
		ASSERT_EQ(0, trace_sink(self->fd, i, &sink));
		EXPECT_EQ(config.sink, sink.kind);
		EXPECT_EQ(0, sink.bytes);
		EXPECT_LE(config.buffer, sink.buffer);
		EXPECT_EQ(0, sink.buffer % sink.word);
		if (config.sink == SIFIVE_TRACE_SINK_SBA) {
			EXPECT_LE(4097, sink.buffer);
			EXPECT_GT(4097 + sink.word, sink.buffer);
		}
		EXPECT_EQ(0, covered & sink.encoders);
		covered |= sink.encoders;
	}
	EXPECT_EQ(config.encoders, covered);
	for (i = 0; i < self->info.encoders; i++) {
		ASSERT_EQ(0, trace_encoder(self->fd, i, &e));
		EXPECT_EQ(!!(config.encoders & BIT64(i)),
			  !!(e.flags & SIFIVE_TRACE_ENCODER_SELECTED));
		if (config.encoders & BIT64(i)) {
			ASSERT_EQ(0, trace_sink(self->fd, e.sink, &sink));
			EXPECT_TRUE(sink.encoders & BIT64(i));
			EXPECT_EQ(e.src_bits, sink.src_bits);
		}
	}
}

static uint64_t monotonic(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

TEST_F(device, sink_time_matches_monotonic_clock)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	struct sifive_trace_sink sink[2], stopped, later;
	uint64_t before, after, ticks, ns;
	uint32_t i;

	if (!self->info.ts_hz)
		SKIP(return, "the timestamp rate is unknown");
	config.encoders = 0;
	ASSERT_EQ(0, trace_config(self->fd, &config));
	ASSERT_EQ(0, trace_sink(self->fd, 0, &sink[0]));
	EXPECT_EQ(0, sink[0].time_ns);
	EXPECT_EQ(0, sink[0].start_ns);
	ASSERT_EQ(0, trace_start(self->fd, 0));
	for (i = 0; i < 2; i++) {
		before = monotonic();
		ASSERT_EQ(0, trace_sink(self->fd, config.sinks - 1, &sink[i]));
		after = monotonic();
		EXPECT_LT(0, sink[i].time);
		EXPECT_LE(before, sink[i].time_ns);
		EXPECT_GE(after, sink[i].time_ns);
		EXPECT_LT(0, sink[i].time_within);
		EXPECT_LT(0, sink[i].start_ns);
		EXPECT_GT(before, sink[i].start_ns);
		usleep(20000);
	}
	/* Both clocks have advanced by the same time, within the errors of the two readings. */
	ticks = sink[1].time - sink[0].time;
	ns = sink[1].time_ns - sink[0].time_ns;
	ticks = ticks * 1000000000 / self->info.ts_hz;
	EXPECT_GE(ns + ns / 50 + sink[0].time_within + 10000, ticks);
	EXPECT_LE(ns, ticks + ns / 50 + sink[1].time_within + 10000);
	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_EQ(0, trace_sink(self->fd, 0, &stopped));
	EXPECT_LE(sink[1].time_ns, stopped.time_ns);
	ASSERT_EQ(0, trace_sink(self->fd, 0, &later));
	EXPECT_EQ(stopped.time, later.time);
	EXPECT_EQ(stopped.time_ns, later.time_ns);
	EXPECT_EQ(stopped.start_ns, later.start_ns);
	/*
	 * START without a rewind appends to the capture, and keeps the first sample of the clock.
	 * START with a rewind takes a new sample.
	 */
	ASSERT_EQ(0, trace_start(self->fd, 0));
	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_EQ(0, trace_sink(self->fd, 0, &later));
	EXPECT_EQ(stopped.start_ns, later.start_ns);
	EXPECT_LT(stopped.time_ns, later.time_ns);
	ASSERT_EQ(0, trace_start(self->fd, SIFIVE_TRACE_START_REWIND));
	ASSERT_EQ(0, trace_sink(self->fd, 0, &later));
	EXPECT_LT(stopped.time_ns, later.start_ns);
}

TEST_F(device, sink_call_overwrites_all_fields)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	struct sifive_trace_sink sink;

	ASSERT_EQ(0, trace_config(self->fd, &config));
	memset(&sink, 0xff, sizeof(sink));
	sink.size = sizeof(sink);
	sink.index = 0;
	ASSERT_EQ(0, trace_ioctl(self->fd, SIFIVE_TRACE_IOC_SINK, &sink));
	EXPECT_EQ(sizeof(sink), sink.size);
	EXPECT_EQ(config.sink, sink.kind);
	EXPECT_EQ(0, sink.bytes);
	/* The capture has not been started, and does not use DRAIN. */
	EXPECT_EQ(0, sink.given | sink.gaps | sink.lost | sink.gap_offset | sink.gap_begin |
		  sink.gap_end);
	EXPECT_EQ(0, sink.start_ns | sink.time_ns);
}

/* ---- values of COUNTERS ------------------------------------------------------------ */

#define CYCLES	{ .type = 0, .code = 1 }

/* Expect COUNTERS with these events to fail with EINVAL and to name event @failed. */
static void events_refused(struct __test_metadata *_metadata, int fd,
			   const struct sifive_trace_event *event,
			   uint32_t count, uint32_t failed)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_config config = trace_simple_config(fd, 0);
	struct sifive_trace_status status;

	ASSERT_EQ(0, trace_config(fd, &config));
	memcpy(counters.event, event, count * sizeof(*event));
	counters.count = count;
	/*
	 * An index that no failed call returns: any other value shows that the call has set the
	 * field.
	 */
	counters.failed = 1000;
	EXPECT_EQ(-EINVAL, trace_ioctl(fd, SIFIVE_TRACE_IOC_COUNTERS, &counters));
	EXPECT_EQ(failed, counters.failed);
	EXPECT_EQ(0, counters.mask);
	ASSERT_EQ(0, trace_status(fd, &status));
	EXPECT_NE('\0', status.message[0]);
}

TEST_F(device, counters_refuses_duplicate_event)
{
	struct sifive_trace_event general[] = { CYCLES, { .code = 2 }, CYCLES };
	struct sifive_trace_event raw[] = {
		{ .type = 2, .data = 0x100 }, { .type = 2, .data = 0x101 },
		{ .type = 2, .data = 0x100 }, { .type = 2, .data = 0x101 },
	};

	events_refused(_metadata, self->fd, general, 3, 2);
	events_refused(_metadata, self->fd, raw, 4, 2);
}

TEST_F(device, counters_refuses_invalid_events)
{
	struct sifive_trace_event bad[] = {
		{ .type = 3, .code = 1 }, { .type = 14, .code = 1 },
		{ .type = ~0u, .code = 1 }, { .type = 0, .code = 0 },
		{ .type = 0, .code = 0x10000 }, { .type = 0, .code = ~0u },
		{ .type = 1, .code = 0x10001 }, { .type = 0, .code = 1, .data = 1 },
		{ .type = 1, .code = 0x19, .data = 1 },
		{ .type = 2, .code = 1, .data = 0x100 },
		{ .code = 1, .flags = 3 }, { .code = 1, .flags = 8 },
		{ .code = 1, .flags = ~0u }, { .code = 1, .turn = 1 },
		{ .code = SIFIVE_TRACE_EVENT_TIMESTAMP, .flags = 1 },
	};
	struct sifive_trace_event second[2] = { CYCLES };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		events_refused(_metadata, self->fd, &bad[i], 1, 0);
		second[1] = bad[i];
		events_refused(_metadata, self->fd, second, 2, 1);
	}
}

TEST_F(device, counters_refuses_more_than_32_events)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	const struct {
		uint32_t count;
		const char *words;
	} more[] = {
		{ 33, "33 events are 1 too many: 32 is the limit" },
		{ 0x80000000, "2147483648 events are 2147483616 too many: 32 is the limit" },
		{ ~0u, "4294967295 events are 4294967263 too many: 32 is the limit" },
	};
	size_t i;

	ASSERT_EQ(0, trace_config(self->fd, &config));
	for (i = 0; i < ARRAY_SIZE(more); i++) {
		counters.count = more[i].count;
		counters.failed = 0;
		EXPECT_EQ(-EINVAL, trace_ioctl(self->fd, SIFIVE_TRACE_IOC_COUNTERS,
					       &counters));
		/* No single event causes the error. */
		EXPECT_EQ(~0u, counters.failed);
		EXPECT_STREQ(more[i].words, trace_message(self->fd));
	}
}

TEST_F(device, counters_refuses_turn_length_without_flag)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);

	ASSERT_EQ(0, trace_config(self->fd, &config));
	counters.turn_us = 4000;
	EXPECT_EQ(-EINVAL, trace_ioctl(self->fd, SIFIVE_TRACE_IOC_COUNTERS,
				       &counters));
}

TRACE_HARNESS_MAIN
