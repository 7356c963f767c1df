// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests the costs that report prints for programs with known costs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "effort.h"
#include "gen_program.h"
#include "kept_report.h"
#include "profile.h"

#define STEPS	4000
/* Width of the timestamp. */
#define LAP	(UINT64_C(1) << 40)

FIXTURE(report) {
	struct program program;
	char trace[64];
	char meta[80];
};

FIXTURE_VARIANT(report) {
	unsigned int threads;
	unsigned int sources;
	unsigned int count_type;
	bool per_thread;
	unsigned int moves;
	unsigned int throws;
	unsigned int headers;
	bool shuffle;
	unsigned int restarts;
	unsigned int errors;
	unsigned int garbage;
	bool ts_delta;
	/* Number of ticks from the trace's beginning until times wrap, or 0 if they do not wrap. */
	unsigned int wrap;
	unsigned int losses;
	unsigned int channels;
};

#define VARIANT(name, ...) \
	FIXTURE_VARIANT_ADD(report, name) { __VA_ARGS__ }

VARIANT(one_thread, 1, 1, 1, false, 0, 0, 0, false);
VARIANT(raw, 2, 2, 0, false, 0, 0, 0, false);
VARIANT(xor, 2, 2, 2, false, 0, 0, 0, false);
VARIANT(exceptions, 3, 1, 1, false, 0, 20, 0, false);
VARIANT(headers, 3, 2, 1, false, 0, 0, 2, false);
VARIANT(moves, 4, 4, 0, false, 20, 0, 0, false);
VARIANT(moves_delta, 4, 4, 1, false, 20, 0, 0, false);
VARIANT(moves_xor_shuffled, 4, 4, 2, false, 10, 30, 0, true);
VARIANT(moves_per_thread_raw, 4, 4, 0, true, 10, 0, 0, true);
VARIANT(moves_per_thread_xor, 4, 4, 2, true, 10, 0, 0, true);
VARIANT(moves_per_thread_delta, 4, 4, 1, true, 10, 0, 0, true);
VARIANT(restarts, 2, 4, 0, false, 20, 0, 0, false, 15);
VARIANT(restarts_per_thread_xor, 2, 4, 2, true, 20, 0, 0, true, 15);
VARIANT(errors, 2, 2, 0, false, 0, 10, 0, false, 0, 3);
VARIANT(errors_delta, 3, 3, 1, false, 0, 0, 0, true, 0, 3);
VARIANT(errors_per_thread_xor, 3, 3, 2, true, 0, 0, 0, true, 0, 3);
VARIANT(garbage, 1, 1, 0, false, 0, 10, 0, false, 0, 0, 3);
VARIANT(garbage_xor, 1, 1, 2, false, 0, 0, 0, false, 0, 0, 3);
VARIANT(wrap, 2, 2, 0, false, 0, 20, 0, false, 0, 0, 0, false, 30000);
VARIANT(wrap_moves_shuffled, 4, 4, 2, false, 10, 30, 0, true, 0, 0, 0, false, 30000);
VARIANT(wrap_errors, 3, 3, 1, false, 0, 0, 0, true, 0, 3, 0, false, 30000);
VARIANT(ticks, 2, 2, 1, false, 0, 20, 0, false, 0, 0, 0, true, 0);
VARIANT(ticks_moves_shuffled, 4, 4, 0, true, 10, 30, 0, true, 0, 0, 0, true, 30000);
VARIANT(ticks_errors, 3, 3, 2, false, 0, 0, 0, true, 0, 3, 0, true, 30000);
VARIANT(losses, 3, 3, 0, false, 0, 20, 0, false, 0, 0, 0, false, 0, 15);
VARIANT(losses_delta, 3, 3, 1, false, 0, 20, 0, true, 0, 0, 0, true, 0, 15);
VARIANT(losses_xor, 3, 3, 2, false, 0, 20, 0, false, 0, 0, 0, false, 30000, 40);
VARIANT(losses_per_thread, 3, 3, 0, true, 0, 0, 3, true, 0, 0, 0, false, 0, 15);
VARIANT(losses_per_thread_delta, 3, 3, 1, true, 0, 0, 0, false, 0, 0, 0, false, 0, 15);
VARIANT(losses_per_thread_xor, 3, 3, 2, true, 0, 0, 0, false, 0, 0, 0, false, 0, 40);
#define SHARED(channels)	false, 0, 0, 0, false, 0, 0, channels
VARIANT(shared, 8, 4, 0, false, 0, 20, 0, SHARED(3));
VARIANT(shared_delta, 8, 1, 1, false, 0, 20, 0, SHARED(3));
VARIANT(shared_delta_moves, 8, 4, 1, false, 20, 0, 0, SHARED(5));
VARIANT(shared_xor, 8, 4, 2, false, 0, 20, 0, SHARED(1));
VARIANT(shared_per_thread, 8, 4, 0, true, 15, 20, 0, SHARED(3));
VARIANT(shared_per_thread_delta, 8, 4, 1, true, 15, 20, 0, SHARED(3));
VARIANT(shared_per_thread_xor, 8, 4, 2, true, 15, 0, 3, SHARED(7));
VARIANT(shared_shuffled, 8, 4, 0, true, 15, 20, 0, true, 0, 0, 0, false, 0, 0, 3);
VARIANT(shared_shuffled_delta, 8, 4, 1, true, 15, 20, 0, true, 0, 0, 0, false, 0, 0, 2);
VARIANT(shared_restarts, 8, 4, 1, false, 20, 0, 0, true, 15, 0, 0, false, 0, 0, 5);
VARIANT(shared_wrap, 8, 4, 2, false, 10, 20, 0, true, 0, 0, 0, false, 30000, 0, 3);
VARIANT(all_of_it, 8, 4, 0, true, 15, 25, 3, true);

