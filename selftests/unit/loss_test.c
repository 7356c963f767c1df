// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests what commands report about losses, and that losses do not affect other results.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "browser.h"

#define OUTSIDE	0x3f00000000ull
#define CHUNK	(256 << 10)

static const uint64_t in_main[] = { MAIN, OUTSIDE };
static const uint64_t in_fib[] = { FIB, MAIN + 0x12 };
static const uint64_t in_lengthy[] = { LENGTHY, FIB + 0x10 };

/* Begin a stream with one counter, which record() advances by 10 from record to record. */
static void begin(FIXTURE_DATA(command) *self, struct gen_stream *stream,
		  uint8_t count_type)
{
	gen_sync(&self->gen, 0);
	gen_stream_init(stream, &self->gen, 0, 6, count_type, 1, 64);
	gen_header(stream);
}

static void record(struct gen_stream *stream, unsigned int type,
		   const uint64_t *address)
{
	uint64_t value = stream->counter[0].previous + 10;

	gen_record(stream, type, address, &value);
}

/* Write bytes that are not a message; the next word completes the record before them. */
static void gap(FIXTURE_DATA(command) *self)
{
	gen_store(&self->gen, 0, 6, 1, 0xff);
	gen_bytes(&self->gen, "\x02\x03", 2);
}

/* main calls fib before the gap, lengthy after it, and fib again once times are known. */
static void calls_across_a_gap(FIXTURE_DATA(command) *self)
{
	static const uint64_t other[] = { LENGTHY, MAIN + 0x14 };
	struct gen_stream stream;

	begin(self, &stream, 0);
	record(&stream, 0, in_main);
	record(&stream, 0, in_fib);
	record(&stream, 1, in_fib);
	gap(self);
	self->gen.now += 1000;
	record(&stream, 0, other);
	record(&stream, 1, other);
	gen_sync(&self->gen, 0);
	record(&stream, 0, in_fib);
	record(&stream, 1, in_fib);
	record(&stream, 1, in_main);
	save(self, "trace.rtd");
}

/* After a gap, times are marked as inferred until the next absolute timestamp. */
TEST_F(command, times_after_a_gap_are_inferred)
{
	calls_across_a_gap(self);
	run(self, "report -e " PROGRAM " trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ(
		"\n"
		"                 time                                cycles\n"
		"     calls      total       self  self%     total      self  function\n"
		"         1       1031        ~14 ~53.85       ~60       ~30  main\n"
		"         2          8          8  30.77        20        20  fib\n"
		"         1         ~4         ~4 ~15.38        10        10  "
		"warehouse::department::shelf<perishable>::inventory::supervisor::"
		"recalculate<12345>\n", self->out);
	EXPECT_NE(NULL, strstr(self->err, "1 of 4 calls have a time that is inferred"));
	run(self, "report --format csv -e " PROGRAM " trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "recalculate<12345>\",1,4,4,10,10,inferred,exact\n"));
	run(self, "graph -e " PROGRAM " trace.rtd | cut -c -50");
	EXPECT_STREQ(
		"      total        self     calls  function\n"
		"       1031         ~14         1  main\n"
		"          8           8         2    fib\n"
		"         ~4          ~4         1    warehouse::de\n", self->out);
	EXPECT_NE(NULL, strstr(self->err, "1 of 4 calls have a time that is inferred"));
	run(self, "replay -e " PROGRAM " trace.rtd | cut -c -61");
	EXPECT_STREQ(
		"#        ticks    duration  thread                function\n"
		"          1007              source 0              main() {\n"
		"          1012           4  source 0                fib()\n"
		"         ~2021          ~4  source 0                warehouse\n"
		"          2030           4  source 0                fib()\n"
		"          2038        1031  source 0              } main\n",
		self->out);
	EXPECT_NE(NULL, strstr(self->err, "1 of 4 calls have a time that is inferred"));
}

