// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that the kernel writes records at the requested rate, with the user-mode pc
 * and the counters, from every thread and hart, and never inside a thread's own record.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "trace_count.h"
#include "trace_more.h"
#include "trace_records.h"

#define CHANNEL		5

#define MAX_SAMPLES	20000

static inline __attribute__((always_inline)) void turn(uint64_t turns)
{
	asm volatile("1:	addi %0, %0, -1\n"
		     "	nop\n"
		     "	nop\n"
		     "	bnez %0, 1b" : "+r"(turns));
}

/* Each function occupies 64 aligned bytes, so a pc identifies the function. */
static __attribute__((noinline, aligned(64))) void work(uint64_t turns)
{
	turn(turns);
}

static __attribute__((noinline, aligned(64))) void other_work(uint64_t turns)
{
	turn(turns);
}

static bool in(void (*worker)(uint64_t turns), uint64_t pc)
{
	return pc - (uintptr_t)worker < 64;
}

/* @count: cycles and instructions, if counted, since the header */
struct sample {
	unsigned int src;
	uint64_t pc, time, count[2];
};

/**
 * struct samples - all samples in a capture
 * @totals:	totals of the trace
 */
struct samples {
	struct trace_totals totals;
	unsigned int count;
	struct sample sample[MAX_SAMPLES];
};

FIXTURE(sampling) {
	int fd;
	struct sifive_trace_info info;
	struct sifive_trace_encoder encoder;
	struct sifive_trace_sampling sampling;
	struct sifive_trace_counters counters;
	struct samples *samples;
	bool exact;
};

FIXTURE_SETUP(sampling)
{
	struct sifive_trace_config config;

	trace_sample_freely();
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, trace_info(self->fd, &self->info));
	config = trace_whole_config(self->fd);
	ASSERT_EQ(0, trace_config(self->fd, &config));
	ASSERT_EQ(0, trace_encoder(self->fd, 0, &self->encoder));
	ASSERT_EQ(0, trace_pin(self->encoder.cpu));
	self->sampling = TRACE_ARG(sifive_trace_sampling);
	self->sampling.channel = trace_register(&self->encoder, CHANNEL);
	self->sampling.interval = 1000000;
	self->exact = trace_counts_instructions();
	self->samples = malloc(sizeof(*self->samples));
	ASSERT_NE(NULL, self->samples);
}

FIXTURE_TEARDOWN(sampling)
{
	free(self->samples);
	close(self->fd);
}

static int take(struct _test_data_sampling *self, uint32_t flags)
{
	self->counters = TRACE_ARG(sifive_trace_counters);
	self->counters.flags = flags;
	self->counters.count = 2;
	self->counters.event[0].code = 1;
	self->counters.event[1].code = 2;
	return trace_ioctl(self->fd, SIFIVE_TRACE_IOC_COUNTERS, &self->counters);
}

static int set(struct _test_data_sampling *self)
{
	return trace_ioctl(self->fd, SIFIVE_TRACE_IOC_SAMPLING, &self->sampling);
}

static void keep(const struct trace_record *record, void *arg)
{
	struct samples *samples = arg;

	if (record->channel != CHANNEL || record->kind != TRACE_ISR ||
	    samples->count == MAX_SAMPLES)
		return;
	samples->sample[samples->count++] = (struct sample){
		.src = record->src,
		.pc = record->address[0],
		.time = record->time,
		.count = { record->value[0], record->value[1] },
	};
}

/* Collect all samples in the capture; return 0, or -1 if the capture does not decode. */
static int collect(struct _test_data_sampling *self)
{
	self->samples->count = 0;
	return trace_records(self->fd, &self->samples->totals, keep, self->samples);
}

static bool is_whole(const struct samples *samples)
{
	return trace_is_whole(&samples->totals);
}

/*
 * Return the minimum number of samples if @n are expected: nearly @n if instructions are counted,
 * otherwise far fewer, because the emulator is slow on a loaded host.
 */
