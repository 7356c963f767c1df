// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that START with a list of processes records their threads, including those created later,
 * but neither the caller nor other processes. Also tests which processes a user may record.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_count.h"
#include "trace_more.h"
#include "trace_records.h"

#define CHANNEL		5
#define BUFFER		1048576

/*
 * Maximum number of captures until every thread has a sample: on a loaded host, each capture has
 * few samples.
 */
#define CAPTURES	50

static inline __attribute__((always_inline)) void *spin(void *arg, uint64_t turns)
{
	while (turns--)
		asm volatile("");
	return arg;
}

/* Each function occupies 64 aligned bytes, so a pc identifies the function. */
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

static __attribute__((noinline, aligned(64))) void *second(void *arg)
{
	return spin(arg, UINT64_MAX);
}

static __attribute__((noinline, aligned(64))) void *third(void *arg)
{
	return spin(arg, UINT64_MAX);
}

static bool in(void *(*worker)(void *arg), uint64_t pc)
{
	return pc - (uintptr_t)worker < 64;
}

/* Numbers of samples, by location. */
struct seen {
	unsigned int own, early, middle, late, second, third;
};

FIXTURE(process) {
	struct trace_session s;
	int begin[2];
	pid_t child;
	pid_t other[2];
	struct seen seen;
};

/* Create one thread before START, and another thread after START. */
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
	unsigned int i;
	char byte;

	trace_sample_freely();
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, self->begin));
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	self->child = fork();
	if (!self->child)
		run_child(self);
	ASSERT_LT(0, self->child);
	for (i = 0; i < 2; i++) {
		self->other[i] = fork();
		if (!self->other[i])
			(i ? third : second)(NULL);
		ASSERT_LT(0, self->other[i]);
		/*
		 * Stop these two processes until they are needed, because they would take CPU time
		 * from the child.
		 */
		kill(self->other[i], SIGSTOP);
	}
	ASSERT_EQ(1, read(self->begin[0], &byte, 1));
	if (!trace_has_sink(&self->s, SIFIVE_TRACE_SINK_SBA))
		SKIP(return, "this board has no SBA sink");
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER, 0));
	ASSERT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_COUNTERS, &counters));
	sampling.channel = trace_register(&self->s.encoder, CHANNEL);
	sampling.interval = 1000000;
	ASSERT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SAMPLING, &sampling));
}

static void end(pid_t process)
{
	if (process <= 0)
		return;
	kill(process, SIGKILL);
	trace_wait(process);
}

FIXTURE_TEARDOWN(process)
{
	end(self->child);
	end(self->other[0]);
	end(self->other[1]);
	close(self->begin[0]);
	close(self->begin[1]);
	trace_session_close(&self->s);
}

static int start_list(struct _test_data_process *self, uint32_t flags, int32_t *process,
		      uint32_t count)
{
	struct sifive_trace_start start = TRACE_ARG(sifive_trace_start);

	start.flags = flags;
	start.processes = (uintptr_t)process;
	start.count = count;
	return trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_START, &start);
}

static int start(struct _test_data_process *self, uint32_t flags, pid_t process)
{
	return start_list(self, flags, &process, 1);
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
	seen->second += in(second, record->address[0]);
	seen->third += in(third, record->address[0]);
}

/* Capture the child once while the caller works. Return 0, or an error. */
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

TEST_F(process, all_threads_of_named_process_are_sampled)
{
	struct seen *seen = &self->seen;
	unsigned int i;

	for (i = 0; i < CAPTURES && !(seen->early && seen->middle && seen->late); i++)
		ASSERT_EQ(0, capture(self, !i));
	TH_LOG("%u captures; samples: early %u, middle %u, late %u", i, seen->early, seen->middle,
	       seen->late);
	EXPECT_LT(0, seen->early);
	EXPECT_LT(0, seen->middle);
	EXPECT_LT(0, seen->late);
	EXPECT_EQ(0, seen->own + seen->second + seen->third);
}

static void run_others(struct _test_data_process *self)
{
	kill(self->other[0], SIGCONT);
	kill(self->other[1], SIGCONT);
}

/* Capture these processes once while the caller works. */
static int capture_list(struct _test_data_process *self, int32_t *process, uint32_t count)
{
	struct trace_totals totals;
	int ret = start_list(self, SIFIVE_TRACE_START_REWIND, process, count);

	own(NULL);
	usleep(100000);
	return ret ?: trace_stop(self->s.fd) ?: trace_records(self->s.fd, &totals, keep,
							      &self->seen);
}

