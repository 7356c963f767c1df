// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The commands that tell of calls: report, graph, replay, export. */
#include "command_fixture.h"

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

TEST_F(command, golden_report)
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
	EXPECT_NE(NULL, strstr(self->err, "1 calls ended without an exit record"));
}

/* Without times: no columns for them. Long names of counters: room for them. */
TEST_F(command, report_without_times)
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

/* A counter that stays 0 has no columns; but in csv, and to sort by. */
TEST_F(command, report_names_idle_counters)
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
	EXPECT_NE(NULL, strstr(self->err, "no function has a name that --filter"));
	run(self, "replay -q --tid 99 trace.rtd");
	EXPECT_NE(NULL, strstr(self->err, "no call of that thread"));
	run(self, "report -q --sort nothing trace.rtd");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "has no \"nothing\""));
	run(self, "report -q --format csv --ts-hz 1000 -e " PROGRAM " trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "function,calls,total,self,cycles:total,cycles:self\n"));
	EXPECT_NE(NULL, strstr(self->out, "\"fib\",2,0.008000000,0.008000000,200,200\n"));
	run(self, "report -q --by hart -e " PROGRAM " trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "source 0:\n"));
	EXPECT_NE(NULL, strstr(self->out,
		"         1         17          9  52.94       205         5  main\n"
		"         2          8          8  47.06       200       200  fib\n"));
}

TEST_F(command, report_compares)
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

TEST_F(command, golden_graph_and_replay)
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

TEST_F(command, export_stacks)
{
	calls(&self->gen, 6, 100);
	save(self, "trace.rtd");
	run(self, "export -q --format folded --weight cycles -e " PROGRAM " trace.rtd");
	EXPECT_STREQ("source 0;main 5\nsource 0;main;fib 200\n", self->out);
	run(self, "export -q --format svg -e " PROGRAM " -o flame.svg trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_EQ(0, system("python3 -c \"import xml.dom.minidom as m;"
			    " m.parse('flame.svg')\""));
	EXPECT_EQ(0, system("grep -q 'data-n=\"fib\"' flame.svg"));
	run(self, "export -q --format svg --weight nothing trace.rtd");
	EXPECT_EQ(3, self->status);
	run(self, "export trace.rtd");
	EXPECT_EQ(2, self->status);
}

/* Its structure, thread by thread; times are microseconds. */
TEST_F(command, export_perfetto)
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

TEST_F(command, export_ctf)
{
	calls(&self->gen, 6, 100);
	save(self, "trace.rtd");
	run(self, "export -q --format ctf --ts-hz 1000000 -e " PROGRAM
	    " -o ctf trace.rtd");
	EXPECT_EQ(0, self->status);
	if (system("command -v babeltrace2 >/dev/null"))
		SKIP(return, "no babeltrace2");
	EXPECT_EQ(0, system("babeltrace2 ctf >ctf.txt"));
	EXPECT_EQ(0, system("test $(wc -l <ctf.txt) = 5"));
	EXPECT_EQ(0, system("sed -n 2p ctf.txt | grep -q 'func_entry.*name = \"fib\", cycles = 5 '"));
	/* Not over what is there. */
	run(self, "export -q --format ctf -o ctf trace.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "ctf: cannot be made anew"));
}

/* What is drawn, and what it answers to mouse and keyboard: browser.py. */
TEST_F_TIMEOUT(command, export_html, 180)
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
	/* It needs nothing from elsewhere. */
	EXPECT_NE(0, system("grep -E 'src=|href=|@import|url\\(' t.html"));
	if (system("command -v chromium >/dev/null"))
		SKIP(return, "no chromium");
	EXPECT_EQ(0, system("python3 " SOURCES "/browser.py t.html t.svg"));
}

/*
 * The first record of one thread is known to be complete only when its second
 * comes, long after those of another: times and rates are right all the same.
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
	EXPECT_EQ(0, system("python3 -c \"\n"
			    "import json\n"
			    "text = open('t.html').read().split('var DATA = ')[1]\n"
			    "data = json.loads(text.split('};\\n')[0] + '}')\n"
			    "calls = sorted((s[3], s[4]) for s in data['slices'])\n"
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
			    "assert len(outer) * data['interval'] >= whole, len(outer)\n\""));
}

TEST_F_TIMEOUT(command, html_times_of_threads, 120)
{
	uint64_t start;

	for (start = 1000; start < 1300; start += 37)
		expect_times(_metadata, self, start);
}

TEST_F(command, side_car_names_threads_and_objects)
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
	/* Without the file the place in it is all that can be said. */
	run(self, "report trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "  decode_sample.elf+0x21000\n"));
	EXPECT_NE(NULL, strstr(self->err, "not recorded: 1 record of threads without a "
			       "channel, on a CPU without an encoder, after vfork, or "));
	EXPECT_NE(NULL, strstr(self->err, "not found: its functions stay addresses"));
}

TEST_HARNESS_MAIN
