// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that reading a trace with several threads has the same result as with one thread: the same
 * callbacks, arguments and order, the same statistics, and the same profile. The traces are random,
 * and most of them are damaged. TRACES in the environment is their number, SEED the seed of the
 * first trace.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "effort.h"
#include "gen_program.h"
#include "kept_report.h"
#include "profile.h"

#define TRACES		60
/* Enough records for most traces to have at least three batches. */
#define RECORDS_MAX	6000

/* An order-dependent checksum of everything that a consumer received. */
struct got {
	uint64_t	sum;
	uint64_t	calls;
	uint64_t	stop_after;	/* number of polls before reading stops; 0 to read all */
};

static void add(struct got *got, const void *data, size_t bytes)
{
	const uint8_t *p = data;
	size_t i;

	for (i = 0; i < bytes; i++)
		got->sum = (got->sum ^ p[i]) * 0x100000001b3ull;
}

static void add_number(struct got *got, uint64_t number)
{
	add(got, &number, sizeof(number));
}

static void add_stamp(struct got *got, const struct perfrec_stamp *stamp)
{
	add_number(got, stamp->offset);
	add_number(got, stamp->time_known ? stamp->time : 0);
	add_number(got, stamp->time_known);
}

static void add_header(struct got *got, const struct perfrec_header *header)
{
	unsigned int i;

	add_number(got, header->serial);
	add_number(got, header->repeated | header->owned << 1 | header->goes_on << 2);
	add_number(got, header->owned ? header->owner : 0);
	add_number(got, header->src << 8 | header->channel);
	add_number(got, header->count_type);
	add_number(got, header->mask);
	add_stamp(got, &header->begin);
	for (i = 0; i < header->counters; i++) {
		add_number(got, header->counter[i].number);
		add_number(got, header->counter[i].csr);
		add_stamp(got, &header->counter[i].end);
	}
}

static void add_addresses(struct got *got, const struct perfrec_record *record)
{
	unsigned int i;

	if (record->header)
		add_header(got, record->header);
	add_number(got, record->type << 16 | record->src << 8 | record->channel);
	add_stamp(got, &record->begin);
	add_stamp(got, &record->address_end);
	for (i = 0; i < record->addresses; i++)
		add_number(got, record->address[i]);
}

static void on_header(void *context, const struct perfrec_header *header)
{
	struct got *got = context;

	got->calls++;
	add(got, "header", 6);
	add_header(got, header);
}

static void on_record(void *context, const struct perfrec_record *record)
{
	struct got *got = context;
	unsigned int i;

	got->calls++;
	add(got, "record", 6);
	add_addresses(got, record);
	add_number(got, record->flags << 8 | record->words);
	for (i = 0; i < record->counters; i++) {
		add_number(got, record->sent[i]);
		add_number(got, record->value[i]);
		add_number(got, record->delta[i]);
	}
}

static void on_lost(void *context, const struct perfrec_loss *loss)
{
	struct got *got = context;

	got->calls++;
	add(got, "lost", 4);
	add_number(got, loss->src << 16 | loss->channel << 8 | loss->reason);
	add_number(got, loss->offset);
	add_number(got, loss->words);
}

static void on_message(void *context, const struct nexus_message *message)
{
	struct got *got = context;

	got->calls++;
	add(got, "message", 7);
	add_number(got, message->offset);
	add_number(got, message->length);
	add_number(got, message->tcode << 8 | message->gap);
}

static bool on_stop(void *context)
{
	struct got *got = context;

	add(got, "stop", 4);
	return got->stop_after && !--got->stop_after;
}

static void on_part(void *context, const struct perfrec_header *header, int part)
{
	(void)header;
	add_number(context, (uint64_t)part);
}

static void on_address(void *context, const struct perfrec_record *record)
{
	add_addresses(context, record);
}

static void on_counter(void *context, const struct perfrec_record *record, unsigned int i,
		       const struct perfrec_stamp *end)
{
	add_number(context, record->sent[i]);
	add_stamp(context, end);
}

static const struct trace_ops whole = {
	.header = on_header, .record = on_record, .lost = on_lost, .gap = on_message,
	.error = on_message, .ownership = on_message, .stop = on_stop,
};

static const struct trace_ops parts = {
	.header = on_header, .record = on_record, .lost = on_lost, .part = on_part,
	.address = on_address, .counter = on_counter,
};

FIXTURE(jobs) {
	struct program program;
	struct options options;
	char trace[64];
	uint64_t seed;
};

FIXTURE_SETUP(jobs)
{
	int fd;

	strcpy(self->trace, "/tmp/jobs_test.XXXXXX");
	fd = mkstemp(self->trace);
	ASSERT_LE(0, fd);
	close(fd);
	options_init(&self->options);
	self->options.path = self->trace;
	self->options.meta = "none";
	self->options.trace.quiet = true;
	self->options.trace.channel = TRACE_ALL_CHANNELS;
	self->options.trace.src_bits = 2;
}

FIXTURE_TEARDOWN(jobs)
{
	unlink(self->trace);
}

static unsigned int any(FIXTURE_DATA(jobs) *self, unsigned int below)
{
	return (unsigned int)(gen_random(&self->seed) % below);
}

