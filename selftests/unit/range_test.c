// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that --time selects exactly the records, instructions and executed code that the whole
 * output shows at these times. The range is also given in percent of the trace's length.
 */
#include <inttypes.h>

#include "command_fixture.h"
#include "effort.h"
#include "flow_program.h"

#define RECORDS	400
#define RANGES	6
/* covered_sample.c */
#define WORK	(0x40000ull + 6 * 4)

static unsigned int below(uint64_t *seed, unsigned int limit)
{
	return (unsigned int)(gen_random(seed) % limit);
}

/* Write nested calls, samples and headers from two sources, and an Error message if @lost. */
static void make_records(struct gen *gen, uint64_t *seed, bool lost)
{
	unsigned int depth[2] = { 0 }, i, src, type;
	struct gen_stream stream[2];
	uint64_t value[2] = { 0 };

	gen_free(gen);
	gen_init(gen, 1, 40);
	for (src = 0; src < 2; src++) {
		gen_sync(gen, src);
		gen_stream_init(&stream[src], gen, (uint8_t)src, 6, 1, 1, 64);
		gen_header(&stream[src]);
	}
	for (i = 0; i < RECORDS; i++) {
		const uint64_t address[] = { MAIN + 0x1000 * below(seed, 3), MAIN + 0x12 };

		gen->now += below(seed, 50);
		src = below(seed, 2);
		type = below(seed, 4);
		type = type == 1 && !depth[src] ? 0 : type;
		depth[src] += (type == 0) - (type == 1);
		value[src] += below(seed, 100);
		if (i % 60 == 59)
			gen_header(&stream[src]);
		if (lost && i == RECORDS / 2) {
			gen_error(gen, 1);
			gen_sync(gen, 1);
		}
		gen_record(&stream[src], type, address, &value[src]);
	}
}

/* Return whether a line of text, csv or json output contains a time. */
static bool time_of(const char *line, uint64_t *time)
{
	const char *at = strstr(line, "\"ticks\":");
	char *end;

	at = at ? at + 8 : line + strspn(line, " ~");
	*time = strtoull(at, &end, 10);
	return end > at && strchr(" ,", *end);
}

/* Read the next line with a time; return false at the end. */
static bool next_line(FILE *file, char *line, size_t size, uint64_t *time)
{
	while (fgets(line, (int)size, file))
		if (time_of(line, time))
			return true;
	return false;
}

/* Choose a range within the times of the file "whole". */
static void choose(uint64_t *seed, uint64_t *from, uint64_t *to)
{
	uint64_t first = UINT64_MAX, last = 0, time;
	FILE *file = fopen("whole", "r");
	char line[1024];

	while (next_line(file, line, sizeof(line), &time)) {
		first = time < first ? time : first;
		last = time > last ? time : last;
	}
	fclose(file);
	time = first + gen_random(seed) % (last - first + 1);
	*from = first + gen_random(seed) % (last - first + 1);
	*to = time < *from ? *from : time;
	*from = time < *from ? time : *from;
}

/* Check that the timed lines of "part" are exactly the lines of "whole" in the range. */
static void compare(struct __test_metadata *_metadata, uint64_t from, uint64_t to)
{
	FILE *whole = fopen("whole", "r"), *part = fopen("part", "r");
	char line[1024], shown[1024];
	uint64_t time, other;

	ASSERT_TRUE(whole && part);
	while (next_line(whole, line, sizeof(line), &time)) {
		if (time < from || time > to)
			continue;
		if (!next_line(part, shown, sizeof(shown), &other))
			strcpy(shown, "nothing\n");
		ASSERT_STREQ(line, shown) {
			TH_LOG("from %" PRIu64 " to %" PRIu64, from, to);
		}
	}
	EXPECT_FALSE(next_line(part, shown, sizeof(shown), &other)) { TH_LOG("%s", shown); }
	fclose(whole);
	fclose(part);
}

static void check_ranges(struct __test_metadata *_metadata, FIXTURE_DATA(command) *self,
			 const char *command, uint64_t *seed)
{
	uint64_t from, to;
	unsigned int i;

	run(self, "decode -q --meta none %s t >whole", command);
	ASSERT_EQ(0, self->status) { TH_LOG("%s", self->err); }
	for (i = 0; i < effort(2, RANGES); i++) {
		choose(seed, &from, &to);
		run(self, "decode -q --meta none %s --time %" PRIu64 "..%" PRIu64 " t >part",
		    command, from, to);
		ASSERT_EQ(0, self->status) { TH_LOG("%s", self->err); }
		compare(_metadata, from, to);
	}
	run(self, "decode -q --meta none %s --time 0.. t >part; cmp whole part", command);
	EXPECT_EQ(0, self->status);
}

