// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that times after damage (a flipped bit, lost bytes, Error messages) are the true times or
 * are marked.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "effort.h"
#include "gen_program.h"
#include "kept_report.h"
#include "options.h"

/* Number of traces; the environment variable TRACES overrides it. */
#define TRACES		60
#define STEPS		2000

/**
 * struct checked - records after damage, compared with the records as written
 * @damage:	offset of the damage
 * @shift:	number of bytes that are missing at @damage
 * @records:	number of records after the damage
 * @right:	number of records with the true time
 * @wrong:	number of records with a wrong time that is marked
 * @unmarked:	number of records with a wrong time that is not marked
 * @latest:	each source's latest time before the damage
 * @back:	number of records with a time before @latest
 */
struct checked {
	const struct gen	*gen;
	size_t			damage;
	size_t			shift;
	size_t			at;
	uint64_t		records;
	uint64_t		right;
	uint64_t		wrong;
	uint64_t		unmarked;
	uint64_t		inferred;
	uint64_t		latest[4];
	uint64_t		back;
};

FIXTURE(clock) {
	struct program program;
	struct checked checked;
	char trace[64];
	char meta[72];
	uint64_t seed;
	unsigned int steps;
	bool branches;
};

FIXTURE_SETUP(clock)
{
	int fd;

	strcpy(self->trace, "/tmp/clock_test.XXXXXX");
	fd = mkstemp(self->trace);
	ASSERT_LE(0, fd);
	close(fd);
	snprintf(self->meta, sizeof(self->meta), "%s.meta", self->trace);
	self->seed = 1;
	self->steps = STEPS;
}

FIXTURE_TEARDOWN(clock)
{
	program_free(&self->program);
	unlink(self->trace);
	unlink(self->meta);
}

static int by_offset(const void *a, const void *b)
{
	const struct gen_truth *one = a, *other = b;

	return (one->offset > other->offset) - (one->offset < other->offset);
}

static void make(FIXTURE_DATA(clock) *self, unsigned int sources, bool delta)
{
	struct program *program = &self->program;
	const uint64_t field[] = { 4 };
	unsigned int i;

	program_free(program);
	program_init(program, gen_random(&self->seed));
	program->gen.ts_delta = delta;
	program->gen.now = gen_random(&self->seed) >> 30;
	program->count_type = gen_random(&self->seed) % 2;
	program->keep_truth = true;
	program->sources = sources;
	program->threads = sources;
	for (i = 0; i < sources; i++)
		program->thread[i].src = i;
	for (i = 0; i < sources; i++)
		gen_sync(&program->gen, i);
	for (i = 0; i < self->steps; i++) {
		program_step(program);
		/* A direct branch. */
		if (self->branches)
			gen_message(&program->gen, 3, 0, NULL, NULL, field, 1);
	}
	program_end(program);
	qsort(program->gen.truth, program->gen.truths,
	      sizeof(program->gen.truth[0]), by_offset);
}

static void on_record(void *context, const struct perfrec_record *record)
{
	struct checked *checked = context;
	const struct gen *gen = checked->gen;
	uint64_t offset = record->begin.offset;
	struct gen_truth key = { 0 };
	const struct gen_truth *truth;
	bool same;

	if (record->begin.offset >= checked->damage)
		offset += checked->shift;
	key.offset = offset;
	truth = bsearch(&key, gen->truth, gen->truths, sizeof(key), by_offset);
	/* The damage itself can create or destroy a record. */
	if (!truth || truth->src != record->src)
		return;
	same = record->begin.time_known &&
	       !((record->begin.time ^ truth->begin_time) & 0xffffffffffull);
	if (record->begin.time_known == TIME_EXACT && !same)
		checked->unmarked++;
	if (offset < checked->damage) {
		checked->latest[record->src] = record->begin.time;
		return;
	}
	checked->back += record->begin.time_known &&
			 record->begin.time < checked->latest[record->src];
	checked->records++;
	checked->right += same;
	checked->wrong += record->begin.time_known && !same;
	checked->inferred += record->begin.time_known == TIME_INFERRED;
}

