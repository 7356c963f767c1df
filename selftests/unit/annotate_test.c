// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests the annotate command with programs and traces of known costs. */
#include "command_fixture.h"

/* covered_sample.c */
#define NEVER		0x40000ull
#define WORK		(NEVER + 6 * 4)
#define INSTRUCTIONS	12

/* inlined_sample.c */
#define OUTER		0x60000ull

#define KERNEL		0xffffffff80001000ull

/* Run annotate.py, which fails unless all costs add up. */
static void check(FIXTURE_DATA(command) *self, const char *arguments)
{
	char command[512];

	snprintf(command, sizeof(command), "%s . " COMMAND " %s >out.txt 2>err.txt", CHECK,
		 arguments);
	self->status = system(command);
	read_file("out.txt", self->out);
	read_file("err.txt", self->err);
}

/*
 * work(3): the first branch is not taken, not taken, taken; the second is taken, taken, not
 * taken. The trace stops at the call.
 */
static void run_work(struct gen *gen)
{
	const uint8_t fixed[] = { 4, 1 }, bits[] = { 4, 2, 0 };
	const uint64_t field[] = { 2 * INSTRUCTIONS, 0x56 };

	gen_start(gen, WORK);
	gen_message(gen, 33, 0, fixed, bits, field, 2);
}

static void save_work(FIXTURE_DATA(command) *self)
{
	run_work(&self->gen);
	save(self, "t");
}

/* Return whether a row contains @before, the instruction as printed by LLVM, and @behind. */
static bool has_row(const char *out, const char *before, const char *behind)
{
	const char *row = strstr(out, before), *end = row ? strchr(row, '\n') : NULL;
	const char *found = row ? strstr(row, behind) : NULL;

	return found && found < end;
}

TEST_F(command, instructions_show_execution_and_branch_counts)
{
	save_work(self);
	run(self, "annotate -s 0 -e " LINES " t");
	ASSERT_EQ(0, self->status);
	EXPECT_EQ(&self->out[0], strstr(self->out, "\nwork  covered_sample.elf  /sample/covered.c:22\n"
				   "  12 instructions executed, 100.00% of all\n"
				   "      %        times   address  instruction\n"))
		TH_LOG("%s%s", self->out, self->err);
	EXPECT_TRUE(has_row(self->out, "   8.33            1     40018  ", ""));
	EXPECT_TRUE(has_row(self->out, "  25.00            3     4001c  ", ""));
	EXPECT_TRUE(has_row(self->out, "  25.00            3     40020  ", "# 40028  taken 1, not 2"));
	EXPECT_TRUE(has_row(self->out, "  16.67            2     40024  ", ""));
	EXPECT_TRUE(has_row(self->out, "  25.00            3     40028  ", "# 4001c  taken 2, not 1"));
	EXPECT_TRUE(has_row(self->out, "                   0     4002c  ", ""));
	EXPECT_NE(NULL, strstr(self->out, "\n                                /sample/covered.c:23\n"));
	EXPECT_EQ(NULL, strstr(self->out, "never  "));
	EXPECT_NE(NULL, strstr(self->err, "12 instructions"));
	EXPECT_NE(NULL, strstr(self->err, "/sample/covered.c: source not read: No such file"));
	check(self, "-s 0 -e " LINES " t");
	EXPECT_STREQ("1 functions, 12 instructions, 0 samples, 0 calls, 8 lines\n", self->out)
		TH_LOG("%s", self->err);
}