FIXTURE_SETUP(report)
{
	int fd;

	strcpy(self->trace, "/tmp/report_test.XXXXXX");
	fd = mkstemp(self->trace);
	ASSERT_LE(0, fd);
	close(fd);
	snprintf(self->meta, sizeof(self->meta), "%s.meta", self->trace);
	reported[0] = '\0';
}

FIXTURE_TEARDOWN(report)
{
	program_free(&self->program);
	unlink(self->trace);
	unlink(self->meta);
}

static void save_trace(FIXTURE_DATA(report) *self)
{
	const struct gen *gen = &self->program.gen;
	FILE *trace = fopen(self->trace, "wb");

	if (!trace || fwrite(gen->data, 1, gen->length, trace) != gen->length ||
	    fclose(trace))
		abort();
}

static void save(FIXTURE_DATA(report) *self)
{
	const struct program *program = &self->program;
	FILE *meta = fopen(self->meta, "w");
	unsigned int i;

	save_trace(self);
	if (!meta)
		abort();
	fprintf(meta, "{ \"srcbits\": 2, \"ts_scheme\": \"%s\", \"per_thread\": %s,"
		" \"threads\": [", program->gen.ts_delta ? "delta" : "xor",
		program->per_thread ? "true" : "false");
	for (i = 0; i < program->threads; i++) {
		const struct program_thread *thread = &program->thread[i];

		fprintf(meta, "%s{ \"channel\": %u, \"pid\": 100, \"tid\": %u, \"named\": %s }",
			i ? ", " : "", thread->home ? thread->home : thread->channel,
			100 + i, thread->named ? "true" : "false");
	}
	fprintf(meta, "] }\n");
	fclose(meta);
}

