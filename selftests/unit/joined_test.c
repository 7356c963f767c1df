// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests records in the flow of instructions. Each command shows records in their place, intervals
 * combine the counts from records with the functions from the flow, and losses and migrations are
 * marked.
 */
#include <inttypes.h>

#include "browser.h"

/* flow_sample.S: its instructions have two halfwords. */
#define CODE		0x30000ull
#define PLAIN		(CODE + 0x100)
#define LEAF		(CODE + 0x500)
#define TURN		(CODE + 0xb00)
/* An address that is not in any file. */
#define ELSEWHERE	0x50000ull

#define TID		71
#define SIDE_CAR	"{\"version\":1,\"per_thread\":true,\"channel\":6," \
			"\"instruction\":{\"calls\":\"user\"}," \
			"\"threads\":[{\"channel\":6,\"pid\":71,\"tid\":71,\"name\":\"t\"}]}"

#define LOUD		"-s 1 -e " CALLS " t"
#define READ		"-q " LOUD

static uint64_t latest;

static void indirect(struct gen *gen, unsigned int src, uint64_t halfwords, uint64_t to)
{
	const uint8_t fixed[] = { 0 }, bits[] = { 2, 0 };
	const uint64_t field[] = { halfwords, (to ^ latest) >> 1 };

	gen_message(gen, 4, src, fixed, bits, field, 2);
	latest = to;
}

static void resume(struct gen *gen, unsigned int src, uint64_t address)
{
	const uint8_t fixed[] = { 5 }, bits[] = { 4, 0 };
	const uint64_t field[] = { 0, address >> 1 };

	gen_message(gen, 9, src, fixed, bits, field, 2);
	latest = address;
}

static void own(struct gen *gen, unsigned int src, uint32_t tid)
{
	const uint64_t process = (uint64_t)tid << 5 | 2;

	gen_message(gen, 2, src, NULL, NULL, &process, 1);
}

/* Switch the thread in at @address. stop() switches it out after @halfwords halfwords. */
static void begin(struct gen *gen, unsigned int src, uint64_t address)
{
	resume(gen, src, address);
	own(gen, src, TID);
}

static void stop(struct gen *gen, unsigned int src, uint64_t halfwords)
{
	const uint8_t fixed[] = { 4, 0 }, bits[] = { 4, 2, 0 };

	gen_message(gen, 33, src, fixed, bits, &halfwords, 1);
}

static void record(struct gen_stream *stream, unsigned int type, uint64_t address, uint64_t value)
{
	const uint64_t both[] = { address, ELSEWHERE };

	gen_record(stream, type, both, &value);
}

/* Start a trace of two sources, and a stream of source 0. */
static void start(FIXTURE_DATA(command) *self, struct gen_stream *stream)
{
	gen_free(&self->gen);
	gen_init(&self->gen, 1, 40);
	self->gen.step = 10;
	gen_sync(&self->gen, 0);
	begin(&self->gen, 0, CODE);
	gen_stream_init(stream, &self->gen, 0, 6, 0, 1, 64);
	gen_header(stream);
}

static void end(FIXTURE_DATA(command) *self)
{
	save(self, "t");
	write_file("t.meta", SIDE_CAR, strlen(SIDE_CAR));
}

/*
 * Write records before the call to plain(), within plain() after leaf(), and at the end of main().
 */
static void run_main(FIXTURE_DATA(command) *self)
{
	struct gen_stream stream;

	start(self, &stream);
	record(&stream, 0, CODE, 1000);
	indirect(&self->gen, 0, 6, PLAIN + 4);
	record(&stream, 2, PLAIN + 4, 1050);
	indirect(&self->gen, 0, 2, CODE + 4);
	indirect(&self->gen, 0, 6, CODE + 8);
	record(&stream, 1, CODE, 1057);
	stop(&self->gen, 0, 0);
	end(self);
}

/* Return whether the output contains the strings in this order. */
static bool in_order(const char *out, const char * const *text, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		out = strstr(out, text[i]);
		if (!out)
			return false;
		out += strlen(text[i]);
	}
	return true;
}

