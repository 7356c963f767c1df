// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Damages traces of calls in many ways, and compares what decode prints as text, csv and JSON, and
 * what report prints as JSON, with the truth: see shown.py. TRACES in the environment is the number
 * of traces for each kind of damage.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command_fixture.h"
#include "effort.h"
#include "harm.h"
#include "harm_program.h"

#define TRACES	4

static void put_record(FILE *file, const struct gen_truth *record)
{
	static const char * const type[] = { "enter", "exit", "manual", "sample" };
	unsigned int c;

	fprintf(file, "r %u %u %s %" PRIu64, record->src, record->channel, type[record->type],
		record->address_time);
	for (c = 0; c < 2; c++)
		fprintf(file, " 0x%" PRIx64, record->address[c]);
	for (c = 0; c < PROGRAM_COUNTERS; c++)
		fprintf(file, " %" PRIu64, record->delta[c]);
	putc('\n', file);
}

static void write_truth(const struct program *program)
{
	FILE *file = fopen("truth", "w");
	unsigned int i, c;

	if (!file)
		abort();
	for (i = 0; i < program->gen.truths; i++)
		put_record(file, &program->gen.truth[i]);
	for (i = 0; i < PROGRAM_FUNCTIONS; i++) {
		const struct program_cost *cost = &program->cost[i];

		if (!cost->calls)
			continue;
		fprintf(file, "f 0x%" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
			PROGRAM_ADDRESS(i), cost->calls, cost->total, cost->self);
		for (c = 0; c < PROGRAM_COUNTERS; c++)
			fprintf(file, " %" PRIu64 " %" PRIu64, cost->count[c], cost->count_self[c]);
		putc('\n', file);
	}
	fclose(file);
}

struct tally {
	unsigned int	traces;
	unsigned int	faulty;
	unsigned int	lax;
	uint64_t	shown;
	uint64_t	made;
	char		first[256];
};

static void try_one(struct __test_metadata *_metadata, FIXTURE_DATA(command) *self,
		    enum harm_kind kind, unsigned int number, struct tally *tally)
{
	uint64_t seed = 1000 * kind + number, shown = 0;
	struct program program;
	struct mixed mixed;
	struct harm harm;
	int faults = 0;

	harm_program_make(&program, &seed, NULL, NULL);
	write_truth(&program);
	harm_describe(&mixed, &program.gen, program.sources);
	harm_make(&harm, &mixed, kind, &seed);
	/* Changed values and timestamps cannot be detected: see harm_test.c. */
	if (kind == HARM_NONE || !harm_is_plain(&harm, &mixed)) {
		write_file("trace.rtd", harm.data, harm.length);
		run(self, "report -q -c all --strict --json -o r.json trace.rtd; strict=$?; "
		    COMMAND " decode -q -c all --json -o d.json trace.rtd; "
		    COMMAND " decode -q -c all --csv -o d.csv trace.rtd; "
		    COMMAND " decode -q -c all -o d.txt trace.rtd; "
		    "python3 -B " SOURCES "/shown.py truth d.json d.csv d.txt r.json && exit $strict");
		ASSERT_GE(1, self->status) TH_LOG("%s %u: %s", harm_name(kind), number, self->err);
		ASSERT_EQ(2, sscanf(self->out, "%d %" SCNu64, &faults, &shown))
			TH_LOG("%s %u: %s", harm_name(kind), number, self->err);
		if (faults && !*tally->first)
			snprintf(tally->first, sizeof(tally->first), "%u: %.200s", number, self->out);
		tally->traces++;
		tally->faulty += faults != 0;
		tally->lax += !self->status;
		tally->shown += shown;
		tally->made += program.gen.truths;
	}
	free(mixed.message);
	harm_free(&harm);
	program_free(&program);
}

/*
 * Kinds of damage, and the percentage of traces that may have a fault, for few traces: damage can
 * look like other valid messages. A repeated block's calls count twice if nothing contradicts them.
 */
static const struct {
	enum harm_kind	kind;
	unsigned int	faulty;
} kinds[] = {
	{ HARM_NONE, 0 },
	{ HARM_FLIP, 2 },
	{ HARM_TAG, 2 },
	{ HARM_ENDS, 2 },
	{ HARM_DROP, 6 },
	{ HARM_TWICE, 4 },
	{ HARM_SWAP, 20 },
	{ HARM_ZEROS, 2 },
	{ HARM_ONES, 5 },
	{ HARM_RANDOM, 5 },
	{ HARM_REPEAT, 50 },
	{ HARM_CUT, 12 },
	{ HARM_BOGUS, 25 },
};

TEST_F_TIMEOUT(command, each_number_is_true_or_marked_in_each_output, 1200)
{
	const unsigned int count = effort_traces(TRACES);
	unsigned int i, k;

	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct tally tally = { .traces = 0 };

		for (i = 0; i < count; i++)
			try_one(_metadata, self, kinds[k].kind, i, &tally);
		TH_LOG("%s: %u traces, %u with a fault, %u not reported; records: %" PRIu64 " of %" PRIu64 "%s%s",
		       harm_name(kinds[k].kind), tally.traces, tally.faulty, tally.lax, tally.shown,
		       tally.made, *tally.first ? ": " : "", tally.first);
		EXPECT_LE(100 * tally.faulty, kinds[k].faulty * tally.traces);
		EXPECT_EQ(kinds[k].kind ? 0 : tally.traces, tally.lax);
	}
}

TEST_HARNESS_MAIN
