// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests trees with more paths than fit in memory, and traces with unusual timestamps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_fixture.h"
#include "effort.h"

/* Number of functions, each called once, that exceeds the tree's limit. */
#define CALLERS		300
#define CALLEES		300
#define HEAVY		0x900000ull
#define HEAVY_TICKS	10000000ull

/* Begin a stream with one counter, which record() advances by 5 from record to record. */
static void begin(FIXTURE_DATA(command) *self, struct gen_stream *stream)
{
	gen_sync(&self->gen, 0);
	gen_stream_init(stream, &self->gen, 0, 6, 1, 1, 64);
	gen_header(stream);
}

static void record(struct gen_stream *stream, unsigned int type, uint64_t function)
{
	uint64_t value = stream->counter[0].previous + 5;
	uint64_t address[2] = { function, 0x100 };

	gen_record(stream, type, address, &value);
}

/* Write many light paths from one root, then a heavy path. Return the root's time. */
static uint64_t make_paths(FIXTURE_DATA(command) *self)
{
	struct gen_stream stream;
	uint64_t enter;
	unsigned int i, k;

	begin(self, &stream);
	enter = self->gen.now;
	record(&stream, 0, 0x1000);
	for (i = 0; i < CALLERS; i++) {
		record(&stream, 0, 0x10000 + 0x40 * i);
		for (k = 0; k < CALLEES; k++) {
			record(&stream, 0, 0x80000 + 0x40 * k);
			record(&stream, 1, 0x80000 + 0x40 * k);
		}
		record(&stream, 1, 0x10000 + 0x40 * i);
	}
	for (i = 0; i < 100; i++) {
		record(&stream, 0, HEAVY);
		self->gen.now += HEAVY_TICKS / 100;
		record(&stream, 1, HEAVY);
	}
	enter = self->gen.now - enter;
	record(&stream, 1, 0x1000);
	gen_sync(&self->gen, 0);
	save(self, "trace.rtd");
	return enter;
}

static uint64_t number(const char *text)
{
	return text ? strtoull(text, NULL, 10) : 0;
}

TEST_F(command, lightest_paths_are_merged_into_others)
{
	uint64_t whole = make_paths(self);

	run(self, "graph --depth 1 trace.rtd");
	EXPECT_NE(NULL, strstr(self->err, "too many different paths"));
	EXPECT_EQ(whole, number(strstr(self->out, "function\n") + 9));
	run(self, "graph trace.rtd | grep -c '(others)'");
	EXPECT_LT(1, number(self->out));
	/* The heavy path is the root's first child. */
	run(self, "graph --depth 2 trace.rtd | sed -n 3p");
	EXPECT_LE(HEAVY_TICKS, number(self->out));
	EXPECT_NE(NULL, strstr(self->out, "0x900000"));
	/* Nothing is lost or counted twice. */
	run(self, "export --format folded trace.rtd | awk '{ sum += $NF } END { print sum }'");
	EXPECT_EQ(whole, number(self->out));
	run(self, "export --format folded --weight cycles trace.rtd |"
	    " awk '{ sum += $NF } END { print sum }'");
	EXPECT_EQ(5ull * (2 * CALLERS * (CALLEES + 1) + 201), number(self->out));
	run(self, "export --format svg -o t.svg trace.rtd; grep -o 'all ([0-9]* [^,]*, 100.00%%' t.svg");
	EXPECT_EQ(whole, number(self->out + 5));
	run(self, "export --format html -o t.html trace.rtd;"
	    " sed -n 's/^\"tree\"://p' t.html | grep -o '[0-9]*\\]' |"
	    " awk '{ sum += $1 } END { print sum }'");
	EXPECT_EQ(whole, number(self->out));
	run(self, "export --format speedscope trace.rtd | grep -o '\"endValue\":[0-9]*' |"
	    " cut -d: -f2");
	EXPECT_EQ(whole, number(self->out));
}

/* Compare the export for speedscope with a column of report; print the sum. */
static void read_speedscope(FIXTURE_DATA(command) *self, const char *weight,
			    const char *column)
{
	run(self, "export -q -c all --format speedscope --weight %s -o t.json trace.rtd",
	    weight);
	run(self, "report -q -c all --format csv trace.rtd >t.csv;"
	    " " SOURCES "/speedscope.py t.json t.csv %s", column);
}

#define THREADS		3
#define DEPTH		15

/* A thread's open calls. */
struct calls {
	struct gen_stream stream;
	uint64_t	function[DEPTH];
	unsigned int	depth;
	uint64_t	enter;		/* when the outermost call began */
};

