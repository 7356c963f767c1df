// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests how commands handle marks, which report dropped records and waits for room. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/sifive_trace_format.h>

#include "browser.h"

static const uint64_t in_main[] = { MAIN, 0x3f00000000ull };
static const uint64_t in_fib[] = { FIB, MAIN + 0x12 };

static void begin(FIXTURE_DATA(command) *self, struct gen_stream *stream)
{
	gen_sync(&self->gen, 0);
	gen_stream_init(stream, &self->gen, 0, 6, 0, 1, 64);
	gen_header(stream);
}

static void record(struct gen_stream *stream, unsigned int type, const uint64_t *address)
{
	uint64_t value = stream->counter[0].previous + 10;

	gen_record(stream, type, address, &value);
}

static void mark(FIXTURE_DATA(command) *self, uint8_t kind, uint32_t value)
{
	gen_store(&self->gen, 0, 6, 1, kind);
	gen_store(&self->gen, 0, 6, 4, value);
}

static void dropping_trace(FIXTURE_DATA(command) *self)
{
	struct gen_stream stream;

	begin(self, &stream);
	record(&stream, 0, in_main);
	record(&stream, 0, in_fib);
	mark(self, SIFIVE_TRACE_RECORD_DROPPED, 777);
	record(&stream, 1, in_fib);
	record(&stream, 1, in_main);
	save(self, "trace.rtd");
}

TEST_F(command, drops_recorded_only_in_the_trace_are_losses)
{
	static const char * const commands[] = {
		"report", "graph", "replay", "decode", "decode --format json", "decode --format csv",
		"decode -j1", "export --format folded", "report --meta none",
	};
	unsigned int i;

	dropping_trace(self);
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		run(self, "%s --strict trace.rtd", commands[i]);
		EXPECT_EQ(1, self->status) {
			TH_LOG("%s", commands[i]);
		}
		EXPECT_NE(NULL, strstr(self->err, "not recorded: 777 records dropped because")) {
			TH_LOG("%s: %s", commands[i], self->err);
		}
	}
	run(self, "decode --format json trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "\"dropped\":777,\"encoders\":"));
}

/* The side-car file can be written before the last marks, or can count drops that have no mark. */
TEST_F(command, larger_drop_count_of_side_car_file_and_marks_is_used)
{
	static const char * const meta[] = { "{\"srcbits\":0,\"lost\":{\"dropped\":700}}",
					     "{\"srcbits\":0,\"lost\":{\"dropped\":800}}" };

	dropping_trace(self);
	write_file("trace.rtd.meta", meta[0], strlen(meta[0]));
	run(self, "report trace.rtd");
	EXPECT_NE(NULL, strstr(self->err, "not recorded: 777 records dropped"));
	write_file("trace.rtd.meta", meta[1], strlen(meta[1]));
	run(self, "report trace.rtd");
	EXPECT_NE(NULL, strstr(self->err, "not recorded: 800 records dropped"));
}

TEST_F(command, marks_after_the_last_record_are_shown)
{
	static const char continued[] = "{\"srcbits\":0,\"continued\":true}";
	struct gen_stream stream;
	unsigned int jobs;

	begin(self, &stream);
	record(&stream, 2, in_fib);
	mark(self, SIFIVE_TRACE_RECORD_DROPPED, 5);
	mark(self, SIFIVE_TRACE_RECORD_WAITED, 2000);
	save(self, "trace.rtd");
	for (jobs = 1; jobs < 3; jobs++) {
		run(self, "decode --strict -j%u --format json trace.rtd", jobs);
		EXPECT_EQ(1, self->status);
		EXPECT_NE(NULL, strstr(self->out, "\n{\"kind\":\"marks\",\"source\":0,\"channel\":6,"
				       "\"dropped\":5,\"waited_ns\":2000}\n"));
		EXPECT_NE(NULL, strstr(self->err, "not recorded: 5 records dropped"));
		run(self, "decode -j%u trace.rtd", jobs);
		EXPECT_NE(NULL, strstr(self->out, "\n# source 0 channel 6: its thread dropped "
				       "5 records here: the buffer had no room\n"
				       "# source 0 channel 6: its thread waited 2.000 us here: "
				       "the buffer had no room\n"));
	}
	/* The record that follows the marks is in the next piece of the recording. */
	write_file("trace.rtd.meta", continued, strlen(continued));
	run(self, "decode --strict trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_EQ(NULL, strstr(self->err, "dropped"));
	EXPECT_EQ(NULL, strstr(self->out, "here"));
}

TEST_F(command, text_shows_marks_before_their_record)
{
	struct gen_stream stream;

	begin(self, &stream);
	record(&stream, 2, in_fib);
	mark(self, SIFIVE_TRACE_RECORD_DROPPED, 1);
	mark(self, SIFIVE_TRACE_RECORD_WAITED, 3000000);
	record(&stream, 2, in_fib);
	record(&stream, 2, in_fib);
	save(self, "trace.rtd");
	run(self, "decode trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, " manual          -  0x21000\n"
			       "# source 0 channel 6: its thread dropped 1 record here: the buffer had no room\n"
			       "# source 0 channel 6: its thread waited 3.000 ms here: the buffer had no room\n"
			       "          1015   0 manual          -  0x21000\n"
			       "          1018   0 manual         10  0x21000\n")) {
		TH_LOG("%s", self->out);
	}
}

