// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests the generated writers in the same way as lib_hooks_test.c tests the generic writer. Also
 * tests that no records are mixed up or missing, even if the set-up changes while threads run,
 * jumps and forks leave a record, signal handlers run on any stack, or threads are not scheduled.
 */
#include "kselftest_harness.h"

#include <alloca.h>
#include <setjmp.h>
#include <sys/wait.h>

#include "lib_mock.h"

static char function[4] __attribute__((aligned(4)));
static char site[4] __attribute__((aligned(4)));

static perfEvent events[] = {
	{ .code = HW_CPU_CYCLES }, { .code = HW_INSTRUCTIONS },
};

static void call(void)
{
	__cyg_profile_func_enter(function, site);
}

static int set_up(perfCountType_t type)
{
	return perfFuncEntryExitInit(events, 2, 6, type, 4096);
}

static void explicit(void)
{
	perf_hooks_manual((uintptr_t)function);
}

/*
 * Return the number of stores for a record whose counts fit in 32 bits. HEADER_STORES is the number
 * for a header.
 */
static unsigned int record_stores(void)
{
	return 1 + 2 * ((uintptr_t)function >> 32 ? 2 : 1) + 2;
}

#define HEADER_STORES	(3 + 2 * 3)

/* Return the number of stores with this size and value. */
static unsigned int count_stores(unsigned int bits, uint32_t value)
{
	unsigned int count = 0;
	size_t i;

	for (i = 0; i < mock_stores && i < MOCK_LOG_MAX; i++)
		count += mock_log[i].bits == bits && mock_log[i].value == value;
	return count;
}

static unsigned int count_headers(void)
{
	return count_stores(32, SIFIVE_TRACE_RECORD_MAGIC);
}

FIXTURE(writers)
{
};

FIXTURE_SETUP(writers)
{
	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	mock_device_reset();
	ASSERT_EQ(0, perfInit(2, 1));
	ASSERT_EQ(0, set_up(perfCount_Delta));
	ASSERT_EQ(0, perfTraceOn());
	ASSERT_TRUE(hook != write_slow);
	call();
	mock_stores = 0;
}

FIXTURE_TEARDOWN(writers)
{
	perfTraceOff();
}

TEST_F(writers, write_a_record)
{
	mock_counter[0] = 100;
	mock_counter[2] = 30;
	call();
	EXPECT_EQ(record_stores(), mock_stores);
	EXPECT_EQ(100, mock_log[mock_stores - 2].value);
	EXPECT_EQ(30, mock_log[mock_stores - 1].value);
	EXPECT_EQ((uintptr_t)perf_self, perf_self->gate);
}

/* ---- a new set-up --------------------------------------------------------- */

static pthread_barrier_t steps, others;
static long worker_channel, other_channel;

/* The function that the worker calls to write a record. */
static void (*make)(void) = call;

static void *worker(void *unused)
{
	mock_rseq.cpu_id = 1;
	make();
	pthread_barrier_wait(&steps);
	/* Between these two waits, the main thread performs a new set-up. */
	pthread_barrier_wait(&steps);
	make();
	worker_channel = dev.last_channel;
	pthread_barrier_wait(&steps);
	return unused;
}

static void *newcomer(void *unused)
{
	mock_rseq.cpu_id = 1;
	call();
	other_channel = dev.last_channel;
	pthread_barrier_wait(&others);
	pthread_barrier_wait(&others);
	return unused;
}

/* A thread that has joined before a new set-up rejoins after it, and uses a separate channel. */
TEST_F(writers, rejoin_after_a_new_setup)
{
	pthread_t old, new;
	unsigned int joins;

	pthread_barrier_init(&steps, NULL, 2);
	pthread_barrier_init(&others, NULL, 2);
	ASSERT_EQ(0, pthread_create(&old, NULL, worker, NULL));
	pthread_barrier_wait(&steps);
	ASSERT_EQ(0, perfTraceOff());
	ASSERT_EQ(0, set_up(perfCount_Delta));
	ASSERT_EQ(0, perfTraceOn());
	ASSERT_EQ(0, pthread_create(&new, NULL, newcomer, NULL));
	pthread_barrier_wait(&others);
	EXPECT_EQ(7, other_channel);

	mock_stores = 0;
	joins = dev.joins;
	pthread_barrier_wait(&steps);
	pthread_barrier_wait(&steps);
	EXPECT_EQ(8, worker_channel);
	EXPECT_EQ(joins + 1, dev.joins);
	EXPECT_EQ(HEADER_STORES + record_stores(), mock_stores);
	pthread_barrier_wait(&others);
	pthread_join(old, NULL);
	pthread_join(new, NULL);
}