TEST_F(command, lines_show_source_text_and_coverage_counts)
{
	static const char text[] =
		"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n"
		"void work(void)\n21\n\tasm(\"nop\");\r\ntwenty-three\n24 \x1b[m\n25\n26\n27\n28\nlast";

	save_work(self);
	ASSERT_EQ(0, mkdir("sample", 0777));
	write_file("sample/covered.c", text, strlen(text));
	run(self, "annotate -s 0 --source-only --prefix . -e " LINES " t work");
	ASSERT_EQ(0, self->status);
	EXPECT_STREQ("\nwork  covered_sample.elf  /sample/covered.c:22\n"
		     "  12 instructions executed, 100.00% of all\n"
		     "      % instructions        times  line\n"
		     "   8.33            1            1  /sample/covered.c:22          asm(\"nop\");\n"
		     "  25.00            3            3  /sample/covered.c:23  twenty-three\n"
		     "  25.00            3            3  /sample/covered.c:24  taken 1, not 2  24 ?[m\n"
		     "  16.67            2            2  /sample/covered.c:25  25\n"
		     "  25.00            3            3  /sample/covered.c:26  taken 2, not 1  26\n"
		     "                   0            0  /sample/covered.c:27  27\n"
		     "                   0            0  /sample/covered.c:28  28\n"
		     "                   0            0  /sample/covered.c:29  last\n", self->out);
	EXPECT_EQ(NULL, strstr(self->err, "source not read"));
	/* Strip the first directory of the source's path. The file found has too few lines. */
	ASSERT_EQ(0, rename("sample/covered.c", "covered.c"));
	ASSERT_EQ(0, truncate("covered.c", 81));
	run(self, "annotate -s 0 --source-only --prefix . --prefix-strip 1 -e " LINES " t");
	EXPECT_NE(NULL, strstr(self->out, "covered.c:22          asm(\"nop\");\n"))
		TH_LOG("%s", self->out);
	EXPECT_NE(NULL, strstr(self->err, "/sample/covered.c: has no line 23: this is not the file that was compiled"));
	run(self, "annotate -q -s 0 --no-source -e " LINES " t");
	EXPECT_EQ(NULL, strstr(self->out, "covered.c:23"));
	EXPECT_NE(NULL, strstr(self->out, "  25.00            3     40028  "));
}

TEST_F(command, pipe_as_source_file_does_not_block)
{
	save_work(self);
	ASSERT_EQ(0, mkdir("sample", 0777));
	ASSERT_EQ(0, mkfifo("sample/covered.c", 0666));
	run(self, "annotate -s 0 --prefix . -e " LINES " t");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->err, "./sample/covered.c: source not read: Invalid argument"));
}

TEST_F(command, counts_lowered_by_a_gap_are_marked)
{
	run_work(&self->gen);
	gen_error(&self->gen, 0);
	save_work(self);
	run(self, "annotate -s 0 -e " LINES " t");
	ASSERT_EQ(0, self->status);
	EXPECT_EQ(&self->out[0], strstr(self->out, "Counts may be too low (~): instructions are missing in 1 place (the encoder lost messages).\n"));
	EXPECT_NE(NULL, strstr(self->out, "  ~24 instructions executed, 100.00% of all\n"));
	EXPECT_TRUE(has_row(self->out, "  25.00           ~6     40020  ", "taken ~2, not ~4"));
	EXPECT_NE(NULL, strstr(self->err, "t: counts may be too low: instructions are missing in 1 place"));
	run(self, "annotate -s 0 --strict -e " LINES " t");
	EXPECT_EQ(1, self->status);
	check(self, "-s 0 -e " LINES " t");
	EXPECT_STREQ("1 functions, 24 instructions, 0 samples, 0 calls, 8 lines\n", self->out)
		TH_LOG("%s", self->err);
}

/* In flow_sample.S, functions have no size, and plain follows main. */
#define MAIN_OF_CALLS	0x30000ull

TEST_F(command, function_without_size_ends_at_next_function)
{
	const uint8_t fixed[] = { 4, 0 }, bits[] = { 4, 2, 0 };
	const uint64_t halfwords = 4;

	gen_start(&self->gen, MAIN_OF_CALLS);
	gen_message(&self->gen, 33, 0, fixed, bits, &halfwords, 1);
	save(self, "t");
	run(self, "annotate -q -s 0 -e " CALLS " t main");
	ASSERT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "     300fe  "));
	EXPECT_EQ(NULL, strstr(self->out, "     30100  "));
	check(self, "-s 0 -e " CALLS " t");
	EXPECT_STREQ("2 functions, 2 instructions, 0 samples, 1 calls, 0 lines\n", self->out)
		TH_LOG("%s", self->err);
}