/* main (1015 ticks, 1000 of them waiting) calls fib (1006 ticks, including the same wait). */
static void waiting_trace(FIXTURE_DATA(command) *self)
{
	struct gen_stream stream;

	begin(self, &stream);
	record(&stream, 0, in_main);
	record(&stream, 0, in_fib);
	self->gen.now += 1000;
	mark(self, SIFIVE_TRACE_RECORD_WAITED, 1000000);
	record(&stream, 1, in_fib);
	record(&stream, 1, in_main);
	save(self, "trace.rtd");
}

TEST_F(command, waiting_time_is_not_part_of_any_call)
{
	waiting_trace(self);
	/* The user specifies the same rate as the side-car file. */
	run(self, "report --ts-hz 1000000 --format csv -e " PROGRAM " trace.rtd | cut -d , -f 1-4");
	EXPECT_STREQ("function,calls,total,self\n\"main\",1,0.000015000,0.000009000\n"
		     "\"fib\",1,0.000006000,0.000006000\n", self->out);
	EXPECT_NE(NULL, strstr(self->err, "threads waited 1.000 ms for room in the buffer: "
			       "not counted in any call\n")) {
		TH_LOG("%s", self->err);
	}
}

/* Without a rate, nanoseconds cannot be converted to ticks. */
TEST_F(command, calls_that_waited_for_unknown_ticks_are_marked)
{
	waiting_trace(self);
	run(self, "report -e " PROGRAM " trace.rtd | tail -n +4 | cut -c -32");
	EXPECT_STREQ("         1      ~1015         ~9\n         1      ~1006         ~0\n", self->out) {
		TH_LOG("%s", self->out);
	}
	EXPECT_NE(NULL, strstr(self->err, "threads waited 1.000 ms for room in the buffer: "
			       "calls include this time, marked ~"));
	EXPECT_NE(NULL, strstr(self->err, "2 of 2 calls have a time that is inferred"));
	run(self, "export -q --format chrome -e " PROGRAM " -o t.json trace.rtd");
	EXPECT_EQ(0, system("test $(grep -c '\"waited\":\"unknown\"' t.json) = 2"));
}

TEST_F(command, timelines_show_how_long_calls_waited)
{
	waiting_trace(self);
	run(self, "export -q --ts-hz 1000000 --format chrome -e " PROGRAM " -o t.json trace.rtd");
	run(self, "export -q --ts-hz 1000000 --format html -e " PROGRAM " -o t.html trace.rtd");
	python(_metadata,
	       "import json\n"
	       "events = json.load(open('t.json'))['traceEvents']\n"
	       "ends = [e for e in events if e['ph'] == 'E']\n"
	       "assert [e['args']['waited'] for e in ends] == [1000, 1000], ends\n"
	       "begun = {e['name']: e['ts'] for e in events if e['ph'] == 'B'}\n"
	       "own = ends[1]['ts'] - begun['main'] - ends[1]['args']['waited']\n"
	       "assert own == 15, own\n"
	       "from page_calls import load\n"
	       "calls = [(c['length'], c['waited'], c['self_inferred']) for c in load('t.html')['calls']]\n"
	       "assert calls == [(1015, 1000, 0), (1006, 1000, 0)], calls\n");
	run(self, "export -q --ts-hz 1000000 --format perfetto -e " PROGRAM " -o t.pf trace.rtd");
	if (self->status == 0) {
		run(self, "report -q --ts-hz 1000000 --by thread --format csv -e " PROGRAM " -o t.csv trace.rtd");
		EXPECT_EQ(0, system("python3 -B " SOURCES "/perfetto.py t.pf t.csv >/dev/null"));
	}
}

