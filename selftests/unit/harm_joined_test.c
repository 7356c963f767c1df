// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Damages traces of records and instructions, and compares the joined flow with the truth.
 * Instructions between two gaps were executed in this order, and each unmarked record among them
 * was written at this place.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "command.h"
#include "effort.h"
#include "flow/joined.h"
#include "flow_program.h"
#include "harm.h"
#include "kept_report.h"
#include "options.h"

#define TRACES	20
#define STEPS	1500
#define CHANNEL	6
#define RECORDS	512

/* A record: its place in the trace, and the number of instructions shown before it. */
struct place {
	uint64_t	offset;
	size_t		before;
};

/*
 * What the reader showed: addresses of instructions, PROGRAM_GAP, and offsets of records plus
 * RECORD.
 */
#define RECORD	(1ull << 63)

struct shown {
	struct joined	*joined;
	const struct harm *harm;
	uint64_t	*item;
	size_t		items;
	size_t		room;
	unsigned int	misplaced;
};

FIXTURE(joined) {
	struct program	program;
	struct gen	gen;
	struct gen_stream stream;
	struct place	record[RECORDS];
	size_t		records;
	uint64_t	value;
	uint64_t	seed;
	char		elf[64];
	char		trace[72];
};

FIXTURE_SETUP(joined)
{
	memset(self, 0, sizeof(*self));
	snprintf(self->elf, sizeof(self->elf), "/tmp/harm_joined_test.%d", getpid());
	snprintf(self->trace, sizeof(self->trace), "%s.rtd", self->elf);
}

FIXTURE_TEARDOWN(joined)
{
	unlink(self->elf);
	unlink(self->trace);
	gen_free(&self->gen);
	program_free(&self->program);
}

static void put_record(void *context, size_t described)
{
	FIXTURE_DATA(joined) *self = context;
	const uint64_t address[] = { PROGRAM_BASE, PROGRAM_BASE };

	if (gen_random(&self->seed) % 20 || self->records == RECORDS)
		return;
	self->value += gen_random(&self->seed) % 1000;
	self->record[self->records++] = (struct place){ self->gen.length, described };
	gen_record(&self->stream, 2, address, &self->value);
}

static void make(FIXTURE_DATA(joined) *self, uint64_t seed)
{
	const struct tracer tracer = {
		.btm = seed & 1, .repeats = seed & 2, .traps = seed & 4, .stops = seed & 8,
		.hist_bits = 31, .icnt_max = 4096, .sync = 10, .src = seed & 3,
		.between = put_record, .context = self,
	};

	gen_free(&self->gen);
	program_free(&self->program);
	self->seed = seed;
	self->records = 0;
	self->value = 0;
	program_make(&self->program, &self->seed);
	program_write(&self->program, self->elf);
	gen_init(&self->gen, 2, 40);
	self->gen.step = 10;
	gen_sync(&self->gen, tracer.src);
	gen_stream_init(&self->stream, &self->gen, (uint8_t)tracer.src, CHANNEL, 0, 1, 64);
	gen_header(&self->stream);
	program_run(&self->program, &tracer, &self->gen, STEPS, &self->seed);
}

static void show(struct shown *shown, uint64_t item)
{
	if (shown->items == shown->room) {
		shown->room = 2 * shown->room + 1024;
		shown->item = realloc(shown->item, shown->room * sizeof(*shown->item));
		if (!shown->item)
			exit(1);
	}
	shown->item[shown->items++] = item;
}

static void on_run(void *context, const struct flow_place *place, const struct flow_run *run)
{
	uint64_t times = run->times;
	unsigned int at;

	(void)place;
	while (times--)
		for (at = run->from; at < run->to; at += block_length(run->block, at))
			show(context, run->block->start + 2 * at);
}

static void on_event(void *context, const struct flow_place *place,
		     const struct flow_event *event)
{
	(void)place;
	if (event->what == FLOW_LOST)
		show(context, PROGRAM_GAP);
}

static void on_placed(void *context, const struct perfrec_record *record, bool misplaced)
{
	struct shown *shown = context;

	if (misplaced)
		shown->misplaced++;
	else
		show(shown, RECORD | harm_original(shown->harm, record->begin.offset));
}

