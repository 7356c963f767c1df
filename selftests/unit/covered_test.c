// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests the coverage command, and profiles from export, with a program whose run is known. */
#include "command_fixture.h"

/* covered_sample.c */
#define NEVER		0x40000ull
#define WORK		(NEVER + 6 * 4)
#define SHARED		(WORK + 9 * 4)
#define INSTRUCTIONS	12

/*
 * work(3): the first branch is not taken, not taken, taken; the second is taken, taken, not
 * taken. The trace stops at the call.
 */
static void run_from(struct gen *gen, uint64_t address)
{
	const uint8_t fixed[] = { 4, 1 }, bits[] = { 4, 2, 0 };
	const uint64_t field[] = { 2 * INSTRUCTIONS, 0x56 };

	gen_start(gen, address);
	gen_message(gen, 33, 0, fixed, bits, field, 2);
}

static void run_work(struct gen *gen)
{
	run_from(gen, WORK);
}

static void cover(FIXTURE_DATA(command) *self, const char *options)
{
	run_work(&self->gen);
	save(self, "t");
	run(self, "coverage -s 0 -e " LINES " %s t", options);
}

TEST_F(command, lines_and_branch_directions_are_counted)
{
	cover(self, "--by line");
	ASSERT_EQ(0, self->status);
	EXPECT_STREQ("       times  line  branches: taken/not taken\n"
		     "           0  /sample/covered.c:10\n"
		     "           0  /sample/covered.c:12\n"
		     "           0  /sample/covered.c:13  -\n"
		     "           0  /sample/covered.c:14\n"
		     "           0  /sample/covered.c:15\n"
		     "           1  /sample/covered.c:20\n"
		     "           1  /sample/covered.c:22\n"
		     "           3  /sample/covered.c:23\n"
		     "           3  /sample/covered.c:24  1/2\n"
		     "           2  /sample/covered.c:25\n"
		     "           3  /sample/covered.c:26  2/1\n"
		     "           0  /sample/covered.c:27\n"
		     "           0  /sample/covered.c:28\n"
		     "           0  /sample/covered.c:29\n"
		     "           0  /sample/shared.h:40\n"
		     "           0  /sample/shared.h:42\n"
		     "           0  /sample/shared.h:43\n"
		     "           0  /sample/shared.h:44\n", self->out);
	EXPECT_NE(NULL, strstr(self->err, "12 instructions"));
}

TEST_F(command, functions_and_files_show_their_shares)
{
	cover(self, "");
	ASSERT_EQ(0, self->status);
	EXPECT_STREQ("       calls       lines      %    branches      %  function\n"
		     "           0         0/5   0.00         0/2   0.00  never  /sample/covered.c:10\n"
		     "           1         6/9  66.67         4/4 100.00  work  /sample/covered.c:20\n"
		     "           0         0/4   0.00           -      -  shared  /sample/shared.h:40\n",
		     self->out);
	run(self, "coverage -q -s 0 --by file -e " LINES " t");
	EXPECT_STREQ("   functions       lines      %    branches      %  file\n"
		     "         1/2        6/14  42.86         4/6  66.67  /sample/covered.c\n"
		     "         0/1         0/4   0.00           -      -  /sample/shared.h\n"
		     "         1/3        6/18  33.33         4/6  66.67  all\n", self->out);
}

TEST_F(command, lcov_output_contains_all_counts)
{
	cover(self, "--format lcov -o made");
	ASSERT_EQ(0, self->status);
	read_file("made", self->out);
	EXPECT_STREQ("TN:\nSF:/sample/covered.c\n"
		     "FN:10,never\nFNDA:0,never\nFN:20,work\nFNDA:1,work\nFNF:2\nFNH:1\n"
		     "BRDA:13,0,0,-\nBRDA:13,0,1,-\nBRDA:24,0,0,1\nBRDA:24,0,1,2\n"
		     "BRDA:26,0,0,2\nBRDA:26,0,1,1\nBRF:6\nBRH:4\n"
		     "DA:10,0\nDA:12,0\nDA:13,0\nDA:14,0\nDA:15,0\nDA:20,1\nDA:22,1\nDA:23,3\nDA:24,3\nDA:25,2\nDA:26,3\n"
		     "DA:27,0\nDA:28,0\nDA:29,0\nLF:14\nLH:6\nend_of_record\n"
		     "TN:\nSF:/sample/shared.h\nFN:40,shared\nFNDA:0,shared\nFNF:1\nFNH:0\n"
		     "BRF:0\nBRH:0\nDA:40,0\nDA:42,0\nDA:43,0\nDA:44,0\nLF:4\nLH:0\nend_of_record\n", self->out);
}

