// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Damages traces of all kinds of records in many ways, and compares what the reader shows with the
 * truth. Each record, count, address, thread and time shown as exact must be true, each record not
 * shown must be within a reported loss, and --strict must fail. TRACES in the environment is the
 * number of traces for each kind of damage.
 *
 * Some damage, such as a changed value, cannot be detected, so some limits are percentages. If only
 * values and timestamps are damaged, wrong values and, in the delta scheme, wrong times are not
 * counted. In the XOR scheme, errors smaller than the time between two messages are not counted
 * either. Stacks are not compared, because their length and parts are not fixed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "command.h"
#include "counters.h"
#include "effort.h"
#include "harm.h"
#include "kept_report.h"
#include "options.h"

#define TRACES		50
#define STEPS		150
#define TIME_MASK	0xffffffffffull

enum fault {
	TIME,		/* a time is wrong, but shown as exact */
	CONTENT,	/* an address, count, thread, caller or mark is wrong, but shown as known */
	INVENTED,	/* a record that was not written is shown */
	MISSING,	/* a record is neither shown nor within a reported loss */
	FAULTS
};

/* A reported loss. */
struct loss {
	uint64_t	offset;
	int		src;		/* -1 for all */
	int		channel;	/* -1 for all */
};

/**
 * struct checked - what the reader showed of a damaged trace
 * @plain:	only values and timestamps are damaged
 * @seen, @switched: set for each record and context switch that was shown
 * @fault:	number of faults, by enum fault
 * @repeated:	number of records in a repeated block, which may be undetectable
 * @silent:	number of undetectable errors
 * @status:	exit status with --strict
 */
struct checked {
	const struct mixed *mixed;
	const struct harm *harm;
	bool		plain;
	bool		*seen;
	bool		*switched;
	struct loss	*loss;
	size_t		losses;
	uint64_t	fault[FAULTS];
	uint64_t	repeated;
	uint64_t	silent;
	uint64_t	shown;
	int		status;
};

static void add_loss(struct checked *checked, uint64_t offset, int src, int channel)
{
	struct loss *loss = realloc(checked->loss, (checked->losses + 1) * sizeof(*loss));

	if (!loss)
		exit(1);
	checked->loss = loss;
	loss[checked->losses++] = (struct loss){ offset, src, channel };
}

static void check_time(struct checked *checked, const struct perfrec_stamp *stamp, uint64_t time)
{
	const uint64_t wrong = (stamp->time - time) & TIME_MASK;
	const bool small = wrong < checked->mixed->step || -wrong % (TIME_MASK + 1) <
						    checked->mixed->step;

	if (stamp->time_known != TIME_EXACT || !wrong)
		return;
	if (checked->mixed->gen.ts_delta ? checked->plain : small)
		checked->silent++;
	else
		checked->fault[TIME]++;
}

/* Return whether all values of a record that are shown as known are true. */
static bool counts_right(const struct perfrec_record *record, const struct gen_truth *truth)
{
	const bool delta = record->flags & PERFREC_DELTA_KNOWN;
	unsigned int i;

	if (record->header && record->counters != truth->counters)
		return false;
	for (i = 0; i < record->counters; i++) {
		/* All commands show counts that went backwards as unknown. */
		if (delta && counters_backwards(record, i, record->delta[i]))
			continue;
		if (record->flags & PERFREC_VALUE_KNOWN && record->value[i] != truth->value[i])
			return false;
		if (delta && !(record->flags & PERFREC_AFTER_LOSS) &&
		    record->delta[i] != truth->delta[i])
			return false;
	}
	return true;
}

static bool addresses_right(const struct perfrec_record *record, const struct gen_truth *truth)
{
	unsigned int i;

	for (i = 0; i < record->addresses && record->flags & PERFREC_ADDRESS_KNOWN; i++)
		if (record->address[i] != truth->address[i])
			return false;
	return true;
}

/* Return whether a sample's thread and callers are correct. After a loss, they may be missing. */
static bool sample_right(const struct perfrec_record *record, const struct mixed_record *made)
{
	const struct perfrec_callers *callers = perfrec_callers(record);
	const bool lost = record->flags & PERFREC_AFTER_LOSS;

	if (perfrec_thread(record) != made->thread && (perfrec_thread(record) || !lost))
		return false;
	if (made->stack)
		return true;
	if (!callers)
		return !made->callers || lost;
	return callers->count == made->callers &&
	       !memcmp(callers->address, made->caller, made->callers * sizeof(made->caller[0]));
}

