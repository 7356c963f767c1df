// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests the commands that report calls: report, graph, replay, export. */
#include "browser.h"

/* main calls fib twice; the second call's exit record is missing. */
static void calls(struct gen *gen, unsigned int channel, unsigned int cost)
{
	const uint64_t whole[] = { MAIN, 0x3f00000000 };
	const uint64_t one[] = { FIB, MAIN + 0x12 };
	const uint64_t two[] = { FIB, MAIN + 0x20 };
	struct gen_stream stream;
	uint64_t value = 0;

	gen_sync(gen, 0);
	gen_stream_init(&stream, gen, 0, channel, 1, 1, 64);
	gen_header(&stream);
	gen_record(&stream, 0, whole, &value);
	value += 5;
	gen_record(&stream, 0, one, &value);
	value += cost;
	gen_record(&stream, 1, one, &value);
	gen_record(&stream, 0, two, &value);
	value += cost;
	gen_record(&stream, 1, whole, &value);
}

TEST_F(command, report_is_as_expected)
{
	calls(&self->gen, 6, 100);
	save(self, "trace.rtd");
	run(self, "report -e " PROGRAM " trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ(
		"\n"
		"                 time                                cycles\n"
		"     calls      total       self  self%     total      self  function\n"
		"         1         17          9  52.94       205         5  main\n"
		"         2          8          8  47.06       200       200  fib\n",
		self->out);
	EXPECT_NE(NULL, strstr(self->err, "1 call ended without an exit record"));
}

/* Without times, there are no columns for times, so there is room for long counter names. */
TEST_F(command, report_without_times_has_no_time_columns)
{
	const uint64_t whole[] = { MAIN, 0x3f00000000 };
	uint64_t value[2] = { 0 };
	struct gen_stream stream;
	unsigned int i;

	gen_stream_init(&stream, &self->gen, 0, 6, 1, 2, 64);
	for (i = 0; i < 2; i++) {
		stream.counter[i].type = 1;
		stream.counter[i].code = 1 + i * 2;
	}
	gen_header(&stream);
	gen_record(&stream, 0, whole, value);
	value[0] += 5;
	value[1] += 7;
	gen_record(&stream, 1, whole, value);
	save(self, "trace.rtd");
	run(self, "report -q -e " PROGRAM " trace.rtd");
	EXPECT_STREQ(
		"\n"
		"           L1-dcache-load-misses L1-dcache-store-misses\n"
		"     calls     total        self     total         self  function\n"
		"         1         5           5         7            7  main\n",
		self->out);
	self->gen.length = 0;
	gen_header(&stream);
	gen_record(&stream, 3, whole, value);
	value[0] += 5;
	value[1] += 7;
	gen_record(&stream, 3, whole, value);
	save(self, "trace.rtd");
	run(self, "report -q -e " PROGRAM " trace.rtd");
	EXPECT_STREQ(
		"\n"
		"                    L1-dcache-load-misses\n"
		"   samples samples%                  self  function\n"
		"         2   100.00                     5  main\n"
		"\n"
		" L1-dcache-store-misses\n"
		"                   self  function\n"
		"                      7  main\n",
		self->out);
}

/* A counter that is always 0 has no columns, except in CSV output and as a sort key. */
TEST_F(command, report_names_idle_counters_without_columns)
{
	const uint64_t whole[] = { MAIN, 0x3f00000000 };
	uint64_t value[2] = { 0 };
	struct gen_stream stream;

	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 1, 2, 64);
	stream.counter[0].code = 6;
	gen_header(&stream);
	gen_record(&stream, 0, whole, value);
	value[1] += 5;
	gen_record(&stream, 1, whole, value);
	save(self, "trace.rtd");
	run(self, "report -q --sort branch-misses -e " PROGRAM " trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ(
		"\n"
		"                 time                          instructions\n"
		"     calls      total       self  self%     total      self  function\n"
		"         1          6          6 100.00         5         5  main\n"
		"\nCounted nothing: branch-misses\n",
		self->out);
	run(self, "report -q --format csv -e " PROGRAM " trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, ",branch-misses:self,instructions:total,"));
}

