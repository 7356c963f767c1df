// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that, with a depth limit in the filter, exactly the outermost calls of each thread in
 * instrumented code are recorded. The code has recursion, inlined functions, exit hooks that are
 * tail calls, growing frames, and signal handlers on any stack. Calls that a jump has left
 * must not count.
 */
#include "kselftest_harness.h"

#include <alloca.h>
#include <setjmp.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "sifive_trace.h"

#include "depth_calls.h"
#include "filter_fixture.h"

FIXTURE(depth)
{
	struct filtered f;
};

FIXTURE_SETUP(depth)
{
	ASSERT_TRUE(filtered_open(&self->f));
}

FIXTURE_TEARDOWN(depth)
{
	filtered_close(&self->f);
}

static uintptr_t address_of(char letter)
{
	return (uintptr_t)depth_function(letter);
}

/*
 * Turn tracing on with a filter. @limit: depth limit, or 0 for no filter. @lines: letters of
 * functions, after > or < if parts begin or end there.
 */
static int start(FIXTURE_DATA(depth) *self, unsigned int limit, const char *lines)
{
	FILE *file = fopen(self->f.path, "w");

	if (limit)
		fprintf(file, " ^ %u \n", limit);
	filtered_lines(file, lines, address_of, 1);
	fclose(file);
	/* An earlier start may have left tracing on. */
	sifive_trace_off(self->f.trace);
	return filtered_start(&self->f, limit ? self->f.path : NULL);
}

static uintptr_t get_address(size_t *at)
{
	uintptr_t address = mock_log[*at].value & ~1u;

	if (mock_log[(*at)++].value & 1)
		address |= (uint64_t)mock_log[(*at)++].value << 32;
	return address;
}

/* Return the records without headers, as text: w( and w) are the entry and exit of walk(). */
static const char *records(void)
{
	static char text[1024];
	char *to = text;
	size_t at = 0;

	while (at < mock_stores && to < text + sizeof(text) - 3) {
		const bool enter = !mock_log[at].value;

		if (mock_log[at].bits == 32) {
			if (mock_log[at].value != SIFIVE_TRACE_RECORD_MAGIC)
				return "no header";
			at += mock_log[at + 1].value & 4 ? 4 : 3;
			continue;
		}
		at++;
		*to = depth_letter((void *)get_address(&at));
		get_address(&at);
		to[1] = enter ? '(' : ')';
		to += 2;
	}
	*to = '\0';
	mock_stores = 0;
	return text;
}

/* Return the records in @all up to depth @limit. All calls in @all must have returned. */
static const char *outermost(const char *all, unsigned int limit)
{
	static char text[1024];
	unsigned int depth = 0;
	char *to = text;

	for (; *all; all += 2) {
		depth += all[1] == '(';
		if (depth <= limit) {
			to[0] = all[0];
			to[1] = all[1];
			to += 2;
		}
		depth -= all[1] == ')';
	}
	*to = '\0';
	return text;
}

/*
 * Compare the records of @run with and without limits; return the number of records without a
 * limit.
 */
static size_t compare(struct __test_metadata *_metadata, FIXTURE_DATA(depth) *self,
		      void (*run)(void))
{
	unsigned int limit, round;
	char all[1024];

	EXPECT_EQ(0, start(self, 0, ""));
	run();
	strcpy(all, records());
	for (limit = 1; limit < 8; limit++) {
		EXPECT_EQ(0, start(self, limit, ""));
		for (round = 0; round < 2; round++) {
			run();
			EXPECT_STREQ(outermost(all, limit), records()) {
				TH_LOG("limit %u, round %u, of %s", limit, round, all);
			}
		}
	}
	return strlen(all) / 2;
}

static void run_walk(void)
{
	walk(3);
}

static void run_add(void)
{
	add(3);
	add(1);
}

static void run_grow(void)
{
	grow(3);
}

