// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests the callers that unwind tables show for samples with a copy of the stack. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_fixture.h"

/* unwind_sample.S */
#define PLACE(number)	(0x70000ull + 64 * (number))
#define START		PLACE(0)
#define MAIN_		PLACE(1)
#define DOWN		PLACE(2)
#define LEAF		PLACE(3)
#define FRAMED		PLACE(4)
#define COMPUTED	PLACE(5)
#define LOST		PLACE(6)
#define ODD		PLACE(7)
#define BARE		PLACE(8)

/* The addresses to which the calls in these functions return. */
#define IN_START	(START + 4)
#define IN_MAIN		(MAIN_ + 12)
#define IN_DOWN		(DOWN + 12)
#define OF_DOWN		(DOWN + 16)
#define IN_FRAMED	(FRAMED + 24)
#define IN_COMPUTED	(COMPUTED + 4)
#define IN_LOST		(LOST + 4)
#define IN_BARE		(BARE + 4)

/* Indices of registers in a sample's stack. */
#define RA		1
#define SP		2
#define S0		4
#define S1		5

#define STACK		0x3ffffff000ull
#define WORDS		(SIFIVE_TRACE_STACK_MAX / 8)

struct stack {
	struct gen_stream stream;
	uint64_t reg[SIFIVE_TRACE_STACK_REGISTERS];
	uint64_t word[WORDS];
	unsigned int words;
};

static void begin(FIXTURE_DATA(command) *self, struct stack *stack)
{
	memset(stack, 0, sizeof(*stack));
	gen_sync(&self->gen, 0);
	gen_stream_init(&stack->stream, &self->gen, 0, 6, 1, 1, 64);
	gen_header(&stack->stream);
	stack->reg[SP] = STACK;
}

static void push(struct stack *stack, uint64_t value)
{
	stack->word[stack->words++] = value;
}

/* Push the frames of down(), main() and start(). */
static void push_usual(struct stack *stack, unsigned int levels, uint64_t first)
{
	unsigned int i;

	for (i = 0; i < levels; i++) {
		stack->words += 3;
		push(stack, i ? IN_DOWN : first);
	}
	push(stack, 0x1234);
	push(stack, IN_START);
}

static void sample(struct stack *stack, uint64_t pc)
{
	const uint64_t value = stack->stream.counter[0].previous + 7;

	stack->reg[0] = pc;
	gen_stack(&stack->stream, stack->reg, stack->word, stack->words);
	gen_record(&stack->stream, 3, &pc, &value);
	memset(stack->word, 0, sizeof(stack->word));
	stack->words = 0;
}

/* Read the paths of the trace's samples, with the number of samples of each path. */
static void paths(FIXTURE_DATA(command) *self, const char *options)
{
	save(self, "trace.rtd");
	run(self, "export -q --format folded -e " UNWIND " %s trace.rtd | LC_ALL=C sort", options);
}

TEST_F(command, stack_shows_callers)
{
	struct stack stack;

	begin(self, &stack);
	stack.reg[RA] = OF_DOWN;
	stack.words = 3;
	push(&stack, IN_DOWN);
	push_usual(&stack, 2, IN_DOWN);
	/*
	 * leaf() was called by the innermost call to down(), and main() made the outermost call to
	 * down().
	 */
	stack.word[11] = IN_MAIN;
	sample(&stack, LEAF);
	paths(self, "");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("source 0;start;main;down;down;down;leaf 1\n", self->out) {
		TH_LOG("%s", self->err);
	}
}

TEST_F(command, unwind_rules_are_selected_by_address)
{
	struct stack stack;
	unsigned int i;

	begin(self, &stack);
	/* Samples before and after sp is changed, and after the return address is saved. */
	for (i = 0; i < 3; i++) {
		stack.reg[RA] = i < 2 ? IN_MAIN : 0;
		stack.words = i ? 3 : 0;
		if (i)
			push(&stack, i == 2 ? IN_MAIN : 0);
		push(&stack, 0);
		push(&stack, IN_START);
		sample(&stack, DOWN + 4 * i);
	}
	stack.reg[RA] = 0;
	sample(&stack, START);
	paths(self, "");
	EXPECT_STREQ("source 0;start 1\nsource 0;start;main;down 3\n", self->out);
}