TEST_F(command, report_sorts_and_filters)
{
	calls(&self->gen, 6, 100);
	save(self, "trace.rtd");
	run(self, "report -q --sort cycles:self --top 1 -e " PROGRAM " trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "  fib\n"));
	EXPECT_EQ(NULL, strstr(self->out, "  main\n"));
	EXPECT_NE(NULL, strstr(self->out, "(1 more functions)"));
	run(self, "report -q --filter 'm*' -e " PROGRAM " trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "  main\n"));
	EXPECT_EQ(NULL, strstr(self->out, "  fib\n"));
	run(self, "report -q --filter 'x*' -e " PROGRAM " trace.rtd");
	EXPECT_STREQ("", self->out);
	EXPECT_NE(NULL, strstr(self->err, "no function matches --filter"));
	run(self, "replay -q --tid 99 trace.rtd");
	EXPECT_NE(NULL, strstr(self->err, "no call matches --filter, --tid and --depth"));
	run(self, "report -q --sort nothing trace.rtd");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "has no \"nothing\""));
	run(self, "report -q --format csv --ts-hz 1000 -e " PROGRAM " trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "function,calls,total,self,cycles:total,cycles:self,times,counts\n"));
	EXPECT_NE(NULL, strstr(self->out, "\"fib\",2,0.008000000,0.008000000,200,200,exact,exact\n"));
	run(self, "report -q --by hart -e " PROGRAM " trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "source 0:\n"));
	EXPECT_NE(NULL, strstr(self->out,
		"         1         17          9  52.94       205         5  main\n"
		"         2          8          8  47.06       200       200  fib\n"));
}

TEST_F(command, report_compares_two_traces)
{
	calls(&self->gen, 6, 100);
	save(self, "one.rtd");
	gen_free(&self->gen);
	gen_init(&self->gen, 0, 40);
	calls(&self->gen, 6, 150);
	save(self, "two.rtd");
	run(self, "report -q --sort cycles --diff two.rtd -e " PROGRAM " one.rtd"
	    " | grep -A3 'cycles total'");
	EXPECT_STREQ(
		"                           self                 cycles total\n"
		"     before      after   change    before     after   change  function\n"
		"          8          8        =       200       300   +50.0%  fib\n"
		"          9          9        =       205       305   +48.8%  main\n",
		self->out);
}

/* Twice as many ticks of half the length are the same time. */
TEST_F(command, report_compares_traces_with_different_tick_rates)
{
	static const char one[] = "{ \"ts_hz\": 1000000 }";
	static const char two[] = "{ \"ts_hz\": 2000000 }";

	calls(&self->gen, 6, 100);
	save(self, "one.rtd");
	write_file("one.rtd.meta", one, strlen(one));
	gen_free(&self->gen);
	gen_init(&self->gen, 0, 40);
	self->gen.step = 2;
	calls(&self->gen, 6, 100);
	save(self, "two.rtd");
	write_file("two.rtd.meta", two, strlen(two));
	run(self, "report -q --diff two.rtd -e " PROGRAM " one.rtd"
	    " | grep -A3 'cycles total'");
	EXPECT_STREQ(
		"                           self                 cycles total\n"
		"     before      after   change    before     after   change  function\n"
		"   8.000 us   8.000 us        =       200       200        =  fib\n"
		"   9.000 us   9.000 us        =       205       205        =  main\n",
		self->out);
	/* --meta names the side-car file of the first trace only. */
	run(self, "report -q --meta one.rtd.meta --diff two.rtd --format csv -e "
	    PROGRAM " one.rtd");
	EXPECT_STREQ(
		"function,calls:before,calls:after,total:before,total:after,"
		"self:before,self:after,cycles:total:before,cycles:total:after,"
		"cycles:self:before,cycles:self:after,times:before,times:after,counts:before,"
		"counts:after\n"
		"\"fib\",2,2,0.000008000,0.000008000,0.000008000,0.000008000,200,200,200,200,exact,exact,exact,exact\n"
		"\"main\",1,1,0.000017000,0.000017000,0.000009000,0.000009000,205,205,5,5,exact,exact,exact,exact\n",
		self->out);
	/* Ticks and seconds cannot be compared. */
	ASSERT_EQ(0, unlink("two.rtd.meta"));
	run(self, "report -q --diff two.rtd -e " PROGRAM " one.rtd");
	EXPECT_NE(NULL, strstr(self->out, "   8.000 us         16        ?"));
	EXPECT_NE(NULL, strstr(self->err, "two.rtd: only one of the traces has a timestamp rate"));
	run(self, "report -q --meta none --diff two.rtd -e " PROGRAM " one.rtd");
	EXPECT_NE(NULL, strstr(self->out, "          8         16  +100.0%"));
}

/* A counter that is in only one trace is shown, with an empty column for the other trace. */
TEST_F(command, report_compares_traces_with_different_counters)
{
	const uint64_t whole[] = { MAIN, 0x3f00000000 };
	uint64_t value[2] = { 0 };
	struct gen_stream stream;
	unsigned int trace;

	for (trace = 0; trace < 2; trace++) {
		gen_free(&self->gen);
		gen_init(&self->gen, 0, 40);
		gen_stream_init(&stream, &self->gen, 0, 6, 1, 2 - trace, 64);
		stream.counter[0].code = trace ? 6 : 1;
		gen_header(&stream);
		value[0] = 0;
		value[1] = 0;
		gen_record(&stream, 0, whole, value);
		value[0] += 5;
		value[1] += 7;
		gen_record(&stream, 1, whole, value);
		save(self, trace ? "two.rtd" : "one.rtd");
	}
	run(self, "report -q --diff two.rtd --format csv -e " PROGRAM " one.rtd");
	EXPECT_STREQ(
		"function,calls:before,calls:after,cycles:total:before,cycles:total:after,"
		"cycles:self:before,cycles:self:after,instructions:total:before,"
		"instructions:total:after,instructions:self:before,instructions:self:after,"
		"branch-misses:total:before,branch-misses:total:after,"
		"branch-misses:self:before,branch-misses:self:after,counts:before,counts:after\n"
		"\"main\",1,1,5,,5,,7,,7,,,5,,5,exact,exact\n", self->out);
	run(self, "report -q --diff two.rtd -e " PROGRAM " one.rtd");
	EXPECT_NE(NULL, strstr(self->out, "branch-misses total"));
	run(self, "report -q --sort branch-misses --diff two.rtd -e " PROGRAM " one.rtd");
	EXPECT_EQ(0, self->status);
}

/*
 * Check the first row for each sort key: b is called twice, c has the highest count, d is a sample.
 */
TEST_F(command, report_sorts_by_each_key)
{
	static const struct {
		const char *key, *names;
	} order[] = {
		{ "calls", "bcd" }, { "total", "cbd" }, { "self", "bcd" },
		{ "samples", "dbc" }, { "name", "bcd" }, { "cycles", "cbd" },
		{ "cycles:self", "cbd" },
	};
	const uint64_t b[] = { 0x5000b0, 0x5000c4 }, c[] = { 0x5000c0, 0x3f00000000 };
	const uint64_t d[] = { 0x5000d0 };
	struct gen_stream stream;
	uint64_t value = 0;
	unsigned int i;

	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 1, 1, 64);
	gen_header(&stream);
	gen_record(&stream, 0, c, &value);
	for (i = 0; i < 2; i++) {
		gen_record(&stream, 0, b, &value);
		self->gen.now += 100;
		value += 1;
		gen_record(&stream, 1, b, &value);
	}
	value += 50;
	gen_record(&stream, 1, c, &value);
	gen_record(&stream, 3, d, &value);
	save(self, "trace.rtd");
	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		run(self, "report -q --sort %s --format csv trace.rtd |"
		    " sed -n 's/^\"0x5000\\(.\\)0\".*/\\1/p' | tr -d '\\n'",
		    order[i].key);
		EXPECT_STREQ(order[i].names, self->out) {
			TH_LOG("--sort %s", order[i].key);
		}
	}
	run(self, "report -q --sort calls --top 1 --format csv trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "\n\"0x5000b0\",2,"));
	EXPECT_EQ(NULL, strstr(self->out, "0x5000c0"));
	run(self, "report -q --top 1 --diff trace.rtd --format csv trace.rtd | wc -l");
	EXPECT_STREQ("2\n", self->out);
}

