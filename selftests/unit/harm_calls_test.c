// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Damages traces of calls in many ways, and compares each row of export --format csv with the calls
 * that the program made. Each field must be correct, empty or marked, and --strict must fail.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command_fixture.h"
#include "effort.h"
#include "harm.h"
#include "harm_program.h"

#define TRACES		25
#define FIELDS_MAX	64

/* A call that the program made. */
struct call {
	unsigned int	tid;
	uint64_t	begin;
	uint64_t	total;
	uint64_t	self;
	unsigned int	function;
	int		caller;		/* -1 for none */
	unsigned int	depth;
	uint64_t	count[PROGRAM_COUNTERS];
	uint64_t	count_self[PROGRAM_COUNTERS];
};

struct calls {
	const struct program *program;
	struct call	*call;
	size_t		calls;
};

enum fault {
	INVENTED,	/* no such call */
	PATH,		/* function, caller or depth */
	TIME,		/* duration or self time */
	COUNT,
	FAULTS
};

/* The numbers of faults and of unmarked rows in the table. */
struct result {
	unsigned int	fault[FAULTS];
	unsigned int	rows;
	char		first[256];	/* the first row with a fault */
};

static void on_end(void *context, const struct program_thread *thread,
		   const struct program_frame *frame)
{
	struct calls *calls = context;
	struct call *call;
	unsigned int c;

	calls->call = realloc(calls->call, (calls->calls + 1) * sizeof(*call));
	if (!calls->call)
		abort();
	call = &calls->call[calls->calls++];
	*call = (struct call){
		.tid = 100 + (unsigned int)(thread - calls->program->thread),
		.begin = frame->enter, .total = thread->now - frame->enter, .self = frame->self,
		.function = frame->function, .depth = thread->depth,
		.caller = thread->depth ? (int)frame[-1].function : -1,
	};
	for (c = 0; c < PROGRAM_COUNTERS; c++) {
		call->count[c] = thread->sum[c] - frame->begin[c];
		call->count_self[c] = call->count[c] - frame->count_inner[c];
	}
}

static int by_begin(const void *a, const void *b)
{
	const struct call *one = a, *other = b;

	if (one->tid != other->tid)
		return one->tid < other->tid ? -1 : 1;
	return (one->begin > other->begin) - (one->begin < other->begin);
}

static void make(struct program *program, struct calls *calls, uint64_t *seed)
{
	*calls = (struct calls){ .program = program };
	harm_program_make(program, seed, on_end, calls);
	qsort(calls->call, calls->calls, sizeof(*calls->call), by_begin);
}

/* Split a row into its fields, which contain no quoted commas. */
static unsigned int split(char *row, char *field[FIELDS_MAX])
{
	unsigned int fields = 0;
	char *at;

	while (fields < FIELDS_MAX && (at = strsep(&row, ",")))
		field[fields++] = at;
	return fields;
}

enum column {
	KIND, TID, FUNCTION, CALLER, DEPTH, START, DURATION, SELF, START_INFERRED,
	DURATION_INFERRED, SELF_INFERRED, COUNTS_PARTIAL, PATH_INFERRED, ENDED, COUNTERS,
	COLUMNS = COUNTERS + PROGRAM_COUNTERS
};

static const char * const column_name[COLUMNS] = {
	"kind", "tid", "function", "caller", "depth", "start_ticks", "duration_ticks", "self_ticks",
	"start_inferred", "duration_inferred", "self_inferred", "counts_partial", "path_inferred",
	"ended", "cycles", "instructions", "cache-references",
};

static bool is_named(const char *name, int function)
{
	char expected[24] = "";

	if (function >= 0)
		snprintf(expected, sizeof(expected), "0x%" PRIx64, PROGRAM_ADDRESS(function));
	return !strcmp(name, expected);
}

/* Return whether a field contains the number, is empty, or is marked. */
static bool is_right(const char *field, const char *mark, uint64_t number)
{
	return !*field || strcmp(mark, "0") || strtoull(field, NULL, 10) == number;
}

/* Return the faults of a row, by enum fault. */
static unsigned int faults_of(const struct call *call, char **field, const unsigned int *column)
{
	/* A call cut off by the end of the trace may have taken longer than shown. */
	const char *cut = strcmp(field[column[ENDED]], "cut") ? "0" : "1";
	const char *partial = strcmp(cut, "0") ? cut : field[column[COUNTS_PARTIAL]];
	const bool unsure = strcmp(field[column[PATH_INFERRED]], "0");
	unsigned int faults = 0, c;

	if (!call)
		return 1u << INVENTED;
	if (!is_named(field[column[FUNCTION]], (int)call->function) ||
	    (!unsure && !is_named(field[column[CALLER]], call->caller)) ||
	    !is_right(field[column[DEPTH]], field[column[PATH_INFERRED]], call->depth))
		faults |= 1u << PATH;
	if (!strcmp(cut, "0") &&
	    (!is_right(field[column[DURATION]], field[column[DURATION_INFERRED]], call->total) ||
	     !is_right(field[column[SELF]], field[column[SELF_INFERRED]], call->self)))
		faults |= 1u << TIME;
	for (c = 0; c < PROGRAM_COUNTERS; c++)
		if (column[COUNTERS + c] &&
		    (!is_right(field[column[COUNTERS + c]], partial, call->count[c]) ||
		     !is_right(field[column[COUNTERS + c] + 1], partial, call->count_self[c])))
			faults |= 1u << COUNT;
	return faults;
}