TEST_F(command, frame_pointers_and_expressions_find_frames)
{
	struct stack stack;

	begin(self, &stack);
	stack.reg[RA] = IN_FRAMED;
	stack.reg[S0] = STACK + 80;
	stack.words = 8;
	push(&stack, STACK + 144);
	push(&stack, IN_FRAMED);
	stack.words = 16;
	push(&stack, 0);
	push(&stack, IN_MAIN);
	push_usual(&stack, 0, 0);
	sample(&stack, LEAF);
	stack.reg[RA] = IN_COMPUTED;
	stack.reg[S1] = IN_MAIN;
	push(&stack, 0);
	push(&stack, STACK + 32);
	stack.words = 4;
	push_usual(&stack, 0, 0);
	sample(&stack, LEAF);
	paths(self, "");
	EXPECT_STREQ("source 0;start;main;computed;leaf 1\n"
		     "source 0;start;main;framed;framed;leaf 1\n", self->out) {
		TH_LOG("%s", self->out);
	}
}

TEST_F(command, short_stack_is_cut)
{
	struct stack stack;
	unsigned int i;

	begin(self, &stack);
	for (i = 0; i < 7; i++) {
		stack.reg[RA] = OF_DOWN;
		push_usual(&stack, 1, IN_MAIN);
		stack.words = i;
		sample(&stack, LEAF);
	}
	paths(self, "");
	EXPECT_STREQ("source 0;[cut];down;leaf 4\nsource 0;[cut];main;down;leaf 2\n"
		     "source 0;start;main;down;leaf 1\n", self->out) {
		TH_LOG("%s", self->out);
	}
	run(self, "report -q --format csv -e " UNWIND " trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "\n\"[cut]\",0,6,")) {
		TH_LOG("%s", self->out);
	}
}

TEST_F(command, callers_without_unwind_table_are_unknown)
{
	struct stack stack;

	begin(self, &stack);
	push_usual(&stack, 0, 0);
	sample(&stack, BARE);
	stack.reg[RA] = IN_BARE;
	push_usual(&stack, 0, 0);
	sample(&stack, LEAF);
	stack.reg[RA] = IN_LOST;
	push_usual(&stack, 0, 0);
	sample(&stack, LEAF);
	/* A return address outside all objects, odd return addresses, and no return address. */
	stack.reg[RA] = 0x2000;
	push_usual(&stack, 0, 0);
	sample(&stack, LEAF);
	stack.reg[RA] = ~0ull;
	sample(&stack, LEAF);
	stack.reg[RA] = 1;
	sample(&stack, LEAF);
	stack.reg[RA] = 0;
	sample(&stack, LEAF);
	paths(self, "");
	EXPECT_STREQ("source 0;[unknown];0x2000;leaf 1\nsource 0;[unknown];0xfffffffffffffffe;leaf 1\n"
		     "source 0;[unknown];bare 1\nsource 0;[unknown];bare;leaf 1\n"
		     "source 0;[unknown];lost;leaf 1\nsource 0;leaf 2\n", self->out) {
		TH_LOG("%s", self->out);
	}
}

TEST_F(command, invalid_expressions_make_the_caller_unknown)
{
	struct stack stack;
	unsigned int i;

	begin(self, &stack);
	for (i = 0; i < 8; i++) {
		push_usual(&stack, 0, 0);
		sample(&stack, ODD + 4 * i);
	}
	paths(self, "");
	EXPECT_EQ(0, self->status);
	EXPECT_EQ(&self->out[0], strstr(self->out, "source 0;[unknown];odd 6\n")) {
		TH_LOG("%s", self->out);
	}
}

