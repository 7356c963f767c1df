// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proves that each call to an instrumented function while tracing is on produces one entry record
 * and one exit record, in order, despite signals, threads and forks. Calls that end without a
 * return must not affect other calls, and calls while tracing is off must not produce records.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <sifive_trace.h>

#include "kselftest_harness.h"
#include "instrumented.h"
#include "trace_more.h"
#include "trace_records.h"

#define DEPTH		64
#define CHANNELS	32

/* Record totals. A thread's calls nest unless the thread has migrated. */
struct calls {
	uint64_t entered, left, others, disorder;
	struct {
		uint64_t function, site;
	} stack[CHANNELS][DEPTH];
	unsigned int depth[CHANNELS];
};

FIXTURE(calls) {
	int fd;
	struct sifive_trace_info info;
	struct sifive_trace *trace;
	struct sifive_trace_options options;
	struct sifive_trace_report report;
	struct trace_totals totals;
	struct calls calls;
};

FIXTURE_SETUP(calls)
{
	struct sifive_trace_encoder encoder;

	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, trace_info(self->fd, &self->info));
	ASSERT_EQ(0, trace_encoder(self->fd, 0, &encoder));
	ASSERT_EQ(0, trace_pin(encoder.cpu));
	if (!(self->info.sinks_available & BIT64(SIFIVE_TRACE_SINK_SBA)))
		SKIP(return, "this board has no SBA sink");
	self->trace = sifive_trace_open();
	ASSERT_NE(NULL, self->trace);
	self->options = (struct sifive_trace_options)SIFIVE_TRACE_OPTIONS;
	self->options.count_type = SIFIVE_TRACE_XOR;
	self->options.buffer = 4 << 20;
	if (self->info.flags & SIFIVE_TRACE_INFO_COUNTERS)
		self->options.events = "cycles,instructions";
}

FIXTURE_TEARDOWN(calls)
{
	sifive_trace_close(self->trace);
	close(self->fd);
}

static void set_up(struct __test_metadata *_metadata, struct _test_data_calls *self)
{
	ASSERT_EQ(0, sifive_trace_setup(self->trace, &self->options)) {
		TH_LOG("%s", sifive_trace_error());
	}
}

static void on(struct __test_metadata *_metadata, struct _test_data_calls *self)
{
	set_up(_metadata, self);
	ASSERT_EQ(0, sifive_trace_on(self->trace)) {
		TH_LOG("%s", sifive_trace_error());
	}
}

static void take_call(const struct trace_record *record, void *arg)
{
	const unsigned int channel = record->channel % CHANNELS;
	struct calls *calls = arg;
	unsigned int *depth = &calls->depth[channel], at;

	switch (record->kind) {
	case TRACE_ENTER:
		calls->entered++;
		at = (*depth)++ % DEPTH;
		calls->stack[channel][at].function = record->address[0];
		calls->stack[channel][at].site = record->address[1];
		break;
	case TRACE_EXIT:
		calls->left++;
		at = --*depth % DEPTH;
		calls->disorder +=
			calls->stack[channel][at].function != record->address[0] ||
			calls->stack[channel][at].site != record->address[1];
		break;
	default:
		calls->others++;
	}
}

static void off(struct __test_metadata *_metadata, struct _test_data_calls *self)
{
	ASSERT_EQ(0, sifive_trace_off(self->trace)) {
		TH_LOG("%s", sifive_trace_error());
	}
	self->report.size = sizeof(self->report);
	ASSERT_EQ(0, sifive_trace_status(self->trace, &self->report));
	ASSERT_EQ(0, self->report.flags & SIFIVE_TRACE_FULL);
	ASSERT_EQ(0, trace_records(self->fd, &self->totals, take_call, &self->calls));
	EXPECT_TRUE(trace_is_whole(&self->totals));
	EXPECT_EQ(0, self->totals.breaks);
	EXPECT_EQ(0, self->calls.others);
	EXPECT_EQ(0, self->report.lost_threads + self->report.lost_abandoned);
}

/* Expect this number of calls, each with its return, and nested if @nested is set. */
static void calls_are(struct __test_metadata *_metadata, struct _test_data_calls *self,
		      uint64_t number, bool nested)
{
	EXPECT_EQ(0, self->report.lost_signals);
	EXPECT_EQ(number, self->calls.entered);
	EXPECT_EQ(number, self->calls.left);
	if (nested)
		EXPECT_EQ(0, self->calls.disorder);
}

