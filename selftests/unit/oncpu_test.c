// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that the times on and off the CPU of each function and thread in random programs are
 * correct, even if messages from several harts are out of order. No false time is reported if
 * switch records or messages are missing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "gen.h"
#include "kept_report.h"
#include "profile.h"

#define HARTS		4
#define THREADS		6
#define FUNCTIONS	5
#define DEPTH		8
#define STEPS		3000
#define CHANNEL		30
#define TID		100
#define SRC_BITS	3
#define ROUNDS		20

#define ADDRESS(function)	(0x20000ull + 0x100 * (function))

enum { ON, OFF, SUMS };

struct call {
	unsigned int function;
	bool outermost;
	uint64_t begin[SUMS], inner[SUMS];
};

struct actor {
	struct gen_stream stream[HARTS];
	bool header[HARTS];
	int hart;			/* -1 if the thread is not running */
	enum oncpu_state state;
	bool begun, exited;
	uint64_t since, sum[SUMS], now[SUMS];
	uint64_t time[ONCPU_STATES];
	uint64_t woken, wakeups, longest;
	uint64_t count;
	unsigned int depth;
	struct call call[DEPTH];
};

FIXTURE(oncpu) {
	struct gen gen;
	uint64_t seed;
	unsigned int harts, threads;
	struct actor actor[THREADS];
	int running[HARTS];
	bool gap[HARTS];		/* a record of a switch could not be written */
	bool mute[HARTS];		/* messages are lost */
	unsigned int drop, mutes, pauses;	/* once in this many records or steps; 0: never */
	unsigned int lost;
	uint64_t self[FUNCTIONS][SUMS], total[FUNCTIONS][SUMS];
	char trace[64], meta[80];
	struct profile profile;
	int jobs;
	bool early;			/* the library wrote the side-car file */
	uint64_t executes;		/* when the first thread executes another program */
};

FIXTURE_SETUP(oncpu)
{
	int fd;

	strcpy(self->trace, "/tmp/oncpu_test.XXXXXX");
	fd = mkstemp(self->trace);
	ASSERT_LE(0, fd);
	close(fd);
	snprintf(self->meta, sizeof(self->meta), "%s.meta", self->trace);
}

FIXTURE_TEARDOWN(oncpu)
{
	unlink(self->trace);
	unlink(self->meta);
}

static uint64_t below(FIXTURE_DATA(oncpu) *self, uint64_t limit)
{
	return gen_random(&self->seed) % limit;
}

static bool one_in(FIXTURE_DATA(oncpu) *self, unsigned int n)
{
	return n && !below(self, n);
}

/* Add the time that the thread has spent in its state up to the current time. */
static void pass(FIXTURE_DATA(oncpu) *self, struct actor *a)
{
	uint64_t span = self->gen.now - a->since;

	if (a->begun && !a->exited) {
		a->time[a->state] += span;
		a->sum[a->state == ONCPU_RUNS ? ON : OFF] += span;
		if (a->state == ONCPU_WOKEN && self->gen.now - a->woken > a->longest)
			a->longest = self->gen.now - a->woken;
	}
	a->since = self->gen.now;
}

static void put(FIXTURE_DATA(oncpu) *self, unsigned int hart, unsigned int bytes, uint32_t value)
{
	size_t length = self->gen.length;
	uint64_t last = self->gen.last[hart];

	gen_store(&self->gen, hart, CHANNEL, bytes, value);
	if (!self->mute[hart])
		return;
	self->gen.length = length;
	self->gen.last[hart] = last;
}

/* Add a record in the driver's format. The record has the time of the second store. */
static void put_switch(FIXTURE_DATA(oncpu) *self, unsigned int hart, uint8_t kind, int thread)
{
	if (one_in(self, self->drop)) {
		pass(self, &self->actor[thread]);
		self->gap[hart] = true;
		self->lost++;
		return;
	}
	if (self->gap[hart])
		put(self, hart, 1, SIFIVE_TRACE_SWITCH_BEGIN);
	self->gap[hart] = false;
	put(self, hart, 1, kind);
	pass(self, &self->actor[thread]);
	put(self, hart, 4, (uint32_t)(TID + thread));
}

static void switch_in(FIXTURE_DATA(oncpu) *self, unsigned int hart, int thread)
{
	struct actor *a = &self->actor[thread];

	put_switch(self, hart, SIFIVE_TRACE_SWITCH_IN, thread);
	a->begun = true;
	a->state = ONCPU_RUNS;
	a->hart = (int)hart;
	self->running[hart] = thread;
}

