// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that each record is in the trace or counted as lost, even in programs that use stacks,
 * signals and processes in unusual ways: user threads between which a signal handler switches, a
 * stack that overflows in the middle of a call and from which the handler jumps away, an alternate
 * stack with many signals per millisecond, the program's own SIGILL, a child that continues in the
 * background, and a child that traces itself after its parent's trace has ended.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <sifive_trace.h>

#include "kselftest_harness.h"
#include "instrumented.h"
#include "trace_more.h"
#include "trace_records.h"

#define BUFFER		(8u << 20)
#define STACK		(64u * 1024)

/* Maximum number of records: more would fill the buffer if signals arrive slowly. */
#define MADE_MAX	100000

static struct sifive_trace *trace;
static uint64_t made;

static void leaf(void)
{
	__atomic_fetch_add(&made, 2, __ATOMIC_RELAXED);
	calls_leaf();
}

FIXTURE(unusual) {
	int fd;
	struct sifive_trace_report report;
	struct trace_totals totals;
};

static int begin(unsigned int type)
{
	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;

	options.count_type = type;
	options.buffer = BUFFER;
	trace = sifive_trace_open();
	return !trace || sifive_trace_setup(trace, &options) || sifive_trace_on(trace);
}

FIXTURE_SETUP(unusual)
{
	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	if (begin(SIFIVE_TRACE_DELTA))
		SKIP(return, "%s", sifive_trace_error());
	self->report.size = sizeof(self->report);
}

FIXTURE_TEARDOWN(unusual)
{
	sifive_trace_close(trace);
	close(self->fd);
}

/* End the trace. Return the number of records that are in the trace or counted as lost. */
static uint64_t end(struct __test_metadata *_metadata, struct _test_data_unusual *self)
{
	const struct sifive_trace_report *r = &self->report;
	const struct trace_totals *t = &self->totals;

	ASSERT_EQ(0, sifive_trace_off(trace));
	ASSERT_EQ(0, sifive_trace_status(trace, &self->report));
	ASSERT_EQ(0, r->flags & SIFIVE_TRACE_FULL);
	ASSERT_EQ(0, trace_records(self->fd, &self->totals, NULL, NULL));
	TH_LOG("records: %llu counted, %llu found, %llu lost, %llu abandoned; %llu bad messages",
	       (unsigned long long)made, (unsigned long long)t->records,
	       (unsigned long long)(r->lost_signals + r->lost_threads),
	       (unsigned long long)r->lost_abandoned, (unsigned long long)t->bad);
	return t->records + r->lost_signals + r->lost_threads + r->lost_abandoned;
}

/*
 * Check that all records that the program has counted, and at most @more others, are in the trace
 * or counted as lost. An abandoned record may be complete, and is then counted twice.
 */
static void check(struct __test_metadata *_metadata, struct _test_data_unusual *self,
		  uint64_t more)
{
	const uint64_t all = end(_metadata, self);

	EXPECT_LE(made, all);
	EXPECT_GE(made + more + self->report.lost_abandoned, all);
	EXPECT_LE(self->totals.breaks, self->report.lost_abandoned);
	EXPECT_EQ(0, self->totals.bad);
	EXPECT_EQ(0, self->totals.unfinished);
}

/* ---- user threads -------------------------------------------------------------- */

#define CONTEXTS	4
#define SWITCHES	600

static ucontext_t context[CONTEXTS];
static unsigned int current, finished;
static volatile unsigned int switches;

static void switch_on(void)
{
	const unsigned int from = current;

	current = (from + 1) % CONTEXTS;
	swapcontext(&context[from], &context[current]);
}

static void tick_each(int microseconds)
{
	const struct itimerval timer = { { 0, microseconds }, { 0, microseconds } };

	setitimer(ITIMER_REAL, &timer, NULL);
}

/*
 * The last signal stops the timer, because on a slow machine, the signals can use all of the CPU
 * time.
 */
static void on_tick(int number)
{
	if (++switches == SWITCHES)
		tick_each(0);
	switch_on();
}