TEST_F(command, decode_shows_exactly_the_records_in_the_range)
{
	static const char * const formats[] = {
		"-s 1 --format text", "-s 1 --format csv", "-s 1 --format json",
		"-s 1 --format text -j 1",
	};
	uint64_t seed = 1;
	unsigned int i;

	make_records(&self->gen, &seed, true);
	save(self, "t");
	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		check_ranges(_metadata, self, formats[i], &seed);
	/* In a damaged trace, some times are unknown or inferred. */
	for (i = 0; i < 20; i++)
		self->gen.data[below(&seed, (unsigned int)self->gen.length)] ^=
			(uint8_t)(1u << below(&seed, 8));
	save(self, "t");
	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		check_ranges(_metadata, self, formats[i], &seed);
}

static unsigned int count(const char *text, const char *word)
{
	unsigned int times = 0;

	while ((text = strstr(text, word))) {
		times++;
		text += strlen(word);
	}
	return times;
}

TEST_F(command, perf_files_define_the_counters_and_have_the_records_in_the_range)
{
	unsigned int enters, counters;
	uint64_t seed = 2, from, to;

	make_records(&self->gen, &seed, false);
	save(self, "t.rtd");
	run(self, "decode -q -s 1 --meta none --csv t.rtd >whole; cat whole");
	choose(&seed, &from, &to);
	run(self, "decode -q -s 1 --meta none --csv --time %" PRIu64 "..%" PRIu64 " t.rtd", from,
	    to);
	enters = count(self->out, ",enter,");
	counters = count(self->out, "\n") - 1;
	ASSERT_LT(0, enters);
	run(self, "decode -q -s 1 --meta none --format perf --time %" PRIu64 "..%" PRIu64
	    " t.rtd; cat t.perf", from, to);
	ASSERT_EQ(0, self->status);
	EXPECT_EQ(enters, count(self->out, "[Func Enter at "));
	EXPECT_EQ(counters, count(self->out, "[Perf Cntr] "));
	EXPECT_LE(2, count(self->out, "[Perf Cntr Def]"));
}

static void save_flow(FIXTURE_DATA(command) *self, uint64_t *seed)
{
	static const struct tracer tracer = {
		.hist_bits = 31, .implicit = 1023, .version0 = true, .repeats = true,
		.traps = true, .sync = 20, .icnt_max = 4096, .overflows = true, .stops = true,
	};
	static struct program program;

	program_make(&program, seed);
	program_write(&program, "program");
	program_run(&program, &tracer, &self->gen, 1500, seed);
	save(self, "t");
	program_free(&program);
}

/* Each executed instruction is shown by decode, and counted by annotate and coverage. */
TEST_F(command, instructions_in_the_range_are_shown_and_counted)
{
	unsigned int shown, executed, i;
	uint64_t seed = 7, from, to;
	size_t length;
	char *at;

	save_flow(self, &seed);
	check_ranges(_metadata, self, "-s 0 --format instructions -e program", &seed);
	for (i = 0; i < effort(2, RANGES); i++) {
		choose(&seed, &from, &to);
		run(self, "decode -q -s 0 --format instructions -e program --time %" PRIu64 "..%"
		    PRIu64 " t | grep -c '\\[0\\]  0x'", from, to);
		shown = (unsigned int)atoi(self->out);
		run(self, "decode -q -s 0 --format pc -e program --time %" PRIu64 "..%" PRIu64
		    " t | grep -vc '#'", from, to);
		EXPECT_EQ(shown, atoi(self->out));
		run(self, "annotate -q -s 0 --no-source -e program --time %" PRIu64 "..%" PRIu64
		    " t", from, to);
		executed = 0;
		for (at = self->out; (at = strstr(at, "\n  ~")); at++) {
			length = strspn(at + 4, "0123456789");
			if (!strncmp(at + 4 + length, " instructions executed", 22))
				executed += (unsigned int)atoi(at + 4);
		}
		EXPECT_EQ(shown, executed) { TH_LOG("%s%s", self->out, self->err); }
	}
}