static void waiting_in_a_selection(struct __test_metadata *_metadata,
				   FIXTURE_DATA(command) *self, const char *browser)
{
	waiting_trace(self);
	run(self, "export -q --ts-hz 1000000 --format html -e " PROGRAM " -o t.html trace.rtd");
	if (!browse(_metadata, self, browser, "--selected t.html"))
		return;
	EXPECT_STREQ("[[\"1\", \"0\", \"15 us\", \"9 us\", \"main\"], "
		     "[\"1\", \"0\", \"6 us\", \"6 us\", \"fib\"]]\n", self->out);
}

TEST_F(command, selection_excludes_waiting_time)
{
	waiting_in_a_selection(_metadata, self, CHROMIUM);
}

TEST_F(command, selection_in_firefox_excludes_waiting_time)
{
	waiting_in_a_selection(_metadata, self, FIREFOX);
}

/* It is unknown which function ran until the gap's end, so no self time includes that period. */
static void loss_in_a_selection(struct __test_metadata *_metadata, FIXTURE_DATA(command) *self,
				const char *browser)
{
	struct gen_stream stream;

	begin(self, &stream);
	record(&stream, 0, in_main);
	record(&stream, 0, in_fib);
	record(&stream, 1, in_fib);
	mark(self, SIFIVE_TRACE_RECORD_DROPPED, 3);
	record(&stream, 0, in_fib);
	record(&stream, 1, in_fib);
	record(&stream, 1, in_main);
	save(self, "trace.rtd");
	run(self, "export -q --format html -e " PROGRAM " -o t.html trace.rtd");
	python(_metadata,
	       "from page_calls import load\n"
	       "marked = [c['self_inferred'] for c in load('t.html')['calls']]\n"
	       "assert marked == [1, 0, 0], marked\n");
	if (!browse(_metadata, self, browser, "--selected t.html"))
		return;
	EXPECT_NE(NULL, strstr(self->out, " ticks\", \"~"));
	EXPECT_NE(NULL, strstr(self->out, "\"8 ticks\", \"8 ticks\", \"fib\"")) {
		TH_LOG("%s", self->out);
	}
}

TEST_F(command, selection_marks_self_times_with_a_loss)
{
	loss_in_a_selection(_metadata, self, CHROMIUM);
}

TEST_F(command, selection_in_firefox_marks_self_times_with_a_loss)
{
	loss_in_a_selection(_metadata, self, FIREFOX);
}

/*
 * The count of a call that contains a loss is too low, unlike the counts of calls before and after
 * that call.
 */
static void losing_trace(FIXTURE_DATA(command) *self)
{
	struct gen_stream stream;

	begin(self, &stream);
	record(&stream, 0, in_main);
	record(&stream, 0, in_fib);
	record(&stream, 1, in_fib);
	mark(self, SIFIVE_TRACE_RECORD_DROPPED, 3);
	record(&stream, 0, in_fib);
	record(&stream, 1, in_fib);
	record(&stream, 1, in_main);
	save(self, "trace.rtd");
}

