// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that each sample names the interrupted thread on a CPU that several processes and threads
 * share. This must work with every count type, with callers, with stacks, and with repeated
 * headers. Without a request, threads must not be named, and processes created after START must not
 * be sampled.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
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

#define CHILDREN	2
#define THREADS		3

static inline __attribute__((always_inline)) void *spin(void)
{
	for (;;)
		asm volatile("");
	return NULL;
}

/* Each function occupies 64 aligned bytes, so a pc identifies the function and its thread. */
static __attribute__((noinline, aligned(64))) void *first(void *unused)
{
	return spin();
}

static __attribute__((noinline, aligned(64))) void *second(void *unused)
{
	return spin();
}

static __attribute__((noinline, aligned(64))) void *third(void *unused)
{
	return spin();
}

static void *(*const workers[THREADS])(void *unused) = { first, second, third };

/* Ids of the threads that run @workers, shared with the children. */
struct ids {
	volatile pid_t id[THREADS];
};

/* Numbers of samples, by worker. */
struct seen {
	const struct ids *ids;
	unsigned int samples[THREADS], named, wrong, callers, values;
};

FIXTURE(sample_threads) {
	struct trace_session s;
	struct sifive_trace_sampling sampling;
	pid_t child[CHILDREN];
	struct ids *ids;
	struct seen seen;
};

static void *run_third(void *ids)
{
	((struct ids *)ids)->id[2] = (pid_t)syscall(SYS_gettid);
	return third(NULL);
}

/* The second child has a second thread. */
static void run_child(struct ids *ids, unsigned int child)
{
	pthread_t thread;

	ids->id[child] = getpid();
	if (child && pthread_create(&thread, NULL, run_third, ids))
		_exit(1);
	workers[child](NULL);
}

FIXTURE_SETUP(sample_threads)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	unsigned int i;

	trace_sample_freely();
	self->ids = mmap(NULL, sizeof(*self->ids), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->ids);
	ASSERT_EQ(0, trace_session_open(&self->s, 0));
	ASSERT_EQ(0, trace_pin(self->s.encoder.cpu));
	if (!trace_has_sink(&self->s, SIFIVE_TRACE_SINK_SBA))
		SKIP(return, "this board has no SBA sink");
	ASSERT_EQ(0, trace_session_config(&self->s, SIFIVE_TRACE_SINK_SBA, BUFFER, 0));
	counters.count = 1;
	counters.event[0].code = 1;
	if (trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_COUNTERS, &counters)) {
		counters.count = 0;
		ASSERT_EQ(0, trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_COUNTERS, &counters));
	}
	self->sampling = TRACE_ARG(sifive_trace_sampling);
	self->sampling.channel = trace_register(&self->s.encoder, CHANNEL);
	self->sampling.interval = 1000000;
	self->sampling.flags = SIFIVE_TRACE_SAMPLING_THREADS;
	for (i = 0; i < CHILDREN; i++) {
		self->child[i] = fork();
		if (!self->child[i])
			run_child(self->ids, i);
		ASSERT_LT(0, self->child[i]);
	}
	for (i = 0; i < THREADS; i++)
		while (!self->ids->id[i])
			usleep(1000);
}

FIXTURE_TEARDOWN(sample_threads)
{
	unsigned int i;

	for (i = 0; i < CHILDREN; i++) {
		if (self->child[i] <= 0)
			continue;
		kill(self->child[i], SIGKILL);
		trace_wait(self->child[i]);
	}
	trace_session_close(&self->s);
}

static void keep(const struct trace_record *record, void *arg)
{
	struct seen *seen = arg;
	unsigned int i;

	if (record->kind != TRACE_ISR)
		return;
	seen->named += record->named;
	seen->callers += record->callers;
	seen->values += record->values;
	for (i = 0; i < THREADS; i++) {
		if (record->address[0] - (uintptr_t)workers[i] >= 64)
			continue;
		seen->samples[i]++;
		seen->wrong += record->named && record->thread != (uint32_t)seen->ids->id[i];
	}
}

/* Capture both processes until each thread has samples. Return 0, or an error. */
static int capture(struct _test_data_sample_threads *self)
{
	struct sifive_trace_start start = TRACE_ARG(sifive_trace_start);
	const unsigned int *samples = self->seen.samples;
	struct trace_totals totals;
	unsigned int i;
	int ret;

	self->seen = (struct seen){ .ids = self->ids };
	if (!(self->sampling.flags & SIFIVE_TRACE_SAMPLING_ALL)) {
		start.processes = (uintptr_t)self->child;
		start.count = CHILDREN;
	}
	start.flags = SIFIVE_TRACE_START_REWIND;
	ret = trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SAMPLING, &self->sampling);
	for (i = 0; !ret && i < CAPTURES && !(samples[0] && samples[1] && samples[2]); i++) {
		ret = trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_START, &start);
		if (ret)
			break;
		usleep(100000);
		ret = trace_stop(self->s.fd) ?:
		      trace_records(self->s.fd, &totals, keep, &self->seen);
		if (!ret && (totals.bad || totals.unfinished))
			ret = -EBADMSG;
	}
	printf("# %u captures, samples of threads: %u, %u, %u; %u named, %u wrong\n", i,
	       samples[0], samples[1], samples[2], self->seen.named, self->seen.wrong);
	return ret;
}