static void indirect(struct gen *gen, uint8_t btype, uint64_t halfwords, uint64_t from, uint64_t to)
{
	const uint8_t bits[] = { 2, 0 };
	const uint64_t field[] = { halfwords, (from ^ to) >> 1 };

	gen_message(gen, 4, 0, &btype, bits, field, 2);
}

#define LEAF		(MAIN_OF_CALLS + 0x500)
#define HANDLER		(MAIN_OF_CALLS + 0x600)
#define ENDER		(MAIN_OF_CALLS + 0xbfc)

TEST_F(command, trap_handler_is_a_call_from_the_instruction)
{
	/* The trap is taken at a four-byte instruction. */
	gen_start(&self->gen, MAIN_OF_CALLS + 12);
	indirect(&self->gen, 2, 2, MAIN_OF_CALLS + 12, HANDLER);
	indirect(&self->gen, 0, 2, HANDLER, MAIN_OF_CALLS + 16);
	indirect(&self->gen, 0, 4, MAIN_OF_CALLS + 16, LEAF);
	save(self, "t");
	run(self, "annotate -q -s 0 -e " CALLS " t main");
	ASSERT_EQ(0, self->status);
	EXPECT_TRUE(has_row(self->out, " 100.00            1  ", "   30010  "))
		TH_LOG("%s%s", self->out, self->err);
	EXPECT_EQ(NULL, strstr(self->out, "30012"));
	EXPECT_EQ(NULL, strstr(self->out, "(a call that returns to here)"));
}

/* main calls tail, which jumps to leaf. */
TEST_F(command, tail_call_is_part_of_the_call)
{
	gen_start(&self->gen, MAIN_OF_CALLS + 4);
	indirect(&self->gen, 0, 6, MAIN_OF_CALLS + 4, MAIN_OF_CALLS + 8);
	indirect(&self->gen, 0, 6, MAIN_OF_CALLS + 8, MAIN_OF_CALLS + 12);
	save(self, "t");
	run(self, "annotate -q -s 0 -e " CALLS " t main");
	ASSERT_EQ(0, self->status);
	EXPECT_TRUE(has_row(self->out, "            1           ~", "  30004  "))
		TH_LOG("%s%s", self->out, self->err);
	EXPECT_NE(NULL, strstr(self->out, "; 2 calls from here, taking "));
	run(self, "annotate -q --json -s 0 -e " CALLS " t main");
	EXPECT_NE(NULL, strstr(self->out, "\"tail_calls\":1}\n"));
	check(self, "-s 0 -e " CALLS " t");
	EXPECT_EQ(0, self->status)
		TH_LOG("%s", self->err);
}

TEST_F(command, call_at_function_end_is_not_in_next_function)
{
	gen_start(&self->gen, ENDER);
	indirect(&self->gen, 0, 4, ENDER, ENDER + 4);
	indirect(&self->gen, 0, 2, ENDER + 4, MAIN_OF_CALLS);
	save(self, "t");
	run(self, "annotate -q -s 0 -e " CALLS " t ender after");
	ASSERT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "\nender  flow_sample.elf\n"
			       "  1 instruction executed, 33.33% of all; 1 call from here, taking "))
		TH_LOG("%s%s", self->out, self->err);
	EXPECT_NE(NULL, strstr(self->out, "\nafter  flow_sample.elf\n"
			       "  1 instruction executed, 33.33% of all\n"));
	EXPECT_EQ(NULL, strstr(self->out, "unknown places"));
	check(self, "-s 0 -e " CALLS " t");
	EXPECT_STREQ("3 functions, 3 instructions, 0 samples, 1 calls, 0 lines\n", self->out)
		TH_LOG("%s", self->err);
}

static void begin(FIXTURE_DATA(command) *self, struct gen_stream *stream)
{
	gen_sync(&self->gen, 0);
	gen_stream_init(stream, &self->gen, 0, 6, 1, 1, 64);
	gen_header(stream);
}