/* The time at the start of each line has the same width, even if it is unknown. */
TEST_F(command, wall_clock_times_are_aligned)
{
	static const char meta[] =
		"{\"version\":1,\"ts_hz\":1000000000,\"channel\":6,\"instruction\":{\"calls\":\"user\"},"
		"\"threads\":[{\"channel\":6,\"pid\":71,\"tid\":71,\"name\":\"t\"}],\"coverage\":{\"run_ns\":5000},"
		"\"utc\":{\"time\":5000,\"ns\":1790000000000000000}}";
	unsigned int lines = 0;
	const char *line;

	run_main(self);
	write_file("t.meta", meta, strlen(meta));
	run(self, "decode --format instructions --clock utc " READ);
	ASSERT_EQ(0, self->status) { TH_LOG("%s", self->err); }
	EXPECT_NE(NULL, strstr(self->out, " 1789999999.99999"));
	for (line = strtok(self->out, "\n"); line; line = strtok(NULL, "\n")) {
		EXPECT_EQ(line + 21, strstr(line, " [0]")) { TH_LOG("%s", line); }
		lines++;
	}
	EXPECT_LT(10, lines);
}

#define IN_ORDER(out, ...) \
	in_order(out, (const char * const []){ __VA_ARGS__ }, \
		 sizeof((const char * const []){ __VA_ARGS__ }) / sizeof(const char *))

TEST_F(command, records_are_shown_among_the_instructions)
{
	run_main(self);
	run(self, "decode --format instructions " READ);
	ASSERT_EQ(0, self->status);
	EXPECT_TRUE(IN_ORDER(self->out, "record: enter main", "0x30000  ", "0x30100  ",
			     "0x30500  ", "record: manual plain+0x4: cycles 50\n", "0x30104  ",
			     "0x30004  ", "record: exit main", ": cycles 7\n", "trace stops")) {
		TH_LOG("%s", self->out);
	}
	/* The format that lists only addresses shows no records. */
	run(self, "decode --format pc " READ);
	EXPECT_EQ(NULL, strstr(self->out, "record"));
}

/* Without a side-car file, the records are not yet known to be within instruction trace. */
TEST_F(command, records_before_the_flow_name_the_same_counters)
{
	const uint64_t both[] = { CODE, ELSEWHERE };
	const uint64_t counts[] = { 1000, 2000 };
	struct gen_stream stream;

	gen_free(&self->gen);
	gen_init(&self->gen, 1, 40);
	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 1, 6, 0, 2, 64);
	gen_header(&stream);
	gen_record(&stream, 2, both, counts);
	gen_record(&stream, 2, both, counts);
	resume(&self->gen, 0, CODE);
	indirect(&self->gen, 0, 6, PLAIN + 4);
	gen_record(&stream, 2, both, counts);
	gen_record(&stream, 2, both, (const uint64_t[]){ 1007, 2003 });
	stop(&self->gen, 0, 0);
	save(self, "t");
	run(self, "export --format csv " LOUD);
	EXPECT_NE(NULL, strstr(self->err, "such as cycles: they have no column"))
		TH_LOG("%s", self->err);
	/* The calls of the instruction trace have no counts. */
	run(self, "export --format chrome " READ);
	EXPECT_NE(NULL, strstr(self->out, "\"args\":{\"time\":\"inferred\",\"end\":")) TH_LOG("%s", self->out);
	EXPECT_EQ(NULL, strstr(self->out, "\"args\":{\"cycles\":0")) TH_LOG("%s", self->out);
}

TEST_F(command, replay_shows_records_among_the_calls)
{
	run_main(self);
	run(self, "replay " READ);
	ASSERT_EQ(0, self->status);
	EXPECT_TRUE(IN_ORDER(self->out, "record: enter main", "(the thread's first record)",
			     "plain() {", "leaf", "record: manual plain+0x4  cycles +50\n",
			     "} plain", "tail", "record: exit main  cycles +7\n")) {
		TH_LOG("%s", self->out);
	}
}