static void switch_out(FIXTURE_DATA(oncpu) *self, unsigned int hart, bool end)
{
	static const struct {
		uint8_t kind;
		enum oncpu_state state;
	} whys[] = {
		{ SIFIVE_TRACE_SWITCH_PREEMPTED, ONCPU_PREEMPTED },
		{ SIFIVE_TRACE_SWITCH_SLEEPS, ONCPU_SLEEPS },
		{ SIFIVE_TRACE_SWITCH_UNINTERRUPTIBLE, ONCPU_UNINTERRUPTIBLE },
		{ SIFIVE_TRACE_SWITCH_STOPPED, ONCPU_STOPPED },
		{ SIFIVE_TRACE_SWITCH_EXITED, ONCPU_UNKNOWN },
	};
	/*
	 * In a run with losses, threads do not end, because the record of a thread's end could be
	 * lost.
	 */
	bool ends = !self->drop && !self->mutes && one_in(self, 200);
	unsigned int why = ends ? 4 : (unsigned int)below(self, 4);
	int thread = self->running[hart];
	struct actor *a = &self->actor[thread];

	put_switch(self, hart, end ? SIFIVE_TRACE_SWITCH_END : whys[why].kind, thread);
	a->exited = end || why == 4;
	a->state = whys[why].state;
	a->hart = -1;
	self->running[hart] = -1;
}

/* Wake a random thread, which may be running, or may already have been woken. */
static void wake(FIXTURE_DATA(oncpu) *self, unsigned int hart)
{
	int thread = (int)below(self, self->threads);
	struct actor *a = &self->actor[thread];

	if (a->exited)
		return;
	put_switch(self, hart, SIFIVE_TRACE_SWITCH_WOKEN, thread);
	if (!a->begun || (a->state != ONCPU_SLEEPS && a->state != ONCPU_UNINTERRUPTIBLE &&
			  a->state != ONCPU_STOPPED))
		return;
	a->state = ONCPU_WOKEN;
	a->woken = a->since;
	a->wakeups++;
}

/*
 * Account for a pause. A waiting thread's state during the pause is unknown, but a running thread
 * is still running after it.
 */
static void pass_pause(FIXTURE_DATA(oncpu) *self, struct actor *a)
{
	if (a->begun && !a->exited && a->hart < 0)
		a->time[ONCPU_UNKNOWN] += self->gen.now - a->since;
	a->since = self->gen.now;
	memset(a->header, 0, sizeof(a->header));
}

/*
 * Write a pause as the driver does: each hart's recording ends, and begins again after an Error
 * message.
 */
static void make_pause(FIXTURE_DATA(oncpu) *self)
{
	const uint64_t step = self->gen.step;
	unsigned int hart, i;

	self->gen.step = 0;
	for (hart = 0; hart < self->harts; hart++) {
		put(self, hart, 1, SIFIVE_TRACE_SWITCH_END);
		put(self, hart, 4, self->running[hart] < 0 ? 0 :
				   (uint32_t)(TID + self->running[hart]));
	}
	for (i = 0; i < self->threads; i++)
		pass(self, &self->actor[i]);
	self->gen.ts_width = 0;
	for (hart = 0; hart < self->harts; hart++)
		gen_error(&self->gen, hart);
	self->gen.ts_width = 40;
	self->gen.now += 1 + below(self, 5000);
	for (i = 0; i < self->threads; i++)
		pass_pause(self, &self->actor[i]);
	for (hart = 0; hart < self->harts; hart++) {
		gen_sync(&self->gen, hart);
		put(self, hart, 1, SIFIVE_TRACE_SWITCH_BEGIN);
		if (self->running[hart] >= 0)
			put_switch(self, hart, SIFIVE_TRACE_SWITCH_IN, self->running[hart]);
	}
	self->gen.step = step;
}

static void begin_call(FIXTURE_DATA(oncpu) *self, struct actor *a, unsigned int function)
{
	struct call *call = &a->call[a->depth];
	unsigned int i;

	call->function = function;
	call->outermost = true;
	for (i = 0; i < a->depth; i++)
		call->outermost &= a->call[i].function != function;
	memcpy(call->begin, a->now, sizeof(call->begin));
	memset(call->inner, 0, sizeof(call->inner));
	a->depth++;
}