static void set_up_program(FIXTURE_DATA(report) *self,
			   const FIXTURE_VARIANT(report) *variant,
			   uint64_t seed, uint64_t now)
{
	struct program *program = &self->program;
	unsigned int i;

	program_free(program);
	program_init(program, seed);
	program->gen.now = now;
	program->keep_times = true;
	program->threads = variant->threads;
	program->sources = variant->sources;
	program->count_type = variant->count_type;
	program->per_thread = variant->per_thread;
	program->moves = variant->moves;
	program->throws = variant->throws;
	program->headers = variant->headers;
	program->restarts = variant->restarts;
	program->errors = variant->errors;
	program->garbage = variant->garbage;
	program->losses = variant->losses;
	program->channels = variant->channels;
	program->gen.ts_delta = variant->ts_delta;
	for (i = 0; i < variant->sources; i++)
		gen_sync(&program->gen, i);
	for (i = 0; i < variant->threads; i++)
		program->thread[i].src = i % variant->sources;
}

static void make(FIXTURE_DATA(report) *self, const FIXTURE_VARIANT(report) *variant,
		 uint64_t seed)
{
	struct program *program = &self->program;
	unsigned int i;

	set_up_program(self, variant, seed,
		       variant->wrap ? LAP - variant->wrap : 1000);
	for (i = 0; i < STEPS; i++)
		program_step(program);
	program_end(program);
	if (variant->shuffle)
		program_shuffle(program);
	save(self);
}

static void compare(struct __test_metadata *_metadata,
		    const struct profile *profile, size_t row,
		    const struct program_cost *cost)
{
	const struct profile_row *r = &profile->row[row];
	unsigned int c;

	EXPECT_EQ(cost->calls, r->calls);
	EXPECT_EQ(cost->total, r->total);
	EXPECT_EQ(cost->self, r->self);
	for (c = 0; c < PROGRAM_COUNTERS; c++) {
		EXPECT_EQ(cost->count[c], profile_total(profile, row, c));
		EXPECT_EQ(cost->count_self[c], profile_self(profile, row, c));
	}
}

static unsigned int function_of(const struct profile *profile, size_t row)
{
	uint64_t address = functions_address(analysis_functions(profile->analysis),
					     profile->row[row].function);

	return (unsigned int)((address - PROGRAM_ADDRESS(0)) / 0x40);
}

static void read_profile(struct __test_metadata *_metadata,
			 FIXTURE_DATA(report) *self, struct profile *profile,
			 enum profile_by by)
{
	static struct options options;

	options_init(&options);
	options.path = self->trace;
	options.trace.quiet = true;
	options.strict = !self->program.errors && !self->program.garbage &&
			 !self->program.losses;
	ASSERT_EQ(0, profile_read(profile, &options, by, true, NULL)) {
		TH_LOG("%s", reported);
	}
	EXPECT_STREQ("", reported);
}

/* Compare a profile by thread with the truth. */
static void compare_threads(struct __test_metadata *_metadata,
			    const FIXTURE_DATA(report) *self,
			    const FIXTURE_VARIANT(report) *variant,
			    const struct profile *profile)
{
	const struct threads *threads = analysis_threads(profile->analysis);
	size_t i;

	EXPECT_EQ(variant->threads, threads_count(threads));
	for (i = 0; i < profile->rows; i++) {
		const struct thread *thread =
			threads_get(threads, profile->row[i].group);

		ASSERT_LE(100, thread->tid);
		compare(_metadata, profile, i,
			&self->program.thread_cost[thread->tid - 100]
						  [function_of(profile, i)]);
	}
}

static void compare_stats(struct __test_metadata *_metadata,
			  const struct program *program,
			  const struct profile *profile)
{
	const struct analysis_stats *stats = analysis_stats(profile->analysis);

	EXPECT_EQ(program->calls, stats->calls);
	EXPECT_EQ(program->untimed, stats->untimed);
	EXPECT_EQ(program->cut, stats->cut);
	EXPECT_EQ(program->strays, stats->strays);
	EXPECT_EQ(program->unaddressed, stats->unaddressed);
}

