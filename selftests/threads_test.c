// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that threads on all harts record at once and that nothing they do to each
 * other, or signals, moves, forks and jumps do to them, costs a record that is not
 * counted: the decoded trace has exactly the records that the program made, minus
 * the losses that the library reports, and no piece of anything else.
 *
 * TRACE_SECONDS in the environment makes the longest one longer.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sifive_trace.h>

#include "kselftest_harness.h"
#include "trace_more.h"
#include "trace_records.h"

#define THREADS		64
#define BUFFER		(32u << 20)

static struct sifive_trace *trace;

/* Records that were begun, and those that were not left half-way. */
static uint64_t begun, made;

static void record(void)
{
	__atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED);
	sifive_trace_write(trace);
	__atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
}

FIXTURE(threads) {
	int fd;
	struct sifive_trace_info info;
	struct trace_totals totals;
	struct sifive_trace_report report;
};

/* A miss in the TLB is one hart's alone: a count of another hart's shows. */
static int begin(const struct sifive_trace_info *info)
{
	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;

	if (info->flags & SIFIVE_TRACE_INFO_COUNTERS)
		options.events = "cycles,instructions,dTLB-load-misses";
	options.flags = SIFIVE_TRACE_NO_HOOKS;
	trace = sifive_trace_open();
	if (!trace)
		return -1;
	/* Several sinks may have to share what one could have. */
	for (options.buffer = BUFFER; sifive_trace_setup(trace, &options);
	     options.buffer /= 2)
		if (options.buffer < 1 << 17)
			return -1;
	return sifive_trace_on(trace);
}

/*
 * Small stacks without a guard page are kept when a thread ends: otherwise most of
 * an emulator's time goes into telling all harts of changed mappings.
 */
static int make_threads_cheap(void)
{
	pthread_attr_t attr;

	return pthread_attr_init(&attr) ||
	       pthread_attr_setstacksize(&attr, 64 * 1024) ||
	       pthread_attr_setguardsize(&attr, 0) ||
	       pthread_setattr_default_np(&attr);
}

FIXTURE_SETUP(threads)
{
	ASSERT_EQ(0, make_threads_cheap());
	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, trace_info(self->fd, &self->info));
	if (!(self->info.sinks_available & BIT64(SIFIVE_TRACE_SINK_SBA)))
		SKIP(return, "this board has no SBA sink");
	ASSERT_EQ(0, begin(&self->info)) {
		TH_LOG("%s", sifive_trace_error());
	}
}

FIXTURE_TEARDOWN(threads)
{
	sifive_trace_close(trace);
	close(self->fd);
}

static uint64_t lost(const struct sifive_trace_report *report)
{
	return report->lost_signals + report->lost_threads + report->lost_abandoned;
}

static void stop_and_read(struct __test_metadata *_metadata,
			  struct _test_data_threads *self)
{
	ASSERT_EQ(0, sifive_trace_off(trace)) {
		TH_LOG("%s", sifive_trace_error());
	}
	self->report.size = sizeof(self->report);
	ASSERT_EQ(0, sifive_trace_status(trace, &self->report));
	ASSERT_EQ(0, self->report.flags & SIFIVE_TRACE_FULL);
	ASSERT_EQ(0, trace_records(self->fd, &self->totals, NULL, NULL));
	EXPECT_EQ(0, self->totals.bad);
	EXPECT_EQ(0, self->totals.backwards);
}

/* All that was made is in the trace or was reported, and nothing else. */
static void whole(struct __test_metadata *_metadata, struct _test_data_threads *self)
{
	stop_and_read(_metadata, self);
	EXPECT_EQ(0, self->totals.unfinished);
	EXPECT_EQ(self->report.lost_abandoned, self->totals.breaks);
	/* One that was given up may turn out whole: it is in both, never in neither. */
	EXPECT_LE(made, self->totals.records + lost(&self->report));
	EXPECT_GE(made + self->report.lost_abandoned,
		  self->totals.records + lost(&self->report)) {
		TH_LOG("lost: %llu signals, %llu threads, %llu abandoned",
		       (unsigned long long)self->report.lost_signals,
		       (unsigned long long)self->report.lost_threads,
		       (unsigned long long)self->report.lost_abandoned);
	}
}

#define WHOLE()	whole(_metadata, self)

/*
 * The same where records were left, at most @times: before their first word, after
 * their last one, or between, and then the trace says so.
 */
static void whole_but(struct __test_metadata *_metadata,
		      struct _test_data_threads *self, uint64_t times)
{
	stop_and_read(_metadata, self);
	EXPECT_LE(self->totals.breaks + self->totals.unfinished,
		  self->report.lost_abandoned);
	EXPECT_LE(self->report.lost_abandoned, times);
	EXPECT_LE(made, self->totals.records);
	EXPECT_GE(begun, self->totals.records);
	EXPECT_LE(begun, made + times);
	EXPECT_EQ(0, self->report.lost_signals + self->report.lost_threads);
	TH_LOG("%llu begun, %llu made, %llu in the trace, %llu abandoned",
	       (unsigned long long)begun, (unsigned long long)made,
	       (unsigned long long)self->totals.records,
	       (unsigned long long)self->report.lost_abandoned);
}