TEST_F(command, intervals_show_counts_and_executed_functions)
{
	run_main(self);
	run(self, "report --by interval --csv " READ);
	ASSERT_EQ(0, self->status);
	EXPECT_TRUE(IN_ORDER(self->out, "function,from,to,times,total,cycles,cycles:known,executed,"
			     "calls,inferred,moved,lost,missing\n", ",7,1,4,2,0,0,0,0\n",
			     "\"\",\"enter main\",\"manual plain+0x4\",1,50,50,1,3,2,0,0,0,0\n"
			     "\"main\",\"enter main\",\"manual plain+0x4\",,,,,1,0,,,,\n"
			     "\"plain\",\"enter main\",\"manual plain+0x4\",,,,,1,1,,,,\n"
			     "\"leaf\",\"enter main\",\"manual plain+0x4\",,,,,1,1,,,,\n")) {
		TH_LOG("%s", self->out);
	}
	run(self, "report --by interval --json " READ);
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "\"by\":\"interval\""));
	EXPECT_NE(NULL, strstr(self->out, "\"from\":\"manual plain+0x4\",\"to\":\"exit main\",\"times\":1,"));
}

/* Each command must either show the records or report that they are omitted. */
TEST_F(command, records_are_shown_or_reported_as_omitted)
{
	static const char missing[] = ": 3 records among calls from the instruction trace are "
				      "left out: see sifive-trace report --by interval ";
	static const struct {
		const char *command;
		bool shows;
	} commands[] = {
		{ "report", false },
		{ "report --by thread", false },
		{ "report --json", false },
		{ "report --by interval", true },
		{ "report --calls records", true },
		{ "graph", false },
		{ "replay", true },
		{ "coverage --by path", false },
		{ "annotate", false },
		{ "decode", true },
		{ "decode --format csv", true },
		{ "decode --format instructions", true },
		{ "decode --format pc", false },
		{ "export --format chrome", true },
		{ "export --format perfetto", true },
		{ "export --format html", true },
		{ "export --format csv", true },
		{ "export --format ctf -o ctf", true },
		{ "export --format dqr -o dqr", true },
		{ "export --format folded", false },
		{ "export --format svg", false },
		{ "export --format speedscope", false },
		{ "export --format firefox", false },
		{ "export --format pprof", false },
		{ "export --format bolt --object flow_sample.elf", false },
		{ "export --format profgen --object flow_sample.elf", false },
	};
	const char *found;
	size_t i;

	run_main(self);
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		run(self, "%s " LOUD, commands[i].command);
		found = strstr(self->err, missing);
		EXPECT_EQ(0, self->status);
		EXPECT_EQ(commands[i].shows, !found);
		/* The message must appear only once. */
		EXPECT_FALSE(found && strstr(found + 1, missing)) {
			TH_LOG("%s: %s", commands[i].command, self->err);
		}
		run(self, "%s " READ, commands[i].command);
		EXPECT_EQ(NULL, strstr(self->err, "left out"));
		EXPECT_EQ(0, system("rm -rf ctf dqr"));
	}
	/* Commands that show only the records must report that instruction trace is omitted. */
	run(self, "decode " LOUD);
	EXPECT_NE(NULL, strstr(self->err, " messages of instruction trace, left out (decode --format instructions "));
	run(self, "export --format dqr -o dqr " LOUD);
	EXPECT_NE(NULL, strstr(self->err, " messages of instruction trace, left out (decode --format instructions "));
	run(self, "export --format chrome " LOUD);
	EXPECT_EQ(NULL, strstr(self->err, "left out"));
}

TEST_F(command, exports_contain_each_record_with_its_counts)
{
	run_main(self);
	run(self, "export --format chrome " READ);
	EXPECT_TRUE(IN_ORDER(self->out, "\"name\":\"enter main\",\"s\":\"t\",\"cat\":\"record\",",
			     "\"name\":\"manual plain+0x4\",\"s\":\"t\",\"cat\":\"record\","
			     "\"args\":{\"type\":\"manual\",\"cycles\":50}}",
			     "\"name\":\"cycles/tick t/71 records\",", "\"args\":{\"value\":1}}",
			     "\"name\":\"exit main\",", "\"args\":{\"type\":\"exit\",\"cycles\":7}}")) {
		TH_LOG("%s", self->out);
	}
	run(self, "export --format csv " READ);
	EXPECT_TRUE(IN_ORDER(self->out, ",enter,t/71,71,71,main,", ",the thread's first record,\n",
			     ",manual,t/71,71,71,plain+0x4,", ",50\n", ",exit,t/71,71,71,main,",
			     ",7\n")) {
		TH_LOG("%s", self->out);
	}
	run(self, "export --format perfetto -o p " READ " && " SOURCES "/perfetto.py p");
	EXPECT_EQ(0, self->status);
	EXPECT_TRUE(IN_ORDER(self->out, "track t/71 records\n", "counter cycles t/71 records\n",
			     "point t/71 records ", " enter main {'note': \"the thread's first record\"}\n",
			     " manual plain+0x4 {'cycles': 50}\n", " exit main {'cycles': 7}\n",
			     "count cycles t/71 records 57\n")) {
		TH_LOG("%s%s", self->out, self->err);
	}
	run(self, "export --format folded --weight cycles " READ);
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "\"cycles\" was counted between two records"));
	run(self, "export --format folded --weight cycles --calls records " READ);
	EXPECT_EQ(0, self->status);
}