TEST_F(command, exports_mark_times_after_a_gap)
{
	calls_across_a_gap(self);
	run(self, "export --format ctf -o made trace.rtd");
	EXPECT_EQ(0, self->status);
	run(self, "export --format chrome -e " PROGRAM " -o t.json trace.rtd");
	EXPECT_NE(NULL, strstr(self->err, "1 of 4 calls have a time that is inferred"));
	run(self, "export --format html -e " PROGRAM " -o t.html trace.rtd");
	EXPECT_NE(NULL, strstr(self->err, "1 of 4 calls have a time that is inferred"));
	python(_metadata,
	       "import json\n"
	       "events = json.load(open('t.json'))['traceEvents']\n"
	       "begun = [(e['ts'], 'time' in e.get('args', {})) for e in events if e['ph'] == 'B']\n"
	       "assert begun == [(1007, False), (1012, False), (2021, True), (2030, False)], begun\n"
	       "assert sum('time' in e['args'] for e in events if e['ph'] == 'E') == 1\n"
	       "rates = [e['ts'] for e in events if e['ph'] == 'C']\n"
	       "assert 2030 in rates, rates\n"
	       "from page_calls import load\n"
	       "data = load('t.html')\n"
	       "calls = [(c['begin'], c['length'], c['inferred']) for c in data['calls']]\n"
	       "assert calls == [(0, 1031, 0), (5, 4, 0), (1014, 4, 1), (1023, 4, 0)], calls\n"
	       "assert len(data['losses']) == 1 and data['losses'][0][1] == 1014, data['losses']\n");
}

/* The end of a call that is open at the gap has an inferred time. */
TEST_F(command, call_across_a_gap_has_an_inferred_end)
{
	struct gen_stream stream;

	begin(self, &stream, 0);
	record(&stream, 0, in_main);
	gap(self);
	record(&stream, 0, in_fib);
	record(&stream, 1, in_fib);
	record(&stream, 1, in_main);
	save(self, "trace.rtd");
	run(self, "replay -e " PROGRAM " trace.rtd | cut -c -61");
	EXPECT_NE(NULL, strstr(self->err, "2 of 2 calls have a time that is inferred"));
	EXPECT_NE(NULL, strstr(self->out, "         ~1021         ~14  source 0"
			       "              } main\n")) {
		TH_LOG("%s", self->out);
	}
	run(self, "decode -e " PROGRAM " trace.rtd | grep -c ' ~10'");
	EXPECT_STREQ("3\n", self->out);
	run(self, "decode --format csv trace.rtd | cut -d , -f 12-");
	EXPECT_STREQ("time,thread,note\nexact,,\ninferred,,records may be missing before it\n"
		     "inferred,,\ninferred,,\n", self->out);
	run(self, "decode --format json trace.rtd | grep -c '\"time\":\"inferred\"'");
	EXPECT_STREQ("3\n", self->out);
}

/* With DeltaXOR, the called function is unknown until the next header. */
TEST_F(command, records_without_address_are_reported)
{
	static const char * const commands[] = {
		"report", "graph", "replay", "export --format chrome",
		"export --format folded", "export --format svg -o t.svg",
		"export --format html -o t.html", "export --format ctf -o made",
	};
	struct gen_stream stream;
	unsigned int i;

	begin(self, &stream, 2);
	record(&stream, 0, in_main);
	record(&stream, 0, in_fib);
	gen_store(&self->gen, 0, 6, 1, 0xff);
	gen_error(&self->gen, 0);
	gen_sync(&self->gen, 0);
	self->gen.now += 1000;
	for (i = 0; i < 3; i++)
		record(&stream, 1 - i % 2, in_fib);
	gen_header(&stream);
	record(&stream, 0, in_fib);
	record(&stream, 1, in_fib);
	save(self, "trace.rtd");
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		run(self, "%s trace.rtd", commands[i]);
		EXPECT_EQ(0, self->status);
		EXPECT_NE(NULL, strstr(self->err, "3 records without a known address")) {
			TH_LOG("%s: %s", commands[i], self->err);
		}
	}
	run(self, "replay -e " PROGRAM " trace.rtd | cut -c 16-");
	EXPECT_STREQ(
		"   duration  thread                function\n"
		"             source 0              main() {\n"
		"         ~0  source 0                fib()  (had not ended)\n"
		"         ~5  source 0              } main  (had not ended)\n"
		"          4  source 0              fib()\n", self->out);
	/* The calls that are open at the loss may have lasted longer. */
	run(self, "report -q --sort name --format csv -e " PROGRAM " trace.rtd | cut -d , -f 1-3,7");
	EXPECT_STREQ("function,calls,total,times\n\"fib\",2,4,inferred\n"
		     "\"main\",1,5,inferred\n", self->out);
	run(self, "graph -q -e " PROGRAM " trace.rtd | grep main");
	EXPECT_NE(NULL, strstr(self->out, "         ~5 ")) {
		TH_LOG("%s", self->out);
	}
}

