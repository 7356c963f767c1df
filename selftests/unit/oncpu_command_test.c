// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests the commands' output of times on and off the CPU: their units, and the marks of inexact
 * times.
 */
#include "browser.h"
#include "switches_fixture.h"

/* More records than fit in the window in which the reader sorts the harts' messages. */
#define FAR	2048

/* main { fib { sleeps for 10 ms } sleeps for 100 us } */
static void make_naps(FIXTURE_DATA(command) *self, const char *more)
{
	struct gen_stream stream;

	begin(self, 0);
	sync_at(self, 0, 1000);
	put_begin(self, &stream, 0);
	IN(0, 2000);
	put_record(self, &stream, 3000, 0, MAIN);
	put_record(self, &stream, 4000, 0, FIB);
	SLEEPS(0, 5000);
	IN(0, 15000);
	put_record(self, &stream, 16000, 1, FIB);
	SLEEPS(0, 17000);
	IN(0, 17100);
	put_record(self, &stream, 18000, 1, MAIN);
	EXITED(0, 19000);
	save_with(self, 0, more);
}

/*
 * Save a trace with calls to lengthy, fib and fib again. Without an absolute timestamp, a source
 * has no times.
 */
static void make_untimed(FIXTURE_DATA(command) *self)
{
	struct gen_stream stream;

	begin(self, 0);
	put_begin(self, &stream, 0);
	IN(0, 100);
	put_record(self, &stream, 200, 0, LENGTHY);
	put_record(self, &stream, 300, 1, LENGTHY);
	put_record(self, &stream, 400, 0, FIB);
	put_record(self, &stream, 500, 1, FIB);
	SLEEPS(0, 600);
	sync_at(self, 0, 1000);
	IN(0, 2000);
	put_record(self, &stream, 3000, 0, FIB);
	put_record(self, &stream, 4000, 1, FIB);
	EXITED(0, 5000);
	save_with(self, 0, "");
}

/* Return the line with a function, or "" if there is none. */
static const char *line_of(FIXTURE_DATA(command) *self, uint64_t function)
{
	static char line[1024];
	char name[32], *at, *start;

	snprintf(name, sizeof(name), "0x%llx", (unsigned long long)function);
	at = strstr(self->out, name);
	if (!at)
		return "";
	for (start = at; start > self->out && start[-1] != '\n'; start--)
		;
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(start, "\n"), start);
	return line;
}

static unsigned int count(const char *text, const char *word)
{
	unsigned int found = 0;

	while ((text = strstr(text, word))) {
		found++;
		text += strlen(word);
	}
	return found;
}

#define EXPECT_NEAR(wanted, value) \
	EXPECT_GT(1e-9, (value) > (wanted) ? (value) - (wanted) : (wanted) - (value)) { \
		TH_LOG("%s", self->out); \
	}

TEST_F(command, csv_contains_times_on_and_off_the_cpu)
{
	make_naps(self, "");
	run(self, "export -q " HZ "--format csv -o t.csv trace.rtd; "
	    COMMAND " report -q " HZ "--json -o r.json trace.rtd; "
	    SOURCES "/sql.py t.csv r.json");
	EXPECT_EQ(0, self->status) {
		TH_LOG("%s", self->err);
	}
	run(self, "export -q " HZ "--format csv trace.rtd | grep ',call,' | rev | cut -d, -f1-9 | rev");
	/* The columns are cpu_times_inferred, each time and its self part, and the counter. */
	EXPECT_STREQ("0,2000000,2000000,10000000,10000000,0,0,0,0\n"
		     "0,4900000,2900000,10100000,100000,0,0,0,0\n", self->out) {
		TH_LOG("%s", self->out);
	}
	/* The thread may have run on a hart that is not in the trace. */
	make_naps(self, ",\"lost\":{\"elsewhere\":1}");
	run(self, "export -q " HZ "--format csv trace.rtd | grep -c ',1,2000000,2000000,'");
	EXPECT_STREQ("1\n", self->out);
}

