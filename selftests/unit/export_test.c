// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests that the totals in exported files equal those of report. */
#include <stdlib.h>
#include <string.h>

#include "browser.h"
#include "effort.h"
#include "gen_program.h"

#define STEPS	4000

/* Parameters of a simulated run and its recording; see struct program. */
struct run {
	const char	*name;
	unsigned int	threads;
	unsigned int	moves;
	unsigned int	throws;
	unsigned int	restarts;
	unsigned int	errors;
	unsigned int	losses;
};

static const struct run runs[] = {
	{ "plain", 2 },
	{ "moving", 4, .moves = 50 },
	{ "throwing", 4, .moves = 100, .throws = 20, .restarts = 10 },
	{ "losing", 3, .errors = 3, .losses = 15 },
};

#define RUNS	(sizeof(runs) / sizeof(runs[0]))

/*
 * Combine each run with the first option and a third of the others; a full test uses all options.
 */
static bool combines(unsigned int run, unsigned int option)
{
	return !option || (run + option) % effort(3, 1) == 0;
}

static void make(const struct run *run, uint64_t seed)
{
	static const char meta[] =
		"{\"srcbits\":2,\"ts_width\":40,\"threads\":["
		"{\"channel\":6,\"pid\":1,\"tid\":1,\"name\":\"one\"},"
		"{\"channel\":7,\"pid\":1,\"tid\":2,\"name\":\"two\"},"
		"{\"channel\":8,\"pid\":1,\"tid\":3,\"name\":\"three\"},"
		"{\"channel\":9,\"pid\":1,\"tid\":4,\"name\":\"four\"}]}";
	static struct program program;
	unsigned int i;

	program_init(&program, seed);
	program.threads = run->threads;
	program.sources = PROGRAM_SOURCES;
	program.functions = 40;
	program.count_type = (unsigned int)seed % 3;
	program.moves = run->moves;
	program.throws = run->throws;
	program.restarts = run->restarts;
	program.errors = run->errors;
	program.losses = run->losses;
	for (i = 0; i < PROGRAM_SOURCES; i++)
		gen_sync(&program.gen, i);
	for (i = 0; i < run->threads; i++)
		program.thread[i].src = i;
	for (i = 0; i < STEPS; i++)
		program_step(&program);
	program_end(&program);
	write_file("trace.rtd", program.gen.data, program.gen.length);
	write_file("trace.rtd.meta", meta, strlen(meta));
	program_free(&program);
}

static bool lacks(FIXTURE_DATA(command) *self)
{
	return strstr(self->err, "is not in this command: it was built without");
}

/* Write report's output for the trace; a script compares the export with it. */
static void put_reports(FIXTURE_DATA(command) *self, const char *options)
{
	run(self, "report -q -c all --format csv %s -o r.csv trace.rtd;"
	    " " COMMAND " report -q -c all --format csv --by thread %s -o t.csv trace.rtd",
	    options, options);
}

static const char * const rates[] = { "", "--ts-hz 1000000000", "--ts-hz 3000000" };

TEST_F_TIMEOUT(command, pprof_totals_equal_report, 600)
{
	unsigned int i, k;

	for (i = 0; i < RUNS; i++) {
		make(&runs[i], i + 1);
		for (k = 0; k < sizeof(rates) / sizeof(rates[0]); k++) {
			if (!combines(i, k))
				continue;
			run(self, "export -q -c all --format pprof %s -o t.pb.gz trace.rtd",
			    rates[k]);
			if (lacks(self))
				SKIP(return, "no libprotobuf-c: install libprotobuf-c-dev");
			EXPECT_EQ(0, self->status);
			put_reports(self, rates[k]);
			run(self, "--version; " SOURCES "/pprof.py t.pb.gz r.csv t.csv");
			EXPECT_EQ(0, self->status) {
				TH_LOG("%s: %s", runs[i].name, self->err);
			}
			EXPECT_LT(1000, atol(strchr(self->out, '\n'))) {
				TH_LOG("%s: %s", runs[i].name, self->out);
			}
		}
	}
}