/* Only main() is known not to have been called a second time during a loss. */
TEST_F(command, first_call_across_a_loss_may_be_two_calls)
{
	static const uint64_t * const first[] = { in_main, in_fib, in_fib };
	struct gen_stream stream;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		gen_free(&self->gen);
		gen_init(&self->gen, 0, 40);
		begin(self, &stream, 0);
		record(&stream, 0, first[i]);
		gen_store(&self->gen, 0, 6, 1, 0xff);
		gen_error(&self->gen, 0);
		self->gen.now += 5000;
		gen_sync(&self->gen, 0);
		record(&stream, 2, first[i]);
		/* The last call has no exit record, and cannot be confused with a second call. */
		if (i < 2)
			record(&stream, 1, first[i]);
		save(self, "trace.rtd");
		run(self, "export -q --format csv -e " PROGRAM " trace.rtd |"
		    " grep ,call, | cut -d , -f 23");
		/* The column duration_inferred. */
		EXPECT_STREQ(i == 1 ? "1\n" : "0\n", self->out);
	}
}

/* Records between two counts are lost, so the counts do not belong to any function. */
TEST_F(command, counts_after_a_loss_belong_to_no_function)
{
	unsigned int count_type;

	for (count_type = 0; count_type < 2; count_type++) {
		struct gen_stream stream;
		size_t length;

		self->gen.length = 0;
		begin(self, &stream, (uint8_t)count_type);
		record(&stream, 0, in_main);
		gap(self);
		length = self->gen.length;
		record(&stream, 0, in_fib);
		self->gen.length = length;
		stream.counter[0].previous -= 1000;
		record(&stream, 1, in_fib);
		record(&stream, 1, in_main);
		save(self, "trace.rtd");
		run(self, "report --format csv -e " PROGRAM " trace.rtd");
		EXPECT_NE(NULL, strstr(self->out, "\"main\",1,") && strstr(self->out, ",10,10,inferred,partial\n")) {
			TH_LOG("%s", self->out);
		}
		EXPECT_NE(NULL, strstr(self->err, "counts of 1 record belong to no function"));
		EXPECT_NE(NULL, strstr(self->err, "1 exit record of calls that began"));
	}
}

/* Write the output of record -i for an instrumented program. */
static void calls_and_samples(struct __test_metadata *_metadata, FIXTURE_DATA(command) *self,
			      const char *browser)
{
	struct gen_stream stream;
	unsigned int i;

	begin(self, &stream, 0);
	record(&stream, 0, in_main);
	for (i = 0; i < 3; i++) {
		record(&stream, 0, in_fib);
		record(&stream, 3, in_fib);
		record(&stream, 3, in_fib);
		record(&stream, 1, in_fib);
	}
	record(&stream, 1, in_main);
	record(&stream, 3, in_lengthy);
	save(self, "trace.rtd");
	run(self, "graph -q -e " PROGRAM " trace.rtd | cut -c -61");
	EXPECT_STREQ(
		"      total        self     calls   samples  function\n"
		"         47          17         1         6  main\n"
		"         30          30         3         6    fib\n"
		"          0           0         0         1  warehouse::depar\n",
		self->out);
	run(self, "export -q --format html -e " PROGRAM " -o t.html trace.rtd");
	python(_metadata,
	       "from page_calls import load\n"
	       "data = load('t.html')\n"
	       "assert len(data['points']) == 7 and len(data['calls']) == 4, data\n"
	       "name = lambda n: data['functions'][n[1]] if n[1] >= 0 else ''\n"
	       "tree = {name(n): n[2:4] for n in data['tree']}\n"
	       "assert tree['main'] == [1, 0] and tree['fib'] == [3, 6], tree\n");
	browse(_metadata, self, browser, "--samples t.html");
}

