// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests counts of events that take turns on the counters, in generated traces of programs whose
 * counts are known. The scaled counts and the reported errors are correct. Nothing is counted where
 * the turn changes or may have changed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "gen.h"
#include "profile.h"
#include "report.h"

#define HZ		1000000
#define TURN_US		4000
#define TURNS		3
#define COUNTERS	3	/* cycle, and two counters whose events take turns */
#define EVENTS		(2 * TURNS)
#define FUNCTIONS	3
#define ROUNDS		256u
#define SHIFT		36

/* Counts of each event per 1000 cycles in functions A, B and main. */
static const unsigned int rate[EVENTS][FUNCTIONS] = {
	{ 500, 100, 0 }, { 7, 0, 0 }, { 0, 250, 1000 },
	{ 40, 40, 40 }, { 1, 999, 3 }, { 300, 0, 20 },
};

static uint64_t address_of(unsigned int function)
{
	return 0x10000 + 0x100 * function;
}

FIXTURE(turns) {
	struct gen gen;
	struct gen_stream stream[2];
	uint64_t seed;
	char trace[64], meta[80];
	struct options options;
	struct profile profile;
	bool opened;
	/* The simulated program: its counters, the cycles per turn, and the true counts. */
	uint64_t cycles, period, begun;
	uint64_t count[2];
	uint64_t spent[FUNCTIONS];
	unsigned int hart;
	bool straddle;
};

FIXTURE_VARIANT(turns) {
	unsigned int count_type;
	bool per_thread;
	unsigned int width;
};

FIXTURE_VARIANT_ADD(turns, raw) { 0, true, 64 };
FIXTURE_VARIANT_ADD(turns, xor) { 2, true, 64 };
FIXTURE_VARIANT_ADD(turns, narrow) { 2, true, 40 };
FIXTURE_VARIANT_ADD(turns, hart) { 2, false, 64 };

static unsigned int shift_of(unsigned int width)
{
	return width < 48 ? width - 12 : SHIFT;
}

FIXTURE_SETUP(turns)
{
	unsigned int i, k;
	int fd;

	strcpy(self->trace, "/tmp/turns_test.XXXXXX");
	fd = mkstemp(self->trace);
	ASSERT_LE(0, fd);
	close(fd);
	snprintf(self->meta, sizeof(self->meta), "%s.meta", self->trace);
	self->seed = 7;
	gen_init(&self->gen, 1, 40);
	for (k = 0; k < 2; k++) {
		gen_sync(&self->gen, k);
		gen_stream_init(&self->stream[k], &self->gen, (uint8_t)k, 6,
				(uint8_t)variant->count_type, COUNTERS, variant->width);
		self->stream[k].counter[0].code = 1;
		for (i = 1; i < COUNTERS; i++) {
			self->stream[k].counter[i].number = 2 + i;
			self->stream[k].counter[i].type = SIFIVE_TRACE_EVENT_TURNS;
			self->stream[k].counter[i].code = 0;
		}
		gen_header(&self->stream[k]);
	}
}

FIXTURE_TEARDOWN(turns)
{
	if (self->opened)
		profile_free(&self->profile);
	gen_free(&self->gen);
	unlink(self->trace);
	unlink(self->meta);
}

/* Return the number with which counts are tagged in a period: the round, then the turn. */
static uint64_t number_of(uint64_t period)
{
	return period / TURNS << 4 | period % TURNS;
}

static uint64_t below(FIXTURE_DATA(turns) *self, uint64_t limit)
{
	return gen_random(&self->seed) % limit;
}

/* Run @function for @cycles cycles. @count is in thousandths of an event. */
static void spend(FIXTURE_DATA(turns) *self, unsigned int function, uint64_t cycles)
{
	unsigned int i;

	self->cycles += cycles;
	self->spent[function] += cycles;
	for (i = 0; i < 2; i++)
		self->count[i] += cycles * rate[2 * (self->period % TURNS) + i][function];
	self->gen.now += cycles / 10;
}