static void samples_take_its_channel(struct __test_metadata *_metadata)
{
	static struct perf_setup setup;
	pthread_t old;

	pthread_barrier_init(&steps, NULL, 2);
	ASSERT_EQ(0, pthread_create(&old, NULL, worker, NULL));
	pthread_barrier_wait(&steps);
	ASSERT_EQ(0, perfTraceOff());
	ASSERT_EQ(0, perf_session_end());
	setup = (struct perf_setup) {
		.counter = { { .code = HW_CPU_CYCLES }, { .code = HW_INSTRUCTIONS } },
		.count = 2, .type = SIFIVE_TRACE_RECORD_DELTA, .channel = 6, .hooks = true,
		.take.buffer = 4096, .sampling.interval = 1000000,
	};
	ASSERT_EQ(0, perf_session_setup(&setup, NULL));
	ASSERT_EQ(7, setup.sampling.channel);
	ASSERT_EQ(0, perfTraceOn());
	pthread_barrier_wait(&steps);
	pthread_barrier_wait(&steps);
	EXPECT_EQ(8, worker_channel);
	pthread_join(old, NULL);
}

/* The thread's previous channel may have become the kernel's, to which the program cannot write. */
TEST_F(writers, rejoin_if_samples_take_their_channel)
{
	samples_take_its_channel(_metadata);
}

TEST_F(writers, rejoin_for_explicit_records_if_samples_take_their_channel)
{
	make = explicit;
	samples_take_its_channel(_metadata);
}

static void *initialiser(void *unused)
{
	mock_rseq.cpu_id = 1;
	set_up(perfCount_Raw);
	pthread_barrier_wait(&steps);
	pthread_barrier_wait(&steps);
	call();
	worker_channel = dev.last_channel;
	return unused;
}

/* Each CPU's thread initialises the library, as in programs that use the old API. */
TEST_F(writers, each_initialising_thread_has_a_channel)
{
	pthread_t other;

	ASSERT_EQ(0, perfTraceOff());
	pthread_barrier_init(&steps, NULL, 2);
	ASSERT_EQ(0, pthread_create(&other, NULL, initialiser, NULL));
	pthread_barrier_wait(&steps);
	ASSERT_EQ(0, set_up(perfCount_Raw));
	ASSERT_EQ(0, perfTraceOn());
	call();
	EXPECT_EQ(6, dev.last_channel);
	pthread_barrier_wait(&steps);
	pthread_join(other, NULL);
	EXPECT_EQ(7, worker_channel);
}

/*
 * A thread that joined during an earlier set-up neither takes nor releases a channel of the current
 * set-up.
 */
TEST_F(writers, thread_of_an_earlier_setup_takes_no_channel)
{
	static struct perf_thread late;

	late.joined = -1;
	late.channel = -1;
	late.epoch = perf_pool->epoch;
	EXPECT_TRUE(perf_channel_take(&late, false));
	EXPECT_EQ(7, late.channel);
	ASSERT_EQ(0, perfTraceOff());
	ASSERT_EQ(0, set_up(perfCount_Delta));
	EXPECT_NE(&late, perf_pool->owner[7]);
	late.channel = 6;
	perf_channel_give(&late);
	EXPECT_EQ(perf_self, perf_pool->owner[6]);
	EXPECT_FALSE(perf_channel_take(&late, false));
}

static void *one_record(void *unused)
{
	mock_rseq.cpu_id = 1;
	call();
	return unused;
}

static void run_thread(struct __test_metadata *_metadata)
{
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, one_record, NULL));
	ASSERT_EQ(0, pthread_join(thread, NULL));
}