static void end_call(FIXTURE_DATA(oncpu) *self, struct actor *a)
{
	const struct call *call = &a->call[--a->depth];
	unsigned int i;

	for (i = 0; i < SUMS; i++) {
		uint64_t total = a->now[i] - call->begin[i];

		self->self[call->function][i] += total - call->inner[i];
		self->total[call->function][i] += call->outermost ? total : 0;
		if (a->depth)
			a->call[a->depth - 1].inner[i] += total;
	}
}

static void record(FIXTURE_DATA(oncpu) *self, unsigned int hart)
{
	struct actor *a = &self->actor[self->running[hart]];
	bool enter = a->depth < 2 || (a->depth < DEPTH && one_in(self, 2));
	unsigned int function = enter ? (unsigned int)below(self, FUNCTIONS) :
				a->call[a->depth - 1].function;
	const uint64_t address[] = { ADDRESS(function), 0x10000 + 0x10 * a->depth -
						       (enter ? 0 : 0x10) };
	uint64_t last = self->gen.last[hart];
	size_t length = self->gen.length;

	if (!a->header[hart])
		gen_header(&a->stream[hart]);
	a->header[hart] = !self->mute[hart];
	pass(self, a);
	memcpy(a->now, a->sum, sizeof(a->now));
	a->count += 10;
	gen_record(&a->stream[hart], !enter, address, &a->count);
	if (enter)
		begin_call(self, a, function);
	else
		end_call(self, a);
	if (self->mute[hart]) {
		self->gen.length = length;
		self->gen.last[hart] = last;
	}
}

static int find_ready(FIXTURE_DATA(oncpu) *self)
{
	unsigned int i, first = (unsigned int)below(self, self->threads);

	for (i = 0; i < self->threads; i++) {
		int thread = (int)((first + i) % self->threads);

		if (self->actor[thread].hart < 0 && !self->actor[thread].exited)
			return thread;
	}
	return -1;
}

static void step(FIXTURE_DATA(oncpu) *self)
{
	unsigned int hart = (unsigned int)below(self, self->harts);
	int thread = find_ready(self);

	self->gen.now += below(self, 1000);
	if (one_in(self, self->pauses)) {
		make_pause(self);
	} else if (one_in(self, self->mutes)) {
		if (self->mute[hart])
			gen_error(&self->gen, hart);
		self->lost += self->mute[hart];
		self->mute[hart] = !self->mute[hart];
	} else if (one_in(self, 6)) {
		wake(self, hart);
	} else if (self->running[hart] < 0) {
		if (thread >= 0)
			switch_in(self, hart, thread);
	} else if (one_in(self, 3)) {
		switch_out(self, hart, false);
	} else {
		record(self, hart);
	}
}

/* Swap adjacent messages of different sources, as happens on their way to the sink. */
static void shuffle(FIXTURE_DATA(oncpu) *self)
{
	struct gen *gen = &self->gen;
	uint8_t *data = gen->data;
	size_t at, end, next;
	unsigned int pass;

	for (pass = 0; pass < 8; pass++)
		for (at = 0; at < gen->length; at = next) {
			uint8_t first[64];

			for (end = at; (data[end] & 3) != 3; end++)
				;
			for (next = ++end; next < gen->length && (data[next] & 3) != 3; next++)
				;
			if (next++ >= gen->length)
				break;
			if ((data[at + 1] >> 2 & 7) == (data[end + 1] >> 2 & 7) || !one_in(self, 2)) {
				next = end;
				continue;
			}
			memcpy(first, data + at, end - at);
			memmove(data + at, data + end, next - end);
			memcpy(data + next - (end - at), first, end - at);
		}
}

static void save(FIXTURE_DATA(oncpu) *self)
{
	FILE *trace = fopen(self->trace, "wb"), *meta = fopen(self->meta, "w");
	unsigned int i;

	if (!trace || !meta)
		abort();
	fwrite(self->gen.data, 1, self->gen.length, trace);
	fprintf(meta, "{\"srcbits\":%d,\"ts_width\":40,\"early\":%s,\"switches\":{\"channel\":%d},\"threads\":[",
		SRC_BITS, self->early ? "true" : "false", CHANNEL);
	for (i = 0; i < self->threads; i++)
		fprintf(meta, "%s{\"channel\":%u,\"pid\":%d,\"tid\":%u}", i ? "," : "", i, TID,
			TID + i);
	if (self->executes)
		fprintf(meta, ",{\"channel\":0,\"pid\":%d,\"tid\":%d,\"name\":\"new\",\"from\":%" PRIu64
			"}", TID, TID, self->executes);
	fprintf(meta, "]}");
	if (fclose(trace) || fclose(meta))
		abort();
}

