// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that with SIFIVE_TRACE_START_ON_EXEC nothing of the process that calls START is
 * recorded before its execve(), and that the executed program is recorded.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_count.h"
#include "trace_more.h"

#define BUFFER	4194304

/* Number of times that the process sleeps, so that its thread is switched in again. */
#define SLEEPS	20

/* Runs in the executed program: work, sleep, and do nothing else. */
#define WORK_ALONE	"work-alone"

static void sleep_often(void)
{
	unsigned int i;

	for (i = 0; i < SLEEPS; i++)
		usleep(1000);
}

__attribute__((constructor)) static void work_alone(int argc, char **argv)
{
	if (argc != 2 || strcmp(argv[1], WORK_ALONE))
		return;
	trace_work(trace_spin, 500);
	sleep_often();
	_exit(0);
}

static void execute(void)
{
	execl("/proc/self/exe", "exec_test", WORK_ALONE, (char *)NULL);
	_exit(1);
}

/**
 * struct seen - summary of the records so far
 * @samples:	number of samples
 * @parts:	number of parts of instruction trace
 */
struct seen {
	uint64_t samples;
	uint64_t parts;
};

FIXTURE(exec) {
	struct trace_session s;
	int seen[2];
	struct seen before, after;
};

FIXTURE_SETUP(exec)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_sampling sampling = TRACE_ARG(sifive_trace_sampling);

	trace_sample_freely();
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	if (!trace_has_sink(&self->s, SIFIVE_TRACE_SINK_SBA))
		SKIP(return, "this board has no SBA sink");
	ASSERT_NE(0, self->s.info.instruction_modes);
	self->s.instruction.mode = __builtin_ctz(self->s.info.instruction_modes);
	self->s.instruction.sync_branches = 5;
	self->s.instruction.sync_bytes = SIFIVE_TRACE_INSTRUCTION_NO_SYNC;
	self->s.instruction.timestamps = 3;
	self->s.instruction.flags = SIFIVE_TRACE_INSTRUCTION_CHILDREN;
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER,
					  SIFIVE_TRACE_CONFIG_RING));
	counters.count = 1;
	counters.event[0].code = 1;
	ASSERT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_COUNTERS, &counters));
	sampling.channel = trace_register(&self->s.encoder, TRACE_CHANNEL);
	sampling.interval = 1000000;
	sampling.flags = SIFIVE_TRACE_SAMPLING_EXEC;
	ASSERT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SAMPLING, &sampling));
	ASSERT_EQ(0, pipe2(self->seen, O_CLOEXEC));
}

FIXTURE_TEARDOWN(exec)
{
	close(self->seen[0]);
	close(self->seen[1]);
	trace_session_close(&self->s);
}

static int look(struct _test_data_exec *self, struct seen *seen)
{
	struct sifive_trace_status status;
	int ret = trace_status(self->s.fd, &status);

	*seen = (struct seen){ status.samples, status.instruction.parts };
	return ret;
}

/* In a child: call START, sleep and work, and report what has been recorded until then. */
static void begin(struct _test_data_exec *self, uint32_t flags)
{
	struct seen seen;

	if (trace_start(self->s.fd, flags))
		_exit(2);
	sleep_often();
	trace_work_sampled(self->s.fd, trace_spin, 100,
			   flags & SIFIVE_TRACE_START_ON_EXEC ? 0 : 1);
	if (look(self, &seen) || write(self->seen[1], &seen, sizeof(seen)) != sizeof(seen))
		_exit(3);
}

/* Wait for the child: @before is what it reported, @after what had been recorded at its end. */
#define COLLECT(child) collect(_metadata, self, child)
static void collect(struct __test_metadata *_metadata, struct _test_data_exec *self,
		    pid_t child)
{
	ASSERT_LT(0, child);
	ASSERT_EQ(0, trace_wait(child));
	ASSERT_EQ(sizeof(self->before),
		  read(self->seen[0], &self->before, sizeof(self->before)));
	ASSERT_EQ(0, look(self, &self->after));
	ASSERT_EQ(0, trace_stop(self->s.fd));
}