TEST_F(command, calls_and_samples_are_separate)
{
	calls_and_samples(_metadata, self, CHROMIUM);
}

TEST_F(command, calls_and_samples_are_separate_in_firefox)
{
	calls_and_samples(_metadata, self, FIREFOX);
}

/* Write calls to two nested functions that longjmp() leaves repeatedly, without exit records. */
static void jumps(FIXTURE_DATA(command) *self, unsigned int times)
{
	struct gen_stream stream;
	unsigned int i;

	begin(self, &stream, 1);
	record(&stream, 0, in_main);
	for (i = 0; i < times; i++) {
		record(&stream, 0, in_fib);
		record(&stream, 0, in_lengthy);
	}
	record(&stream, 1, in_main);
	save(self, "trace.rtd");
}

TEST_F(command, call_from_an_outer_function_ends_abandoned_calls)
{
	jumps(self, 3);
	run(self, "graph -q -e " PROGRAM " trace.rtd | cut -c -50");
	EXPECT_STREQ(
		"      total        self     calls  function\n"
		"         29           5         1  main\n"
		"         24          12         3    fib\n"
		"         12          12         3      warehouse::\n", self->out);
	run(self, "report -e " PROGRAM " trace.rtd");
	EXPECT_NE(NULL, strstr(self->err, "6 calls ended without an exit record"));
}

TEST_F(command, abandoned_calls_do_not_accumulate)
{
	jumps(self, 70000);
	run(self, "report -e " PROGRAM " trace.rtd");
	EXPECT_EQ(NULL, strstr(self->err, "too deep"));
	EXPECT_NE(NULL, strstr(self->out, "     70000 "));
	/*
	 * Without names, abandoned calls cannot be recognised, so deep calls are reported as
	 * omitted.
	 */
	run(self, "graph --strict --depth 1 trace.rtd");
	EXPECT_NE(NULL, strstr(self->err, "calls nested too deeply: left out"));
	EXPECT_EQ(1, self->status);
	/* The innermost call that is kept includes the time of the omitted calls. */
	run(self, "export -q --format csv trace.rtd | cut -d, -f24 | sort -u");
	EXPECT_STREQ("\n1\nself_inferred\n", self->out);
}

/* The compiler has inlined fib into main, so fib has the call site of main. */
TEST_F(command, function_inlined_into_its_caller_stays_open)
{
	static const uint64_t inlined[] = { FIB, OUTSIDE };
	static const uint64_t called[] = { LENGTHY, MAIN + 0x12 };
	struct gen_stream stream;

	begin(self, &stream, 1);
	record(&stream, 0, in_main);
	record(&stream, 0, inlined);
	record(&stream, 0, called);
	record(&stream, 1, called);
	record(&stream, 1, inlined);
	record(&stream, 1, in_main);
	save(self, "trace.rtd");
	run(self, "replay -q -e " PROGRAM " trace.rtd | cut -c 39-59");
	EXPECT_STREQ(
		"            function\n"
		"            main() {\n"
		"              fib() {\n"
		"                wareh\n"
		"              } fib\n"
		"            } main\n", self->out);
}

/* The compiler has inlined lengthy into fib, so both have a call site in main. */
TEST_F(command, function_inlined_into_a_callee_stays_open)
{
	static const uint64_t inlined[] = { LENGTHY, MAIN + 0x12 };
	static const uint64_t deeper[] = { LENGTHY, FIB + 8 };
	struct gen_stream stream;

	begin(self, &stream, 1);
	record(&stream, 0, in_main);
	record(&stream, 0, in_fib);
	record(&stream, 0, inlined);
	record(&stream, 1, inlined);
	/* A call without an exit record, because lengthy catches its exception. */
	record(&stream, 0, deeper);
	record(&stream, 0, inlined);
	record(&stream, 1, inlined);
	record(&stream, 1, in_fib);
	record(&stream, 1, in_main);
	save(self, "trace.rtd");
	run(self, "graph -q -e " PROGRAM " trace.rtd | cut -c 25-56");
	EXPECT_STREQ(
		"    calls  function\n"
		"        1  main\n"
		"        1    fib\n"
		"        3      warehouse::depart\n", self->out);
	run(self, "report -e " PROGRAM " trace.rtd");
	EXPECT_NE(NULL, strstr(self->err, "1 call ended without an exit record"));
}