/* Write two runs of work(3), starting at 1500 and at 5000. */
static void save_work_twice(FIXTURE_DATA(command) *self)
{
	const uint8_t fixed[] = { 4, 1 }, bits[] = { 4, 2, 0 };
	const uint64_t field[] = { 2 * 12, 0x56 };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		self->gen.now = i ? 5000 : 1500;
		gen_start(&self->gen, WORK);
		self->gen.now += 100;
		gen_message(&self->gen, 33, 0, fixed, bits, field, 2);
	}
	save(self, "t");
}

TEST_F(command, coverage_counts_what_was_executed_in_the_range)
{
	static const char * const formats[] = {
		"", "--by file", "--by line", "--by path", "--format lcov",
	};
	unsigned int i;

	save_work_twice(self);
	run(self, "coverage -q -s 0 -e " LINES " t");
	EXPECT_NE(NULL, strstr(self->out, "           2         6/9  66.67         4/4 100.00  work"));
	run(self, "coverage -q -s 0 --by line --time 4000..6000 -e " LINES " t");
	ASSERT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "           3  /sample/covered.c:24  1/2\n")) {
		TH_LOG("%s", self->out);
	}
	EXPECT_NE(NULL, strstr(self->out, "           2  /sample/covered.c:25\n"));
	/* The second half of the first run. */
	run(self, "coverage -q -s 0 --by line --time 1550..3000 -e " LINES " t");
	EXPECT_NE(NULL, strstr(self->out, "           0  /sample/covered.c:22\n")) {
		TH_LOG("%s", self->out);
	}
	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		run(self, "coverage -s 0 %s --time 2000..3000 -e " LINES " t", formats[i]);
		EXPECT_EQ(0, self->status) { TH_LOG("%s", self->err); }
		EXPECT_NE(NULL, strstr(self->err, "--time shows nothing: the instructions are from 1500 to 5101 ticks"))
			TH_LOG("%s", self->err);
	}
}

TEST_F(command, empty_range_reports_the_times_of_the_trace)
{
	uint64_t seed = 3;

	make_records(&self->gen, &seed, true);
	save(self, "t");
	run(self, "decode -s 1 --meta none --csv --time 1..2 t");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("", self->out);
	EXPECT_NE(NULL, strstr(self->err, "--time shows nothing: the records are from 1"));
}

TEST_F(command, merge_takes_no_time_range)
{
	run(self, "merge --time 1..2 a b");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "--time"));
}

static void percent_equals(struct __test_metadata *_metadata, FIXTURE_DATA(command) *self,
			   const char *percent, uint64_t from, uint64_t to)
{
	static const char * const commands[] = {
		"decode", "decode --json", "report --csv", "graph", "replay",
		"export --format folded", "export --format chrome", "top", "annotate",
	};
	unsigned int i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		run(self, "%s -q -s 0 --meta none --time %" PRIu64 "..%" PRIu64 " t >whole",
		    commands[i], from, to);
		ASSERT_EQ(0, self->status) { TH_LOG("%s: %s", commands[i], self->err); }
		run(self, "%s -q -s 0 --meta none --time %s t >part; cmp whole part", commands[i],
		    percent);
		EXPECT_EQ(0, self->status) {
			TH_LOG("%s %s: %s", commands[i], percent, self->err);
		}
	}
}

/*
 * The trace extends from 2000 to 10000 ticks, the times of the first and last message of channel 9.
 */
static void save_line(FIXTURE_DATA(command) *self)
{
	const uint64_t address[] = { MAIN, 0x100 };
	struct gen_stream stream;
	uint64_t value = 0;
	unsigned int i;

	self->gen.step = 0;
	self->gen.now = 2000;
	gen_sync(&self->gen, 0);
	gen_store(&self->gen, 0, 9, 4, 0x1234567);
	gen_stream_init(&stream, &self->gen, 0, 6, 1, 1, 64);
	for (i = 0; i < 60; i++) {
		self->gen.now += 100;
		if (!i)
			gen_header(&stream);
		value++;
		gen_record(&stream, i % 2, address, &value);
	}
	self->gen.now = 10000;
	gen_store(&self->gen, 0, 9, 4, 0x1234567);
	save(self, "t");
}