/* Total and self costs of each function, for each kind of damage. */
TEST_F_TIMEOUT(command, csv_sums_equal_report_totals, 600)
{
	unsigned int i, k;

	for (i = 0; i < RUNS; i++) {
		make(&runs[i], i + 1);
		for (k = 0; k < sizeof(rates) / sizeof(rates[0]); k++) {
			if (!combines(i, k))
				continue;
			run(self, "export -q -c all --format csv %s -o t.csv trace.rtd; "
			    COMMAND " report -q -c all --json %s -o r.json trace.rtd; "
			    SOURCES "/sql.py t.csv r.json", rates[k], rates[k]);
			EXPECT_EQ(0, self->status) {
				TH_LOG("%s: %s", runs[i].name, self->err);
			}
			EXPECT_EQ(&self->out[0], strstr(self->out, "call "));
			EXPECT_LT(1000, atol(self->out + strlen("call ")));
			EXPECT_EQ(runs[i].losses > 0, !!strstr(self->out, "\nlost ")) {
				TH_LOG("%s: %s", runs[i].name, self->out);
			}
			EXPECT_NE(NULL, strstr(self->out, "\ntrace 1\n"));
		}
	}
}

TEST_F_TIMEOUT(command, go_tool_pprof_reads_the_profile, 600)
{
	if (system("go tool pprof -h >/dev/null 2>&1"))
		SKIP(return, "no go tool pprof: install golang-go");
	make(&runs[1], 7);
	run(self, "export -q -c all --format pprof --ts-hz 3000000 -o t.pb.gz trace.rtd");
	if (lacks(self))
		SKIP(return, "no libprotobuf-c: install libprotobuf-c-dev");
	put_reports(self, "--ts-hz 3000000");
	run(self, "--version; " SOURCES "/pprof.py t.pb.gz r.csv t.csv go tool pprof");
	EXPECT_EQ(0, self->status) {
		TH_LOG("%s", self->err);
	}
}

/* Write a call from main to fib, in a file that was loaded at another address. */
static void make_loaded(FIXTURE_DATA(command) *self)
{
	static const char meta[] =
		"{\"srcbits\":0,\"exe\":\"/bin/two\\u001b[5m\",\"ts_hz\":10,"
		"\"threads\":[{\"channel\":6,\"pid\":5,\"tid\":7,\"name\":\"w\xc3\xb6\\n\"}],"
		"\"coverage\":{\"full\":true,\"bytes\":70,\"buffer\":500,\"run_ns\":195000000000},"
		"\"objects\":[{\"path\":\"/none/libother.so\",\"start\":\"0x3000000000\","
		"\"end\":\"0x3000001000\",\"bias\":\"0x3000000000\",\"build_id\":\"abcd\"},"
		"{\"path\":\"/none/decode_sample.elf\",\"start\":\"0x4000020000\","
		"\"end\":\"0x4000022000\",\"bias\":\"0x4000000000\"}]}";
	const uint64_t bias = 0x4000000000;
	const uint64_t outer[] = { bias + MAIN, 0x3000000100 };
	const uint64_t inner[] = { bias + FIB, bias + MAIN + 0x12 };
	const uint64_t far[] = { 0x3000000200, bias + FIB + 0x12 };
	struct gen_stream stream;

	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 1, 0, 64);
	gen_header(&stream);
	gen_record(&stream, 0, outer, NULL);
	gen_record(&stream, 0, inner, NULL);
	gen_record(&stream, 0, far, NULL);
	gen_record(&stream, 1, far, NULL);
	gen_record(&stream, 1, inner, NULL);
	gen_record(&stream, 1, outer, NULL);
	save(self, "trace.rtd");
	write_file("trace.rtd.meta", meta, strlen(meta));
}