/* Enter a function, or leave one, sometimes together with its open callees. */
static void step(struct calls *calls, uint64_t *seed, bool leave, uint64_t *whole)
{
	struct gen *gen = calls->stream.gen;
	unsigned int levels = gen_random(seed) % 8 ? 1 : 2;

	gen->now += gen_random(seed) % 50;
	if (leave || calls->depth == DEPTH) {
		calls->depth -= levels < calls->depth ? levels : calls->depth;
		if (!calls->depth)
			*whole += gen->now - calls->enter;
		record(&calls->stream, 1, calls->function[calls->depth]);
		return;
	}
	if (!calls->depth)
		calls->enter = gen->now;
	/*
	 * Use a different function at each depth, so that it is clear which call an exit
	 * record ends.
	 */
	calls->function[calls->depth] = 0x10000 * (calls->depth + 1) +
					0x40 * (gen_random(seed) % 4);
	record(&calls->stream, 0, calls->function[calls->depth++]);
}

/* Write random calls by several threads; return the time of the outermost calls. */
static uint64_t make_random(FIXTURE_DATA(command) *self, uint64_t seed)
{
	struct calls calls[THREADS] = { 0 };
	uint64_t whole = 0;
	unsigned int i, t;

	gen_free(&self->gen);
	gen_init(&self->gen, 0, 40);
	for (t = 0; t < THREADS; t++) {
		gen_sync(&self->gen, 0);
		gen_stream_init(&calls[t].stream, &self->gen, 0, (uint8_t)(6 + t), 1, 1, 64);
		gen_header(&calls[t].stream);
	}
	for (i = 0; i < 3000; i++) {
		t = gen_random(&seed) % THREADS;
		step(&calls[t], &seed, calls[t].depth && gen_random(&seed) % 2, &whole);
	}
	for (t = 0; t < THREADS; t++)
		while (calls[t].depth)
			step(&calls[t], &seed, true, &whole);
	gen_sync(&self->gen, 0);
	save(self, "trace.rtd");
	return whole;
}

TEST_F(command, root_contains_the_total_of_random_calls)
{
	uint64_t seed, whole;

	for (seed = 1; seed <= effort(3, 10); seed++) {
		whole = make_random(self, seed);
		run(self, "graph -c all --depth 1 trace.rtd |"
		    " awk '$1 ~ /^[0-9]+$/ { sum += $1 } END { print sum }'");
		EXPECT_EQ(whole, number(self->out)) {
			TH_LOG("seed %llu", (unsigned long long)seed);
		}
		run(self, "report -c all --format csv trace.rtd | awk -F, '{ sum += $4 } END { print sum }'");
		EXPECT_EQ(whole, number(self->out));
		run(self, "export -c all --format folded trace.rtd | awk '{ sum += $NF } END { print sum }'");
		EXPECT_EQ(whole, number(self->out));
		run(self, "export -c all --format svg -o t.svg trace.rtd; grep -o 'all ([0-9]* [^,]*, 100.00%%' t.svg");
		EXPECT_EQ(whole, number(self->out + 5));
		run(self, "export -c all --format html -o t.html trace.rtd;"
		    " sed -n 's/^\"tree\"://p' t.html | grep -o '[0-9]*\\]' |"
		    " awk '{ sum += $1 } END { print sum }'");
		EXPECT_EQ(whole, number(self->out));
		read_speedscope(self, "time", "self");
		EXPECT_EQ(whole, number(self->out)) {
			TH_LOG("%s", self->err);
		}
		read_speedscope(self, "calls", "calls");
		EXPECT_LT(100, number(self->out));
		read_speedscope(self, "cycles", "cycles:self");
		EXPECT_LT(1000, number(self->out));
	}
}

/* Nested calls, each of which takes a third of a second, excluding its callees. */
TEST_F(command, speedscope_totals_have_no_rounding_error)
{
	struct gen_stream stream;
	unsigned int i;

	self->gen.step = 0;
	begin(self, &stream);
	for (i = 0; i < 100; i++) {
		self->gen.now += 1;
		record(&stream, 0, 0x10000 + 0x40 * i);
	}
	for (; i; i--) {
		self->gen.now += 1;
		record(&stream, 1, 0x10000 + 0x40 * (i - 1));
	}
	save(self, "trace.rtd");
	run(self, "export -q --format speedscope --ts-hz 3 trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":66333333333,"));
	EXPECT_NE(NULL, strstr(self->out, "\"at\":66333333333}]}"));
}

/* Recursion with more open calls than fit in a tree. */
TEST_F(command, open_calls_beyond_the_tree_limit_keep_the_total)
{
	struct gen_stream stream;
	uint64_t enter;
	unsigned int i;

	begin(self, &stream);
	enter = self->gen.now;
	for (i = 0; i < 100000; i++)
		record(&stream, 0, 0x10000 + 0x40 * (i % 200));
	while (--i)
		record(&stream, 1, 0x10000 + 0x40 * (i % 200));
	enter = self->gen.now - enter;
	record(&stream, 1, 0x10000);
	save(self, "trace.rtd");
	run(self, "graph --depth 1 trace.rtd");
	EXPECT_EQ(enter, number(strstr(self->out, "function\n") + 9)) {
		TH_LOG("%s", self->out);
	}
	run(self, "export --format html -o t.html trace.rtd;"
	    " sed -n 's/^\"tree\"://p' t.html | grep -oE '([0-9-]+,){4}[0-9]+' |"
	    " awk -F, '{ sum += $5 } END { print sum }'");
	EXPECT_EQ(enter, number(self->out));
	run(self, "export --format speedscope trace.rtd | grep -o '\"endValue\":[0-9]*' |"
	    " cut -d: -f2");
	EXPECT_EQ(enter, number(self->out));
}

/* Save a trace with @calls calls of 40 ticks each. */
static void make_calls(FIXTURE_DATA(command) *self, unsigned int calls)
{
	struct gen_stream stream;

	self->gen.step = 10;
	begin(self, &stream);
	for (; calls; calls--) {
		record(&stream, 0, 0x10000);
		record(&stream, 1, 0x10000);
	}
}

TEST_F(command, relative_timestamps_are_recognised)
{
	self->gen.ts_delta = true;
	make_calls(self, 300);
	save(self, "trace.rtd");
	run(self, "report --format csv trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "\"0x10000\",300,12000,12000,"));
	EXPECT_NE(NULL, strstr(self->err, "timestamps are differences"));
	run(self, "report --format csv --ts-scheme xor trace.rtd");
	EXPECT_EQ(NULL, strstr(self->out, ",12000,12000,"));
	EXPECT_EQ(NULL, strstr(self->err, "timestamps are differences"));
}

