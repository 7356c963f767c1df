// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The costs that report prints, against programs whose costs are known. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "gen_program.h"
#include "profile.h"

#define STEPS	4000

static char reported[4096];

void report(const char *format, ...)
{
	size_t used = strlen(reported);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(reported + used, sizeof(reported) - used, format, arguments);
	va_end(arguments);
}

int usage_error(const char *format, ...)
{
	(void)format;
	return 2;
}

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

static void save(FIXTURE_DATA(report) *self)
{
	FILE *trace = fopen(self->trace, "wb"), *meta = fopen(self->meta, "w");
	const struct program *program = &self->program;
	unsigned int i;

	if (!trace || !meta ||
	    fwrite(program->gen.data, 1, program->gen.length, trace) !=
	    program->gen.length)
		abort();
	fprintf(meta, "{ \"srcbits\": 2, \"per_thread\": %s, \"threads\": [",
		program->per_thread ? "true" : "false");
	for (i = 0; i < program->threads; i++)
		fprintf(meta, "%s{ \"channel\": %u, \"pid\": 100, \"tid\": %u }",
			i ? ", " : "", 6 + i, 100 + i);
	fprintf(meta, "] }\n");
	fclose(trace);
	fclose(meta);
}

static void make(FIXTURE_DATA(report) *self, const FIXTURE_VARIANT(report) *variant,
		 uint64_t seed)
{
	struct program *program = &self->program;
	unsigned int i;

	program_free(program);
	program_init(program, seed);
	program->threads = variant->threads;
	program->sources = variant->sources;
	program->count_type = variant->count_type;
	program->per_thread = variant->per_thread;
	program->moves = variant->moves;
	program->throws = variant->throws;
	program->headers = variant->headers;
	for (i = 0; i < variant->sources; i++)
		gen_sync(&program->gen, i);
	for (i = 0; i < variant->threads; i++)
		program->thread[i].src = i % variant->sources;
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
	options.strict = true;
	ASSERT_EQ(0, profile_read(profile, &options, by)) {
		TH_LOG("%s", reported);
	}
	EXPECT_STREQ("", reported);
}

TEST_F(report, functions_cost_what_they_cost)
{
	struct profile profile;
	uint64_t seed;
	size_t i;

	for (seed = 1; seed <= 3; seed++) {
		size_t rows = 0;

		make(self, variant, seed);
		read_profile(_metadata, self, &profile, PROFILE_BY_FUNCTION);
		for (i = 0; i < PROGRAM_FUNCTIONS; i++)
			rows += self->program.cost[i].calls > 0;
		EXPECT_EQ(rows, profile.rows);
		for (i = 0; i < profile.rows; i++)
			compare(_metadata, &profile, i,
				&self->program.cost[function_of(&profile, i)]);
		EXPECT_EQ(0, analysis_stats(profile.analysis)->strays);
		EXPECT_EQ(0, analysis_stats(profile.analysis)->cut);
		profile_free(&profile);
	}
}

TEST_F(report, threads_cost_what_they_cost)
{
	struct profile profile;
	size_t i;

	make(self, variant, 4);
	read_profile(_metadata, self, &profile, PROFILE_BY_THREAD);
	EXPECT_EQ(variant->threads, threads_count(analysis_threads(profile.analysis)));
	for (i = 0; i < profile.rows; i++) {
		const struct thread *thread =
			threads_get(analysis_threads(profile.analysis),
				    profile.row[i].group);

		ASSERT_LE(100, thread->tid);
		compare(_metadata, &profile, i,
			&self->program.thread_cost[thread->tid - 100]
						  [function_of(&profile, i)]);
	}
	profile_free(&profile);
}

/* A call is of the hart that it ended on, wherever else it has been. */
TEST_F(report, harts_cost_what_they_cost)
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

TEST_HARNESS_MAIN
