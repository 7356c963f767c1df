// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that the flow of random programs is followed exactly in every mode of an encoder. If
 * messages are lost, damaged or truncated, every part of the flow is either exact or marked as
 * missing.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "flow/flow.h"
#include "flow_program.h"
#include "meta.h"

#define STEPS	3000

/* The flow of one source as read: addresses, and PROGRAM_GAP wherever addresses are missing. */
struct found {
	unsigned int	src;
	uint64_t	*pc;
	size_t		pcs;
	size_t		room;
	uint64_t	gaps[FLOW_GAPS];
	uint64_t	contexts;
	uint64_t	exceptions;
	uint64_t	time;
	bool		backwards;
};

static void note(struct found *found, uint64_t pc)
{
	if (found->pcs == found->room) {
		found->room = 2 * found->room + 1024;
		found->pc = realloc(found->pc, found->room * sizeof(*found->pc));
		if (!found->pc)
			abort();
	}
	found->pc[found->pcs++] = pc;
}

static void on_run(void *context, const struct flow_place *place, const struct flow_run *run)
{
	struct found *found = context;
	uint64_t times = run->times, time;
	unsigned int at;

	if (place->src != found->src)
		return;

	if (flow_time(place, &time)) {
		found->backwards |= time < found->time;
		found->time = time;
	}
	while (times--)
		for (at = run->from; at < run->to; ) {
			note(found, run->block->start + 2 * at);
			at += block_length(run->block, at);
		}
}

static void on_event(void *context, const struct flow_place *place,
		     const struct flow_event *event)
{
	struct found *found = context;

	if (place->src != found->src)
		return;
	found->contexts += event->what == FLOW_CONTEXT;
	found->exceptions += event->what == FLOW_EXCEPTION;
	if (event->what != FLOW_LOST)
		return;
	found->gaps[event->reason]++;
	note(found, PROGRAM_GAP);
}

static const struct flow_ops ops = { .run = on_run, .event = on_event };

FIXTURE(flow) {
	struct program	program;
	struct gen	gen;
	struct found	found;
	struct flow_stats stats;
	uint64_t	seed;
	char		path[64];
};

FIXTURE_SETUP(flow)
{
	memset(self, 0, sizeof(*self));
	snprintf(self->path, sizeof(self->path), "/tmp/flow_test.%d", getpid());
}

FIXTURE_TEARDOWN(flow)
{
	unlink(self->path);
	gen_free(&self->gen);
	program_free(&self->program);
	free(self->found.pc);
}

static void run(FIXTURE_DATA(flow) *self, const struct tracer *tracer, uint64_t seed)
{
	gen_free(&self->gen);
	program_free(&self->program);
	self->seed = seed;
	program_make(&self->program, &self->seed);
	program_write(&self->program, self->path);
	gen_init(&self->gen, 3, 40);
	self->gen.step = 10;
	self->found.src = tracer->src;
	program_run(&self->program, tracer, &self->gen, STEPS, &self->seed);
}

static void read_part(FIXTURE_DATA(flow) *self, const uint8_t *data, size_t length, bool ring)
{
	struct nexus_options options = { .src_bits = 3, .ts_width = 40, .ring = ring };
	struct symbols_options names = { .file = { self->path }, .files = 1 };
	struct nexus_message message;
	struct symbols *symbols;
	enum nexus_item item;
	struct nexus nexus;
	struct code *code;
	struct flow *flow;
	struct meta meta;
	bool ended = false;

	self->found.pcs = 0;
	self->found.time = 0;
	memset(self->found.gaps, 0, sizeof(self->found.gaps));
	meta_init(&meta);
	symbols = symbols_open(&names, &meta);
	code = code_new(symbols, META_CALLS_ALL);
	flow = flow_new(code, &ops, &self->found);
	if (!symbols || !code || !flow || nexus_init(&nexus, &options))
		abort();
	nexus_feed(&nexus, data, length);
	for (;;) {
		item = nexus_next(&nexus, &message);
		if (item == NEXUS_MORE && ended)
			break;
		if (item == NEXUS_MORE)
			nexus_end(&nexus);
		ended |= item == NEXUS_MORE;
		if (item == NEXUS_GAP)
			flow_damaged(flow, &message);
		else if (item == NEXUS_MESSAGE && flow_message(flow, &message))
			abort();
	}
	flow_flush(flow);
	self->stats = *flow_stats(flow);
	flow_free(flow);
	code_free(code);
	symbols_close(symbols);
	meta_free(&meta);
}

static void read_bytes(FIXTURE_DATA(flow) *self, const uint8_t *data, size_t length)
{
	read_part(self, data, length, false);
}

/* Select an encoder's mode by the bits of @mode. */
static struct tracer choose(unsigned int mode)
{
	static const unsigned int implicit[] = { 0, 4, 1023 };
	static const unsigned int bits[] = { 2, 7, 31 };
	static const unsigned int sync[] = { 0, 3, 40 };