TEST_F(depth, limits_nested_calls)
{
	EXPECT_EQ(24, compare(_metadata, self, run_walk));
	EXPECT_EQ(24, compare(_metadata, self, run_add));
	EXPECT_EQ(24, compare(_metadata, self, run_grow));
	EXPECT_EQ(16, compare(_metadata, self, outer));
}

static void in_walk(void)
{
	walk(1);
}

static void handle(int number)
{
	walk(1);
}

static void raise_signal(void)
{
	raise(SIGUSR1);
}

static void run_interrupted(void)
{
	interrupted(raise_signal);
}

TEST_F(depth, limits_calls_of_a_signal_handler)
{
	struct sigaction action = { .sa_handler = handle };

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	EXPECT_EQ(18, compare(_metadata, self, run_interrupted));
}

static char below[64 << 10] __attribute__((aligned(16)));
static char above[64 << 10] __attribute__((aligned(16)));
static ucontext_t here, there;
static char *stack_of_calls;

static void run_on_stack(void)
{
	getcontext(&there);
	there.uc_stack.ss_sp = stack_of_calls;
	there.uc_stack.ss_size = sizeof(below);
	there.uc_link = &here;
	makecontext(&there, run_interrupted, 0);
	swapcontext(&here, &there);
}

TEST_F(depth, limits_calls_of_a_handler_on_another_stack)
{
	struct sigaction action = { .sa_handler = handle, .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_size = sizeof(above) };
	unsigned int i;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	for (i = 0; i < 2; i++) {
		stack.ss_sp = i ? below : above;
		stack_of_calls = i ? above : below;
		ASSERT_EQ(0, sigaltstack(&stack, NULL));
		EXPECT_EQ(18, compare(_metadata, self, run_on_stack));
	}
}

/* A handler interrupts the record of a call. */
TEST_F(depth, limits_calls_of_a_handler_within_a_record)
{
	ASSERT_EQ(0, start(self, 2, ""));
	mock_interrupt_once = true;
	mock_interrupt = in_walk;
	walk(1);
	EXPECT_STREQ("w(w(w)l(l)w(w)l(l)w)", records());
	walk(1);
	EXPECT_STREQ("w(l(l)w(w)l(l)w)", records());
}

/* All hooks of these calls have the same frame and call site. */
TEST_F(depth, limits_inlined_recursive_calls)
{
	void *walk = depth_function('w'), *site = depth_function('l');
	unsigned int i;

	ASSERT_EQ(0, start(self, 2, ""));
	for (i = 0; i < 2; i++) {
		__cyg_profile_func_enter(walk, site);
		__cyg_profile_func_enter(walk, site);
		__cyg_profile_func_enter(walk, site);
		__cyg_profile_func_exit(walk, site);
		__cyg_profile_func_enter(walk, site);
		__cyg_profile_func_exit(walk, site);
		__cyg_profile_func_exit(walk, site);
		__cyg_profile_func_exit(walk, site);
		EXPECT_STREQ("w(w(w)w)", records());
	}
}

TEST_F(depth, ignores_calls_left_by_longjmp)
{
	ASSERT_EQ(0, start(self, 3, ""));
	again(3, 5);
	EXPECT_STREQ("A(j(j(j(j(j(j(l(l)A)", records());
	/* The same calls at the limit, and beyond it. */
	ASSERT_EQ(0, start(self, 2, ""));
	again(3, 0);
	EXPECT_STREQ("A(j(j(j(l(l)A)", records());
	again(2, 3);
	EXPECT_STREQ("A(j(j(l(l)A)", records());
	ASSERT_EQ(0, start(self, 1, ""));
	again(2, 3);
	EXPECT_STREQ("A(A)", records());
	walk(0);
	EXPECT_STREQ("w(w)", records());
}

TEST_F(depth, ignores_different_functions_left_by_longjmp)
{
	ASSERT_EQ(0, start(self, 2, ""));
	dispatch();
	EXPECT_STREQ("d(1(2(3(1(3(d)", records());
	ASSERT_EQ(0, start(self, 3, ""));
	dispatch();
	EXPECT_STREQ("d(1(l(l)2(l(l)3(l(l)1(l(l)3(l(l)d)", records());
}