TEST_F(command, by_is_refused_for_lcov_output)
{
	cover(self, "--format lcov --by line");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "--by applies to the table"));
}

TEST_F(command, counts_lowered_by_a_gap_are_marked)
{
	run_work(&self->gen);
	gen_start(&self->gen, WORK + 4 * 3);
	gen_error(&self->gen, 0);
	run_work(&self->gen);
	save(self, "t");
	run(self, "coverage -s 0 --by line -e " LINES " t");
	ASSERT_EQ(0, self->status);
	EXPECT_EQ(&self->out[0], strstr(self->out, "Counts may be too low (~): instructions are missing in 1 place (the encoder lost messages).\n"));
	EXPECT_NE(NULL, strstr(self->out, "          ~6  /sample/covered.c:24  ~2/4\n"));
	EXPECT_NE(NULL, strstr(self->out, "          ~0  /sample/covered.c:14\n"));
	EXPECT_NE(NULL, strstr(self->err, "t: counts may be too low: "));
	run(self, "coverage -s 0 --by path -e " LINES " t");
	EXPECT_EQ(&self->out[0], strstr(self->out, "Counts may be too low (~): "));
	EXPECT_NE(NULL, strstr(self->out, "           ~22            ~6       4        ~3.0  work+0x4"));
	EXPECT_NE(NULL, strstr(self->err, "t: counts may be too low: "));
	run(self, "coverage -q -s 0 --format lcov -e " LINES " t");
	EXPECT_EQ(&self->out[0], strstr(self->out, "# counts may be too low: "));
	run(self, "export -s 0 --format bolt -e " LINES " t");
	EXPECT_NE(NULL, strstr(self->err, "t: counts may be too low: "));
}

/* Trace the execution of @count four-byte instructions. */
static void run_some(struct gen *gen, uint64_t address, unsigned int count)
{
	const uint8_t fixed[] = { 4, 0 }, bits[] = { 4, 2, 0 };
	const uint64_t halfwords = 2 * count;

	gen_start(gen, address);
	gen_message(gen, 33, 0, fixed, bits, &halfwords, 1);
}

static void run_one(struct gen *gen, uint64_t address)
{
	run_some(gen, address, 1);
}

#define PATHS	"      %  instructions         times  length  iterations  path\n"

/* The hot path is the loop, without the instruction before it. */
TEST_F(command, hot_path_contains_the_most_frequent_successors)
{
	cover(self, "--by path");
	ASSERT_EQ(0, self->status);
	EXPECT_STREQ(PATHS "  91.67            11             3       4         3.0  work+0x4  /sample/covered.c:23-26\n"
		     "   8.33             1             1       1           -  work  /sample/covered.c:22\n",
		     self->out);
	run(self, "coverage -q -s 0 --by path -n 1 -e " LINES " t");
	EXPECT_STREQ(PATHS "  91.67            11             3       4         3.0  work+0x4  /sample/covered.c:23-26\n"
		     "   8.33             1                                    (1 more)\n", self->out);
	run(self, "coverage -q -s 0 --by path -e " LINES ".stripped t");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, " 3.0  work+0x4\n"));
	run(self, "coverage -s 0 --by path -e " PROGRAM " t");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "no paths: no file contains the executed code"));
	EXPECT_STREQ("", self->out);
}

TEST_F(command, hot_path_continues_after_a_call)
{
	run_some(&self->gen, WORK + 4 * 5, 2);
	run_some(&self->gen, NEVER, 1);
	run_some(&self->gen, WORK + 4 * 7, 1);
	save(self, "t");
	run(self, "coverage -q -s 0 --by path -e " LINES " t");
	ASSERT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "  75.00            ~3            ~1       3           -  work+0x14  /sample/covered.c:27-28\n")) {
		TH_LOG("%s", self->out);
	}
	EXPECT_NE(NULL, strstr(self->out, "  25.00            ~1            ~1       1           -  never  /sample/covered.c:12\n"));
}