/* Each caller's frame must be at a higher address, which limits the number of frames. */
TEST_F(command, number_of_frames_is_limited)
{
	struct stack stack;
	unsigned int i, frames = 0;
	const char *at;

	begin(self, &stack);
	stack.reg[RA] = OF_DOWN;
	push_usual(&stack, WORDS / 4 - 1, IN_DOWN);
	sample(&stack, LEAF);
	/* Frames without size. */
	stack.reg[RA] = IN_COMPUTED;
	stack.reg[S1] = IN_COMPUTED;
	push(&stack, 0);
	push(&stack, STACK);
	sample(&stack, LEAF);
	stack.reg[S1] = 0;
	stack.reg[RA] = LEAF + 4;
	sample(&stack, LEAF);
	paths(self, "");
	EXPECT_EQ(0, self->status);
	at = strstr(self->out, "source 0;[cut];");
	ASSERT_NE(NULL, at);
	for (i = 0; at && at[i] != '\n'; i++)
		frames += at[i] == ';';
	EXPECT_EQ(SIFIVE_TRACE_CALLERS_MAX, frames);
	EXPECT_NE(NULL, strstr(self->out, "source 0;[unknown];computed;leaf 1\n")) {
		TH_LOG("%s", self->out);
	}
	EXPECT_NE(NULL, strstr(self->out, "source 0;[unknown];leaf;leaf 1\n"));
}

TEST_F(command, decode_prints_the_callers_of_a_stack)
{
	struct stack stack;

	begin(self, &stack);
	stack.reg[RA] = IN_MAIN;
	push(&stack, 0);
	sample(&stack, DOWN);
	save(self, "trace.rtd");
	run(self, "decode -q -e " UNWIND " trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "down <- main+0xc <- [cut]")) {
		TH_LOG("%s", self->out);
	}
	run(self, "decode -q --format json -e " UNWIND " trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "\"function\":\"[cut]\"")) {
		TH_LOG("%s", self->out);
	}
	/* Read the trace without the program's file. */
	run(self, "decode -q trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "0x70080 <- [unknown]")) {
		TH_LOG("%s", self->out);
	}
}

/* With one thread and with several, each sample has the correct callers. */
TEST_F(command, stacks_of_two_streams_are_separate)
{
	struct stack stack, other;
	unsigned int i;

	begin(self, &stack);
	begin(self, &other);
	other.stream.src = 0;
	other.stream.channel = 7;
	gen_header(&other.stream);
	for (i = 0; i < 2000; i++) {
		stack.reg[RA] = OF_DOWN;
		push_usual(&stack, 1 + i % 3, IN_MAIN);
		if (i % 3)
			stack.word[3] = IN_DOWN;
		if (i % 3 == 2)
			stack.word[7] = IN_DOWN;
		if (i % 3)
			stack.word[3 + 4 * (i % 3)] = IN_MAIN;
		sample(&stack, LEAF);
		other.reg[RA] = IN_MAIN;
		push_usual(&other, 0, 0);
		sample(&other, DOWN);
	}
	for (i = 0; i < 2; i++) {
		paths(self, i ? "--channel all --jobs 3" : "--channel all --jobs 1");
		EXPECT_EQ(0, self->status);
		EXPECT_STREQ("source 0 channel 7;start;main;down 2000\n"
			     "source 0;start;main;down;down;down;leaf 666\n"
			     "source 0;start;main;down;down;leaf 667\nsource 0;start;main;down;leaf 667\n",
			     self->out) {
			TH_LOG("%s", self->out);
		}
	}
}

/* The address to which signal handlers return, which is not in any file. */
#define TRAMPOLINE	0x3ff7ffc800ull

/* Indices of words in a signal frame, and in the registers, which begin at REGS. */
#define NUMBER		0
#define FLAGS		16
#define LINK		17
#define ALT_START	18
#define ALT_SIZE	20
#define REGS		38
#define SIGNAL_WORDS	136
#define X_RA		1
#define X_SP		2
#define X_S0		8
#define X_S1		9
#define X_A0		10