static unsigned int at_least(const struct _test_data_sampling *self, unsigned int n)
{
	return self->exact || !n ? n - n / 10 : n / 50 + 1;
}

/* Return the maximum number of samples at a 1 ms interval in this much CPU time. */
static unsigned int at_most(uint64_t microseconds)
{
	return microseconds / 1000 + microseconds / 4000 + 10;
}

/* Work for at least @ms milliseconds, and until at_least(@n) samples have arrived. */
static void work_sampled(struct _test_data_sampling *self, void (*fn)(uint64_t),
			 unsigned int ms, unsigned int n)
{
	trace_work_sampled(self->fd, fn, ms, at_least(self, n));
}

static unsigned int count_in(const struct samples *s, void (*fn)(uint64_t))
{
	unsigned int i, n = 0;

	for (i = 0; i < s->count; i++)
		n += in(fn, s->sample[i].pc);
	return n;
}

/* Run @fn for @ms milliseconds during a capture; return the CPU time that this process used. */
#define RUN(fn, ms, n) ({						\
	uint64_t _own = trace_own_time();				\
									\
	ASSERT_EQ(0, trace_start(self->fd, SIFIVE_TRACE_START_REWIND));	\
	work_sampled(self, fn, ms, n);					\
	ASSERT_EQ(0, trace_stop(self->fd));				\
	_own = trace_own_time() - _own;					\
	ASSERT_EQ(0, collect(self));					\
	_own;								\
})

TEST_F(sampling, samples_have_interval_pc_and_counters)
{
	uint64_t before[2], after[2], begin[2], end[2], own;
	struct sifive_trace_status status;
	const struct sample *first, *last;
	unsigned int i;

	if (!(self->info.sinks_available & BIT64(SIFIVE_TRACE_SINK_SBA)))
		SKIP(return, "this board has no SBA sink");
	if (take(self, 0))
		SKIP(return, "no counters on this hart");
	ASSERT_EQ(0, set(self));
	for (i = 0; i < 2; i++)
		before[i] = trace_counter(self->counters.event[i].counter);
	own = trace_own_time();
	ASSERT_EQ(0, trace_start(self->fd, SIFIVE_TRACE_START_REWIND));
	for (i = 0; i < 2; i++)
		begin[i] = trace_counter(self->counters.event[i].counter);
	work_sampled(self, work, 300, 300);
	for (i = 0; i < 2; i++)
		end[i] = trace_counter(self->counters.event[i].counter);
	ASSERT_EQ(0, trace_stop(self->fd));
	own = trace_own_time() - own;
	for (i = 0; i < 2; i++)
		after[i] = trace_counter(self->counters.event[i].counter);
	ASSERT_EQ(0, collect(self));
	TH_LOG("%u samples in %llu us, %u in the loop", self->samples->count,
	       (unsigned long long)own, count_in(self->samples, work));
	EXPECT_TRUE(is_whole(self->samples));
	EXPECT_LE(at_least(self, 300), self->samples->count);
	EXPECT_GE(at_most(own), self->samples->count);
	EXPECT_LT(self->exact ? self->samples->count / 2 : 0, count_in(self->samples, work));
	for (i = 1; i < self->samples->count; i++) {
		EXPECT_LT(self->samples->sample[i - 1].count[0], self->samples->sample[i].count[0]);
		EXPECT_LT(self->samples->sample[i - 1].count[1], self->samples->sample[i].count[1]);
		EXPECT_LT(self->samples->sample[i - 1].time, self->samples->sample[i].time);
	}
	/* The counts span almost the whole range between the program's own readings. */
	first = self->samples->sample;
	last = first + self->samples->count - 1;
	for (i = 0; i < 2; i++) {
		TH_LOG("counter %u: %ld before, samples %ld to %ld, %ld after", i, (long)before[i],
		       (long)first->count[i], (long)last->count[i], (long)after[i]);
		if (!self->exact)
			continue;
		EXPECT_LT(before[i], first->count[i]);
		EXPECT_GT(after[i], last->count[i]);
		EXPECT_LT((end[i] - begin[i]) / 100 * 98, last->count[i] - first->count[i]);
	}
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_EQ(self->samples->count, status.samples);
	EXPECT_EQ(0, status.samples_lost);
}

