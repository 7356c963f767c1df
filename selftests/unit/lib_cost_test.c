// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that generated writers execute a limited number of instructions. The limits cover every
 * number of counters, consecutive and other counters, counts wider than 32 bits, and per-thread
 * counts.
 */
#include "kselftest_harness.h"

#include "sifive_trace.h"

#include "lib_mock.h"

/* Number of the hook's instructions: load the writer, load the kind, jump. */
#define HOOK		4

/*
 * Number of instructions for the compiler's call, and for saving registers in a non-leaf function.
 */
#define CALL		8

/* Upper limit of the cost of an entry record with @n counters, including the call and the hook. */
#define BOUND(n)	(42 + 7 * (n))
#define BOUND_OTHERS(n)	(42 + 10 * (n))
#define OWN		15

/* An address above 4 GiB, and an address below 4 GiB, as in a program that is not relocated. */
#define HIGH		UINT64_C(0x5555555560)
#define LOW		UINT64_C(0x10560)

static struct sifive_trace *trace;

FIXTURE(cost)
{
};

FIXTURE_SETUP(cost)
{
	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	mock_device_reset();
	trace = sifive_trace_open();
	ASSERT_NE(NULL, trace);
}

FIXTURE_TEARDOWN(cost)
{
	sifive_trace_close(trace);
}

static int set_up(unsigned int count, unsigned int first, unsigned int type,
		  unsigned int flags)
{
	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;
	char events[256] = "";
	unsigned int i;

	for (i = 0; i < count; i++) {
		unsigned int number = first + i + (!first && i);

		snprintf(events + strlen(events), sizeof(events) - strlen(events),
			 "%sr%u", i ? "," : "", i + 1);
		dev.event[i] = (struct sifive_trace_event) {
			.counter = number, .info = mock_info(number, 64),
		};
	}
	dev.event_set = (uint32_t)((UINT64_C(1) << count) - 1);
	options.events = events;
	options.count_type = type;
	options.flags = flags;
	memset(mock_counter, 0, sizeof(mock_counter));
	return sifive_trace_setup(trace, &options) || sifive_trace_on(trace) ? -1 : 0;
}

static void count(uint64_t more)
{
	unsigned int i;

	for (i = 0; i < 32; i++)
		mock_counter[i] += more;
}

/* Return the cost of the second record, including the compiler's call. */
static unsigned int entry(uint64_t address)
{
	perf_hook_enter((void *)address, (void *)(address + 0x20));
	count(100);
	perf_hook_enter((void *)address, (void *)(address + 0x20));
	return machine_ended ? machine_instructions + HOOK + CALL : ~0u;
}

#define SET_UP(...)							\
	ASSERT_EQ(0, set_up(__VA_ARGS__)) {				\
		TH_LOG("%s", sifive_trace_error());			\
	}

static void consecutive_counters(struct __test_metadata *_metadata, unsigned int type)
{
	unsigned int n;

	for (n = 2; n <= 29; n++) {
		SET_UP(n, 0, type, SIFIVE_TRACE_PER_CPU);
		EXPECT_GE(BOUND(n), entry(HIGH));
		TH_LOG("%u counters: %u instructions", n, entry(HIGH));
		EXPECT_GE(BOUND(n), entry(LOW));
		sifive_trace_off(trace);
	}
}

TEST_F(cost, of_delta_with_consecutive_counters_is_bounded)
{
	consecutive_counters(_metadata, SIFIVE_TRACE_DELTA);
}

TEST_F(cost, of_xor_with_consecutive_counters_is_bounded)
{
	consecutive_counters(_metadata, SIFIVE_TRACE_XOR);
}

TEST_F(cost, of_delta_with_other_counters_is_bounded)
{
	unsigned int n;

	for (n = 1; n <= 28; n++) {
		SET_UP(n, 4, SIFIVE_TRACE_DELTA, SIFIVE_TRACE_PER_CPU);
		EXPECT_GE(BOUND_OTHERS(n), entry(HIGH));
		sifive_trace_off(trace);
	}
}

TEST_F(cost, of_raw_counts_is_bounded)
{
	unsigned int n;

	for (n = 1; n <= 29; n++) {
		SET_UP(n, 0, SIFIVE_TRACE_RAW, SIFIVE_TRACE_PER_CPU);
		EXPECT_GE(BOUND(n), entry(HIGH));
		count(UINT64_C(5) << 32);
		EXPECT_GE(BOUND(n), entry(HIGH));
		TH_LOG("%u counters: %u instructions", n, entry(HIGH));
		sifive_trace_off(trace);
	}
}

TEST_F(cost, of_per_thread_counts_is_bounded)
{
	unsigned int n;

	for (n = 2; n <= 29; n++) {
		SET_UP(n, 0, SIFIVE_TRACE_DELTA, 0);
		EXPECT_GE(BOUND(n) + OWN, entry(HIGH));
		TH_LOG("%u counters: %u instructions", n, entry(HIGH));
		sifive_trace_off(trace);
	}
}

/* Use the largest number of counters for which the code fits into a page. */
TEST_F(cost, of_code_size_is_bounded)
{
	static const unsigned int types[] = {
		SIFIVE_TRACE_RAW, SIFIVE_TRACE_DELTA, SIFIVE_TRACE_XOR,
	};
	unsigned int i;

	for (i = 0; i < 6; i++) {
		const uint32_t *end;

		SET_UP(31, 0, types[i / 2], i % 2 ? 0 : SIFIVE_TRACE_PER_CPU);
		end = (const uint32_t *)machine_code->section[0].restart + 1;
		EXPECT_GE(CODE_SIZE, (const char *)end - (const char *)machine_code);
		TH_LOG("%zd bytes", (const char *)end - (const char *)machine_code);
		sifive_trace_off(trace);
	}
}

TEST_HARNESS_MAIN