/* Push the frame of a signal that interrupted code at @pc. Return the frame's words. */
static uint64_t *push_signal(struct stack *stack, uint64_t pc, uint64_t ra)
{
	uint64_t *word = stack->word + stack->words;

	stack->words += SIGNAL_WORDS;
	word[NUMBER] = 14;
	word[REGS] = pc;
	word[REGS + X_RA] = ra;
	word[REGS + X_SP] = stack->reg[SP] + 8 * stack->words;
	return word;
}

/* Push the stack of down(), the handler of a signal that interrupted code at @pc. */
static uint64_t *push_handler(struct stack *stack, uint64_t pc, uint64_t ra)
{
	stack->words += 3;
	push(stack, TRAMPOLINE);
	return push_signal(stack, pc, ra);
}

TEST_F(command, signal_handler_shows_the_interrupted_function)
{
	struct stack stack;
	uint64_t *word;

	begin(self, &stack);
	/* At a function's first instruction, and before that function saves the return address. */
	push_handler(&stack, LEAF, IN_MAIN);
	push_usual(&stack, 0, 0);
	sample(&stack, DOWN + 8);
	push_handler(&stack, DOWN, IN_MAIN);
	push_usual(&stack, 0, 0);
	sample(&stack, DOWN + 8);
	push_handler(&stack, DOWN + 4, IN_MAIN);
	stack.words += 4;
	push_usual(&stack, 0, 0);
	sample(&stack, DOWN + 8);
	push_handler(&stack, DOWN + 8, 0);
	push_usual(&stack, 1, IN_MAIN);
	sample(&stack, DOWN + 8);
	/* All registers are known. */
	word = push_handler(&stack, FRAMED + 16, 0);
	word[REGS + X_S0] = STACK + 8 * (stack.words + 10);
	stack.words += 8;
	push(&stack, 0);
	push(&stack, IN_MAIN);
	push_usual(&stack, 0, 0);
	sample(&stack, DOWN + 8);
	word = push_handler(&stack, COMPUTED, 0);
	word[REGS + X_S1] = IN_MAIN;
	push(&stack, 0);
	push(&stack, STACK + 8 * (stack.words + 1));
	push_usual(&stack, 0, 0);
	sample(&stack, DOWN + 8);
	word = push_handler(&stack, LOST, 0);
	push(&stack, 0);
	push(&stack, IN_MAIN);
	word[REGS + X_A0] = STACK + 8 * stack.words;
	push_usual(&stack, 0, 0);
	sample(&stack, DOWN + 8);
	push_handler(&stack, BARE, IN_MAIN);
	push_usual(&stack, 0, 0);
	sample(&stack, DOWN + 8);
	push_handler(&stack, 0, IN_MAIN);
	push_usual(&stack, 0, 0);
	sample(&stack, DOWN + 8);
	paths(self, "");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("source 0;[unknown];0x0;0x3ff7ffc800;down 1\n"
		     "source 0;[unknown];bare;0x3ff7ffc800;down 1\n"
		     "source 0;start;main;computed;0x3ff7ffc800;down 1\n"
		     "source 0;start;main;down;0x3ff7ffc800;down 3\n"
		     "source 0;start;main;framed;0x3ff7ffc800;down 1\n"
		     "source 0;start;main;leaf;0x3ff7ffc800;down 1\n"
		     "source 0;start;main;lost;0x3ff7ffc800;down 1\n", self->out) {
		TH_LOG("%s", self->out);
	}
	run(self, "decode -q -e " UNWIND " trace.rtd | grep leaf");
	EXPECT_NE(NULL, strstr(self->out, "down+0x8 <- 0x3ff7ffc800 <- leaf <- main+0xc <- start")) {
		TH_LOG("%s", self->out);
	}
}