/* XOR counts in a ring need repeated headers. Only the busy hart writes several headers. */
TEST_F(sampling, only_xor_counts_have_periodic_headers)
{
	self->sampling.flags = SIFIVE_TRACE_SAMPLING_HEADERS;
	self->sampling.interval = 100000;
	EXPECT_EQ(-EINVAL, set(self));
	self->sampling.count_type = SIFIVE_TRACE_SAMPLING_XOR;
	self->sampling.flags |= SIFIVE_TRACE_SAMPLING_ONE_HEADER;
	EXPECT_EQ(-EINVAL, set(self));
	self->sampling.flags = SIFIVE_TRACE_SAMPLING_HEADERS;
	ASSERT_EQ(0, set(self));
	RUN(work, 300, 3000);
	EXPECT_TRUE(is_whole(self->samples));
	EXPECT_EQ(self->info.encoders + (self->samples->count - 1) /
		  SIFIVE_TRACE_SAMPLING_HEADER_EVERY, self->samples->totals.headers);
	EXPECT_LE(self->exact ? self->samples->count / 2 : 1, count_in(self->samples, work));
}

TEST_F(sampling, interval_is_at_least_100_us)
{
	uint64_t own;

	self->sampling.interval = 1;
	ASSERT_EQ(0, set(self));
	EXPECT_EQ(100000, self->sampling.interval);
	own = RUN(work, 100, 1000);
	EXPECT_LE(at_least(self, 1000), self->samples->count);
	EXPECT_GE(at_most(10 * own), self->samples->count);
}

TEST_F(sampling, no_samples_are_written_while_stopped)
{
	struct sifive_trace_status before, after;

	ASSERT_EQ(0, set(self));
	RUN(work, 20, 20);
	ASSERT_EQ(0, trace_status(self->fd, &before));
	EXPECT_LE(at_least(self, 20), before.samples);
	trace_work(work, 50);
	ASSERT_EQ(0, trace_status(self->fd, &after));
	EXPECT_EQ(before.samples, after.samples);
}

TEST_F(sampling, header_is_written_at_each_or_only_first_start)
{
	unsigned int encoders = self->info.encoders;

	ASSERT_EQ(0, set(self));
	ASSERT_EQ(0, trace_start(self->fd, 0));
	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_EQ(0, trace_start(self->fd, 0));
	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(2 * encoders, self->samples->totals.headers);
	self->sampling.flags = SIFIVE_TRACE_SAMPLING_ONE_HEADER;
	ASSERT_EQ(0, set(self));
	ASSERT_EQ(0, trace_start(self->fd, SIFIVE_TRACE_START_REWIND));
	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_EQ(0, trace_start(self->fd, 0));
	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(encoders, self->samples->totals.headers);
	/* The rewind discarded the header. */
	ASSERT_EQ(0, trace_start(self->fd, SIFIVE_TRACE_START_REWIND));
	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(encoders, self->samples->totals.headers);
}

/* Restart before the kernel's worker has finished the work that STOP deferred. */
TEST_F(sampling, immediate_restart_does_not_increase_rate)
{
	struct sched_param fifo = { .sched_priority = 1 };
	struct sifive_trace_status status;
	uint64_t own = trace_own_time();
	unsigned int i;

	ASSERT_EQ(0, set(self));
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &fifo));
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, trace_start(self->fd, 0));
		trace_work(work, 5);
		ASSERT_EQ(0, trace_stop(self->fd));
	}
	own = trace_own_time() - own;
	ASSERT_EQ(0, trace_status(self->fd, &status));
	TH_LOG("%llu samples in %llu us", (unsigned long long)status.samples,
	       (unsigned long long)own);
	EXPECT_LT(0, status.samples);
	EXPECT_GE(at_most(own), status.samples);
}