/* Event names contain commas, and can contain quotes. */
TEST_F(command, csv_headings_are_quoted_fields)
{
	static const char meta[] =
		"{ \"counters\": [ { \"number\": 0, \"code\": 1,"
		" \"event\": \"cpu/event=0x5,umask=\\\"1/\" } ] }";
	static const char * const arguments[] = {
		"report", "report --by thread", "report --diff trace.rtd", "decode",
	};
	unsigned int i;

	calls(&self->gen, 6, 100);
	save(self, "trace.rtd");
	write_file("trace.rtd.meta", meta, strlen(meta));
	for (i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
		run(self, "%s -q --format csv trace.rtd", arguments[i]);
		EXPECT_EQ(0, self->status);
		EXPECT_NE(NULL, strstr(self->out, ",\"cpu/event=0x5,umask=\"\"1/"));
		EXPECT_EQ(0, system("python3 -c \"\n"
				    "import csv\n"
				    "rows = list(csv.reader(open('out.txt'), strict=True))\n"
				    "assert len(rows) > 2, rows\n"
				    "assert len({len(row) for row in rows}) == 1, rows\n\""));
	}
}

TEST_F(command, graph_and_replay_are_as_expected)
{
	calls(&self->gen, 6, 100);
	save(self, "trace.rtd");
	run(self, "graph -q --counter cycles -e " PROGRAM " trace.rtd");
	EXPECT_STREQ(
		"      total        self     calls      cycles  function\n"
		"         17           9         1         205  main\n"
		"          8           8         2         200    fib\n",
		self->out);
	run(self, "replay -q --ts-hz 1000000 -e " PROGRAM " trace.rtd");
	EXPECT_STREQ(
		"#      seconds    duration  thread                function\n"
		"   0.001007000              source 0              main() {\n"
		"   0.001012000    4.000 us  source 0                fib()\n"
		"   0.001020000    4.000 us  source 0                fib()  (no exit record)\n"
		"   0.001024000   17.000 us  source 0              } main\n",
		self->out);
}