/* One header is valid for all threads that use the channel. */
TEST_F(writers, share_one_header_per_channel)
{
	ASSERT_EQ(0, perfTraceOff());
	setenv("SIFIVE_TRACE_HEADER", "once", 1);
	ASSERT_EQ(0, set_up(perfCount_Delta));
	unsetenv("SIFIVE_TRACE_HEADER");
	ASSERT_EQ(0, perfTraceOn());
	run_thread(_metadata);
	mock_stores = 0;
	run_thread(_metadata);
	EXPECT_EQ(7, dev.last_channel);
	EXPECT_EQ(0, count_headers());
	EXPECT_EQ(record_stores(), mock_stores);
}

/* An XOR ring repeats headers, so that a wrapped ring can be read. */
TEST_F(writers, repeat_headers_in_an_xor_ring)
{
	static struct perf_setup setup;
	int i;

	ASSERT_EQ(0, perfTraceOff());
	ASSERT_EQ(0, perf_session_end());
	setup = (struct perf_setup) {
		.counter = { { .code = HW_CPU_CYCLES }, { .code = HW_INSTRUCTIONS } },
		.count = 2, .type = SIFIVE_TRACE_RECORD_XOR, .channel = 6, .hooks = true,
		.take = { .buffer = 4096, .flags = SIFIVE_TRACE_CONFIG_RING }, .header_interval = 5,
	};
	ASSERT_EQ(0, perf_session_setup(&setup, NULL));
	mock_stores = 0;
	ASSERT_EQ(0, perfTraceOn());
	EXPECT_EQ(1, count_headers());
	for (i = 0; i < 5; i++)
		i % 2 ? call() : explicit();
	EXPECT_EQ(1, count_headers());
	explicit();
	EXPECT_EQ(2, count_headers());
	for (i = 0; i < 4; i++)
		call();
	/* Turning tracing on again starts a stream, whose header is not a repetition. */
	ASSERT_EQ(0, perfTraceOff());
	ASSERT_EQ(0, perfTraceOn());
	EXPECT_EQ(4, count_headers());
	call();
	ASSERT_EQ(0, perfTraceOff());
	ASSERT_EQ(0, perfTraceOn());
	EXPECT_EQ(5, count_headers());

	ASSERT_EQ(0, perfTraceOff());
	setup.take.flags = 0;
	EXPECT_ERROR(perf_session_setup(&setup, NULL), "ring of XOR");
}

/* ---- signal handlers ---------------------------------------------------- */

static void move_away(void)
{
	mock_rseq.cpu_id = 0;
	mock_counter[0] = 500;
	mock_counter[2] = 600;
}

static void handler_that_moves(void)
{
	mock_before_reading = move_away;
	__cyg_profile_func_exit(function, site);
}

/*
 * A handler that migrates while it reads counters for a record reads the new hart's counters.
 */
TEST_F(writers, read_the_new_harts_counters_after_migration)
{
	dev.cpus = 3;
	ASSERT_EQ(0, perfTraceOff());
	ASSERT_EQ(0, set_up(perfCount_Raw));
	ASSERT_EQ(0, perfTraceOn());
	call();
	mock_stores = 0;
	mock_interrupt = handler_that_moves;
	mock_interrupt_once = true;
	call();
	EXPECT_EQ(1, dev.last_page);
	EXPECT_EQ(2 * record_stores() + HEADER_STORES, mock_stores);
	EXPECT_EQ(500, mock_log[mock_stores - 2].value);
	EXPECT_EQ(600, mock_log[mock_stores - 1].value);
}

static jmp_buf jump;

static void jump_out(void)
{
	longjmp(jump, 1);
}

static void __attribute__((noinline)) small(void)
{
	call();
	__asm__ volatile("");
}

static void __attribute__((noinline)) big(void)
{
	volatile char *deeper = alloca(3000);

	*deeper = 0;
	call();
}

static void __attribute__((noinline)) leave_record(void)
{
	if (setjmp(jump))
		return;
	mock_interrupt = jump_out;
	mock_interrupt_once = true;
	small();
}

/* Only the records that wait for an abandoned record are lost; later records are written. */
TEST_F(writers, drop_only_records_that_wait_for_an_abandoned_one)
{
	int i;

	if (!setjmp(jump)) {
		mock_interrupt = jump_out;
		mock_interrupt_once = true;
		small();
	}
	mock_stores = 0;
	for (i = 0; i < 3000; i++)
		big();
	EXPECT_LT((3000 - PATIENCE) * record_stores(), mock_stores);
	EXPECT_EQ(1, count_headers());
	EXPECT_EQ(1, count_stores(8, SIFIVE_TRACE_RECORD_BREAK));
	EXPECT_EQ(1, perf_pool->lost->abandoned);
	EXPECT_EQ(PATIENCE - PERF_QUEUE, perf_pool->lost->signals);
}

