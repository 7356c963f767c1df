// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that function entries and exits are recorded, except before tracing is on, within another
 * record, and in a child process; that each thread uses a separate channel and, on each CPU, the
 * encoder of that CPU; and that calls that are not recorded are counted.
 */
#include "kselftest_harness.h"

#include <alloca.h>
#include <setjmp.h>
#include <sys/wait.h>

#include "sifive_trace.h"

#include "lib_mock.h"

static char function[4] __attribute__((aligned(4)));
static char site[4] __attribute__((aligned(4)));

/* Return the number of stores for a record with two addresses and no counters. */
static unsigned int record_stores(void)
{
	return 1 + 2 * ((uintptr_t)function >> 32 ? 2 : 1);
}

FIXTURE(hooks)
{
};

FIXTURE_SETUP(hooks)
{
	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	mock_device_reset();
	__cyg_profile_func_enter(function, site);
	ASSERT_EQ(0, perfInit(2, 1));
	__cyg_profile_func_enter(function, site);
	ASSERT_EQ(0, perfFuncEntryExitInit(NULL, 0, 6, perfCount_Raw, 4096));
	__cyg_profile_func_enter(function, site);
	__cyg_profile_func_exit(function, site);
	ASSERT_EQ(0, mock_stores);
}

FIXTURE_TEARDOWN(hooks)
{
	perfTraceOff();
	perf_session_end();
	EXPECT_NOTHING_HELD();
	EXPECT_EQ(0, dev.lost_stores);
}

/* Return the string returned by perfWriteTrace(). */
static const char *losses(void)
{
	char null[] = "/dev/null";

	return perfWriteTrace(null) ? "failed" : perfErrorString();
}

TEST_F(hooks, write_enter_and_exit_records)
{
	uint64_t address;

	ASSERT_EQ(0, perfTraceOn());
	mock_stores = 0;
	__cyg_profile_func_enter(function, site);
	EXPECT_EQ(record_stores(), mock_stores);
	EXPECT_EQ(8, mock_log[0].bits);
	EXPECT_EQ(0, mock_log[0].value);
	address = mock_log[1].value & ~1u;
	if (mock_log[1].value & 1)
		address |= (uint64_t)mock_log[2].value << 32;
	EXPECT_EQ((uintptr_t)function, address);

	mock_stores = 0;
	__cyg_profile_func_exit(function, site);
	EXPECT_EQ(record_stores(), mock_stores);
	EXPECT_EQ(1, mock_log[0].value);

	EXPECT_EQ(0, perfTraceOff());
	mock_stores = 0;
	__cyg_profile_func_enter(function, site);
	__cyg_profile_func_exit(function, site);
	EXPECT_EQ(0, mock_stores);
	EXPECT_STREQ("", losses());
}

/* If the encoder cannot stall the hart, each store first waits for room. */
TEST_F(hooks, poll_if_the_encoder_cannot_stall)
{
	dev.encoder[0].flags &= ~SIFIVE_TRACE_ENCODER_CAN_STALL;
	ASSERT_EQ(0, perfFuncEntryExitInit(NULL, 0, 6, perfCount_Raw, 4096));
	ASSERT_EQ(0, perfTraceOn());
	mock_polls = 0;
	mock_stores = 0;
	__cyg_profile_func_enter(function, site);
	EXPECT_EQ(record_stores(), mock_stores);
	EXPECT_EQ(record_stores(), mock_polls);
}

/* Records wait if and only if the options request it. */
TEST_F(hooks, poll_on_request)
{
	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;
	struct sifive_trace *trace;

	ASSERT_EQ(0, perfTraceOn());
	__cyg_profile_func_enter(function, site);
	EXPECT_EQ(0, mock_polls);
	ASSERT_EQ(0, perfTraceOff());
	perf_session_end();

	trace = sifive_trace_open();
	ASSERT_NE(NULL, trace);
	options.events = "cycles,instructions";
	options.flags = SIFIVE_TRACE_POLL;
	ASSERT_EQ(0, sifive_trace_setup(trace, &options));
	EXPECT_EQ(0, dev.config.flags);
	ASSERT_EQ(0, sifive_trace_on(trace));
	mock_polls = 0;
	__cyg_profile_func_enter(function, site);
	__cyg_profile_func_exit(function, site);
	EXPECT_EQ(2, mock_polls);
	EXPECT_EQ(0, sifive_trace_write(trace));
	EXPECT_EQ(3, mock_polls);
	EXPECT_EQ(0, sifive_trace_off(trace));
	sifive_trace_close(trace);
}

