// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that the driver survives the failure of any allocation. If a call's first, second, third
 * ... allocation fails, the call must either succeed or return ENOMEM, and the driver must continue
 * to work without leaking memory.
 *
 * Needs a kernel with CONFIG_FAILSLAB and CONFIG_FAULT_INJECTION_DEBUG_FS.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_more.h"

#define FAILSLAB	"/sys/kernel/debug/failslab/"
#define FAIL_NTH	"/proc/thread-self/fail-nth"

/* Upper limit on the number of allocations in a call. */
#define ALLOCATIONS	300

FIXTURE(failslab) {
	struct trace_session s;
	uint32_t sink;
	uint64_t buffer;
	int nth;		/* FAIL_NTH, kept open because opening allocates memory */
	unsigned int refused;	/* number of calls that returned ENOMEM */
};

static bool set_up_kernel(void)
{
	/* Also fail allocations that can sleep, and do not print backtraces. */
	return !trace_file_write(FAILSLAB "ignore-gfp-wait", "N") &&
	       !trace_file_write(FAILSLAB "verbose", "0");
}

FIXTURE_SETUP(failslab)
{
	self->nth = open(FAIL_NTH, O_RDWR | O_CLOEXEC);
	if (self->nth < 0 || !set_up_kernel())
		SKIP(return, "this kernel has no failslab, or this is not root");
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	self->sink = SIFIVE_TRACE_SINK_SBA;
	self->buffer = 4096;
	if (!trace_has_sink(&self->s, self->sink)) {
		self->sink = SIFIVE_TRACE_SINK_SRAM;
		self->buffer = 0;
	}
	ASSERT_EQ(0, trace_session_config(&self->s, self->sink, self->buffer,
					  SIFIVE_TRACE_CONFIG_RING));
}

FIXTURE_TEARDOWN(failslab)
{
	struct trace_stream stream;

	ASSERT_EQ(0, trace_session_config(&self->s, self->sink, self->buffer, 0));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	trace_store(self->s.page, self->s.reg, 0x5afe, 4);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits, &stream));
	ASSERT_EQ(3, stream.count);
	EXPECT_EQ(0x5afe, stream.message[1].value);
	trace_session_close(&self->s);
	close(self->nth);
}

/*
 * Call @fn with its first allocation failing, then with its second allocation failing, and so on,
 * until a call makes no further allocation. @fn returns 0 or a negative errno.
 */
static void refuse_each(struct __test_metadata *_metadata,
			struct _test_data_failslab *self,
			int (*fn)(struct _test_data_failslab *self))
{
	char text[16], left[16];
	unsigned int n;
	ssize_t got;
	int ret;

	for (n = 1; n < ALLOCATIONS; n++) {
		snprintf(text, sizeof(text), "%u", n);
		ASSERT_LT(0, pwrite(self->nth, text, strlen(text), 0));
		ret = fn(self);
		got = pread(self->nth, left, sizeof(left) - 1, 0);
		ASSERT_LT(0, got);
		left[got] = '\0';
		ASSERT_LT(0, pwrite(self->nth, "0", 1, 0));
		if (atoi(left)) {
			EXPECT_EQ(0, ret);
			TH_LOG("%u allocations, %u calls refused", n - 1,
			       self->refused);
			return;
		}
		ASSERT_TRUE(!ret || ret == -ENOMEM) {
			TH_LOG("without allocation %u: errno %d, %s", n, -ret,
			       trace_message(self->s.fd));
		}
		self->refused += ret == -ENOMEM;
		/* A failed call succeeds when repeated. */
		ASSERT_EQ(0, fn(self));
	}
	EXPECT_GT(ALLOCATIONS, n);
}

static int do_open(struct _test_data_failslab *self)
{
	int fd = trace_open(O_RDWR);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

TEST_F(failslab, open_survives_allocation_failures)
{
	refuse_each(_metadata, self, do_open);
	EXPECT_LT(0, self->refused);
}

static int do_config(struct _test_data_failslab *self)
{
	struct sifive_trace_config config = TRACE_ARG(sifive_trace_config);

	config.sink = self->sink;
	config.buffer = self->buffer;
	config.channels = 1;
	return trace_config(self->s.fd, &config);
}

TEST_F(failslab, config_survives_allocation_failures)
{
	refuse_each(_metadata, self, do_config);
	EXPECT_LT(0, self->refused);
	if (!trace_has_sink(&self->s, SIFIVE_TRACE_SINK_SRAM))
		return;
	self->sink = SIFIVE_TRACE_SINK_SRAM;
	self->buffer = 0;
	refuse_each(_metadata, self, do_config);
}

static int do_counters(struct _test_data_failslab *self)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	int ret;

	counters.count = 1;
	counters.event[0].code = 1;
	ret = trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_COUNTERS, &counters);
	/* On a machine without counters, COUNTERS is expected to fail. */
	return ret == -EOPNOTSUPP ? 0 : ret;
}

TEST_F(failslab, counters_survives_allocation_failures)
{
	refuse_each(_metadata, self, do_counters);
	EXPECT_LT(0, self->refused);
}

static int do_map(struct _test_data_failslab *self)
{
	void *page = trace_map(self->s.fd, &self->s.encoder);

	if (!page)
		return -errno;
	trace_store(page, self->s.reg, 1, 4);
	trace_unmap(page);
	return 0;
}

TEST_F(failslab, mmap_survives_allocation_failures)
{
	refuse_each(_metadata, self, do_map);
	EXPECT_LT(0, self->refused);
}

static int do_read(struct _test_data_failslab *self)
{
	char bytes[512];

	return pread(self->s.fd, bytes, sizeof(bytes), 0) < 0 ? -errno : 0;
}

/* Read from a running ring, which the driver copies for the reader. */
TEST_F(failslab, read_survives_allocation_failures)
{
	uint32_t i;

	if (self->sink == SIFIVE_TRACE_SINK_SBA)
		ASSERT_EQ(0, trace_start(self->s.fd, 0));
	for (i = 0; i < 2000; i++)
		trace_store(self->s.page, self->s.reg, i, 4);
	refuse_each(_metadata, self, do_read);
	EXPECT_LT(0, self->refused);
	ASSERT_EQ(0, trace_stop(self->s.fd));
}

static int do_run(struct _test_data_failslab *self)
{
	int ret = trace_start(self->s.fd, 0);
	int again = trace_stop(self->s.fd);

	/* The call can be repeated after a failure. */
	if (again == -ENOMEM)
		trace_stop(self->s.fd);
	return ret ? ret : again;
}

TEST_F(failslab, start_and_stop_survive_allocation_failures)
{
	refuse_each(_metadata, self, do_run);
}

TRACE_HARNESS_MAIN