/* Return the command's CPU time if @around open calls surround the calls to be searched. */
static double time_of_calls(struct __test_metadata *_metadata,
			    FIXTURE_DATA(command) *self, unsigned int around)
{
	static const uint64_t called[] = { LENGTHY, FIB + 8 };
	struct rusage before, after;
	struct gen_stream stream;
	unsigned int i;

	gen_free(&self->gen);
	gen_init(&self->gen, 0, 40);
	begin(self, &stream, 1);
	for (i = 0; i < around; i++)
		record(&stream, 0, in_fib);
	for (i = 0; i < 200000; i++) {
		record(&stream, 0, in_lengthy);
		record(&stream, 0, called);
	}
	save(self, "trace.rtd");
	getrusage(RUSAGE_CHILDREN, &before);
	run(self, "report -q -e " PROGRAM " trace.rtd");
	getrusage(RUSAGE_CHILDREN, &after);
	EXPECT_EQ(0, self->status);
	return (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
	       1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec);
}

/*
 * A search for abandoned calls must not take longer if more calls surround them. Measure CPU time,
 * which other load does not affect.
 */
TEST_F(command, search_for_abandoned_calls_takes_constant_time)
{
	double few = time_of_calls(_metadata, self, 500);
	double many = time_of_calls(_metadata, self, 50000);

	TH_LOG("%.2f s with 500 surrounding calls, %.2f s with 50000", few, many);
	EXPECT_GT(10 * few, many);
}

/* Put a megabyte of foreign or damaged bytes in front of the records. */
TEST_F(command, records_after_foreign_bytes_are_found)
{
	static const char bytes[] = { '\0', '\xff', '\x02' };
	static char front[5 * CHUNK - 1000];
	struct gen_stream stream;
	unsigned int i;

	for (i = 0; i < sizeof(bytes); i++) {
		gen_free(&self->gen);
		gen_init(&self->gen, 3, 40);
		memset(front, bytes[i], sizeof(front));
		gen_bytes(&self->gen, front, sizeof(front));
		begin(self, &stream, 0);
		stream.src = 5;
		gen_sync(&self->gen, 5);
		gen_header(&stream);
		record(&stream, 0, in_main);
		record(&stream, 1, in_main);
		save(self, "trace.rtd");
		run(self, "report --format csv -e " PROGRAM " trace.rtd");
		EXPECT_EQ(0, self->status);
		EXPECT_NE(NULL, strstr(self->err, "srcbits 3 inferred"));
		EXPECT_NE(NULL, strstr(self->out, "\"main\",1,"));
		EXPECT_EQ(0, system("cat trace.rtd | " COMMAND " report --format csv -e "
				    PROGRAM " - >piped.txt 2>piped.err"));
		read_file("piped.txt", self->err);
		EXPECT_STREQ(self->out, self->err);
		/* Offsets must be the same whether a file or a pipe is read. */
		run(self, "decode trace.rtd | grep '^# header'");
		EXPECT_NE('\0', self->out[0]);
		EXPECT_EQ(0, system("cat trace.rtd | " COMMAND " decode - 2>piped.err |"
				    " grep '^# header' >piped.txt"));
		read_file("piped.txt", self->err);
		EXPECT_STREQ(self->out, self->err);
	}
}

