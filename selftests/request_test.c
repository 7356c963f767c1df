// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that a recorded program can ask its recorder for a snapshot. A request ends the recorder's
 * poll(). The recorder then learns the number of requests, and the thread and time of the latest
 * one. Only processes of the session can make requests, and only while a capture runs.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/sifive_trace_request.h>

#include "kselftest_harness.h"
#include "trace_more.h"

#define BUFFER	65536

FIXTURE(request) {
	struct trace_session s;
	int recorder;
};

FIXTURE_SETUP(request)
{
	if (getuid())
		SKIP(return, "needs root for the capabilities");
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	if (!trace_has_sink(&self->s, SIFIVE_TRACE_SINK_SBA))
		SKIP(return, "this board has no SBA sink");
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER,
					  SIFIVE_TRACE_CONFIG_RING));
	self->recorder = trace_open(O_RDONLY);
	ASSERT_LE(0, self->recorder);
}

FIXTURE_TEARDOWN(request)
{
	trace_session_close(&self->s);
	if (self->recorder > 0)
		close(self->recorder);
}

static int request(int fd)
{
	struct sifive_trace_request arg = TRACE_ARG(sifive_trace_request);

	return trace_ioctl(fd, SIFIVE_TRACE_IOC_REQUEST, &arg);
}

static int look(int fd, struct sifive_trace_request *arg)
{
	*arg = TRACE_ARG(sifive_trace_request);
	arg->flags = SIFIVE_TRACE_REQUEST_LOOK;
	return trace_ioctl(fd, SIFIVE_TRACE_IOC_REQUEST, arg);
}

/* Return the errors, and the events of @wanted, that poll() reports within @ms milliseconds. */
static int events(int fd, short wanted, int ms)
{
	struct pollfd event = { .fd = fd, .events = wanted };

	return poll(&event, 1, ms) < 0 ? -1 : event.revents;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

TEST_F(request, recorder_learns_of_requests)
{
	struct sifive_trace_request before, after;
	uint64_t from;

	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	ASSERT_EQ(0, look(self->recorder, &before));
	EXPECT_EQ(0, events(self->recorder, POLLPRI, 0));
	from = now();
	ASSERT_EQ(0, request(self->s.fd));
	ASSERT_EQ(0, request(self->s.fd));
	EXPECT_EQ(POLLPRI, events(self->recorder, POLLPRI, 0));
	ASSERT_EQ(0, look(self->recorder, &after));
	EXPECT_EQ(before.count + 2, after.count);
	EXPECT_EQ(syscall(SYS_gettid), after.thread);
	EXPECT_LE(from, after.time);
	EXPECT_GE(now(), after.time);
	EXPECT_EQ(0, events(self->recorder, POLLPRI, 0));
}

/* A waiting poll() must end at the request, because it does not check periodically. */
TEST_F(request, request_wakes_a_waiting_recorder)
{
	pid_t child;

	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(events(self->recorder, POLLPRI, 60000) != POLLPRI);
	usleep(50000);
	ASSERT_EQ(0, request(self->s.fd));
	EXPECT_EQ(0, trace_wait(child));
}

/* Files that wait for data must not mistake a request for data. */
TEST_F(request, request_is_not_data)
{
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	ASSERT_EQ(0, request(self->s.fd));
	EXPECT_EQ(0, events(self->recorder, POLLIN, 30));
}

TEST_F(request, earlier_request_is_not_reported_to_a_new_file)
{
	int later;

	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	ASSERT_EQ(0, request(self->s.fd));
	later = trace_open(O_RDONLY);
	ASSERT_LE(0, later);
	EXPECT_EQ(0, events(later, POLLPRI, 0));
	EXPECT_EQ(POLLPRI, events(self->recorder, POLLPRI, 0));
	close(later);
}

TEST_F(request, request_without_a_running_capture_is_refused)
{
	EXPECT_EQ(-ENXIO, request(self->s.fd));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	EXPECT_EQ(0, request(self->s.fd));
	ASSERT_EQ(0, trace_stop(self->s.fd));
	EXPECT_EQ(-ENXIO, request(self->s.fd));
	trace_session_close(&self->s);
	EXPECT_EQ(-ENXIO, request(self->recorder));
}

/* Run request() in a child without capabilities, and return its result. */
static int request_of_child(int fd, bool orphan)
{
	int ends[2], result = 1;
	pid_t child;

	if (pipe(ends))
		return 1;
	child = fork();
	if (!child) {
		/* The child of a child that has ended descends from init. */
		if (orphan && fork())
			_exit(0);
		while (orphan && getppid() != 1)
			sched_yield();
		result = trace_keep_caps(0) ? 2 : request(fd);
		_exit(write(ends[1], &result, sizeof(result)) != sizeof(result));
	}
	close(ends[1]);
	if (child < 0 || read(ends[0], &result, sizeof(result)) != sizeof(result))
		result = 1;
	close(ends[0]);
	waitpid(child, NULL, 0);
	return result;
}

TEST_F(request, only_processes_of_the_session_can_request)
{
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	EXPECT_EQ(0, request_of_child(self->recorder, false));
	EXPECT_EQ(-EPERM, request_of_child(self->recorder, true));
	EXPECT_EQ(0, request_of_child(self->s.fd, true));
}

TEST_F(request, invalid_calls_are_refused)
{
	struct sifive_trace_request arg = TRACE_ARG(sifive_trace_request);

	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	arg.flags = 2;
	EXPECT_EQ(-EINVAL, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_REQUEST, &arg));
	arg.flags = 0;
	arg.reserved = 1;
	EXPECT_EQ(-EINVAL, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_REQUEST, &arg));
	EXPECT_EQ(0, events(self->recorder, POLLPRI, 0));
}