/* Without calls and times, functions are sorted by the number of samples. */
TEST_F(command, graph_sorts_by_samples_without_calls)
{
	static const uint64_t address[] = { MAIN, FIB, FIB, MAIN + 4, FIB, FIB, FIB };
	struct gen_stream stream;
	uint64_t value = 0;
	unsigned int i;

	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 1, 1, 64);
	gen_header(&stream);
	for (i = 0; i < sizeof(address) / sizeof(address[0]); i++) {
		gen_record(&stream, 3, &address[i], &value);
		value += 100;
	}
	save(self, "trace.rtd");
	run(self, "graph -q --counter cycles --ts-hz 1000 -e " PROGRAM " trace.rtd");
	EXPECT_STREQ(
		"   samples      cycles  function\n"
		"         5         500  fib\n"
		"         2         100  main\n", self->out);
	run(self, "graph -q --min 50 --by thread -e " PROGRAM " trace.rtd");
	EXPECT_STREQ(
		"   samples  function\n"
		"         7  source 0\n"
		"         5    fib\n", self->out);
}

/* Print trees of the same calls with options that omit functions. */
TEST_F(command, graph_options_omit_functions)
{
	calls(&self->gen, 6, 100);
	save(self, "trace.rtd");
	run(self, "graph -q --depth 1 -e " PROGRAM " trace.rtd");
	EXPECT_STREQ(
		"      total        self     calls  function\n"
		"         17           9         1  main\n", self->out);
	run(self, "graph -q --min 48 -e " PROGRAM " trace.rtd");
	EXPECT_EQ(NULL, strstr(self->out, "fib"));
	run(self, "graph -q --min 47 -e " PROGRAM " trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "    fib\n"));
	run(self, "graph -q --filter 'f*' -e " PROGRAM " trace.rtd");
	EXPECT_STREQ(
		"      total        self     calls  function\n"
		"          8           8         2  fib\n", self->out);
	run(self, "graph -q --filter 'x*' -e " PROGRAM " trace.rtd");
	EXPECT_STREQ("      total        self     calls  function\n", self->out);
	run(self, "graph -q --depth 0 trace.rtd");
	EXPECT_EQ(2, self->status);
	run(self, "graph -q --min 101 trace.rtd");
	EXPECT_EQ(2, self->status);
}

TEST_F(command, replay_options_omit_calls)
{
	static const char meta[] =
		"{ \"threads\": [ { \"channel\": 6, \"pid\": 5, \"tid\": 7,"
		" \"name\": \"one\" }, { \"channel\": 7, \"pid\": 5, \"tid\": 8,"
		" \"name\": \"two\" } ] }";

	calls(&self->gen, 6, 100);
	calls(&self->gen, 7, 150);
	save(self, "trace.rtd");
	write_file("trace.rtd.meta", meta, strlen(meta));
	run(self, "replay -q --tid 8 -e " PROGRAM " trace.rtd | cut -c 27-");
	EXPECT_STREQ(
		"  thread                function\n"
		"  two/8                 main() {\n"
		"  two/8                   fib()\n"
		"  two/8                   fib()  (no exit record)\n"
		"  two/8                 } main\n", self->out);
	run(self, "replay -q --depth 1 -e " PROGRAM " trace.rtd | cut -c 27-");
	EXPECT_STREQ(
		"  thread                function\n"
		"  one/7                 main() {\n"
		"  two/8                 main() {\n"
		"  one/7                 } main\n"
		"  two/8                 } main\n", self->out);
	run(self, "replay -q --tid 8 --ts-hz 1000000 --time-threshold 10us -e " PROGRAM
	    " trace.rtd | cut -c 27-");
	EXPECT_STREQ(
		"  thread                function\n"
		"  two/8                 main()\n", self->out);
	run(self, "replay -q --tid 8 --ts-hz 1000000 --time-threshold 4us -e " PROGRAM
	    " trace.rtd | cut -c 27-");
	EXPECT_STREQ(
		"  thread                function\n"
		"  two/8                 main() {\n"
		"  two/8                   fib()\n"
		"  two/8                   fib()  (no exit record)\n"
		"  two/8                 } main\n", self->out);
	run(self, "replay -q --ts-hz 1000000 --time-threshold 1s -e " PROGRAM
	    " trace.rtd | cut -c 27-");
	EXPECT_STREQ("  thread                function\n", self->out);
	run(self, "replay --time-threshold 5 trace.rtd");
	EXPECT_EQ(2, self->status);
	run(self, "replay --time-threshold 0us trace.rtd");
	EXPECT_EQ(2, self->status);
	run(self, "replay --time-threshold -1us trace.rtd");
	EXPECT_EQ(2, self->status);
	run(self, "replay -q --depth 1 --tid 7 -e " PROGRAM " trace.rtd | cut -c 27-");
	EXPECT_STREQ(
		"  thread                function\n"
		"  one/7                 main()\n", self->out);
}

TEST_F(command, stack_exports_are_weighted)
{
	static const char * const weighed[] = { "folded", "svg", "html", "speedscope", "firefox" };
	unsigned int i;

	calls(&self->gen, 6, 100);
	save(self, "trace.rtd");
	run(self, "export -q --format folded --weight cycles -e " PROGRAM " trace.rtd");
	EXPECT_STREQ("source 0;main 5\nsource 0;main;fib 200\n", self->out);
	run(self, "export -q --format svg -e " PROGRAM " -o flame.svg trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_EQ(0, system("python3 -c \"import xml.dom.minidom as m;"
			    " m.parse('flame.svg')\""));
	EXPECT_EQ(0, system("grep -q 'data-n=\"fib\"' flame.svg"));
	for (i = 0; i < sizeof(weighed) / sizeof(weighed[0]); i++) {
		run(self, "export -q --format %s --weight nothing -o none trace.rtd",
		    weighed[i]);
		EXPECT_EQ(2, self->status);
		EXPECT_NE(NULL, strstr(self->err, "the trace has no \"nothing\""));
		EXPECT_NE(0, access("none", F_OK));
	}
	run(self, "export -q --format chrome --weight calls -o none trace.rtd");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(0, access("none", F_OK));
	run(self, "export trace.rtd");
	EXPECT_EQ(2, self->status);
}