TEST_F(command, pprof_contains_files_lines_and_losses)
{
	make_loaded(self);
	run(self, "export -q --format pprof -e " PROGRAM " -o t.pb.gz trace.rtd");
	if (lacks(self))
		SKIP(return, "no libprotobuf-c: install libprotobuf-c-dev");
	run(self, "--version; " SOURCES "/pprof.py t.pb.gz");
	EXPECT_EQ(0, self->status) {
		TH_LOG("%s", self->err);
	}
	EXPECT_NE(NULL, strstr(self->out,
		"mapping 1 /none/libother.so abcd 0x3000000000 0x3000001000\n"
		"mapping 2 /none/decode_sample.elf  0x4000020000 0x4000022000\n"
		"function main sample/fib.c:20 0x4000020000 mapping 2\n"
		"function fib sample/fib.c:12 0x4000021000 mapping 2\n"
		"function libother.so+0x200 :0 0x3000000200 mapping 1\n")) {
		TH_LOG("%s", self->out);
	}
	EXPECT_NE(NULL, strstr(self->out, "'/bin/two?[5m', 'trace covers the first "));
	EXPECT_NE(NULL, strstr(self->out, " of 195.000 s, then the buffer was full"));
	EXPECT_NE(NULL, strstr(self->out, "default time duration "));
	EXPECT_NE(NULL, strstr(self->out,
		"labels {'thread': 'w\xc3\xb6?/7', 'pid': 5, 'tid': 7}\n"));
	/* Without a side-car file, -e specifies the load address. */
	remove("trace.rtd.meta");
	run(self, "export -q --format pprof --weight calls -e " PROGRAM
	    "@0x4000000000 -o t.pb.gz trace.rtd");
	run(self, "--version; " SOURCES "/pprof.py t.pb.gz");
	EXPECT_NE(NULL, strstr(self->out, "mapping 1 " PROGRAM "  0x4000000000 0x0\n"
		"function main sample/fib.c:20 0x4000020000 mapping 1\n")) {
		TH_LOG("%s", self->out);
	}
	EXPECT_NE(NULL, strstr(self->out, "function 0x3000000200 :0 0x3000000200 mapping 0\n"));
	EXPECT_NE(NULL, strstr(self->out, "default calls "));
}

static void expect_label(struct __test_metadata *_metadata, FIXTURE_DATA(command) *self,
			 const char *label, const char *mark)
{
	run(self, "--version; " SOURCES "/pprof.py t.pb.gz");
	EXPECT_NE(NULL, strstr(self->out, label)) {
		TH_LOG("%s", self->out);
	}
	run(self, "report -q -c all --format csv trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, mark));
}

/*
 * As in report, times are marked if they are inferred, or unknown because an absolute time is
 * missing.
 */
TEST_F(command, pprof_marks_inferred_and_unknown_times)
{
	const uint64_t address[] = { FIB, MAIN + 0x12 };
	struct gen_stream stream;
	unsigned int i;

	make(&runs[1], 3);
	run(self, "export -q -c all --format pprof -o t.pb.gz trace.rtd");
	if (lacks(self))
		SKIP(return, "no libprotobuf-c: install libprotobuf-c-dev");
	expect_label(_metadata, self, "'times': 'inferred'", ",inferred");
	remove("trace.rtd.meta");
	gen_free(&self->gen);
	gen_init(&self->gen, 1, 40);
	gen_sync(&self->gen, 0);
	for (i = 0; i < 2; i++) {
		gen_stream_init(&stream, &self->gen, (uint8_t)i, 6, 1, 0, 64);
		gen_header(&stream);
		gen_record(&stream, 0, address, NULL);
		gen_record(&stream, 1, address, NULL);
	}
	save(self, "trace.rtd");
	run(self, "export -q -c all --format pprof -o t.pb.gz trace.rtd");
	expect_label(_metadata, self, "'times': 'partial'", ",partial");
}

/* In a path with more calls than viewers show, only the outermost calls are omitted. */
TEST_F(command, pprof_limits_deep_recursion)
{
	const uint64_t address[] = { FIB, MAIN + 0x12 };
	struct gen_stream stream;
	uint64_t value = 0;
	unsigned int i;

	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 1, 1, 64);
	gen_header(&stream);
	for (i = 0; i < 6000; i++) {
		value += 3;
		gen_record(&stream, i >= 3000, address, &value);
	}
	save(self, "trace.rtd");
	run(self, "export --format pprof -o t.pb.gz trace.rtd");
	if (lacks(self))
		SKIP(return, "no libprotobuf-c: install libprotobuf-c-dev");
	EXPECT_NE(NULL, strstr(self->err, "paths of more than 1024 calls: their outermost calls are left out"));
	put_reports(self, "");
	run(self, "--version; " SOURCES "/pprof.py t.pb.gz r.csv t.csv &&"
	    " " SOURCES "/pprof.py t.pb.gz");
	EXPECT_EQ(0, self->status) {
		TH_LOG("%s", self->err);
	}
	EXPECT_NE(NULL, strstr(self->out, "longest 1024\n"));
}

