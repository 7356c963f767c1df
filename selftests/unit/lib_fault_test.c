// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that a SIGILL raised by the program reaches each of its handlers once, regardless of when
 * they were installed and whether they chain or jump away.
 */
#include "kselftest_harness.h"

#include <setjmp.h>

#include "lib_mock.h"

static unsigned int first_calls, second_calls;
static struct sigaction previous;
static sigjmp_buf jump;
static bool jumps;

static void first_handler(int number)
{
	first_calls++;
}

/* Pass the signal on to the handler that this handler has replaced. */
static void second_handler(int number, siginfo_t *info, void *context)
{
	second_calls++;
	previous.sa_sigaction(number, info, context);
	if (jumps)
		siglongjmp(jump, 1);
}

FIXTURE(fault)
{
};

FIXTURE_SETUP(fault)
{
	perfEvent cycles = { .code = HW_CPU_CYCLES };

	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	mock_device_reset();
	signal(SIGILL, first_handler);
	ASSERT_EQ(0, perfInit(2, 1));
	ASSERT_EQ(0, perfManualInit(&cycles, 1, 6, perfCount_Raw, 4096));
	ASSERT_EQ(0, perfTraceOn());
}

FIXTURE_TEARDOWN(fault)
{
	perfTraceOff();
	perf_session_end();
}

static void trap(void)
{
	if (!sigsetjmp(jump, 1))
		raise(SIGILL);
}

/* Raise the signal deeper in the stack than a direct call to trap() does. */
static void __attribute__((noinline)) trap_deeper(void)
{
	volatile char deeper[4096];

	deeper[0] = 0;
	trap();
	deeper[1] = deeper[0];
}

static void each_once(struct __test_metadata *_metadata, unsigned int second)
{
	unsigned int i;

	for (i = 1; i <= 6; i++) {
		first_calls = 0;
		second_calls = 0;
		if (i & 1)
			trap();
		else
			trap_deeper();
		EXPECT_EQ(1, first_calls);
		EXPECT_EQ(second, second_calls);
	}
}

#define EACH_ONCE(second)	each_once(_metadata, second)

TEST_F(fault, goes_to_the_programs_handler)
{
	EACH_ONCE(0);
	ASSERT_EQ(0, perfTraceOff());
	EACH_ONCE(0);
	ASSERT_EQ(0, perfTraceOn());
	EACH_ONCE(0);
}

static void with_second_handler(struct __test_metadata *_metadata)
{
	const struct sigaction action = {
		.sa_sigaction = second_handler, .sa_flags = SA_SIGINFO,
	};
	char null[] = "/dev/null";

	ASSERT_EQ(0, sigaction(SIGILL, &action, &previous));
	EACH_ONCE(1);
	/* These calls install the library's handler again, so that it runs first. */
	ASSERT_EQ(0, perfWriteTrace(null));
	EACH_ONCE(1);
	ASSERT_EQ(0, perfTraceOff());
	EACH_ONCE(1);
	ASSERT_EQ(0, perfTraceOn());
	EACH_ONCE(1);
}

TEST_F(fault, goes_through_a_later_handler_that_chains_to_the_library)
{
	with_second_handler(_metadata);
}

TEST_F(fault, goes_through_a_later_handler_that_jumps_away)
{
	jumps = true;
	with_second_handler(_metadata);
}

TEST_HARNESS_MAIN