static const struct trace_ops ops = { .record = on_record };

/* Read the trace without the @shift bytes at @damage. */
static void read_damaged(struct __test_metadata *_metadata,
			 FIXTURE_DATA(clock) *self, size_t damage, size_t shift)
{
	const struct gen *gen = &self->program.gen;
	static struct options options;
	struct input input;
	FILE *file;

	file = fopen(self->trace, "wb");
	ASSERT_NE(NULL, file);
	fwrite(gen->data, 1, damage, file);
	fwrite(gen->data + damage + shift, 1, gen->length - damage - shift, file);
	ASSERT_EQ(0, fclose(file));
	options_init(&options);
	options.path = self->trace;
	options.trace.quiet = true;
	options.trace.channel = TRACE_ALL_CHANNELS;
	options.trace.src_bits = 2;
	options.trace.ts_scheme = gen->ts_delta ? NEXUS_TS_DELTA : NEXUS_TS_XOR;
	self->checked = (struct checked){
		.gen = gen, .damage = damage, .shift = shift,
	};
	ASSERT_EQ(0, input_open(&input, &options));
	EXPECT_EQ(0, trace_run(input.trace, &ops, &self->checked));
	input_close(&input);
}

TEST_F_TIMEOUT(clock, continues_after_a_flipped_bit, 600)
{
	struct gen *gen = &self->program.gen;
	uint64_t records = 0, right = 0, bad = 0;
	unsigned int i;

	for (i = 0; i < effort_traces(TRACES); i++) {
		size_t bit;

		make(self, 1 + i % 4, false);
		/* Damage a byte anywhere in the trace, or in its first 2 %. */
		bit = gen_random(&self->seed) % (8 * gen->length);
		if (i % 2)
			bit /= 50;
		gen->data[bit / 8] ^= 1u << bit % 8;
		read_damaged(_metadata, self, bit / 8, 0);
		records += self->checked.records;
		right += self->checked.right;
		bad += self->checked.unmarked;
	}
	TH_LOG("%" PRIu64 " of %" PRIu64 " times are correct, %" PRIu64 " are wrong but not marked",
	       right, records, bad);
	EXPECT_EQ(0, bad);
	EXPECT_LE(records * 99, right * 100);
}

/*
 * Traces that end with an absolute time, which encoders send when they stop, have only exact times,
 * even if messages are reordered.
 */
TEST_F_TIMEOUT(clock, is_exact_without_damage, 600)
{
	unsigned int i, src;

	for (i = 0; i < effort_traces(TRACES) / 3; i++) {
		make(self, 1 + i % 4, i % 8 > 3);
		if (i % 3)
			program_shuffle(&self->program);
		for (src = 0; src < self->program.sources; src++)
			gen_sync(&self->program.gen, src);
		read_damaged(_metadata, self, 0, 0);
		EXPECT_EQ(0, self->checked.inferred) {
			TH_LOG("trace %u", i);
		}
	}
}

/* The last times in a full buffer are marked, because no later message can disprove them. */
TEST_F_TIMEOUT(clock, marks_unconfirmed_times_at_the_end, 600)
{
	struct gen *gen = &self->program.gen;
	uint64_t bad = 0;
	unsigned int i;

	for (i = 0; i < effort_traces(TRACES) / 3; i++) {
		size_t at;

		make(self, 1 + i % 4, false);
		at = gen->length - 1 - gen_random(&self->seed) % 600;
		gen->data[at] ^= 1u << gen_random(&self->seed) % 8;
		read_damaged(_metadata, self, at, 0);
		bad += self->checked.unmarked;
		/* Only a few of the trace's 2000 records have inferred times. */
		EXPECT_GT(50, self->checked.inferred);
	}
	EXPECT_EQ(0, bad);
}

