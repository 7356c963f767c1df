// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests a filter that begins and ends recording. It selects, in each thread, exactly the calls from
 * a call to F until that call returns, or until a call to T. Entries and exits match unless a
 * header reports otherwise. Without such a filter, hooks have no additional cost.
 */
#include "kselftest_harness.h"

#include <alloca.h>
#include <setjmp.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "sifive_trace.h"

#include "filter_fixture.h"

FIXTURE(part)
{
	struct filtered f;
};

FIXTURE_SETUP(part)
{
	ASSERT_TRUE(filtered_open(&self->f));
}

FIXTURE_TEARDOWN(part)
{
	filtered_close(&self->f);
}

/* Functions are named by letters, at arbitrary addresses in the program's code. */
static const char letters[] = "FTGX";

static uintptr_t address_of(char letter)
{
	return ((uintptr_t)find_bias & ~(uintptr_t)3) + 4 * (strchr(letters, letter) - letters);
}

/*
 * Each word of @lines is a function's letter, preceded by > or < if recording begins or ends there.
 */
static int start(FIXTURE_DATA(part) *self, const char *lines)
{
	FILE *file = fopen(self->f.path, "w");

	filtered_lines(file, lines, address_of, 4);
	fclose(file);
	return filtered_start(&self->f, self->f.path);
}

static void begin_call(char letter)
{
	__cyg_profile_func_enter((void *)address_of(letter), (void *)address_of('X'));
}

static void end_call(char letter)
{
	__cyg_profile_func_exit((void *)address_of(letter), (void *)address_of('X'));
}

static uintptr_t get_address(size_t *at)
{
	uintptr_t address = mock_log[*at].value & ~1u;

	if (mock_log[(*at)++].value & 1)
		address |= (uint64_t)mock_log[(*at)++].value << 32;
	return address;
}

/*
 * Return the records: F+ and F- for entry and exit; h for a header, n for the header of a thread's
 * new part, c for the header of a part that continues.
 */
static const char *records(void)
{
	static char text[256];
	char *to = text;
	size_t at = 0;

	while (at < mock_stores && to < text + sizeof(text) - 3) {
		if (mock_log[at].bits == 32) {
			if (mock_log[at].value != SIFIVE_TRACE_RECORD_MAGIC)
				return "no header";
			*to++ = "hnc"[(mock_log[at + 1].value & 12) / 4 - (mock_log[at + 1].value > 11)];
			at += mock_log[at + 1].value & 4 ? 4 : 3;
			continue;
		}
		*to = "+-"[mock_log[at++].value];
		to[1] = to[0];
		*to = letters[(get_address(&at) - address_of('F')) / 4];
		get_address(&at);
		to += 2;
	}
	*to = '\0';
	mock_stores = 0;
	return text;
}

static void call(char letter)
{
	begin_call(letter);
	end_call(letter);
}

static void call_f(unsigned int more)
{
	begin_call('F');
	call('G');
	if (more)
		call_f(more - 1);
	call('G');
	end_call('F');
}

TEST_F(part, extends_from_a_call_to_its_return)
{
	ASSERT_EQ(0, start(self, ">F"));
	begin_call('X');
	call('G');
	call_f(0);
	call('G');
	end_call('X');
	EXPECT_STREQ("F+G+G-G+G-F-", records());
	call_f(0);
	EXPECT_STREQ("F+G+G-G+G-F-", records());
}

TEST_F(part, extends_to_the_return_of_the_outermost_call)
{
	ASSERT_EQ(0, start(self, ">F"));
	call_f(2);
	call('G');
	EXPECT_STREQ("F+G+G-F+G+G-F+G+G-G+G-F-G+G-F-G+G-F-", records());
}

TEST_F(part, is_restricted_by_a_filter)
{
	ASSERT_EQ(0, start(self, ">FG"));
	call('G');
	call_f(1);
	call('G');
	EXPECT_STREQ("G+G-G+G-G+G-G+G-", records());
}