/* All calls work after a jump out of a record; the next record marks the jump. */
TEST_F(writers, allow_calls_after_a_jump_out_of_a_record)
{
	char null[] = "/dev/null";

	leave_record();
	EXPECT_EQ(0, perfTraceOff());
	EXPECT_EQ(0, perfWriteTrace(null));
	EXPECT_EQ(0, perfTraceOn());
	leave_record();
	mock_stores = 0;
	EXPECT_EQ(0, perfWriteTrace(null));
	EXPECT_NE(NULL, strstr(perfErrorString(), "2 unfinished"));
	call();
	EXPECT_EQ(1, count_stores(8, SIFIVE_TRACE_RECORD_BREAK));
	leave_record();
	EXPECT_EQ(0, perfTraceOff());
	EXPECT_EQ(0, perfInit(2, 1));
}

/* A record is abandoned by a jump or by the end of its thread. */
TEST_F(writers, allow_calls_after_a_jump_out_of_a_call)
{
	ASSERT_EQ(0, perfTraceOff());
	if (!setjmp(jump)) {
		mock_interrupt = jump_out;
		mock_interrupt_once = true;
		perfTraceOn();
		EXPECT_TRUE(false);
	}
	EXPECT_EQ(0, perfTraceOff());
	EXPECT_EQ(0, perfTraceOn());
}

static void end_thread(void)
{
	pthread_exit(NULL);
}

static void *leave_call(void *unused)
{
	mock_rseq.cpu_id = 1;
	mock_interrupt = end_thread;
	mock_interrupt_once = true;
	perfTraceOn();
	return unused;
}

TEST_F(writers, allow_calls_after_a_thread_ended_within_a_call)
{
	pthread_t thread;

	ASSERT_EQ(0, perfTraceOff());
	ASSERT_EQ(0, pthread_create(&thread, NULL, leave_call, NULL));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, perfTraceOff());
	EXPECT_EQ(0, perfTraceOn());
}

static void on_signal(int number)
{
	(void)number;
	call();
	call();
}

static void raise_signal(void)
{
	raise(SIGUSR1);
}

static void *with_own_stack(void *alternate)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_sp = alternate, .ss_size = 1 << 18,
			  .ss_flags = (int)(1u << 31) };	/* SS_AUTODISARM */

	mock_rseq.cpu_id = 1;
	sigaction(SIGUSR1, &action, NULL);
	if (sigaltstack(&stack, NULL))
		return (void *)-1;
	call();
	mock_stores = 0;
	mock_interrupt = raise_signal;
	mock_interrupt_once = true;
	call();
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	return NULL;
}

/*
 * A handler is recognised even if its stack is above the thread's stack, where the frame of a
 * calling function would be.
 */
