// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that instructions and branches of random programs are counted exactly in every mode of an
 * encoder. If messages are lost, no count is too high and the reader reports the loss.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "analysis/executed.h"
#include "flow_program.h"
#include "kept_report.h"
#include "meta.h"

#define STEPS	3000
#define RUNS	20

FIXTURE(counts) {
	struct program	program;
	struct gen	gen;
	char		path[64];
	struct meta	meta;
	struct symbols	*symbols;
	struct counts	*counts;
	struct executed	executed;
	uint64_t	times[PROGRAM_HALFWORDS];
};

FIXTURE_SETUP(counts)
{
	memset(self, 0, sizeof(*self));
	snprintf(self->path, sizeof(self->path), "/tmp/counts_test.%d", getpid());
}

static void forget(FIXTURE_DATA(counts) *self)
{
	executed_free(&self->executed);
	memset(&self->executed, 0, sizeof(self->executed));
	counts_free(self->counts);
	symbols_close(self->symbols);
	self->counts = NULL;
	self->symbols = NULL;
	gen_free(&self->gen);
	program_free(&self->program);
	unlink(self->path);
}

FIXTURE_TEARDOWN(counts)
{
	forget(self);
}

static void read_all(FIXTURE_DATA(counts) *self)
{
	struct nexus_options options = { .src_bits = 3, .ts_width = 40 };
	struct nexus_message message;
	enum nexus_item item;
	struct nexus nexus;
	bool ended = false;

	if (nexus_init(&nexus, &options))
		abort();
	nexus_feed(&nexus, self->gen.data, self->gen.length);
	for (;;) {
		item = nexus_next(&nexus, &message);
		if (item == NEXUS_MORE && ended)
			break;
		if (item == NEXUS_MORE)
			nexus_end(&nexus);
		ended |= item == NEXUS_MORE;
		if (item == NEXUS_GAP)
			counts_damaged(self->counts, &message);
		else if (item == NEXUS_MESSAGE && counts_message(self->counts, &message))
			abort();
	}
	if (counts_flush(self->counts))
		abort();
}

static void run(FIXTURE_DATA(counts) *self, const struct tracer *tracer, uint64_t seed)
{
	struct symbols_options names = { .file = { self->path }, .files = 1 };

	forget(self);
	program_make(&self->program, &seed);
	program_write(&self->program, self->path);
	gen_init(&self->gen, 3, 40);
	program_run(&self->program, tracer, &self->gen, STEPS, &seed);
	meta_init(&self->meta);
	self->symbols = symbols_open(&names, &self->meta);
	self->counts = counts_new(self->symbols, META_CALLS_ALL);
	if (!self->symbols || !self->counts)
		abort();
	read_all(self);
	if (executed_make(&self->executed, self->counts, self->symbols))
		abort();
	memset(self->times, 0, sizeof(self->times));
	executed_times(&self->executed, PROGRAM_BASE, PROGRAM_HALFWORDS, self->times);
}

/*
 * Return the number of times that the run executed the instruction at @pc or, if @to is set, went
 * from @pc to @to.
 */
static uint64_t expected(const struct program *program, uint64_t pc, const uint64_t *to)
{
	uint64_t times = 0;
	size_t i;

	for (i = 0; i < program->pcs; i++)
		times += program->pc[i] == pc &&
			 (!to || (i + 1 < program->pcs && program->pc[i + 1] == *to));
	return times;
}

/* Return the number of instructions whose count differs from the run's. */
static unsigned int wrong_times(const FIXTURE_DATA(counts) *self)
{
	unsigned int i, wrong = 0;

	for (i = 0; i < self->program.halfwords; i++)
		wrong += self->times[i] !=
			 expected(&self->program, PROGRAM_BASE + 2 * i, NULL);
	return wrong;
}

static const struct tracer tracers[] = {
	{ .btm = true, .icnt_max = 4096, .sync = 50 },
	{ .btm = true, .repeats = true, .icnt_max = 512 },
	{ .hist_bits = 31, .icnt_max = 4096, .sync = 20 },
	{ .hist_bits = 31, .implicit = 1023, .version0 = true, .repeats = true,
	  .icnt_max = 4096, .sync = 20 },
};