/* Return whether a record's marks, including the marks of lost records before it, are correct. */
static bool marks_right(const struct checked *checked, const struct perfrec_record *record,
			const struct mixed_record *made)
{
	const struct mixed_record *before = made;
	uint64_t waited = made->waited, dropped = made->dropped;

	if (!(record->flags & PERFREC_MARKED))
		return !(waited || dropped) || record->flags & PERFREC_AFTER_LOSS;
	while (record->waited != waited || record->dropped != dropped) {
		if (!(record->flags & PERFREC_AFTER_LOSS) || before-- == checked->mixed->record)
			return false;
		if (before->truth.src != made->truth.src ||
		    before->truth.channel != made->truth.channel)
			continue;
		if (checked->seen[before - checked->mixed->record])
			return false;
		waited += before->waited;
		dropped += before->dropped;
	}
	return true;
}

static int by_offset(const void *a, const void *b)
{
	const struct mixed_record *one = a, *other = b;

	return (one->truth.offset > other->truth.offset) -
	       (one->truth.offset < other->truth.offset);
}

static void on_record(void *context, const struct perfrec_record *record)
{
	struct checked *checked = context;
	const struct mixed *mixed = checked->mixed;
	const uint64_t offset = harm_original(checked->harm, record->begin.offset);
	const struct mixed_record key = { .truth.offset = offset };
	const struct mixed_record *made;

	checked->shown++;
	if (record->flags & PERFREC_AFTER_LOSS)
		add_loss(checked, record->begin.offset, record->src, record->channel);
	if (offset == HARM_NOWHERE && checked->harm->kind == HARM_REPEAT) {
		checked->repeated++;
		return;
	}
	made = bsearch(&key, mixed->record, mixed->records, sizeof(key), by_offset);
	if (!made || made->truth.src != record->src || made->truth.channel != record->channel ||
	    made->truth.type != record->type) {
		checked->fault[INVENTED] += !checked->plain;
		checked->silent += checked->plain;
		return;
	}
	checked->seen[made - mixed->record] = true;
	check_time(checked, &record->begin, made->truth.begin_time);
	check_time(checked, &record->address_end, made->truth.address_time);
	if (counts_right(record, &made->truth) && addresses_right(record, &made->truth) &&
	    sample_right(record, made) && marks_right(checked, record, made))
		return;
	checked->fault[CONTENT] += !checked->plain;
	checked->silent += checked->plain;
}

static void on_lost(void *context, const struct perfrec_loss *loss)
{
	add_loss(context, loss->offset, loss->src, loss->channel);
}

static void on_gap(void *context, const struct nexus_message *gap)
{
	add_loss(context, gap->offset, -1, -1);
	add_loss(context, gap->offset + gap->length, -1, -1);
}

static void on_error(void *context, const struct nexus_message *error)
{
	add_loss(context, error->offset, error->src, -1);
}

static void on_message(void *context, const struct nexus_message *message)
{
	if (message->flags & NEXUS_UNKNOWN_TCODE)
		add_loss(context, message->offset, -1, -1);
}

static void on_switch(void *context, const struct trace_switch *record)
{
	struct checked *checked = context;
	const struct mixed *mixed = checked->mixed;
	const uint64_t offset = harm_original(checked->harm, record->stamp.offset);
	const struct mixed_switch *change = mixed->change;
	size_t i;

	if (record->kind == SIFIVE_TRACE_SWITCH_BEGIN) {
		add_loss(checked, record->stamp.offset, record->src, MIXED_SWITCHES);
		return;
	}
	if (offset == HARM_NOWHERE && checked->harm->kind == HARM_REPEAT) {
		checked->repeated++;
		return;
	}
	for (i = 0; i < mixed->changes && change[i].offset != offset; i++)
		;
	if (i == mixed->changes || change[i].src != record->src ||
	    change[i].thread != record->thread || change[i].kind != record->kind) {
		checked->fault[INVENTED] += !checked->plain;
		checked->silent += checked->plain;
		return;
	}
	checked->switched[i] = true;
	check_time(checked, &record->stamp, change[i].time);
}

static const struct trace_ops ops = {
	.record = on_record, .lost = on_lost, .gap = on_gap, .error = on_error,
	.switched = on_switch, .message = on_message,
};

static unsigned int unwind(void *context, const struct perfrec_stack *stack,
			   uint64_t address[SIFIVE_TRACE_CALLERS_MAX])
{
	(void)context;
	(void)stack;
	address[0] = 2;
	return 1;
}

