// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that hardware can be unbound while it is in use by a running capture, by mappings, or by
 * threads that read and poll. Accesses to such mappings then raise SIGBUS. The hardware must work
 * once it is rebound, and the module cannot be unloaded while it is in use.
 *
 * TRACE_SECONDS: number of seconds for which components are unbound and bound while threads race
 * (default 2).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_more.h"

#define DRIVERS	"/sys/bus/platform/drivers/sifive-trace-"

/* Where a thread jumps to when its store to a removed page raises SIGBUS. */
static __thread sigjmp_buf trap;

static void trapped(int sig)
{
	siglongjmp(trap, sig);
}

FIXTURE(unbind) {
	struct trace_session s;
	glob_t devices;
	char control[64];	/* the driver's directory */
	char device[64];	/* the driver's first device */
	uint32_t sink;
	uint64_t buffer;
};

FIXTURE_VARIANT(unbind) {
	const char *kind;
};

FIXTURE_VARIANT_ADD(unbind, encoder) { .kind = "encoder" };
FIXTURE_VARIANT_ADD(unbind, funnel) { .kind = "funnel" };

static int bind_one(const char *directory, const char *action, const char *device)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, action);
	return trace_file_write(path, device);
}

static int unbind_device(struct _test_data_unbind *self)
{
	return bind_one(self->control, "unbind", self->device);
}

static int rebind_device(struct _test_data_unbind *self)
{
	return bind_one(self->control, "bind", self->device);
}

/* Map encoder 0's page and start a capture with any kind of sink. */
static void begin(struct __test_metadata *_metadata, struct _test_data_unbind *self)
{
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	self->sink = SIFIVE_TRACE_SINK_SBA;
	self->buffer = 65536;
	if (!trace_has_sink(&self->s, self->sink)) {
		self->sink = SIFIVE_TRACE_SINK_SRAM;
		self->buffer = 0;
	}
	ASSERT_EQ(0, trace_session_config(&self->s, self->sink, self->buffer,
					  SIFIVE_TRACE_CONFIG_RING));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
}

FIXTURE_SETUP(unbind)
{
	struct sigaction action = { .sa_handler = trapped };
	char pattern[80];

	if (getuid())
		SKIP(return, "needs root");
	snprintf(self->control, sizeof(self->control), DRIVERS "%s", variant->kind);
	snprintf(pattern, sizeof(pattern), "%s/*.*", self->control);
	if (glob(pattern, 0, NULL, &self->devices))
		SKIP(return, "this board has no %s", variant->kind);
	snprintf(self->device, sizeof(self->device), "%s",
		 strrchr(self->devices.gl_pathv[0], '/') + 1);
	sigaction(SIGBUS, &action, NULL);
	begin(_metadata, self);
}

/* Bind all components, even after a failed test, and check that one can capture. */
FIXTURE_TEARDOWN(unbind)
{
	struct trace_stream stream;
	unsigned int i;

	for (i = 0; i < self->devices.gl_pathc; i++)
		bind_one(self->control, "bind",
			 strrchr(self->devices.gl_pathv[i], '/') + 1);
	trace_session_close(&self->s);
	begin(_metadata, self);
	trace_store(self->s.page, self->s.reg, 0x5afe, 4);
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_collect(self->s.fd, self->s.encoder.src_bits, &stream));
	ASSERT_EQ(3, stream.count);
	EXPECT_EQ(0x5afe, stream.message[1].value);
	trace_session_close(&self->s);
}

/* ---- threads that use the hardware, and end when it is unbound ----------- */

static void *store_until_sigbus(void *arg)
{
	struct trace_session *s = arg;
	uint32_t value = 0;

	if (sigsetjmp(trap, 1))
		return (void *)(intptr_t)SIGBUS;
	for (;;)
		trace_store(s->page, s->reg, value++, 4);
}

