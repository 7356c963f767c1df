// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Proves that function entry and exit are recorded when they shall be and never
 * else: not before tracing is on, not from other threads, not into a record that
 * is being written, not in a child process; and that what is not recorded is
 * counted.
 */
#include "kselftest_harness.h"

#include <sys/wait.h>

#include "lib_mock.h"

static char function[4] __attribute__((aligned(4)));
static char site[4] __attribute__((aligned(4)));

/* Stores of one record with two addresses and no counters. */
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
	perf_session_end(&process_session);
	EXPECT_NOTHING_HELD();
	EXPECT_EQ(0, dev.lost_stores);
}

/* The string that perfWriteTrace() leaves. */
static const char *losses(void)
{
	char null[] = "/dev/null";

	return perfWriteTrace(null) ? "failed" : perfErrorString();
}

TEST_F(hooks, enter_exit)
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

/* Explicit records fit in between. */
TEST_F(hooks, manual_between)
{
	ASSERT_EQ(0, perfTraceOn());
	mock_stores = 0;
	EXPECT_EQ(0, perfWriteCntrs());
	EXPECT_EQ(2, mock_log[0].value);
}

/* perfManualInit() records no entries, however the program was compiled. */
TEST_F(hooks, manual_only)
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

/* A signal handler's records do not land inside another one. */
TEST_F(hooks, reentrant)
{
	char expected[128];

	ASSERT_EQ(0, perfTraceOn());
	mock_stores = 0;
	mock_interrupt = interrupt_hooks;
	__cyg_profile_func_enter(function, site);
	mock_interrupt = NULL;
	EXPECT_EQ(record_stores(), mock_stores);
	EXPECT_EQ(0, process_session.stream->busy);
	EXPECT_EQ(2 * record_stores(), process_session.stream->dropped);

	__cyg_profile_func_exit(function, site);
	EXPECT_EQ(2 * record_stores(), mock_stores);
	sprintf(expected, "records not written: 0 of other threads, %u of signal handlers that interrupted a record",
		2 * record_stores());
	EXPECT_STREQ(expected, losses());
	EXPECT_STREQ("", losses());
}

static int interrupt_results[5];
static bool interrupted;

static void interrupt_calls(void)
{
	char null[] = "/dev/null";

	if (interrupted)
		return;
	interrupted = true;
	interrupt_results[0] = perfWriteCntrs();
	interrupt_results[1] = perfWriteTrace(null);
	interrupt_results[2] = perfTraceOff();
	interrupt_results[3] = perfTraceOn();
	interrupt_results[4] = perfInit(2, 1);
}

/* A handler may turn off; all else would go into the record. */
TEST_F(hooks, calls_in_record)
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
	EXPECT_EQ(0, process_session.stream->busy);
	mock_interrupt = NULL;
	dev.lost_stores = 0;
	EXPECT_EQ(0, perfTraceOn());
}

static void *other_thread(void *error)
{
	char null[] = "/dev/null";

	__cyg_profile_func_enter(function, site);
	__cyg_profile_func_exit(function, site);
	if (perfWriteCntrs() != -1 || perfTraceOn() != -1 ||
	    perfTraceOff() != -1 || perfWriteTrace(null) != -1 ||
	    perfInit(2, 1) != -1 ||
	    perfManualInit(NULL, 0, 6, perfCount_Raw, 0) != -1)
		return NULL;
	strcpy(error, perfErrorString());
	return error;
}

TEST_F(hooks, threads)
{
	pthread_t thread;
	char error[512];
	void *result;

	ASSERT_EQ(0, pthread_create(&thread, NULL, other_thread, error));
	ASSERT_EQ(0, pthread_join(thread, &result));
	EXPECT_TRUE(result == error);
	EXPECT_NE(NULL, strstr(error, "belongs to another thread"));
	EXPECT_STREQ("", losses());

	ASSERT_EQ(0, perfTraceOn());
	mock_stores = 0;
	ASSERT_EQ(0, pthread_create(&thread, NULL, other_thread, error));
	ASSERT_EQ(0, pthread_join(thread, &result));
	EXPECT_TRUE(result == error);
	EXPECT_EQ(0, mock_stores);
	EXPECT_EQ(PERF_SESSION_ON, process_session.state);
	EXPECT_STREQ("", perfErrorString());
	EXPECT_NE(NULL, strstr(losses(), "3 of other threads, 0 of signal handlers"));
	EXPECT_STREQ("", losses());
}

/* Registered before the library's own handler: runs first in the child. */
static void program_handler(void)
{
	__cyg_profile_func_enter(function, site);
	__cyg_profile_func_exit(function, site);
}

TEST_F(hooks, fork)
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
		good &= dev.fds == 0 && dev.pages == 0;
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

TEST(fork_handler_order)
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