static void change_turn(FIXTURE_DATA(turns) *self)
{
	self->period++;
	self->count[0] = 0;
	self->count[1] = 0;
	self->begun = self->cycles;
}

static void put_record(FIXTURE_DATA(turns) *self, unsigned int type, unsigned int function)
{
	struct gen_stream *stream = &self->stream[self->hart];
	const unsigned int shift = shift_of(stream->counter[1].width);
	const uint64_t address[2] = { address_of(function), 0x5000 };
	uint64_t value[COUNTERS], mask = ~0ull >> (64 - stream->counter[1].width);
	unsigned int i;

	value[0] = self->cycles & mask;
	for (i = 1; i < COUNTERS; i++)
		value[i] = ((number_of(self->period) << shift) + self->count[i - 1] / 1000) & mask;
	if (self->straddle) {
		/* The turn ends between two reads. */
		value[1] = ((number_of(self->period + 1) << shift) + 3) & mask;
		change_turn(self);
	}
	gen_record(stream, type, address, value);
}

/* Run main, which calls A or B, chosen at random, @steps times, for about @cycles cycles each. */
static void run(FIXTURE_DATA(turns) *self, unsigned int steps, unsigned int cycles,
		uint64_t turn_cycles, unsigned int moves)
{
	unsigned int step, function;

	put_record(self, 0, 2);
	for (step = 0; step < steps; step++) {
		if (self->cycles - self->begun > turn_cycles)
			change_turn(self);
		if (moves && !below(self, moves))
			self->hart ^= 1;
		function = below(self, 3) == 0;
		spend(self, 2, cycles / 4);
		put_record(self, 0, function);
		spend(self, function, cycles / 2 + below(self, cycles));
		put_record(self, 1, function);
	}
	put_record(self, 1, 2);
}

static void save(FIXTURE_DATA(turns) *self, bool per_thread, const char *more)
{
	FILE *file = fopen(self->trace, "wb");
	unsigned int e;

	if (!file || fwrite(self->gen.data, 1, self->gen.length, file) != self->gen.length ||
	    fclose(file))
		abort();
	file = fopen(self->meta, "w");
	if (!file)
		abort();
	fprintf(file, "{ \"srcbits\": 1, \"ts_hz\": %d, \"per_thread\": %s, %s"
		"\"counters\": [ { \"number\": 0, \"code\": 1, \"info\": 261120 }", HZ,
		per_thread ? "true" : "false", more);
	for (e = 0; e < EVENTS; e++)
		fprintf(file, ", { \"number\": %u, \"type\": 2, \"data\": %u, \"event\": \"e%u\", "
			"\"turn\": %u, \"info\": 261120 }", 3 + e % 2, 16 + e, e, 1 + e / 2);
	fprintf(file, " ], \"threads\": [ { \"channel\": 6, \"pid\": 1, \"tid\": 1 } ] }\n");
	fclose(file);
}

static int read_it(FIXTURE_DATA(turns) *self)
{
	options_init(&self->options);
	self->options.path = self->trace;
	self->opened = true;
	return profile_read(&self->profile, &self->options, PROFILE_BY_FUNCTION, false, NULL);
}

#define TURN	"\"turn_us\": 4000, "

/* Return the metric of event @e. */
static struct metric metric_of(FIXTURE_DATA(turns) *self, unsigned int e, bool total)
{
	const struct counters *counters = analysis_counters(self->profile.analysis);
	struct metric metric = {
		.kind = total ? METRIC_COUNTER_TOTAL : METRIC_COUNTER_SELF,
	};
	char name[8];
	unsigned int c;

	snprintf(name, sizeof(name), "e%u", e);
	for (c = 0; c < counters->count; c++)
		if (counters_is(counters->name[c], name, strlen(name)))
			metric.counter = c;
	return metric;
}

static size_t row_of(FIXTURE_DATA(turns) *self, unsigned int function)
{
	size_t i;

	for (i = 0; i < self->profile.rows; i++)
		if (functions_address(analysis_functions(self->profile.analysis),
				      self->profile.row[i].function) == address_of(function))
			return i;
	abort();
}