#define SET_UP()		set_up(_metadata, self)
#define ON()			on(_metadata, self)
#define OFF()			off(_metadata, self)
#define CALLS_ARE(number)	calls_are(_metadata, self, number, true)

TEST_F(calls, recursion_is_nested_and_complete)
{
	ON();
	calls_fib(12);
	OFF();
	CALLS_ARE(calls_of_fib(12));
}

/* Calls that constructors in C and C++ make before main() are not recorded. */
TEST_F(calls, not_recorded_while_tracing_is_off)
{
	EXPECT_EQ(4, calls_before_main);
	calls_loop(10);
	SET_UP();
	calls_loop(10);
	ASSERT_EQ(0, sifive_trace_on(self->trace));
	calls_loop(5);
	ASSERT_EQ(0, sifive_trace_off(self->trace));
	calls_loop(10);
	ASSERT_EQ(0, sifive_trace_on(self->trace));
	calls_loop(1);
	OFF();
	calls_loop(10);
	CALLS_ARE(6 + 2);
	EXPECT_EQ(2, self->totals.headers);
}

TEST_F(calls, complete_across_many_on_off_cycles)
{
	const double begin = trace_clock();
	const int times = 1000;
	int i;

	SET_UP();
	for (i = 0; i < times; i++) {
		ASSERT_EQ(0, sifive_trace_on(self->trace));
		calls_leaf();
		ASSERT_EQ(0, sifive_trace_off(self->trace));
		calls_leaf();
	}
	TH_LOG("%.0f us each", (trace_clock() - begin) / times * 1e6);
	OFF();
	CALLS_ARE((uint64_t)times);
	EXPECT_EQ(times, self->totals.headers);
}

TEST_F(calls, header_once_writes_one_header)
{
	int i;

	self->options.flags = SIFIVE_TRACE_HEADER_ONCE;
	SET_UP();
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, sifive_trace_on(self->trace));
		calls_leaf();
		ASSERT_EQ(0, sifive_trace_off(self->trace));
	}
	OFF();
	CALLS_ARE(5);
	EXPECT_EQ(1, self->totals.headers);
}

/*
 * Number of handled signals, and number of signals that interrupted a record. If a record is
 * interrupted, turning tracing on fails in the handler.
 */
static volatile uint64_t handled, hits;
static struct sifive_trace *handled_trace;

static void handler(int number)
{
	handled++;
	if (sifive_trace_on(handled_trace))
		hits++;
	calls_handler(number);
}

/*
 * If the handler interrupts an unfinished record, the handler's records follow it, and precede the
 * thread's next record.
 */
TEST_F(calls, signal_handler_nests_in_interrupted_call)
{
	const struct itimerval timer = { { 0, 0 }, { 0, 400 } };
	const double end = trace_clock() + 1;
	uint64_t number = 0, armed = ~0ull;

	/* The timer expires on the hart that makes the calls. */
	ASSERT_EQ(0, trace_pin(sched_getcpu()));
	handled_trace = self->trace;
	signal(SIGALRM, handler);
	ON();
	while ((trace_clock() < end || handled <= 20 || !hits) && number < 40000) {
		/*
		 * The timer is set for one expiration at a time, because handling may take
		 * longer than 400 us on a slow machine.
		 */
		if (armed != handled) {
			armed = handled;
			setitimer(ITIMER_REAL, &timer, NULL);
		}
		calls_loop(50);
		number += 51;
	}
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	OFF();
	number += 2 * handled;
	TH_LOG("%llu signals, %llu within a record", (unsigned long long)handled,
	       (unsigned long long)hits);
	EXPECT_LT(20, handled);
	EXPECT_LT(0, hits);
	EXPECT_EQ(2 * number, self->calls.entered + self->calls.left +
			      self->report.lost_signals);
	/* On a busy machine, signals can follow one another without a pause. */
	if (!self->report.lost_signals)
		CALLS_ARE(number);
}

TEST_F(calls, longjmp_leaves_only_entries)
{
	const unsigned int depth = 5, times = 100;
	volatile unsigned int i = 0;
	jmp_buf here;

	ON();
	setjmp(here);
	if (i++ < times)
		calls_jump(here, depth);
	OFF();
	EXPECT_EQ(times * (2 * depth + 1), self->calls.entered);
	EXPECT_EQ(0, self->calls.left);
}

/* Unwinding calls the exit hook of each function that it leaves. */
TEST_F(calls, exception_unwinding_records_exits)
{
	const unsigned int depth = 6, times = 50;
	unsigned int i;

	ON();
	for (i = 0; i < times; i++)
		EXPECT_EQ(depth, calls_throw(depth));
	OFF();
	CALLS_ARE(times * (depth + 2));
}