TEST_F(command, function_without_times_has_none_on_or_off_the_cpu)
{
	make_untimed(self);
	run(self, "report --width 200 " HZ "trace.rtd");
	EXPECT_EQ(0, self->status);
	/* Seven columns show "-": total, self, self%, and total and self of both on-cpu and off-cpu. */
	EXPECT_LE(7, count(line_of(self, LENGTHY), " -")) { TH_LOG("%s", self->out); }
	EXPECT_HAS(self->err, "2 context switches have no time");
	EXPECT_LACKS(self->err, "may be missing");
	run(self, "report -q --csv trace.rtd");
	EXPECT_STREQ("\"0x22000\",1,,,,,,,,,0,0,unknown,exact", line_of(self, LENGTHY));
	EXPECT_STREQ("\"0x21000\",2,1000,1000,1000,1000,0,0,0,0,0,0,partial,exact", line_of(self, FIB));
	run(self, "report -q --json trace.rtd");
	EXPECT_HAS(line_of(self, LENGTHY), "\"on-cpu:total\":null,\"on-cpu:self\":null");
	EXPECT_HAS(line_of(self, FIB), "\"off-cpu:total\":0,\"off-cpu:self\":0");
	run(self, "graph -q --counter off-cpu trace.rtd");
	EXPECT_EQ(3, count(line_of(self, LENGTHY), " -")) { TH_LOG("%s", self->out); }
	run(self, "graph -q --json trace.rtd");
	EXPECT_HAS(line_of(self, LENGTHY), "\"off-cpu:total\":null");
}

TEST_F(command, graph_marks_times_on_the_cpu_if_a_call_has_no_time)
{
	make_untimed(self);
	run(self, "graph -q --counter on-cpu trace.rtd");
	/* total, self, on-cpu */
	EXPECT_EQ(3, count(line_of(self, FIB), "~")) { TH_LOG("%s", self->out); }
	make_naps(self, "");
	run(self, "graph -q --counter on-cpu trace.rtd");
	EXPECT_LACKS(line_of(self, FIB), "~");
}

TEST_F(command, csv_and_json_state_if_times_on_and_off_the_cpu_are_exact)
{
	make_naps(self, "");
	run(self, "report -q --csv trace.rtd");
	EXPECT_HAS(line_of(self, FIB), ",exact");
	run(self, "report -q --json trace.rtd");
	EXPECT_HAS(self->out, "\"exited\":true,\"exact\":true}");
	run(self, "graph -q --json trace.rtd");
	EXPECT_HAS(line_of(self, FIB), "\"times\":\"exact\"");
	make_naps(self, ",\"lost\":{\"switches\":3}");
	run(self, "report -q --csv trace.rtd");
	EXPECT_HAS(line_of(self, FIB), ",inferred");
	run(self, "report -q --json trace.rtd");
	EXPECT_HAS(line_of(self, FIB), "\"times\":\"inferred\"");
	EXPECT_HAS(self->out, "\"exited\":true,\"exact\":false}");
	run(self, "graph -q --json trace.rtd");
	EXPECT_HAS(line_of(self, FIB), "\"times\":\"inferred\"");
}

TEST_F(command, replay_shows_only_long_times_off_the_cpu)
{
	const char *outer, *inner, *nap;

	make_naps(self, "");
	run(self, "replay -q " HZ "trace.rtd");
	EXPECT_EQ(2, count(self->out, "off the CPU: sleeps"));
	run(self, "replay -q " HZ "--time-threshold 1ms trace.rtd");
	EXPECT_EQ(1, count(self->out, "off the CPU: sleeps")) { TH_LOG("%s", self->out); }
	outer = strstr(self->out, "0x20000() {");
	inner = strstr(self->out, "0x21000() {");
	nap = strstr(self->out, "off the CPU");
	ASSERT_NE(NULL, outer) { TH_LOG("%s", self->out); }
	ASSERT_NE(NULL, inner);
	ASSERT_NE(NULL, nap);
	EXPECT_LT(outer, inner);
	EXPECT_LT(inner, nap);
	run(self, "replay -q " HZ "--time-threshold 11ms trace.rtd");
	EXPECT_LACKS(self->out, "off the CPU");
	EXPECT_HAS(self->out, "0x21000()");
}