static void page_of_records(struct __test_metadata *_metadata, FIXTURE_DATA(command) *self,
			    const char *browser)
{
	run_main(self);
	run(self, "export --format html -o t.html " READ);
	EXPECT_EQ(0, self->status);
	browse(_metadata, self, browser, "--records t.html");
}

TEST_F(command, html_shows_each_record_with_its_counts)
{
	page_of_records(_metadata, self, CHROMIUM);
}

TEST_F(command, html_in_firefox_shows_each_record_with_its_counts)
{
	page_of_records(_metadata, self, FIREFOX);
}

/* The first row is a call, so only counters that the side-car file names have columns. */
TEST_F(command, csv_has_counter_columns_before_the_first_record)
{
	static const char car[] = "{\"version\":1,\"per_thread\":true,\"channel\":6,\"count_type\":1,"
		"\"counters\":[{\"number\":0,\"event\":\"clocks\",\"type\":0,\"code\":1,\"data\":0}],"
		"\"instruction\":{\"calls\":\"user\"},"
		"\"threads\":[{\"channel\":6,\"pid\":71,\"tid\":71,\"name\":\"t\"}]}";
	struct gen_stream stream;

	gen_free(&self->gen);
	gen_init(&self->gen, 1, 40);
	gen_sync(&self->gen, 0);
	begin(&self->gen, 0, CODE);
	indirect(&self->gen, 0, 6, PLAIN + 4);
	indirect(&self->gen, 0, 2, CODE + 4);
	gen_stream_init(&stream, &self->gen, 0, 6, 0, 1, 64);
	gen_header(&stream);
	record(&stream, 2, CODE + 4, 1000);
	record(&stream, 2, CODE + 4, 1050);
	stop(&self->gen, 0, 2);
	end(self);
	run(self, "export --format csv " LOUD);
	EXPECT_TRUE(strstr(self->out, ",note\n") && !strstr(self->out, "_interval"));
	EXPECT_NE(NULL, strstr(self->err, "a later header defines more counters, such as cycles: "));
	write_file("t.meta", car, strlen(car));
	run(self, "export --format csv " LOUD);
	EXPECT_TRUE(IN_ORDER(self->out, ",note,clocks_interval\n", ",call,", ",,\n", ",manual,", ",50\n")) {
		TH_LOG("%s", self->out);
	}
	EXPECT_EQ(NULL, strstr(self->err, "a later header"));
}

/*
 * In a trace that is read only once, the records precede their source's first absolute timestamp.
 */
TEST_F(command, records_without_a_time_are_reported_as_omitted)
{
	static const struct {
		const char *format;
		const char *says;
	} exports[] = {
		{ "chrome", ": 2 records without a time are left out: " },
		{ "perfetto", ": 2 records without a time are left out: " },
		{ "html", ": 2 records without a time are left out: " },
		{ "ctf", " records without a time, or with one before their thread's previous record," },
	};
	struct gen_stream stream;
	unsigned int i;

	gen_free(&self->gen);
	gen_init(&self->gen, 1, 40);
	gen_stream_init(&stream, &self->gen, 0, 6, 0, 1, 64);
	gen_header(&stream);
	record(&stream, 0, CODE, 1000);
	record(&stream, 2, PLAIN + 4, 1050);
	begin(&self->gen, 0, CODE);
	stop(&self->gen, 0, 2);
	end(self);
	for (i = 0; i < 4; i++) {
		run(self, "export --format %s -o out --meta t.meta -s 1 -e " CALLS " - <t",
		    exports[i].format);
		EXPECT_EQ(0, self->status);
		EXPECT_NE(NULL, strstr(self->err, exports[i].says)) {
			TH_LOG("%s: %s", exports[i].format, self->err);
		}
		EXPECT_EQ(0, system("rm -rf out"));
	}
	run(self, "export -q --format csv --meta t.meta -s 1 -e " CALLS " - <t");
	EXPECT_TRUE(IN_ORDER(self->out, ",manual,", ",plain+0x4,", ",50\n")) {
		TH_LOG("%s", self->out);
	}
}

