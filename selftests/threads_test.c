// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that threads on all harts record concurrently, and that no interference, signal,
 * migration, fork or jump causes a loss that is not counted. The decoded trace must contain exactly
 * the program's records, except for the losses that the library reports.
 *
 * TRACE_STORM_SECONDS: duration of the longest test (default 5).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sifive_trace.h>

#include "kselftest_harness.h"
#include "instrumented.h"
#include "trace_calls.h"
#include "trace_count.h"
#include "trace_more.h"
#include "trace_records.h"

#define THREADS		64
#define BUFFER		(32u << 20)

static struct sifive_trace *trace;

/* Size of the trace's buffer in bytes. */
static uint64_t buffer;

/* Numbers of records by kind. */
struct counts {
	uint64_t of[TRACE_ISR + 1];
};

/* Number of records that have begun, and number of records that were not abandoned. */
static struct counts begun, made;

static void count(struct counts *counts, enum trace_kind kind, uint64_t number)
{
	__atomic_fetch_add(&counts->of[kind], number, __ATOMIC_RELAXED);
}

static uint64_t sum(const struct counts *counts)
{
	return counts->of[TRACE_ENTER] + counts->of[TRACE_EXIT] + counts->of[TRACE_MANUAL];
}

/* Call an instrumented function. @calls is the number of calls: this one and those within it. */
static void call_any(void (*function)(unsigned int), unsigned int argument,
		     unsigned int calls)
{
	count(&begun, TRACE_ENTER, calls);
	count(&begun, TRACE_EXIT, calls);
	function(argument);
	count(&made, TRACE_ENTER, calls);
	count(&made, TRACE_EXIT, calls);
}

/* Make one call, with @turns calls nested in it. */
static void call(unsigned int turns)
{
	call_any(calls_loop, turns, turns + 1);
}

/* Number of records that record() writes: a manual record, an entry and an exit. */
#define RECORDS	3

static void record(void)
{
	count(&begun, TRACE_MANUAL, 1);
	sifive_trace_write(trace);
	count(&made, TRACE_MANUAL, 1);
	call(0);
}

/* Content of the trace, and the counters in its first and last record. */
static struct counts found;
static struct trace_calls found_calls;
static uint32_t found_encoders;
static uint64_t earliest[TRACE_COUNTERS], latest[TRACE_COUNTERS];

static void take_record(const struct trace_record *record, void *unused)
{
	const size_t size = record->counters * sizeof(latest[0]);

	memcpy(sum(&found) ? latest : earliest, record->value, size);
	count(&found, record->kind, 1);
	found_encoders |= 1u << record->encoder;
	trace_calls_take(&found_calls, record);
}

FIXTURE(threads) {
	int fd;
	struct sifive_trace_info info;
	struct trace_totals totals;
	struct sifive_trace_report report;
};

/* Count TLB misses, too: they differ between harts, and so reveal a count from the wrong hart. */
static int begin(const struct sifive_trace_info *info)
{
	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;

	if (info->flags & SIFIVE_TRACE_INFO_COUNTERS)
		options.events = "cycles,instructions,dTLB-load-misses";
	trace = sifive_trace_open();
	if (!trace)
		return -1;
	/* Several sinks may have to share the memory that a single sink could use alone. */
	for (options.buffer = BUFFER; sifive_trace_setup(trace, &options);
	     options.buffer /= 2)
		if (options.buffer < 1 << 17)
			return -1;
	buffer = options.buffer;
	return sifive_trace_on(trace);
}

/*
 * Small stacks without a guard page are cached when a thread ends. Otherwise, an emulator spends
 * most of its time notifying all harts of changed mappings.
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
	/*
	 * Populate the stacks before threads run: harts that fault together spin on the page
	 * table's lock. If the emulator has fewer CPUs than harts, the harts spin for a long time.
	 */
	ASSERT_EQ(0, mlockall(MCL_CURRENT | MCL_FUTURE));
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
	ASSERT_EQ(0, trace_records(self->fd, &self->totals, take_record, NULL));
	EXPECT_EQ(0, self->totals.bad);
	EXPECT_EQ(0, self->totals.backwards);
	EXPECT_EQ(self->totals.records, sum(&found));
}