static double value_of(FIXTURE_DATA(turns) *self, unsigned int e, unsigned int function, bool total)
{
	const struct metric metric = metric_of(self, e, total);

	return (double)report_value(&self->profile, row_of(self, function), &metric);
}

static double truth_of(FIXTURE_DATA(turns) *self, unsigned int e, unsigned int function)
{
	return (double)(self->spent[function] * rate[e][function]) / 1000;
}

static double total_of(FIXTURE_DATA(turns) *self, unsigned int e)
{
	return truth_of(self, e, 0) + truth_of(self, e, 1) + truth_of(self, e, 2);
}

/*
 * Return whether @value is within @parts in 1000 of @truth, plus the rounding of two counter
 * values.
 */
static bool is_near(double value, double truth, double parts)
{
	const double difference = value > truth ? value - truth : truth - value;

	return difference <= truth * parts / 1000 + 2000;
}

TEST_F(turns, counts_are_scaled_to_all_cycles)
{
	unsigned int e, f;

	run(self, 30000, 1000, 100000, 0);
	save(self, variant->per_thread, TURN);
	ASSERT_EQ(0, read_it(self));
	for (e = 0; e < EVENTS; e++) {
		for (f = 0; f < FUNCTIONS; f++) {
			EXPECT_TRUE(is_near(value_of(self, e, f, false), truth_of(self, e, f), 10)) {
				TH_LOG("event %u of function %u: %.0f, not %.0f", e, f,
				       value_of(self, e, f, false), truth_of(self, e, f));
			}
		}
		EXPECT_TRUE(is_near(value_of(self, e, 2, true), total_of(self, e), 30));
	}
}

TEST_F(turns, counts_follow_a_thread_to_other_harts)
{
	unsigned int e;

	if (!variant->per_thread)
		SKIP(return, "a hart's counts belong to that hart");
	run(self, 30000, 1000, 100000, 5);
	save(self, true, TURN);
	ASSERT_EQ(0, read_it(self));
	for (e = 0; e < EVENTS; e++)
		EXPECT_TRUE(is_near(value_of(self, e, 0, false), truth_of(self, e, 0), 10));
}

TEST_F(turns, report_the_counted_share_and_the_error)
{
	struct turns_estimate estimate;
	struct metric metric;
	unsigned int e;
	double off;

	run(self, 30000, 1000, 100000, 0);
	save(self, variant->per_thread, TURN);
	ASSERT_EQ(0, read_it(self));
	for (e = 0; e < EVENTS; e++) {
		metric = metric_of(self, e, true);
		turns_estimate(analysis_turns(self->profile.analysis), metric.counter, &estimate);
		EXPECT_LT(0.31, estimate.share);
		EXPECT_GT(0.34, estimate.share);
		off = value_of(self, e, 2, true) / total_of(self, e) - 1;
		EXPECT_LE(0, estimate.error);
		/* An error of twice that size would occur once in ten thousand runs. */
		EXPECT_GE(2 * estimate.error + 0.001, off > 0 ? off : -off) {
			TH_LOG("event %u: %.4f off, error %.4f", e, off, estimate.error);
		}
		EXPECT_GT(0.1, estimate.error);
		EXPECT_TRUE(report_is_uncertain(&self->profile, 0, &metric));
	}
	metric = (struct metric){ .kind = METRIC_COUNTER_TOTAL,
		.counter = turns_cycles(analysis_turns(self->profile.analysis)) };
	EXPECT_FALSE(report_is_uncertain(&self->profile, 0, &metric));
	EXPECT_EQ(self->cycles, report_value(&self->profile, row_of(self, 2), &metric));
}