static const struct joined_ops joined_ops = {
	.flow = { .run = on_run, .event = on_event }, .record = on_placed,
};

static void on_message(void *context, const struct nexus_message *message)
{
	if (joined_message(((struct shown *)context)->joined, message))
		exit(1);
}

static void on_record(void *context, const struct perfrec_record *record)
{
	if (joined_record(((struct shown *)context)->joined, record))
		exit(1);
}

static void on_gap(void *context, const struct nexus_message *gap)
{
	joined_damaged(((struct shown *)context)->joined, gap);
}

static const struct trace_ops ops = { .message = on_message, .record = on_record, .gap = on_gap };

/* Read a trace. Return whether --strict fails. */
static bool read_trace(struct __test_metadata *_metadata, FIXTURE_DATA(joined) *self,
		       struct shown *shown)
{
	static struct options options;
	FILE *file = fopen(self->trace, "wb");
	const struct flow_stats *flow;
	struct trace_stats made = { 0 };
	struct input input;
	struct code *code;
	int status;

	ASSERT_NE(NULL, file);
	fwrite(shown->harm->data, 1, shown->harm->length, file);
	ASSERT_EQ(0, fclose(file));
	options_init(&options);
	options.path = self->trace;
	options.meta = "none";
	options.strict = true;
	options.trace.quiet = true;
	options.trace.channel = CHANNEL;
	options.trace.src_bits = 2;
	options.trace.ts_scheme = NEXUS_TS_XOR;
	options.symbols.file[0] = self->elf;
	options.symbols.files = 1;
	ASSERT_EQ(0, input_open(&input, &options));
	code = code_new(input.symbols, META_CALLS_ALL);
	ASSERT_NE(NULL, code);
	shown->joined = joined_new(code, &joined_ops, shown);
	EXPECT_EQ(0, trace_run(input.trace, &ops, shown));
	EXPECT_EQ(0, joined_flush(shown->joined));
	flow = joined_stats(shown->joined);
	made.flow_losses = flow_losses(flow);
	trace_add(input.trace, &made);
	status = input_summary(&input, INPUT_FLOW);
	joined_free(shown->joined);
	code_free(code);
	input_close(&input);
	return status;
}

static const struct place *find(const FIXTURE_DATA(joined) *self, uint64_t offset)
{
	size_t i;

	for (i = 0; i < self->records; i++)
		if (self->record[i].offset == offset)
			return &self->record[i];
	return NULL;
}

/* Collect the instructions from @first up to the next gap. Return the end. */
static size_t stretch(const struct shown *shown, size_t first, uint64_t *pc, size_t *count)
{
	size_t i;

	*count = 0;
	for (i = first; i < shown->items && shown->item[i] != PROGRAM_GAP; i++)
		if (!(shown->item[i] & RECORD))
			pc[(*count)++] = shown->item[i];
	return i;
}

/*
 * Return the number of records in a stretch that were written elsewhere. The stretch begins after
 * @from instructions. A record before the stretch's first instruction may have been written at any
 * distance before the stretch; a record after its last instruction, at any distance after it.
 */
static unsigned int wrong_records(const FIXTURE_DATA(joined) *self, const struct shown *shown,
				  size_t first, size_t end, size_t from, size_t count)
{
	unsigned int wrong = 0;
	size_t i, done = 0;

	for (i = first; i < end; i++) {
		const struct place *place;

		if (!(shown->item[i] & RECORD)) {
			done++;
			continue;
		}
		place = find(self, shown->item[i] & ~RECORD);
		wrong += place && (done && done < count ? place->before != from + done :
				   done ? place->before < from + done :
					  place->before > from + done);
	}
	return wrong;
}

/* Return where the program next executed these instructions, or NULL. */
static const uint64_t *occurrence(const FIXTURE_DATA(joined) *self, const uint64_t *at,
				  const uint64_t *pc, size_t count)
{
	const uint64_t *end = self->program.pc + self->program.pcs;

	for (; at + count <= end; at++)
		if (!memcmp(at, pc, count * sizeof(*pc)))
			return at;
	return NULL;
}