TEST_F(command, nested_signal_handlers_are_unwound)
{
	struct stack stack;

	begin(self, &stack);
	push_handler(&stack, DOWN + 8, 0);
	push_handler(&stack, LEAF + 4, IN_MAIN);
	push_usual(&stack, 0, 0);
	sample(&stack, DOWN + 8);
	/* The second signal arrives before the first signal's handler begins or after it ends. */
	push_handler(&stack, DOWN, TRAMPOLINE);
	push_signal(&stack, LEAF + 4, IN_MAIN);
	push_usual(&stack, 0, 0);
	sample(&stack, DOWN + 8);
	push_handler(&stack, TRAMPOLINE + 4, 0);
	push_signal(&stack, LEAF + 4, IN_MAIN);
	push_usual(&stack, 0, 0);
	sample(&stack, DOWN + 8);
	push_signal(&stack, LEAF + 4, IN_MAIN);
	push_usual(&stack, 0, 0);
	sample(&stack, TRAMPOLINE);
	paths(self, "");
	EXPECT_STREQ("source 0;start;main;leaf;0x3ff7ffc800 1\n"
		     "source 0;start;main;leaf;0x3ff7ffc800;down;0x3ff7ffc800;down 2\n"
		     "source 0;start;main;leaf;0x3ff7ffc804;0x3ff7ffc800;down 1\n", self->out) {
		TH_LOG("%s", self->out);
	}
}

TEST_F(command, frames_on_another_stack_are_cut)
{
	static const uint64_t elsewhere[] = { STACK + (1 << 20), STACK - (1 << 20) };
	struct stack stack;
	uint64_t *word;
	unsigned int i;

	begin(self, &stack);
	for (i = 0; i < 4; i++) {
		word = push_handler(&stack, i < 2 ? LEAF : DOWN + 8, IN_MAIN);
		word[ALT_START] = STACK - 4096;
		word[ALT_SIZE] = 8192;
		word[REGS + X_SP] = elsewhere[i % 2];
		push_usual(&stack, 1, IN_MAIN);
		sample(&stack, DOWN + 8);
	}
	/* The interrupted code also used the alternate stack. */
	word = push_handler(&stack, LEAF, IN_MAIN);
	word[ALT_START] = STACK;
	word[ALT_SIZE] = 8192;
	push_usual(&stack, 0, 0);
	sample(&stack, DOWN + 8);
	paths(self, "");
	EXPECT_STREQ("source 0;[cut];down;0x3ff7ffc800;down 2\n"
		     "source 0;[cut];main;leaf;0x3ff7ffc800;down 2\n"
		     "source 0;start;main;leaf;0x3ff7ffc800;down 1\n", self->out) {
		TH_LOG("%s", self->out);
	}
}

TEST_F(command, short_signal_frame_is_cut)
{
	struct stack stack;
	unsigned int words;

	begin(self, &stack);
	for (words = 0; words <= 4 + SIGNAL_WORDS + 2; words++) {
		push_handler(&stack, LEAF, IN_MAIN);
		push_usual(&stack, 0, 0);
		stack.words = words;
		sample(&stack, DOWN + 8);
	}
	paths(self, "");
	EXPECT_STREQ("source 0;[cut];0x3ff7ffc800;down 70\nsource 0;[cut];down 4\n"
		     "source 0;[cut];main;leaf;0x3ff7ffc800;down 68\n"
		     "source 0;start;main;leaf;0x3ff7ffc800;down 1\n", self->out) {
		TH_LOG("%s", self->out);
	}
}