/* Messages that are valid at any width; the header is in the next chunk. */
TEST_F(command, records_after_ambiguous_messages_are_found)
{
	static char front[CHUNK - 60];
	struct gen_stream stream;

	gen_free(&self->gen);
	gen_init(&self->gen, 3, 40);
	gen_bytes(&self->gen, front, sizeof(front));
	while (self->gen.length < CHUNK)
		gen_sync(&self->gen, 5);
	begin(self, &stream, 0);
	stream.src = 5;
	gen_header(&stream);
	record(&stream, 0, in_main);
	record(&stream, 1, in_main);
	save(self, "trace.rtd");
	run(self, "report -e " PROGRAM " trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->err, "srcbits 3 inferred"));
}

/* A thread migrates to a hart whose clock is behind, so the time in between is unknown. */
TEST_F(command, contradictory_clocks_make_times_unknown)
{
	static const char meta[] =
		"{ \"srcbits\": 1, \"threads\": [ { \"channel\": 6, \"pid\": 5,"
		" \"tid\": 7, \"name\": \"x\" } ] }";
	struct gen_stream stream;
	unsigned int i;

	gen_free(&self->gen);
	gen_init(&self->gen, 1, 40);
	self->gen.now = 1000000;
	begin(self, &stream, 1);
	record(&stream, 0, in_main);
	record(&stream, 1, in_main);
	gen_idle(&self->gen, 4000);
	self->gen.now = 10;
	gen_sync(&self->gen, 1);
	stream.src = 1;
	gen_header(&stream);
	for (i = 0; i < 4; i++)
		record(&stream, i % 2, in_fib);
	save(self, "trace.rtd");
	write_file("trace.rtd.meta", meta, strlen(meta));
	run(self, "report --format csv -e " PROGRAM " trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "\"fib\",2,,,")) {
		TH_LOG("%s", self->out);
	}
	EXPECT_NE(NULL, strstr(self->err, "2 of 3 calls have no time: they are before their"
			       " source's first absolute timestamp, or its clock lags behind"
			       " another's or went back when it was corrected\n"));
	run(self, "export -q --format html -e " PROGRAM " -o t.html trace.rtd");
	python(_metadata,
	       "from page_calls import load\n"
	       "calls = load('t.html')['calls']\n"
	       "assert [(c['begin'], c['length']) for c in calls] == [(0, 5)], calls\n");
}

/* The program's threads took other channels after the program wrote the side-car file. */
TEST_F(command, early_side_car_file_hides_no_later_thread)
{
	static const char *const meta[] = {
		"{\"channel\":6,\"threads\":[{\"channel\":6,\"tid\":7}]}",
		"{\"channel\":6,\"threads\":[{\"channel\":6,\"tid\":7}],\"early\":true}",
	};
	static const char *const rows[] = { "\"fib\",1,", "\"fib\",2," };
	struct gen_stream stream;
	unsigned int i;

	gen_free(&self->gen);
	gen_init(&self->gen, 1, 40);
	begin(self, &stream, 0);
	record(&stream, 0, in_fib);
	record(&stream, 1, in_fib);
	gen_stream_init(&stream, &self->gen, 0, 7, 0, 0, 64);
	gen_header(&stream);
	record(&stream, 0, in_fib);
	record(&stream, 1, in_fib);
	save(self, "trace.rtd");
	for (i = 0; i < 2; i++) {
		write_file("trace.rtd.meta", meta[i], strlen(meta[i]));
		run(self, "report -s 1 --format csv -e " PROGRAM " trace.rtd");
		EXPECT_NE(NULL, strstr(self->out, rows[i])) {
			TH_LOG("%s", self->out);
		}
		EXPECT_EQ(!i, !!strstr(self->err, "not decoded: channels 7"));
	}
}

/* Begin a new trace of a thread that moves between two harts. */
static void begin_moves(FIXTURE_DATA(command) *self)
{
	static const char meta[] = "{\"srcbits\":1,\"per_thread\":true,\"shared\":64,"
		"\"threads\":[{\"channel\":6,\"tid\":7,\"named\":true}]}";

	write_file("trace.rtd.meta", meta, strlen(meta));
	gen_free(&self->gen);
	gen_init(&self->gen, 1, 40);
	gen_sync(&self->gen, 0);
	gen_sync(&self->gen, 1);
}

static void end_moves(FIXTURE_DATA(command) *self)
{
	gen_sync(&self->gen, 0);
	gen_sync(&self->gen, 1);
	save(self, "trace.rtd");
}

/* Begin the thread's stream on hart @src, with headers that name the thread. */
static void named_stream(struct gen_stream *stream, struct gen *gen, uint8_t src,
			 uint8_t count_type)
{
	gen_stream_init(stream, gen, src, 6, count_type, 1, 64);
	stream->owner = 7;
}