/* A source's first absolute time is wrong, and contradicts the times of other sources. */
TEST_F_TIMEOUT(clock, detects_wrong_first_time_of_a_source, 600)
{
	struct gen *gen = &self->program.gen;
	unsigned int i;

	for (i = 0; i < effort_traces(TRACES) / 3; i++) {
		/* Use bits 12 and up, because smaller errors do not contradict other sources. */
		size_t at = 5 + gen_random(&self->seed) % 2;

		make(self, 2 + i % 3, i % 2);
		/* In the first message, the time begins at byte 3. */
		gen->data[at] ^= 4u << gen_random(&self->seed) % 6;
		read_damaged(_metadata, self, at, 0);
		EXPECT_EQ(0, self->checked.unmarked);
		EXPECT_LT(0, self->checked.inferred);
	}
}

/*
 * After a message with missing bytes, times are correct once all bits of the timestamp are known
 * again.
 */
TEST_F_TIMEOUT(clock, continues_after_lost_bytes, 600)
{
	uint64_t records = 0, right = 0, bad = 0;
	unsigned int i;

	for (i = 0; i < effort_traces(TRACES) / 3; i++) {
		const struct gen *gen = &self->program.gen;
		size_t at;

		make(self, 1 + i % 4, false);
		at = gen->length / 4 + gen_random(&self->seed) % (gen->length / 4);
		read_damaged(_metadata, self, at, 1 + gen_random(&self->seed) % 40);
		records += self->checked.records;
		right += self->checked.right;
		bad += self->checked.unmarked;
	}
	EXPECT_EQ(0, bad);
	EXPECT_LE(records * 98, right * 100) {
		TH_LOG("%" PRIu64 " of %" PRIu64, right, records);
	}
}

/* If a bit was 1 before many lost messages and is 0 after them, a higher bit has changed. */
TEST_F_TIMEOUT(clock, does_not_go_back_after_many_lost_bytes, 600)
{
	struct gen *gen = &self->program.gen;
	unsigned int i;

	for (i = 0; i < effort_traces(TRACES) / 3; i++) {
		size_t at, lost;

		make(self, 1 + i % 4, false);
		at = gen->length / 4 + gen_random(&self->seed) % (gen->length / 4);
		lost = gen_random(&self->seed) % (gen->length / 3);
		/* No message contains this byte. */
		gen->data[at + lost] = 2;
		read_damaged(_metadata, self, at, lost);
		EXPECT_EQ(0, self->checked.unmarked);
		EXPECT_EQ(0, self->checked.back) {
			TH_LOG("trace %u: %" PRIu64 " of %" PRIu64, i, self->checked.back,
			       self->checked.records);
		}
	}
}

/* With relative timestamps, a wrong time cannot be detected, so all uncertain times are marked. */
TEST_F_TIMEOUT(clock, marks_relative_times_after_damage, 600)
{
	struct gen *gen = &self->program.gen;
	uint64_t bad = 0;
	unsigned int i;

	for (i = 0; i < effort_traces(TRACES) / 3; i++) {
		size_t at;

		make(self, 1 + i % 4, true);
		at = gen->length / 4 + gen_random(&self->seed) % (gen->length / 4);
		/* Damage the mark at a message's end, so that the decoder reports a gap. */
		while ((gen->data[at] & 3) != 3)
			at++;
		gen->data[at] ^= 2;
		read_damaged(_metadata, self, at, 0);
		bad += self->checked.unmarked;
		EXPECT_LT(0, self->checked.inferred);
		EXPECT_LE(self->checked.records * 99, self->checked.right * 100);
	}
	EXPECT_EQ(0, bad);
}

/* Write the capture's times at START and STOP, @from and @to, in ticks of a 10 MHz clock. */
static void write_limits(struct __test_metadata *_metadata, FIXTURE_DATA(clock) *self,
			 uint64_t from, uint64_t to)
{
	FILE *file = fopen(self->meta, "w");

	ASSERT_NE(NULL, file);
	fprintf(file,
		"{\"version\":1,\"ts_hz\":10000000,\"clock_samples\":[{\"time\":%" PRIu64 ",\"ns\":1000,\"within\":100},{\"time\":%" PRIu64 ",\"ns\":%" PRIu64 ",\"within\":100}]}",
		from & 0xffffffffff, to & 0xffffffffff, 1000 + (to - from) * 100);
	ASSERT_EQ(0, fclose(file));
}