static void generate(FIXTURE_DATA(oncpu) *self)
{
	unsigned int i, hart;

	memset(self->actor, 0, sizeof(self->actor));
	memset(self->self, 0, sizeof(self->self));
	memset(self->total, 0, sizeof(self->total));
	memset(self->gap, 0, sizeof(self->gap));
	memset(self->mute, 0, sizeof(self->mute));
	self->lost = 0;
	self->harts = 1 + (unsigned int)below(self, HARTS);
	self->threads = 1 + (unsigned int)below(self, THREADS);
	gen_init(&self->gen, SRC_BITS, 40);
	for (i = 0; i < self->threads; i++) {
		self->actor[i].hart = -1;
		for (hart = 0; hart < self->harts; hart++)
			gen_stream_init(&self->actor[i].stream[hart], &self->gen, (uint8_t)hart,
					(uint8_t)i, 0, 1, 64);
	}
	for (hart = 0; hart < self->harts; hart++) {
		self->running[hart] = -1;
		gen_sync(&self->gen, hart);
		put(self, hart, 1, SIFIVE_TRACE_SWITCH_BEGIN);
	}
	for (i = 0; i < STEPS; i++)
		step(self);
	self->drop = 0;
	for (hart = 0; hart < self->harts; hart++) {
		if (self->mute[hart])
			gen_error(&self->gen, hart);
		self->mute[hart] = false;
		if (self->running[hart] >= 0)
			switch_out(self, hart, true);
		/* Without this record, only the driver's count shows the last loss. */
		if (self->gap[hart])
			put(self, hart, 1, SIFIVE_TRACE_SWITCH_BEGIN);
	}
	/*
	 * The trace ends at the time of the last message, so account for each thread's time until
	 * then.
	 */
	self->gen.now -= self->gen.step;
	for (i = 0; i < self->threads; i++) {
		pass(self, &self->actor[i]);
		while (self->actor[i].depth)
			end_call(self, &self->actor[i]);
	}
	shuffle(self);
	save(self);
}

static int read_trace(FIXTURE_DATA(oncpu) *self)
{
	static struct options options;

	reported[0] = '\0';
	options_init(&options);
	options.path = self->trace;
	options.trace.quiet = true;
	options.trace.jobs = self->jobs;
	return profile_read(&self->profile, &options, PROFILE_BY_FUNCTION, false, NULL);
}

static const struct oncpu_times *times_of(FIXTURE_DATA(oncpu) *self, unsigned int number)
{
	struct threads *threads = analysis_threads(self->profile.analysis);
	unsigned int i;

	for (i = 0; i < threads_count(threads); i++)
		if (threads_get(threads, i)->tid == TID + (int)number)
			return oncpu_times(threads_get(threads, i));
	return NULL;
}

static unsigned int function_of(FIXTURE_DATA(oncpu) *self, size_t row)
{
	uint64_t address = functions_address(analysis_functions(self->profile.analysis),
					     self->profile.row[row].function);

	return (unsigned int)((address - ADDRESS(0)) / 0x100);
}

/* Return a checksum of all times of threads and functions. */
static uint64_t sum_of(FIXTURE_DATA(oncpu) *self)
{
	const struct profile *profile = &self->profile;
	uint64_t sum = 0;
	unsigned int i, s;
	size_t row;

	for (i = 0; i < self->threads; i++) {
		const struct oncpu_times *times = times_of(self, i);

		for (s = 0; times && s < ONCPU_STATES; s++)
			sum = sum * 31 + times->time[s];
	}
	for (row = 0; row < profile->rows; row++)
		for (i = 0; i < COUNTERS_TIMES; i++)
			sum = sum * 31 + profile_total(profile, row, i) +
			      7 * profile_self(profile, row, i);
	return sum;
}

static void check_jobs(struct __test_metadata *_metadata, FIXTURE_DATA(oncpu) *self)
{
	uint64_t sum = sum_of(self);

	for (self->jobs = 2; self->jobs <= 3; self->jobs++) {
		profile_free(&self->profile);
		ASSERT_EQ(0, read_trace(self));
		EXPECT_EQ(sum, sum_of(self));
	}
	self->jobs = 1;
}