/* If samples were in flight when the sink filled up, they count as written. */
#define ON_THE_WAY	16

TEST_F(sampling, full_sink_loses_samples)
{
	struct sifive_trace_config config = trace_simple_config(self->fd, 0);
	struct sifive_trace_status status;
	unsigned int i;

	if (config.buffer)
		config.buffer = 4096;
	ASSERT_EQ(0, trace_config(self->fd, &config));
	self->sampling.interval = 100000;
	ASSERT_EQ(0, set(self));
	ASSERT_EQ(0, trace_start(self->fd, 0));
	for (i = 0; i < 1000 && !(trace_flags(self->fd) & SIFIVE_TRACE_STATUS_FULL); i++)
		trace_work(work, 10);
	ASSERT_EQ(0, trace_status(self->fd, &status));
	ASSERT_NE(0, status.flags & SIFIVE_TRACE_STATUS_FULL);
	trace_work_sampled(self->fd, work, 100, at_least(self, 1000) + ON_THE_WAY);
	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_EQ(0, trace_status(self->fd, &status));
	ASSERT_EQ(0, collect(self));
	EXPECT_GE(self->samples->count + ON_THE_WAY, status.samples);
	EXPECT_LE(at_least(self, 1000), status.samples_lost);
}

/* CPU time of all threads that have run thread_works(). */
static uint64_t threads_time;

static void *thread_works(void *self)
{
	work_sampled(self, other_work, 50, 50);
	__atomic_add_fetch(&threads_time, trace_own_time(), __ATOMIC_RELAXED);
	return NULL;
}

TEST_F(sampling, threads_created_later_are_sampled)
{
	/* If time is counted, some samples are missing, and others are taken between the loops. */
	const unsigned int least = self->exact ? at_least(self, 50) / 2 : 1;
	const uint64_t own = trace_own_time();
	pthread_t thread[3];
	unsigned int i;

	ASSERT_EQ(0, set(self));
	ASSERT_EQ(0, trace_start(self->fd, 0));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, thread_works, self));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
	work_sampled(self, work, 50, 50);
	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_EQ(0, collect(self));
	EXPECT_TRUE(is_whole(self->samples));
	EXPECT_LE(least, count_in(self->samples, work));
	EXPECT_GE(at_most(trace_own_time() - own), count_in(self->samples, work));
	EXPECT_LE(least, count_in(self->samples, other_work));
	EXPECT_GE(at_most(threads_time), count_in(self->samples, other_work));
}

TEST_F(sampling, follows_thread_to_every_cpu)
{
	unsigned int seen[SIFIVE_TRACE_MAX_ENCODERS] = { 0 };
	struct sifive_trace_encoder e;
	uint32_t i, round;

	ASSERT_EQ(0, set(self));
	ASSERT_EQ(0, trace_start(self->fd, 0));
	for (round = 0; round < 4; round++)
		for (i = 0; i < self->info.encoders; i++) {
			ASSERT_EQ(0, trace_encoder(self->fd, i, &e));
			ASSERT_EQ(0, trace_pin(e.cpu));
			work_sampled(self, work, 20, 20);
		}
	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_EQ(0, collect(self));
	for (i = 0; i < self->samples->count; i++)
		seen[self->samples->sample[i].src]++;
	for (i = 0; i < self->info.encoders; i++) {
		ASSERT_EQ(0, trace_encoder(self->fd, i, &e));
		EXPECT_LE(at_least(self, 80), seen[e.src_bits ? e.src : e.sink]);
	}
}

