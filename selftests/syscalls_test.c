// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that, on request, SWITCHES records each system call of a process's threads with its number
 * and result, but no system call of other processes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_more.h"

#define CHANNEL		7
#define BUFFER		1048576

/* Size of a drained capture's buffer. */
#define DRAINED		0x100000
#define LOSSES		10

/* Number of times that each call is made. */
#define CALLS		100

/**
 * struct found - the test's calls in a capture
 * @calls:	number of getppid() calls
 * @results:	number of getppid() calls that returned the parent's id
 * @failures:	number of close(-1) calls that returned -EBADF
 * @foreign:	number of getpgid() calls, which only other processes make
 * @unpaired:	number of returns without a preceding call, including the return from START
 * @records:	total number of system-call records
 */
struct found {
	unsigned int calls, results, failures, foreign, unpaired, records;
};

FIXTURE(syscalls) {
	struct trace_session s;
	struct sifive_trace_switches switches;
	struct found found;
};

FIXTURE_SETUP(syscalls)
{
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	if (!trace_has_sink(&self->s, SIFIVE_TRACE_SINK_SBA))
		SKIP(return, "this board has no SBA sink");
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER, 0));
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	self->switches = TRACE_ARG(sifive_trace_switches);
	self->switches.channel = trace_register(&self->s.encoder, CHANNEL);
	self->switches.flags = SIFIVE_TRACE_SWITCHES_SYSCALLS;
}

FIXTURE_TEARDOWN(syscalls)
{
	trace_session_close(&self->s);
}

static int start(struct _test_data_syscalls *self)
{
	return trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SWITCHES, &self->switches) ?:
	       trace_start(self->s.fd, SIFIVE_TRACE_START_REWIND);
}

/* A thread, and the number of its current system call, or -1 outside system calls. */
struct caller {
	uint32_t thread;
	int call;
};

#define CALLERS	4

/* Return a thread's entry, or the first entry if there are more threads than entries. */
static struct caller *find(struct caller *caller, uint32_t thread)
{
	unsigned int i;

	for (i = 0; i < CALLERS && caller[i].thread; i++)
		if (caller[i].thread == thread)
			return &caller[i];
	if (i == CALLERS)
		return caller;
	caller[i] = (struct caller){ thread, -1 };
	return &caller[i];
}

static void look(struct found *found, uint8_t kind, uint32_t value, int *call)
{
	if (kind == SIFIVE_TRACE_SWITCH_CALL) {
		*call = value;
		found->calls += value == SYS_getppid;
		found->foreign += value == SYS_getpgid;
	} else {
		found->unpaired += *call < 0;
		found->results += *call == SYS_getppid && value == (uint32_t)getppid();
		found->failures += *call == SYS_close && (int32_t)value == -EBADF;
		*call = -1;
	}
	found->records++;
}

static int collect(struct _test_data_syscalls *self)
{
	struct caller caller[CALLERS] = {}, *running = find(caller, gettid());
	struct trace_stream stream = {};
	int kind = 0;
	size_t i;

	self->found = (struct found){};
	if (trace_stop(self->s.fd) ||
	    trace_collect(self->s.fd, self->s.encoder.src_bits, &stream))
		return -1;
	for (i = 0; i < stream.count; i++) {
		const struct trace_message *m = &stream.message[i];

		if (m->tcode != TRACE_TCODE_DATA || m->tag / 4 != CHANNEL)
			continue;
		if (kind && m->tag == trace_tag(CHANNEL, 4)) {
			if (kind == SIFIVE_TRACE_SWITCH_CALL || kind == SIFIVE_TRACE_SWITCH_RETURN)
				look(&self->found, kind, m->value, &running->call);
			else if (kind == SIFIVE_TRACE_SWITCH_IN)
				running = find(caller, m->value);
			kind = 0;
		} else {
			kind = m->value;
		}
	}
	free(stream.message);
	return kind;
}

static void *make_calls(void *unused)
{
	unsigned int i;

	for (i = 0; i < CALLS; i++) {
		syscall(SYS_getppid);
		syscall(SYS_close, -1);
	}
	return unused;
}

TEST_F(syscalls, each_has_number_and_result)
{
	ASSERT_EQ(0, start(self));
	make_calls(NULL);
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(CALLS, self->found.calls);
	EXPECT_EQ(CALLS, self->found.results);
	EXPECT_EQ(CALLS, self->found.failures);
	EXPECT_EQ(1, self->found.unpaired);
}

TEST_F(syscalls, other_threads_are_recorded)
{
	pthread_t thread;

	ASSERT_EQ(0, start(self));
	ASSERT_EQ(0, pthread_create(&thread, NULL, make_calls, NULL));
	pthread_join(thread, NULL);
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(CALLS, self->found.calls);
	EXPECT_EQ(CALLS, self->found.failures);
}

TEST_F(syscalls, other_processes_are_not_recorded)
{
	unsigned int i;
	pid_t child;

	ASSERT_EQ(0, start(self));
	child = fork();
	if (!child) {
		for (i = 0; i < CALLS; i++)
			syscall(SYS_getpgid, 0);
		_exit(0);
	}
	ASSERT_EQ(0, trace_wait(child));
	make_calls(NULL);
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(0, self->found.foreign);
	EXPECT_EQ(CALLS, self->found.results);
}

TEST_F(syscalls, not_recorded_without_flag)
{
	ASSERT_EQ(0, start(self));
	make_calls(NULL);
	ASSERT_EQ(0, collect(self));
	EXPECT_LT(0, self->found.records);
	self->switches.flags = 0;
	ASSERT_EQ(0, start(self));
	make_calls(NULL);
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(0, self->found.records);
}