TEST_F(writers, recognise_a_handler_on_a_higher_stack)
{
	const size_t size = 1 << 20;
	char *memory = mmap(NULL, 3 * size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;
	void *result;

	ASSERT_NE(MAP_FAILED, memory);
	ASSERT_EQ(0, pthread_attr_init(&attributes));
	ASSERT_EQ(0, pthread_attr_setstack(&attributes, memory, size));
	ASSERT_EQ(0, pthread_create(&thread, &attributes, with_own_stack,
				    memory + 2 * size));
	ASSERT_EQ(0, pthread_join(thread, &result));
	ASSERT_EQ(NULL, result);
	EXPECT_EQ(3 * record_stores(), mock_stores);
	EXPECT_EQ(0, count_stores(8, SIFIVE_TRACE_RECORD_BREAK));
	EXPECT_EQ(0, perf_pool->lost->abandoned);
}

static void take_over(void)
{
	/* Simulate a wait after which the interrupted record is considered abandoned. */
	perf_self->waiting = PATIENCE;
	call();
}

/* If a record is wrongly considered abandoned, its writer detects this. */
TEST_F(writers, detect_that_their_record_was_abandoned)
{
	mock_interrupt = take_over;
	mock_interrupt_once = true;
	call();
	EXPECT_EQ(1, count_stores(8, SIFIVE_TRACE_RECORD_BREAK));
	EXPECT_EQ((uintptr_t)perf_self, perf_self->gate);
	mock_stores = 0;
	call();
	EXPECT_EQ(8, mock_log[0].bits);
	EXPECT_EQ(SIFIVE_TRACE_RECORD_BREAK, mock_log[0].value);
	EXPECT_EQ(1, count_headers());
}

static void close_by_another(void)
{
	/* An address outside all stacks of this program. */
	perf_self->gate = 4096;
}

/* Simulate a handler that has switched to another user thread, which is writing a record. */
TEST_F(writers, do_not_open_a_gate_closed_by_another_context)
{
	uint64_t abandoned = perf_pool->lost->abandoned;

	mock_interrupt = close_by_another;
	mock_interrupt_once = true;
	__cyg_profile_func_enter(function, site);
	EXPECT_EQ(4096, perf_self->gate);
	EXPECT_EQ(abandoned + 1, perf_pool->lost->abandoned);
	mock_stores = 0;
	__cyg_profile_func_exit(function, site);
	EXPECT_EQ(SIFIVE_TRACE_RECORD_BREAK, mock_log[0].value);
	EXPECT_EQ(1, count_headers());
	EXPECT_EQ((uintptr_t)perf_self, perf_self->gate);
}

/* ---- processes ---------------------------------------------------------- */

static pid_t child;

static void fork_in_record(void)
{
	child = fork();
}

/* The child of a handler's fork() returns to a record that no longer exists. */
TEST_F(writers, survive_fork_within_a_record)
{
	int i, status;

	for (i = 0; i < (int)record_stores(); i++) {
		mock_interrupt = fork_in_record;
		mock_interrupt_once = true;
		if (i % 2)
			mock_counter[0] += UINT64_C(1) << 40;
		call();
		ASSERT_NE(-1, child);
		if (!child) {
			call();
			_exit(perfInit(2, 1) || set_up(perfCount_Raw) ||
			      perfTraceOn());
		}
		ASSERT_EQ(child, waitpid(child, &status, 0));
		EXPECT_EQ(0, status);
	}
}

/* A child of clone() has run no fork handler. */
TEST_F(writers, are_off_in_a_child_of_clone)
{
	int status;
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	ASSERT_NE(-1, pid);
	if (!pid) {
		bool good = perfTraceOff() == -1 && dev.stops == 0;

		good &= !!strstr(perfErrorString(), "call perfInit() first");
		good &= !pages;
		_exit(good && !perfInit(2, 1) && !set_up(perfCount_Raw) ? 0 : 1);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* ---- threads that are not scheduled ----------------------------------------- */

static void wait_in_record(void)
{
	pthread_barrier_wait(&steps);
	pthread_barrier_wait(&steps);
}

static void *stopped(void *unused)
{
	mock_rseq.cpu_id = 1;
	call();
	mock_interrupt = wait_in_record;
	mock_interrupt_once = true;
	call();
	call();
	return unused;
}

/* The thread's record is abandoned once, and the next record marks this. */
TEST_F(writers, of_a_stopped_thread_are_abandoned_once)
{
	pthread_t thread;

	pthread_barrier_init(&steps, NULL, 2);
	ASSERT_EQ(0, pthread_create(&thread, NULL, stopped, NULL));
	pthread_barrier_wait(&steps);
	EXPECT_EQ(0, perfTraceOff());
	EXPECT_EQ(1, perf_pool->lost->abandoned);
	EXPECT_EQ(0, perfTraceOn());
	/* After this call, no call waits for the thread. */
	EXPECT_LT(0, mock_naps);
	mock_naps = 0;
	EXPECT_EQ(0, perfTraceOff());
	EXPECT_EQ(0, mock_naps);
	EXPECT_EQ(1, perf_pool->lost->abandoned);
	EXPECT_EQ(0, perfTraceOn());
	mock_stores = 0;
	pthread_barrier_wait(&steps);
	pthread_join(thread, NULL);
	EXPECT_EQ(1, count_stores(8, SIFIVE_TRACE_RECORD_BREAK));
	EXPECT_EQ(1, count_headers());
}

TEST_HARNESS_MAIN