TEST_F(command, percent_is_of_the_time_from_the_first_to_the_last_message)
{
	save_line(self);
	percent_equals(_metadata, self, "0%..100%", 2000, 10000);
	percent_equals(_metadata, self, "10%..20%", 2800, 3600);
	percent_equals(_metadata, self, "12.5%..", 3000, 10000);
	percent_equals(_metadata, self, "..50.01%", 2000, 6000);
	percent_equals(_metadata, self, "50%..7000", 6000, 7000);
	run(self, "decode -s 0 --meta none --csv --time 99%%.. t");
	EXPECT_NE(NULL, strstr(self->err, "--time shows nothing: the records are from 2100 to 8000 ticks"))
		TH_LOG("%s", self->err);
}

TEST_F(command, percent_that_cannot_be_converted_is_refused)
{
	static const char * const wrong[] = {
		"101%..", "100.1%..", "5%%..", "..-1%", "%..", "1 %..", "1%s..", "1m%..", "5%",
	};
	unsigned int i;

	save_line(self);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		run(self, "decode -s 0 --meta none --time '%s' t", wrong[i]);
		EXPECT_EQ(2, self->status) { TH_LOG("%s", wrong[i]); }
		EXPECT_NE(NULL, strstr(self->err, "--time takes FROM..TO")) { TH_LOG("%s", self->err); }
	}
	run(self, "decode -s 0 --meta none --time 20%%..10%% t");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "--time ends before it begins"));
	run(self, "report -s 0 --meta none --time 1%%.. - <t");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "--time in percent needs the trace's length, but a pipe can be read only once"));
	ASSERT_EQ(0, mkfifo("fifo", 0666));
	run(self, "report -s 0 --meta none --time 1%%.. fifo");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "but a pipe can be read only once"));
	/* A range in ticks is accepted for a pipe. */
	run(self, "decode -q -s 0 --meta none --csv --time 3000.. - <t");
	EXPECT_EQ(0, self->status);
	run(self, "report -s 0 --time 1%%.. missing");
	EXPECT_EQ(3, self->status);
}

TEST_F(command, percent_needs_timestamps)
{
	gen_free(&self->gen);
	gen_init(&self->gen, 0, 0);
	sample_trace(&self->gen, 0, 0);
	save(self, "t");
	run(self, "report -s 0 --meta none --time 10%%.. t");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "--time is in percent, but no message of the trace has a time"))
		TH_LOG("%s", self->err);
}

TEST_F(command, whole_range_shows_the_same_as_no_range)
{
	static const char * const commands[] = {
		"decode", "decode --csv", "report", "report --csv", "graph", "replay",
		"export --format folded", "annotate",
	};
	static const char * const ranges[] = { "0s..", "0%..100%", "..100%", "0%.." };
	uint64_t seed = 5;
	unsigned int i, k;

	make_records(&self->gen, &seed, true);
	save(self, "t");
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		run(self, "%s -s 1 --meta none --ts-hz 1000 t >whole 2>&1", commands[i]);
		ASSERT_EQ(0, self->status);
		for (k = 0; k < sizeof(ranges) / sizeof(ranges[0]); k++) {
			run(self, "%s -s 1 --meta none --ts-hz 1000 --time %s t >part 2>&1; cmp whole part",
			    commands[i], ranges[k]);
			EXPECT_EQ(0, self->status) {
				TH_LOG("%s --time %s", commands[i], ranges[k]);
			}
		}
	}
}

/* The percentage corresponds to less than a tick, so it excludes only records without a time. */
TEST_F(command, percent_of_a_damaged_trace_begins_at_its_earliest_time)
{
	uint64_t seed = 11;
	unsigned int i, k;

	for (i = 0; i < 12; i++) {
		make_records(&self->gen, &seed, true);
		for (k = 0; k < 12; k++)
			self->gen.data[below(&seed, (unsigned int)self->gen.length)] ^=
				(uint8_t)(1u << below(&seed, 8));
		save(self, "t");
		run(self, "decode -s 1 --meta none --json t | grep '\"ticks\"' >whole");
		run(self, "decode -s 1 --meta none --json --time 0.000000001%%.. t 2>err | grep '\"ticks\"' >part; cmp whole part");
		EXPECT_EQ(0, self->status) { TH_LOG("%u: %s", i, self->err); }
	}
}

TEST_HARNESS_MAIN