/* Check that the parts of a thread's time add up to the whole; return the time off the CPU. */
static uint64_t off_time(struct __test_metadata *_metadata, const struct oncpu_times *times)
{
	uint64_t off = 0;
	unsigned int s;

	for (s = ONCPU_PREEMPTED; s < ONCPU_STATES; s++)
		off += times->time[s];
	EXPECT_EQ(times->wall, off + times->time[ONCPU_RUNS] + times->time[ONCPU_UNKNOWN]);
	return off;
}

/* Check that the parts of each function's time also add up to the whole. */
static void check_rows(struct __test_metadata *_metadata, FIXTURE_DATA(oncpu) *self)
{
	const struct profile *profile = &self->profile;
	size_t row;

	ASSERT_LT(0, profile->rows);
	for (row = 0; row < profile->rows; row++) {
		if (profile->row[row].untimed)
			continue;
		EXPECT_EQ(profile->row[row].total, profile_total(profile, row, COUNTERS_ON_CPU) +
			  profile_total(profile, row, COUNTERS_OFF_CPU) +
			  profile_total(profile, row, COUNTERS_UNKNOWN_CPU));
		EXPECT_EQ(profile->row[row].self, profile_self(profile, row, COUNTERS_ON_CPU) +
			  profile_self(profile, row, COUNTERS_OFF_CPU) +
			  profile_self(profile, row, COUNTERS_UNKNOWN_CPU));
	}
}

TEST_F(oncpu, times_of_each_function_and_thread_are_correct)
{
	const struct profile *profile = &self->profile;
	unsigned int round, i, s;
	uint64_t wakeups = 0;
	size_t row;

	for (round = 0; round < ROUNDS; round++) {
		self->seed = round;
		generate(self);
		ASSERT_EQ(0, read_trace(self));
		check_rows(_metadata, self);
		for (row = 0; row < profile->rows; row++) {
			unsigned int f = function_of(self, row);

			ASSERT_GT(FUNCTIONS, f);
			EXPECT_EQ(self->self[f][ON], profile_self(profile, row, COUNTERS_ON_CPU));
			EXPECT_EQ(self->self[f][OFF], profile_self(profile, row, COUNTERS_OFF_CPU));
			EXPECT_EQ(self->total[f][ON], profile_total(profile, row, COUNTERS_ON_CPU));
			EXPECT_EQ(self->total[f][OFF],
				  profile_total(profile, row, COUNTERS_OFF_CPU));
		}
		for (i = 0; i < self->threads; i++) {
			const struct oncpu_times *times = times_of(self, i);

			ASSERT_EQ(self->actor[i].begun, times != NULL);
			for (s = 0; times && s < ONCPU_STATES; s++)
				EXPECT_EQ(self->actor[i].time[s], times->time[s]);
			if (!times)
				continue;
			off_time(_metadata, times);
			EXPECT_EQ(self->actor[i].wakeups, times->wakeups);
			EXPECT_EQ(self->actor[i].longest, times->longest);
			wakeups += times->wakeups;
		}
		EXPECT_EQ(0, analysis_oncpu(profile->analysis) ?
			  oncpu_stats(analysis_oncpu(profile->analysis))->contrary : 1);
		check_jobs(_metadata, self);
		profile_free(&self->profile);
		gen_free(&self->gen);
	}
	EXPECT_LT(0, wakeups);
}

TEST_F(oncpu, switches_are_not_calls_with_the_librarys_side_car_file)
{
	const struct trace_stats *stats;
	uint64_t sum;

	self->seed = 1;
	generate(self);
	ASSERT_EQ(0, read_trace(self));
	sum = sum_of(self);
	profile_free(&self->profile);
	self->early = true;
	save(self);
	ASSERT_EQ(0, read_trace(self));
	stats = trace_stats(self->profile.input.trace);
	EXPECT_EQ(0, stats->lost_words);
	EXPECT_LT(100, stats->switches.records);
	EXPECT_EQ(sum, sum_of(self));
	profile_free(&self->profile);
	gen_free(&self->gen);
}

