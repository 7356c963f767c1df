// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests that the inferred data is correct for a ring whose beginning was overwritten. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "gen.h"
#include "kept_report.h"
#include "options.h"

#define WIDTH		40
#define LAP		(1ull << WIDTH)
#define SOURCES		3
#define COUNTERS	3
#define RECORDS		300
#define ROUNDS		40

/**
 * struct found - decoded records, compared with those written
 * @records:	number of records that were written
 * @wrong:	number of records that were not written, or that have a wrong address or count
 * @timed:	number of records with a time
 * @mistimed:	number of records with a wrong time
 * @counted:	number of records with a value (Raw, DeltaXOR) or difference (Delta)
 */
struct found {
	const struct gen	*gen;
	size_t			cut;
	uint64_t		records;
	uint64_t		wrong;
	uint64_t		timed;
	uint64_t		mistimed;
	uint64_t		counted;
	uint64_t		late;		/* expected delay of each time */
	uint64_t		slack;		/* maximum deviation from @late */
	struct trace_stats	stats;
};

FIXTURE(ring) {
	char trace[64];
	char meta[80];
	uint64_t seed;
	struct gen gen;
	struct gen_stream stream[SOURCES][2];
	uint64_t value[COUNTERS];
	/* Sources with records: from @first up to, but not including, @sources (0 for all). */
	unsigned int sources;
	unsigned int first;
	struct found found;
};

FIXTURE_VARIANT(ring) {
	unsigned int count_type;
};

FIXTURE_VARIANT_ADD(ring, raw) { 0 };
FIXTURE_VARIANT_ADD(ring, delta) { 1 };
FIXTURE_VARIANT_ADD(ring, xor) { 2 };

FIXTURE_SETUP(ring)
{
	int fd;

	strcpy(self->trace, "/tmp/ring_test.XXXXXX");
	fd = mkstemp(self->trace);
	ASSERT_LE(0, fd);
	close(fd);
	snprintf(self->meta, sizeof(self->meta), "%s.meta", self->trace);
	self->seed = 1;
}

FIXTURE_TEARDOWN(ring)
{
	gen_free(&self->gen);
	unlink(self->trace);
	unlink(self->meta);
}

/* Begin two streams on each source, with headers, at time @now. */
static void begin(FIXTURE_DATA(ring) *self, unsigned int count_type, uint64_t now)
{
	unsigned int i, k;

	gen_free(&self->gen);
	gen_init(&self->gen, 2, WIDTH);
	self->gen.now = now;
	for (i = 0; i < SOURCES; i++)
		gen_sync(&self->gen, i);
	for (i = 0; i < SOURCES; i++) {
		for (k = 0; k < 2; k++) {
			gen_stream_init(&self->stream[i][k], &self->gen, i, 6 + k,
					count_type, COUNTERS, 48);
			gen_header(&self->stream[i][k]);
		}
	}
}

static void append_records(FIXTURE_DATA(ring) *self, unsigned int records)
{
	unsigned int sources = self->sources ? self->sources : SOURCES, c;

	for (; records; records--) {
		uint64_t random = gen_random(&self->seed);
		uint64_t address[2] = {
			0x10000 + (random & 0xffe), 0x3f00000000 + (random >> 20 & 0xffe),
		};

		self->gen.step = 1 + random % 3;
		self->gen.now += random >> 32 & 63;
		for (c = 0; c < COUNTERS; c++)
			self->value[c] += gen_random(&self->seed) & 0xffffffffff;
		gen_record(&self->stream[self->first + (random >> 40 & 0xff) %
					 (sources - self->first)]
			   [random >> 50 & 1], random >> 60 & 3, address,
			   self->value);
	}
}

static void end(FIXTURE_DATA(ring) *self, unsigned int sources)
{
	unsigned int i;

	for (i = 0; i < sources; i++)
		gen_sync(&self->gen, i);
}

/* Return the offset after the first message that ends at @from or later. */
static size_t cut_after(const struct gen *gen, size_t from)
{
	while ((gen->data[from] & 3) != 3)
		from++;
	return from + 1;
}