TEST_F_TIMEOUT(command, perfetto_totals_equal_report, 600)
{
	static const char * const exact[] = { "", "--ts-hz 1000000000" };
	unsigned int i, k;

	/* Omit the last run: it contains calls without a time, which have no slice. */
	for (i = 0; i + 1 < RUNS; i++) {
		make(&runs[i], i + 1);
		for (k = 0; k < 2; k++) {
			if (!combines(i, k))
				continue;
			run(self, "export -q -c all --format perfetto %s -o t.pftrace trace.rtd",
			    exact[k]);
			if (lacks(self))
				SKIP(return, "no libprotobuf-c: install libprotobuf-c-dev");
			EXPECT_EQ(0, self->status);
			put_reports(self, exact[k]);
			run(self, "--version; " SOURCES "/perfetto.py t.pftrace t.csv");
			EXPECT_EQ(0, self->status) {
				TH_LOG("%s: %s", runs[i].name, self->err);
			}
			EXPECT_LT(1000, atol(strchr(self->out, '\n')));
		}
	}
	make(&runs[i], i + 1);
	run(self, "export -q -c all --format perfetto -o t.pftrace trace.rtd; "
	    SOURCES "/perfetto.py t.pftrace | grep -c 'records lost'");
	EXPECT_LT(2, atoi(self->out)) {
		TH_LOG("%s", self->err);
	}
}

/*
 * A function's exit record and next enter record are lost, so its call appears to be long, although
 * each time is exact.
 */
TEST_F(command, timelines_mark_a_call_across_a_loss)
{
	const uint64_t function[2] = { FIB, 0x100 };
	struct gen_stream stream;
	uint64_t value = 0;

	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 0, 1, 64);
	gen_header(&stream);
	gen_record(&stream, 0, function, &value);
	gen_record(&stream, 1, function, &value);
	gen_record(&stream, 0, function, &value);
	gen_store(&self->gen, 0, 6, 1, 0xff);
	gen_error(&self->gen, 0);
	gen_sync(&self->gen, 0);
	gen_record(&stream, 1, function, &value);
	save(self, "trace.rtd");
	run(self, "export -q --format chrome -o t.json trace.rtd");
	python(_metadata,
	       "import json\n"
	       "data = json.load(open('t.json'))\n"
	       "events = [(e['ph'], e['args'].get('time'), e['args'].get('counts'))"
	       " for e in data['traceEvents'] if e['ph'] == 'E']\n"
	       "assert events == [('E', None, None), ('E', 'inferred', 'partial')], events\n"
	       "lost = [e for e in data['traceEvents'] if e.get('name') == 'records lost']\n"
	       "assert len(lost) == 1 and lost[0]['ph'] == 'i', lost\n"
	       "assert data['otherData']['damage']['encoder_losses'] == 1, data['otherData']\n");
	run(self, "export -q --format ctf -o made trace.rtd && babeltrace2 made |"
	    " grep -c 'sifive_trace:records_lost: '");
	EXPECT_STREQ("1\n", self->out);
	run(self, "export -q --format perfetto -o t.pftrace trace.rtd");
	if (lacks(self))
		SKIP(return, "no libprotobuf-c: install libprotobuf-c-dev");
	run(self, "--version >/dev/null; " SOURCES "/perfetto.py t.pftrace | grep ^inferred");
	EXPECT_NE(NULL, strstr(self->out, " counts\n")) TH_LOG("%s", self->out);
	EXPECT_NE(NULL, strstr(self->out, " time\n")) TH_LOG("%s", self->out);
}

TEST_F_TIMEOUT(command, perfetto_is_a_tenth_of_chrome_json_size, 600)
{
	struct stat json, packets;

	make(&runs[1], 2);
	run(self, "export -q -c all --format chrome -o t.json trace.rtd");
	run(self, "export -q -c all --format perfetto -o t.pftrace trace.rtd");
	if (lacks(self))
		SKIP(return, "no libprotobuf-c: install libprotobuf-c-dev");
	ASSERT_EQ(0, stat("t.json", &json));
	ASSERT_EQ(0, stat("t.pftrace", &packets));
	EXPECT_LT(packets.st_size * 10, json.st_size);
}