TEST_F(oncpu, exec_continues_the_thread)
{
	struct threads *threads;
	unsigned int i, shown = 0;

	self->harts = 1;
	self->threads = 1;
	gen_init(&self->gen, SRC_BITS, 40);
	gen_stream_init(&self->actor[0].stream[0], &self->gen, 0, 0, 0, 1, 64);
	gen_sync(&self->gen, 0);
	put(self, 0, 1, SIFIVE_TRACE_SWITCH_BEGIN);
	for (i = 0; i < 20; i++) {
		self->gen.now += 1000;
		if (i % 5 == 0 && i)
			switch_out(self, 0, false);
		if (i % 5 == 0)
			switch_in(self, 0, 0);
		record(self, 0);
		if (i == 7)
			self->executes = self->gen.now + 1;
	}
	switch_out(self, 0, true);
	pass(self, &self->actor[0]);
	save(self);
	ASSERT_EQ(0, read_trace(self));
	threads = analysis_threads(self->profile.analysis);
	ASSERT_EQ(2, threads_count(threads));
	EXPECT_EQ(0, oncpu_stats(analysis_oncpu(self->profile.analysis))->contrary);
	for (i = 0; i < 2; i++) {
		const struct oncpu_times *times = oncpu_times(threads_get(threads, i));

		shown += times != NULL;
		if (!times)
			continue;
		EXPECT_STREQ("new/100", threads_get(threads, i)->label);
		EXPECT_EQ(self->actor[0].sum[ON], times->time[ONCPU_RUNS]);
		EXPECT_EQ(0, times->time[ONCPU_UNKNOWN]);
	}
	EXPECT_EQ(1, shown);
	profile_free(&self->profile);
	gen_free(&self->gen);
}

/* Check that no false time is reported, and that most of the time without losses is known. */
static void check_threads(struct __test_metadata *_metadata, FIXTURE_DATA(oncpu) *self,
			  uint64_t *claimed, uint64_t *whole)
{
	unsigned int i;

	for (i = 0; i < self->threads; i++) {
		const struct oncpu_times *times = times_of(self, i);
		uint64_t off;

		if (!times)
			continue;
		off = off_time(_metadata, times);
		EXPECT_LE(times->time[ONCPU_RUNS], self->actor[i].sum[ON]);
		EXPECT_LE(off, self->actor[i].sum[OFF]);
		*claimed += times->time[ONCPU_RUNS] + off;
		*whole += times->wall;
	}
}

/* Read traces with losses; add up the threads' known ticks in @claimed, and all ticks in @whole. */
static void read_lossy(struct __test_metadata *_metadata, FIXTURE_DATA(oncpu) *self,
		       unsigned int seed, unsigned int drop, unsigned int mutes,
		       uint64_t *claimed, uint64_t *whole)
{
	unsigned int round;

	for (round = 0; round < ROUNDS; round++) {
		self->seed = seed + round;
		self->drop = drop;
		self->mutes = mutes;
		generate(self);
		ASSERT_LT(0, self->lost);
		ASSERT_EQ(0, read_trace(self));
		check_rows(_metadata, self);
		check_threads(_metadata, self, claimed, whole);
		check_jobs(_metadata, self);
		profile_free(&self->profile);
		gen_free(&self->gen);
	}
}

TEST_F(oncpu, missing_switch_records_make_times_unknown)
{
	uint64_t claimed = 0, whole = 0;

	read_lossy(_metadata, self, 1000, 100, 0, &claimed, &whole);
	EXPECT_LT(whole / 2, claimed);
	EXPECT_LT(claimed, whole);
}

TEST_F(oncpu, missing_messages_make_times_unknown)
{
	uint64_t claimed = 0, whole = 0;

	read_lossy(_metadata, self, 2000, 0, 100, &claimed, &whole);
	EXPECT_LT(whole / 10, claimed);
	EXPECT_LT(claimed, whole);
}

TEST_F(oncpu, pause_makes_no_other_time_unknown_and_is_not_a_loss)
{
	unsigned int round, i, s;

	for (round = 0; round < ROUNDS; round++) {
		const struct oncpu_stats *stats;

		self->seed = 3000 + round;
		self->pauses = 100;
		generate(self);
		ASSERT_EQ(0, read_trace(self));
		check_rows(_metadata, self);
		for (i = 0; i < self->threads; i++) {
			const struct oncpu_times *times = times_of(self, i);

			ASSERT_EQ(self->actor[i].begun, times != NULL);
			for (s = 0; times && s < ONCPU_STATES; s++)
				EXPECT_EQ(self->actor[i].time[s], times->time[s]);
		}
		stats = oncpu_stats(analysis_oncpu(self->profile.analysis));
		EXPECT_EQ(0, stats->losses);
		EXPECT_EQ(0, stats->contrary);
		check_jobs(_metadata, self);
		profile_free(&self->profile);
		gen_free(&self->gen);
	}
}

TEST_HARNESS_MAIN