/* Explicit records can be written between the hooks' records. */
TEST_F(hooks, allow_explicit_records_in_between)
{
	ASSERT_EQ(0, perfTraceOn());
	mock_stores = 0;
	EXPECT_EQ(0, perfWriteCntrs());
	EXPECT_EQ(2, mock_log[0].value);
}

/* perfManualInit() does not record entries, however the program was compiled. */
TEST_F(hooks, are_off_after_perf_manual_init)
{
	ASSERT_EQ(0, perfManualInit(NULL, 0, 6, perfCount_Raw, 4096));
	ASSERT_EQ(0, perfTraceOn());
	mock_stores = 0;
	__cyg_profile_func_enter(function, site);
	__cyg_profile_func_exit(function, site);
	EXPECT_EQ(0, mock_stores);
	EXPECT_EQ(0, perfWriteCntrs());
	EXPECT_NE(0, mock_stores);
	EXPECT_STREQ("", losses());
}

static void interrupt_hooks(void)
{
	__cyg_profile_func_enter(function, site);
	__cyg_profile_func_exit(function, site);
}

/* Return whether the @count records whose stores begin at @from have these kinds. */
static bool has_kinds(size_t from, const char *kinds)
{
	for (; *kinds; kinds++, from += record_stores())
		if (mock_log[from].bits != 8 ||
		    mock_log[from].value != (uint32_t)(*kinds - '0'))
			return false;
	return from == mock_stores;
}

/* A signal handler's records follow the record that the handler interrupts. */
TEST_F(hooks, queue_records_of_a_signal_handler)
{
	size_t length = record_stores();

	ASSERT_EQ(0, perfTraceOn());
	mock_stores = 0;
	mock_interrupt = interrupt_hooks;
	mock_interrupt_once = true;
	__cyg_profile_func_enter(function, site);
	mock_interrupt = NULL;
	EXPECT_EQ(3 * length, mock_stores);
	EXPECT_TRUE(has_kinds(0, "001"));
	EXPECT_EQ((uintptr_t)perf_self, perf_self->gate);

	__cyg_profile_func_exit(function, site);
	EXPECT_TRUE(has_kinds(0, "0011"));
	EXPECT_STREQ("", losses());
}

static void interrupt_many(void)
{
	int i;

	for (i = 0; i < PERF_QUEUE + 5; i++)
		__cyg_profile_func_exit(function, site);
}

/* Records that do not fit into the queue for handlers are counted. */
TEST_F(hooks, count_records_that_overflow_the_queue)
{
	ASSERT_EQ(0, perfTraceOn());
	mock_stores = 0;
	mock_interrupt = interrupt_many;
	mock_interrupt_once = true;
	__cyg_profile_func_enter(function, site);
	EXPECT_EQ((1 + PERF_QUEUE) * record_stores(), mock_stores);
	EXPECT_NE(NULL, strstr(losses(), "0 of threads without a channel or CPUs without an encoder, 5 of signal handlers"));
}

static uint64_t lost_in_handler;

static void interrupt_and_look(void)
{
	interrupt_hooks();
	lost_in_handler = perf_losses()->signals + perf_losses()->queued;
}

/* The handler can end the process, so waiting records count as lost until they are written. */
TEST_F(hooks, count_queued_records_as_lost_until_written)
{
	ASSERT_EQ(0, perfTraceOn());
	mock_interrupt = interrupt_and_look;
	mock_interrupt_once = true;
	__cyg_profile_func_enter(function, site);
	EXPECT_EQ(2, lost_in_handler);
	EXPECT_EQ(0, perf_losses()->signals + perf_losses()->queued);
}

static jmp_buf jump;

static void interrupt_jump(void)
{
	longjmp(jump, 1);
}

static void __attribute__((noinline)) jump_out(void)
{
	/* Abandon a record by leaving its frame without returning. */
	volatile char *deeper = alloca(2000);

	*deeper = 0;
	mock_interrupt = interrupt_jump;
	mock_interrupt_once = true;
	__cyg_profile_func_enter(function, site);
}

/* A restart mark and a header follow an unfinished record. */
TEST_F(hooks, mark_an_abandoned_record)
{
	size_t begin;

	ASSERT_EQ(0, perfTraceOn());
	mock_stores = 0;
	__cyg_profile_func_enter(function, site);
	begin = mock_stores;
	if (!setjmp(jump))
		jump_out();
	EXPECT_EQ(begin, mock_stores);
	__cyg_profile_func_exit(function, site);
	EXPECT_EQ(8, mock_log[begin].bits);
	EXPECT_EQ(SIFIVE_TRACE_RECORD_BREAK, mock_log[begin].value);
	EXPECT_EQ(0x70657266, mock_log[begin + 1].value);
	EXPECT_EQ(begin + 4 + record_stores(), mock_stores);
	EXPECT_NE(NULL, strstr(losses(), "1 unfinished"));
}