static void make_trace(FIXTURE_DATA(jobs) *self, uint64_t seed)
{
	struct program *program = &self->program;
	unsigned int i, records;

	self->seed = seed * 1000003;
	program_init(program, seed);
	program->count_type = any(self, 3);
	program->per_thread = any(self, 2);
	program->sources = 1 + any(self, PROGRAM_SOURCES);
	program->threads = 1 + any(self, PROGRAM_THREADS);
	if (any(self, 2))
		program->moves = 1 + any(self, 300);
	if (any(self, 2))
		program->throws = 1 + any(self, 300);
	if (any(self, 2))
		program->headers = 1 + any(self, 100);
	if (any(self, 4) == 0)
		program->restarts = 1 + any(self, 1000);
	/* There are fewer channels than threads, so headers name threads. */
	if (any(self, 4) == 0)
		program->channels = 1 + any(self, 2);
	for (i = 0; i < program->threads; i++)
		program->thread[i].src = i % program->sources;
	for (i = 0; i < program->sources; i++)
		gen_sync(&program->gen, i);
	records = 1 + any(self, RECORDS_MAX);
	for (i = 0; i < records; i++)
		program_step(program);
	if (any(self, 2))
		program_end(program);
	if (any(self, 4) == 0)
		program_shuffle(program);
}

/* Damage single bits and whole bytes, and remove a stretch or the beginning. */
static void damage(FIXTURE_DATA(jobs) *self)
{
	struct gen *gen = &self->program.gen;
	unsigned int i, count = any(self, 4) ? any(self, 20) : 0;
	size_t at;

	for (i = 0; i < count; i++) {
		at = any(self, (unsigned int)gen->length);
		if (any(self, 2))
			gen->data[at] ^= 1u << any(self, 8);
		else
			gen->data[at] = (uint8_t)any(self, 256);
	}
	at = any(self, (unsigned int)gen->length);
	if (any(self, 4) == 0) {
		gen->length -= any(self, (unsigned int)(gen->length - at));
	} else if (any(self, 4) == 0) {
		gen->length -= at;
		memmove(gen->data, gen->data + at, gen->length);
		self->options.trace.ring = any(self, 2);
	}
}

static void write_trace(FIXTURE_DATA(jobs) *self)
{
	const struct gen *gen = &self->program.gen;
	FILE *file = fopen(self->trace, "wb");

	if (!file || fwrite(gen->data, 1, gen->length, file) != gen->length || fclose(file))
		abort();
}

/* Read the trace, and add the statistics and messages to what the consumer received. */
static struct got read_with(FIXTURE_DATA(jobs) *self, int jobs, const struct trace_ops *ops,
			    unsigned int stop_after)
{
	struct got got = { .stop_after = stop_after };
	struct input input;

	reported[0] = '\0';
	self->options.trace.jobs = jobs;
	if (!input_open(&input, &self->options)) {
		add_number(&got, (uint64_t)trace_run(input.trace, ops, &got));
		if (!stop_after)
			add(&got, trace_stats(input.trace),
			    offsetof(struct trace_stats, src_from));
	}
	input_close(&input);
	add(&got, reported, strlen(reported));
	return got;
}

static uint64_t profile_with(FIXTURE_DATA(jobs) *self, int jobs)
{
	struct got got = { 0 };
	struct profile profile;
	unsigned int c;
	size_t row;

	self->options.trace.jobs = jobs;
	if (!profile_read(&profile, &self->options, PROFILE_BY_THREAD, false, NULL)) {
		add_number(&got, profile.rows);
		for (row = 0; row < profile.rows; row++) {
			add(&got, &profile.row[row], sizeof(profile.row[row]));
			for (c = 0; c < analysis_counters(profile.analysis)->count; c++)
				add_number(&got, profile_total(&profile, row, c) ^
						 profile_self(&profile, row, c) << 32);
		}
		add(&got, analysis_stats(profile.analysis),
		    sizeof(*analysis_stats(profile.analysis)));
	}
	profile_free(&profile);
	return got.sum;
}

TEST_F_TIMEOUT(jobs, several_threads_return_the_same_data_as_one, 3600)
{
	unsigned int i, count = effort_traces(TRACES);
	uint64_t seed = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 0) : 1;
	uint64_t calls = 0;
	int jobs;

	for (i = 0; i < count; i++, seed++) {
		struct got one, more;
		uint64_t profile;

		make_trace(self, seed);
		damage(self);
		write_trace(self);
		one = read_with(self, 1, &whole, 0);
		profile = profile_with(self, 1);
		calls += one.calls;
		for (jobs = 2; jobs <= 3; jobs++) {
			more = read_with(self, jobs, &whole, 0);
			EXPECT_EQ(one.calls, more.calls);
			ASSERT_EQ(one.sum, more.sum) {
				TH_LOG("SEED=%llu -j%d", (unsigned long long)seed, jobs);
			}
			ASSERT_EQ(profile, profile_with(self, jobs)) {
				TH_LOG("SEED=%llu -j%d: profile", (unsigned long long)seed, jobs);
			}
		}
		one = read_with(self, 1, &parts, 0);
		more = read_with(self, 3, &parts, 0);
		ASSERT_EQ(one.sum, more.sum) {
			TH_LOG("SEED=%llu: parts", (unsigned long long)seed);
		}
		self->options.trace.ring = false;
		program_free(&self->program);
	}
	EXPECT_LT(100 * count, calls);
}

/* A consumer that stops early receives the same data, whatever the number of threads. */
TEST_F(jobs, consumer_that_stops_early_receives_the_same_data)
{
	struct got one, more;
	unsigned int i;

	make_trace(self, 3);
	for (i = 0; i < 20000; i++)
		program_step(&self->program);
	write_trace(self);
	for (i = 1; i < 4; i++) {
		one = read_with(self, 1, &whole, i);
		more = read_with(self, 3, &whole, i);
		EXPECT_EQ(one.calls, more.calls);
		EXPECT_EQ(one.sum, more.sum);
	}
	one = read_with(self, 1, &whole, 0);
	EXPECT_LT(more.calls, one.calls);
	program_free(&self->program);
}

TEST_HARNESS_MAIN