TEST_F(command, invalid_signal_frame_is_unknown)
{
	const struct {
		unsigned int at;
		uint64_t value;
	} damage[] = {
		{ NUMBER, 0 }, { NUMBER, 65 }, { NUMBER, 0xffffffff }, { FLAGS, 1 },
		{ LINK, STACK }, { REGS, LEAF + 1 }, { REGS, 0xffffffff80001000ull },
		{ REGS + X_SP, 0 }, { REGS + X_SP, ~0ull }, { REGS + X_SP, STACK },
		{ REGS + X_SP, STACK + 32 }, { REGS + X_SP, STACK + 32 + 8 * SIGNAL_WORDS - 1 },
		{ REGS + X_SP, STACK + (1 << 20) }, { REGS + X_SP, STACK - 16 },
	};
	const unsigned int count = sizeof(damage) / sizeof(damage[0]);
	char wanted[80];
	struct stack stack;
	unsigned int i;

	begin(self, &stack);
	for (i = 0; i < count; i++) {
		push_handler(&stack, LEAF, IN_MAIN)[damage[i].at] = damage[i].value;
		push_usual(&stack, 0, 0);
		sample(&stack, DOWN + 8);
	}
	/* An unaligned frame is not a signal frame. */
	stack.reg[SP] = STACK + 8;
	push_handler(&stack, LEAF, IN_MAIN);
	push_usual(&stack, 0, 0);
	sample(&stack, DOWN + 8);
	/* The alternate stack contains neither this frame nor the handler's frames. */
	stack.reg[SP] = STACK;
	for (i = 0; i < 2; i++) {
		uint64_t *word = push_handler(&stack, LEAF, IN_MAIN);

		word[ALT_START] = i ? STACK + 32 : STACK + 48;
		word[ALT_SIZE] = 8192;
		word[REGS + X_SP] = i ? STACK + 16 : STACK - 4096;
		push_usual(&stack, 0, 0);
		sample(&stack, DOWN + 8);
	}
	paths(self, "");
	snprintf(wanted, sizeof(wanted), "source 0;[unknown];0x3ff7ffc800;down %u\n", count + 3);
	EXPECT_STREQ(wanted, self->out) {
		TH_LOG("%s", self->out);
	}
	/*
	 * Nor is code in a file mistaken for code that returns from a signal handler.
	 */
	begin(self, &stack);
	stack.reg[RA] = IN_BARE;
	push_signal(&stack, LEAF, IN_MAIN);
	push_usual(&stack, 0, 0);
	sample(&stack, LEAF);
	paths(self, "");
	EXPECT_NE(NULL, strstr(self->out, "source 0;[unknown];bare;leaf 1\n")) {
		TH_LOG("%s", self->out);
	}
}

#define OBJECTS(path)	"{\"version\":1,\"objects\":["						\
			"{\"path\":\"" UNWIND "\",\"start\":458752,\"end\":462848,\"bias\":0},"	\
			"{\"path\":\"" path "\",\"start\":274743672832,"				\
			"\"end\":274743681024,\"bias\":274743672832}]}"

/* 0x3ff7ffc000 is 274743672832. */
TEST_F(command, side_car_file_can_name_the_vdso)
{
	struct stack stack;

	begin(self, &stack);
	push_handler(&stack, LEAF, IN_MAIN);
	push_usual(&stack, 0, 0);
	sample(&stack, DOWN + 8);
	push_handler(&stack, LEAF, IN_MAIN);
	stack.words = 4;
	sample(&stack, DOWN + 8);
	save(self, "trace.rtd");
	write_file("trace.rtd.meta", OBJECTS("[vdso]"), strlen(OBJECTS("[vdso]")));
	run(self, "export -q --format folded trace.rtd | LC_ALL=C sort");
	EXPECT_STREQ("source 0;[cut];[vdso]+0x800;down 1\n"
		     "source 0;start;main;leaf;[vdso]+0x800;down 1\n", self->out) {
		TH_LOG("%s %s", self->out, self->err);
	}
	write_file("trace.rtd.meta", OBJECTS("/none/lib.so"), strlen(OBJECTS("/none/lib.so")));
	run(self, "export -q --format folded trace.rtd | LC_ALL=C sort");
	EXPECT_STREQ("source 0;[unknown];lib.so+0x800;down 2\n", self->out) {
		TH_LOG("%s %s", self->out, self->err);
	}
}

static void put_half(struct stack *stack, unsigned int at, uint32_t value)
{
	memcpy((char *)stack->word + at, &value, sizeof(value));
}