static void sample(struct gen_stream *stream, uint64_t pc, unsigned int count)
{
	uint64_t value = stream->counter[0].previous;

	while (count--) {
		value += 7;
		gen_record(stream, 3, &pc, &value);
	}
}

#define ISLAND		(MAIN_OF_CALLS + 0xd00)

TEST_F(command, code_after_data_is_disassembled_correctly)
{
	gen_start(&self->gen, ISLAND);
	indirect(&self->gen, 0, 3, ISLAND, MAIN_OF_CALLS);
	save(self, "t");
	run(self, "annotate -q -s 0 --no-source -e " CALLS " t island");
	ASSERT_EQ(0, self->status);
	EXPECT_TRUE(has_row(self->out, "                   0     30d02  ", "(no instruction of the function begins here)"))
		TH_LOG("%s%s", self->out, self->err);
	EXPECT_TRUE(has_row(self->out, "  33.33            1     30d04  ", ""));
	EXPECT_TRUE(has_row(self->out, "  33.33            1     30d06  ", ""));
}

TEST_F(command, bitmanip_and_vector_instructions_are_disassembled)
{
	struct gen_stream stream;

	begin(self, &stream);
	sample(&stream, MAIN_OF_CALLS + 0xe00, 1);
	sample(&stream, HANDLER, 1);
	save(self, "t");
	run(self, "annotate -s 0 --no-source -e " CALLS " t extended");
	ASSERT_EQ(0, self->status);
	if (strstr(self->err, "LLVM"))
		SKIP(return, "no library of LLVM");
	EXPECT_TRUE(has_row(self->out, "     30e00  ", "sh1add a0, a1, a2"))
		TH_LOG("%s%s", self->out, self->err);
	EXPECT_TRUE(has_row(self->out, "     30e04  ", "vadd.vv v1, v2, v3"));
	run(self, "annotate -q -s 0 --json -e " CALLS " t handler");
	EXPECT_NE(NULL, strstr(self->out, "\"text\":\"mret\""));
}

#define TWICE	"{\"version\":1,\"objects\":[" \
		"{\"path\":\"" LINES "\",\"start\":262144,\"end\":266240,\"bias\":0}," \
		"{\"path\":\"" LINES "\",\"start\":1310720,\"end\":1314816,\"bias\":1048576}]}"

TEST_F(command, counts_of_a_file_mapped_twice_are_combined)
{
	const uint8_t fixed[] = { 4, 1 }, bits[] = { 4, 2, 0 };
	const uint64_t field[] = { 2 * INSTRUCTIONS, 0x56 };

	run_work(&self->gen);
	gen_start(&self->gen, 0x100000 + WORK);
	gen_message(&self->gen, 33, 0, fixed, bits, field, 2);
	save(self, "t");
	write_file("t.meta", TWICE, strlen(TWICE));
	check(self, "-s 0 t");
	EXPECT_STREQ("1 functions, 24 instructions, 0 samples, 0 calls, 8 lines\n", self->out)
		TH_LOG("%s", self->err);
}

static void call(struct gen_stream *stream, uint64_t function, uint64_t site)
{
	const uint64_t address[] = { function, site };
	uint64_t value = stream->counter[0].previous;

	gen_record(stream, 0, address, &value);
}

static void leave(struct gen_stream *stream, uint64_t function, uint64_t site)
{
	const uint64_t address[] = { function, site };
	uint64_t value = stream->counter[0].previous;

	gen_record(stream, 1, address, &value);
}