/* Read the drained capture up to the ring's end; return the last result of read(). */
static ssize_t read_some(struct _test_data_syscalls *self, uint8_t **bytes, size_t *size)
{
	ssize_t got;

	*bytes = realloc(*bytes, *size + DRAINED);
	got = *bytes ? read(self->s.fd, *bytes + *size, DRAINED) : -1;
	*size += got > 0 ? (size_t)got : 0;
	return got;
}

/* Make system calls until records are lost, then read until records are written again. */
static int lose_some(struct _test_data_syscalls *self, uint8_t **bytes, size_t *size)
{
	struct sifive_trace_status before, status;

	if (trace_status(self->s.fd, &before))
		return -1;
	do {
		make_calls(NULL);
		if (trace_status(self->s.fd, &status))
			return -1;
	} while (status.switches_lost == before.switches_lost);
	before = status;
	do {
		if (read_some(self, bytes, size) < 0 && errno != EAGAIN)
			return -1;
		if (trace_status(self->s.fd, &status))
			return -1;
	} while (status.switches == before.switches);
	return 0;
}

/*
 * Move to another CPU the thread with which the driver checks for room. Otherwise, that thread's
 * switch would be the first record after a loss.
 */
static int move_driver(unsigned int cpu)
{
	char path[32], name[32];
	cpu_set_t set;
	pid_t pid;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	for (pid = getpid() - 1; pid > 1; pid--) {
		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		if (trace_file_read(path, name, sizeof(name)) > 0 &&
		    !strcmp(name, "sifive-trace\n"))
			return sched_setaffinity(pid, sizeof(set), &set);
	}
	return -1;
}

/* Count BEGIN marks, and those followed by a system call instead of the running thread's record. */
static void count_marks(const struct trace_stream *stream, unsigned int *marks,
			unsigned int *unnamed)
{
	uint32_t before = SIFIVE_TRACE_SWITCH_IN;
	size_t i;

	for (i = 0; i < stream->count; i++) {
		const struct trace_message *m = &stream->message[i];

		if (m->tcode != TRACE_TCODE_DATA || m->tag != trace_tag(CHANNEL, 1))
			continue;
		*marks += m->value == SIFIVE_TRACE_SWITCH_BEGIN;
		*unnamed += before == SIFIVE_TRACE_SWITCH_BEGIN &&
			    (m->value == SIFIVE_TRACE_SWITCH_CALL ||
			     m->value == SIFIVE_TRACE_SWITCH_RETURN);
		before = m->value;
	}
}

/* Without the thread's record, a reader could not attribute calls until the next switch. */
TEST_F(syscalls, running_thread_is_recorded_after_loss)
{
	const unsigned int losses = 1 + (unsigned int)trace_repeat(LOSSES - 1);
	unsigned int i, marks = 0, unnamed = 0;
	struct trace_stream stream = {};
	uint8_t *bytes = NULL;
	size_t size = 0;

	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, DRAINED,
					  SIFIVE_TRACE_CONFIG_DRAIN | SIFIVE_TRACE_CONFIG_DROP));
	ASSERT_EQ(0, fcntl(self->s.fd, F_SETFL, O_NONBLOCK));
	if (move_driver(!self->s.encoder.cpu))
		SKIP(return, "this board has one CPU");
	ASSERT_EQ(0, start(self));
	/* Lose records several times, because a mark may happen to be followed by a switch. */
	for (i = 0; i < losses; i++)
		ASSERT_EQ(0, lose_some(self, &bytes, &size));
	ASSERT_EQ(0, trace_stop(self->s.fd));
	while (read_some(self, &bytes, &size) > 0)
		;
	ASSERT_EQ(0, trace_decode(bytes, size, self->s.encoder.src_bits, &stream));
	count_marks(&stream, &marks, &unnamed);
	/* One of the marks is for the beginning of the recording. */
	EXPECT_LT(1, marks);
	EXPECT_EQ(0, unnamed);
	free(stream.message);
	free(bytes);
}

TEST_F(syscalls, not_recorded_during_pause)
{
	ASSERT_EQ(0, start(self));
	ASSERT_EQ(0, trace_pause(self->s.fd));
	make_calls(NULL);
	ASSERT_EQ(0, trace_unpause(self->s.fd));
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(0, self->found.calls);
}

/* System-call results and page-fault records can contain addresses. */
TEST_F(syscalls, reading_those_of_other_processes_needs_permission)
{
	const struct {
		uint32_t flags;
		int error;
	} tries[] = {
		{ SIFIVE_TRACE_SWITCHES_ALL, 0 },
		{ SIFIVE_TRACE_SWITCHES_SYSCALLS, 0 },
		{ SIFIVE_TRACE_SWITCHES_SYSCALLS | SIFIVE_TRACE_SWITCHES_ALL, EPERM },
		{ SIFIVE_TRACE_SWITCHES_SYSCALLS | SIFIVE_TRACE_SWITCHES_CHILDREN, EPERM },
		{ SIFIVE_TRACE_SWITCHES_FAULTS, 0 },
		{ SIFIVE_TRACE_SWITCHES_FAULTS | SIFIVE_TRACE_SWITCHES_CHILDREN, EPERM },
	};
	unsigned int i;

	for (i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		trace_session_close(&self->s);
		ASSERT_EQ(0, trace_session_open(&self->s, 0));
		ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER, 0));
		self->switches.flags = tries[i].flags;
		ASSERT_EQ(0, start(self));
		ASSERT_EQ(0, trace_stop(self->s.fd));
		EXPECT_EQ(tries[i].error, trace_read_unprivileged());
	}
}

TRACE_HARNESS_MAIN