/* Compare the row of a call with a known start time, which identifies the call. */
static void check_row(const struct calls *calls, char *row, const unsigned int *column,
		      struct result *result)
{
	char *field[FIELDS_MAX], text[sizeof(result->first)];
	unsigned int faults, f;
	struct call key;

	snprintf(text, sizeof(text), "%s", row);
	split(row, field);
	if (strcmp(field[column[KIND]], "call") || !*field[column[START]] ||
	    strcmp(field[column[START_INFERRED]], "0"))
		return;
	result->rows++;
	key.tid = (unsigned int)atoi(field[column[TID]]);
	key.begin = strtoull(field[column[START]], NULL, 10);
	faults = faults_of(bsearch(&key, calls->call, calls->calls, sizeof(key), by_begin), field,
			   column);
	if (faults && !*result->first)
		strcpy(result->first, text);
	for (f = 0; f < FAULTS; f++)
		result->fault[f] += faults >> f & 1;
}

/* Hart counts are marked. */
static bool is_column(const char *heading, const char *name)
{
	const size_t length = strlen(name);

	return !strncmp(heading, name, length) &&
	       (!heading[length] || !strcmp(heading + length, " (hart)"));
}

static struct result check(struct __test_metadata *_metadata, const struct calls *calls, char *out)
{
	unsigned int column[COLUMNS] = { 0 }, fields, i, k;
	char *line = strsep(&out, "\n"), *field[FIELDS_MAX];
	struct result result = { .rows = 0 };

	fields = split(line, field);
	for (i = 0; i < COLUMNS; i++) {
		for (k = fields; k--;)
			if (is_column(field[k], column_name[i]))
				column[i] = k;
		/* Damaged headers may define other counters. */
		ASSERT_TRUE(column[i] || i >= COUNTERS);
	}
	while ((line = strsep(&out, "\n")) && *line)
		check_row(calls, line, column, &result);
	return result;
}

/* Numbers of damaged traces, of traces with a fault, and of traces for which --strict passes. */
struct tally {
	unsigned int	traces;
	unsigned int	faulty;
	unsigned int	lax;
	unsigned int	fault[FAULTS];
	uint64_t	rows;
	uint64_t	calls;
	char		first[sizeof(((struct result *)NULL)->first)];
};

static void add(struct tally *tally, const struct result *result, size_t calls, int status)
{
	bool faulty = false;
	unsigned int f;

	for (f = 0; f < FAULTS; f++) {
		tally->fault[f] += result->fault[f];
		faulty |= result->fault[f];
	}
	tally->traces++;
	tally->faulty += faulty;
	tally->lax += !status;
	tally->rows += result->rows;
	tally->calls += calls;
	if (!*tally->first)
		strcpy(tally->first, result->first);
}

static void try_one(struct __test_metadata *_metadata, FIXTURE_DATA(command) *self,
		    enum harm_kind kind, unsigned int number, struct tally *tally)
{
	uint64_t seed = 1000 * kind + number;
	struct program program;
	struct result result;
	struct calls calls;
	struct mixed mixed;
	struct harm harm;

	make(&program, &calls, &seed);
	harm_describe(&mixed, &program.gen, program.sources);
	harm_make(&harm, &mixed, kind, &seed);
	/* Changed values and timestamps cannot be detected: see harm_test.c. */
	if (kind == HARM_NONE || !harm_is_plain(&harm, &mixed)) {
		write_file("trace.rtd", harm.data, harm.length);
		run(self, "export -q --strict --format csv -c all trace.rtd");
		ASSERT_GE(1, self->status);
		result = check(_metadata, &calls, self->out);
		add(tally, &result, calls.calls, self->status);
	}
	free(mixed.message);
	harm_free(&harm);
	program_free(&program);
	free(calls.call);
}

/* Kinds of damage, and the percentage of traces that may have a fault. */
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
	{ HARM_REPEAT, 5 },
	{ HARM_CUT, 12 },
	{ HARM_BOGUS, 5 },
};

TEST_F_TIMEOUT(command, each_call_is_right_or_marked, 600)
{
	const unsigned int count = effort_traces(TRACES);
	unsigned int i, k, traces = 0, faulty = 0;

	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct tally tally = { .traces = 0 };

		for (i = 0; i < count; i++)
			try_one(_metadata, self, kinds[k].kind, i, &tally);
		TH_LOG("%s: %u traces, %u with a fault, %u not reported; rows: %" PRIu64 " of %" PRIu64 ", %u invented, %u wrong paths, %u times, %u counts%s%s",
		       harm_name(kinds[k].kind), tally.traces, tally.faulty, tally.lax, tally.rows, tally.calls,
		       tally.fault[INVENTED], tally.fault[PATH], tally.fault[TIME],
		       tally.fault[COUNT], *tally.first ? ": " : "", tally.first);
		EXPECT_LE(100 * tally.faulty, kinds[k].faulty * tally.traces);
		EXPECT_EQ(kinds[k].kind ? 0 : tally.traces, tally.lax);
		EXPECT_GE(tally.rows, tally.calls / 3);
		traces += tally.traces;
		faulty += tally.faulty;
	}
	/* Recursion can conceal that calls are missing. */
	EXPECT_LE(100 * faulty, 3 * traces);
}

TEST_HARNESS_MAIN