TEST_F(command, exports_scale_times_on_and_off_the_cpu)
{
	make_naps(self, "");
	run(self, "export -q " HZ "--format folded --weight off-cpu trace.rtd");
	EXPECT_HAS(self->out, ";0x20000 100000\n");
	EXPECT_HAS(self->out, ";0x20000;0x21000 10000000\n");
	run(self, "export -q --format folded --weight off-cpu trace.rtd");
	EXPECT_HAS(self->out, ";0x20000;0x21000 10000\n");
	run(self, "export -q " HZ "--format speedscope --weight off-cpu trace.rtd");
	EXPECT_HAS(self->out, "\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":10100000,");
	run(self, "export -q " HZ "--format svg --weight off-cpu trace.rtd");
	EXPECT_HAS(self->out, "<title>0x21000 (10.000 ms, 99.01%");
	run(self, "export -q --format svg --weight off-cpu trace.rtd");
	EXPECT_HAS(self->out, "<title>0x21000 (10000 ticks, 99.01%");
	run(self, "export -q " HZ "--format firefox --weight off-cpu trace.rtd");
	EXPECT_HAS(self->out, "\"weightType\":\"tracing-ms\"");
	run(self, "export -q " HZ "--format html --weight off-cpu trace.rtd");
	EXPECT_HAS(self->out, "\"weight\":\"off-cpu\",\n\"weightIsTime\":true");
	run(self, "export -q --format html --weight calls trace.rtd");
	EXPECT_HAS(self->out, "\"weightIsTime\":false");
	make_naps(self, ",\"lost\":{\"switches\":3}");
	run(self, "export -q " HZ "--format svg --weight off-cpu trace.rtd");
	EXPECT_HAS(self->out, "<title>0x21000 (~10.000 ms");
}

TEST_F(command, pprof_scales_times_on_and_off_the_cpu)
{
	make_naps(self, "");
	run(self, "export -q " HZ "--format pprof -o t.pb.gz trace.rtd");
	if (strstr(self->err, "is not in this command: it was built without"))
		SKIP(return, "no libprotobuf-c: install libprotobuf-c-dev");
	run(self, "report -q --csv " HZ "trace.rtd >r.csv; " COMMAND " report -q --csv --by thread "
	    HZ "trace.rtd >t.csv; " SOURCES "/pprof.py t.pb.gz r.csv t.csv");
	EXPECT_EQ(0, self->status) { TH_LOG("%s", self->err); }
	EXPECT_HAS(self->out, "15000000\n");
	run(self, "--version; " SOURCES "/pprof.py t.pb.gz");
	EXPECT_LACKS(self->out, "inferred");
	make_naps(self, ",\"lost\":{\"switches\":3}");
	run(self, "export -q " HZ "--format pprof -o t.pb.gz trace.rtd; " SOURCES "/pprof.py t.pb.gz");
	EXPECT_HAS(self->out, "'times on and off the CPU: inferred'");
}

TEST_F(command, chrome_scales_times_on_and_off_the_cpu_like_calls)
{
	make_naps(self, "");
	run(self, "export -q " HZ "--format chrome trace.rtd");
	EXPECT_HAS(self->out, "{\"on-cpu_us\":2000.000,\"off-cpu_us\":10000.000,\"unknown-cpu_us\":0.000,");
	EXPECT_HAS(self->out, "{\"on-cpu_us\":4900.000,\"off-cpu_us\":10100.000,");
	EXPECT_HAS(self->out, "\"name\":\"off-cpu share thread 100\",\"ts\":4000.000,\"args\":{\"value\":0.833333}");
	EXPECT_LACKS(self->out, "off-cpu/s");
	EXPECT_LACKS(self->out, "inferred");
	run(self, "export -q --format chrome trace.rtd");
	EXPECT_HAS(self->out, "{\"on-cpu_ticks\":2000,\"off-cpu_ticks\":10000,");
	EXPECT_HAS(self->out, "\"name\":\"off-cpu share thread 100\",\"ts\":4000,\"args\":{\"value\":0.833333}");
	make_naps(self, ",\"lost\":{\"switches\":3}");
	run(self, "export -q " HZ "--format chrome trace.rtd");
	EXPECT_HAS(self->out, "\"cpu_times\":\"inferred\"");
	EXPECT_HAS(self->out, "\"cat\":\"cpu\",\"id\":1,\"name\":\"sleeps\",\"args\":{\"time\":\"inferred\"}}");
}

TEST_F(command, perfetto_scales_times_on_and_off_the_cpu_like_calls)
{
	static const char * const rates[] = { "", HZ };
	unsigned int i;

	make_naps(self, "");
	for (i = 0; i < 2; i++) {
		run(self, "export -q %s --format perfetto -o t.pftrace trace.rtd", rates[i]);
		if (strstr(self->err, "is not in this command: it was built without"))
			SKIP(return, "no libprotobuf-c: install libprotobuf-c-dev");
		run(self, "report -q --csv --by thread %s trace.rtd >t.csv; "
		    SOURCES "/perfetto.py t.pftrace t.csv", rates[i]);
		EXPECT_EQ(0, self->status) { TH_LOG("%s", self->err); }
		run(self, "--version; " SOURCES "/perfetto.py t.pftrace");
		EXPECT_HAS(self->out, i ? "count on-cpu_ns thread 100 4900000\n" :
					  "count on-cpu_ticks thread 100 4900\n");
		EXPECT_LACKS(self->out, "inferred");
	}
	make_naps(self, ",\"lost\":{\"elsewhere\":1}");
	run(self, "export -q --format perfetto -o t.pftrace trace.rtd; "
	    SOURCES "/perfetto.py t.pftrace");
	EXPECT_HAS(self->out, "inferred thread 100 on/off CPU time\n");
	EXPECT_HAS(self->out, "inferred thread 100 cpu_times\n");
}

TEST_F(command, html_scales_times_on_and_off_the_cpu)
{
	make_naps(self, "");
	run(self, "export -q " HZ "--format html -o t.html trace.rtd");
	EXPECT_EQ(0, system("grep -q '\"times\":3,' t.html"));
	EXPECT_EQ(0, system("grep -q '\"counter\":\"off-cpu\",\"time\":true,' t.html"));
	EXPECT_EQ(0, system("grep -q '\"counter\":\"cycles\",\"count\":' t.html"));
	if (!browse(_metadata, self, CHROMIUM, "--shown t.html"))
		return;
	EXPECT_HAS(self->out, "\"2 ms\", \"10 ms\", \"0 ns\", ");
	EXPECT_HAS(self->out, "\"off-cpu, thread 100: up to 83.3%\"");
}

/* main { fib { sleeps; meanwhile records of another hart are missing } } */
TEST_F(command, flame_graph_marks_callers_of_functions_with_unknown_times)
{
	struct gen_stream stream;

	begin(self, 1);
	sync_at(self, 1, 1000);
	put_switch(self, 1, 1000, SIFIVE_TRACE_SWITCH_BEGIN);
	sync_at(self, 0, 1000);
	put_begin(self, &stream, 0);
	IN(0, 1000);
	put_record(self, &stream, 2000, 0, MAIN);
	put_record(self, &stream, 2500, 0, FIB);
	SLEEPS(0, 3000);
	put_switch_of(self, 1, 5000, SIFIVE_TRACE_SWITCH_IN, TID + 1);
	put_switch_of(self, 1, 6000, SIFIVE_TRACE_SWITCH_SLEEPS, TID + 1);
	put_switch(self, 1, 15000, SIFIVE_TRACE_SWITCH_BEGIN);
	IN(0, 20000);
	put_record(self, &stream, 22000, 1, FIB);
	put_record(self, &stream, 23000, 1, MAIN);
	EXITED(0, 24000);
	save_with(self, 1, "");
	run(self, "export -q " HZ "--format svg --weight on-cpu trace.rtd");
	EXPECT_HAS(self->out, "<title>0x21000 (~2.500 ms");
	EXPECT_HAS(self->out, "<title>0x20000 (~4.000 ms");
	EXPECT_HAS(self->out, "<title>all (~4.000 ms");
	make_naps(self, "");
	run(self, "export -q " HZ "--format svg --weight on-cpu trace.rtd");
	EXPECT_LACKS(self->out, "(~");
}

/* Calls without a time are not in the page, so the times of their callees are not subtracted. */
TEST_F(command, selection_marks_functions_with_untimed_calls)
{
	struct gen_stream stream;

	begin(self, 0);
	put_begin(self, &stream, 0);
	IN(0, 100);
	put_record(self, &stream, 200, 0, MAIN);
	put_record(self, &stream, 300, 0, LENGTHY);
	put_record(self, &stream, 400, 1, LENGTHY);
	sync_at(self, 0, 1000);
	put_record(self, &stream, 3000, 0, FIB);
	put_record(self, &stream, 4000, 1, FIB);
	put_record(self, &stream, 5000, 1, MAIN);
	EXITED(0, 6000);
	save_with(self, 0, "");
	run(self, "export -q --format html -o t.html trace.rtd");
	python(_metadata,
	       "from page_calls import load\n"
	       "page = load('t.html')\n"
	       "names = {page['functions'][i] for i in page['untimed']}\n"
	       "assert names == {'0x20000', '0x22000'}, names\n");
	if (!browse(_metadata, self, CHROMIUM, "--selected t.html"))
		return;
	EXPECT_STREQ("[[\"1\", \"0\", \"1000 ticks\", \"1000 ticks\", \"0x21000\"], "
		     "[\"~0\", \"0\", \"~0 ticks\", \"~0 ticks\", \"0x20000\"]]\n", self->out);
}

TEST_F(command, overlapping_runs_of_a_thread_are_not_counted_twice)
{
	unsigned long long total, on, off, unknown;
	struct gen_stream stream;

	begin(self, 1);
	sync_at(self, 1, 900);
	put_begin(self, &stream, 1);
	put_record(self, &stream, 900, 0, MAIN);
	sync_at(self, 0, 1000);
	put_switch(self, 0, 1000, SIFIVE_TRACE_SWITCH_BEGIN);
	IN(0, 1000);
	EXITED(0, 2000);
	while (self->gen.length < FAR)
		gen_store(&self->gen, 0, CHANNEL - 1, 4, 0);
	IN(1, 1500);
	SLEEPS(1, 3000);
	IN(1, 3050);
	put_record(self, &stream, 3100, 1, MAIN);
	EXITED(1, 3200);
	save_with(self, 1, "");
	run(self, "report --csv trace.rtd");
	ASSERT_EQ(4, sscanf(line_of(self, MAIN), "%*[^,],1,%llu,%*u,%llu,%*u,%llu,%*u,%llu,",
			    &total, &on, &off, &unknown)) { TH_LOG("%s", self->out); }
	EXPECT_EQ(2200, total);
	/*
	 * The thread runs from tick 1000, except for 50 ticks; its state before the first
	 * switch is unknown.
	 */
	EXPECT_EQ(2050, on) { TH_LOG("%s", self->out); }
	EXPECT_EQ(50, off);
	EXPECT_EQ(100, unknown);
	EXPECT_HAS(self->err, "may be missing in 1 places");
}

TEST_F(command, diff_marks_inexact_times_on_and_off_the_cpu)
{
	make_naps(self, ",\"lost\":{\"switches\":3}");
	run(self, "report -q trace.rtd && cp trace.rtd later.rtd && cp trace.rtd.meta later.rtd.meta");
	make_naps(self, "");
	run(self, "report -q --width 300 " HZ "--diff later.rtd trace.rtd");
	EXPECT_HAS(line_of(self, FIB), " 12.000 ms  12.000 ms        =");
	EXPECT_HAS(line_of(self, FIB), "   2.000 ms  ~2.000 ms       ~=");
	EXPECT_HAS(line_of(self, FIB), "  10.000 ms ~10.000 ms       ~=");
	run(self, "report -q --csv --diff later.rtd trace.rtd");
	EXPECT_HAS(self->out, ",times:before,times:after,counts:before,counts:after\n");
	EXPECT_HAS(line_of(self, FIB), ",exact,inferred");
	run(self, "report -q --json --diff later.rtd trace.rtd");
	EXPECT_HAS(line_of(self, FIB), "\"times:before\":\"exact\",\"times:after\":\"inferred\"");
	make_untimed(self);
	run(self, "report -q --width 300 " HZ "--diff later.rtd trace.rtd");
	EXPECT_HAS(line_of(self, LENGTHY), " -   0.000 ns        ?");
	run(self, "report -q --width 300 " HZ "--diff trace.rtd later.rtd");
	EXPECT_HAS(line_of(self, FIB), "~1.000 ms");
}

/* Add an Error message without a timestamp, like those that the driver adds after a pause. */
static void put_error(FIXTURE_DATA(command) *self, unsigned int src)
{
	const unsigned int width = self->gen.ts_width;

	self->gen.ts_width = 0;
	gen_error(&self->gen, src);
	self->gen.ts_width = width;
}

/* Return the value of a key in the JSON object of thread @tid. */
static double of_thread(FIXTURE_DATA(command) *self, unsigned int tid, const char *key)
{
	const char *threads = strstr(self->out, "\"threads\":[");
	char name[32];
	const char *at;

	snprintf(name, sizeof(name), "\"tid\":%u,", tid);
	at = threads ? strstr(threads, name) : NULL;
	snprintf(name, sizeof(name), "\"%s\":", key);
	at = at ? strstr(at, name) : NULL;
	return at ? strtod(at + strlen(name), NULL) : -1;
}

/* A thread sleeps from 3 to 20 ms, and recording pauses from 14 to 20. The other hart is idle. */
TEST_F(command, times_known_before_a_pause_remain_known)
{
	struct gen_stream stream;
	unsigned int src;

	begin(self, 1);
	for (src = 0; src < 2; src++) {
		sync_at(self, src, 1000);
		put_switch(self, src, 1000, SIFIVE_TRACE_SWITCH_BEGIN);
	}
	gen_stream_init(&stream, &self->gen, 0, 6, 1, 1, 64);
	gen_header(&stream);
	IN(0, 1000);
	put_record(self, &stream, 2000, 0, MAIN);
	SLEEPS(0, 3000);
	for (src = 0; src < 2; src++)
		put_switch_of(self, src, 14000, SIFIVE_TRACE_SWITCH_END, 0);
	for (src = 0; src < 2; src++)
		put_error(self, src);
	for (src = 0; src < 2; src++) {
		sync_at(self, src, 20000 + 100 * src);
		put_switch(self, src, 20000 + 100 * src, SIFIVE_TRACE_SWITCH_BEGIN);
		if (!src)
			IN(0, 20000);
	}
	gen_header(&stream);
	put_record(self, &stream, 23000, 1, MAIN);
	EXITED(0, 24000);
	put_switch_of(self, 1, 24000, SIFIVE_TRACE_SWITCH_END, 0);
	save_with(self, 1, "");
	run(self, "report --json " HZ "trace.rtd");
	EXPECT_NEAR(0.011, of_thread(self, TID, "off-cpu"));
	EXPECT_NEAR(0.006, of_thread(self, TID, "unknown"));
	EXPECT_NEAR(0.023, of_thread(self, TID, "wall"));
	EXPECT_LACKS(self->err, "may be missing");
	EXPECT_LACKS(self->out, "\"tid\":0,");
	run(self, "decode -q trace.rtd");
	EXPECT_EQ(3, count(self->out, "no thread\n")) { TH_LOG("%s", self->out); }
}

TEST_F(command, missing_begin_mark_is_reported_as_loss)
{
	struct gen_stream stream;

	begin(self, 0);
	sync_at(self, 0, 1000);
	put_begin(self, &stream, 0);
	IN(0, 1000);
	put_record(self, &stream, 2000, 0, MAIN);
	put_switch(self, 0, 3000, SIFIVE_TRACE_SWITCH_END);
	put_error(self, 0);
	IN(0, 20000);
	put_record(self, &stream, 23000, 1, MAIN);
	EXITED(0, 24000);
	save_with(self, 0, "");
	run(self, "report --json " HZ "trace.rtd");
	EXPECT_HAS(self->err, "may be missing in 1 places");
}

/* Two harts are unknown, from 10 to 20 ms and from 5 to 30 ms; a thread sleeps from 3 to 40 ms. */
TEST_F(command, time_in_overlapping_losses_is_unknown_once)
{
	struct gen_stream stream;
	unsigned int src;

	begin(self, 2);
	for (src = 0; src < 3; src++) {
		sync_at(self, src, 1000);
		put_begin(self, &stream, src);
	}
	IN(0, 2000);
	SLEEPS(0, 3000);
	for (src = 2; src; src--) {
		put_switch_of(self, src, 11000 - 4000 * src, SIFIVE_TRACE_SWITCH_IN, TID + src);
		put_switch_of(self, src, 15000 - 5000 * src, SIFIVE_TRACE_SWITCH_SLEEPS, TID + src);
	}
	put_switch(self, 1, 20000, SIFIVE_TRACE_SWITCH_BEGIN);
	put_switch(self, 2, 30000, SIFIVE_TRACE_SWITCH_BEGIN);
	put_record(self, &stream, 30000, 0, MAIN);
	IN(0, 40000);
	EXITED(0, 41000);
	save_with(self, 2, "");
	run(self, "report -q --json " HZ "trace.rtd");
	EXPECT_NEAR(0.025, of_thread(self, TID, "unknown"));
	EXPECT_NEAR(0.012, of_thread(self, TID, "off-cpu"));
}

/*
 * Thread TID + 1 executes another program and takes over the id TID, whose previous thread has
 * ended.
 */
TEST_F(command, exec_in_another_thread_continues_with_the_process_id)
{
	struct gen_stream stream;

	begin(self, 0);
	sync_at(self, 0, 1000);
	put_begin(self, &stream, 0);
	IN(0, 1000);
	EXITED(0, 2000);
	put_switch_of(self, 0, 3000, SIFIVE_TRACE_SWITCH_IN, TID + 1);
	put_switch_of(self, 0, 5000, SIFIVE_TRACE_SWITCH_EXITED, TID + 1);
	IN(0, 5000);
	put_record(self, &stream, 6000, 0, MAIN);
	SLEEPS(0, 7000);
	IN(0, 9000);
	put_record(self, &stream, 10000, 1, MAIN);
	EXITED(0, 11000);
	save_with(self, 0, "");
	run(self, "report --json " HZ "trace.rtd");
	EXPECT_LACKS(self->err, "may be missing");
	EXPECT_NEAR(0.002, of_thread(self, TID + 1, "wall"));
	EXPECT_NEAR(0.002, of_thread(self, TID + 1, "on-cpu"));
	EXPECT_NEAR(0.005, of_thread(self, TID, "on-cpu"));
	EXPECT_NEAR(0.002, of_thread(self, TID, "off-cpu"));
	EXPECT_NEAR(0, of_thread(self, TID, "unknown"));
	run(self, "report -q --csv " HZ "trace.rtd");
	EXPECT_HAS(line_of(self, MAIN), ",0.002000000,0.002000000,0.002000000,0.002000000,0.000000000,0.000000000,0,0,exact");
}

TEST_F(command, times_are_marked_if_threads_ran_on_unrecorded_cpus)
{
	make_naps(self, ",\"lost\":{\"elsewhere\":2}");
	run(self, "report " HZ "trace.rtd");
	EXPECT_HAS(self->out, "   ~2.000 ms   ~2.000 ms  ~10.000 ms  ~10.000 ms  0x21000\n");
	EXPECT_HAS(self->err, "threads started running 2 times on CPUs that are not recorded");
	run(self, "report -q --json trace.rtd");
	EXPECT_HAS(self->out, "\"elsewhere\":2");
	EXPECT_HAS(self->out, "\"exited\":true,\"exact\":false}");
}

/* The thread is already running at the first wake-up. */
TEST_F(command, wakeup_latency_is_shown)
{
	struct gen_stream stream;

	begin(self, 0);
	sync_at(self, 0, 1000);
	put_begin(self, &stream, 0);
	IN(0, 2000);
	put_record(self, &stream, 3000, 0, MAIN);
	WOKEN(0, 4000);
	SLEEPS(0, 5000);
	WOKEN(0, 12000);
	IN(0, 15000);
	SLEEPS(0, 16000);
	WOKEN(0, 16500);
	WOKEN(0, 16600);
	IN(0, 17000);
	put_record(self, &stream, 18000, 1, MAIN);
	EXITED(0, 19000);
	save_with(self, 0, ",\"lost\":{\"wakeups\":3}");
	run(self, "report --json " HZ "trace.rtd");
	EXPECT_NEAR(0.017, of_thread(self, TID, "wall"));
	EXPECT_NEAR(0.006, of_thread(self, TID, "on-cpu"));
	EXPECT_NEAR(0.0075, of_thread(self, TID, "sleeps"));
	EXPECT_NEAR(0.0035, of_thread(self, TID, "woken"));
	EXPECT_NEAR(0.003, of_thread(self, TID, "longest"));
	EXPECT_HAS(self->out, "\"wakeups\":2,\"switches\":3,\"exited\":true,\"exact\":true}");
	EXPECT_HAS(self->out, "\"elsewhere\":0,\"wakeups\":3}");
	EXPECT_HAS(self->err, "CPUs that are not recorded woke threads 3 times");
	run(self, "report " HZ "trace.rtd");
	EXPECT_HAS(self->out, "     blocked       woken     longest    switches  thread\n");
	EXPECT_HAS(self->out, "    7.500 ms    3.500 ms    3.000 ms           3  ");
	run(self, "decode " HZ "trace.rtd");
	EXPECT_HAS(self->out, "woken");
	run(self, "replay " HZ "trace.rtd");
	EXPECT_HAS(self->out, "* off the CPU: woken");
}

TEST_F(command, excess_processes_are_not_reported_as_lost_switches)
{
	make_naps(self, ",\"lost\":{\"processes\":2}");
	run(self, "report --strict " HZ "trace.rtd");
	EXPECT_EQ(1, self->status);
	EXPECT_LACKS(self->out, "~");
	EXPECT_HAS(self->err, "context switches of 2 processes, and of their children: too many ran at once");
	EXPECT_LACKS(self->err, "context switches were lost");
	EXPECT_LACKS(self->err, "may be missing");
}

TEST_F(command, excess_threads_are_counted)
{
	struct gen_stream stream;
	unsigned int i, turn;

	begin(self, 0);
	sync_at(self, 0, 1000);
	put_begin(self, &stream, 0);
	IN(0, 1000);
	put_record(self, &stream, 1500, 0, MAIN);
	for (turn = 0; turn < 2; turn++) {
		for (i = 0; i < 4099; i++) {
			SLEEPS(0, self->gen.now + 1);
			put_switch_of(self, 0, self->gen.now + 1, SIFIVE_TRACE_SWITCH_IN, 1000 + i);
			put_switch_of(self, 0, self->gen.now + 1, SIFIVE_TRACE_SWITCH_SLEEPS, 1000 + i);
			IN(0, self->gen.now + 1);
		}
	}
	put_record(self, &stream, self->gen.now + 1, 1, MAIN);
	EXITED(0, self->gen.now + 1);
	save_with(self, 0, "");
	run(self, "report --strict --csv " HZ "trace.rtd");
	EXPECT_EQ(1, self->status);
	EXPECT_HAS(self->err, "3 threads beyond the first 4096 that only the trace names");
	EXPECT_LACKS(self->err, "may be missing");
	EXPECT_HAS(line_of(self, MAIN), ",0.024594000,0.024594000,0.000000000,0.000000000,0,0,");
	make_naps(self, "");
	run(self, "report --strict " HZ "trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_LACKS(self->err, "beyond the first");
}

/*
 * main works, sleeps for 10 ms, works, and waits 5 ms for room: during 4 ms of the wait it
 * sleeps on another hart, whose records are lost unless @known is set.
 */
static void make_wait(FIXTURE_DATA(command) *self, bool known)
{
	struct gen_stream stream;

	begin(self, 0);
	sync_at(self, 0, 1000);
	put_begin(self, &stream, 0);
	IN(0, 1000);
	put_record(self, &stream, 2000, 0, MAIN);
	SLEEPS(0, 3000);
	IN(0, 13000);
	if (known)
		SLEEPS(0, 15500);
	else
		put_switch(self, 0, 15500, SIFIVE_TRACE_SWITCH_BEGIN);
	put_switch(self, 0, 19500, SIFIVE_TRACE_SWITCH_BEGIN);
	IN(0, 19500);
	self->gen.now = 20000;
	gen_store(&self->gen, 0, 6, 1, SIFIVE_TRACE_RECORD_WAITED);
	gen_store(&self->gen, 0, 6, 4, 5000000);
	put_record(self, &stream, 20000, 1, MAIN);
	EXITED(0, 21000);
	save_with(self, 0, "");
}

TEST_F(command, wait_for_room_is_not_subtracted_from_other_off_cpu_time)
{
	bool known;

	for (known = true;; known = false) {
		make_wait(self, known);
		run(self, "report -q --csv --ts-hz 1000000 trace.rtd");
		/* 13 ms: the sleep of 10 ms, and 1 ms before and 2 ms after it on the CPU. */
		EXPECT_HAS(line_of(self, MAIN), known ?
			   ",1,0.013000000,0.013000000,0.003000000,0.003000000,0.010000000,0.010000000,0.000000000,0.000000000,0,0,exact" :
			   ",1,0.013000000,0.013000000,0.001000000,0.001000000,0.010000000,0.010000000,0.002000000,0.002000000,0,0,inferred");
		if (!known)
			break;
	}
}

/*
 * 40,000 times, the thread works for 10 us and then sleeps for 100 us, so there are more spans than
 * a page can contain.
 */
TEST_F(command, html_contains_the_maximum_number_of_equal_spans)
{
	struct gen_stream stream;
	unsigned int i;

	begin(self, 0);
	sync_at(self, 0, 1000);
	put_begin(self, &stream, 0);
	put_record(self, &stream, 1000, 0, MAIN);
	for (i = 0; i < 40000; i++) {
		IN(0, 2000 + 110 * i);
		if (i % 100 == 0)
			put_record(self, &stream, 2001 + 110 * i, 0, FIB);
		if (i % 100 == 0)
			put_record(self, &stream, 2002 + 110 * i, 1, FIB);
		SLEEPS(0, 2010 + 110 * i);
	}
	IN(0, 2000 + 110 * i);
	put_record(self, &stream, 2001 + 110 * i, 1, MAIN);
	EXITED(0, 2010 + 110 * i);
	save_with(self, 0, "");
	run(self, "export -q " HZ "--format html -o t.html trace.rtd && python3 -c '\n"
	    "import json, re\n"
	    "text = open(\"t.html\").read()\n"
	    "spans = json.loads(re.search(r\"\\\"spans\\\":(\\[.*\\])\", text)[1])\n"
	    "more = int(re.search(r\"\\\"more_spans\\\":(\\d+)\", text)[1])\n"
	    "half = sum(s[2] < 20000 * 110 for s in spans if s[3] == 10)\n"
	    "print(len(spans), more, sum(s[3] == 100 for s in spans), 12000 < half < 13500,\n"
	    "      spans == sorted(spans, key=lambda s: s[2]))'");
	EXPECT_STREQ("65536 14465 40000 True True\n", self->out) { TH_LOG("%s", self->err); }
}

/* A thread that runs only on one hart has lost no records on another hart. */
TEST_F(command, switches_show_whether_a_loss_belongs_to_the_thread)
{
	struct gen_stream stream, other;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		begin(self, 1);
		sync_at(self, 0, 1000);
		sync_at(self, 1, 1000);
		put_begin(self, &other, 1);
		put_begin(self, &stream, 0);
		IN(0, 1010);
		put_record(self, &stream, 1100, 0, 0x20000);
		put_record(self, &stream, 1110, 0, 0x21000);
		if (i)
			SLEEPS(0, 1150);
		self->gen.now = 1200;
		gen_error(&self->gen, 1);
		sync_at(self, 1, 1205);
		put_switch_of(self, 1, 1210, SIFIVE_TRACE_SWITCH_IN, 0);
		if (i)
			IN(0, 1250);
		put_record(self, &stream, 1300, 1, 0x21000);
		put_record(self, &stream, 1400, 1, 0x20000);
		SLEEPS(0, 1500);
		sync_at(self, 0, 1600);
		sync_at(self, 1, 1600);
		save_with(self, 1, ",\"per_thread\":true");
		/* The column duration_inferred. */
		run(self, "export -q --format csv trace.rtd | grep ,call, | cut -d , -f 23");
		EXPECT_STREQ(i ? "1\n1\n" : "0\n0\n", self->out);
	}
}

TEST_HARNESS_MAIN