/*
 * Flip each bit of the first time of a trace's only source. Return the percentage of correct times.
 */
static uint64_t flip_first_time(struct __test_metadata *_metadata, FIXTURE_DATA(clock) *self)
{
	struct gen *gen = &self->program.gen;
	uint64_t start, records = 0, right = 0;
	unsigned int bit, at;

	make(self, 1, false);
	gen_sync(gen, 0);
	/* In the first message, the time begins at byte 3. */
	for (start = 0, at = 3; !at || !(gen->data[at - 1] & 2) || at == 3; at++)
		start |= (uint64_t)(gen->data[at] >> 2) << 6 * (at - 3);
	write_limits(_metadata, self, start - 1000, gen->now + 1000);
	/*
	 * Skip the lowest bits: times advance by more than these bits represent, so nothing
	 * contradicts an error in these bits.
	 */
	for (bit = 4; bit < 6 * (at - 3); bit++) {
		gen->data[3 + bit / 6] ^= 4u << bit % 6;
		read_damaged(_metadata, self, 3, 0);
		gen->data[3 + bit / 6] ^= 4u << bit % 6;
		records += self->checked.records;
		right += self->checked.right;
		EXPECT_EQ(0, self->checked.unmarked) {
			TH_LOG("bit %u: %" PRIu64 " of %" PRIu64, bit, self->checked.unmarked,
			       self->checked.records);
		}
	}
	TH_LOG("%" PRIu64 " of %" PRIu64 " times are correct", right, records);
	return right * 100 / records;
}

/*
 * Either the capture's limits or a later time shows that the time is wrong. The later time may come
 * after more records than the decoder holds back.
 */
TEST_F_TIMEOUT(clock, marks_wrong_first_time_of_the_only_source, 600)
{
	self->steps = 12 * STEPS;
	EXPECT_LE(95, flip_first_time(_metadata, self));
}

/* Among instruction trace messages, the decoder holds back even fewer records. */
TEST_F_TIMEOUT(clock, marks_wrong_first_time_among_branches, 600)
{
	self->steps = STEPS / 8;
	self->branches = true;
	EXPECT_LE(50, flip_first_time(_metadata, self));
}

/* Damage that looks like an absolute time outside the capture does not change any other time. */
TEST_F_TIMEOUT(clock, ignores_absolute_time_outside_the_capture, 600)
{
	struct gen *gen = &self->program.gen;
	uint64_t now, start;
	size_t at, length, i;

	make(self, 1, false);
	start = gen->truth[0].begin_time;
	write_limits(_metadata, self, start - 1000, gen->now + 1000);
	now = gen->now;
	length = gen->length;
	gen->now = start + (0x5555ull << 24);
	gen_sync(gen, 0);
	at = gen->truth[gen->truths / 2].offset;
	for (i = gen->truths / 2; i < gen->truths; i++)
		gen->truth[i].offset += gen->length - length;
	/* Move the new message from the end to the middle. */
	for (; gen->length > length; at++) {
		uint8_t last = gen->data[length];

		memmove(gen->data + at + 1, gen->data + at, length - at);
		gen->data[at] = last;
		length++;
	}
	gen->now = now;
	read_damaged(_metadata, self, 0, 0);
	EXPECT_LT(STEPS / 3, self->checked.records);
	EXPECT_EQ(0, self->checked.unmarked);
	EXPECT_EQ(self->checked.records, self->checked.right);
	EXPECT_LT(0, self->checked.inferred);
}

/* Time of each source's latest record, and the certainty of that time. */
struct latest {
	uint64_t	time[2];
	unsigned int	known[2];
};

static void on_latest(void *context, const struct perfrec_record *record)
{
	struct latest *latest = context;

	latest->time[record->src] = record->begin.time;
	latest->known[record->src] = record->begin.time_known;
}