/* Call F's exit hook from deeper in the stack than its entry hook. */
static void grows(unsigned int more)
{
	volatile char *memory;

	begin_call('F');
	memory = alloca(1000);
	*memory = 0;
	if (more)
		grows(more - 1);
	end_call('F');
}

TEST_F(part, ends_with_a_function_whose_frame_grows)
{
	ASSERT_EQ(0, start(self, ">F"));
	grows(1);
	call('G');
	EXPECT_STREQ("F+F+F-F-", records());
}

/* The frame of F's entry no longer exists at F's exit, as if the exit hook were a tail call. */
static __attribute__((noinline)) void body(unsigned int more);

static void call_void(unsigned int more)
{
	body(more);
	end_call('F');
}

static __attribute__((noinline)) void body(unsigned int more)
{
	begin_call('F');
	call('G');
	if (more)
		call_void(more - 1);
	call('G');
}

TEST_F(part, ends_with_a_function_whose_exit_is_a_tail_call)
{
	ASSERT_EQ(0, start(self, ">F"));
	call_void(1);
	call('G');
	EXPECT_STREQ("F+G+G-F+G+G-G+G-F-G+G-F-", records());
	call_void(0);
	EXPECT_STREQ("F+G+G-G+G-F-", records());
}

static void begin_from(char letter, char site)
{
	__cyg_profile_func_enter((void *)address_of(letter), (void *)address_of(site));
}

static void end_from(char letter, char site)
{
	__cyg_profile_func_exit((void *)address_of(letter), (void *)address_of(site));
}

static __attribute__((noinline)) void begin_deeper(char letter, char site)
{
	begin_from(letter, site);
}

/*
 * If the exit hook of an inner call is a tail call, its frame is that of the outer call's entry,
 * but its call site differs.
 */
TEST_F(part, continues_after_an_inner_tail_call_in_the_same_frame)
{
	ASSERT_EQ(0, start(self, ">F"));
	begin_from('F', 'X');
	begin_deeper('F', 'G');
	end_from('F', 'G');
	begin_from('G', 'G');
	end_from('G', 'G');
	end_from('F', 'X');
	call('G');
	EXPECT_STREQ("F+F+F-G+G-F-", records());
}

/* All hooks of these calls have the same frame and call site. */
TEST_F(part, includes_inlined_recursive_calls)
{
	ASSERT_EQ(0, start(self, ">F"));
	begin_call('F');
	call('F');
	begin_call('F');
	call('F');
	end_call('F');
	call('G');
	end_call('F');
	call('G');
	EXPECT_STREQ("F+F+F-F+F+F-F-G+G-F-", records());
}

static char below[64 << 10] __attribute__((aligned(16)));

static void handle(int number)
{
	call_f(0);
}

static void call_f_with_handler(void)
{
	begin_call('F');
	raise(SIGUSR1);
	call('G');
	end_call('F');
}

static ucontext_t here, there;

/* A signal handler within the part runs on a stack at higher addresses than the part's stack. */
TEST_F(part, includes_a_handler_on_another_stack)
{
	static char above[64 << 10] __attribute__((aligned(16)));
	struct sigaction action = { .sa_handler = handle, .sa_flags = SA_ONSTACK };
	const bool swap = &above[0] < &below[0];
	stack_t stack = { .ss_sp = swap ? below : above, .ss_size = sizeof(above) };

	ASSERT_EQ(0, sigaltstack(&stack, NULL));
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, start(self, ">F"));
	ASSERT_EQ(0, getcontext(&there));
	there.uc_stack.ss_sp = swap ? above : below;
	there.uc_stack.ss_size = sizeof(below);
	there.uc_link = &here;
	makecontext(&there, call_f_with_handler, 0);
	ASSERT_EQ(0, swapcontext(&here, &there));
	EXPECT_STREQ("F+F+G+G-G+G-F-G+G-F-", records());
}

static jmp_buf jump_back;
static void (*volatile jump_again)(unsigned int more);