static void *recursion(void *arg)
{
	calls_fib(10);
	return arg;
}

/* The threads migrate, so their records are in several streams. */
TEST_F(calls, complete_for_threads_on_all_harts)
{
	pthread_t thread[8];
	cpu_set_t all;
	int i;

	memset(&all, 0xff, sizeof(all));
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(all), &all));
	ON();
	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, recursion, NULL));
	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
	OFF();
	calls_are(_metadata, self, 8 * calls_of_fib(10), false);
}

#define TURNS	200

static volatile bool go;

static void *loop(void *arg)
{
	unsigned int i;

	while (!go)
		;
	for (i = 0; i < TURNS; i++)
		calls_loop(49);
	return arg;
}

/*
 * The thread can migrate between any two instructions. A count from the wrong hart would be less
 * than the previous count or more than the next count, because harts have different numbers of TLB
 * misses and start counting cycles at different times.
 */
TEST_F(calls, migrated_threads_have_counts_of_correct_hart)
{
	const unsigned int cpus = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	unsigned int i, moves = 0;
	pthread_t thread[2];
	cpu_set_t set;

	memset(&set, 0xff, sizeof(set));
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(set), &set));
	self->options.count_type = SIFIVE_TRACE_RAW;
	self->options.flags |= SIFIVE_TRACE_PER_CPU;
	if (self->options.events)
		self->options.events = "cycles,instructions,dTLB-load-misses";
	ON();
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, loop, NULL));
	go = true;
	while (pthread_tryjoin_np(thread[0], NULL)) {
		CPU_ZERO(&set);
		CPU_SET(moves++ / 2 % cpus, &set);
		pthread_setaffinity_np(thread[moves & 1], sizeof(set), &set);
	}
	ASSERT_EQ(0, pthread_join(thread[1], NULL));
	OFF();
	TH_LOG("%u moves", moves);
	calls_are(_metadata, self, 2 * TURNS * 50, false);
	EXPECT_LT(1, self->totals.sources);
}

TEST_F(calls, forked_child_is_not_in_parent_trace)
{
	pid_t child;
	int i;

	/* Without counters, only the library, not the driver, prevents the child from writing. */
	self->options.events = NULL;
	ON();
	/* vfork() runs no atfork handlers. */
	for (i = 0; i < 10; i++) {
		child = i & 1 ? fork() : _Fork();
		if (!child) {
			calls_loop(100);
			_exit(0);
		}
		calls_leaf();
		EXPECT_EQ(0, trace_wait(child));
	}
	OFF();
	CALLS_ARE(10);
}

/* Make calls in vfork() children, which share their parent's memory, and in the parent. */
static void vfork_children(struct __test_metadata *_metadata, unsigned int times)
{
	unsigned int i;
	pid_t child;

	for (i = 0; i < times; i++) {
		calls_loop(2);
		child = vfork();
		if (!child) {
			calls_loop(4);
			execl("/nonexistent", "", NULL);
			_exit(0);
		}
		ASSERT_EQ(child, waitpid(child, NULL, 0));
		calls_loop(2);
	}
}

/*
 * Check that each call is recorded or counted as lost, and that no child's record appears as the
 * parent's.
 */
static void vfork_children_are_lost(struct __test_metadata *_metadata,
				    struct _test_data_calls *self)
{
	/*
	 * Number of records per round: for vfork_children() itself, and for the calls that it
	 * makes.
	 */
	const unsigned int parent = 2 * (2 + 1), child = 4 + 1, times = 20;

	ON();
	vfork_children(_metadata, times);
	ASSERT_EQ(0, sifive_trace_off(self->trace));
	self->report.size = sizeof(self->report);
	ASSERT_EQ(0, sifive_trace_status(self->trace, &self->report));
	ASSERT_EQ(0, trace_records(self->fd, &self->totals, take_call, &self->calls));
	EXPECT_TRUE(trace_is_whole(&self->totals));
	CALLS_ARE(parent * times);
	EXPECT_EQ(2 * child * times, self->report.lost_threads);
	EXPECT_EQ(0, self->report.lost_abandoned);
}

TEST_F(calls, vfork_children_are_counted_as_lost)
{
	vfork_children_are_lost(_metadata, self);
}

TEST_F(calls, vfork_children_are_counted_as_lost_without_counters)
{
	self->options.events = NULL;
	vfork_children_are_lost(_metadata, self);
}