/* After a migration, a thread writes to another encoder, and first writes a header there. */
TEST_F(hooks, write_a_header_after_migration)
{
	dev.cpus = 3;
	ASSERT_EQ(0, perfFuncEntryExitInit(NULL, 0, 6, perfCount_Raw, 4096));
	ASSERT_EQ(0, perfTraceOn());
	__cyg_profile_func_enter(function, site);
	EXPECT_EQ(0, dev.last_page);
	mock_stores = 0;
	mock_rseq.cpu_id = 0;
	__cyg_profile_func_enter(function, site);
	EXPECT_EQ(1, dev.last_page);
	EXPECT_EQ(3 + record_stores(), mock_stores);
	EXPECT_EQ(0x70657266, mock_log[0].value);
	mock_stores = 0;
	mock_rseq.cpu_id = 1;
	__cyg_profile_func_enter(function, site);
	EXPECT_EQ(0, dev.last_page);
	EXPECT_TRUE(has_kinds(0, "0"));

	/* A CPU without an encoder cannot record. */
	mock_rseq.cpu_id = 7;
	__cyg_profile_func_enter(function, site);
	__cyg_profile_func_exit(function, site);
	EXPECT_TRUE(has_kinds(0, "0"));
	mock_rseq.cpu_id = 1;
	__cyg_profile_func_exit(function, site);
	EXPECT_TRUE(has_kinds(0, "01"));
	EXPECT_NE(NULL, strstr(losses(), "2 of threads without"));
}

static int interrupt_results[5];
static bool interrupted;

static void interrupt_calls(void)
{
	char null[] = "/dev/null";

	if (interrupted)
		return;
	interrupted = true;
	interrupt_results[0] = perfWriteCntrs() ? 1 : -1;
	interrupt_results[1] = perfWriteTrace(null);
	interrupt_results[2] = perfTraceOff();
	interrupt_results[3] = perfTraceOn();
	interrupt_results[4] = perfInit(2, 1);
}

/* If a handler turns tracing off, the rest of the record must not be written. */
TEST_F(hooks, refuse_library_calls_within_a_record)
{
	ASSERT_EQ(0, perfTraceOn());
	mock_interrupt = interrupt_calls;
	__cyg_profile_func_enter(function, site);
	EXPECT_EQ(-1, interrupt_results[0]);
	EXPECT_EQ(-1, interrupt_results[1]);
	EXPECT_EQ(0, interrupt_results[2]);
	EXPECT_EQ(-1, interrupt_results[3]);
	EXPECT_EQ(-1, interrupt_results[4]);
	EXPECT_EQ(1, dev.fds);
	EXPECT_EQ((uintptr_t)perf_self, perf_self->gate);
	mock_interrupt = NULL;
	dev.lost_stores = 0;
	EXPECT_EQ(0, perfTraceOn());
}

static unsigned int thread_channel;

static void *other_thread(void *unused)
{
	mock_rseq.cpu_id = 1;
	__cyg_profile_func_enter(function, site);
	thread_channel = dev.last_channel;
	return unused;
}

static void run_thread(struct __test_metadata *_metadata)
{
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, other_thread, NULL));
	ASSERT_EQ(0, pthread_join(thread, NULL));
}

/* Each running thread has a separate channel, which begins with a header. */
TEST_F(hooks, reuse_the_channel_of_an_ended_thread)
{
	int i;

	ASSERT_EQ(0, perfTraceOn());
	__cyg_profile_func_enter(function, site);
	EXPECT_EQ(6, dev.last_channel);
	for (i = 0; i < 100; i++) {
		mock_stores = 0;
		run_thread(_metadata);
		EXPECT_EQ(7, thread_channel);
		EXPECT_EQ(3 + record_stores(), mock_stores);
		EXPECT_EQ(0x70657266, mock_log[0].value);
	}
	__cyg_profile_func_exit(function, site);
	EXPECT_EQ(6, dev.last_channel);
	EXPECT_STREQ("", losses());
}

static pthread_barrier_t barrier;