TEST_F(process, only_named_processes_are_sampled)
{
	int32_t list[] = { self->child, self->other[0] };
	struct seen *seen = &self->seen;
	unsigned int i;

	run_others(self);
	for (i = 0; i < CAPTURES && !(seen->early && seen->second); i++)
		ASSERT_EQ(0, capture_list(self, list, 2));
	TH_LOG("%u captures: early %u, second %u", i, seen->early, seen->second);
	EXPECT_LT(0, seen->early);
	EXPECT_LT(0, seen->second);
	EXPECT_EQ(0, seen->own + seen->third);
	EXPECT_EQ(self->child, list[0]);
	EXPECT_EQ(self->other[0], list[1]);
}

/* For per-thread counts, the driver also keeps a table of the processes. */
TEST_F(process, several_processes_have_per_thread_counts)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_sampling sampling = TRACE_ARG(sifive_trace_sampling);
	int32_t list[] = { self->other[1], self->other[0] };
	struct sifive_trace_status status;
	struct seen *seen = &self->seen;
	unsigned int i;

	counters.flags = SIFIVE_TRACE_COUNTERS_PER_THREAD;
	counters.count = 1;
	counters.event[0].code = 1;
	if (trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_COUNTERS, &counters))
		SKIP(return, "no counters: %s", trace_message(self->s.fd));
	sampling.channel = trace_register(&self->s.encoder, CHANNEL);
	sampling.interval = 1000000;
	ASSERT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SAMPLING, &sampling));
	run_others(self);
	for (i = 0; i < CAPTURES && !(seen->second && seen->third); i++)
		ASSERT_EQ(0, capture_list(self, list, 2));
	ASSERT_EQ(0, trace_status(self->s.fd, &status));
	TH_LOG("%u captures; samples: second %u, third %u, lost %llu", i, seen->second, seen->third,
	       status.samples_lost);
	EXPECT_LT(0, seen->second);
	EXPECT_LT(0, seen->third);
	EXPECT_EQ(0, seen->own + seen->early + seen->middle);
}

TEST_F(process, exited_processes_are_zeroed_in_list)
{
	pid_t gone = self->other[0];
	int32_t list[] = { gone, self->other[1], gone };

	end(gone);
	self->other[0] = 0;
	EXPECT_EQ(0, start_list(self, SIFIVE_TRACE_START_REWIND, list, 3));
	EXPECT_EQ(0, list[0]);
	EXPECT_EQ(self->other[1], list[1]);
	EXPECT_EQ(0, list[2]);
	EXPECT_EQ(0, trace_stop(self->s.fd));
	/* START ignores zeros, so the same list can be reused. */
	EXPECT_EQ(0, start_list(self, SIFIVE_TRACE_START_REWIND, list, 3));
	EXPECT_EQ(0, trace_stop(self->s.fd));
	list[0] = gone;
	list[1] = gone;
	EXPECT_EQ(-ESRCH, start_list(self, SIFIVE_TRACE_START_REWIND, list, 2));
	EXPECT_EQ(0, list[0] + list[1]);
	EXPECT_EQ(0, trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_RUNNING);
}