static void alarms(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(how, &set, NULL);
}

static void run(void)
{
	alarms(SIG_UNBLOCK);
	while (switches < SWITCHES && made < MADE_MAX)
		leaf();
	alarms(SIG_BLOCK);
	finished++;
}

static void body(void)
{
	run();
	for (;;)
		switch_on();
}

TEST_F_TIMEOUT(unusual, user_threads_switched_by_handler_are_recorded, 600)
{
	volatile unsigned int i;
	uint64_t all;

	/* Contexts start with the signal blocked, so that it does not interrupt their start. */
	alarms(SIG_BLOCK);
	for (i = 1; i < CONTEXTS; i++) {
		ASSERT_EQ(0, getcontext(&context[i]));
		context[i].uc_stack.ss_sp = malloc(STACK);
		context[i].uc_stack.ss_size = STACK;
		makecontext(&context[i], body, 0);
	}
	signal(SIGALRM, on_tick);
	tick_each(500);
	run();
	tick_each(0);
	/* Switch to each context until it has finished its record and its call. */
	while (finished < CONTEXTS)
		switch_on();
	leaf();
	all = end(_metadata, self);
	/* A context may have omitted a header if it wrote within another context's record. */
	EXPECT_LE(made, all + self->totals.bad);
	EXPECT_GE(made + self->report.lost_abandoned, all);
}

/* ---- a stack that overflows ---------------------------------------------------- */

#define OVERFLOWS	6

static sigjmp_buf before;

static void on_fault(int number)
{
	made += 4;
	calls_handler(number);
	siglongjmp(before, 1);
}

static void *overflow(void *unused)
{
	stack_t stack = { .ss_sp = malloc(STACK), .ss_size = STACK };
	volatile int times = 0;

	sigaltstack(&stack, NULL);
	sigsetjmp(before, 1);
	/*
	 * Start from a different depth each time, so that the overflow occurs at a different place
	 * in the call.
	 */
	while (times++ < OVERFLOWS)
		calls_deeper(alloca((size_t)times * 48), &made);
	leaf();
	return NULL;
}

TEST_F_TIMEOUT(unusual, stack_overflow_left_by_jump_is_recorded, 600)
{
	struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_ONSTACK };
	pthread_attr_t attr;
	pthread_t thread;

	ASSERT_EQ(0, sigaction(SIGSEGV, &action, NULL));
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 2 * STACK);
	ASSERT_EQ(0, pthread_create(&thread, &attr, overflow, NULL));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	/*
	 * A call is counted after its hook, so a call that faults in between is not counted.
	 */
	check(_metadata, self, OVERFLOWS);
	EXPECT_LT(OVERFLOWS * 100, self->totals.records);
}

/* ---- many signals -------------------------------------------------------------- */

#define SIGNALS		2000
/* A quarter of the signals after which the library abandons the record that they interrupted. */
#define IN_A_ROW	(1024 / 4 / 4)

static volatile unsigned int signals;
static __thread timer_t timer;
static __thread unsigned int in_a_row;

static void tick(long nanoseconds)
{
	const struct itimerspec period = { { 0, nanoseconds }, { 0, nanoseconds } };

	timer_settime(timer, 0, &period, NULL);
}

/*
 * On a slow machine, handlers can take longer than the timer's period, so that the interrupted
 * record makes no progress until the timer stops.
 */
static void on_timer(int number)
{
	if (__atomic_add_fetch(&in_a_row, 1, __ATOMIC_RELAXED) == IN_A_ROW)
		tick(0);
	__atomic_fetch_add(&made, 4, __ATOMIC_RELAXED);
	calls_handler(number);
	__atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
}

static void *interrupted(void *unused)
{
	stack_t stack = { .ss_sp = malloc(STACK), .ss_size = STACK };
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN,
	};

	sigaltstack(&stack, NULL);
	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer))
		return NULL;
	tick(100000);
	while (signals < SIGNALS && made < MADE_MAX) {
		leaf();
		if (__atomic_exchange_n(&in_a_row, 0, __ATOMIC_RELAXED) >= IN_A_ROW)
			tick(100000);
	}
	timer_delete(timer);
	return stack.ss_sp;
}