TEST_F(command, samples_are_shown_as_shares_of_their_function)
{
	struct gen_stream stream;

	begin(self, &stream);
	sample(&stream, MAIN + 2, 1);
	sample(&stream, MAIN + 0xc, 3);
	/*
	 * One of the addresses is within an instruction, one is not in any object, and one is in
	 * the kernel.
	 */
	sample(&stream, MAIN + 0xe, 4);
	sample(&stream, 0x9000000, 2);
	sample(&stream, KERNEL, 6);
	save(self, "t");
	run(self, "annotate -s 0 -e " PROGRAM " t");
	ASSERT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "\nmain  decode_sample.elf  sample/fib.c:20\n"
			       "  8 samples, 50.00% of all\n"
			       "      %      samples   address  instruction\n"))
		TH_LOG("%s%s", self->out, self->err);
	EXPECT_TRUE(has_row(self->out, "  12.50            1     20002  ", ""));
	EXPECT_TRUE(has_row(self->out, "  37.50            3     2000c  ", "# fib"));
	EXPECT_TRUE(has_row(self->out, "  50.00            4     2000e  ", "(no instruction of the function begins here)"));
	EXPECT_NE(NULL, strstr(self->out, "\nkernel\n  6 samples, 37.50% of all\n"
			       "  No file contains its code: only addresses are shown; name the file with -e or --symfs.\n"
			       "  1 address, shown if \"kernel\" is named.\n"));
	EXPECT_NE(NULL, strstr(self->out, "\nunknown\n  2 samples, 12.50% of all\n"));
	check(self, "-s 0 -e " PROGRAM " t");
	EXPECT_STREQ("3 functions, 0 instructions, 16 samples, 0 calls, 0 lines\n", self->out)
		TH_LOG("%s", self->err);
	run(self, "annotate -q -s 0 -e " PROGRAM " t kernel");
	EXPECT_NE(NULL, strstr(self->out, " 100.00            6  ffffffff80001000  (unknown instruction)\n"));
	EXPECT_EQ(NULL, strstr(self->out, "main"));
	EXPECT_NE(NULL, strstr(self->out, "  No file contains its code: "));
	EXPECT_EQ(NULL, strstr(self->out, "No source lines: the file"));
	run(self, "annotate -q -s 0 -n 1 -e " PROGRAM " t");
	EXPECT_NE(NULL, strstr(self->out, "\n(2 more, see -n)\n"));
	EXPECT_EQ(NULL, strstr(self->out, "kernel"));
}

/* A damaged trace can contain any number of addresses. */
TEST_F(command, addresses_beyond_limit_are_reported_as_loss)
{
	struct gen_stream stream;
	uint64_t pc;

	begin(self, &stream);
	for (pc = 0; pc < (1 << 17) + 3; pc++)
		sample(&stream, MAIN + 2 * pc, 1);
	save(self, "t");
	run(self, "annotate -s 0 -n 1 -e " PROGRAM " t");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->err, "t: too many addresses: 0 executions of instructions, 3 samples and 0 calls are left out"));
	run(self, "annotate -q -s 0 -n 1 --strict -e " PROGRAM " t");
	EXPECT_EQ(1, self->status);
}

TEST_F(command, calls_are_shown_at_their_call_site)
{
	struct gen_stream stream;

	begin(self, &stream);
	call(&stream, MAIN, 0x9000000);
	call(&stream, FIB, MAIN + 0x10);
	/* A recursive call's time is part of the outermost call's time. */
	call(&stream, FIB, FIB + 0x2c);
	leave(&stream, FIB, FIB + 0x2c);
	leave(&stream, FIB, MAIN + 0x10);
	call(&stream, FIB, MAIN + 0x1a);
	leave(&stream, FIB, MAIN + 0x1a);
	/* The records contain the caller's first address, or 0, instead of a call site. */
	call(&stream, FIB, MAIN);
	leave(&stream, FIB, MAIN);
	call(&stream, FIB, 0);
	leave(&stream, FIB, 0);
	leave(&stream, MAIN, 0x9000000);
	save(self, "t");
	run(self, "annotate -s 0 --ts-hz 1000000000 -e " PROGRAM " t main fib");
	ASSERT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "\nmain  decode_sample.elf  sample/fib.c:20\n"
			       "  3 calls from here, taking "))
		TH_LOG("%s%s", self->out, self->err);
	EXPECT_TRUE(has_row(self->out, " ns         -  ", "(calls from unknown places in the function)"));
	EXPECT_TRUE(has_row(self->out, " ns     2000c  ", "# fib"));
	EXPECT_TRUE(has_row(self->out, " ns     20016  ", "# fib"));
	/* The recursive call's time is already part of the time of the call from main. */
	EXPECT_NE(NULL, strstr(self->out, "\nfib  decode_sample.elf  sample/fib.c:12\n"
			       "  1 call from here, taking "));
	EXPECT_TRUE(has_row(self->out, "                   1            -     21028  ", ""))
		TH_LOG("%s", self->out);
	EXPECT_NE(NULL, strstr(self->err, "t: 1 calls without a call site are left out"));
	check(self, "-s 0 -e " PROGRAM " t");
	EXPECT_STREQ("3 functions, 0 instructions, 0 samples, 5 calls, 0 lines\n", self->out)
		TH_LOG("%s", self->err);
}