TEST_F(report, function_costs_are_correct)
{
	struct profile profile;
	uint64_t seed;
	size_t i;

	for (seed = 1; seed <= effort(1, 3); seed++) {
		size_t rows = 0;

		make(self, variant, seed);
		read_profile(_metadata, self, &profile, PROFILE_BY_FUNCTION);
		for (i = 0; i < PROGRAM_FUNCTIONS; i++)
			rows += self->program.cost[i].calls > 0;
		EXPECT_EQ(rows, profile.rows);
		for (i = 0; i < profile.rows; i++)
			compare(_metadata, &profile, i,
				&self->program.cost[function_of(&profile, i)]);
		compare_stats(_metadata, &self->program, &profile);
		profile_free(&profile);
	}
}

static int by_time(const void *a, const void *b)
{
	const uint64_t *one = a, *two = b;

	return (*one > *two) - (*one < *two);
}

/* Compare the spread of one function's times with the truth. */
static void compare_spread(struct __test_metadata *_metadata, const struct profile *profile,
			   size_t row, uint64_t *took, size_t count)
{
	const struct spreads *spreads = &profile->spreads;
	uint64_t sum = 0, is, got;
	unsigned int percent;
	size_t i;

	ASSERT_EQ(count > 0, spread_known(spreads, row));
	if (!count)
		return;
	qsort(took, count, sizeof(*took), by_time);
	for (i = 0; i < count; i++)
		sum += took[i];
	EXPECT_EQ(took[0], spread_least(spreads, row));
	EXPECT_EQ(took[count - 1], spread_most(spreads, row));
	EXPECT_EQ((2 * sum + count) / (2 * count), spread_mean(spreads, row, 1));
	for (percent = 1; percent < 100; percent++) {
		is = took[(count * percent + 99) / 100 - 1];
		got = spread_quantile(spreads, row, percent);
		EXPECT_GE(is / SPREAD_PART, got > is ? got - is : is - got);
	}
}

TEST_F(report, time_quantiles_are_correct)
{
	struct program *program = &self->program;
	struct profile profile;
	uint64_t seed;
	size_t i;

	for (seed = 1; seed <= effort(1, 3); seed++) {
		make(self, variant, seed);
		read_profile(_metadata, self, &profile, PROFILE_BY_FUNCTION);
		for (i = 0; i < profile.rows; i++) {
			unsigned int function = function_of(&profile, i);

			compare_spread(_metadata, &profile, i, program->took[function],
				       program->timed[function]);
		}
		profile_free(&profile);
	}
}

TEST_F(report, thread_costs_are_correct)
{
	struct profile profile;

	make(self, variant, 4);
	read_profile(_metadata, self, &profile, PROFILE_BY_THREAD);
	compare_threads(_metadata, self, variant, &profile);
	profile_free(&profile);
}

/* A call must be attributed to the hart on which it ended, even if it also ran on another hart. */
TEST_F(report, hart_costs_are_correct)
{
	struct profile profile;
	size_t i, k, rows = 0;

	make(self, variant, 5);
	read_profile(_metadata, self, &profile, PROFILE_BY_HART);
	for (i = 0; i < PROGRAM_SOURCES; i++)
		for (k = 0; k < PROGRAM_FUNCTIONS; k++)
			rows += self->program.hart_cost[i][k].calls > 0;
	EXPECT_EQ(rows, profile.rows);
	for (i = 0; i < profile.rows; i++) {
		ASSERT_GT(variant->sources, profile.row[i].group);
		compare(_metadata, &profile, i,
			&self->program.hart_cost[profile.row[i].group]
						[function_of(&profile, i)]);
	}
	profile_free(&profile);
}