TEST_F(command, only_hot_paths_have_a_limit)
{
	cover(self, "-n 5");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "-n applies to --by path"));
	cover(self, "--by path --format lcov");
	EXPECT_EQ(2, self->status);
}

#define KERNEL		0xffffffff80000000ull
#define OF_PROGRAM(calls) "{\"version\":1,\"instruction\":{\"calls\":\"" calls "\"},\"objects\":[" \
			"{\"path\":\"" LINES "\",\"start\":262144,\"end\":266240,\"bias\":0}]}"

static void branch(struct gen *gen, uint8_t btype, uint64_t from, uint64_t to)
{
	const uint8_t fixed[] = { btype }, bits[] = { 2, 0 };
	const uint64_t field[] = { 0, (from ^ to) >> 1, 1 };

	gen_message(gen, 28, 0, fixed, bits, field, 3);
}

static void run_thread(struct gen *gen, uint64_t thread)
{
	const uint64_t process = thread << 5 | 2;

	gen_message(gen, 2, 0, NULL, NULL, &process, 1);
}

static void stop(struct gen *gen, uint64_t halfwords)
{
	const uint8_t fixed[] = { 4, 0 }, bits[] = { 4, 2, 0 };

	gen_message(gen, 33, 0, fixed, bits, &halfwords, 1);
}

#define USER		OF_PROGRAM("user")
#define ALL		OF_PROGRAM("all")

static void run_calls(FIXTURE_DATA(command) *self, const char *meta)
{
	save(self, "t");
	write_file("t.meta", meta, strlen(meta));
	run(self, "coverage -q -s 0 --by line t");
}

TEST_F(command, probed_instructions_are_counted)
{
	struct gen *gen = &self->gen;

	run_thread(gen, 7);
	gen_start(gen, NEVER);
	branch(gen, 1, NEVER, KERNEL);
	/* Another thread also executes a probed branch. */
	run_thread(gen, 8);
	branch(gen, 0, KERNEL, NEVER + 4);
	branch(gen, 1, NEVER + 4, KERNEL);
	run_thread(gen, 7);
	branch(gen, 0, KERNEL, NEVER + 4);
	branch(gen, 1, NEVER + 4, KERNEL);
	run_thread(gen, 8);
	branch(gen, 0, KERNEL, NEVER + 4 * 3);
	branch(gen, 1, NEVER + 4 * 3, KERNEL);
	run_thread(gen, 7);
	branch(gen, 0, KERNEL, NEVER + 4 * 2);
	stop(gen, 2);
	run_calls(self, USER);
	EXPECT_NE(NULL, strstr(self->out, "           1  /sample/covered.c:10\n"
			       "           1  /sample/covered.c:12\n"
			       "           2  /sample/covered.c:13  1/1\n"
			       "           0  /sample/covered.c:14\n"));
	EXPECT_EQ(NULL, strchr(self->out, '~'));
}

/* The first source's messages wait for a Sync message that confirms them. */
TEST_F(command, thread_that_continues_on_another_hart_is_recognised)
{
	const uint8_t sync[] = { 5 }, trap[] = { 1 }, off[] = { 4, 0 };
	const uint8_t four[] = { 4, 0 }, two[] = { 2, 0 }, both[] = { 4, 2, 0 };
	const uint64_t process = 7 << 5 | 2, halfwords = 2;
	const uint64_t here[] = { 0, NEVER >> 1 }, there[] = { 0, (NEVER + 4) >> 1 };
	const uint64_t away[] = { 0, (NEVER ^ KERNEL) >> 1, 1 };
	struct gen *gen = &self->gen;

	gen_free(gen);
	gen_init(gen, 1, 40);
	gen_message(gen, 2, 0, NULL, NULL, &process, 1);
	gen_message(gen, 9, 0, sync, four, here, 2);
	gen_message(gen, 28, 0, trap, two, away, 3);
	gen_message(gen, 2, 1, NULL, NULL, &process, 1);
	gen_message(gen, 9, 1, sync, four, there, 2);
	gen_message(gen, 33, 1, off, both, &halfwords, 1);
	save(self, "t");
	write_file("t.meta", USER, strlen(USER));
	run(self, "coverage -q -s 1 --ts-width 40 --by line t");
	EXPECT_NE(NULL, strstr(self->out, "           1  /sample/covered.c:12\n"))
		TH_LOG("%s%s", self->out, self->err);
}