/* Read a trace whose timestamps have 20 bits. */
static struct latest read_wraps(struct __test_metadata *_metadata, FIXTURE_DATA(clock) *self,
				const struct gen *gen)
{
	static const struct trace_ops latest_ops = { .record = on_latest };
	static struct options options;
	struct latest latest = { 0 };
	struct input input;
	FILE *file = fopen(self->trace, "wb");

	ASSERT_NE(NULL, file);
	fwrite(gen->data, 1, gen->length, file);
	ASSERT_EQ(0, fclose(file));
	options_init(&options);
	options.path = self->trace;
	options.trace.quiet = true;
	options.trace.channel = TRACE_ALL_CHANNELS;
	options.trace.src_bits = 1;
	options.trace.ts_width = 20;
	ASSERT_EQ(0, input_open(&input, &options));
	EXPECT_EQ(0, trace_run(input.trace, &latest_ops, &latest));
	input_close(&input);
	return latest;
}

/* While one source is silent, timestamps wrap several times; another source shows this. */
TEST_F(clock, source_that_was_silent_while_timestamps_wrapped)
{
	static const uint64_t address[] = { 0x1000, 0x2000 };
	struct gen_stream stream[2];
	uint64_t value = 0, truth;
	struct latest latest;
	struct gen gen;
	unsigned int i;

	gen_init(&gen, 1, 20);
	gen.step = 100;
	for (i = 0; i < 2; i++) {
		gen_sync(&gen, i);
		gen_stream_init(&stream[i], &gen, i, 6, 0, 1, 64);
		gen_header(&stream[i]);
		gen_record(&stream[i], 0, address, &value);
	}
	while (gen.now < 5ull << 20)
		gen_record(&stream[0], 0, address, &value);
	gen_record(&stream[1], 1, address, &value);
	truth = gen.truth[gen.truths - 1].begin_time;
	gen_record(&stream[0], 1, address, &value);
	gen_sync(&gen, 0);
	latest = read_wraps(_metadata, self, &gen);
	EXPECT_EQ(truth, latest.time[1]);
	EXPECT_EQ(TIME_INFERRED, latest.known[1]);
	EXPECT_EQ(gen.truth[gen.truths - 1].begin_time, latest.time[0]);
	EXPECT_EQ(TIME_EXACT, latest.known[0]);
	gen_free(&gen);
}

/*
 * While the only source is silent, timestamps wrap; the clock readings in the side-car file show
 * this.
 */
TEST_F(clock, only_source_was_silent_while_timestamps_wrapped)
{
	static const uint64_t address[] = { 0x1000, 0x2000 };
	struct gen_stream stream;
	struct latest latest;
	uint64_t value = 0;
	struct gen gen;

	gen_init(&gen, 1, 20);
	gen.step = 100;
	gen_sync(&gen, 0);
	gen_stream_init(&stream, &gen, 0, 6, 0, 1, 64);
	gen_header(&stream);
	gen_record(&stream, 0, address, &value);
	gen.now += 3ull << 20;
	gen_record(&stream, 1, address, &value);
	gen_sync(&gen, 0);
	latest = read_wraps(_metadata, self, &gen);
	EXPECT_EQ(TIME_EXACT, latest.known[0]);
	write_limits(_metadata, self, 0, gen.now);
	latest = read_wraps(_metadata, self, &gen);
	EXPECT_EQ(TIME_INFERRED, latest.known[0]);
	/* All times are exact if the source sends messages in every period of the timestamp. */
	gen.length = 0;
	gen.truths = 0;
	gen.now = 0;
	gen_sync(&gen, 0);
	gen_header(&stream);
	while (gen.now < 3ull << 20)
		gen_record(&stream, 0, address, &value);
	gen_sync(&gen, 0);
	write_limits(_metadata, self, 0, gen.now);
	latest = read_wraps(_metadata, self, &gen);
	EXPECT_EQ(TIME_EXACT, latest.known[0]);
	EXPECT_EQ(gen.truth[gen.truths - 1].begin_time, latest.time[0]);
	gen_free(&gen);
}

TEST_HARNESS_MAIN