#define WHOLE_BUT(times)	whole_but(_metadata, self, times)

static void move(unsigned int to)
{
	trace_pin((int)(to % (unsigned int)sysconf(_SC_NPROCESSORS_ONLN)));
}

static void on_signal(int number)
{
	record();
	record();
}

static volatile bool stop;
static pthread_barrier_t all_there;

static void *storm(void *number)
{
	unsigned int n = (unsigned int)(uintptr_t)number, i;

	record();
	pthread_barrier_wait(&all_there);
	for (i = 0; !stop; i++) {
		record();
		if (i % 16 == n % 16)
			move(i + n);
		if (i % 8 == 0)
			usleep(8000);
	}
	return NULL;
}

/* The long one: all harts, more threads than channels, signals in signals. */
TEST_F_TIMEOUT(threads, a_storm_is_decoded_to_the_exact_number_of_records, 600)
{
	const struct itimerval timer = { { 0, 3000 }, { 0, 3000 } };
	pthread_t thread[THREADS];
	unsigned int i;
	double end;

	signal(SIGALRM, on_signal);
	signal(SIGUSR1, on_signal);
	pthread_barrier_init(&all_there, NULL, THREADS + 1);
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, storm,
					    (void *)(uintptr_t)i));
	pthread_barrier_wait(&all_there);
	end = trace_clock() + trace_setting("TRACE_SECONDS", 5);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (i = 0; trace_clock() < end; i++) {
		pthread_kill(thread[i % THREADS], i & 1 ? SIGALRM : SIGUSR1);
		record();
		usleep(1000);
	}
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	stop = true;
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
	WHOLE();
	TH_LOG("%llu made, %llu recorded by %u harts, %llu without a channel, %llu of signals",
	       (unsigned long long)made,
	       (unsigned long long)self->totals.records, self->totals.sources,
	       (unsigned long long)self->report.lost_threads,
	       (unsigned long long)self->report.lost_signals);
	EXPECT_EQ(self->info.encoders, self->totals.sources);
	EXPECT_LT(0, self->report.lost_threads);
	EXPECT_GE(made / 1000, self->report.lost_abandoned);
}

static void *one_record(void *unused)
{
	pthread_barrier_wait(&all_there);
	record();
	pthread_barrier_wait(&all_there);
	return unused;
}

/* The exact number, which is that of the threads beyond the channels. */
TEST_F_TIMEOUT(threads, those_beyond_the_channels_are_reported, 120)
{
	struct sifive_trace_encoder encoder;
	unsigned int i, channels, threads;
	pthread_t thread[THREADS];

	ASSERT_EQ(0, trace_encoder(self->fd, 0, &encoder));
	channels = encoder.flags & SIFIVE_TRACE_ENCODER_TS_CHANNELS ? 16 : 32;
	threads = channels + 8;
	record();
	pthread_barrier_init(&all_there, NULL, threads);
	for (i = 0; i < threads; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, one_record, NULL));
	for (i = 0; i < threads; i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
	/* Whose channel is free again. */
	pthread_barrier_init(&all_there, NULL, 1);
	ASSERT_EQ(0, pthread_create(&thread[0], NULL, one_record, NULL));
	ASSERT_EQ(0, pthread_join(thread[0], NULL));
	WHOLE();
	/* One is the main thread's. */
	EXPECT_EQ(threads - (channels - 1), self->report.lost_threads);
	EXPECT_EQ(channels + 1, self->totals.records);
}

static void *short_life(void *number)
{
	move((unsigned int)(uintptr_t)number);
	record();
	record();
	return NULL;
}

TEST_F_TIMEOUT(threads, two_hundred_come_and_go_and_none_is_lost, 120)
{
	pthread_t thread[4];
	unsigned int i, j;

	for (i = 0; i < 50; i++) {
		for (j = 0; j < 4; j++)
			ASSERT_EQ(0, pthread_create(&thread[j], NULL, short_life,
						    (void *)(uintptr_t)(i + j)));
		for (j = 0; j < 4; j++)
			ASSERT_EQ(0, pthread_join(thread[j], NULL));
	}
	WHOLE();
	EXPECT_EQ(0, self->report.lost_threads);
	EXPECT_EQ(400, self->totals.records);
}

static void *endless(void *unused)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		record();
	return unused;
}

