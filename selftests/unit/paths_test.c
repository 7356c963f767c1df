// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests that coverage --by path shows each path, and each number of iterations, of known runs. */
#include "command_fixture.h"

/* paths_sample.S */
#define NESTED		0x60000ull
#define WAYS		0x60100ull
#define ITSELF		0x60200ull
#define EXITS		0x60300ull
#define TAIL		0x60400ull
#define STRAIGHT	0x60500ull
#define ELSEWHERE	0x700000ull

#define INSTRUCTION	2	/* halfwords */
#define HISTORY_MAX	30	/* branches in a message */

/* Halfwords and branches that were executed since the last message that reported them. */
struct walk {
	struct gen	*gen;
	uint64_t	at;
	uint64_t	halfwords;
	uint64_t	history;
	unsigned int	branches;
};

static void begin(struct walk *walk, struct gen *gen, uint64_t address)
{
	gen_start(gen, address);
	*walk = (struct walk){ .gen = gen, .at = address, .history = 1 };
}

static void execute(struct walk *walk, unsigned int instructions)
{
	walk->halfwords += INSTRUCTION * instructions;
}

/* Write a Resource Full message, because the history has no room for another branch. */
static void end_history(struct walk *walk)
{
	const uint8_t code[] = { 1 }, bits[] = { 4, 0 };

	gen_message(walk->gen, 27, 0, code, bits, &walk->history, 1);
	walk->history = 1;
	walk->branches = 0;
}

static void branch(struct walk *walk, bool taken)
{
	execute(walk, 1);
	walk->history = walk->history << 1 | taken;
	if (++walk->branches == HISTORY_MAX)
		end_history(walk);
}

/* Execute a return to @address. */
static void return_to(struct walk *walk, uint64_t address)
{
	const uint8_t type[] = { 0 }, bits[] = { 2, 0 };
	const uint64_t field[] = { walk->halfwords, (walk->at ^ address) >> 1, walk->history };

	gen_message(walk->gen, 28, 0, type, bits, field, 3);
	*walk = (struct walk){ .gen = walk->gen, .at = address, .history = 1 };
}

static void end(struct walk *walk)
{
	const uint8_t stop[] = { 4, 1 }, bits[] = { 4, 2, 0 };
	const uint64_t field[] = { walk->halfwords, walk->history };

	gen_message(walk->gen, 33, 0, stop, bits, field, 2);
}

static void show(FIXTURE_DATA(command) *self)
{
	save(self, "t");
	run(self, "coverage -q -s 0 --by path -e " PATHS " t");
}

/* Return whether the output has a row with these columns, ignoring the percentage. */
static bool has_row(FIXTURE_DATA(command) *self, const char *row)
{
	char text[128];

	snprintf(text, sizeof(text), "%s\n", row);
	if (strstr(self->out, text))
		return true;
	fprintf(stderr, "# no %s in:\n%s", row, self->out);
	return false;
}

/* 4 iterations of the inner loop in each of 50 iterations of the outer one. */
TEST_F(command, iterations_of_a_loop_that_begins_with_its_test_are_counted)
{
	unsigned int outer, inner;
	struct walk walk;

	begin(&walk, &self->gen, NESTED);
	execute(&walk, 2);
	for (outer = 0; outer < 50; outer++) {
		branch(&walk, true);
		execute(&walk, 2);
		for (inner = 0; inner < 4; inner++) {
			execute(&walk, 1);
			branch(&walk, true);
			execute(&walk, 2);
		}
		execute(&walk, 1);
		branch(&walk, false);
		execute(&walk, 1);
	}
	branch(&walk, false);
	end(&walk);
	show(self);
	ASSERT_EQ(0, self->status);
	EXPECT_TRUE(has_row(self, "           900           250       4         4.0  nested+0x10"));
}

/* Each of 10 calls has 20 iterations; @longer of every five iterations take the longer branch. */
static void go_both_ways(FIXTURE_DATA(command) *self, unsigned int longer)
{
	unsigned int call, i;
	struct walk walk;

	for (call = 0; call < 10; call++) {
		begin(&walk, &self->gen, WAYS);
		execute(&walk, 1);
		for (i = 0; i < 20; i++) {
			branch(&walk, i % 5 >= longer);
			execute(&walk, i % 5 >= longer ? 1 : 7);
			branch(&walk, i < 19);
		}
		end(&walk);
	}
	show(self);
}