/* Check the structure of the JSON for each thread; times are in microseconds. */
TEST_F(command, chrome_export_is_well_formed)
{
	calls(&self->gen, 6, 100);
	calls(&self->gen, 7, 150);
	save(self, "trace.rtd");
	run(self, "export -q -c all --format chrome --ts-hz 1000000 -e " PROGRAM
	    " -o t.json trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_EQ(0, system("python3 -c \"\n"
			    "import json\n"
			    "stacks, done, names, counters, now = {}, {}, {}, {}, {}\n"
			    "for e in json.load(open('t.json'))['traceEvents']:\n"
			    "    who = e['pid'], e['tid']\n"
			    "    if e['ph'] == 'M': names[who] = e['args']['name']; continue\n"
			    "    if e['ph'] == 'C':\n"
			    "        counters.setdefault(e['name'], []).append(e['args']['value'])\n"
			    "        continue\n"
			    "    assert e['ts'] >= now.get(who, 0), e\n"
			    "    now[who] = e['ts']\n"
			    "    stack = stacks.setdefault(who, [])\n"
			    "    if e['ph'] == 'B': stack.append(e); continue\n"
			    "    assert e['ph'] == 'E', e\n"
			    "    b = stack.pop()\n"
			    "    done.setdefault(names[who], []).append((b['name'],\n"
			    "        e['ts'] - b['ts'], e['args']['cycles']))\n"
			    "assert not any(stacks.values()), stacks\n"
			    "assert len(names) == 2, names\n"
			    "one, two = done['source 0'], done['source 0 channel 7']\n"
			    "assert one == [('fib', 4, 100), ('fib', 4, 100), ('main', 17, 205)], one\n"
			    "assert two == [('fib', 4, 150), ('fib', 4, 150), ('main', 17, 305)], two\n"
			    "assert sorted(counters) == ['cycles/s source 0',\n"
			    "    'cycles/s source 0 channel 7'], counters\n"
			    "assert counters['cycles/s source 0'] == [1e6, 25e6, 0, 25e6], counters\n\""));
}