TEST_F(command, perfetto_contains_instants_and_losses)
{
	make_loaded(self);
	run(self, "export -q --format perfetto -e " PROGRAM " -o t.pftrace trace.rtd");
	if (lacks(self))
		SKIP(return, "no libprotobuf-c: install libprotobuf-c-dev");
	run(self, "--version; " SOURCES "/perfetto.py t.pftrace");
	EXPECT_EQ(0, self->status) {
		TH_LOG("%s", self->err);
	}
	EXPECT_NE(NULL, strstr(self->out, "process two?[5m\n"));
	EXPECT_NE(NULL, strstr(self->out, "thread w\xc3\xb6?/7\n")) {
		TH_LOG("%s", self->out);
	}
	EXPECT_NE(NULL, strstr(self->out, " trace covers the first "));
	remove("trace.rtd.meta");
	self->gen.length = 0;
	sample_trace(&self->gen, 0, 1);
	save(self, "trace.rtd");
	run(self, "export -q --format perfetto --ts-hz 1000000 -e " PROGRAM
	    " -o t.pftrace trace.rtd");
	run(self, "--version; " SOURCES "/perfetto.py t.pftrace");
	EXPECT_NE(NULL, strstr(self->out, " main {}\npoint source 0 ")) {
		TH_LOG("%s", self->out);
	}
	EXPECT_NE(NULL, strstr(self->out, "count cycles source 0 57\n"));
}

/* Compare one weight with a column of report. */
static void read_firefox(struct __test_metadata *_metadata, FIXTURE_DATA(command) *self,
			 const char *name, const char *weight, const char *column)
{
	run(self, "export -q -c all --format firefox --weight %s -o t.json trace.rtd; "
	    SOURCES "/firefox.py t.json r.csv %s", weight, column);
	EXPECT_EQ(0, self->status) {
		TH_LOG("%s %s: %s", name, weight, self->err);
	}
	EXPECT_LT(500, atol(self->out));
}

TEST_F_TIMEOUT(command, firefox_totals_equal_report, 600)
{
	unsigned int i, k;

	for (i = 0; i < RUNS; i++) {
		make(&runs[i], i + 1);
		put_reports(self, "");
		read_firefox(_metadata, self, runs[i].name, "time", "self");
		read_firefox(_metadata, self, runs[i].name, "calls", "calls");
		read_firefox(_metadata, self, runs[i].name, "cycles", "cycles:self");
		for (k = 1; k < sizeof(rates) / sizeof(rates[0]); k++) {
			if (!combines(i, k))
				continue;
			put_reports(self, rates[k]);
			run(self, "export -q -c all --format firefox %s -o t.json trace.rtd; "
			    SOURCES "/firefox.py t.json r.csv self", rates[k]);
			EXPECT_EQ(0, self->status) {
				TH_LOG("%s %s: %s", runs[i].name, rates[k], self->err);
			}
		}
	}
}

TEST_F(command, firefox_contains_files_lines_and_losses)
{
	make_loaded(self);
	run(self, "export -q --format firefox -e " PROGRAM " -o t.json trace.rtd; "
	    SOURCES "/firefox.py t.json");
	EXPECT_EQ(0, self->status) {
		TH_LOG("%s", self->err);
	}
	EXPECT_NE(NULL, strstr(self->out, "/7 5 7\n"
		"function main sample/fib.c 20\n"
		"function fib sample/fib.c 12\n"
		"function libother.so+0x200 None None\n"
		"Weight ns\nCoverage covers the first ")) {
		TH_LOG("%s", self->out);
	}
}

static void fib_of(FIXTURE_DATA(command) *self, unsigned int channel)
{
	const uint64_t fib[] = { FIB, MAIN + 0x12 };
	struct gen_stream stream;

	gen_stream_init(&stream, &self->gen, 0, (uint8_t)channel, 1, 0, 64);
	gen_header(&stream);
	gen_record(&stream, 0, fib, NULL);
	gen_record(&stream, 1, fib, NULL);
}

/*
 * Two shells, each in its own process; the second shell executes two programs, one after the other.
 */