/* Check the reports of threads that use one channel in turn, each on one or several harts. */
static void check_successors(struct __test_metadata *_metadata,
			     FIXTURE_DATA(report) *self,
			     const FIXTURE_VARIANT(report) *variant, uint64_t now)
{
	struct program *program = &self->program;
	struct profile profile;
	FILE *meta;
	size_t i;

	set_up_program(self, variant, 6, now);
	/* Write no random headers: the reader could not keep all of them for a thread. */
	program->headers = 0;
	program->errors = 0;
	program->garbage = 0;
	program->losses = 0;
	program->channels = 0;
	meta = fopen(self->meta, "w");
	ASSERT_NE(NULL, meta);
	fprintf(meta, "{ \"srcbits\": 2, \"ts_scheme\": \"%s\", \"per_thread\": %s,"
		" \"threads\": [", program->gen.ts_delta ? "delta" : "xor",
		program->per_thread ? "true" : "false");
	for (i = 0; i < program->threads; i++) {
		struct program_thread *thread = &program->thread[i];
		/* The first thread was created before tracing was turned on. */
		uint64_t from = i ? program->gen.now : now + LAP - 1000;
		unsigned int k;

		/* Only every other thread runs on all harts, and headers are counted per source. */
		program->sources = i % 2 ? variant->sources : 1;
		thread->channel = 6;
		program->alone = i + 1;
		for (k = 0; k < STEPS / 4 || thread->depth; k++)
			program_step(program);
		fprintf(meta, "%s{ \"channel\": 6, \"tid\": %zu, \"from\": %" PRIu64
			", \"to\": %" PRIu64 " }", i ? ", " : "", 100 + i,
			from % LAP, (program->gen.now - 1) % LAP);
		/* Start the next thread after all messages in flight have arrived. */
		program->gen.now += 1000;
		gen_idle(&program->gen, 2000);
	}
	fprintf(meta, "] }\n");
	fclose(meta);
	save_trace(self);
	read_profile(_metadata, self, &profile, PROFILE_BY_THREAD);
	compare_threads(_metadata, self, variant, &profile);
	EXPECT_EQ(0, analysis_stats(profile.analysis)->strays);
	EXPECT_EQ(0, analysis_stats(profile.analysis)->cut);
	profile_free(&profile);
}

TEST_F(report, successive_threads_on_one_channel_are_separate)
{
	check_successors(_metadata, self, variant, 1000);
}

/* Times wrap before or while the first thread runs, or while a later thread runs. */
TEST_F(report, successive_threads_across_a_wraparound_are_separate)
{
	check_successors(_metadata, self, variant, LAP - 5000);
	check_successors(_metadata, self, variant, LAP - 60000);
	check_successors(_metadata, self, variant, 500);
}

/* Calls on a source that loses messages are lost with them; other calls are not. */
TEST_F(report, errors_affect_only_their_source)
{
	struct program *program = &self->program;
	struct profile profile;
	unsigned int i;
	size_t row;

	set_up_program(self, variant, 7, 1000);
	program->threads = 2;
	program->sources = 2;
	program->thread[1].src = 1;
	program->moves = 0;
	program->headers = 0;
	program->restarts = 0;
	program->garbage = 0;
	program->errors = 0;
	program->losses = 0;
	for (i = 0; i < STEPS; i++) {
		if (i % 100 == 50)
			gen_error(&program->gen, 1);
		if (i % 100 == 70)
			gen_sync(&program->gen, 1);
		program_step(program);
	}
	program_end(program);
	program->errors = 1;
	save(self);
	read_profile(_metadata, self, &profile, PROFILE_BY_THREAD);
	EXPECT_EQ(STEPS / 100, trace_stats(profile.input.trace)->errors);
	for (row = 0; row < profile.rows; row++) {
		const struct profile_row *r = &profile.row[row];
		const struct thread *thread =
			threads_get(analysis_threads(profile.analysis), r->group);
		const struct program_cost *cost =
			&program->thread_cost[thread->tid - 100]
					     [function_of(&profile, row)];

		if (thread->tid == 100) {
			compare(_metadata, &profile, row, cost);
			continue;
		}
		EXPECT_LE(r->calls, cost->calls);
	}
	EXPECT_LT(0, analysis_stats(profile.analysis)->strays +
		     analysis_stats(profile.analysis)->unwound +
		     analysis_stats(profile.analysis)->unaddressed);
	profile_free(&profile);
}

TEST_HARNESS_MAIN