	return (struct tracer){
		.btm = mode & 1, .version0 = mode & 2, .repeats = mode & 4,
		.traps = mode & 8, .stops = mode & 16, .strange = mode & 32,
		.implicit = implicit[mode / 64 % 3], .hist_bits = bits[mode / 7 % 3],
		.sync = sync[mode / 5 % 3], .icnt_max = mode % 11 ? 4096 : 12,
		.src = mode & 7,
	};
}

TEST_F(flow, is_exact_in_every_mode)
{
	unsigned int mode;
	size_t i;

	for (mode = 0; mode < 192; mode++) {
		struct tracer tracer = choose(mode);

		run(self, &tracer, mode);
		read_bytes(self, self->gen.data, self->gen.length);
		for (i = 0; i < self->program.pcs && i < self->found.pcs; i++)
			if (self->program.pc[i] != self->found.pc[i])
				break;
		ASSERT_EQ(self->program.pcs, i)
			TH_LOG("mode %u: differs at instruction %zu of %zu: %llx, not %llx", mode, i,
			       self->program.pcs, (unsigned long long)(i < self->found.pcs ? self->found.pc[i] : 0),
			       (unsigned long long)self->program.pc[i]);
		ASSERT_EQ(self->program.pcs, self->found.pcs);
		ASSERT_EQ(self->found.pcs, self->stats.instructions);
		ASSERT_FALSE(self->found.backwards);
		ASSERT_EQ(0, self->stats.missed);
	}
}

TEST_F(flow, test_modes_produce_messages_of_every_kind)
{
	static const uint8_t tcodes[] = { 3, 4, 9, 11, 12, 27, 28, 29, 30, 33, 0 };
	uint64_t messages[64] = { 0 }, rcodes[16] = { 0 };
	struct nexus_options options = { .src_bits = 3, .ts_width = 40 };
	struct nexus_message message;
	struct nexus nexus;
	unsigned int mode, i;

	for (mode = 0; mode < 192; mode++) {
		struct tracer tracer = choose(mode);

		run(self, &tracer, mode);
		nexus_init(&nexus, &options);
		nexus_feed(&nexus, self->gen.data, self->gen.length);
		while (nexus_next(&nexus, &message) == NEXUS_MESSAGE) {
			messages[message.tcode]++;
			rcodes[message.fixed[0]] += message.tcode == NEXUS_RESOURCE_FULL;
		}
	}
	for (i = 0; tcodes[i]; i++)
		EXPECT_LT(100, messages[tcodes[i]])
			TH_LOG("TCODE %u", tcodes[i]);
	for (i = 0; i < 10; i++)
		EXPECT_EQ(i < 3 || i > 7, rcodes[i] > 100)
			TH_LOG("RCODE %u", i);
}

TEST_F(flow, is_exact_except_for_overflow_gaps)
{
	unsigned int mode;

	for (mode = 0; mode < 192; mode++) {
		struct tracer tracer = choose(mode);
		uint64_t gaps = 0;
		size_t i;

		tracer.overflows = true;
		run(self, &tracer, mode);
		read_bytes(self, self->gen.data, self->gen.length);
		for (i = 0; i < self->program.pcs; i++)
			gaps += self->program.pc[i] == PROGRAM_GAP;
		ASSERT_EQ(gaps, self->found.gaps[FLOW_GAP_OVERFLOW]);
		ASSERT_EQ(self->program.pcs, self->found.pcs);
		ASSERT_EQ(0, memcmp(self->program.pc, self->found.pc,
				    self->found.pcs * sizeof(self->found.pc[0])));
	}
}

/*
 * Search the run for each stretch of instructions between two gaps, in order. Return the number of
 * stretches that do not occur there. Set @true_ones to the number of instructions in the stretches
 * that do.
 */
static unsigned int invented(const FIXTURE_DATA(flow) *self, size_t *true_ones)
{
	const uint64_t *pc = self->found.pc, *from = self->program.pc, *at;
	const uint64_t *end = from + self->program.pcs;
	unsigned int wrong = 0;
	size_t i, length;

	*true_ones = 0;
	for (i = 0; i < self->found.pcs; i += length + 1) {
		for (length = 0; i + length < self->found.pcs; length++)
			if (pc[i + length] == PROGRAM_GAP)
				break;
		at = length ? memmem(from, (size_t)((const char *)end - (const char *)from),
				     pc + i, length * sizeof(*pc)) : from;
		wrong += !at;
		if (at)
			from = at + length;
		*true_ones += at ? length : 0;
	}
	return wrong;
}

TEST_F(flow, of_cut_trace_is_exact_from_first_sync_message)
{
	size_t from, to, instructions;
	unsigned int mode;

	for (mode = 0; mode < 192; mode++) {
		struct tracer tracer = choose(mode);

		tracer.sync = 10;
		run(self, &tracer, mode);
		from = gen_random(&self->seed) % (self->gen.length / 2);
		to = from + gen_random(&self->seed) % (self->gen.length / 2);
		read_part(self, self->gen.data + from, to - from, true);
		ASSERT_EQ(0, invented(self, &instructions));
		ASSERT_EQ(instructions, self->stats.instructions);
		ASSERT_EQ(0, self->found.gaps[FLOW_GAP_CONTRADICTION]);
		ASSERT_LE(self->found.gaps[FLOW_GAP_NO_SYNC], 1);
	}
}