/* A message of an unknown TCODE may have had a timestamp. */
TEST_F(command, clock_continues_after_an_unknown_message)
{
	static const uint8_t unknown[] = { 62 << 2, 0x15, 0x1b };

	make_calls(self, 150);
	gen_bytes(&self->gen, unknown, sizeof(unknown));
	make_calls(self, 150);
	save(self, "trace.rtd");
	run(self, "report --format csv trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, ",300,12000,12000,"));
	run(self, "report --strict trace.rtd");
	EXPECT_EQ(1, self->status);
}

TEST_F(command, trace_without_timestamps_has_no_times)
{
	static const char * const commands[] = {
		"report", "graph", "replay", "decode", "export --format chrome",
		"export --format folded",
	};
	struct gen_stream stream;
	unsigned int i;

	/* The message at the beginning may have had a timestamp. */
	gen_sync(&self->gen, 0);
	self->gen.ts_width = 0;
	gen_stream_init(&stream, &self->gen, 0, 6, 1, 1, 64);
	gen_header(&stream);
	for (i = 0; i < 10; i++)
		record(&stream, i % 2, 0x10000);
	save(self, "trace.rtd");
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		run(self, "%s trace.rtd", commands[i]);
		EXPECT_EQ(0, self->status);
		EXPECT_NE(NULL, strstr(self->err, "no times: messages have no timestamps")) {
			TH_LOG("%s: %s", commands[i], self->err);
		}
		EXPECT_EQ(NULL, strstr(self->out, " 1000"));
	}
	run(self, "report trace.rtd");
	EXPECT_EQ(NULL, strstr(self->out, "time"));
}

/* Write words that are not part of a record, on the decoded channel. */
TEST_F(command, missing_record_suggests_no_channel_if_there_is_no_other)
{
	unsigned int i;

	gen_sync(&self->gen, 0);
	for (i = 0; i < 100; i++)
		gen_store(&self->gen, 0, 6, 2, i);
	save(self, "trace.rtd");
	run(self, "decode -s 0 trace.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "no records: 100 words on channel 6, but no complete record"));
	EXPECT_EQ(NULL, strstr(self->err, "use -c"));
}

/*
 * Each trace has only the return of a call that began earlier, a manual record, or a call that
 * takes no time.
 */
TEST_F(command, exports_without_weight_are_reported)
{
	static const char * const formats[] = {
		"folded", "svg", "html", "speedscope", "pprof", "firefox",
	};
	struct gen_stream stream;
	unsigned int i, kind;

	for (kind = 0; kind < 3; kind++) {
		gen_free(&self->gen);
		gen_init(&self->gen, 0, 40);
		self->gen.step = 0;
		begin(self, &stream);
		if (kind == 0)
			record(&stream, 1, MAIN);
		else if (kind == 1)
			record(&stream, 2, MAIN);
		else
			record(&stream, 0, MAIN);
		save(self, "trace.rtd");
		for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
			run(self, "export -q --strict --format %s trace.rtd", formats[i]);
			EXPECT_EQ(0, self->status);
			EXPECT_NE(NULL, strstr(self->err, kind < 2 ?
					       "nothing to show: no stack has any samples;" :
					       "nothing to show: no stack has any time;")) {
				TH_LOG("%s: %s", formats[i], self->err);
			}
		}
	}
	run(self, "export -q --format folded --weight calls trace.rtd");
	EXPECT_STREQ("source 0;0x20000 1\n", self->out);
	EXPECT_STREQ("", self->err);
}

TEST_HARNESS_MAIN