/*
 * After a source has lost messages, its thread continues on another hart, or with a header that
 * names the thread. The function that ran in between is unknown.
 */
TEST_F(command, gap_before_a_header_is_charged_to_no_function)
{
	const uint64_t outer[2] = { 0x30000, 0x100 }, inner[2] = { 0x31000, 0x30010 };
	struct gen_stream before, behind;
	unsigned int i;
	uint64_t value;

	for (i = 0; i < 4; i++) {
		begin_moves(self);
		named_stream(&before, &self->gen, 0, 0);
		gen_header(&before);
		value = 0;
		gen_record(&before, 0, outer, &value);
		value += 5;
		gen_record(&before, 0, inner, &value);
		gen_store(&self->gen, 0, 6, 1, 0xff);
		if (i & 2)
			gen_error(&self->gen, 0);
		gen_sync(&self->gen, 0);
		self->gen.now += 10000;
		value += 1000;
		named_stream(&behind, &self->gen, i & 1, 0);
		behind.goes_on = true;
		gen_header(&behind);
		gen_record(&behind, 1, inner, &value);
		value += 5;
		gen_record(&behind, 1, outer, &value);
		end_moves(self);
		run(self, "report -q --sort name --format csv trace.rtd | cut -d , -f 1,6");
		EXPECT_STREQ(i & 2 ? "function,cycles:self\n\"0x30000\",10\n\"0x31000\",0\n" :
			     "function,cycles:self\n\"0x30000\",10\n\"0x31000\",1000\n",
			     self->out);
		run(self, "report -q --sort name --format csv trace.rtd | grep 31000 | cut -d , -f 4");
		EXPECT_EQ(!(i & 2), atoi(self->out) > 10000);
	}
}

/*
 * Records lost on hart 1 may belong to a thread that was on hart 0 before and after the loss,
 * unless threads cannot migrate.
 */
TEST_F(command, loss_on_another_hart_may_belong_to_a_migrated_thread)
{
	static const char * const meta[] = {
		"{\"srcbits\":1,\"per_thread\":true,\"threads\":[{\"channel\":6,\"tid\":7}]}",
		"{\"srcbits\":1}",
	};
	const uint64_t outer[2] = { 0x30000, 0x100 }, inner[2] = { 0x31000, 0x30010 };
	struct gen_stream stream;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		begin_moves(self);
		write_file("trace.rtd.meta", meta[i % 2], strlen(meta[i % 2]));
		gen_stream_init(&stream, &self->gen, 0, 6, 0, 1, 64);
		gen_header(&stream);
		record(&stream, 0, outer);
		record(&stream, 0, inner);
		if (i < 2)
			gen_error(&self->gen, 1);
		record(&stream, 1, inner);
		record(&stream, 1, outer);
		end_moves(self);
		run(self, "report -q --sort name --format csv trace.rtd | cut -d , -f 1,6,7");
		EXPECT_STREQ(i ? "function,cycles:self,times\n\"0x30000\",20,exact\n"
			     "\"0x31000\",10,exact\n" :
			     "function,cycles:self,times\n\"0x30000\",20,inferred\n"
			     "\"0x31000\",10,inferred\n", self->out);
	}
}

/* The record of a thread's exit waits for its last word when a loss occurs on the old hart. */
TEST_F(command, record_dropped_by_a_later_loss_was_lost_before_migration)
{
	static const char meta[] =
		"{\"srcbits\":1,\"per_thread\":true,\"threads\":[{\"channel\":6,\"tid\":7}]}";
	const uint64_t outer[2] = { 0x30000, 0x100 }, inner[2] = { 0x31000, 0x30010 };
	struct gen_stream first, second;
	uint64_t value = 100;
	int lost;

	for (lost = 0; lost < 2; lost++) {
		begin_moves(self);
		write_file("trace.rtd.meta", meta, strlen(meta));
		gen_stream_init(&first, &self->gen, 1, 6, 0, 1, 64);
		gen_stream_init(&second, &self->gen, 0, 6, 0, 1, 64);
		gen_header(&first);
		gen_record(&first, 0, outer, &value);
		gen_record(&first, 0, inner, &value);
		gen_record(&first, 1, inner, &value);
		gen_header(&second);
		self->gen.now += 1000;
		gen_record(&second, 1, outer, &value);
		gen_record(&second, 0, outer, &value);
		if (lost)
			gen_error(&self->gen, 1);
		gen_record(&second, 2, outer, &value);
		end_moves(self);
		run(self, "report -q --sort name --format csv trace.rtd | grep 31000 | sed 's/,[a-z]*$//; s/.*,//'");
		EXPECT_STREQ(lost ? "inferred\n" : "exact\n", self->out);
	}
}