struct verdict {
	unsigned int	flow;		/* stretches that the program did not execute */
	unsigned int	records;	/* records in the wrong place */
	size_t		placed;
};

static struct verdict judge(const FIXTURE_DATA(joined) *self, const struct shown *shown)
{
	const uint64_t *pc = self->program.pc, *at = pc, *found, *first;
	uint64_t *part = calloc(shown->items + 1, sizeof(*part));
	struct verdict verdict = { 0 };
	size_t i, end, count;
	unsigned int wrong;

	if (!part)
		exit(1);
	for (i = 0; i < shown->items; i = end + 1) {
		end = stretch(shown, i, part, &count);
		first = count ? occurrence(self, at, part, count) : NULL;
		verdict.flow += count && !first;
		if (!first)
			continue;
		/* The program may have executed the same instructions several times. */
		for (found = first; found; found = occurrence(self, found + 1, part, count)) {
			wrong = wrong_records(self, shown, i, end, (size_t)(found - pc), count);
			if (!wrong)
				break;
		}
		verdict.records += !found;
		at = (found ? found : first) + count;
	}
	for (i = 0; i < shown->items; i++)
		verdict.placed += shown->item[i] >> 63;
	free(part);
	return verdict;
}

/*
 * Kinds of damage, and the percentages of traces in which the flow may be wrong, in which an error
 * may be unreported, and in which a record may be in the wrong place. A flipped branch cannot be
 * detected, and a repeated block looks like a loop.
 */
static const struct {
	enum harm_kind	kind;
	unsigned int	flow;
	unsigned int	lax;
	unsigned int	records;
} kinds[] = {
	{ HARM_NONE, 0, 0, 0 },
	{ HARM_FLIP, 5, 5, 0 },
	{ HARM_TAG, 5, 5, 0 },
	{ HARM_ENDS, 5, 0, 0 },
	{ HARM_DROP, 0, 0, 0 },
	{ HARM_TWICE, 0, 0, 0 },
	{ HARM_SWAP, 0, 0, 0 },
	{ HARM_ZEROS, 0, 0, 0 },
	{ HARM_ONES, 0, 0, 0 },
	{ HARM_RANDOM, 0, 0, 0 },
	{ HARM_REPEAT, 50, 0, 10 },
	{ HARM_CUT, 0, 0, 0 },
};

TEST_F_TIMEOUT(joined, each_record_is_at_its_place_or_marked, 600)
{
	const unsigned int count = effort_traces(TRACES);
	unsigned int i, k;

	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		unsigned int flow = 0, records = 0, lax = 0, misplaced = 0, traces = 0;
		size_t placed = 0, made = 0;

		for (i = 0; i < count; i++) {
			uint64_t seed = 1000 * kinds[k].kind + i;
			struct shown shown = { .items = 0 };
			struct verdict verdict;
			struct mixed mixed;
			struct harm harm;
			bool status;

			make(self, seed);
			harm_describe(&mixed, &self->gen, 1);
			harm_make(&harm, &mixed, kinds[k].kind, &seed);
			shown.harm = &harm;
			status = read_trace(_metadata, self, &shown);
			verdict = judge(self, &shown);
			flow += verdict.flow != 0;
			records += verdict.records != 0;
			misplaced += shown.misplaced;
			lax += (verdict.flow || verdict.records) && !status;
			placed += verdict.placed;
			made += self->records;
			traces++;
			if (!kinds[k].kind) {
				EXPECT_FALSE(status);
				EXPECT_EQ(self->records, verdict.placed);
			}
			free(mixed.message);
			free(shown.item);
			harm_free(&harm);
		}
		TH_LOG("%s: %u traces, wrong flow in %u, records at a wrong place in %u, not reported in %u; %zu of %zu records placed, %u marked",
		       harm_name(kinds[k].kind), traces, flow, records, lax, placed, made, misplaced);
		EXPECT_LE(100 * flow, kinds[k].flow * traces);
		EXPECT_LE(100 * records, kinds[k].records * traces);
		EXPECT_LE(100 * lax, kinds[k].lax * traces);
		EXPECT_GE(100 * placed, 85 * made);
	}
}

TEST_HARNESS_MAIN