/* Call F, and leave it and all open calls with longjmp(). */
static void jumps(unsigned int more)
{
	begin_call('F');
	call('G');
	if (more)
		jump_again(more - 1);
	begin_call('G');
	longjmp(jump_back, 1);
}

TEST_F(part, ends_after_longjmp_out_of_its_function)
{
	ASSERT_EQ(0, start(self, ">F"));
	if (!setjmp(jump_back))
		jumps(0);
	/* A record from further out on the stack shows that the call has been left. */
	end_call('X');
	call('G');
	EXPECT_STREQ("F+G+G-G+", records());
	/* Calls that were open at that time have no exit record. */
	call_f(0);
	EXPECT_STREQ("nF+G+G-G+G-F-", records());
	call_f(0);
	EXPECT_STREQ("F+G+G-G+G-F-", records());
}

static void catches(void)
{
	jump_again = jumps;
	begin_call('F');
	if (!setjmp(jump_back))
		jumps(1);
	end_call('F');
}

TEST_F(part, continues_after_longjmp_within_the_outermost_call)
{
	ASSERT_EQ(0, start(self, ">F"));
	catches();
	call('G');
	EXPECT_STREQ("F+F+G+G-F+G+G-G+F-", records());
	/* Calls that the jump has left have no exit record. */
	call_f(0);
	EXPECT_STREQ("nF+G+G-G+G-F-", records());
}

TEST_F(part, ends_at_a_specified_function)
{
	ASSERT_EQ(0, start(self, ">F<T"));
	call('T');
	begin_call('X');
	call('F');
	call('X');
	begin_call('G');
	call('T');
	end_call('G');
	call('X');
	EXPECT_STREQ("F+F-X+X-G+T+", records());
	call('F');
	end_call('X');
	call('T');
	EXPECT_STREQ("nF+F-X-T+", records());
}

/* The end of a part must be recognised regardless of the functions that the filter selects. */
TEST_F(part, ends_at_a_function_excluded_by_the_filter)
{
	ASSERT_EQ(0, start(self, ">F<TG"));
	call('F');
	call('G');
	call('X');
	call('T');
	call('G');
	EXPECT_STREQ("G+G-T+", records());
}

TEST_F(part, ends_with_its_session)
{
	ASSERT_EQ(0, start(self, ">F<T"));
	call('F');
	ASSERT_EQ(0, sifive_trace_off(self->f.trace));
	ASSERT_EQ(0, start(self, ">F<T"));
	call('G');
	EXPECT_STREQ("", records());
}

static void *other_thread(void *unused)
{
	mock_rseq.cpu_id = 1;
	call('G');
	call_f(0);
	call('G');
	return NULL;
}

TEST_F(part, is_per_thread)
{
	pthread_t thread;

	ASSERT_EQ(0, start(self, ">F"));
	begin_call('F');
	ASSERT_EQ(0, pthread_create(&thread, NULL, other_thread, NULL));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	end_call('F');
	EXPECT_STREQ("F+hF+G+G-G+G-F-F-", records());
}

static void in_handler(void)
{
	call_f(0);
}

/*
 * A signal handler calls F while the part's first record is being written. The part belongs to
 * the interrupted call.
 */
TEST_F(part, starts_at_the_call_whose_record_a_signal_interrupts)
{
	ASSERT_EQ(0, start(self, ">F"));
	mock_interrupt_once = true;
	mock_interrupt = in_handler;
	begin_call('F');
	end_call('F');
	call('G');
	EXPECT_STREQ("F+F+G+G-G+G-F-F-", records());
}

TEST_F(part, if_unset_uses_the_writers_as_hooks)
{
	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;

	ASSERT_EQ(0, sifive_trace_setup(self->f.trace, &options));
	ASSERT_EQ(0, sifive_trace_on(self->f.trace));
	EXPECT_EQ((void *)writers.pair, (void *)hook);
}

TEST_HARNESS_MAIN