TEST_F(command, calls_are_read_from_the_flow_or_the_records)
{
	run_main(self);
	run(self, "report --csv " READ);
	EXPECT_NE(NULL, strstr(self->out, "\"leaf\",2,"));
	EXPECT_EQ(NULL, strstr(self->out, "cycles"));
	run(self, "report --csv --calls records " READ);
	EXPECT_EQ(NULL, strstr(self->out, "leaf"));
	EXPECT_NE(NULL, strstr(self->out, "\"main\",1,"));
	EXPECT_NE(NULL, strstr(self->out, "cycles"));
}

/*
 * The encoder has lost messages, including the rest of the second record. Two records are in the
 * gap.
 */
TEST_F(command, interval_with_a_loss_is_marked)
{
	struct gen_stream stream;

	start(self, &stream);
	record(&stream, 0, CODE, 1000);
	record(&stream, 2, CODE, 1010);
	indirect(&self->gen, 0, 6, PLAIN + 4);
	gen_error(&self->gen, 0);
	record(&stream, 1, CODE, 1020);
	record(&stream, 2, PLAIN, 1030);
	begin(&self->gen, 0, CODE + 4);
	record(&stream, 1, CODE, 1050);
	indirect(&self->gen, 0, 6, CODE + 8);
	record(&stream, 1, CODE, 1060);
	stop(&self->gen, 0, 0);
	end(self);
	run(self, "report --by interval " READ);
	EXPECT_TRUE(strstr(self->out, "enter main -> exit main  [records may be missing in 1 of 1]  "
			   "[instructions are missing in 1 of 1]\n") &&
		    strstr(self->out, "exit main -> manual plain  [instructions are missing in 1 of 1]\n") &&
		    strstr(self->out, "manual plain -> exit main  [instructions are missing in 1 of 1]\n") &&
		    strstr(self->out, "exit main -> exit main\n")) {
		TH_LOG("%s", self->out);
	}
	run(self, "export --format chrome " READ);
	EXPECT_TRUE(IN_ORDER(self->out, "\"type\":\"enter\",\"note\":\"the thread's first record\"}",
			     "\"type\":\"exit\",\"time\":\"inferred\",\"note\":\"records may be missing before it\"}",
			     "\"type\":\"manual\",\"cycles\":10,", "\"type\":\"exit\",\"cycles\":20}")) {
		TH_LOG("%s", self->out);
	}
}

/* Only one message of a switch between two threads arrives: the new context. */
TEST_F(command, loss_marks_the_thread_that_is_switched_in)
{
	struct gen_stream stream;

	start(self, &stream);
	own(&self->gen, 0, TID + 1);
	stream.owner = TID + 1;
	gen_header(&stream);
	record(&stream, 0, CODE, 1000);
	indirect(&self->gen, 0, 6, PLAIN + 4);
	stop(&self->gen, 0, 0);
	begin(&self->gen, 0, CODE);
	stream.owner = TID;
	gen_header(&stream);
	record(&stream, 0, CODE, 5000);
	gen_error(&self->gen, 0);
	own(&self->gen, 0, TID + 1);
	indirect(&self->gen, 0, 2, CODE + 4);
	resume(&self->gen, 0, CODE + 8);
	stream.owner = TID + 1;
	gen_header(&stream);
	record(&stream, 1, CODE, 1100);
	stop(&self->gen, 0, 0);
	end(self);
	run(self, "report --by interval " READ);
	EXPECT_NE(NULL, strstr(self->out, "enter main -> exit main  [records may be missing in 1 of 1]  "
			       "[instructions are missing in 1 of 1]\n")) {
		TH_LOG("%s", self->out);
	}
}