TEST_F(command, ctf_export_is_read_by_babeltrace)
{
	calls(&self->gen, 6, 100);
	save(self, "trace.rtd");
	run(self, "export -q --format ctf --ts-hz 1000000 -e " PROGRAM
	    " -o ctf trace.rtd");
	EXPECT_EQ(0, self->status);
	if (system("command -v babeltrace2 >/dev/null"))
		SKIP(return, "no babeltrace2: install babeltrace2");
	EXPECT_EQ(0, system("babeltrace2 ctf >ctf.txt"));
	EXPECT_EQ(0, system("test $(wc -l <ctf.txt) = 5"));
	EXPECT_EQ(0, system("sed -n 2p ctf.txt | grep -q 'func_entry.*name = \"fib\", cycles = 5 '"));
	/* Existing files are not overwritten. */
	run(self, "export -q --format ctf -o ctf trace.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "ctf: cannot replace this directory"));
}

/*
 * Write a trace whose counters have equal names, as :u and :k of one event do, for example, if
 * there is no side-car file.
 */
TEST_F(command, counters_with_the_same_name_are_distinguished)
{
	static const char meta[] =
		"{ \"counters\": [ { \"number\": 1, \"event\": \"x-y\", \"code\": 1 },"
		" { \"number\": 2, \"event\": \"x.y\", \"code\": 1 } ] }";
	const uint64_t whole[] = { MAIN, 0x3f00000000 };
	uint64_t value[3] = { 0 };
	struct gen_stream stream;
	unsigned int i;

	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 1, 3, 64);
	for (i = 0; i < 3; i++)
		stream.counter[i].code = 1;
	gen_header(&stream);
	gen_record(&stream, 0, whole, value);
	value[1] += 5;
	value[2] += 7;
	gen_record(&stream, 1, whole, value);
	save(self, "trace.rtd");
	run(self, "decode -q --format csv trace.rtd | head -n 1");
	EXPECT_NE(NULL, strstr(self->out, ",cycles,cycles#2,cycles#3,time,thread,note\n"));
	run(self, "decode -q --format json trace.rtd | tail -n 1");
	EXPECT_NE(NULL, strstr(self->out,
			       "{\"cycles\":0,\"cycles#2\":5,\"cycles#3\":7}"));
	run(self, "decode -q trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "counter 1  cycles#2 "));
	run(self, "report -q --sort 'cycles#3:self' --format csv trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, ",cycles:self,cycles#2:total,cycles#2:self,cycles#3:total"));
	run(self, "export -q --format folded --weight 'cycles#2' trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("source 0;0x20000 5\n", self->out);
	run(self, "export -q --format chrome trace.rtd | grep -c '\"cycles\":0,\"cycles#2\":5,\"cycles#3\":7'");
	EXPECT_STREQ("1\n", self->out);
	/* Identifiers can be equal even if names differ. */
	write_file("side", meta, strlen(meta));
	if (system("command -v babeltrace2 >/dev/null"))
		SKIP(return, "no babeltrace2: install babeltrace2");
	run(self, "export -q --format ctf -o one trace.rtd && babeltrace2 one");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, ", cycles = 0, cycles_2 = 5, cycles_3 = 7 }"));
	run(self, "export -q --format ctf --meta side -o two trace.rtd && babeltrace2 two");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, ", cycles = 0, x_y__1 = 5, x_y__2 = 7 }"));
}

/* Each event must have the counter name and the counts of its source. */
TEST_F(command, ctf_export_counts_per_source)
{
	const uint64_t whole[] = { MAIN, 0x3f00000000 };
	struct gen_stream stream[2];
	uint64_t value = 0;
	unsigned int src;

	gen_free(&self->gen);
	gen_init(&self->gen, 1, 40);
	for (src = 0; src < 2; src++) {
		gen_sync(&self->gen, src);
		gen_stream_init(&stream[src], &self->gen, (uint8_t)src, 6, 1, 1, 64);
		stream[src].counter[0].code = 1 + src;
		gen_header(&stream[src]);
		gen_record(&stream[src], 0, whole, &value);
	}
	for (src = 0; src < 2; src++) {
		value = 5 + src;
		gen_record(&stream[src], 1, whole, &value);
	}
	for (src = 0; src < 2; src++) {
		value += 30;
		gen_record(&stream[src], 3, whole, &value);
	}
	save(self, "trace.rtd");
	run(self, "export -q --format ctf -e " PROGRAM " -o ctf trace.rtd");
	EXPECT_EQ(0, self->status);
	if (system("command -v babeltrace2 >/dev/null"))
		SKIP(return, "no babeltrace2: install babeltrace2");
	run(self, "--help >/dev/null; babeltrace2 ctf | sed 's/.*) //; s/vpid.*_\\?source/source/;"
	    " s/addr.*name/name/; s/ip.*name/name/'");
	EXPECT_STREQ(
		"lttng_ust_cyg_profile:func_entry: { source = 0, time_inferred = 0 }, { name = \"main\", cycles = 0 }\n"
		"lttng_ust_cyg_profile:func_entry: { source = 1, time_inferred = 0 }, { name = \"main\", instructions = 0 }\n"
		"lttng_ust_cyg_profile:func_exit: { source = 0, time_inferred = 0 }, { name = \"main\", cycles = 5 }\n"
		"lttng_ust_cyg_profile:func_exit: { source = 1, time_inferred = 0 }, { name = \"main\", instructions = 6 }\n"
		"sifive_trace:sample: { source = 0, time_inferred = 0 }, { name = \"main\", cycles = 31 }\n"
		"sifive_trace:sample: { source = 1, time_inferred = 0 }, { name = \"main\", instructions = 60 }\n",
		self->out);
}