/* Wait for a child that does other work; return the number of its samples. */
static unsigned int childs_samples(struct __test_metadata *_metadata,
				   struct _test_data_sampling *self, pid_t child)
{
	EXPECT_EQ(0, trace_wait(child));
	EXPECT_EQ(0, trace_stop(self->fd));
	EXPECT_EQ(0, collect(self));
	EXPECT_TRUE(is_whole(self->samples));
	return count_in(self->samples, other_work);
}

#define CHILDS_SAMPLES(child)	childs_samples(_metadata, self, child)

/* A child is another process: only SAMPLING of all processes includes it. */
TEST_F(sampling, other_processes_are_sampled_only_with_all_flag)
{
	uint32_t flags[] = { 0, SIFIVE_TRACE_SAMPLING_ALL };
	unsigned int i, seen[2];
	pid_t child;

	for (i = 0; i < 2; i++) {
		self->sampling.flags = flags[i];
		ASSERT_EQ(0, set(self));
		ASSERT_EQ(0, trace_start(self->fd, SIFIVE_TRACE_START_REWIND));
		child = fork();
		if (!child) {
			work_sampled(self, other_work, 100, flags[i] ? 100 : 0);
			_exit(0);
		}
		seen[i] = CHILDS_SAMPLES(child);
	}
	EXPECT_EQ(0, seen[0]);
	EXPECT_LE(self->exact ? at_least(self, 100) / 2 : 1, seen[1]);
}

/* Argument that makes the executed program only run the work loop. */
#define WORK_ALONE	"work-alone"

__attribute__((constructor)) static void work_alone(int argc, char **argv)
{
	if (argc != 2 || strcmp(argv[1], WORK_ALONE))
		return;
	trace_work(other_work, 500);
	_exit(0);
}

/* A child calls START and executes this program again, to run the work loop. */
TEST_F(sampling, execve_ends_sampling_without_exec_flag)
{
	uint32_t flags[] = { 0, SIFIVE_TRACE_SAMPLING_EXEC };
	unsigned int i, seen[2];
	pid_t child;

	for (i = 0; i < 2; i++) {
		self->sampling.flags = flags[i];
		ASSERT_EQ(0, set(self));
		child = fork();
		if (!child) {
			if (trace_start(self->fd, SIFIVE_TRACE_START_REWIND))
				_exit(1);
			execl("/proc/self/exe", "sampling_test", WORK_ALONE,
			      (char *)NULL);
			_exit(1);
		}
		seen[i] = CHILDS_SAMPLES(child);
	}
	EXPECT_EQ(0, seen[0]);
	EXPECT_LT(0, seen[1]);
}

/* Run in a child that has the session's descriptor, but no capabilities. */
static int try_all(struct _test_data_sampling *self)
{
	if (trace_keep_caps(0))
		return 1;
	/* START fails with the parent's settings, which remain in effect. */
	if (trace_start(self->fd, 0) != -EPERM ||
	    !strstr(trace_message(self->fd), "CAP_PERFMON") ||
	    trace_flags(self->fd) & SIFIVE_TRACE_STATUS_RUNNING)
		return 2;
	if (set(self) != -EPERM || !strstr(trace_message(self->fd), "CAP_PERFMON"))
		return 3;
	/* Without capabilities, the child may not sample itself or call STOP. */
	self->sampling.flags = 0;
	if (set(self) != -EPERM || trace_stop(self->fd) != -EPERM)
		return 4;
	return 0;
}

/* Samples are written with the settings from the last call that succeeded. */
TEST_F(sampling, failed_call_keeps_previous_settings)
{
	struct sifive_trace_sampling good = self->sampling;

	self->sampling.interval = 0;
	self->sampling.period = 100000;
	self->sampling.event.type = SIFIVE_TRACE_EVENT_RAW;
	self->sampling.event.data = BIT64(60);
	ASSERT_EQ(0, trace_ioctl(self->fd, SIFIVE_TRACE_IOC_SAMPLING, &good));
	EXPECT_EQ(-EOPNOTSUPP, set(self));
	self->sampling.event.type = SIFIVE_TRACE_EVENT_CACHE;
	self->sampling.event.data = 0;
	self->sampling.event.code = 6 << 3;
	EXPECT_EQ(-EOPNOTSUPP, set(self));
	RUN(work, 50, 50);
	EXPECT_LT(0, self->samples->count);
}