TEST_F_TIMEOUT(unusual, frequent_signals_on_alternate_stack_are_recorded, 600)
{
	struct sigaction action = { .sa_handler = on_timer, .sa_flags = SA_ONSTACK };
	pthread_t thread[2];
	void *result;
	int i;

	ASSERT_EQ(0, sigaction(SIGRTMIN, &action, NULL));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, interrupted, NULL));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, pthread_join(thread[i], &result));
		ASSERT_NE(NULL, result);
	}
	check(_metadata, self, 0);
}

/* ---- the program's own signal -------------------------------------------------- */

static volatile int own_traps;

static void own_handler(int number, siginfo_t *info, void *context)
{
	own_traps++;
	((ucontext_t *)context)->uc_mcontext.__gregs[0] += 4;
}

TEST_F(unusual, sigill_of_program_reaches_its_handler)
{
	struct sigaction action = { .sa_sigaction = own_handler, .sa_flags = SA_SIGINFO };

	ASSERT_EQ(0, sifive_trace_off(trace));
	ASSERT_EQ(0, sigaction(SIGILL, &action, NULL));
	ASSERT_EQ(0, sifive_trace_on(trace));
	leaf();
	asm volatile(".option push\n.option norvc\n.word 0xc0001073\n.option pop");
	leaf();
	EXPECT_EQ(1, own_traps);
	check(_metadata, self, 0);
}

/* ---- processes ----------------------------------------------------------------- */

/* Become a daemon, whose calls are not recorded. Report to @done whether writing a record fails. */
static void continue_in_background(int done)
{
	char byte = 0;

	if (!daemon(1, 1)) {
		calls_loop(100);
		byte = sifive_trace_write(trace) ? 1 : 0;
	}
	if (write(done, &byte, 1) != 1)
		_exit(1);
	_exit(0);
}

TEST_F(unusual, daemon_keeps_records_written_before_fork)
{
	int done[2];
	char byte;
	pid_t child;

	sifive_trace_close(trace);
	trace = NULL;
	ASSERT_EQ(0, pipe(done));
	child = fork();
	if (!child) {
		if (begin(SIFIVE_TRACE_DELTA))
			_exit(1);
		calls_loop(9);
		continue_in_background(done[1]);
	}
	EXPECT_EQ(0, trace_wait(child));
	ASSERT_EQ(1, read(done[0], &byte, 1));
	EXPECT_EQ(1, byte);
	ASSERT_EQ(0, trace_flags(self->fd));
	ASSERT_EQ(0, trace_records(self->fd, &self->totals, NULL, NULL));
	EXPECT_EQ(20, self->totals.records);
	EXPECT_TRUE(trace_is_whole(&self->totals));
}

/* Run in a child: trace this process; the trace must contain only the child's own records. */
static int trace_itself(int fd, unsigned int calls)
{
	struct trace_totals totals;

	sifive_trace_close(trace);
	if (begin(SIFIVE_TRACE_RAW))
		return 1;
	calls_loop(calls);
	return sifive_trace_off(trace) || trace_records(fd, &totals, NULL, NULL) ||
	       !trace_is_whole(&totals) || totals.records != 2 * (calls + 1);
}

TEST_F(unusual, child_can_trace_itself_after_parent_closes)
{
	int ended[2];
	pid_t child;
	char byte;

	ASSERT_EQ(0, pipe(ended));
	leaf();
	child = fork();
	if (!child) {
		calls_loop(5);
		_exit(read(ended[0], &byte, 1) != 1 || trace_itself(self->fd, 76));
	}
	leaf();
	check(_metadata, self, 0);
	EXPECT_EQ(made, self->totals.records);
	sifive_trace_close(trace);
	trace = NULL;
	ASSERT_EQ(1, write(ended[1], "", 1));
	EXPECT_EQ(0, trace_wait(child));
}

TEST_HARNESS_MAIN