static void on_record(void *context, const struct perfrec_record *record)
{
	struct found *found = context;
	uint64_t offset = record->begin.offset + found->cut;
	const struct gen_truth *truth = found->gen->truth;
	size_t i, last = found->gen->truths;
	unsigned int c;

	while (last && truth->offset < offset) {
		truth++;
		last--;
	}
	if (!last || truth->offset != offset || truth->src != record->src ||
	    truth->channel != record->channel || truth->type != record->type ||
	    !record->header || !(record->flags & PERFREC_ADDRESS_KNOWN)) {
		found->wrong++;
		return;
	}
	found->records++;
	for (i = 0; i < truth->addresses; i++)
		found->wrong += truth->address[i] != record->address[i];
	if (record->begin.time_known) {
		found->timed++;
		found->mistimed += (record->begin.time - truth->begin_time -
				    found->late + found->slack) % LAP >
				   2 * found->slack;
	}
	for (c = 0; c < COUNTERS; c++) {
		if (record->flags & PERFREC_VALUE_KNOWN)
			found->wrong += truth->value[c] != record->value[c];
		if (record->flags & PERFREC_DELTA_KNOWN)
			found->wrong += truth->delta[c] != record->delta[c];
	}
	found->counted += !!(record->flags &
			     (record->header->count_type == PERFREC_DELTA ?
			      PERFREC_DELTA_KNOWN : PERFREC_VALUE_KNOWN));
}

static const struct trace_ops ops = { .record = on_record };

/* Read the rest of the trace, starting at @cut, with its side-car file. */
static void read_from(struct __test_metadata *_metadata,
		      FIXTURE_DATA(ring) *self, size_t cut)
{
	const struct gen *gen = &self->gen;
	const struct gen_counter *counter = self->stream[0][0].counter;
	static struct options options;
	struct input input;
	FILE *file;
	unsigned int c;

	file = fopen(self->trace, "wb");
	ASSERT_NE(NULL, file);
	ASSERT_EQ(gen->length - cut,
		  fwrite(gen->data + cut, 1, gen->length - cut, file));
	fclose(file);
	file = fopen(self->meta, "w");
	ASSERT_NE(NULL, file);
	fprintf(file, "{ \"srcbits\": 2, \"wrapped\": true, \"count_type\": %u,"
		" \"ts_scheme\": \"%s\", \"counters\": [",
		self->stream[0][0].count_type, gen->ts_delta ? "delta" : "xor");
	for (c = COUNTERS; c--;)
		fprintf(file, "{ \"number\": %u, \"type\": 0, \"code\": %u, \"info\": %u }%s",
			counter[c].number, counter[c].code,
			counter[c].csr | (counter[c].width - 1) << 12,
			c ? "," : "] }\n");
	fclose(file);
	options_init(&options);
	options.path = self->trace;
	options.trace.quiet = true;
	options.trace.channel = TRACE_ALL_CHANNELS;
	self->found = (struct found){
		.gen = gen, .cut = cut, .late = self->found.late,
		.slack = self->found.slack,
	};
	reported[0] = '\0';
	ASSERT_EQ(0, input_open(&input, &options)) {
		TH_LOG("%s", reported);
	}
	EXPECT_EQ(0, trace_run(input.trace, &ops, &self->found));
	self->found.stats = *trace_stats(input.trace);
	input_close(&input);
}

static uint64_t whole_records(const struct gen *gen, size_t from)
{
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < gen->truths; i++)
		count += gen->truth[i].offset >= from;
	return count;
}

TEST_F(ring, has_correct_times_and_counters)
{
	const struct found *found = &self->found;
	unsigned int round;

	for (round = 0; round < ROUNDS; round++) {
		uint64_t now = gen_random(&self->seed) % LAP, whole;
		size_t cut;

		/* Make the times wrap soon, or exceed half of their range. */
		if (round % 4 == 0)
			now = LAP - 8000;
		if (round % 4 == 1)
			now = LAP / 2 - 8000;
		if (round % 4 == 2)
			now = LAP - 20000;
		begin(self, variant->count_type, now + 1);
		append_records(self, RECORDS);
		self->gen.now += gen_random(&self->seed) % 500;
		/* Make the times wrap between the last message and the absolute time. */
		if (round % 4 == 2 && self->gen.now < LAP)
			self->gen.now = LAP + 3;
		end(self, SOURCES);
		cut = cut_after(&self->gen, self->gen.length / 3 + round);
		read_from(_metadata, self, cut);
		whole = whole_records(&self->gen, cut);
		EXPECT_EQ(0, found->wrong);
		EXPECT_EQ(0, found->mistimed) {
			TH_LOG("round %u", round);
		}
		EXPECT_EQ(0, found->stats.losses);
		EXPECT_EQ(0, found->stats.no_header);
		EXPECT_EQ(SOURCES, found->stats.worked_out);
		EXPECT_EQ(found->records, found->timed);
		if (variant->count_type == PERFREC_DELTA_XOR) {
			EXPECT_EQ(0, found->records);
			/* The first word after the cut may have been mistaken for a header's. */
			EXPECT_LE(whole, found->stats.rootless + 6);
			continue;
		}
		EXPECT_LE(whole, found->records + 6);
		EXPECT_EQ(found->records, found->stats.assumed);
		EXPECT_EQ(found->records, found->counted);
	}
}