/* If the turn changes between the counter reads of a record, the record belongs to neither turn. */
TEST_F(turns, are_never_mixed_within_a_record)
{
	unsigned int i, e;

	for (i = 0; i < 400; i++) {
		run(self, 20, 1000, 1 << 30, 0);
		self->straddle = true;
		put_record(self, 0, 2);
		self->straddle = false;
		put_record(self, 1, 2);
	}
	save(self, variant->per_thread, TURN);
	ASSERT_EQ(0, read_it(self));
	for (e = 0; e < EVENTS; e++)
		EXPECT_TRUE(is_near(value_of(self, e, 0, false), truth_of(self, e, 0), 20)) {
			TH_LOG("event %u: %.0f, not %.0f", e, value_of(self, e, 0, false),
			       truth_of(self, e, 0));
		}
}

/* A call extends over two turns, so its counts are unknown and must not be shown. */
TEST_F(turns, count_of_a_long_call_is_unknown)
{
	struct metric metric;

	put_record(self, 0, 1);
	spend(self, 1, 50000);
	change_turn(self);
	spend(self, 1, 50000);
	put_record(self, 1, 1);
	save(self, variant->per_thread, TURN);
	ASSERT_EQ(0, read_it(self));
	metric = metric_of(self, 0, false);
	EXPECT_TRUE(report_is_unknown(&self->profile, row_of(self, 1), &metric));
	metric = metric_of(self, 2, true);
	EXPECT_TRUE(report_is_unknown(&self->profile, row_of(self, 1), &metric));
}

/* The number of a round is ambiguous, because it repeats after 256 rounds. */
TEST_F(turns, with_the_same_number_in_another_round_are_distinguished)
{
	struct metric metric;

	put_record(self, 0, 1);
	spend(self, 1, 1000);
	self->period += ROUNDS * TURNS;
	self->count[0] += 5000000;
	self->gen.now += ROUNDS * TURNS * (uint64_t)TURN_US;
	put_record(self, 1, 1);
	save(self, variant->per_thread, TURN);
	ASSERT_EQ(0, read_it(self));
	metric = metric_of(self, 0, false);
	EXPECT_TRUE(report_is_unknown(&self->profile, row_of(self, 1), &metric));
}

/* Without the length of a turn, the round is unknown. */
TEST_F(turns, of_unknown_length_make_counts_unknown)
{
	struct metric metric;

	run(self, 3000, 1000, 100000, 0);
	save(self, variant->per_thread, "");
	ASSERT_EQ(0, read_it(self));
	metric = metric_of(self, 0, false);
	EXPECT_TRUE(report_is_unknown(&self->profile, row_of(self, 0), &metric));
}

/* Read a trace in which the side-car file and the counts contain arbitrary numbers. */
TEST_F(turns, can_have_any_value_in_a_damaged_trace)
{
	unsigned int i;
	FILE *file;

	for (i = 0; i < 3000; i++) {
		const uint64_t address[2] = { address_of(below(self, 3)), 0x5000 };
		uint64_t value[COUNTERS];

		value[0] = self->cycles += below(self, 1000);
		value[1] = gen_random(&self->seed) >> below(self, 64);
		value[2] = below(self, 2) ? value[1] : gen_random(&self->seed);
		gen_record(&self->stream[below(self, 2)], below(self, 2), address, value);
	}
	save(self, variant->per_thread, TURN);
	file = fopen(self->meta, "r+");
	ASSERT_NE(NULL, file);
	fprintf(file, "{ \"srcbits\": 1, \"ts_hz\": 18446744073709551615, \"turn_us\": 4294967295,"
		" \"per_thread\": %s, \"counters\": [ { \"number\": 3, \"turn\": 16 },"
		" { \"number\": 3, \"turn\": 16 }, { \"number\": 31, \"turn\": 1 },"
		" { \"number\": 4, \"turn\": 17 }, { \"number\": 0, \"turn\": 2 } ] }",
		variant->per_thread ? "true" : "false");
	ASSERT_EQ(0, ftruncate(fileno(file), ftell(file)));
	fclose(file);
	EXPECT_GE(1, read_it(self));
}

TEST_HARNESS_MAIN