static jmp_buf back;

static void jump_out(void)
{
	walk(2);
	longjmp(back, 1);
}

/* An endless loop, in a function without hooks, around calls that do not return. */
TEST_F(depth, restarts_in_a_loop_without_hooks)
{
	volatile unsigned int i;

	ASSERT_EQ(0, start(self, 2, ""));
	for (i = 0; i < 200; i++) {
		if (!setjmp(back))
			interrupted(jump_out);
		EXPECT_STREQ("I(l(l)w(w)", records());
	}
	walk(1);
	EXPECT_STREQ("w(l(l)w(w)l(l)w)", records());
}

static void *other_thread(void *unused)
{
	mock_rseq.cpu_id = 1;
	walk(1);
	return NULL;
}

static void create_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, other_thread, NULL);
	pthread_join(thread, NULL);
}

TEST_F(depth, is_counted_per_thread)
{
	unsigned int i;

	ASSERT_EQ(0, start(self, 2, ""));
	for (i = 0; i < 3; i++) {
		interrupted(create_thread);
		EXPECT_STREQ("I(l(l)w(l(l)w(w)l(l)w)l(l)I)", records());
	}
}

TEST_F(depth, counts_from_the_call_that_starts_recording)
{
	ASSERT_EQ(0, start(self, 2, ">w"));
	outer();
	interrupted(in_walk);
	EXPECT_STREQ("w(l(l)l(l)w)w(l(l)w(w)l(l)w)", records());
	/* A call that a jump has left ends when its part ends. */
	if (!setjmp(back))
		interrupted(jump_out);
	records();
	add(0);
	walk(0);
	EXPECT_STREQ("w(l(l)l(l)w)", records());
}

/* The entry record of the function that ends a part is written at any depth. */
TEST_F(depth, does_not_hide_the_call_that_stops_recording)
{
	ASSERT_EQ(0, start(self, 1, ">o<l"));
	outer();
	EXPECT_STREQ("o(l(", records());
}

static __attribute__((noinline)) void interrupted_deeper(void)
{
	volatile char *memory = alloca(1000);

	*memory = 0;
	interrupted(outer);
}

/* Calls that were open at the end of the previous part do not count. */
TEST_F(depth, restarts_with_the_next_recorded_call)
{
	ASSERT_EQ(0, start(self, 1, ">I<o"));
	interrupted(outer);
	EXPECT_STREQ("I(o(", records());
	interrupted_deeper();
	EXPECT_STREQ("I(o(", records());
}

TEST_F(depth, counts_calls_excluded_by_the_filter)
{
	ASSERT_EQ(0, start(self, 2, "lw"));
	outer();
	EXPECT_STREQ("w(w)", records());
	walk(2);
	EXPECT_STREQ("w(l(l)w(w)l(l)w)", records());
}

static FIXTURE_DATA(depth) *session;

static void trace_off(void)
{
	sifive_trace_off(session->f.trace);
}

static void trace_on(void)
{
	sifive_trace_on(session->f.trace);
	mock_stores = 0;
}

/* Exits of calls that began before the recording are recorded. */
TEST_F(depth, counts_from_the_start_of_recording)
{
	session = self;
	ASSERT_EQ(0, start(self, 1, ""));
	interrupted(trace_off);
	walk(0);
	EXPECT_STREQ("I(", records());
	interrupted(trace_on);
	EXPECT_STREQ("l(l)I)", records());
	walk(1);
	EXPECT_STREQ("w(w)", records());
}

TEST_F(depth, if_unset_uses_the_writers_as_hooks)
{
	ASSERT_EQ(0, start(self, 0, ""));
	EXPECT_EQ((void *)writers.pair, (void *)hook);
}

TEST_HARNESS_MAIN