/* Check that the trace contains exactly the program's records, except records reported as lost. */
static void whole(struct __test_metadata *_metadata, struct _test_data_threads *self)
{
	enum trace_kind kind;

	stop_and_read(_metadata, self);
	EXPECT_EQ(0, self->totals.unfinished);
	EXPECT_EQ(self->report.lost_abandoned, self->totals.breaks);
	/*
	 * An abandoned record may still be complete. It then counts both as recorded
	 * and as lost.
	 */
	EXPECT_LE(sum(&made), self->totals.records + lost(&self->report));
	EXPECT_GE(sum(&made) + self->report.lost_abandoned,
		  self->totals.records + lost(&self->report)) {
		TH_LOG("records lost: %llu to signals, %llu to threads, %llu abandoned",
		       (unsigned long long)self->report.lost_signals,
		       (unsigned long long)self->report.lost_threads,
		       (unsigned long long)self->report.lost_abandoned);
	}
	for (kind = TRACE_ENTER; kind <= TRACE_MANUAL; kind++) {
		EXPECT_GE(made.of[kind], found.of[kind]);
		EXPECT_LE(made.of[kind], found.of[kind] + lost(&self->report));
	}
	TH_LOG("entries, exits, manual records: %llu, %llu, %llu made, %llu, %llu, %llu found",
	       (unsigned long long)made.of[TRACE_ENTER],
	       (unsigned long long)made.of[TRACE_EXIT],
	       (unsigned long long)made.of[TRACE_MANUAL],
	       (unsigned long long)found.of[TRACE_ENTER],
	       (unsigned long long)found.of[TRACE_EXIT],
	       (unsigned long long)found.of[TRACE_MANUAL]);
}

#define WHOLE()	whole(_metadata, self)

/*
 * Like WHOLE(), but up to @times records may be abandoned: before their first word, after their
 * last word, or in between, which leaves a mark in the trace.
 */
static void whole_but(struct __test_metadata *_metadata,
		      struct _test_data_threads *self, uint64_t times)
{
	enum trace_kind kind;

	stop_and_read(_metadata, self);
	EXPECT_LE(self->totals.breaks + self->totals.unfinished, self->report.lost_abandoned);
	/*
	 * A record that was abandoned while its thread waited for another thread is counted as
	 * lost to a signal.
	 */
	EXPECT_LE(self->report.lost_abandoned + self->report.lost_signals, times);
	for (kind = TRACE_ENTER; kind <= TRACE_MANUAL; kind++) {
		EXPECT_LE(made.of[kind], found.of[kind]);
		EXPECT_GE(begun.of[kind], found.of[kind]);
		EXPECT_LE(begun.of[kind], made.of[kind] + times);
	}
	EXPECT_EQ(0, self->report.lost_threads);
	TH_LOG("records: %llu begun, %llu completed, %llu in the trace, %llu lost",
	       (unsigned long long)sum(&begun), (unsigned long long)sum(&made),
	       (unsigned long long)self->totals.records, (unsigned long long)lost(&self->report));
}

#define WHOLE_BUT(times)	whole_but(_metadata, self, times)

static void move(unsigned int to)
{
	trace_pin((int)(to % (unsigned int)sysconf(_SC_NPROCESSORS_ONLN)));
}

/* Number of signals handled, and how many of them interrupted a record, as the library reports. */
static uint64_t signals, hits;

/* Maximum number of timer signals since the last signal from the sender. */
#define UNHEARD_MAX	50

static unsigned int unheard;