TEST_F(counts, instruction_counts_are_exact)
{
	char why[COUNTS_WHY_SIZE];
	unsigned int i, j;

	for (i = 0; i < RUNS; i++)
		for (j = 0; j < ARRAY_SIZE(tracers); j++) {
			struct tracer tracer = tracers[j];

			tracer.traps = i % 2;
			tracer.stops = i % 4 > 1;
			run(self, &tracer, 100 * i + j);
			ASSERT_EQ(0, wrong_times(self))
				TH_LOG("seed %u, tracer %u", 100 * i + j, j);
			ASSERT_TRUE(tracer.stops || counts_exact(self->counts, why));
		}
}

/*
 * The transition after the last instruction may also be counted if the code determines its target.
 */
static bool is_right(const FIXTURE_DATA(counts) *self, const struct executed_link *link)
{
	const struct program *program = &self->program;
	uint64_t times = expected(program, link->from, &link->to);

	return link->times == times ||
	       (link->from == program->pc[program->pcs - 1] && link->times == times + 1);
}

static bool is_way(unsigned int act)
{
	return act == ACT_BRANCH || act == ACT_JUMP || act == ACT_CALL || act == ACT_CALL_TO ||
	       act == ACT_JUMP_TO || act == ACT_RETURN || act == ACT_SWAP;
}

/* Return the number of branches and jumps executed, excluding the last instruction. */
static uint64_t expected_ways(const FIXTURE_DATA(counts) *self)
{
	const struct program *program = &self->program;
	uint64_t ways = 0;
	size_t i;

	for (i = 0; i + 1 < program->pcs; i++)
		ways += is_way(program->act[(program->pc[i] - PROGRAM_BASE) / 2]);
	return ways;
}

TEST_F(counts, branch_target_counts_are_exact)
{
	const struct executed_link *link;
	uint64_t branches = 0, jumps = 0, ways;
	unsigned int i, j;
	size_t k;

	for (i = 0; i < RUNS; i++) {
		for (j = 0; j < ARRAY_SIZE(tracers); j++) {
			run(self, &tracers[j], 7000 + 100 * i + j);
			for (ways = k = 0; k < self->executed.links; k++) {
				link = &self->executed.from[k];
				if (link->kind >= FLOW_BRANCH && link->kind <= FLOW_SWAP)
					ways += link->times;
				ASSERT_TRUE(is_right(self, link))
					TH_LOG("seed %u, tracer %u", 7000 + 100 * i + j, j);
				branches += link->kind == FLOW_BRANCH;
				jumps += link->kind >= FLOW_INDIRECT_JUMP;
			}
			ASSERT_LE(expected_ways(self), ways);
			ASSERT_GE(expected_ways(self) + 1, ways);
		}
	}
	EXPECT_LT(1000, branches);
	EXPECT_LT(100, jumps);
}

/* A branch followed by a trap also has a target. */
TEST_F(counts, branch_target_counts_add_up_to_executions)
{
	const struct tracer tracer = {
		.hist_bits = 31, .icnt_max = 4096, .sync = 20, .traps = true,
	};
	const struct executed_link *link;
	unsigned int i, branches = 0;
	uint64_t sum, pc;
	size_t k;

	for (i = 0; i < RUNS; i++) {
		run(self, &tracer, 9000 + i);
		for (k = 0; k < self->executed.links; ) {
			link = &self->executed.from[k];
			pc = link->from;
			for (sum = 0; k < self->executed.links &&
			     self->executed.from[k].from == pc; k++)
				sum += self->executed.from[k].times;
			if (link->kind != FLOW_BRANCH ||
			    pc == self->program.pc[self->program.pcs - 1])
				continue;
			branches++;
			ASSERT_EQ(self->times[(pc - PROGRAM_BASE) / 2], sum);
		}
	}
	EXPECT_LT(100, branches);
}

TEST_F(counts, are_never_too_high_after_a_loss)
{
	const struct tracer tracer = {
		.hist_bits = 31, .icnt_max = 4096, .sync = 20, .overflows = true,
	};
	char why[COUNTS_WHY_SIZE];
	unsigned int i, inexact = 0;

	for (i = 0; i < RUNS; i++) {
		run(self, &tracer, 11000 + i);
		/* The list of the run's instructions excludes any that no message describes. */
		ASSERT_EQ(0, wrong_times(self));
		if (counts_exact(self->counts, why))
			continue;
		inexact++;
		ASSERT_NE(NULL, strstr(why, "the encoder lost messages"));
	}
	EXPECT_LT(RUNS / 2, inexact);
}

TEST_HARNESS_MAIN