TEST_F(process, invalid_lists_are_refused)
{
	static int32_t many[SIFIVE_TRACE_MAX_PROCESSES + 1];
	int32_t list[] = { self->child, self->other[0], self->child };
	const size_t page = getpagesize();
	struct sifive_trace_status status;
	int32_t *memory, *last;
	unsigned int i;

	EXPECT_EQ(-EINVAL, start_list(self, 0, list, 3));
	list[2] = 2;
	EXPECT_EQ(-EINVAL, start_list(self, 0, list, 3));
	list[2] = -1;
	EXPECT_EQ(-EINVAL, start_list(self, 0, list, 3));
	EXPECT_EQ(-EINVAL, start_list(self, SIFIVE_TRACE_START_ON_EXEC, list, 2));
	EXPECT_EQ(-EINVAL, start_list(self, 0, list, 0));
	EXPECT_EQ(-EFAULT, start_list(self, 0, NULL, 1));
	for (i = 0; i <= SIFIVE_TRACE_MAX_PROCESSES; i++)
		many[i] = INT32_MAX - i;
	EXPECT_EQ(-EINVAL, start_list(self, 0, many, SIFIVE_TRACE_MAX_PROCESSES + 1));
	EXPECT_EQ(-EINVAL, start_list(self, 0, many, UINT32_MAX));
	EXPECT_EQ(-ESRCH, start_list(self, 0, many, SIFIVE_TRACE_MAX_PROCESSES));
	many[SIFIVE_TRACE_MAX_PROCESSES - 1] = self->child;
	EXPECT_EQ(0, start_list(self, 0, many, SIFIVE_TRACE_MAX_PROCESSES));
	EXPECT_EQ(0, trace_stop(self->s.fd));

	/* Test a list that extends beyond mapped memory, and a read-only list. */
	memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, memory);
	ASSERT_EQ(0, mprotect((char *)memory + page, page, PROT_NONE));
	last = memory + page / sizeof(*memory) - 2;
	last[0] = self->child;
	last[1] = INT32_MAX;
	EXPECT_EQ(-EFAULT, start_list(self, 0, last + 1, 2));
	ASSERT_EQ(0, trace_status(self->s.fd, &status));
	EXPECT_NE(NULL, strstr(status.message, "the list of 2 processes cannot be read"));
	EXPECT_EQ(0, last[1]);
	last[1] = INT32_MAX;
	ASSERT_EQ(0, mprotect(memory, page, PROT_READ));
	EXPECT_EQ(-EFAULT, start_list(self, 0, last, 2));
	ASSERT_EQ(0, trace_status(self->s.fd, &status));
	EXPECT_NE(NULL, strstr(status.message, "2147483647 has ended: put the list in writable"));
	EXPECT_EQ(0, trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_RUNNING);
	EXPECT_EQ(0, start_list(self, 0, last, 1));
	munmap(memory, 2 * page);
}

/* START during a capture checks the list of processes, but does not change which are recorded. */
TEST_F(process, running_capture_only_checks_list)
{
	EXPECT_EQ(0, start(self, SIFIVE_TRACE_START_REWIND, self->child));
	EXPECT_EQ(-ESRCH, start(self, 0, INT32_MAX));
	EXPECT_EQ(0, start(self, 0, self->other[0]));
	EXPECT_NE(0, trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_RUNNING);
}

TEST_F(process, next_start_can_record_caller)
{
	struct trace_totals totals;
	unsigned int i;

	ASSERT_EQ(0, capture(self, true));
	self->seen = (struct seen){};
	for (i = 0; i < CAPTURES && !self->seen.own; i++) {
		ASSERT_EQ(0, start_list(self, SIFIVE_TRACE_START_REWIND, NULL, 0));
		own(NULL);
		ASSERT_EQ(0, trace_stop(self->s.fd));
		ASSERT_EQ(0, trace_records(self->s.fd, &totals, keep, &self->seen));
	}
	EXPECT_LT(0, self->seen.own);
	EXPECT_EQ(0, self->seen.early + self->seen.middle + self->seen.late);
}

TEST_F(process, capture_continues_after_process_exits)
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

static void *store_thread_id(void *id)
{
	*(pid_t *)id = gettid();
	pause();
	return NULL;
}

TEST_F(process, non_process_is_refused)
{
	struct sifive_trace_start reserved = TRACE_ARG(sifive_trace_start);
	volatile pid_t thread_id = 0;
	pthread_t thread;

	reserved.reserved = 1;
	EXPECT_EQ(-EINVAL, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_START, &reserved));
	EXPECT_EQ(-EINVAL, start(self, 0, -1));
	EXPECT_EQ(-ESRCH, start(self, 0, 0));
	EXPECT_EQ(-EINVAL, start(self, SIFIVE_TRACE_START_ON_EXEC, self->child));
	/* kthreadd */
	EXPECT_EQ(-EINVAL, start(self, 0, 2));
	EXPECT_EQ(-ESRCH, start(self, 0, INT32_MAX));
	ASSERT_EQ(0, pthread_create(&thread, NULL, store_thread_id, (void *)&thread_id));
	while (!thread_id)
		usleep(1000);
	EXPECT_EQ(-ESRCH, start(self, 0, thread_id));
	EXPECT_EQ(0, trace_flags(self->s.fd) & SIFIVE_TRACE_STATUS_RUNNING);
	EXPECT_EQ(0, start_list(self, 0, NULL, 0));
}

TEST_F(process, naming_processes_needs_capability)
{
	pid_t child = fork();

	if (!child) {
		if (trace_keep_caps(0))
			_exit(2);
		_exit(start(self, 0, self->child) != -EPERM ||
		      start(self, 0, getpid()) != -EPERM);
	}
	EXPECT_EQ(0, trace_wait(child));
	EXPECT_EQ(0, start(self, 0, self->child));
}

TRACE_HARNESS_MAIN