/* Every record after the first header that follows the cut is decoded with its time and counts. */
TEST_F(ring, is_complete_after_a_header)
{
	const struct found *found = &self->found;
	unsigned int i, k;
	size_t at;

	begin(self, variant->count_type, 5000);
	append_records(self, RECORDS);
	at = self->gen.length;
	for (i = 0; i < SOURCES; i++)
		for (k = 0; k < 2; k++)
			gen_header(&self->stream[i][k]);
	append_records(self, RECORDS);
	end(self, SOURCES);
	read_from(_metadata, self, cut_after(&self->gen, at / 2));
	EXPECT_EQ(0, found->wrong);
	EXPECT_EQ(0, found->mistimed);
	EXPECT_EQ(found->records, found->timed);
	EXPECT_EQ(found->records, found->counted);
	EXPECT_LE(RECORDS, found->records);
	EXPECT_EQ(RECORDS, found->records - found->stats.assumed);
}

/* The rest of a header is never decoded as a record, wherever the header was cut. */
TEST_F(ring, can_begin_within_a_header)
{
	size_t cut = 0, first;

	begin(self, variant->count_type, 5000);
	first = self->gen.length;
	append_records(self, RECORDS);
	end(self, SOURCES);
	while (cut < first) {
		cut = cut_after(&self->gen, cut);
		read_from(_metadata, self, cut);
		EXPECT_EQ(0, self->found.wrong) {
			TH_LOG("cut at %zu", cut);
		}
		EXPECT_EQ(0, self->found.mistimed);
	}
}

/*
 * Return whether the counts are DeltaXOR: if so, no record can be decoded without a header after
 * the cut.
 */
static bool nothing_left(struct __test_metadata *_metadata,
			 const FIXTURE_DATA(ring) *self)
{
	if (self->stream[0][0].count_type != PERFREC_DELTA_XOR)
		return false;
	EXPECT_EQ(0, self->found.records);
	EXPECT_LT(0, self->found.stats.rootless);
	return true;
}

TEST_F(ring, source_without_absolute_time_has_no_times)
{
	const struct found *found = &self->found;
	uint64_t timed = 0;
	size_t i, cut;

	begin(self, variant->count_type, 77777);
	append_records(self, RECORDS);
	end(self, SOURCES - 1);
	cut = cut_after(&self->gen, self->gen.length / 2);
	read_from(_metadata, self, cut);
	EXPECT_EQ(0, found->wrong);
	EXPECT_EQ(0, found->mistimed);
	EXPECT_EQ(SOURCES - 1, found->stats.worked_out);
	if (nothing_left(_metadata, self))
		return;
	for (i = 0; i < self->gen.truths; i++)
		timed += self->gen.truth[i].offset >= cut &&
			 self->gen.truth[i].src < SOURCES - 1;
	EXPECT_LE(timed, found->timed + 4);
	EXPECT_GE(timed, found->timed);
}

/* The times of a source's messages are correct even if its last message is long before the end. */
TEST_F(ring, silent_source_keeps_its_position)
{
	const struct found *found = &self->found;
	unsigned int round;

	for (round = 0; round < ROUNDS; round++) {
		uint64_t now = round % 4 ? gen_random(&self->seed) % LAP :
					   LAP - 700000;
		size_t cut;

		begin(self, variant->count_type, now + 1);
		self->gen.ts_delta = round & 1;
		self->sources = 1;
		append_records(self, RECORDS);
		cut = cut_after(&self->gen, self->gen.length / 2);
		self->sources = SOURCES;
		append_records(self, RECORDS);
		/* All sources except the first continue for a long time. */
		self->gen.now += 1000000;
		self->first = 1;
		append_records(self, RECORDS);
		self->first = 0;
		end(self, SOURCES);
		/*
		 * With relative timestamps, a time can only be estimated from the order of messages
		 * in the file.
		 */
		self->found.slack = self->gen.ts_delta ? 5000 : 0;
		read_from(_metadata, self, cut);
		EXPECT_EQ(0, found->wrong);
		EXPECT_EQ(SOURCES, found->stats.worked_out);
		EXPECT_EQ(0, found->mistimed) {
			TH_LOG("round %u", round);
		}
	}
}