static void set_timers(suseconds_t microseconds)
{
	const struct itimerval timer = { { 0, microseconds }, { 0, microseconds } };

	setitimer(ITIMER_REAL, &timer, NULL);
	/* This timer measures the program's CPU time, much of which is spent writing records. */
	setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

static void on_signal(int number)
{
	int error = errno;

	/* If handlers took longer than the interval, no other code could run. */
	if (__atomic_add_fetch(&unheard, 1, __ATOMIC_RELAXED) == UNHEARD_MAX)
		set_timers(0);
	__atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
	/* Turning tracing on has no effect while it is on. */
	if (sifive_trace_on(trace) &&
	    strstr(sifive_trace_error(), "a record is being written"))
		__atomic_fetch_add(&hits, 1, __ATOMIC_RELAXED);
	record();
	call(1);
	errno = error;
}

static volatile bool stop, ahead;
static pthread_barrier_t all_there;

static void *storm(void *number)
{
	unsigned int n = (unsigned int)(uintptr_t)number, i;

	move(n);
	record();
	pthread_barrier_wait(&all_there);
	for (i = 0; !stop; i++) {
		record();
		call(3);
		if (i % 16 == n % 16) {
			move(i + n);
			call_any(calls_raise, SIGUSR1, 1);
		}
		if (i % 8 == 0)
			usleep(8000);
		while (ahead && !stop)
			usleep(8000);
	}
	return NULL;
}

/*
 * Return whether the test fills the buffer too fast. @done is the completed share of the test.
 * At most a quarter may be full at 1, and never more than half, which is all that can be decoded.
 */
static bool is_ahead(double done)
{
	struct sifive_trace_report report = { .size = sizeof(report) };

	return !sifive_trace_status(trace, &report) &&
	       report.bytes > buffer / 4 * (done < 2 ? done : 2);
}

/* Check that calls nest; the trace may lack one record for each reported loss. */
static void nested(struct __test_metadata *_metadata, struct _test_data_threads *self)
{
	struct trace_nesting nesting = trace_calls_nest(&found_calls);
	uint64_t missing = self->report.lost_signals + self->report.lost_abandoned;

	/*
	 * Encoders without a common timestamp start counting one after another, so
	 * records around a migration may be in the wrong order.
	 */
	if (self->info.funnels != 1)
		missing += sum(&made) / 1000;
	EXPECT_GE(missing, nesting.disorder);
	EXPECT_GE(missing, nesting.open);
	EXPECT_GE(missing, nesting.late);
	EXPECT_LT(2, nesting.deepest);
	TH_LOG("calls: %llu in disorder, %llu open, %llu late; depth %u",
	       (unsigned long long)nesting.disorder, (unsigned long long)nesting.open,
	       (unsigned long long)nesting.late, nesting.deepest);
}

/*
 * The long test: all harts, more threads than channels, nested signals. How often a
 * handler interrupts a record depends on the machine; the unit tests run a handler before
 * each instruction of a record.
 */
TEST_F_TIMEOUT(threads, stress_run_decodes_to_exact_record_count, 3600)
{
	const double seconds = trace_setting("TRACE_STORM_SECONDS", 5);
	const unsigned int cpus = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t thread[THREADS];
	unsigned int i;
	cpu_set_t set;
	double end;

	signal(SIGALRM, on_signal);
	signal(SIGVTALRM, on_signal);
	signal(SIGUSR1, on_signal);
	/* Nested calls of a thread that has a channel, with timers running. */
	call_any(calls_raise, SIGUSR1, 1);
	pthread_barrier_init(&all_there, NULL, THREADS + 1);
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, storm, (void *)(uintptr_t)i));
	pthread_barrier_wait(&all_there);
	end = trace_clock() + seconds;
	for (i = 0; trace_clock() < end; i++) {
		if (__atomic_exchange_n(&unheard, 0, __ATOMIC_RELAXED) >= UNHEARD_MAX ||
		    i % 16 == 0)
			set_timers(3000);
		pthread_kill(thread[i % THREADS], i & 1 ? SIGALRM : SIGUSR1);
		/* Move a thread at any time, even within a record or a call. */
		CPU_ZERO(&set);
		CPU_SET(i / 2 % cpus, &set);
		pthread_setaffinity_np(thread[i * 7 % THREADS], sizeof(set), &set);
		record();
		ahead = is_ahead(1 - (end - trace_clock()) / seconds);
		usleep(1000);
	}
	set_timers(0);
	stop = true;
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
	ASSERT_EQ(0, sifive_trace_off(trace));
	ASSERT_EQ(0, sifive_trace_dump(trace, "/tmp/storm.rtd"));
	ASSERT_EQ(0, trace_calls_threads(&found_calls, "/tmp/storm"));
	WHOLE();
	EXPECT_EQ(0, system("rm -f /tmp/storm.*"));
	TH_LOG("records: %llu made, %llu found of %u harts; %llu lost to threads, %llu to signals",
	       (unsigned long long)sum(&made),
	       (unsigned long long)self->totals.records, self->totals.sources,
	       (unsigned long long)self->report.lost_threads,
	       (unsigned long long)self->report.lost_signals);
	TH_LOG("%llu signals, %llu of them within a record",
	       (unsigned long long)signals, (unsigned long long)hits);
	EXPECT_EQ(self->info.encoders, self->totals.sources);
	EXPECT_EQ(0, self->report.lost_threads);
	EXPECT_GE(sum(&made) / 1000, self->report.lost_abandoned);
	nested(_metadata, self);
}