/* Look for requests as another user, who opens the device; return the result, or 1 on failure. */
static int look_as_other(void)
{
	struct sifive_trace_request arg;
	int fd, result = 1, ends[2];
	pid_t child;

	if (pipe(ends))
		return 1;
	child = fork();
	if (!child) {
		/* This user does not own the capture, and has no capability. */
		if (!seteuid(65534)) {
			fd = trace_open(O_RDONLY);
			result = fd < 0 ? 1 : look(fd, &arg);
			if (result == -EPERM && events(fd, POLLPRI, 0) != POLLERR)
				result = 1;
		}
		_exit(write(ends[1], &result, sizeof(result)) != sizeof(result));
	}
	close(ends[1]);
	if (child < 0 || read(ends[0], &result, sizeof(result)) != sizeof(result))
		result = 1;
	close(ends[0]);
	waitpid(child, NULL, 0);
	return result;
}

/* The requests of a session are not visible in the next session. */
TEST_F(request, requests_belong_to_their_capture)
{
	struct sifive_trace_request arg;

	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	ASSERT_EQ(0, request(self->s.fd));
	ASSERT_EQ(0, trace_stop(self->s.fd));
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER,
					  SIFIVE_TRACE_CONFIG_RING));
	EXPECT_EQ(0, events(self->recorder, POLLPRI, 0));
	ASSERT_EQ(0, look(self->recorder, &arg));
	EXPECT_EQ(0, arg.count);
	EXPECT_EQ(0, arg.time);
	EXPECT_EQ(0, arg.thread);
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	ASSERT_EQ(0, request(self->s.fd));
	EXPECT_EQ(POLLPRI, events(self->recorder, POLLPRI, 0));
	ASSERT_EQ(0, look(self->recorder, &arg));
	EXPECT_EQ(1, arg.count);
}

/* Files of single-sink nodes cannot look for requests, so poll() must not report any to them. */
TEST_F(request, file_of_a_sink_is_not_notified)
{
	int sink = open(TRACE_DEVICE ".0", O_RDONLY);

	if (sink < 0)
		SKIP(return, "this board has one sink");
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	ASSERT_EQ(0, request(self->s.fd));
	EXPECT_EQ(0, events(sink, POLLPRI, 0));
	close(sink);
}

TEST_F(request, other_users_learn_nothing)
{
	ASSERT_EQ(0, chmod(TRACE_DEVICE, 0666));
	ASSERT_EQ(0, trace_start(self->s.fd, 0));
	ASSERT_EQ(0, request(self->s.fd));
	EXPECT_EQ(-EPERM, look_as_other());
	EXPECT_EQ(0, chmod(TRACE_DEVICE, 0600));
}

TRACE_HARNESS_MAIN