/* After a page fault, a signal handler runs and takes page faults, too. */
TEST_F(command, instruction_restarted_after_a_fault_is_counted_once)
{
	struct gen *gen = &self->gen;

	gen_start(gen, NEVER);
	branch(gen, 1, NEVER, KERNEL);
	branch(gen, 0, KERNEL, WORK);
	branch(gen, 1, WORK, KERNEL);
	branch(gen, 0, KERNEL, WORK);
	branch(gen, 1, WORK, KERNEL);
	branch(gen, 0, KERNEL, NEVER);
	stop(gen, 2);
	run_calls(self, USER);
	EXPECT_NE(NULL, strstr(self->out, "           1  /sample/covered.c:12\n"));
	EXPECT_NE(NULL, strstr(self->out, "           0  /sample/covered.c:22\n"));
	EXPECT_EQ(NULL, strchr(self->out, '~'));
}

TEST_F(command, return_possibly_executed_by_the_kernel_is_marked)
{
	struct gen *gen = &self->gen;

	gen_start(gen, NEVER + 4 * 4);
	branch(gen, 1, NEVER + 4 * 4, KERNEL);
	branch(gen, 0, KERNEL, WORK);
	stop(gen, 2);
	run_calls(self, USER);
	EXPECT_EQ(&self->out[0], strstr(self->out, "Counts may be too low (~): the kernel may have executed 1 indirect branch at which the program trapped.\n"));
}

TEST_F(command, unknown_code_of_a_traced_kernel_is_reported_missing)
{
	struct gen *gen = &self->gen;

	gen_start(gen, NEVER);
	branch(gen, 1, NEVER, KERNEL);
	branch(gen, 0, KERNEL, NEVER);
	stop(gen, 2);
	run_calls(self, ALL);
	EXPECT_EQ(&self->out[0], strstr(self->out, "Counts may be too low (~): instructions are missing in 1 place (kernel code, which no file contains).\n"));
}

TEST_F(command, messages_lost_before_the_flow_are_marked)
{
	gen_error(&self->gen, 0);
	run_work(&self->gen);
	save(self, "t");
	run(self, "coverage -q -s 0 -e " LINES " t");
	EXPECT_EQ(&self->out[0], strstr(self->out, "Counts may be too low (~): the encoder lost messages once.\n"));
}

TEST_F(command, truncated_last_message_is_marked)
{
	run_work(&self->gen);
	run_work(&self->gen);
	self->gen.length -= 2;
	save(self, "t");
	run(self, "coverage -q -s 0 -e " LINES " t");
	EXPECT_EQ(&self->out[0], strstr(self->out, "Counts may be too low (~): the last message is cut off.\n"));
}

/* split_sample.S */
#define SPLIT_START	0x50000ull

TEST_F(command, split_off_code_belongs_to_its_function)
{
	const uint8_t fixed[] = { 4, 1 }, bits[] = { 4, 2, 0 };
	const uint64_t field[] = { 2 * 5, 3 };

	gen_start(&self->gen, SPLIT_START);
	gen_message(&self->gen, 33, 0, fixed, bits, field, 2);
	save(self, "t");
	run(self, "coverage -q -s 0 --by line -e " SPLIT " t");
	EXPECT_STREQ("       times  line  branches: taken/not taken\n"
		     "           1  /sample/split.c:5\n"
		     "           1  /sample/split.c:7  1/0\n"
		     "           1  /sample/split.c:8\n"
		     "           1  /sample/split.c:9\n", self->out);
	run(self, "coverage -q -s 0 -e " SPLIT " t");
	EXPECT_STREQ("       calls       lines      %    branches      %  function\n"
		     "           1         4/4 100.00         1/2  50.00  split  /sample/split.c:5\n",
		     self->out);
}