static void *one_record(void *unused)
{
	pthread_barrier_wait(&all_there);
	record();
	pthread_barrier_wait(&all_there);
	return unused;
}

/* All threads exist at the same time, and there are more threads than channels. */
TEST_F(threads, threads_beyond_channel_count_are_recorded)
{
	pthread_t thread[THREADS];
	unsigned int i;

	record();
	pthread_barrier_init(&all_there, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, one_record, NULL));
	for (i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
	WHOLE();
	EXPECT_EQ(RECORDS * (THREADS + 1), self->totals.records);
}

static void *short_life(void *number)
{
	move((unsigned int)(uintptr_t)number);
	record();
	record();
	return NULL;
}

TEST_F(threads, two_hundred_short_threads_lose_no_record)
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
	EXPECT_EQ(RECORDS * 400, self->totals.records);
}

/* Run on one CPU, so that an abandoned record is followed by another record. */
static void *until_stop(void *number)
{
	move((unsigned int)(uintptr_t)number);
	pthread_barrier_wait(&all_there);
	while (!stop) {
		record();
		while (ahead && !stop)
			usleep(1000);
	}
	record();
	return NULL;
}

/* A thread can be anywhere in a record when a dump pauses and resumes the trace. */
TEST_F(threads, records_attempted_during_dump_are_reported_lost)
{
	struct sifive_trace_report report = { .size = sizeof(report) };
	const unsigned int times = (unsigned int)trace_repeat(20);
	pthread_t thread[4];
	unsigned int i;

	pthread_barrier_init(&all_there, NULL, ARRAY_SIZE(thread) + 1);
	for (i = 0; i < ARRAY_SIZE(thread); i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, until_stop, (void *)(uintptr_t)i));
	pthread_barrier_wait(&all_there);
	/* Repeat until a record is lost to a pause. On a loaded host, this can take a long time. */
	for (i = 0; i < times || (!report.lost_threads && i < 100 * times); i++) {
		ASSERT_EQ(0, sifive_trace_dump(trace, "/dev/null")) {
			TH_LOG("%s", sifive_trace_error());
		}
		record();
		ahead = is_ahead((i + 1.0) / times);
		usleep(3000);
		ASSERT_EQ(0, sifive_trace_status(trace, &report));
	}
	stop = true;
	for (i = 0; i < ARRAY_SIZE(thread); i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
	WHOLE();
	TH_LOG("%llu records begun in pauses", (unsigned long long)self->report.lost_threads);
	EXPECT_LT(0, self->report.lost_threads);
	EXPECT_LT(times * RECORDS, self->totals.records);
}

static void *endless(void *unused)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		record();
	return unused;
}

/* Wherever a thread is cancelled, at most its last record is lost, and the loss is reported. */
TEST_F(threads, cancelled_thread_leaves_channel_usable)
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
	/* Write records after the last abandoned record, so that its loss is noticed. */
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, short_life, (void *)(uintptr_t)i));
		ASSERT_EQ(0, pthread_join(thread, NULL));
	}
	WHOLE_BUT(times);
}