/* browser.py tests drawing, and the response to mouse and keyboard. */
static void page_and_flame_graph(struct __test_metadata *_metadata,
				 FIXTURE_DATA(command) *self, const char *browser)
{
	calls(&self->gen, 6, 100);
	save(self, "trace.rtd");
	run(self, "export -q --format html --ts-hz 1000000 -e " PROGRAM
	    " -o t.html trace.rtd");
	EXPECT_EQ(0, self->status);
	run(self, "export -q --format svg --ts-hz 1000000 -e " PROGRAM
	    " -o t.svg trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_EQ(0, system("grep -q '\"functions\":.*\"fib\"' t.html"));
	/* The page has no external references. */
	EXPECT_NE(0, system("grep -E 'src=|href=|@import|url\\(' t.html"));
	browse(_metadata, self, browser, "t.html t.svg");
}

TEST_F(command, html_export_works)
{
	page_and_flame_graph(_metadata, self, CHROMIUM);
}

TEST_F(command, html_export_works_in_firefox)
{
	page_and_flame_graph(_metadata, self, FIREFOX);
}

/*
 * One thread's first record is known to be complete only when its second record arrives, long after
 * the records of another thread. Times and rates must nevertheless be correct.
 */
static void expect_times(struct __test_metadata *_metadata,
			 FIXTURE_DATA(command) *self, uint64_t start)
{
	const uint64_t whole[] = { MAIN, 0x3f00000000 };
	const uint64_t one[] = { FIB, MAIN + 0x12 };
	struct gen_stream outer, inner;
	uint64_t value = 0, more = 0;
	unsigned int i;

	gen_free(&self->gen);
	gen_init(&self->gen, 0, 40);
	self->gen.now = start;
	gen_sync(&self->gen, 0);
	gen_stream_init(&outer, &self->gen, 0, 6, 1, 1, 64);
	gen_stream_init(&inner, &self->gen, 0, 7, 1, 1, 64);
	gen_header(&outer);
	gen_header(&inner);
	self->gen.step = 100;
	gen_record(&outer, 0, whole, &value);
	for (i = 0; i < 10; i++) {
		gen_record(&inner, i & 1, one, &more);
		more += 800;
	}
	value = 1 << 20;
	gen_record(&outer, 1, whole, &value);
	save(self, "trace.rtd");
	run(self, "export -q -c all --format html -e " PROGRAM " -o t.html trace.rtd");
	EXPECT_EQ(0, self->status);
	python(_metadata,
	       "from page_calls import load\n"
	       "data = load('t.html')\n"
	       "calls = sorted((c['begin'], c['length']) for c in data['calls'])\n"
	       "whole = data['last'] - data['first']\n"
	       "assert calls[0] == (0, whole), calls\n"
	       "assert len(calls) == 6 and calls[1][0] > 100, calls\n"
	       "assert data['before'] < data['interval'] > 1, data['interval']\n"
	       "sums = sorted(sum(p['count']) for p in data['plots'])\n"
	       "assert abs(sums[0] - 7200) < 1 and abs(sums[1] - 2**20) < 99, sums\n"
	       "outer = max(data['plots'], key=lambda p: sum(p['count']))['count']\n"
	       "inner = min(data['plots'], key=lambda p: sum(p['count']))['count']\n"
	       "for plot in outer, [n for n in inner if n]:\n"
	       "    inside = plot[1:-1]\n"
	       "    assert max(inside) - min(inside) < 0.1, (min(inside), max(inside))\n"
	       "at = [i for i, n in enumerate(inner) if n][0] * data['interval'] - data['before']\n"
	       "assert at <= calls[1][0] < at + data['interval'], (at, calls)\n"
	       "assert len(outer) * data['interval'] >= whole, len(outer)\n");
}

TEST_F(command, html_times_of_threads_are_correct)
{
	uint64_t start;

	for (start = 1000; start < 1300; start += 37)
		expect_times(_metadata, self, start);
}

TEST_F(command, side_car_file_names_threads_and_objects)
{
	static const char meta[] =
		"{ \"srcbits\": 0, \"threads\": [ { \"channel\": 6, \"pid\": 5,"
		" \"tid\": 7, \"name\": \"worker\" } ], \"lost\": { \"threads\": 1 }, \"objects\": [ { \"path\":"
		" \"/no/such/decode_sample.elf\", \"start\": \"0x4000020000\","
		" \"end\": \"0x4000022000\", \"bias\": \"0x4000000000\" } ] }";
	const uint64_t one[] = { 0x4000000000 + FIB, 0x4000000000 + MAIN + 0x12 };
	struct gen_stream stream;

	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 1, 0, 64);
	gen_header(&stream);
	gen_record(&stream, 0, one, NULL);
	gen_record(&stream, 1, one, NULL);
	save(self, "trace.rtd");
	write_file("trace.rtd.meta", meta, strlen(meta));
	run(self, "report -q --by thread -e " PROGRAM " trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "worker/7 (process 5):\n"));
	EXPECT_NE(NULL, strstr(self->out, "  fib\n"));
	/* Without the file, only the address can be shown. */
	run(self, "report trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "  decode_sample.elf+0x21000\n"));
	EXPECT_NE(NULL, strstr(self->err, "not recorded: 1 record of threads without a "
			       "channel, on a CPU without an encoder, or while "));
	EXPECT_NE(NULL, strstr(self->err, "not found: its functions are shown as addresses"));
}

/* Printable text is unchanged, and control characters never reach a terminal. */
TEST_F(command, names_are_cleaned_of_control_characters)
{
	/* An o with a diaeresis, a grinning face, U+009B, and a byte that is not UTF-8. */
	static const char meta[] =
		"{ \"threads\": [ { \"channel\": 6, \"pid\": 5, \"tid\": 7, \"name\":"
		" \"w\xc3\xb6\\u001b[5m\\n\" } ], \"objects\": [ { \"path\": \"/none/"
		"j\xc3\xb6<\xf0\x9f\x98\x80\xc2\x9b\xff\\u001b[31mabcd\", \"start\": 0,"
		" \"end\": \"0x40000000\" } ] }";
	static const char plain[] = "j\xc3\xb6<\xf0\x9f\x98\x80????[31mabcd+0x";
	static const char json[] = "j\xc3\xb6\\u003c\xf0\x9f\x98\x80\\u009b\\u00ff\\u001b[31mabcd+0x";
	static const char xml[] = "j\xc3\xb6&#60;\xf0\x9f\x98\x80&#155;&#255; [31mabcd+0x";
	static const char thread[] = "w\xc3\xb6?[5m?/7";
	static const struct {
		const char *arguments, *function, *thread;
	} output[] = {
		{ "decode", plain },
		{ "report --by thread", plain, thread },
		{ "report --by thread --format csv", plain, thread },
		{ "report --by thread --json", "j\xc3\xb6\\u003c\xf0\x9f\x98\x80????[31mabcd+0x", thread },
		{ "report --diff trace.rtd", plain }, { "graph --by thread", plain, thread },
		{ "replay", plain, thread },
		{ "export --format folded", plain, "w\xc3\xb6?[5m:/7" },
		{ "export --format csv", plain, thread },
		{ "export --format chrome", json, "w\xc3\xb6\\u001b[5m\\u000a/7" },
		{ "export --format html", json, "w\xc3\xb6\\u001b[5m\\u000a/7" },
		{ "export --format speedscope", json, "w\xc3\xb6\\u001b[5m\\u000a/7" },
		{ "export --format firefox", json, "w\xc3\xb6\\u001b[5m\\u000a/7" },
		{ "export --format svg", xml, "w\xc3\xb6 [5m /7" },
	};
	unsigned int i;

	calls(&self->gen, 6, 100);
	save(self, "trace.rtd");
	write_file("trace.rtd.meta", meta, strlen(meta));
	for (i = 0; i < sizeof(output) / sizeof(output[0]); i++) {
		run(self, "%s trace.rtd", output[i].arguments);
		EXPECT_EQ(0, self->status);
		if (output[i].function)
			EXPECT_NE(NULL, strstr(self->out, output[i].function)) {
				TH_LOG("%s: %s", output[i].arguments, self->out);
			}
		if (output[i].thread)
			EXPECT_NE(NULL, strstr(self->out, output[i].thread)) {
				TH_LOG("%s: %s", output[i].arguments, self->out);
			}
		EXPECT_EQ(NULL, strpbrk(self->out, "\x1b\x9b\xff"));
		EXPECT_EQ(NULL, strpbrk(self->err, "\x1b\xff"));
	}
	/* The limit is 44 columns, not bytes; characters are not split. */
	run(self, "report -q --width 44 trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "  j\xc3\xb6<\xf0\x9f\x98\x80"));
	EXPECT_NE(NULL, strstr(self->out, "...\n"));
	EXPECT_EQ(0, system("python3 -c \"\n"
			    "for line in open('out.txt', encoding='utf-8'):\n"
			    "    assert len(line) <= 45, line\n\""));
}

TEST_HARNESS_MAIN
