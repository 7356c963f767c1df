// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that the library counts as lost, exactly once, each record that it could not write, even if
 * a pause interrupts a thread within the record. Records excluded by the filter are not counted.
 */
#include "kselftest_harness.h"

#include <alloca.h>
#include <setjmp.h>
#include <sys/time.h>

#include "sifive_trace.h"

#include "lib_mock.h"

static char function[4] __attribute__((aligned(4)));

FIXTURE(losses)
{
	struct sifive_trace *trace;
	struct sifive_trace_options options;
};

FIXTURE_SETUP(losses)
{
	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	mock_device_reset();
	self->options = (struct sifive_trace_options)SIFIVE_TRACE_OPTIONS;
	self->trace = sifive_trace_open();
	ASSERT_NE(NULL, self->trace);
}

FIXTURE_TEARDOWN(losses)
{
	sifive_trace_close(self->trace);
	EXPECT_NOTHING_HELD();
}

static void turn_on(struct __test_metadata *_metadata, FIXTURE_DATA(losses) *self)
{
	ASSERT_EQ(0, sifive_trace_setup(self->trace, &self->options)) {
		TH_LOG("%s", sifive_trace_error());
	}
	ASSERT_EQ(0, sifive_trace_on(self->trace));
}

#define ON()	turn_on(_metadata, self)

static void lost(struct __test_metadata *_metadata, FIXTURE_DATA(losses) *self,
		 uint64_t threads, uint64_t abandoned)
{
	struct sifive_trace_report report = { .size = sizeof(report) };

	ASSERT_EQ(0, sifive_trace_status(self->trace, &report));
	EXPECT_EQ(threads, report.lost_threads);
	EXPECT_EQ(abandoned, report.lost_abandoned);
	EXPECT_EQ(0, report.lost_signals);
}

#define LOST(threads, abandoned)	lost(_metadata, self, threads, abandoned)

static volatile bool within;

/*
 * Called within a record, after the thread has read its CPU number: wait until tracing is paused.
 */
static void wait_for_pause(void)
{
	within = true;
	while (perf_self->cpu != PERF_CPU_NOBODY)
		sched_yield();
}

static void *record_within_pause(void *trace)
{
	mock_rseq.cpu_id = 1;
	mock_before_reading = wait_for_pause;
	sifive_trace_write(trace);
	return NULL;
}

/*
 * Call @end, which is sifive_trace_off() or a dump, while a thread is in wait_for_pause(). The
 * thread must write nothing.
 */
static void end_within(struct __test_metadata *_metadata,
		       FIXTURE_DATA(losses) *self,
		       int (*end)(struct sifive_trace *trace))
{
	pthread_t thread;

	ON();
	mock_stores = 0;
	ASSERT_EQ(0, pthread_create(&thread, NULL, record_within_pause, self->trace));
	while (!within)
		sched_yield();
	ASSERT_EQ(0, end(self->trace));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, mock_stores);
}

static int dump_to_nowhere(struct sifive_trace *trace)
{
	return sifive_trace_dump(trace, "/dev/null");
}

TEST_F(losses, count_a_record_interrupted_by_a_pause)
{
	end_within(_metadata, self, dump_to_nowhere);
	LOST(1, 0);
}

/* A record that was being written when tracing was turned off does not count as lost. */
TEST_F(losses, do_not_count_a_record_interrupted_by_off)
{
	end_within(_metadata, self, sifive_trace_off);
	LOST(0, 0);
}

static void record_in_handler(void)
{
	__cyg_profile_func_enter(function, function);
}

static void *join_with_a_signal(void *unused)
{
	mock_rseq.cpu_id = 1;
	mock_before_blocking = record_in_handler;
	__cyg_profile_func_enter(function, function);
	return unused;
}

/*
 * A signal interrupts a joining thread before it blocks signals, so the signal handler's record is
 * lost.
 */
TEST_F(losses, count_a_handlers_record_while_its_thread_joins)
{
	pthread_t thread;

	ON();
	ASSERT_EQ(0, pthread_create(&thread, NULL, join_with_a_signal, NULL));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	LOST(1, 0);
}

TEST_F(losses, do_not_count_a_header_on_a_cpu_without_an_encoder)
{
	dev.cpus = 3;
	self->options.cpus = "0";
	ON();
	ASSERT_EQ(0, sifive_trace_dump(self->trace, "/dev/null"));
	LOST(0, 0);
	__cyg_profile_func_enter(function, function);
	LOST(1, 0);
}

TEST_F(losses, do_not_count_filtered_calls_in_a_pause)
{
	char path[48], text[128];
	FILE *file;

	sprintf(path, "/tmp/lib_losses_test.%d", getpid());
	file = fopen(path, "w");
	ASSERT_NE(NULL, file);
	snprintf(text, sizeof(text), "%s 0 1\n", program_invocation_short_name);
	fputs(text, file);
	fclose(file);
	self->options.filter = path;
	ON();
	unlink(path);
	perf_hooks_close(true);
	__cyg_profile_func_enter(function, function);
	LOST(0, 0);
	sifive_trace_write(self->trace);
	LOST(1, 0);
	perf_hooks_open(PERF_OPEN_MANUAL | PERF_OPEN_HOOKS);
}

static void *drop_and_end(void *thread)
{
	*(struct perf_thread **)thread = perf_thread_join();
	perf_self->dropped = 3;
	perf_self->waited = 5;
	return NULL;
}