/* Wherever it is hit: at most its last record is lost, and that is reported. */
TEST_F(threads, a_cancelled_one_leaves_its_channel_usable)
{
	const unsigned int times = 60;
	pthread_t thread;
	unsigned int i;

	for (i = 0; i < times; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, endless, NULL));
		usleep(500 + 37 * i);
		ASSERT_EQ(0, pthread_cancel(thread));
		ASSERT_EQ(0, pthread_join(thread, NULL));
	}
	/* What the last one has left is followed by these. */
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, short_life,
					    (void *)(uintptr_t)i));
		ASSERT_EQ(0, pthread_join(thread, NULL));
	}
	WHOLE_BUT(times);
}

static sigjmp_buf jump;

static void jump_out(int number)
{
	siglongjmp(jump, 1);
}

/* The record that a handler jumped out of is the one that is lost. */
TEST_F(threads, jumps_out_of_handlers_lose_what_is_reported)
{
	const struct itimerval timer = { { 0, 700 }, { 0, 700 } };
	const int times = 300;
	volatile int jumps = 0;

	/* One lane, so that the last record tells of all that were left in it. */
	ASSERT_EQ(0, trace_pin(sched_getcpu()));
	signal(SIGALRM, jump_out);
	if (sigsetjmp(jump, 1))
		jumps++;
	else
		setitimer(ITIMER_REAL, &timer, NULL);
	while (jumps < times)
		record();
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	signal(SIGALRM, SIG_IGN);
	record();
	WHOLE_BUT(times + 1);
	EXPECT_EQ(0, self->totals.unfinished);
}

TEST_F(threads, children_do_not_disturb)
{
	char *const args[] = { "/bin/true", NULL };
	volatile int i;
	pid_t child;

	for (i = 0; i < 20; i++) {
		record();
		child = fork();
		if (!child) {
			sifive_trace_write(trace);
			_exit(0);
		}
		ASSERT_EQ(child, waitpid(child, NULL, 0));
		record();
		/* What it writes is its parent's, or is counted. */
		child = vfork();
		if (!child) {
			record();
			execv(args[0], args);
			_exit(0);
		}
		ASSERT_EQ(child, waitpid(child, NULL, 0));
		record();
	}
	WHOLE();
	EXPECT_LE(60, self->totals.records);
}

/* The program that it becomes knows nothing of the trace that it was in. */
static void become_another(const struct sifive_trace_info *info)
{
	char *const args[] = { "/bin/true", NULL };
	pthread_t thread;
	int i;

	if (begin(info))
		_exit(1);
	for (i = 0; i < 100; i++)
		record();
	for (i = 0; i < 3; i++)
		if (pthread_create(&thread, NULL, endless, NULL))
			_exit(1);
	usleep(20000);
	execv(args[0], args);
	_exit(1);
}

/* Threads in the middle of a record end with it. */
TEST_F(threads, exec_leaves_a_trace_and_a_free_device)
{
	pid_t child;

	ASSERT_EQ(0, sifive_trace_off(trace));
	sifive_trace_close(trace);
	trace = NULL;
	child = fork();
	if (!child)
		become_another(&self->info);
	EXPECT_EQ(0, trace_wait(child));
	EXPECT_EQ(0, trace_flags(self->fd));
	ASSERT_EQ(0, trace_records(self->fd, &self->totals, NULL, NULL));
	EXPECT_EQ(0, self->totals.bad);
	EXPECT_GE(3, self->totals.unfinished);
	EXPECT_LT(103, self->totals.records);
}

/* An illegal instruction of the program's own is the program's. */
static volatile int own_traps;

static void own_handler(int number, siginfo_t *info, void *context)
{
	own_traps++;
	((ucontext_t *)context)->uc_mcontext.__gregs[0] += 4;
}

TEST_F(threads, a_programs_own_sigill_is_passed_on)
{
	struct sigaction action = {
		.sa_sigaction = own_handler, .sa_flags = SA_SIGINFO,
	};

	ASSERT_EQ(0, sifive_trace_off(trace));
	ASSERT_EQ(0, sigaction(SIGILL, &action, NULL));
	ASSERT_EQ(0, sifive_trace_on(trace));
	record();
	asm volatile(".option push\n.option norvc\n.word 0xc0001073\n.option pop");
	record();
	EXPECT_EQ(1, own_traps);
	WHOLE();
	EXPECT_EQ(2, self->totals.records);
}

/* The kernel takes user access to counters away from everybody; it comes back. */
TEST_F(threads, a_lost_permission_is_repaired)
{
	static const char path[] = "/proc/sys/kernel/perf_user_access";
	int fd = open(path, O_WRONLY), i;

	if (fd < 0 || !(self->info.flags & SIFIVE_TRACE_INFO_COUNTERS))
		SKIP(return, "no kernel.perf_user_access, or no counters");
	for (i = 0; i < 20; i++) {
		record();
		ASSERT_EQ(1, write(fd, i % 2 ? "1" : "0", 1));
		record();
	}
	close(fd);
	WHOLE();
	EXPECT_EQ(40, self->totals.records);
}

TRACE_HARNESS_MAIN