/* Without files, the width of addresses must be found from the signal frames. */
TEST_F(command, signal_frames_with_32_bit_registers_are_unwound)
{
	const uint64_t sp = 0x7ffff000;
	struct stack stack;
	unsigned int i;

	begin(self, &stack);
	stack.reg[SP] = sp;
	for (i = 0; i < 3; i++) {
		stack.words = 944 / 8;
		put_half(&stack, 0, 14);
		put_half(&stack, 288, 0x10000 + i * 16);
		put_half(&stack, 296, (uint32_t)sp + 944);
		/* The alternate stack, with a 32-bit kernel and with a 64-bit kernel. */
		if (i) {
			put_half(&stack, i == 1 ? 136 : 144, (uint32_t)sp - 2048);
			put_half(&stack, i == 1 ? 144 : 152, 8192);
			put_half(&stack, 296, 0x40000000);
		}
		sample(&stack, 0x77ffe000);
	}
	save(self, "trace.rtd");
	run(self, "decode -q trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "0x77ffe000 <- 0x10000 <- [cut]")) {
		TH_LOG("%s", self->out);
	}
	EXPECT_NE(NULL, strstr(self->out, "0x77ffe000 <- 0x10010 <- [cut]"));
	EXPECT_NE(NULL, strstr(self->out, "0x77ffe000 <- 0x10020 <- [cut]"));
}

#define KERNEL		0xffffffff80001000ull
#define NAMES		"ffffffff80001000 T one\nffffffff80001100 t two\n"		\
			"ffffffff80001100 t $x\nffffffff80001200 W three\n"		\
			"ffffffff80001300 D data\nffffffffc0000000 t four\t[module]\n"

static void write_names(const char *path, const char *names)
{
	write_file(path, names, strlen(names));
}

/*
 * Write a sample in the kernel: the program entered four(), which called two(), which called one().
 */
static void kernel_sample(struct stack *stack, uint64_t from, bool unwound)
{
	const uint64_t callers[] = {
		KERNEL + 0x110, 0xffffffffc0000010ull, from, IN_MAIN, IN_MAIN, IN_START,
	};
	const uint64_t pc = KERNEL + 0x14, value = stack->stream.counter[0].previous + 7;

	gen_callers(&stack->stream, callers, unwound ? 2 : 6);
	if (unwound) {
		stack->reg[0] = from;
		stack->reg[RA] = IN_MAIN;
		push_usual(stack, 0, 0);
		gen_stack(&stack->stream, stack->reg, stack->word, stack->words);
	}
	gen_record(&stack->stream, 3, &pc, &value);
}

TEST_F(command, kernel_samples_show_kernel_and_program_callers)
{
	struct stack stack;

	begin(self, &stack);
	/*
	 * Include samples at a function's first instruction, before which there is no call
	 * instruction to look up.
	 */
	kernel_sample(&stack, LEAF + 4, false);
	kernel_sample(&stack, LEAF, false);
	kernel_sample(&stack, LEAF, true);
	write_names("trace.rtd.kallsyms", NAMES);
	paths(self, "");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("source 0;start;main;leaf;four;two;one 3\n", self->out) {
		TH_LOG("%s %s", self->out, self->err);
	}
	run(self, "decode -q -e " UNWIND " trace.rtd | tail -1");
	EXPECT_NE(NULL, strstr(self->out, "one+0x14 <- two+0x10 <- four+0x10 <- leaf <- main+0xc")) {
		TH_LOG("%s", self->out);
	}
	/* A piece, or the trace of a sink, has no separate file of names. */
	EXPECT_EQ(0, rename("trace.rtd", "trace.rtd.1"));
	run(self, "export -q --format folded -e " UNWIND " trace.rtd.1");
	EXPECT_NE(NULL, strstr(self->out, "leaf;four;two;one"));
	EXPECT_EQ(0, rename("trace.rtd.1", "trace.2.rtd"));
	run(self, "export -q --format folded -e " UNWIND " trace.2.rtd");
	EXPECT_NE(NULL, strstr(self->out, "leaf;four;two;one"));
	EXPECT_EQ(0, rename("trace.2.rtd", "trace.2.rtd.1"));
	run(self, "export -q --format folded -e " UNWIND " trace.2.rtd.1");
	EXPECT_NE(NULL, strstr(self->out, "leaf;four;two;one"));
}