TEST_F(command, function_in_two_compilation_units_is_counted_once)
{
	run_one(&self->gen, SHARED);
	save(self, "t");
	run(self, "coverage -q -s 0 --by line -e " LINES " t");
	EXPECT_NE(NULL, strstr(self->out, "           1  /sample/shared.h:40\n"));
}

/* A line counts as executed even if the trace begins after its first instruction. */
TEST_F(command, line_entered_in_a_gap_counts_as_executed)
{
	run_one(&self->gen, NEVER + 4 * 2);
	save(self, "t");
	run(self, "coverage -q -s 0 --by line -e " LINES " t");
	EXPECT_NE(NULL, strstr(self->out, "           1  /sample/covered.c:13  -\n"));
}

#define TWICE	"{\"version\":1,\"objects\":[" \
		"{\"path\":\"" LINES "\",\"start\":262144,\"end\":266240,\"bias\":0}," \
		"{\"path\":\"" LINES "\",\"start\":1310720,\"end\":1314816,\"bias\":1048576}]}"

TEST_F(command, counts_of_a_file_mapped_twice_are_combined)
{
	run_work(&self->gen);
	run_from(&self->gen, 0x100000 + WORK);
	save(self, "t");
	write_file("t.meta", TWICE, strlen(TWICE));
	run(self, "coverage -q -s 0 t");
	ASSERT_EQ(0, self->status);
	EXPECT_STREQ("       calls       lines      %    branches      %  function\n"
		     "           0         0/5   0.00         0/2   0.00  never  /sample/covered.c:10\n"
		     "           2         6/9  66.67         4/4 100.00  work  /sample/covered.c:20\n"
		     "           0         0/4   0.00           -      -  shared  /sample/shared.h:40\n",
		     self->out);
	run(self, "export -q -s 0 --format bolt --object " LINES " t");
	EXPECT_NE(NULL, strstr(self->out, "B 40028 4001c 4 0\n"));
}

TEST_F(command, program_without_line_numbers_has_no_coverage)
{
	run_work(&self->gen);
	save(self, "t");
	run(self, "coverage -s 0 -e " LINES ".stripped t");
	EXPECT_EQ(3, self->status);
	EXPECT_STREQ("", self->out);
	EXPECT_NE(NULL, strstr(self->err, "no source lines: no executed code has line numbers"));
}

TEST_F(command, trace_of_records_has_no_coverage)
{
	write_file("kept", "kept", 4);
	sample_trace(&self->gen, 0, 0);
	save(self, "t");
	run(self, "coverage -s 0 -o kept -e " LINES " t");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "no instruction trace"));
	read_file("kept", self->out);
	EXPECT_STREQ("kept", self->out);
	run(self, "export -s 0 --format profgen -e " LINES " t");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "no instruction trace"));
}

TEST_F(command, bolt_output_contains_branches_and_fall_throughs)
{
	run_work(&self->gen);
	save(self, "t");
	run(self, "export -q -s 0 --format bolt -e " LINES " t");
	ASSERT_EQ(0, self->status);
	EXPECT_STREQ("F 40020 40024 2\n"
		     "B 40020 40028 1 0\n"
		     "B 40028 4001c 2 0\n"
		     "F 40028 4002c 1\n"
		     "F 40018 40020 1\n"
		     "F 4001c 40020 2\n"
		     "F 40024 40028 2\n"
		     "F 40028 40028 1\n", self->out);
}

TEST_F(command, profgen_output_is_relative_to_the_first_segment)
{
	run_work(&self->gen);
	save(self, "t");
	run(self, "export -q -s 0 --format profgen -e " LINES " t");
	ASSERT_EQ(0, self->status);
	EXPECT_STREQ("4\n18-20:1\n1c-20:2\n24-28:2\n28-28:1\n"
		     "2\n20->28:1\n28->1c:2\n", self->out);
}

TEST_F(command, unexecuted_object_is_refused_and_executed_ones_listed)
{
	run_work(&self->gen);
	save(self, "t");
	run(self, "export -q -s 0 --format bolt --object libc.so.6 -e " LINES " t");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "no code of libc.so.6 was executed"));
	EXPECT_NE(NULL, strstr(self->err, "covered_sample.elf was executed"));
	run(self, "export -q -s 0 --format folded --object x -e " LINES " t");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "--object applies to profiles of branches"));
}

TEST_HARNESS_MAIN