TEST_F(sampling, all_flag_needs_capability)
{
	pid_t child;

	self->sampling.flags = SIFIVE_TRACE_SAMPLING_ALL;
	ASSERT_EQ(0, set(self));
	child = fork();
	if (!child)
		_exit(try_all(self));
	EXPECT_EQ(0, trace_wait(child));
}

/* The thread stores to another register of the same encoder while samples are written. */
TEST_F(sampling, thread_stores_and_kernel_records_do_not_mix)
{
	unsigned int reg = trace_register(&self->encoder, TRACE_CHANNEL);
	void *page = trace_map(self->fd, &self->encoder);
	uint32_t next = 0, i;

	ASSERT_NE(NULL, page);
	self->sampling.interval = 100000;
	ASSERT_EQ(0, set(self));
	ASSERT_EQ(0, trace_start(self->fd, 0));
	for (i = 0; i < 400 || (i < 100000 && !trace_sampled(self->fd)); i++) {
		trace_store(page, reg, next++, 4);
		work(20000);
	}
	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_EQ(0, collect(self));
	EXPECT_LT(0, self->samples->count);
	EXPECT_EQ(0, self->samples->totals.unfinished);
	/* The other messages are the thread's own stores, none of which is a record. */
	EXPECT_EQ(next, self->samples->totals.bad);
}

#define OWN_TURNS	20000000ull

static void *thread_works_own(void *unused)
{
	other_work(OWN_TURNS);
	return NULL;
}

/* Return the number of instructions counted by the samples of the thread that runs @fn. */
static uint64_t instructions_in(const struct samples *s, void (*fn)(uint64_t))
{
	uint64_t sum = 0, mask = BIT64(48) - 1;
	unsigned int i;

	for (i = 1; i < s->count; i++)
		if (in(fn, s->sample[i].pc))
			sum += (s->sample[i].count[1] - s->sample[i - 1].count[1]) & mask;
	return sum;
}

/* Check the counts of two threads, one of which has joined; another process shares their hart. */
static void sample_own(struct __test_metadata *_metadata, struct _test_data_sampling *self,
		       uint32_t count_type)
{
	/* Counts include the kernel's instructions in the threads' system calls. */
	const uint64_t expected = OWN_TURNS * 4, off = expected / 10;
	struct sifive_trace_status before, status;
	uint64_t mine, others;
	pid_t neighbour;
	pthread_t other;

	self->sampling.count_type = count_type;
	ASSERT_EQ(0, set(self));
	ASSERT_EQ(0, trace_status(self->fd, &before));
	neighbour = fork();
	if (!neighbour)
		for (;;)
			;
	ASSERT_LT(0, neighbour);
	ASSERT_EQ(0, trace_start(self->fd, SIFIVE_TRACE_START_REWIND));
	ASSERT_EQ(0, pthread_create(&other, NULL, thread_works_own, NULL));
	work(OWN_TURNS);
	ASSERT_EQ(0, pthread_join(other, NULL));
	ASSERT_EQ(0, trace_stop(self->fd));
	kill(neighbour, SIGKILL);
	trace_wait(neighbour);
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_EQ(0, status.samples_lost);
	ASSERT_EQ(0, collect(self));
	EXPECT_EQ(status.samples - before.samples, self->samples->count);
	mine = instructions_in(self->samples, work);
	others = instructions_in(self->samples, other_work);
	TH_LOG("type %u: %llu and %llu instructions in %u samples, expected %llu each", count_type,
	       (unsigned long long)mine, (unsigned long long)others, self->samples->count,
	       (unsigned long long)expected);
	if (!self->exact)
		return;
	EXPECT_LE(expected - off, mine);
	EXPECT_GE(expected + off, mine);
	EXPECT_LE(expected - off, others);
	EXPECT_GE(expected + off, others);
}