TEST_F(command, kernel_names_can_be_missing_or_damaged)
{
	static const char * const damaged[] = {
		"", "\n\n", "ffffffff80001000", "ffffffff80001000 ", "ffffffff80001000 T",
		"ffffffff80001000 T ", "ffffffff80001000 T \n", "1000 T one\n", "zz T one\n",
		"ffffffff7fe01014 T far\n", "ffffffff80001000 T $x\n",
	};
	struct stack stack;
	unsigned int i;

	begin(self, &stack);
	kernel_sample(&stack, LEAF, true);
	for (i = 0; i <= sizeof(damaged) / sizeof(damaged[0]); i++) {
		if (i)
			write_names("trace.rtd.kallsyms", damaged[i - 1]);
		paths(self, "");
		EXPECT_EQ(0, self->status);
		EXPECT_STREQ("source 0;start;main;leaf;0xffffffffc0000010;0xffffffff80001110;0xffffffff80001014 1\n",
			     self->out) {
			TH_LOG("%u: %s", i, self->out);
		}
	}
	/* The names of a 32-bit kernel. */
	write_names("trace.rtd.kallsyms", "80001000 T one\n");
	paths(self, "");
	EXPECT_NE(NULL, strstr(self->out, ";leaf;0xffffffffc0000010;one 1")) {
		TH_LOG("%s", self->out);
	}
	EXPECT_EQ(0, truncate("trace.rtd.kallsyms", (16 << 20) + 1));
	paths(self, "");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->err, "trace.rtd.kallsyms: not used"));
	EXPECT_EQ(0, unlink("trace.rtd.kallsyms"));
	EXPECT_EQ(0, mkfifo("trace.rtd.kallsyms", 0600));
	paths(self, "");
	EXPECT_NE(NULL, strstr(self->err, "trace.rtd.kallsyms: not used"));
}

/* Return a random value near the stack, in the program, or elsewhere. */
static uint64_t any_value(uint64_t *seed)
{
	const uint64_t value = gen_random(seed);

	switch (value >> 60) {
	case 0 ... 3:
		return PLACE(0) + (value & 0x3ff);
	case 4 ... 8:
		return STACK + (value & 0x3fff);
	case 9:
		return STACK - (value & 0xff);
	case 10:
		return 0 - (value & 0xff);
	case 11:
		return value & 0xffff;
	default:
		return value;
	}
}

TEST_F(command, random_stacks_never_crash)
{
	static const char * const commands[] = {
		"export --format folded", "export --format pprof -o pprof", "graph", "report --json",
		"decode --format json", "annotate",
	};
	uint64_t seed = 1;
	struct stack stack;
	unsigned int i, k;

	begin(self, &stack);
	for (i = 0; i < 3000; i++) {
		for (k = 1; k < SIFIVE_TRACE_STACK_REGISTERS; k++)
			stack.reg[k] = any_value(&seed);
		if (i % 2)
			stack.reg[SP] = STACK;
		/* Random words rarely form a signal frame, so add a signal frame. */
		if (i % 4 == 3) {
			uint64_t *word;

			stack.words = 2 * (gen_random(&seed) % 16);
			push(&stack, any_value(&seed));
			push(&stack, gen_random(&seed) % 4 ? TRAMPOLINE : any_value(&seed));
			word = push_signal(&stack, any_value(&seed), any_value(&seed));
			if (gen_random(&seed) % 2)
				word[REGS + X_SP] = any_value(&seed);
		}
		k = i % 50 ? 64 : WORDS - stack.words;
		for (k = (unsigned int)gen_random(&seed) % k; k; k--)
			push(&stack, any_value(&seed));
		sample(&stack, any_value(&seed));
	}
	save(self, "trace.rtd");
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		run(self, "%s -q -e " UNWIND " trace.rtd", commands[i]);
		EXPECT_EQ(0, self->status) {
			TH_LOG("%s: %s", commands[i], self->err);
		}
	}
}

TEST_HARNESS_MAIN