/* Return whether a loss is reported for a stream between two places. */
static bool is_covered(const struct checked *checked, uint64_t from, uint64_t to, int src,
		       int channel)
{
	size_t i;

	for (i = 0; i < checked->losses; i++) {
		const struct loss *loss = &checked->loss[i];
		uint64_t offset = harm_original(checked->harm, loss->offset);

		if (offset == HARM_NOWHERE)
			offset = checked->harm->at;
		if ((loss->src < 0 || loss->src == src) && offset >= from && offset <= to &&
		    (loss->channel < 0 || loss->channel == channel))
			return true;
	}
	return false;
}

static void find_missing_records(struct checked *checked)
{
	const struct mixed_record *record = checked->mixed->record;
	const size_t count = checked->mixed->records;
	size_t i, first, last;

	for (i = 0; i < count; i++) {
		const struct gen_truth *truth = &record[i].truth;

		if (checked->seen[i])
			continue;
		for (first = i; first-- && !(checked->seen[first] &&
		     record[first].truth.src == truth->src &&
		     record[first].truth.channel == truth->channel);)
			;
		for (last = i + 1; last < count && !(checked->seen[last] &&
		     record[last].truth.src == truth->src &&
		     record[last].truth.channel == truth->channel); last++)
			;
		checked->fault[MISSING] += !checked->plain &&
			!is_covered(checked, first < count ? record[first].truth.offset : 0,
				    last < count ? record[last].truth.offset : HARM_NOWHERE,
				    truth->src, truth->channel);
	}
}

static void find_missing_switches(struct checked *checked)
{
	const struct mixed_switch *change = checked->mixed->change;
	const size_t count = checked->mixed->changes;
	size_t i, first, last;

	for (i = 0; i < count; i++) {
		if (checked->switched[i])
			continue;
		for (first = i; first-- && !(checked->switched[first] &&
					     change[first].src == change[i].src);)
			;
		for (last = i + 1; last < count && !(checked->switched[last] &&
						     change[last].src == change[i].src); last++)
			;
		checked->fault[MISSING] += !checked->plain &&
			!is_covered(checked, first < count ? change[first].offset : 0,
				    last < count ? change[last].offset : HARM_NOWHERE,
				    change[i].src, MIXED_SWITCHES);
	}
}

FIXTURE(harm) {
	char		trace[64];
	char		meta[72];
	uint64_t	harmed;		/* number of damaged traces */
	uint64_t	faulty;		/* those with a fault */
	uint64_t	lax;		/* those with an error for which --strict passes */
	uint64_t	bad_times;	/* those with wrong times in the XOR scheme */
	uint64_t	missing;	/* those with missing records */
	uint64_t	made;		/* number of records in all traces */
	uint64_t	shown;		/* number of records shown */
};

/* Percentages of damaged traces that may have a fault, and of records that must be shown. */
FIXTURE_VARIANT(harm) {
	enum harm_kind	kind;
	unsigned int	faulty;
	unsigned int	lax;
	unsigned int	missing;
	unsigned int	shown;
};

#define HARM(name, kind, faulty, lax, missing, shown)			\
	FIXTURE_VARIANT_ADD(harm, name) { kind, faulty, lax, missing, shown }

HARM(none, HARM_NONE, 0, 0, 0, 100);
HARM(bit, HARM_FLIP, 4, 0, 2, 97);
HARM(value, HARM_VALUE, 0, 0, 0, 99);
HARM(time, HARM_TIME, 0, 0, 0, 100);
HARM(tag, HARM_TAG, 8, 0, 2, 96);
HARM(end, HARM_ENDS, 4, 0, 2, 96);
HARM(lost_byte, HARM_DROP, 20, 0, 2, 97);
HARM(doubled_byte, HARM_TWICE, 4, 0, 2, 96);
HARM(exchanged_bytes, HARM_SWAP, 14, 0, 2, 97);
HARM(zeros, HARM_ZEROS, 6, 0, 2, 96);
HARM(ones, HARM_ONES, 14, 2, 4, 96);
HARM(random_bytes, HARM_RANDOM, 6, 0, 2, 96);
HARM(repeated_block, HARM_REPEAT, 16, 2, 2, 96);
HARM(lost_block, HARM_CUT, 16, 0, 4, 95);
HARM(foreign_messages, HARM_BOGUS, 20, 0, 2, 96);