TEST_F(command, interval_on_two_harts_is_marked)
{
	struct gen_stream stream, other;

	start(self, &stream);
	gen_sync(&self->gen, 1);
	record(&stream, 0, CODE, 1000);
	stop(&self->gen, 0, 2);
	begin(&self->gen, 1, PLAIN);
	gen_stream_init(&other, &self->gen, 1, 6, 0, 1, 64);
	gen_header(&other);
	record(&other, 0, PLAIN, 1030);
	stop(&self->gen, 1, 4);
	/* The thread runs on hart 0 without writing a record there, and moves back. */
	begin(&self->gen, 0, LEAF);
	stop(&self->gen, 0, 2);
	begin(&self->gen, 1, PLAIN + 4);
	record(&other, 1, PLAIN, 1040);
	stop(&self->gen, 1, 2);
	end(self);
	run(self, "report --by interval " READ);
	EXPECT_NE(NULL, strstr(self->out, "enter main -> enter plain  [moved to another hart in 1 of 1]\n"));
	EXPECT_NE(NULL, strstr(self->out, "enter plain -> exit plain  [moved to another hart in 1 of 1]\n")) {
		TH_LOG("%s", self->out);
	}
	EXPECT_TRUE(IN_ORDER(self->out, " 30 ", "enter main -> enter plain"));
	run(self, "export --format csv " READ);
	EXPECT_TRUE(IN_ORDER(self->out, ",note,cycles_interval\n", ",enter,t/71,71,71,plain,",
			     ",on another hart since the previous record,30\n")) {
		TH_LOG("%s", self->out);
	}
}

/*
 * The encoder loses messages, possibly including those for the thread's switch to another hart.
 * Records written before the loss or the switch must precede records written on the other hart.
 */
TEST_F(command, records_before_a_loss_precede_those_of_the_next_hart)
{
	struct gen_stream stream, other;
	int stopped;

	for (stopped = 0; stopped < 2; stopped++) {
		start(self, &stream);
		gen_sync(&self->gen, 1);
		record(&stream, 0, CODE, 1000);
		indirect(&self->gen, 0, 6, PLAIN + 4);
		if (stopped)
			gen_error(&self->gen, 0);
		record(&stream, 2, PLAIN + 4, 1010);
		record(&stream, 2, PLAIN + 4, 1030);
		/* After this record, the encoder does not send instructions until the loss. */
		record(&stream, 2, LEAF, 1060);
		if (stopped)
			stop(&self->gen, 0, 0);
		else
			gen_error(&self->gen, 0);
		begin(&self->gen, 1, PLAIN + 4);
		gen_stream_init(&other, &self->gen, 1, 6, 0, 1, 64);
		gen_header(&other);
		record(&other, 2, PLAIN + 4, 1100);
		indirect(&self->gen, 1, 2, CODE + 4);
		record(&other, 1, CODE, 1200);
		stop(&self->gen, 1, 0);
		end(self);
		run(self, "decode --format instructions " READ);
		EXPECT_TRUE(IN_ORDER(self->out, "manual plain+0x4: cycles 20", "manual plain+0x4",
				     "0x30104  ", "exit main")) {
			TH_LOG("%s", self->out);
		}
		run(self, "report --by interval " READ);
		EXPECT_TRUE(!strstr(self->out, "exit main ->") &&
			    strstr(self->out, "[moved to another hart in 1 of ")) {
			TH_LOG("%s", self->out);
		}
	}
}

/* The same loss, in a trace without records. */
TEST_F(command, calls_before_a_loss_precede_those_of_the_next_hart)
{
	gen_free(&self->gen);
	gen_init(&self->gen, 1, 40);
	self->gen.step = 10;
	gen_sync(&self->gen, 0);
	gen_sync(&self->gen, 1);
	begin(&self->gen, 0, CODE);
	indirect(&self->gen, 0, 6, PLAIN + 4);
	gen_error(&self->gen, 0);
	begin(&self->gen, 1, PLAIN + 4);
	indirect(&self->gen, 1, 2, CODE + 4);
	indirect(&self->gen, 1, 6, CODE + 8);
	stop(&self->gen, 1, 0);
	end(self);
	run(self, "replay " READ);
	EXPECT_TRUE(IN_ORDER(self->out, "main() {", "plain() {", "leaf()", "} plain", "tail()")) {
		TH_LOG("%s", self->out);
	}
}