TEST_F(command, processes_are_named_after_their_programs)
{
	static const char meta[] =
		"{\"srcbits\":0,\"exe\":\"/bin/sh\",\"threads\":["
		"{\"channel\":6,\"pid\":5,\"tid\":5,\"name\":\"a\"},"
		"{\"channel\":7,\"pid\":6,\"tid\":6,\"name\":\"b\"},"
		"{\"channel\":8,\"tid\":7,\"name\":\"c\"}],"
		"\"processes\":[{\"pid\":5,\"args\":[\"sh\"]},"
		"{\"pid\":6,\"ppid\":5,\"exe\":\"/bin/env\",\"to\":9},"
		"{\"pid\":6,\"ppid\":5,\"exe\":\"/bin/plain\",\"from\":9}]}";
	unsigned int i;

	gen_sync(&self->gen, 0);
	for (i = 6; i < 9; i++)
		fib_of(self, i);
	save(self, "trace.rtd");
	write_file("trace.rtd.meta", meta, strlen(meta));
	run(self, "export -q --format firefox -o t.json trace.rtd; "
	    SOURCES "/firefox.py t.json | sed -n 's/^thread //p' | sort");
	EXPECT_STREQ("plain b/6 6 6\nsh a/5 5 5\nunknown c/7 4194304 7\n", self->out) {
		TH_LOG("%s", self->err);
	}
	run(self, "export -q --format perfetto -o t.pftrace trace.rtd");
	if (lacks(self))
		SKIP(return, "no libprotobuf-c: install libprotobuf-c-dev");
	run(self, "--version >/dev/null; " SOURCES "/perfetto.py t.pftrace | grep ^process");
	EXPECT_STREQ("process sh\nprocess plain\nprocess unknown\n", self->out);
}

/* In viewers, an unknown thread has ids that no other thread has. */
TEST_F(command, unknown_threads_have_unique_ids)
{
	static const char meta[] = "{\"srcbits\":0,\"threads\":["
		"{\"channel\":6,\"pid\":1,\"tid\":1,\"name\":\"init\"},"
		"{\"channel\":7,\"pid\":1,\"tid\":2,\"name\":\"init\"}]}";
	static const char unknown[] = "{\"ph\":\"i\",\"pid\":4194304,\"tid\":4194305,";
	const uint64_t pc = MAIN;
	struct gen_stream stream;

	gen_sync(&self->gen, 0);
	fib_of(self, 7);
	gen_stream_init(&stream, &self->gen, 0, 8, 1, 0, 64);
	gen_header(&stream);
	gen_record(&stream, 3, &pc, NULL);
	fib_of(self, 6);
	save(self, "trace.rtd");
	write_file("trace.rtd.meta", meta, strlen(meta));
	run(self, "export -q -c all --format chrome trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, unknown)) {
		TH_LOG("%s", self->out);
	}
	run(self, "export -q --format chrome trace.rtd | grep '\"B\"' | grep -c '\"pid\":1,'");
	EXPECT_STREQ("2\n", self->out);
}

/* Write a trace of two threads with 32 counters each. */
TEST_F(command, html_calls_contain_all_counters)
{
	const uint64_t fib[] = { FIB, MAIN + 0x12 };
	struct gen_stream stream;
	uint64_t value[32] = { 0 };
	unsigned int i, channel;

	gen_sync(&self->gen, 0);
	for (channel = 6; channel < 8; channel++) {
		gen_stream_init(&stream, &self->gen, 0, (uint8_t)channel, 1, 32, 64);
		for (i = 0; i < 32; i++)
			stream.counter[i].code = 1 + i + (channel == 7 ? 32 : 0);
		gen_header(&stream);
		memset(value, 0, sizeof(value));
		gen_record(&stream, 0, fib, value);
		for (i = 0; i < 32; i++)
			value[i] = 1 + i + (channel == 7 ? 32 : 0);
		gen_record(&stream, 1, fib, value);
	}
	save(self, "trace.rtd");
	run(self, "export -q -c all --format html -o t.html trace.rtd");
	EXPECT_EQ(0, self->status);
	python(_metadata,
	       "from page_calls import load\n"
	       "sums = [(c['counts'].count(None), sum(n or 0 for n in c['counts']))"
	       " for c in load('t.html')['calls']]\n"
	       "assert sums == [(32, 528), (32, 1552)], sums\n");
}