/*
 * A source's clock seems to be far ahead of the other clocks. The only earlier time that would
 * explain this, a lap before the absolute time, is before 0.
 */
TEST_F(ring, times_are_never_before_clock_0)
{
	const struct found *found = &self->found;
	uint64_t start;
	size_t cut;

	begin(self, variant->count_type, 100);
	cut = self->gen.length;
	start = self->gen.now;
	self->sources = 1;
	append_records(self, 60);
	self->sources = SOURCES;
	self->first = 1;
	self->gen.now = start;
	append_records(self, 200);
	self->first = 0;
	end(self, SOURCES);
	gen_header(&self->stream[0][0]);
	append_records(self, 20);
	read_from(_metadata, self, cut);
	EXPECT_EQ(0, found->wrong);
	EXPECT_EQ(0, found->mistimed);
	EXPECT_EQ(SOURCES - 1, found->stats.worked_out);
	EXPECT_EQ(1, found->stats.contrary);
	EXPECT_LT(0, found->timed);
	EXPECT_GT(LAP, found->stats.last);
}

/* An Error message does not stop the clock, so later times are correct. */
TEST_F(ring, continues_after_an_error)
{
	const struct found *found = &self->found;
	size_t cut, error;

	begin(self, variant->count_type, 77777);
	append_records(self, RECORDS);
	error = self->gen.length;
	gen_error(&self->gen, 1);
	append_records(self, 50);
	end(self, SOURCES);
	cut = cut_after(&self->gen, error / 3);
	read_from(_metadata, self, cut);
	EXPECT_EQ(0, found->mistimed);
	EXPECT_EQ(SOURCES, found->stats.worked_out);
	if (nothing_left(_metadata, self))
		return;
	EXPECT_LT(0, found->records);
	EXPECT_EQ(found->timed, found->records);
}

/* The times of every source go back, so none of them can be trusted. */
TEST_F(ring, contradictory_times_are_not_trusted)
{
	unsigned int i;

	begin(self, 0, 1 << 20);
	for (i = 0; i < 100; i++) {
		self->gen.now = (1 << 20) + (i & 7) * 1000;
		append_records(self, 1);
	}
	self->gen.now = 1 << 21;
	end(self, SOURCES);
	read_from(_metadata, self, cut_after(&self->gen, self->gen.length / 2));
	EXPECT_EQ(0, self->found.wrong);
	EXPECT_EQ(0, self->found.timed);
	EXPECT_EQ(SOURCES, self->found.stats.contrary);
	EXPECT_EQ(0, self->found.stats.worked_out);
}

/* Relative timestamps give no absolute time, so times are as late as the final time allows. */
TEST_F(ring, relative_timestamps_end_at_the_absolute_time)
{
	const struct found *found = &self->found;

	begin(self, variant->count_type, LAP - 5000);
	self->gen.ts_delta = true;
	append_records(self, RECORDS);
	/* All sources have a message at the same time, 100 ticks before the end. */
	self->gen.step = 0;
	gen_store(&self->gen, 0, 9, 4, 1);
	gen_store(&self->gen, 1, 9, 4, 1);
	gen_store(&self->gen, 2, 9, 4, 1);
	self->gen.now += 100;
	end(self, SOURCES);
	self->found.late = 100;
	read_from(_metadata, self, cut_after(&self->gen, self->gen.length / 2));
	EXPECT_EQ(0, found->wrong);
	EXPECT_EQ(0, found->mistimed);
	EXPECT_EQ(SOURCES, found->stats.worked_out);
	if (nothing_left(_metadata, self))
		return;
	EXPECT_LT(0, found->timed);
	EXPECT_EQ(found->records, found->timed);
}

TEST_HARNESS_MAIN