/* The base of a header after a loss is unknown, even after the thread has moved back. */
TEST_F(command, counts_of_two_streams_are_not_compared_across_a_loss)
{
	const uint64_t outer[2] = { 0x30000, 0x100 }, inner[2] = { 0x31000, 0x30010 };
	struct gen_stream first, second;
	uint64_t value = 0;
	int lost;

	for (lost = 0; lost < 2; lost++) {
		begin_moves(self);
		named_stream(&first, &self->gen, 0, 1);
		named_stream(&second, &self->gen, 1, 1);
		gen_header(&first);
		value = 100;
		gen_record(&first, 0, outer, &value);
		second.goes_on = true;
		second.counter[0].previous = value;
		gen_header(&second);
		value += 10;
		gen_record(&second, 0, inner, &value);
		value += 10;
		gen_record(&second, 1, inner, &value);
		value += 10;
		gen_record(&second, 0, inner, &value);
		if (lost)
			gen_error(&self->gen, 1);
		value += 10;
		gen_record(&second, 1, inner, &value);
		/* The header is the same as after an abandoned record. */
		gen_store(&self->gen, 1, 6, 1, 0xff);
		gen_header(&second);
		value += 10;
		gen_record(&second, 0, inner, &value);
		/* The thread moves back to the first hart, where it does not need a header. */
		value += 10;
		gen_record(&first, 1, outer, &value);
		end_moves(self);
		run(self, "report -q --sort name --format csv trace.rtd | cut -d , -f 1,6");
		EXPECT_STREQ(lost ? "function,cycles:self\n\"0x30000\",10\n\"0x31000\",10\n" :
			     "function,cycles:self\n\"0x30000\",30\n\"0x31000\",30\n",
			     self->out);
	}
}

/*
 * A thread writes a header, waits for room, and continues on another hart. Counts in the stream
 * that the thread left begin at that header, although later counts were recorded on the other hart.
 */
TEST_F(command, header_without_a_record_is_not_a_base_for_counts)
{
	const uint64_t outer[2] = { 0x30000, 0x100 }, inner[2] = { 0x31000, 0x30010 };
	struct gen_stream first, second;
	uint64_t value = 0;

	begin_moves(self);
	named_stream(&first, &self->gen, 0, 1);
	named_stream(&second, &self->gen, 1, 1);
	gen_header(&second);
	gen_record(&second, 0, outer, &value);
	first.goes_on = true;
	gen_header(&first);
	value = 100;
	gen_record(&second, 0, inner, &value);
	value = 120;
	gen_record(&first, 1, inner, &value);
	value = 125;
	gen_record(&first, 1, outer, &value);
	end_moves(self);
	run(self, "report --sort name --format csv trace.rtd | cut -d , -f 1,6");
	EXPECT_STREQ("function,cycles:self\n\"0x30000\",105\n\"0x31000\",0\n", self->out);
	EXPECT_NE(NULL, strstr(self->err, "counts of 1 record belong to no function"));
}

/* The recording was killed after it had created the side-car file. */
TEST_F(command, empty_side_car_file_hides_no_record)
{
	sample_trace(&self->gen, 0, 1);
	save(self, "trace.rtd");
	write_file("trace.rtd.meta", "", 0);
	run(self, "report trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->err, "trace.rtd.meta: empty, as after a killed recording"));
	run(self, "report --meta trace.rtd.meta trace.rtd");
	EXPECT_EQ(3, self->status);
}

TEST_HARNESS_MAIN