TEST_F(command, tables_mark_counts_of_calls_with_a_loss)
{
	losing_trace(self);
	run(self, "report -q -e " PROGRAM " trace.rtd | grep -E 'main|fib'");
	EXPECT_NE(NULL, strstr(self->out, "  ~40       ~20  main\n")) {
		TH_LOG("%s", self->out);
	}
	EXPECT_NE(NULL, strstr(self->out, "   20        20  fib\n"));
	run(self, "report -q --csv --sort name -e " PROGRAM " trace.rtd | cut -d , -f 1,5,6,8");
	EXPECT_STREQ("function,cycles:total,cycles:self,counts\n\"fib\",20,20,exact\n"
		     "\"main\",40,20,partial\n", self->out);
	run(self, "report -q --json -e " PROGRAM " trace.rtd | grep main");
	EXPECT_NE(NULL, strstr(self->out, "\"counts\":\"partial\""));
	run(self, "report -q --diff trace.rtd --json -e " PROGRAM " trace.rtd | grep main");
	EXPECT_NE(NULL, strstr(self->out,
			       "\"counts:before\":\"partial\",\"counts:after\":\"partial\""));
	run(self, "report -q --diff trace.rtd --csv -e " PROGRAM " trace.rtd | head -1");
	EXPECT_NE(NULL, strstr(self->out, ",counts:before,counts:after\n"));
	run(self, "report -q --diff trace.rtd --width 200 -e " PROGRAM " trace.rtd | grep main");
	EXPECT_NE(NULL, strstr(self->out, " ~= "));
	EXPECT_NE(NULL, strstr(self->out, " ~40 "));
	run(self, "report -q --columns cycles/cycles -e " PROGRAM " trace.rtd | grep main");
	EXPECT_NE(NULL, strstr(self->out, "~1.000"));
	run(self, "graph -q --counter cycles -e " PROGRAM " trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "~40  main\n"));
	EXPECT_NE(NULL, strstr(self->out, " 20    fib\n"));
	run(self, "graph -q --by thread --counter cycles -e " PROGRAM " trace.rtd | grep source");
	EXPECT_NE(NULL, strstr(self->out, "~40  source 0\n"));
	run(self, "graph -q --json -e " PROGRAM " trace.rtd | grep -E 'main|fib'");
	EXPECT_NE(NULL, strstr(self->out, "\"cycles:total\":40,\"times\":\"exact\","
					  "\"counts\":\"partial\"}"));
	EXPECT_NE(NULL, strstr(self->out, "\"counts\":\"exact\"}"));
}

TEST_F(command, exports_mark_counts_of_calls_with_a_loss)
{
	losing_trace(self);
	run(self, "export -q --format folded --weight cycles -e " PROGRAM " trace.rtd");
	EXPECT_STREQ("source 0;main (partial) 20\nsource 0;main (partial);fib 20\n", self->out);
	run(self, "export -q --format folded --weight calls -e " PROGRAM " trace.rtd");
	EXPECT_STREQ("source 0;main 1\nsource 0;main;fib 2\n", self->out);
	run(self, "export -q --format svg --weight cycles -e " PROGRAM " trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "<title>main (~40 cycles"));
	EXPECT_NE(NULL, strstr(self->out, "<title>fib (20 cycles"));
	run(self, "export -q --format html --weight cycles -e " PROGRAM " -o t.html trace.rtd");
	python(_metadata,
	       "from page_calls import load\n"
	       "page = load('t.html')\n"
	       "marked = sorted(c['partial'] for c in page['calls'])\n"
	       "assert marked == [0, 0, 1], marked\n"
	       "names = [f for f, mark in zip(page['functions'], page['partial']) if mark]\n"
	       "assert names == ['main'], names\n"
	       "marked = [page['functions'][n[1]] for n in page['tree'] if n[5:]]\n"
	       "assert marked == ['main'], marked\n");
}

/* In these formats, only the names of frames can carry a mark. */
static const char names_of_frames[] =
	"import json\n"
	"def frames(name):\n"
	"    for suffix in 'time', 'cycles':\n"
	"        page = json.load(open(f'{name}.{suffix}'))\n"
	"        if name == 'speedscope':\n"
	"            all = [f['name'] for f in page['shared']['frames']]\n"
	"            yield [all[e['frame']] for p in page['profiles'] for e in p['events']\n"
	"                   if e['type'] == 'O']\n"
	"        else:\n"
	"            t = page['threads'][0]\n"
	"            yield [t['stringArray'][t['funcTable']['name'][t['frameTable']['func'][f]]]\n"
	"                   for f in t['stackTable']['frame']]\n"
	"for name in 'speedscope', 'firefox':\n"
	"    times, cycles = frames(name)\n"
	"    assert times == ['main (inferred)', 'fib'], times\n"
	"    assert cycles == ['main (partial)', 'fib'], cycles\n";

TEST_F(command, frames_mark_inferred_times_and_counts_of_calls_with_a_loss)
{
	static const char * const formats[] = { "speedscope", "firefox" };
	unsigned int i;

	losing_trace(self);
	run(self, "export -q --format folded -e " PROGRAM " trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "source 0;main (inferred);fib 8\n")) {
		TH_LOG("%s", self->out);
	}
	for (i = 0; i < 2; i++) {
		run(self, "export -q --format %s -e " PROGRAM " -o %s.time trace.rtd", formats[i],
		    formats[i]);
		run(self, "export -q --format %s --weight cycles -e " PROGRAM
		    " -o %s.cycles trace.rtd", formats[i], formats[i]);
	}
	python(_metadata, names_of_frames);
}

TEST_HARNESS_MAIN