/*
 * Twice, between the two words of a record's last counter, the thread is switched out and back in
 * on the same hart.
 */
TEST_F(command, record_split_by_a_context_switch_is_joined)
{
	const uint64_t high = 5ull << 32;
	struct gen_stream stream;

	start(self, &stream);
	record(&stream, 0, CODE, high + 1000);
	indirect(&self->gen, 0, 6, PLAIN + 4);
	gen_store(&self->gen, 0, 6, 1, 2);
	gen_store(&self->gen, 0, 6, 4, PLAIN + 4);
	gen_store(&self->gen, 0, 6, 4, 1050);
	stop(&self->gen, 0, 0);
	begin(&self->gen, 0, PLAIN + 4);
	stop(&self->gen, 0, 0);
	begin(&self->gen, 0, PLAIN + 4);
	gen_store(&self->gen, 0, 6, 2, 5);
	indirect(&self->gen, 0, 2, CODE + 4);
	record(&stream, 2, CODE + 4, high + 1070);
	stop(&self->gen, 0, 0);
	end(self);
	run(self, "report --by interval --csv " READ);
	EXPECT_TRUE(strstr(self->out, "\"\",\"enter main\",\"manual plain+0x4\",1,60,50,1,3,2,0,0,0,0\n") &&
		    strstr(self->out, "\"\",\"manual plain+0x4\",\"manual main+0x4\",1,110,20,1,1,0,0,0,0,0\n")) {
		TH_LOG("%s", self->out);
	}
}

/* There are more records between two messages than the reader can buffer. */
TEST_F(command, records_that_cannot_be_buffered_are_marked)
{
	const unsigned int limit = 8192;
	struct gen_stream stream;
	unsigned int i, more;

	for (more = 0; more < 2; more++) {
		start(self, &stream);
		record(&stream, 0, CODE, 1000);
		indirect(&self->gen, 0, 6, PLAIN + 4);
		for (i = 0; i < limit - 1 + more; i++)
			record(&stream, 2, LEAF, 1050);
		indirect(&self->gen, 0, 2, CODE + 4);
		stop(&self->gen, 0, 0);
		end(self);
		run(self, "report --by interval -s 1 -e " CALLS " t");
		EXPECT_EQ(more != 0, strstr(self->err, ": 1 record has no exact place among "
					    "the instructions") != NULL) {
			TH_LOG("%s", self->err);
		}
		run(self, "report --by interval --csv --filter main " READ);
		EXPECT_NE(NULL, strstr(self->out, more ? "\"enter main\",\"manual leaf\",1,50,50,1,3,2,0,0,0,1" :
				       "\"enter main\",\"manual leaf\",1,50,50,1,3,2,0,0,0,0")) {
			TH_LOG("%s", self->out);
		}
	}
}

/*
 * Between the two words of a count, a trap handler runs for longer than the reader holds messages
 * back.
 */
TEST_F(command, count_split_by_a_long_trap_never_decreases)
{
	const uint64_t high = 5ull << 32;
	struct gen_stream stream;
	unsigned int i;

	start(self, &stream);
	record(&stream, 0, CODE, high + 1000);
	gen_store(&self->gen, 0, 6, 1, 2);
	gen_store(&self->gen, 0, 6, 4, CODE);
	gen_store(&self->gen, 0, 6, 4, 1050);
	for (i = 0; i < 110; i++) {
		indirect(&self->gen, 0, 6, PLAIN + 4);
		indirect(&self->gen, 0, 2, CODE);
	}
	gen_store(&self->gen, 0, 6, 2, 5);
	record(&stream, 2, CODE + 4, high + 1070);
	stop(&self->gen, 0, 0);
	end(self);
	run(self, "decode --format instructions " READ);
	EXPECT_TRUE(IN_ORDER(self->out, "manual main: cycles 50\n", "manual main+0x4: cycles 20\n")) {
		TH_LOG("%s", self->out);
	}
}