static sigjmp_buf jump;

static void jump_out(int number)
{
	siglongjmp(jump, 1);
}

/* If a signal handler interrupts a record and then jumps out of the record, the record is lost. */
TEST_F(threads, jump_out_of_handler_loses_only_reported_records)
{
	const struct itimerval timer = { { 0, 700 }, { 0, 700 } };
	const int times = 300;
	volatile int jumps = 0;

	/* Remain on one CPU, so that the last record accounts for all abandoned records. */
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

TEST_F(threads, child_processes_do_not_disturb_trace)
{
	char *const args[] = { "/bin/true", NULL };
	volatile int i;
	pid_t child;

	for (i = 0; i < 20; i++) {
		record();
		child = fork();
		if (!child) {
			sifive_trace_write(trace);
			calls_loop(3);
			_exit(0);
		}
		ASSERT_EQ(child, waitpid(child, NULL, 0));
		record();
		/* The records of this child count as lost. */
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
	EXPECT_LE(RECORDS * 60, self->totals.records);
}

TEST_F(threads, child_processes_do_not_disturb_recording_threads)
{
	const unsigned int times = (unsigned int)trace_repeat(50);
	pthread_t thread[3];
	unsigned int i;
	pid_t child;

	pthread_barrier_init(&all_there, NULL, ARRAY_SIZE(thread) + 1);
	for (i = 0; i < ARRAY_SIZE(thread); i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, until_stop, (void *)(uintptr_t)i));
	pthread_barrier_wait(&all_there);
	for (i = 0; i < times; i++) {
		ahead = is_ahead((i + 1.0) / times);
		record();
		child = fork();
		if (!child) {
			record();
			_exit(0);
		}
		EXPECT_EQ(0, trace_wait(child));
	}
	stop = true;
	for (i = 0; i < ARRAY_SIZE(thread); i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
	WHOLE();
	EXPECT_EQ(0, self->report.lost_threads + self->report.lost_signals);
}

#define FORKS	256

static unsigned int forks_least;
static volatile unsigned int forks;
static volatile bool in_child;

/* Wait status of the first child that did not exit with 0, or -1 if there is none. */
static volatile int bad_status;

/* From 1 us, so that records are interrupted at each place, to 8 ms, for slow machines. */
static void set_alarm(void)
{
	const long us = (1 + forks * 37 % 64) << forks * 8 / forks_least % 8;

	setitimer(ITIMER_REAL, &(struct itimerval){ { 0 }, { 0, us } }, NULL);
}

static void fork_within(int number)
{
	int status = -1;
	pid_t child;

	if (sifive_trace_on(trace))
		hits++;
	move(forks++);
	child = fork();
	if (!child) {
		in_child = true;
		record();
		return;
	}
	waitpid(child, &status, 0);
	if (!bad_status)
		bad_status = status;
	set_alarm();
}

/*
 * The child completes its parent's unfinished record, in the child's own memory. The parent changes
 * CPUs, so that headers and migrations are also interrupted.
 */
TEST_F(threads, child_forked_in_handler_completes_record)
{
	forks_least = (unsigned int)trace_repeat(FORKS);
	signal(SIGALRM, fork_within);
	set_alarm();
	while (forks < 1000 && (forks < forks_least || hits < 5)) {
		record();
		if (in_child)
			_exit(0);
	}
	signal(SIGALRM, SIG_IGN);
	/* The last signal may have arrived after the loop's last check. */
	if (in_child)
		_exit(0);
	TH_LOG("%u forks, %llu within a record", forks, (unsigned long long)hits);
	EXPECT_LE(5, hits);
	EXPECT_EQ(0, bad_status);
	WHOLE();
	EXPECT_EQ(0, lost(&self->report));
}

/* Write records, then execute another program: execve() removes all references to the trace. */
static void execute_other_program(const struct sifive_trace_info *info)
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
	/* All threads are recording. */
	for (i = 0; i < 300000 && sum(&made) <= RECORDS * 110; i++)
		usleep(1000);
	execv(args[0], args);
	_exit(1);
}

/* Threads that are writing a record end once that record is complete. */
TEST_F(threads, exec_keeps_trace_and_frees_device)
{
	pid_t child;

	ASSERT_EQ(0, sifive_trace_off(trace));
	sifive_trace_close(trace);
	trace = NULL;
	child = fork();
	if (!child)
		execute_other_program(&self->info);
	EXPECT_EQ(0, trace_wait(child));
	EXPECT_EQ(0, trace_flags(self->fd));
	ASSERT_EQ(0, trace_records(self->fd, &self->totals, NULL, NULL));
	EXPECT_EQ(0, self->totals.bad);
	EXPECT_GE(3, self->totals.unfinished);
	EXPECT_LT(RECORDS * 103, self->totals.records);
}

/**
 * struct revoker - a thread that keeps writing kernel.perf_user_access
 * @fd:		the sysctl
 * @cpu:	CPU of the writer
 * @writes:	number of writes
 */
struct revoker {
	int fd;
	int cpu;
	unsigned int writes;
};

static void *revokes(void *arg)
{
	struct revoker *r = arg;
	unsigned int i;

	trace_pin(r->cpu);
	/* The kernel ignores writes beyond the beginning of the file. */
	for (i = 0; !stop && pwrite(r->fd, &"201"[i % 3], 1, 0) == 1; i++) {
		__atomic_add_fetch(&r->writes, 1, __ATOMIC_RELAXED);
		usleep(50);
	}
	return NULL;
}

/*
 * Writes to the sysctl revoke or grant user access to counters for all programs, from another
 * CPU and at any time. The library restores access, and reads the same counters. The first two
 * events are cycles and instructions.
 */
TEST_F(threads, revoked_counter_access_is_restored)
{
	struct revoker r = { .fd = open("/proc/sys/kernel/perf_user_access", O_RDWR) };
	static const unsigned int counter[] = { COUNTER_CYCLE, COUNTER_INSTRET };
	unsigned int i, taken = 0, records = 0;
	uint64_t from[2], to[2];
	pthread_t thread;
	char was;

	if (r.fd < 0 || !(self->info.flags & SIFIVE_TRACE_INFO_COUNTERS))
		SKIP(return, "no kernel.perf_user_access, or no counters");
	ASSERT_EQ(1, pread(r.fd, &was, 1, 0));
	/* Use one stream, so that each record has a predecessor. */
	ASSERT_EQ(0, trace_pin(sched_getcpu()));
	r.cpu = (sched_getcpu() + 1) % (int)sysconf(_SC_NPROCESSORS_ONLN);
	for (i = 0; i < 2; i++)
		from[i] = trace_counter(counter[i]);
	ASSERT_EQ(0, pthread_create(&thread, NULL, revokes, &r));
	/* Count how often access is revoked before a record; the record restores access. */
	for (records = 0; records < 200 || (taken < 10 && records < 40000); records++) {
		taken += trace_signal_of_counter(COUNTER_CYCLE) == SIGILL;
		record();
	}
	stop = true;
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_EQ(1, pwrite(r.fd, &was, 1, 0));
	close(r.fd);
	record();
	records++;
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, trace_signal_of_counter(counter[i]));
		to[i] = trace_counter(counter[i]);
	}
	WHOLE();
	TH_LOG("%u writes; access was refused before %u of %u records", r.writes, taken,
	       records);
	EXPECT_LT(0, taken);
	EXPECT_EQ(RECORDS * records, self->totals.records);
	EXPECT_EQ(1, __builtin_popcount(found_encoders));
	/* The sum of all differences is at most the counter's increment. */
	for (i = 0; i < 2; i++) {
		EXPECT_LT(earliest[i], latest[i]);
		EXPECT_GE(to[i] - from[i], latest[i] - earliest[i]);
	}
}

TRACE_HARNESS_MAIN