static void *join_after(void *thread)
{
	struct perf_thread *self = perf_thread_join();

	return self == *(struct perf_thread **)thread && !self->dropped && !self->waited ? self : NULL;
}

/*
 * A thread ends before marking its losses, which must not be attributed to the slot's next thread.
 */
TEST_F(losses, are_not_attributed_to_the_next_thread)
{
	struct perf_thread *slot;
	pthread_t thread;
	void *result;

	ON();
	ASSERT_EQ(0, pthread_create(&thread, NULL, drop_and_end, &slot));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_EQ(0, pthread_create(&thread, NULL, join_after, &slot));
	ASSERT_EQ(0, pthread_join(thread, &result));
	EXPECT_EQ(slot, result);
}

static sigjmp_buf out;
static unsigned int alarms;

/* Jump out of a wait once the library sleeps; give up if the library never sleeps. */
static void leave_wait(int unused)
{
	(void)unused;
	if (mock_naps || ++alarms == 20000)
		siglongjmp(out, 1);
}

/* Call @wait, out of which leave_wait() jumps; return whether the thread remains cancelable. */
static bool left_within(void (*wait)(struct sifive_trace *trace), struct sifive_trace *trace)
{
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };
	int state;

	signal(SIGALRM, leave_wait);
	mock_naps = 0;
	if (!sigsetjmp(out, 1)) {
		setitimer(ITIMER_REAL, &often, NULL);
		wait(trace);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	return mock_naps && !pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state) &&
	       state == PTHREAD_CANCEL_ENABLE;
}

static void wait_for_room_in(struct sifive_trace *trace)
{
	perf_pool->room = SIFIVE_TRACE_CONFIG_WAIT;
	*(uint8_t *)(uintptr_t)perf_self->lane->full = 1;
	perf_self->cpu = PERF_CPU_NOBODY;
	sifive_trace_write(trace);
}

static void *wait_within_pause(void *trace)
{
	mock_rseq.cpu_id = 1;
	sifive_trace_write(trace);
	mock_naps = 0;
	wait_for_room_in(trace);
	/* The end of the pause writes the other thread's header. */
	*(uint8_t *)(uintptr_t)perf_self->lane->full = 0;
	return NULL;
}

/* The thread can read the counters, so its record must not count as refused. */
TEST_F(losses, count_a_record_that_waits_for_room_until_a_pause)
{
	pthread_t thread;

	ON();
	mock_naps = 0;
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_within_pause, self->trace));
	while (!*(volatile unsigned int *)&mock_naps)
		sched_yield();
	ASSERT_EQ(0, dump_to_nowhere(self->trace));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, perf_losses()->refused);
	LOST(1, 0);
}

static pthread_barrier_t steps;

/* Run in a thread: simulate a library call that lasts until the test ends it. */
static void *call_for_long(void *unused)
{
	uint64_t signals;

	perf_signals_block(&signals);
	caller = perf_thread_id();
	pthread_barrier_wait(&steps);
	pthread_barrier_wait(&steps);
	caller = 0;
	return unused;
}

static void wait_for_caller(struct sifive_trace *trace)
{
	sifive_trace_off(trace);
}

TEST_F(losses, leave_the_thread_cancelable_if_a_handler_jumps)
{
	pthread_t thread;

	ON();
	EXPECT_TRUE(left_within(wait_for_room_in, self->trace));
	*(uint8_t *)(uintptr_t)perf_self->lane->full = 0;
	pthread_barrier_init(&steps, NULL, 2);
	ASSERT_EQ(0, pthread_create(&thread, NULL, call_for_long, NULL));
	pthread_barrier_wait(&steps);
	EXPECT_TRUE(left_within(wait_for_caller, self->trace));
	pthread_barrier_wait(&steps);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	sifive_trace_off(self->trace);
}

static struct sifive_trace *to_turn_off;
static jmp_buf jump;
static bool leave_it;

static void turn_off(void)
{
	if (sifive_trace_off(to_turn_off) || sifive_trace_off(to_turn_off))
		abort();
	if (leave_it)
		longjmp(jump, 1);
}

static void __attribute__((noinline)) interrupted_record(void)
{
	/* The frame is large, so that the library can detect that it has been left. */
	volatile char *deeper = alloca(2000);

	*deeper = 0;
	mock_interrupt = turn_off;
	mock_interrupt_once = true;
	__cyg_profile_func_enter(function, function);
}

/* The interrupted record continues after tracing has been turned off, so it is always lost. */
static void turned_off_within(struct __test_metadata *_metadata,
			      FIXTURE_DATA(losses) *self, bool left)
{
	ON();
	to_turn_off = self->trace;
	leave_it = left;
	if (!setjmp(jump))
		interrupted_record();
	LOST(0, 1);
	ASSERT_EQ(0, sifive_trace_on(self->trace));
	mock_stores = 0;
	__cyg_profile_func_enter(function, function);
	EXPECT_LT(0, mock_stores);
	ASSERT_EQ(0, sifive_trace_off(self->trace));
	LOST(0, 1);
	EXPECT_FALSE(perf_self->stuck);
}

TEST_F(losses, count_a_record_whose_handler_turns_tracing_off)
{
	turned_off_within(_metadata, self, false);
}

TEST_F(losses, count_a_record_whose_handler_turns_tracing_off_and_jumps)
{
	turned_off_within(_metadata, self, true);
}

TEST_HARNESS_MAIN