static void *loop_of_three(void *unused)
{
	calls_loop(3);
	return unused;
}

/* Make calls in this thread, and in a new thread that has to join the session. */
static unsigned int calls_with_a_thread(struct __test_metadata *_metadata)
{
	pthread_t thread;

	calls_loop(2);
	ASSERT_EQ(0, pthread_create(&thread, NULL, loop_of_three, NULL));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	return (2 + 1) + (3 + 1);
}

/* Close all descriptors, as a daemon does. The test then reopens the device for its own use. */
static void close_all(struct __test_metadata *_metadata, struct _test_data_calls *self)
{
	ASSERT_EQ(0, close_range(3, ~0u, 0));
	self->fd = trace_open(O_RDWR);
	ASSERT_LE(0, self->fd);
}

TEST_F(calls, complete_if_program_closes_all_descriptors)
{
	unsigned int made, round;

	SET_UP();
	close_all(_metadata, self);
	ASSERT_EQ(0, sifive_trace_on(self->trace));
	for (made = 0, round = 0; round < 3; round++) {
		made += calls_with_a_thread(_metadata);
		close_all(_metadata, self);
		made += calls_with_a_thread(_metadata);
	}
	OFF();
	CALLS_ARE(made);
	EXPECT_EQ(0, sifive_trace_dump(self->trace, "/dev/null")) {
		TH_LOG("%s", sifive_trace_error());
	}
	/* The session ends with the mapping, so another session can start. */
	close_all(_metadata, self);
	sifive_trace_close(self->trace);
	self->trace = sifive_trace_open();
	ASSERT_NE(NULL, self->trace);
	SET_UP();
}

/* Occupy the session's descriptor numbers, except the test's own. */
static unsigned int take_numbers_over(struct _test_data_calls *self, int file)
{
	unsigned int taken = 0;
	int number;

	for (number = 3; number < 2048; number++) {
		if (number == file || number == self->fd ||
		    fcntl(number, F_GETFD) < 0)
			continue;
		taken += dup2(file, number) == number;
	}
	return taken;
}

static void numbers_are_taken(struct __test_metadata *_metadata,
			      struct _test_data_calls *self, int file)
{
	unsigned int made;

	ON();
	made = calls_with_a_thread(_metadata);
	ASSERT_LE(1, take_numbers_over(self, file));
	made += calls_with_a_thread(_metadata);
	OFF();
	CALLS_ARE(made);
	sifive_trace_close(self->trace);
	self->trace = NULL;
}

TEST_F(calls, file_with_reused_descriptor_number_is_untouched)
{
	char path[] = "/tmp/calls_test.XXXXXX", text[8] = "";
	int file = mkstemp(path), number, open_numbers = 0;

	ASSERT_LE(0, file);
	unlink(path);
	ASSERT_EQ(4, write(file, "mine", 4));
	numbers_are_taken(_metadata, self, file);
	for (number = 3; number < 2048; number++)
		open_numbers += number != self->fd && fcntl(number, F_GETFD) >= 0;
	/*
	 * At least two numbers must be in use: the new file's number, and the number that the
	 * library's descriptor had.
	 */
	EXPECT_LE(2, open_numbers);
	ASSERT_EQ(4, pread(file, text, sizeof(text), 0));
	EXPECT_STREQ("mine", text);
}

TEST_F(calls, device_with_reused_descriptor_number_is_untouched)
{
	int other = trace_open(O_RDONLY), number, open_numbers = 0;

	ASSERT_LE(0, other);
	numbers_are_taken(_metadata, self, other);
	for (number = 3; number < 2048; number++)
		open_numbers += number != self->fd && fcntl(number, F_GETFD) >= 0;
	EXPECT_LE(2, open_numbers);
	EXPECT_LE(0, trace_flags(other));
}

/*
 * Remove the device node, so that a new thread cannot join and loses its records; then end by a
 * signal.
 */
static void lose_and_die(struct _test_data_calls *self, const char *name)
{
	pthread_t thread;

	setenv("SIFIVE_TRACE_DEVICE", name, 1);
	if (symlink("/dev/sifive-trace", name) ||
	    sifive_trace_setup(self->trace, &self->options) ||
	    sifive_trace_on(self->trace) || unlink(name))
		_exit(1);
	calls_loop(1);
	close_range(3, ~0u, 0);
	pthread_create(&thread, NULL, loop_of_three, NULL);
	pthread_join(thread, NULL);
	kill(getpid(), SIGKILL);
}