TEST_F(sampling, each_thread_has_separate_counts_joined_or_not)
{
	uint32_t type;

	if (take(self, SIFIVE_TRACE_COUNTERS_PER_THREAD))
		SKIP(return, "no counters on this hart");
	for (type = SIFIVE_TRACE_SAMPLING_RAW; type <= SIFIVE_TRACE_SAMPLING_XOR; type++)
		sample_own(_metadata, self, type);
}

/* Exit immediately: the driver then frees the thread's entry. */
static void *thread_is_brief(void *unused)
{
	return NULL;
}

TEST_F(sampling, any_number_of_successive_threads_has_counts)
{
	struct sifive_trace_status status;
	pthread_t thread;
	int i, end = (int)trace_setting("TRACE_THREADS", SIFIVE_TRACE_THREADS + 100);

	if (!(self->info.sinks_available & BIT64(SIFIVE_TRACE_SINK_SBA)))
		SKIP(return, "this board has no SBA sink");
	if (take(self, SIFIVE_TRACE_COUNTERS_PER_THREAD))
		SKIP(return, "no counters on this hart");
	ASSERT_EQ(0, set(self));
	ASSERT_EQ(0, trace_start(self->fd, SIFIVE_TRACE_START_REWIND));
	for (i = 0; i < end; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, thread_is_brief, NULL));
		ASSERT_EQ(0, pthread_join(thread, NULL));
	}
	ASSERT_EQ(0, pthread_create(&thread, NULL, thread_works_own, NULL));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_LT(0, status.samples);
	EXPECT_EQ(0, status.samples_lost);
}

TEST_F(sampling, samples_match_event_period)
{
	const uint64_t turns = 5000000, period = 100000;
	uint64_t expected = turns * 4 / period, more;
	unsigned int i, off = 0;

	if (!(self->info.flags & SIFIVE_TRACE_INFO_OVERFLOW))
		SKIP(return, "no counter interrupts without Sscofpmf");
	ASSERT_EQ(0, take(self, SIFIVE_TRACE_COUNTERS_PER_THREAD));
	ASSERT_NE(NULL, trace_own_slot(self->fd));
	self->sampling.interval = 0;
	self->sampling.period = period;
	self->sampling.event.code = 2;
	ASSERT_EQ(0, set(self));
	ASSERT_EQ(0, trace_start(self->fd, 0));
	work(turns);
	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_EQ(0, collect(self));
	TH_LOG("%u samples, %llu expected if instructions are counted",
	       self->samples->count, (unsigned long long)expected);
	EXPECT_TRUE(is_whole(self->samples));
	/* If the emulator counts time, interrupts may be late on a loaded host. */
	if (self->exact) {
		EXPECT_LT(0, count_in(self->samples, work));
		EXPECT_LE(expected, self->samples->count);
		EXPECT_GE(expected + expected / 5, self->samples->count);
	}
	/* A late interrupt makes one interval longer and the next interval shorter. */
	for (i = 1; i < self->samples->count; i++) {
		more = self->samples->sample[i].count[1] -
		       self->samples->sample[i - 1].count[1];
		EXPECT_LT(0, (int64_t)more);
		off += more < period - period / 5 || more > period + period / 5;
	}
	EXPECT_TRUE(!self->exact || off <= self->samples->count / 20);
}

