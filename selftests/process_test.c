// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that a START that names a process records that process's threads, including later ones,
 * and nothing of the caller; and who may record which processes.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_count.h"
#include "trace_more.h"
#include "trace_records.h"

#define CHANNEL		5
#define BUFFER		1048576

/* Captures until all threads have samples: on a loaded host each capture gets few. */
#define CAPTURES	50

static inline __attribute__((always_inline)) void *spin(void *arg, uint64_t turns)
{
	while (turns--)
		asm volatile("");
	return arg;
}

/* Each in its own memory, so that a pc identifies it. */
static __attribute__((noinline, aligned(64))) void *own(void *arg)
{
	return spin(arg, 10000000);
}

static __attribute__((noinline, aligned(64))) void *early(void *arg)
{
	return spin(arg, UINT64_MAX);
}

static __attribute__((noinline, aligned(64))) void *middle(void *arg)
{
	return spin(arg, UINT64_MAX);
}

static __attribute__((noinline, aligned(64))) void *late(void *arg)
{
	return spin(arg, UINT64_MAX);
}

static bool in(void *(*worker)(void *arg), uint64_t pc)
{
	return pc - (uintptr_t)worker < 64;
}

/* Samples by location. */
struct seen {
	unsigned int own, early, middle, late;
};

FIXTURE(process) {
	struct trace_session s;
	int begin[2];
	pid_t child;
	struct seen seen;
};

/* A thread created before START, and one created after it. */
static void run_child(struct _test_data_process *self)
{
	pthread_t thread;
	char byte;

	if (pthread_create(&thread, NULL, early, NULL) ||
	    write(self->begin[1], "", 1) != 1 || read(self->begin[1], &byte, 1) != 1 ||
	    pthread_create(&thread, NULL, late, NULL))
		_exit(1);
	middle(NULL);
}

FIXTURE_SETUP(process)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_sampling sampling = TRACE_ARG(sifive_trace_sampling);
	char byte;

	trace_sample_freely();
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, self->begin));
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	self->child = fork();
	if (!self->child)
		run_child(self);
	ASSERT_LT(0, self->child);
	ASSERT_EQ(1, read(self->begin[0], &byte, 1));
	if (!trace_has_sink(&self->s, SIFIVE_TRACE_SINK_SBA))
		SKIP(return, "this board has no SBA sink");
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER, 0));
	ASSERT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_COUNTERS, &counters));
	sampling.channel = trace_register(&self->s.encoder, CHANNEL);
	sampling.interval = 1000000;
	ASSERT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SAMPLING, &sampling));
}

FIXTURE_TEARDOWN(process)
{
	kill(self->child, SIGKILL);
	trace_wait(self->child);
	close(self->begin[0]);
	close(self->begin[1]);
	trace_session_close(&self->s);
}

static int start(struct _test_data_process *self, uint32_t flags, pid_t process)
{
	struct sifive_trace_start start = TRACE_ARG(sifive_trace_start);

	start.flags = flags;
	start.process = process;
	return trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_START, &start);
}

static void keep(const struct trace_record *record, void *arg)
{
	struct seen *seen = arg;

	if (record->kind != TRACE_ISR)
		return;
	seen->own += in(own, record->address[0]);
	seen->early += in(early, record->address[0]);
	seen->middle += in(middle, record->address[0]);
	seen->late += in(late, record->address[0]);
}

/* One capture of the child, while the caller works. Returns 0, or an error. */
static int capture(struct _test_data_process *self, bool first)
{
	struct trace_totals totals;
	char byte = 0;
	int ret = start(self, SIFIVE_TRACE_START_REWIND, self->child);

	if (!ret && first && write(self->begin[0], &byte, 1) != 1)
		ret = -EPIPE;
	own(NULL);
	usleep(100000);
	return ret ?: trace_stop(self->s.fd) ?: trace_records(self->s.fd, &totals, keep,
							      &self->seen);
}

TEST_F(process, all_threads_of_the_named_process_are_sampled)
{
	struct seen *seen = &self->seen;
	unsigned int i;

	for (i = 0; i < CAPTURES && !(seen->early && seen->middle && seen->late); i++)
		ASSERT_EQ(0, capture(self, !i));
	TH_LOG("%u captures: early %u, middle %u, late %u", i, seen->early, seen->middle,
	       seen->late);
	EXPECT_LT(0, seen->early);
	EXPECT_LT(0, seen->middle);
	EXPECT_LT(0, seen->late);
	EXPECT_EQ(0, seen->own);
}

TEST_F(process, the_next_start_may_record_the_caller)
{
	struct trace_totals totals;
	unsigned int i;

	ASSERT_EQ(0, capture(self, true));
	self->seen = (struct seen){};
	for (i = 0; i < CAPTURES && !self->seen.own; i++) {
		ASSERT_EQ(0, start(self, SIFIVE_TRACE_START_REWIND, 0));
		own(NULL);
		ASSERT_EQ(0, trace_stop(self->s.fd));
		ASSERT_EQ(0, trace_records(self->s.fd, &totals, keep, &self->seen));
	}
	EXPECT_LT(0, self->seen.own);
	EXPECT_EQ(0, self->seen.early + self->seen.middle + self->seen.late);
}

TEST_F(process, the_capture_goes_on_when_the_process_ends)
{
	struct sifive_trace_status status;

	ASSERT_EQ(0, start(self, SIFIVE_TRACE_START_REWIND, self->child));
	kill(self->child, SIGKILL);
	EXPECT_EQ(-1, trace_wait(self->child));
	ASSERT_EQ(0, trace_status(self->s.fd, &status));
	EXPECT_NE(0, status.flags & SIFIVE_TRACE_STATUS_RUNNING);
	EXPECT_EQ(0, trace_stop(self->s.fd));
	EXPECT_EQ(-ESRCH, start(self, SIFIVE_TRACE_START_REWIND, self->child));
}

static void *give_id(void *id)
{
	*(pid_t *)id = gettid();
	pause();
	return NULL;
}

TEST_F(process, what_is_no_process_is_refused)
{
	struct sifive_trace_start reserved = TRACE_ARG(sifive_trace_start);
	volatile pid_t thread_id = 0;
	pthread_t thread;

	reserved.reserved = 1;
	EXPECT_EQ(-EINVAL, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_START, &reserved));
	EXPECT_EQ(-EINVAL, start(self, 0, -1));
	EXPECT_EQ(-EINVAL, start(self, SIFIVE_TRACE_START_ON_EXEC, self->child));
	/* kthreadd */
	EXPECT_EQ(-EINVAL, start(self, 0, 2));
	EXPECT_EQ(-ESRCH, start(self, 0, INT32_MAX));
	ASSERT_EQ(0, pthread_create(&thread, NULL, give_id, (void *)&thread_id));
	while (!thread_id)
		usleep(1000);
	EXPECT_EQ(-ESRCH, start(self, 0, thread_id));
	EXPECT_EQ(0, trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_RUNNING);
	EXPECT_EQ(0, start(self, 0, 0));
}

TEST_F(process, another_process_needs_the_capability)
{
	pid_t child = fork();

	if (!child) {
		if (trace_keep_caps(0))
			_exit(2);
		_exit(start(self, 0, self->child) != -EPERM);
	}
	EXPECT_EQ(0, trace_wait(child));
	EXPECT_EQ(0, start(self, 0, self->child));
}

TRACE_HARNESS_MAIN