/* Calls of three lengths: one long call, many shorter calls, and one of the shortest. */
TEST_F(command, html_begins_with_calls_of_first_view)
{
	const uint64_t main[] = { MAIN, 0x10000 }, fib[] = { FIB, MAIN + 0x12 };
	struct gen_stream stream;
	unsigned int i;

	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 1, 0, 64);
	gen_header(&stream);
	gen_record(&stream, 0, main, NULL);
	for (i = 0; i < 5 * 2048; i++) {
		self->gen.step = i ? 100 : 1;
		gen_record(&stream, 0, fib, NULL);
		gen_record(&stream, 1, fib, NULL);
	}
	gen_record(&stream, 1, main, NULL);
	save(self, "trace.rtd");
	run(self, "export -q --format html -o t.html trace.rtd");
	EXPECT_EQ(0, self->status);
	python(_metadata,
	       "from page_calls import load\n"
	       "kinds = load('t.html')['kinds']\n"
	       "assert len(kinds) > 6 and len(set(kinds)) == 3, kinds\n"
	       "assert kinds[0] == max(kinds) and kinds[1] == min(kinds), kinds\n");
}

/* 300 sets of nine counters. */
TEST_F(command, ctf_reports_omitted_counts)
{
	const uint64_t at = MAIN + 8;
	struct gen_stream stream;
	uint64_t value[9];
	unsigned int set, i;

	gen_sync(&self->gen, 0);
	for (set = 1; set <= 300; set++) {
		gen_stream_init(&stream, &self->gen, 0, 6, 1, 0, 64);
		for (i = 0; i < 9; i++)
			if (set >> i & 1) {
				stream.counter[stream.counters] = (struct gen_counter){
					.number = stream.counters, .code = i + 1, .width = 64,
				};
				stream.counters++;
			}
		gen_header(&stream);
		for (i = 0; i < 9; i++)
			value[i] = set;
		gen_record(&stream, 2, &at, value);
		for (i = 0; i < 9; i++)
			value[i] = 2 * set;
		gen_record(&stream, 2, &at, value);
		if (set == 255) {
			save(self, "trace.rtd");
			run(self, "export --format ctf -o few trace.rtd");
			EXPECT_EQ(0, self->status);
			EXPECT_EQ(NULL, strstr(self->err, "too many different sets"));
		}
	}
	save(self, "trace.rtd");
	run(self, "export --format ctf -o many trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->err, "too many different sets of counters: 90 records of sets beyond the first 255 have no counts")) {
		TH_LOG("%s", self->err);
	}
}

TEST_F_TIMEOUT(command, report_json_rows_equal_csv_rows, 600)
{
	static const char * const options[] = {
		"", "--by thread --sort name", "--by hart --top 3", "--ts-hz 3000000",
		"--filter 0x100*", "--diff other.rtd",
		"--columns avg,min,max,p1,p99 --sort p99", "--columns instructions/cycles --by thread",
	};
	unsigned int i, k;

	make(&runs[0], 9);
	run(self, "--version; cp trace.rtd other.rtd; cp trace.rtd.meta other.rtd.meta");
	for (i = 0; i < RUNS; i++) {
		make(&runs[i], i + 1);
		for (k = 0; k < sizeof(options) / sizeof(options[0]); k++) {
			if (!combines(i, k))
				continue;
			run(self, "report -q -c all --csv %s -o r.csv trace.rtd; "
			    COMMAND " report -q -c all --json %s -o r.json trace.rtd; "
			    SOURCES "/rows.py r.csv r.json", options[k], options[k]);
			EXPECT_EQ(0, self->status) {
				TH_LOG("%s %s: %s", runs[i].name, options[k], self->err);
			}
		}
	}
	run(self, "report -q -c all --format csv trace.rtd >old.csv; " COMMAND
	    " report -q -c all --csv -o r.csv trace.rtd; cmp old.csv r.csv");
	EXPECT_EQ(0, self->status);
}