TEST_F(calls, loss_counts_outlive_program)
{
	struct sifive_trace_losses losses = { .size = sizeof(losses) };
	pid_t child;
	int status;

	if (!self->options.events)
		SKIP(return, "without counters, no thread has to join");
	child = fork();
	if (!child)
		lose_and_die(self, "/tmp/calls_test.device");
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	ASSERT_EQ(0, trace_ioctl(self->fd, SIFIVE_TRACE_IOC_LOSSES, &losses));
	EXPECT_EQ(2 * (3 + 1), losses.refused);
	EXPECT_EQ(0, losses.threads + losses.signals + losses.abandoned + losses.children);
	/* Losses are counted per capture: the counts of the next capture start at 0. */
	ON();
	OFF();
	ASSERT_EQ(0, trace_ioctl(self->fd, SIFIVE_TRACE_IOC_LOSSES, &losses));
	EXPECT_EQ(0, losses.refused);
}

/* Return 0, or the number of the step that failed. */
static int drop_rights_and_call(struct _test_data_calls *self)
{
	pthread_t thread;

	if (sifive_trace_setup(self->trace, &self->options) ||
	    sifive_trace_on(self->trace))
		return 1;
	calls_loop(1);
	if (chroot("/tmp") || chdir("/") || setgid(65534) || setuid(65534))
		return 2;
	calls_loop(1);
	if (pthread_create(&thread, NULL, loop_of_three, NULL) ||
	    pthread_join(thread, NULL))
		return 3;
	if (sifive_trace_off(self->trace) || sifive_trace_on(self->trace))
		return 4;
	calls_loop(1);
	return sifive_trace_off(self->trace) ? 5 : 0;
}

/* Run in a child, because dropping privileges would affect this process. */
TEST_F(calls, complete_if_program_drops_privileges)
{
	pid_t child = fork();

	if (!child)
		_exit(drop_rights_and_call(self));
	ASSERT_EQ(0, trace_wait(child));
	ASSERT_EQ(0, trace_records(self->fd, &self->totals, take_call, &self->calls));
	EXPECT_TRUE(trace_is_whole(&self->totals));
	CALLS_ARE(3 * (1 + 1) + (3 + 1));
}

/* Allow all system calls except ioctl(2). */
static int forbid_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_ioctl, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_SIZE(filter), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static bool names_the_filter(int rc)
{
	return rc && strstr(sifive_trace_error(), "seccomp filter");
}

static int forbid_and_call(struct _test_data_calls *self)
{
	struct sifive_trace_report report = { .size = sizeof(report) };

	if (sifive_trace_setup(self->trace, &self->options) ||
	    sifive_trace_on(self->trace))
		return 1;
	calls_loop(1);
	if (forbid_calls())
		return 2;
	/* This thread has already joined. */
	calls_loop(1);
	if (!names_the_filter(sifive_trace_status(self->trace, &report)))
		return 3;
	return names_the_filter(sifive_trace_off(self->trace)) ? 0 : 4;
}

TEST_F(calls, recorded_if_seccomp_filter_forbids_ioctl)
{
	pid_t child;

	/* A kernel that supports filters returns EFAULT, because the filter's program is NULL. */
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) && errno != EFAULT)
		SKIP(return, "this kernel has no seccomp filters");
	child = fork();
	if (!child)
		_exit(forbid_and_call(self));
	ASSERT_EQ(0, trace_wait(child));
	ASSERT_EQ(0, trace_records(self->fd, &self->totals, take_call, &self->calls));
	EXPECT_TRUE(trace_is_whole(&self->totals));
	CALLS_ARE(2 * (1 + 1));
}

TEST_F(calls, filtered_functions_are_not_recorded)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/calls_test.%d", getpid());
	file = fopen(path, "w");
	ASSERT_NE(NULL, file);
	fprintf(file, "# leaf alone\n%s %lx %lx\nother 0 ffffffff\n",
		program_invocation_short_name, (unsigned long)calls_leaf,
		(unsigned long)calls_leaf + 2);
	fclose(file);
	self->options.filter = path;
	ON();
	unlink(path);
	calls_loop(20);
	OFF();
	CALLS_ARE(20);
}

/* Encoders that do not stall drop stores unless the writer waits. */
TEST_F(calls, polling_mode_waits_for_encoder)
{
	self->options.flags = SIFIVE_TRACE_POLL;
	ON();
	calls_fib(14);
	OFF();
	CALLS_ARE(calls_of_fib(14));
}

TRACE_HARNESS_MAIN