TEST_F(sampling, short_period_is_raised_to_minimum)
{
	if (!(self->info.flags & SIFIVE_TRACE_INFO_OVERFLOW))
		SKIP(return, "no counter interrupts without Sscofpmf");
	self->sampling.interval = 0;
	self->sampling.period = 1;
	self->sampling.event.code = 2;
	ASSERT_EQ(0, set(self));
	EXPECT_EQ(10000, self->sampling.period);
	self->sampling.period = 1;
	self->sampling.event.flags = SIFIVE_TRACE_EVENT_NO_KERNEL;
	ASSERT_EQ(0, set(self));
	EXPECT_EQ(1000, self->sampling.period);
	RUN(work, 10, 0);
}

static pthread_barrier_t seen;

static void *thread_waits(void *unused)
{
	pthread_barrier_wait(&seen);
	return unused;
}

/* Create a pinned CPU event, which has precedence over thread events. */
static int steal_counter(struct _test_data_sampling *self)
{
	struct perf_event_attr attr = trace_perf_attr(PERF_TYPE_HARDWARE,
						      PERF_COUNT_HW_BRANCH_MISSES);
	int event;

	attr.pinned = 1;
	event = trace_perf_open(&attr, -1, self->encoder.cpu);
	trace_perf_enable(event);
	return event;
}

TEST_F(sampling, samples_without_free_counter_are_counted_as_lost)
{
	struct sifive_trace_counters counters = TRACE_ARG(sifive_trace_counters);
	struct sifive_trace_query query = TRACE_ARG(sifive_trace_query);
	struct sifive_trace_status status;
	pthread_t thread[2];
	unsigned int i;
	int thief;

	if (!(self->info.flags & SIFIVE_TRACE_INFO_OVERFLOW))
		SKIP(return, "no counter interrupts without Sscofpmf");
	self->sampling.interval = 0;
	self->sampling.period = 10000;
	self->sampling.event.code = PERF_COUNT_HW_BRANCH_MISSES + 1;
	counters.count = 1;
	counters.event[0] = self->sampling.event;
	if (trace_ioctl(self->fd, SIFIVE_TRACE_IOC_COUNTERS, &counters))
		SKIP(return, "%s", trace_message(self->fd));
	query.event = self->sampling.event;
	ASSERT_EQ(0, trace_ioctl(self->fd, SIFIVE_TRACE_IOC_EVENT, &query));
	if (query.counters)
		SKIP(return, "this hart has several counters for such events");
	EXPECT_EQ(-EBUSY, set(self));
	EXPECT_NE(NULL, strstr(trace_message(self->fd), "no counter"));
	counters.count = 0;
	ASSERT_EQ(0, trace_ioctl(self->fd, SIFIVE_TRACE_IOC_COUNTERS, &counters));
	ASSERT_EQ(0, set(self));
	thief = steal_counter(self);
	ASSERT_LE(0, thief);
	EXPECT_EQ(-EBUSY, trace_start(self->fd, 0));
	EXPECT_NE(NULL, strstr(trace_message(self->fd), "no counter"));
	EXPECT_EQ(0, trace_flags(self->fd) & SIFIVE_TRACE_STATUS_RUNNING);
	close(thief);

	ASSERT_EQ(0, trace_start(self->fd, 0));
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_EQ(0, status.samples_lost);
	thief = steal_counter(self);
	ASSERT_LE(0, thief);
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_EQ(1, status.samples_lost);
	EXPECT_NE(NULL, strstr(status.message, "lost its counter"));

	/* Threads created after this point never have a counter. */
	pthread_barrier_init(&seen, NULL, 3);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, thread_waits, NULL));
	for (i = 0; i < 10000 && status.samples_lost < 3; i++) {
		usleep(1000);
		ASSERT_EQ(0, trace_status(self->fd, &status));
	}
	pthread_barrier_wait(&seen);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
	ASSERT_EQ(0, trace_stop(self->fd));
	ASSERT_EQ(0, trace_status(self->fd, &status));
	EXPECT_EQ(3, status.samples_lost);
	close(thief);
}

TRACE_HARNESS_MAIN