TEST_F(exec, recording_begins_at_start_without_flag)
{
	pid_t child = fork();

	if (!child) {
		begin(self, 0);
		execute();
	}
	COLLECT(child);
	EXPECT_LT(0, self->before.samples);
	EXPECT_LE(SLEEPS / 2, self->before.parts);
	EXPECT_LT(self->before.samples, self->after.samples);
	EXPECT_LE(self->before.parts + SLEEPS / 2, self->after.parts);
}

TEST_F(exec, recording_begins_at_execve_with_flag)
{
	pid_t child = fork();

	if (!child) {
		begin(self, SIFIVE_TRACE_START_ON_EXEC);
		execute();
	}
	COLLECT(child);
	EXPECT_EQ(0, self->before.samples);
	EXPECT_EQ(0, self->before.parts);
	EXPECT_LT(0, self->after.samples);
	EXPECT_LE(SLEEPS / 2, self->after.parts);
}

static void *execute_here(void *unused)
{
	execute();
	return NULL;
}

/* A thread other than the one that called START. */
TEST_F(exec, any_thread_can_call_execve)
{
	pid_t child = fork();
	pthread_t other;

	if (!child) {
		begin(self, SIFIVE_TRACE_START_ON_EXEC);
		if (!pthread_create(&other, NULL, execute_here, NULL))
			pthread_join(other, NULL);
		_exit(4);
	}
	COLLECT(child);
	EXPECT_EQ(0, self->before.samples);
	EXPECT_EQ(0, self->before.parts);
	EXPECT_LT(0, self->after.samples);
	EXPECT_LE(SLEEPS / 2, self->after.parts);
}

TEST_F(exec, execve_of_child_does_not_begin_recording)
{
	pid_t child = fork(), grandchild;

	if (!child) {
		begin(self, SIFIVE_TRACE_START_ON_EXEC);
		grandchild = fork();
		if (!grandchild)
			execute();
		sleep_often();
		_exit(trace_wait(grandchild));
	}
	COLLECT(child);
	EXPECT_EQ(0, self->after.samples);
	EXPECT_EQ(0, self->after.parts);
}

/* A pause, and its end, before the program runs. */
TEST_F(exec, pause_does_not_begin_recording)
{
	pid_t child = fork();

	if (!child) {
		if (trace_start(self->s.fd, SIFIVE_TRACE_START_ON_EXEC) ||
		    trace_pause(self->s.fd) || trace_unpause(self->s.fd))
			_exit(5);
		begin(self, SIFIVE_TRACE_START_ON_EXEC);
		execute();
	}
	COLLECT(child);
	EXPECT_EQ(0, self->before.samples);
	EXPECT_EQ(0, self->before.parts);
	EXPECT_LT(0, self->after.samples);
	EXPECT_LE(SLEEPS / 2, self->after.parts);
}

/* The next START does not wait. */
TEST_F(exec, flag_applies_to_one_start)
{
	pid_t child = fork();

	if (!child) {
		if (trace_start(self->s.fd, SIFIVE_TRACE_START_ON_EXEC) ||
		    trace_stop(self->s.fd))
			_exit(5);
		begin(self, 0);
		_exit(0);
	}
	COLLECT(child);
	EXPECT_LT(0, self->before.samples);
	EXPECT_LE(SLEEPS / 2, self->before.parts);
}

TEST_F(exec, unknown_flags_are_refused)
{
	EXPECT_EQ(-EINVAL, trace_start(self->s.fd, SIFIVE_TRACE_START_ON_EXEC << 1));
	EXPECT_NE(NULL, strstr(trace_message(self->s.fd), "unknown flags 0x4"));
}

TRACE_HARNESS_MAIN