static void *read_until_enodev(void *arg)
{
	struct trace_session *s = arg;
	char bytes[4096];
	off_t at = 0;
	ssize_t got;

	for (;;) {
		got = pread(s->fd, bytes, sizeof(bytes), at);
		/* A read of SRAM returns EBUSY while the capture runs. */
		if (got < 0 && errno != EBUSY)
			return (void *)(intptr_t)errno;
		at = got > 0 ? at + got : 0;
	}
}

static void *poll_until_error(void *arg)
{
	struct trace_session *s = arg;
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	do
		poll(&p, 1, -1);
	while (!(p.revents & POLLERR));
	return (void *)(intptr_t)p.revents;
}

TEST_F(unbind, ends_stores_reads_and_polls)
{
	pthread_t writer, reader, poller;
	void *sig, *error, *events;

	ASSERT_EQ(0, pthread_create(&writer, NULL, store_until_sigbus, &self->s));
	ASSERT_EQ(0, pthread_create(&reader, NULL, read_until_enodev, &self->s));
	ASSERT_EQ(0, pthread_create(&poller, NULL, poll_until_error, &self->s));
	usleep(50000);
	ASSERT_EQ(0, unbind_device(self));
	ASSERT_EQ(0, pthread_join(writer, &sig));
	ASSERT_EQ(0, pthread_join(reader, &error));
	ASSERT_EQ(0, pthread_join(poller, &events));
	EXPECT_EQ(SIGBUS, (intptr_t)sig);
	EXPECT_EQ(ENODEV, (intptr_t)error);
	EXPECT_EQ(POLLERR | POLLHUP, (intptr_t)events & (POLLERR | POLLHUP));
}

TEST_F(unbind, stale_descriptor_returns_enodev)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_encoder encoder = self->s.encoder;
	struct sifive_trace_status status;
	struct sifive_trace_sink sink;
	struct sifive_trace_info info;
	int round;
	char byte;

	ASSERT_EQ(0, unbind_device(self));
	/* Calls also fail after all components have been rebound. */
	for (round = 0; round < 2; round++) {
		EXPECT_EQ(-ENODEV, trace_info(self->s.fd, &info));
		EXPECT_EQ(-ENODEV, trace_encoder(self->s.fd, 0, &encoder));
		EXPECT_EQ(-ENODEV, trace_config(self->s.fd, &self->s.config));
		EXPECT_EQ(-ENODEV, trace_ioctl(self->s.fd,
					       SIFIVE_TRACE_IOC_COUNTERS, &counters));
		EXPECT_EQ(-ENODEV, trace_start(self->s.fd, 0));
		EXPECT_EQ(-ENODEV, trace_stop(self->s.fd));
		EXPECT_EQ(-ENODEV, trace_status(self->s.fd, &status));
		EXPECT_EQ(-ENODEV, trace_sink(self->s.fd, 0, &sink));
		EXPECT_EQ(-1, read(self->s.fd, &byte, 1));
		EXPECT_EQ(ENODEV, errno);
		EXPECT_EQ(-1, lseek(self->s.fd, 0, SEEK_END));
		EXPECT_EQ(ENODEV, errno);
		EXPECT_EQ(NULL, trace_map(self->s.fd, &self->s.encoder));
		EXPECT_EQ(ENODEV, errno);
		EXPECT_EQ(SIGBUS, trace_signal_of_load(self->s.page));
		if (!round)
			ASSERT_EQ(0, rebind_device(self));
	}
}

TEST_F(unbind, remaining_components_are_usable)
{
	struct sifive_trace_info info;
	int fd;

	ASSERT_EQ(0, unbind_device(self));
	fd = trace_open(O_RDWR);
	if (fd == -ENODEV)
		SKIP(return, "this board has one encoder");
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, trace_info(fd, &info));
	EXPECT_EQ(self->s.info.encoders + self->s.info.funnels - 1,
		  info.encoders + info.funnels);
	close(fd);
	ASSERT_EQ(0, rebind_device(self));
	fd = trace_open(O_RDWR);
	ASSERT_EQ(0, trace_info(fd, &info));
	EXPECT_EQ(self->s.info.encoders, info.encoders);
	EXPECT_EQ(self->s.info.funnels, info.funnels);
	close(fd);
}