TEST_F(command, report_columns_are_selectable)
{
	static const struct {
		const char *options, *said;
	} wrong[] = {
		{ "--columns mean", "not \"mean\"" }, { "--columns avg,", "not \"avg,\"" },
		{ "--columns p0", "not \"p0\"" }, { "--columns p100", "not \"p100\"" },
		{ "--columns p5x", "not \"p5x\"" }, { "--columns p5,p5", "each once" }, { "--columns /cycles", "not \"/cycles\"" },
		{ "--columns cycles/none", "no counter \"none\"" },
		{ "--columns none/cycles", "no counter \"none\"" },
		{ "--columns avg --diff trace.rtd", "cannot be combined" },
		{ "--sort p50", "no \"p50\"" },
	};
	unsigned int i;

	make(&runs[0], 3);
	/*
	 * Each row's ratio is the ratio of its self counts; the two counters are also in the
	 * table.
	 */
	run(self, "report -q -c all --json --columns avg,min,p50,max,instructions/cycles "
	    "trace.rtd | python3 -c 'import json, sys\n"
	    "rows = json.load(sys.stdin)[\"rows\"]\n"
	    "for r in rows:\n"
	    "  assert r[\"min\"] <= r[\"p50\"] <= r[\"max\"] and r[\"min\"] <= r[\"avg\"] <= r[\"max\"], r\n"
	    "  assert r[\"avg\"] * r[\"calls\"] > 0.9 * r[\"total\"], r\n"
	    "  own, cycles = r[\"instructions:self\"], r[\"cycles:self\"]\n"
	    "  ratio = r[\"instructions/cycles\"]\n"
	    "  assert ratio is None if not cycles else abs(ratio - own / cycles) < 1e-6, r\n"
	    "print(len(rows) > 3)'");
	EXPECT_STREQ("True\n", self->out) {
		TH_LOG("%s", self->err);
	}
	run(self, "report -q -c all --columns p90 --width 120 --sort p90 trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "self%        p90")) {
		TH_LOG("%s", self->out);
	}
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		run(self, "report -c all %s trace.rtd", wrong[i].options);
		EXPECT_EQ(2, self->status);
		EXPECT_NE(NULL, strstr(self->err, wrong[i].said)) {
			TH_LOG("%s: %s", wrong[i].options, self->err);
		}
	}
}

TEST_F_TIMEOUT(command, graph_json_totals_equal_report_json, 600)
{
	static const char * const options[] = { "", "--ts-hz 1000000" };
	unsigned int i, k;

	for (i = 0; i < RUNS; i++) {
		make(&runs[i], i + 1);
		for (k = 0; k < sizeof(options) / sizeof(options[0]); k++) {
			if (!combines(i, k))
				continue;
			run(self, "graph -q -c all --json %s -o g.json trace.rtd; "
			    COMMAND " report -q -c all --json %s -o r.json trace.rtd; "
			    SOURCES "/graph_rows.py g.json r.json", options[k], options[k]);
			EXPECT_EQ(0, self->status) {
				TH_LOG("%s %s: %s", runs[i].name, options[k], self->err);
			}
		}
	}
	/* The root of a subtree has depth 0. */
	run(self, "graph -q -c all --format json --filter '*' --depth 1 trace.rtd | "
	    "grep -c '\"depth\":0,'");
	EXPECT_NE(0, atoi(self->out));
	run(self, "graph -q -c all --json --filter none trace.rtd | "
	    "python3 -m json.tool >/dev/null");
	EXPECT_EQ(0, self->status);
}

/* Check the JSON header of a trace with a sample truncated by a loss and a call without an end. */
TEST_F(command, report_json_states_losses)
{
	static const char meta[] = "{\"srcbits\":0,\"exe\":\"/bin/\\\"x\",\"ts_hz\":10,"
				   "\"lost\":{\"refused\":7}}";

	sample_trace(&self->gen, 0, 1);
	gen_error(&self->gen, 0);
	save(self, "trace.rtd");
	write_file("trace.rtd.meta", meta, strlen(meta));
	run(self, "report -q --json -e " PROGRAM " -o r.json trace.rtd; " COMMAND
	    " report -q --csv -e " PROGRAM " -o r.csv trace.rtd; " SOURCES
	    "/rows.py r.csv r.json; cat r.json");
	EXPECT_EQ(0, self->status) {
		TH_LOG("%s", self->err);
	}
	EXPECT_NE(NULL, strstr(self->out, "2 function 2 0 1 2 1\n")) {
		TH_LOG("%s", self->out);
	}
	EXPECT_NE(NULL, strstr(self->out, "\"exe\":\"/bin/\\\"x\",\"time_unit\":\"seconds\",\"ts_hz\":10,"));
	EXPECT_NE(NULL, strstr(self->out, "\"refused\":7"));
	EXPECT_NE(NULL, strstr(self->out, "{\"function\":\"fib\",\"calls\":1,"));
	/* JSON without rows is valid too. */
	run(self, "report --json --filter none trace.rtd | python3 -m json.tool >/dev/null");
	EXPECT_EQ(0, self->status);
}

TEST_HARNESS_MAIN