TEST_F(command, sample_counts_are_exact_if_execution_counts_are_not)
{
	struct gen_stream stream;

	begin(self, &stream);
	/* The last record is lost. */
	sample(&stream, WORK, INSTRUCTIONS + 1);
	gen_error(&self->gen, 0);
	save_work(self);
	run(self, "annotate -q -s 0 -e " LINES " t");
	EXPECT_NE(NULL, strstr(self->out, "  ~12 instructions executed, 100.00% of all; 12 samples, 100.00% of all\n"))
		TH_LOG("%s%s", self->out, self->err);
}

/* Check that shares of random costs add up to 100 %. */
TEST_F(command, shares_of_random_costs_add_up_to_100_percent)
{
	struct gen_stream stream;
	uint64_t seed = 7, random, depth = 0, stack[16][2];
	unsigned int i;

	begin(self, &stream);
	for (i = 0; i < 3000; i++) {
		random = gen_random(&seed);
		if (random % 3 == 0) {
			sample(&stream, MAIN + (random >> 8) % 3 * 0x1000 + (random >> 16) % 48 * 2,
			       1);
		} else if (random % 3 == 1 && depth < 16) {
			stack[depth][0] = random >> 8 & 1 ? FIB : LENGTHY;
			stack[depth][1] = MAIN + (random >> 9) % 2 * 0x1000 +
					  (random >> 16) % 40 * 2;
			call(&stream, stack[depth][0], stack[depth][1]);
			depth++;
		} else if (depth) {
			depth--;
			leave(&stream, stack[depth][0], stack[depth][1]);
		}
	}
	save(self, "t");
	check(self, "-s 0 --ts-hz 1000000 -e " PROGRAM " t");
	EXPECT_EQ(0, self->status)
		TH_LOG("%s", self->err);
}

TEST_F(command, inlined_functions_are_shown_with_their_call_site)
{
	struct gen_stream stream;
	uint64_t pc;

	begin(self, &stream);
	for (pc = OUTER; pc < OUTER + 0x18; pc += 2)
		sample(&stream, pc, 1);
	save(self, "t");
	run(self, "annotate -q -s 0 -e " INLINED " t outer");
	ASSERT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "/sample/inlined.h:7, deepest inlined at /sample/inlined.h:12, inner inlined at /sample/inlined.c:24\n"))
		TH_LOG("%s%s", self->out, self->err);
	EXPECT_NE(NULL, strstr(self->out, "/sample/inlined.h:12, inner inlined at /sample/inlined.c:24\n"));
	EXPECT_NE(NULL, strstr(self->out, "/sample/inlined.c:24\n"));
	run(self, "annotate -q -s 0 --json -e " INLINED " t outer");
	EXPECT_NE(NULL, strstr(self->out, "\"inlined\":[{\"line\":12,\"function\":\"deepest\",\"file\":\"/sample/inlined.h\"},{\"line\":24,\"function\":\"inner\",\"file\":\"/sample/inlined.c\"}]"));
	EXPECT_NE(NULL, strstr(self->out, "{\"address\":\"0x60000\",\"kind\":\"instruction\","));
	EXPECT_NE(NULL, strstr(self->out, "{\"address\":\"0x60006\",\"kind\":\"none\","));
	run(self, "annotate -q -s 0 --json --source-only -e " INLINED " t outer");
	EXPECT_NE(NULL, strstr(self->out, "{\"line\":7,\"file\":\"/sample/inlined.h\",\"inlined\":[{\"line\":12,\"function\":\"deepest\",\"file\":\"/sample/inlined.h\"},{\"line\":24,"))
		TH_LOG("%s", self->out);
	check(self, "-s 0 -e " INLINED " t");
	EXPECT_STREQ("1 functions, 0 instructions, 12 samples, 0 calls, 0 lines\n", self->out)
		TH_LOG("%s", self->err);
}