FIXTURE_SETUP(harm)
{
	int fd;

	strcpy(self->trace, "/tmp/harm_test.XXXXXX");
	fd = mkstemp(self->trace);
	ASSERT_LE(0, fd);
	close(fd);
	snprintf(self->meta, sizeof(self->meta), "%s.meta", self->trace);
}

FIXTURE_TEARDOWN(harm)
{
	unlink(self->trace);
	unlink(self->meta);
}

/* Write the trace, and the side-car file of the undamaged trace. */
static void write_harmed(struct __test_metadata *_metadata, FIXTURE_DATA(harm) *self,
			 const struct checked *checked)
{
	FILE *file = fopen(self->trace, "wb");

	ASSERT_NE(NULL, file);
	fwrite(checked->harm->data, 1, checked->harm->length, file);
	ASSERT_EQ(0, fclose(file));
	file = fopen(self->meta, "w");
	ASSERT_NE(NULL, file);
	fprintf(file, "{\"version\":1,\"switches\":{\"channel\":%d},\"coverage\":{\"bytes\":%zu}}",
		MIXED_SWITCHES, checked->mixed->gen.length);
	ASSERT_EQ(0, fclose(file));
}

static void read_harmed(struct __test_metadata *_metadata, FIXTURE_DATA(harm) *self,
			struct checked *checked)
{
	static struct options options;
	struct input input;

	write_harmed(_metadata, self, checked);
	options_init(&options);
	options.path = self->trace;
	options.strict = true;
	options.trace.quiet = true;
	options.trace.channel = TRACE_ALL_CHANNELS;
	options.trace.src_bits = 2;
	options.trace.ts_scheme = checked->mixed->gen.ts_delta ? NEXUS_TS_DELTA : NEXUS_TS_XOR;
	ASSERT_EQ(0, input_open(&input, &options));
	trace_unwind(input.trace, unwind, NULL);
	EXPECT_EQ(0, trace_run(input.trace, &ops, checked));
	checked->status = input_summary(&input, INPUT_TIMES);
	input_close(&input);
	find_missing_records(checked);
	find_missing_switches(checked);
}

static void judge(struct __test_metadata *_metadata, FIXTURE_DATA(harm) *self,
		  const struct checked *checked)
{
	bool faulty = false;
	unsigned int i;

	for (i = 0; i < FAULTS; i++)
		faulty |= checked->fault[i];
	self->harmed++;
	self->faulty += faulty;
	self->lax += (faulty || checked->repeated) && !checked->status;
	self->bad_times += checked->fault[TIME] && !checked->mixed->gen.ts_delta;
	self->missing += !!checked->fault[MISSING];
	self->made += checked->mixed->records;
	self->shown += checked->shown - checked->repeated;
	if (checked->harm->kind == HARM_NONE)
		EXPECT_EQ(checked->mixed->drops, checked->status);
}

TEST_F_TIMEOUT(harm, is_shown_or_marked, 600)
{
	unsigned int i;

	for (i = 0; i < effort_traces(TRACES); i++) {
		uint64_t seed = 1000 * variant->kind + i;
		struct mixed mixed;
		struct harm harm;
		struct checked checked = { .mixed = &mixed, .harm = &harm };

		mixed_make(&mixed, &seed, STEPS);
		harm_make(&harm, &mixed, variant->kind, &seed);
		checked.plain = harm_is_plain(&harm, &mixed);
		checked.seen = calloc(mixed.records + 1, sizeof(bool));
		checked.switched = calloc(mixed.changes + 1, sizeof(bool));
		read_harmed(_metadata, self, &checked);
		judge(_metadata, self, &checked);
		free(checked.seen);
		free(checked.switched);
		free(checked.loss);
		harm_free(&harm);
		mixed_free(&mixed);
	}
	TH_LOG("%" PRIu64 " traces: %" PRIu64 " with a fault, %" PRIu64 " of them not noticed, %" PRIu64 " with missing records; %" PRIu64 " of %" PRIu64 " records shown",
	       self->harmed, self->faulty, self->lax, self->missing, self->shown, self->made);
	/* A damaged record may have been shown before a contradiction revealed the damage. */
	EXPECT_LE(50 * self->bad_times, variant->faulty ? self->harmed : 0);
	EXPECT_LE(100 * self->faulty, variant->faulty * self->harmed);
	EXPECT_LE(100 * self->lax, variant->lax * self->harmed);
	EXPECT_LE(100 * self->missing, variant->missing * self->harmed);
	EXPECT_GE(100 * self->shown, variant->shown * self->made);
}

TEST_HARNESS_MAIN