TEST_F(command, loop_begins_at_its_branch_target)
{
	go_both_ways(self, 3);
	ASSERT_EQ(0, self->status);
	EXPECT_TRUE(has_row(self, "          1240           120       9        20.0  ways+0x4"));
	EXPECT_TRUE(has_row(self, "            80            80       1           -  ways+0x24"));
	EXPECT_TRUE(has_row(self, "            10            10       1           -  ways"));
}

TEST_F(command, path_follows_the_more_frequent_branch_direction)
{
	go_both_ways(self, 1);
	ASSERT_EQ(0, self->status);
	EXPECT_TRUE(has_row(self, "           280            40       7           -  ways+0x8"));
	EXPECT_TRUE(has_row(self, "           560           200       3        20.0  ways+0x4"));
}

/*
 * Execute a recursion until @depth is 0, and return from all @most + 1 calls except the outermost.
 */
static void call_itself(struct walk *walk, unsigned int depth, unsigned int most)
{
	branch(walk, !depth);
	if (depth) {
		execute(walk, 2);
		call_itself(walk, depth - 1, most);
		execute(walk, 1);
	}
	execute(walk, 1);
	if (depth == most)
		return;
	execute(walk, 1);
	return_to(walk, ITSELF + 4 * 3);
}

TEST_F(command, recursive_function_is_not_a_loop)
{
	struct walk walk;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		begin(&walk, &self->gen, ITSELF);
		call_itself(&walk, 9, 9);
		end(&walk);
	}
	show(self);
	ASSERT_EQ(0, self->status);
	EXPECT_TRUE(has_row(self, "           168            27       6           -  itself"));
}

TEST_F(command, path_ends_with_a_return)
{
	struct walk walk;
	unsigned int i;

	for (i = 0; i < 50; i++) {
		begin(&walk, &self->gen, EXITS);
		execute(&walk, 2);
		return_to(&walk, ELSEWHERE);
		begin(&walk, &self->gen, EXITS + 8);
		execute(&walk, 3);
		return_to(&walk, ELSEWHERE);
	}
	show(self);
	ASSERT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "150           ~50       3           -  exits+0x8\n"));
	EXPECT_NE(NULL, strstr(self->out, "100           ~50       2           -  exits\n"));
}

TEST_F(command, path_stays_in_one_function)
{
	struct walk walk;

	begin(&walk, &self->gen, TAIL);
	execute(&walk, 2);
	execute(&walk, 2);
	return_to(&walk, ELSEWHERE);
	show(self);
	ASSERT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "2            ~1       2           -  tail\n"));
	EXPECT_NE(NULL, strstr(self->out, "2            ~1       2           -  exits\n"));
}

TEST_F(command, loop_without_inner_branches_is_one_path)
{
	struct walk walk;
	unsigned int i;

	begin(&walk, &self->gen, STRAIGHT);
	execute(&walk, 1);
	for (i = 0; i < 100; i++) {
		execute(&walk, 600);
		branch(&walk, i < 99);
	}
	end(&walk);
	show(self);
	ASSERT_EQ(0, self->status);
	EXPECT_TRUE(has_row(self, "         60100           100     601       100.0  straight+0x4"));
}

/* According to the file, its code is at the end of the address space. */
TEST_F(command, code_at_the_end_of_the_address_space_is_not_a_path)
{
	static const char meta[] = "{\"version\":1,\"instruction\":{\"calls\":\"all\"},\"objects\":["
		"{\"path\":\"" PATHS "\",\"start\":18446744073709547520,"
		"\"end\":18446744073709551615,\"bias\":18446744073709158140}]}";
	const uint64_t last = UINT64_MAX - 3;
	struct walk walk;

	begin(&walk, &self->gen, last);
	execute(&walk, 1);
	end(&walk);
	save(self, "t");
	write_file("t.meta", meta, strlen(meta));
	run(self, "coverage -q -s 0 --by path t");
	EXPECT_EQ(3, self->status);
}

TEST_HARNESS_MAIN