TEST_F(command, brackets_in_a_name_match_literally)
{
	static const char * const named[] = {
		"annotate -q -s 0 --no-source", "report -q -s 0 --filter", "graph -q -s 0 --filter",
	};
	struct gen_stream stream;
	unsigned int i;

	ASSERT_EQ(0, symlink(PROGRAM, "libsifive-perf.so"));
	begin(self, &stream);
	call(&stream, MAIN, MAIN + 0x10);
	sample(&stream, MAIN, 1);
	leave(&stream, MAIN, MAIN + 0x10);
	save(self, "t");
	for (i = 0; i < 3; i++) {
		run(self, "%s %s 'm?in [tracer]'%s -e libsifive-perf.so", named[i], i ? "" : "t",
		    i ? " t" : "");
		EXPECT_EQ(0, self->status);
		EXPECT_NE(NULL, strstr(self->out, "main [tracer]"))
			TH_LOG("%s: %s%s", named[i], self->out, self->err);
		run(self, "%s %s 'main [tracer'%s -e libsifive-perf.so", named[i], i ? "" : "t",
		    i ? " t" : "");
		EXPECT_EQ(NULL, strstr(self->out, "main"));
	}
}

/* Debug information and files cannot help. */
TEST_F(command, generated_functions_get_no_advice)
{
	static const char meta[] =
		"{\"version\":1,\"channel\":6,\"files\":\"t.files\",\"generated\":[\"/tmp/perf-71.map\"],"
		"\"threads\":[{\"channel\":6,\"pid\":71,\"tid\":71}]}", map[] = "20000 2000 made\n";

	sample_trace(&self->gen, 0, 0);
	save(self, "t");
	write_file("t.meta", meta, strlen(meta));
	ASSERT_EQ(0, mkdir("t.files", 0777));
	ASSERT_EQ(0, mkdir("t.files/tmp", 0777));
	write_file("t.files/tmp/perf-71.map", map, strlen(map));
	run(self, "annotate -q -s 0 t made");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "made  perf-71.map\n")) TH_LOG("%s%s", self->out, self->err);
	EXPECT_NE(NULL, strstr(self->out, "  The program generated this function, and its code was not recorded: only addresses are shown.\n"))
		TH_LOG("%s", self->out);
	EXPECT_EQ(NULL, strstr(self->out, "with -e")) TH_LOG("%s", self->out);
}

TEST_F(command, missing_annotations_are_reported)
{
	struct gen_stream stream;

	save_work(self);
	run(self, "annotate -q -s 0 -e " LINES ".stripped t");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "  No source lines: the file has no line numbers for this function (compile with -g).\n"));
	EXPECT_NE(NULL, strstr(self->out, "  25.00            3     40020  "));
	run(self, "annotate -q -s 0 -e " LINES " t never wo*");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->err, "t: the trace contains nothing about function \"never\": "));
	EXPECT_EQ(NULL, strstr(self->err, "\"wo*\""));
	run(self, "annotate -q -s 0 -e " LINES " t never");
	EXPECT_EQ(3, self->status);
	EXPECT_STREQ("", self->out);
	run(self, "annotate -s 0 --source-only --no-source t");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "--source-only and --no-source cannot be combined"));
	run(self, "annotate");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "annotate: no trace; "));
	gen_free(&self->gen);
	gen_init(&self->gen, 0, 40);
	begin(self, &stream);
	call(&stream, MAIN, 0);
	save(self, "u");
	run(self, "annotate -s 0 -e " PROGRAM " u");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "u: nothing to annotate: no instruction trace, no samples, and no calls with call sites"));
}

TEST_HARNESS_MAIN