TEST_F(unbind, all_components_of_one_kind_can_be_unbound)
{
	struct sifive_trace_config config = trace_same_config(&self->s.config);
	unsigned int i;
	int fd;

	for (i = 0; i < self->devices.gl_pathc; i++)
		ASSERT_EQ(0, bind_one(self->control, "unbind",
				      strrchr(self->devices.gl_pathv[i], '/') + 1));
	fd = trace_open(O_RDWR);
	if (!strcmp(variant->kind, "encoder")) {
		EXPECT_EQ(-ENODEV, fd);
	} else {
		ASSERT_LE(0, fd);
		EXPECT_EQ(-EOPNOTSUPP, trace_config(fd, &config));
		EXPECT_NE(NULL, strstr(trace_message(fd), "trace@"));
		close(fd);
	}
}

TEST_F(unbind, can_be_repeated)
{
	const int times = trace_repeat(30);
	int i;

	for (i = 0; i < times; i++) {
		ASSERT_EQ(0, unbind_device(self));
		EXPECT_EQ(SIGBUS, trace_signal_of_load(self->s.page));
		ASSERT_EQ(0, rebind_device(self));
		trace_session_close(&self->s);
		begin(_metadata, self);
		EXPECT_EQ(0, trace_signal_of_load((char *)self->s.page +
						  TR_ITC_STIMULUS));
	}
}

/* ---- binding and unbinding while threads race ---------------------------- */

static double race_end;

/* Create sessions in a loop. Any step can fail, because components are unbound at any time. */
static void *race(void *arg)
{
	struct _test_data_unbind *self = arg;
	struct sifive_trace_status status;
	struct trace_session s;
	char bytes[2000];
	int i;

	while (trace_clock() < race_end) {
		if (trace_session_open(&s, 0))
			continue;
		if (!trace_session_config(&s, self->sink, self->buffer,
					  SIFIVE_TRACE_CONFIG_RING) &&
		    !trace_start(s.fd, 0) && !sigsetjmp(trap, 1))
			for (i = 0; i < 500; i++)
				trace_store(s.page, s.reg, (uint32_t)i, 4);
		trace_status(s.fd, &status);
		pread(s.fd, bytes, sizeof(bytes), 0);
		trace_session_close(&s);
	}
	return NULL;
}

TEST_F_TIMEOUT(unbind, survives_racing_threads, 3600)
{
	unsigned int rounds = 0;
	pthread_t thread[4];
	int i;

	trace_session_close(&self->s);
	race_end = trace_clock() + (double)trace_setting("TRACE_SECONDS", 2);
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, race, self));
	while (trace_clock() < race_end || rounds < 2) {
		ASSERT_EQ(0, unbind_device(self));
		usleep(1000);
		ASSERT_EQ(0, rebind_device(self));
		usleep(10000);
		rounds++;
	}
	for (i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	TH_LOG("%u times", rounds);
}

/* ---- the module ---------------------------------------------------------- */

TEST_F(unbind, module_cannot_be_unloaded_while_in_use)
{
	int round, ret;

	/* Test first with a descriptor, then with only a mapping. */
	for (round = 0; round < 2; round++) {
		ret = syscall(SYS_delete_module, "sifive_trace", O_NONBLOCK);
		if (ret && errno == ENOENT)
			SKIP(return, "the driver is built in");
		ASSERT_EQ(-1, ret);
		EXPECT_EQ(EAGAIN, errno);
		if (!round)
			close(self->s.fd);
	}
	self->s.fd = -1;
}

TRACE_HARNESS_MAIN