static void *waiting_thread(void *unused)
{
	static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;

	mock_rseq.cpu_id = 1;
	/* The log is not thread-safe. */
	pthread_mutex_lock(&one);
	__cyg_profile_func_enter(function, site);
	pthread_mutex_unlock(&one);
	pthread_barrier_wait(&barrier);
	return unused;
}

/*
 * If no channel is free, a thread takes another thread's channel; headers on that channel then name
 * the thread.
 */
TEST_F(hooks, share_channels_among_excess_threads)
{
	pthread_t thread[40];
	int i;

	ASSERT_EQ(0, perfTraceOn());
	mock_stores = 0;
	pthread_barrier_init(&barrier, NULL, 41);
	for (i = 0; i < 40; i++)
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, waiting_thread, NULL));
	pthread_barrier_wait(&barrier);
	for (i = 0; i < 40; i++)
		ASSERT_EQ(0, pthread_join(thread[i], NULL));
	/* The headers of the 32nd to 40th thread have one more word. */
	EXPECT_EQ(40 * (3 + record_stores()) + 9, mock_stores);
	/* The thread that started the other threads was the first to lose its channel. */
	mock_stores = 0;
	__cyg_profile_func_enter(function, site);
	EXPECT_EQ(4 + record_stores(), mock_stores);
	EXPECT_EQ(0x70657266, mock_log[0].value);
	EXPECT_EQ(0xc, mock_log[1].value);
	EXPECT_EQ((uint32_t)gettid(), mock_log[2].value);
	EXPECT_STREQ("", losses());
}

/* Registered before the library's own fork handler, so it runs first in the child. */
static void program_handler(void)
{
	__cyg_profile_func_enter(function, site);
	__cyg_profile_func_exit(function, site);
}

TEST_F(hooks, are_off_in_a_forked_child)
{
	pid_t child;
	int status;

	ASSERT_EQ(0, perfTraceOn());
	mock_stores = 0;

	child = fork();
	ASSERT_NE(-1, child);
	if (!child) {
		bool good = mock_stores == 0;

		__cyg_profile_func_enter(function, site);
		__cyg_profile_func_exit(function, site);
		good &= mock_stores == 0;
		good &= dev.fds == 0;
		good &= perfWriteCntrs() == -1 && perfTraceOff() == -1;
		good &= dev.stops == 0;
		good &= !!strstr(perfErrorString(), "call perfInit() first");
		good &= perfInit(2, 1) == 0;
		_exit(good ? 0 : 1);
	}

	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	__cyg_profile_func_enter(function, site);
	EXPECT_EQ(record_stores(), mock_stores);
}

/* Number of stores after which a handler interrupts the record and forks, or -1 after the fork. */
static int until_fork;
static pid_t forked;

static void fork_in_record(void)
{
	if (until_fork < 0 || until_fork--)
		return;
	forked = fork();
	if (forked)
		return;
	mock_is_memory = true;
	/* End the child if it waits forever. */
	alarm(600);
}

/* The child does not wait for room, whichever word was stored last. */
TEST_F(hooks, do_not_wait_in_a_child_forked_within_a_record)
{
	unsigned int stores;
	int status, at;

	dev.encoder[0].flags &= ~SIFIVE_TRACE_ENCODER_CAN_STALL;
	ASSERT_EQ(0, perfFuncEntryExitInit(NULL, 0, 6, perfCount_Raw, 4096));
	ASSERT_EQ(0, perfTraceOn());
	stores = record_stores();
	for (at = 0; at < (int)stores; at++) {
		until_fork = at;
		forked = -1;
		mock_interrupt = fork_in_record;
		mock_stores = 0;
		__cyg_profile_func_enter(function, site);
		mock_interrupt = NULL;
		if (!forked)
			_exit(mock_stores == stores ? 0 : 1);
		ASSERT_EQ(forked, waitpid(forked, &status, 0));
		EXPECT_EQ(0, status);
		EXPECT_EQ(stores, mock_stores);
	}
}

TEST(forked_child_records_nothing_in_the_programs_handler)
{
	pid_t child;
	int status;

	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	mock_device_reset();
	ASSERT_EQ(0, pthread_atfork(NULL, NULL, program_handler));
	ASSERT_EQ(0, perfInit(2, 1));
	ASSERT_EQ(0, perfFuncEntryExitInit(NULL, 0, 6, perfCount_Raw, 4096));
	ASSERT_EQ(0, perfTraceOn());
	mock_stores = 0;

	child = fork();
	ASSERT_NE(-1, child);
	if (!child)
		_exit(mock_stores == 0 ? 0 : 1);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_HARNESS_MAIN