/* If instructions follow, they show that the record is complete. */
TEST_F(command, record_before_a_switch_precedes_those_of_the_next_hart)
{
	struct gen_stream stream, other;
	int code;

	for (code = 0; code < 2; code++) {
		start(self, &stream);
		gen_sync(&self->gen, 1);
		record(&stream, 0, CODE, 1000);
		record(&stream, 2, CODE, 1020);
		if (code)
			indirect(&self->gen, 0, 6, PLAIN + 4);
		stop(&self->gen, 0, 0);
		begin(&self->gen, 1, PLAIN + 4);
		gen_stream_init(&other, &self->gen, 1, 6, 0, 1, 64);
		gen_header(&other);
		record(&other, 2, PLAIN + 4, 1100);
		indirect(&self->gen, 1, 2, CODE + 4);
		stop(&self->gen, 1, 0);
		end(self);
		run(self, "decode --format instructions " READ);
		EXPECT_TRUE(IN_ORDER(self->out, "manual main: cycles 20", "[0]  trace stops",
				     "[1]  trace starts", "manual plain+0x4")) {
			TH_LOG("%s", self->out);
		}
		run(self, "report --by interval " READ);
		EXPECT_NE(NULL, strstr(self->out, "manual main -> manual plain+0x4  [moved")) {
			TH_LOG("%s", self->out);
		}
	}
}

/*
 * There are more pairs of functions than rows, so the remaining pairs share one row without a
 * function.
 */
TEST_F(command, filter_applies_to_the_row_of_other_intervals)
{
	struct gen_stream stream;
	uint64_t i, value = 1000;

	start(self, &stream);
	for (i = 0; i < 2 * 70 * 70; i++)
		record(&stream, 2, ELSEWHERE + 16 * (i % 2 ? i / 2 % 70 : i / 140), value += 7);
	stop(&self->gen, 0, 2);
	end(self);
	run(self, "report --by interval --filter main " READ);
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->err, "no interval matches --filter"));
	EXPECT_EQ(NULL, strstr(self->out, "(others)"));
	run(self, "report --by interval --filter '(others)' " READ);
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "  (others)  [")) {
		TH_LOG("%s%s", self->out, self->err);
	}
	EXPECT_EQ(NULL, strstr(self->out, " -> "));
}

/* Code generated at run time calls two functions, one of them twice. */
TEST_F(command, calls_from_code_without_a_file_are_nested_in_open_ones)
{
	static const char user[] = "{\"version\":1,\"instruction\":{\"calls\":\"user\"}}";

	gen_free(&self->gen);
	gen_init(&self->gen, 1, 40);
	gen_sync(&self->gen, 0);
	begin(&self->gen, 0, TURN);
	indirect(&self->gen, 0, 4, ELSEWHERE);
	indirect(&self->gen, 0, 8, LEAF);
	indirect(&self->gen, 0, 2, ELSEWHERE + 16);
	indirect(&self->gen, 0, 8, LEAF);
	indirect(&self->gen, 0, 2, ELSEWHERE + 32);
	indirect(&self->gen, 0, 8, PLAIN);
	indirect(&self->gen, 0, 4, PLAIN + 4);
	indirect(&self->gen, 0, 2, ELSEWHERE + 48);
	indirect(&self->gen, 0, 8, TURN + 4);
	stop(&self->gen, 0, 0);
	save(self, "t");
	write_file("t.meta", user, strlen(user));
	run(self, "export --format folded --weight calls " READ);
	EXPECT_STREQ("thread 71;turn 1\nthread 71;turn;leaf 2\nthread 71;turn;plain 1\n"
		     "thread 71;turn;plain;leaf 1\n", self->out);
}

TEST_F(command, intervals_need_both_kinds_of_trace)
{
	sample_trace(&self->gen, 0, 0);
	save(self, "t");
	run(self, "report --by interval -s 0 -e " PROGRAM " t");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "no instruction trace"));
	gen_free(&self->gen);
	gen_init(&self->gen, 1, 40);
	gen_sync(&self->gen, 0);
	begin(&self->gen, 0, CODE);
	stop(&self->gen, 0, 2);
	end(self);
	run(self, "report --by interval " READ);
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "record with --calls --children"));
	run(self, "report --by interval --sort calls " READ);
	EXPECT_EQ(2, self->status);
	run(self, "report --by interval --calls records " READ);
	EXPECT_EQ(2, self->status);
}

TEST_HARNESS_MAIN