static bool are_right(const struct seen *seen)
{
	return seen->samples[0] && seen->samples[1] && seen->samples[2] && !seen->wrong &&
	       seen->named >= seen->samples[0] + seen->samples[1] + seen->samples[2];
}

TEST_F(sample_threads, named_with_all_count_types)
{
	for (self->sampling.count_type = SIFIVE_TRACE_SAMPLING_RAW;
	     self->sampling.count_type <= SIFIVE_TRACE_SAMPLING_XOR; self->sampling.count_type++) {
		ASSERT_EQ(0, capture(self));
		EXPECT_TRUE(are_right(&self->seen));
	}
}

TEST_F(sample_threads, named_if_everything_is_sampled)
{
	self->sampling.flags |= SIFIVE_TRACE_SAMPLING_ALL;
	ASSERT_EQ(0, capture(self));
	EXPECT_TRUE(are_right(&self->seen));
}

TEST_F(sample_threads, names_precede_callers_and_stacks)
{
	self->sampling.flags |= SIFIVE_TRACE_SAMPLING_CALLERS;
	ASSERT_EQ(0, capture(self));
	EXPECT_TRUE(are_right(&self->seen));
	EXPECT_LT(0, self->seen.callers);
	self->sampling.flags = SIFIVE_TRACE_SAMPLING_THREADS | SIFIVE_TRACE_SAMPLING_STACK(64);
	ASSERT_EQ(0, capture(self));
	EXPECT_TRUE(are_right(&self->seen));
	EXPECT_LT(0, self->seen.values);
}

TEST_F(sample_threads, periodic_headers_precede_names)
{
	unsigned int i;

	self->sampling.count_type = SIFIVE_TRACE_SAMPLING_XOR;
	self->sampling.flags |= SIFIVE_TRACE_SAMPLING_HEADERS | SIFIVE_TRACE_SAMPLING_CALLERS;
	self->sampling.interval = 100000;
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, capture(self));
		EXPECT_TRUE(are_right(&self->seen));
	}
}

/* Capture this process, which creates a child that creates a grandchild. */
static int capture_descendants(struct _test_data_sample_threads *self)
{
	struct sifive_trace_start start = TRACE_ARG(sifive_trace_start);
	struct trace_totals totals;
	pid_t child;
	int ret;

	start.flags = SIFIVE_TRACE_START_REWIND;
	ret = trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_SAMPLING, &self->sampling) ?:
	      trace_ioctl(self->s.fd, SIFIVE_TRACE_IOC_START, &start);
	if (ret)
		return ret;
	self->ids->id[1] = 0;
	child = fork();
	if (!child) {
		setpgid(0, 0);
		if (fork())
			pause();
		run_child(self->ids, 1);
	}
	while (child > 0 && !self->ids->id[1])
		usleep(1000);
	usleep(100000);
	ret = trace_stop(self->s.fd) ?: trace_records(self->s.fd, &totals, keep, &self->seen);
	kill(-child, SIGKILL);
	trace_wait(child);
	return ret;
}

TEST_F(sample_threads, descendants_on_request)
{
	unsigned int i;

	for (i = 0; i < CHILDREN; i++) {
		kill(self->child[i], SIGKILL);
		trace_wait(self->child[i]);
		self->child[i] = 0;
	}
	self->seen = (struct seen){ .ids = self->ids };
	ASSERT_EQ(0, capture_descendants(self));
	EXPECT_EQ(0, self->seen.samples[1] + self->seen.samples[2]);
	self->sampling.flags |= SIFIVE_TRACE_SAMPLING_CHILDREN;
	for (i = 0; i < CAPTURES && !(self->seen.samples[1] && self->seen.samples[2]); i++)
		ASSERT_EQ(0, capture_descendants(self));
	EXPECT_LT(0, self->seen.samples[1]);
	EXPECT_LT(0, self->seen.samples[2]);
}

TEST_F(sample_threads, named_only_on_request)
{
	self->sampling.flags = 0;
	ASSERT_EQ(0, capture(self));
	EXPECT_LT(0, self->seen.samples[0]);
	EXPECT_EQ(0, self->seen.named);
}

TRACE_HARNESS_MAIN