/* Return the number of instructions executed before the last Sync message at or before @offset. */
static size_t before_damage(const FIXTURE_DATA(flow) *self, size_t offset)
{
	unsigned int i = self->program.syncs;

	while (i && self->program.sync[i - 1] > offset)
		i--;
	return i ? self->program.synced[i - 1] : 0;
}

/*
 * Return the number of instructions executed after the second Sync message that follows the damage.
 * The damage may include the first of these messages.
 */
static size_t after_damage(const FIXTURE_DATA(flow) *self, size_t offset)
{
	unsigned int i = 0;

	while (i < self->program.syncs && self->program.sync[i] <= offset)
		i++;
	return i + 1 < self->program.syncs ?
	       self->program.pcs - self->program.synced[i + 1] : 0;
}

TEST_F(flow, is_exact_outside_the_sync_messages_around_damage)
{
	const struct program *program = &self->program;
	unsigned int mode, round, wrong = 0, gaps = 0, rounds = 0;
	size_t instructions, offset, count;

	for (mode = 0; mode < 192; mode++) {
		struct tracer tracer = choose(mode);

		tracer.sync = 10;
		run(self, &tracer, mode);
		for (round = 0; round < 8; round++, rounds++) {
			offset = gen_random(&self->seed) % self->gen.length;
			self->gen.data[offset] ^= 1 << round;
			read_bytes(self, self->gen.data, self->gen.length);
			self->gen.data[offset] ^= 1 << round;
			wrong += !!invented(self, &instructions);
			gaps += self->found.gaps[FLOW_GAP_CONTRADICTION] +
				self->found.gaps[FLOW_GAP_DAMAGE];
			/* The damaged message can begin before the damaged byte. */
			count = before_damage(self, offset - (offset > 37 ? 38 : offset));
			ASSERT_LE(count, self->found.pcs);
			ASSERT_EQ(0, memcmp(program->pc, self->found.pc,
					    count * sizeof(*program->pc)));
			count = after_damage(self, offset);
			ASSERT_LE(count, self->found.pcs);
			ASSERT_EQ(0, memcmp(program->pc + program->pcs - count,
					    self->found.pc + self->found.pcs - count,
					    count * sizeof(*program->pc)));
		}
	}
	/* With most kinds of damage, a message does not match the code. */
	EXPECT_LT(wrong, rounds / 20);
	EXPECT_LT(rounds / 2, gaps);
}

/*
 * Write a loop of three instructions, the first of which is a branch. Begin its trace with a Sync
 * message at the third instruction.
 */
static void begin_loop(FIXTURE_DATA(flow) *self)
{
	/* bnez zero, .+8; j .-4; j .-8 */
	static const uint16_t code[] = { 0x1463, 0, 0xf06f, 0xffdf, 0xf06f, 0xff9f };
	const uint8_t sync = 5, bits[] = { 4, 0 };
	const uint64_t field[] = { 0, (PROGRAM_BASE + 8) >> 1 };

	memcpy(self->program.code, code, sizeof(code));
	self->program.halfwords = sizeof(code) / sizeof(code[0]);
	program_write(&self->program, self->path);
	gen_init(&self->gen, 3, 40);
	gen_message(&self->gen, 9, 0, &sync, bits, field, 2);
}

/* Append a branch that is taken after @halfwords halfwords, and its @times repetitions. */
static void repeat(FIXTURE_DATA(flow) *self, uint64_t halfwords, uint64_t times)
{
	gen_message(&self->gen, 3, 0, NULL, NULL, &halfwords, 1);
	gen_message(&self->gen, 30, 0, NULL, NULL, &times, 1);
}

TEST_F(flow, supports_the_highest_repeat_count)
{
	begin_loop(self);
	repeat(self, 4, (1 << 18) - 1);
	read_bytes(self, self->gen.data, self->gen.length);
	EXPECT_EQ(2 << 18, self->stats.instructions);
	EXPECT_EQ(0, self->stats.missed);
}

/* An encoder can send such large numbers, but following the repetitions would take days. */
TEST_F(flow, refuses_excessive_repeat_counts)
{
	begin_loop(self);
	repeat(self, 1 << 23, 1 << 22);
	read_bytes(self, self->gen.data, self->gen.length);
	EXPECT_EQ(1, self->found.gaps[FLOW_GAP_CONTRADICTION]);
	EXPECT_EQ(0, self->stats.instructions);
}

TEST_F(flow, reports_context_messages)
{
	struct tracer tracer = choose(64);
	const uint64_t process = 0x1234 << 5 | 2;

	run(self, &tracer, 64);
	self->gen.now += 10;
	gen_message(&self->gen, 2, tracer.src, NULL, NULL, &process, 1);
	read_bytes(self, self->gen.data, self->gen.length);
	ASSERT_EQ(1, self->found.contexts);
	ASSERT_EQ(self->program.pcs, self->found.pcs);
}

TEST_HARNESS_MAIN
