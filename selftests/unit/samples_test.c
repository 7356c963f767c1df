// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests samples from several processes and from the tracer itself, and the names shown for them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "browser.h"

/* Load addresses of the program in another process, and of the library. */
#define OTHER		0x5000000ull
#define LIBRARY		0x9000000ull

/* Code that the library generated, which is not in any file. */
#define CODE		0xa000000ull

static void sample(struct gen_stream *stream, uint64_t pc, unsigned int count)
{
	uint64_t value = stream->counter[0].previous;

	while (count--) {
		value += 7;
		gen_record(stream, 3, &pc, &value);
	}
}

/* Write @count samples to a stream with two counters, which count 7 and 11. */
static void sample_two(struct gen_stream *stream, uint64_t pc, unsigned int count)
{
	uint64_t value[2] = { stream->counter[0].previous, stream->counter[1].previous };

	while (count--) {
		value[0] += 7;
		value[1] += 11;
		gen_record(stream, 3, &pc, value);
	}
}

static void side_car(void)
{
	char text[1024];

	snprintf(text, sizeof(text), "{\"objects\":["
		 "{\"path\":\"%s\",\"start\":%llu,\"end\":%llu,\"bias\":0},"
		 "{\"path\":\"%s\",\"start\":%llu,\"end\":%llu,\"bias\":%llu},"
		 "{\"path\":\"%s\",\"start\":%llu,\"end\":%llu,\"bias\":%llu},"
		 "{\"path\":\"libsifive-perf.so:writers\",\"start\":%llu,\"end\":%llu,"
		 "\"bias\":%llu}]}",
		 PROGRAM, MAIN, MAIN + 0x3000, PROGRAM, OTHER + MAIN,
		 OTHER + MAIN + 0x3000, OTHER, "libsifive-perf.so.0", LIBRARY + MAIN,
		 LIBRARY + MAIN + 0x3000, LIBRARY, CODE, CODE + 0x2000, CODE);
	write_file("trace.rtd.meta", text, strlen(text));
}

static void make_samples(FIXTURE_DATA(command) *self)
{
	struct gen_stream stream;

	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 1, 1, 64);
	gen_header(&stream);
	sample(&stream, FIB + 2, 1);
	sample(&stream, MAIN + 4, 1);
	sample(&stream, OTHER + FIB + 8, 2);
	sample(&stream, FIB + 4, 3);
	save(self, "trace.rtd");
	side_car();
}

TEST_F(command, function_in_several_processes_is_one_row)
{
	make_samples(self);
	run(self, "report -q --format csv trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("function,samples,cycles:self,counts\n\"fib\",6,42,exact\n\"main\",1,7,exact\n",
		     self->out);
	run(self, "graph -q trace.rtd");
	EXPECT_EQ(NULL, strstr(strstr(self->out, "fib") + 1, "fib"));
	run(self, "export -q --format folded trace.rtd");
	EXPECT_STREQ("source 0;fib 6\nsource 0;main 1\n", self->out);
}

/*
 * A program without an operating system samples itself: the stream of its first hart begins with a
 * sample, and contains a call and a manual record. Then the second hart makes its first call.
 */
TEST_F(command, counts_of_a_program_that_samples_itself_are_kept)
{
	const uint64_t main[] = { MAIN, FIB }, fib = FIB + 2;
	struct gen_stream stream[2];
	unsigned int i;

	gen_free(&self->gen);
	gen_init(&self->gen, 1, 40);
	for (i = 0; i < 2; i++) {
		gen_sync(&self->gen, i);
		gen_stream_init(&stream[i], &self->gen, (uint8_t)i, 6, 0, 1, 64);
		gen_header(&stream[i]);
	}
	gen_record(&stream[0], 3, &fib, &(uint64_t){ 1000 });
	gen_record(&stream[0], 3, &fib, &(uint64_t){ 1007 });
	gen_record(&stream[0], 2, main, &(uint64_t){ 1010 });
	gen_record(&stream[0], 0, main, &(uint64_t){ 1020 });
	gen_record(&stream[0], 1, main, &(uint64_t){ 1120 });
	gen_record(&stream[1], 0, main, &(uint64_t){ 5000 });
	gen_record(&stream[1], 1, main, &(uint64_t){ 5050 });
	save(self, "trace.rtd");
	run(self, "report -q --format csv -s 1 -e %s trace.rtd", PROGRAM);
	EXPECT_EQ(0, self->status);
	/* Samples before the manual record might have been the kernel's, so their counts are left out. */
	EXPECT_STREQ("function,calls,total,self,samples,manual,cycles:total,cycles:self,times,counts\n"
		     "\"main\",2,8,8,0,1,153,153,exact,exact\n\"fib\",0,0,0,2,0,,,exact,exact\n",
		     self->out);
}

/*
 * Write samples from threads on two harts. Some samples have callers, one sample has no thread id,
 * and one sample does not name a thread.
 */
static void make_named(FIXTURE_DATA(command) *self, unsigned int count_type, bool named)
{
	static const struct {
		uint32_t	thread;
		unsigned int	src;
		uint64_t	pc;
		uint64_t	count;
	} samples[] = {
		{ 10, 0, FIB + 2, 7 }, { 21, 0, FIB + 4, 100 }, { 10, 1, MAIN + 2, 1000 },
		{ 10, 0, FIB + 2, 7 }, { 33, 1, MAIN + 2, 1 }, { 21, 0, FIB + 4, 200 },
		{ 0, 1, MAIN + 4, 3 }, { -1u, 1, MAIN + 4, 5 },
	};
	const char *text = "{\"srcbits\":1,\"sampling\":{\"channel\":6},\"per_thread\":true,"
			   "\"sources\":[{\"src\":0,\"hart\":0,\"cpu\":0},"
			   "{\"src\":1,\"hart\":1,\"cpu\":1}],"
			   "\"threads\":[{\"pid\":10,\"tid\":10,\"name\":\"one\",\"named\":true},"
			   "{\"pid\":20,\"tid\":21,\"name\":\"two\",\"named\":true}]}";
	const uint64_t caller = MAIN + 8;
	struct gen_stream stream[2];
	uint64_t value[2] = { 0, 0 };
	unsigned int i;

	gen_free(&self->gen);
	gen_init(&self->gen, 1, 40);
	for (i = 0; i < 2; i++) {
		gen_sync(&self->gen, i);
		gen_stream_init(&stream[i], &self->gen, (uint8_t)i, 6, (uint8_t)count_type, 1, 64);
		gen_header(&stream[i]);
	}
	for (i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		struct gen_stream *to = &stream[samples[i].src];

		value[samples[i].src] += samples[i].count;
		if (named && samples[i].thread != -1u)
			gen_thread(to, samples[i].thread);
		if (samples[i].thread == 21)
			gen_callers(to, &caller, 1);
		gen_record(to, 3, &samples[i].pc, &value[samples[i].src]);
	}
	save(self, "trace.rtd");
	write_file("trace.rtd.meta", text, strlen(text));
}

/* The counts belong to the hart's stream, which all threads share. */
TEST_F(command, samples_belong_to_the_threads_that_they_name)
{
	make_named(self, 1, true);
	run(self, "report -q --by thread --format csv -e %s trace.rtd", PROGRAM);
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("function,thread,samples,samples:total,cycles:total,cycles:self,counts\n"
		     "\"fib\",\"one/10\",2,2,14,14,exact\n"
		     "\"main\",\"one/10\",1,1,1000,1000,exact\n"
		     "\"fib\",\"two/21 (process 20)\",2,2,300,300,exact\n"
		     "\"main\",\"two/21 (process 20)\",0,2,300,0,exact\n"
		     "\"main\",\"thread 33\",1,1,1,1,exact\n"
		     "\"main\",\"samples of CPU 1\",2,2,8,8,exact\n", self->out);
	run(self, "report -q --by process --format csv -e %s trace.rtd", PROGRAM);
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("function,process,samples,samples:total,cycles:total,cycles:self,counts\n"
		     "\"fib\",\"one/10\",2,2,14,14,exact\n"
		     "\"main\",\"one/10\",1,1,1000,1000,exact\n"
		     "\"fib\",\"process 20\",2,2,300,300,exact\n"
		     "\"main\",\"process 20\",0,2,300,0,exact\n"
		     "\"main\",\"unknown process\",3,3,9,9,exact\n", self->out);
	run(self, "report -q --by process --json -e %s trace.rtd | grep -c '\"process\":\"one/10\"'",
	    PROGRAM);
	EXPECT_STREQ("2\n", self->out);
	/* The first count of a header is not a difference. */
	make_named(self, 2, true);
	run(self, "report -q --by thread --format csv -e %s trace.rtd | grep one", PROGRAM);
	EXPECT_STREQ("\"fib\",\"one/10\",2,2,7,7,exact\n\"main\",\"one/10\",1,1,0,0,exact\n", self->out);
	run(self, "export -q --format folded -e %s trace.rtd | LC_ALL=C sort", PROGRAM);
	EXPECT_STREQ("one/10;fib 2\none/10;main 1\nsamples of CPU 1;main 2\n"
		     "thread 33;main 1\ntwo/21;main;fib 2\n", self->out);
	run(self, "graph -q --by thread -e %s trace.rtd | head -4", PROGRAM);
	EXPECT_STREQ("   samples  function\n         3  one/10\n         2    fib\n"
		     "         1    main\n", self->out);
	run(self, "export -q --format chrome -e %s trace.rtd | grep -c '\"tid\":21,.*\"cat\":\"sample\"'",
	    PROGRAM);
	EXPECT_STREQ("2\n", self->out);
	run(self, "export -q --format firefox -e %s trace.rtd | grep -c '\"processName\":\"one\"'",
	    PROGRAM);
	EXPECT_STREQ("1\n", self->out);
}

TEST_F(command, decode_shows_the_threads_of_samples)
{
	make_named(self, 2, true);
	run(self, "decode -q --format csv trace.rtd | sed 's/.*,0x/0x/' | sort");
	EXPECT_STREQ("0x20002,,,,,,,exact,10,\n0x20002,,,,,,1,exact,33,\n"
		     "0x20004,,,,,,3,exact,,\n0x20004,,,,,,5,exact,,\n"
		     "0x21002,,,,,,,exact,10,\n0x21002,,,,,,7,exact,10,\n"
		     "0x21004,,,,,,100,exact,21,\n0x21004,,,,,,200,exact,21,\n"
		     "ticks,source,channel,type,address,function,file,line,caller_address,"
		     "caller,cycles,time,thread,note\n", self->out);
	run(self, "decode -q trace.rtd | sed -n 's/.*sample  *[-0-9]*  0x/0x/p' | sort");
	EXPECT_STREQ("0x20002, one/10\n0x20002, thread 33\n0x20004\n0x20004\n"
		     "0x21002, one/10\n0x21002, one/10\n0x21004 <- 0x20008, two/21\n"
		     "0x21004 <- 0x20008, two/21\n", self->out);
	run(self, "decode -q --format json trace.rtd | grep -c '\"thread\":'");
	EXPECT_STREQ("6\n", self->out);
}

/* The report of all threads together does not depend on the names. */
TEST_F(command, thread_names_do_not_change_totals)
{
	static char plain[SIZE];
	unsigned int type;

	for (type = 0; type <= 2; type++) {
		make_named(self, type, false);
		run(self, "report -q --format csv -e %s trace.rtd", PROGRAM);
		EXPECT_EQ(0, self->status);
		strcpy(plain, self->out);
		make_named(self, type, true);
		run(self, "report -q --format csv -e %s trace.rtd", PROGRAM);
		EXPECT_STREQ(plain, self->out);
		run(self, "report -q -j3 --format csv -e %s trace.rtd", PROGRAM);
		EXPECT_STREQ(plain, self->out);
	}
}

/* Two processes have different files at the same address. */
TEST_F(command, sample_is_in_an_object_of_its_process)
{
	char text[1024];

	make_named(self, 1, true);
	snprintf(text, sizeof(text), "{\"srcbits\":1,\"sampling\":{\"channel\":6},"
		 "\"threads\":[{\"pid\":10,\"tid\":10,\"name\":\"one\",\"named\":true},"
		 "{\"pid\":20,\"tid\":21,\"name\":\"two\",\"named\":true}],"
		 "\"processes\":[{\"pid\":10,\"exe\":\"/x/program\"},{\"pid\":20}],\"objects\":["
		 "{\"path\":\"%s\",\"start\":%llu,\"end\":%llu,\"bias\":0,\"in\":[0]},"
		 "{\"path\":\"/nowhere/other\",\"start\":%llu,\"end\":%llu,\"bias\":0,\"in\":[1]}]}",
		 PROGRAM, MAIN, MAIN + 0x3000, MAIN, MAIN + 0x3000);
	write_file("trace.rtd.meta", text, strlen(text));
	run(self, "report -q --by process --format csv trace.rtd | grep fib");
	EXPECT_STREQ("\"fib\",\"program/10\",2,2,14,14,exact\n", self->out);
	run(self, "report -q --by thread --format csv trace.rtd | sed 1d");
	EXPECT_STREQ("\"fib\",\"one/10\",2,2,14,14,exact\n"
		     "\"main\",\"one/10\",1,1,1000,1000,exact\n"
		     "\"other+0x21004\",\"two/21 (process 20)\",2,2,300,300,exact\n"
		     "\"other+0x20008\",\"two/21 (process 20)\",0,2,300,0,exact\n"
		     "\"0x20002\",\"thread 33\",1,1,1,1,exact\n"
		     "\"0x20004\",\"samples of source 1\",2,2,8,8,exact\n", self->out);
}

/*
 * SiFive's decoder does not support the marks that name threads, so they must be omitted, as
 * callers are.
 */
TEST_F(command, thread_names_are_omitted_for_sifives_decoder)
{
	static char plain[SIZE];

	make_named(self, 1, false);
	run(self, "export -q --format dqr -e %s -o plain trace.rtd", PROGRAM);
	EXPECT_EQ(0, self->status);
	run(self, "decode -q --format perf -e %s -o plain-perf trace.rtd", PROGRAM);
	strcpy(plain, self->err);
	make_named(self, 1, true);
	run(self, "export -q --format dqr -e %s -o named trace.rtd", PROGRAM);
	EXPECT_NE(NULL, strstr(self->err, "1 channels have records of several threads"));
	run(self, "decode -q --format perf -e %s -o named-perf trace.rtd", PROGRAM);
	EXPECT_STREQ(plain, self->err);
	EXPECT_EQ(0, system("ls plain plain-perf >list.txt && [ -s list.txt ]; cd plain && for f in $(find . -type f); do "
			    "echo $f $(wc -c <$f); done | sort >../plain.txt; cd ../named && for f in $(find . -type f); do "
			    "echo $f $(wc -c <$f); done | sort | diff - ../plain.txt"));
}

/*
 * One channel has a manual record that counts 5, and then a call that counts 100. Another channel
 * has samples before, during and after the call; the samples also count instructions.
 */
static void make_both(FIXTURE_DATA(command) *self)
{
	const uint64_t fib[2] = { FIB, MAIN + 0x12 }, at = MAIN + 8;
	struct gen_stream calls, samples;
	uint64_t value = 0;

	gen_sync(&self->gen, 0);
	gen_stream_init(&samples, &self->gen, 0, 7, 1, 2, 64);
	samples.counter[1].code = 2;
	gen_header(&samples);
	sample_two(&samples, MAIN + 4, 1);
	gen_stream_init(&calls, &self->gen, 0, 6, 1, 1, 64);
	gen_header(&calls);
	value = 5;
	gen_record(&calls, 2, &at, &value);
	gen_record(&calls, 0, fib, &value);
	sample_two(&samples, FIB + 4, 3);
	value = 105;
	gen_record(&calls, 1, fib, &value);
	sample_two(&samples, MAIN + 4, 1);
	save(self, "trace.rtd");
}

/* Samples contribute counts only for counters that neither calls nor manual records have. */
TEST_F(command, counts_of_samples_in_calls_are_not_added_twice)
{
	make_both(self);
	run(self, "report -c all --format csv -e " PROGRAM " trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("function,calls,total,self,samples,manual,cycles:total,cycles:self,"
		     "instructions:total,instructions:self,times,counts\n"
		     "\"fib\",1,16,16,3,0,100,100,33,33,exact,exact\n"
		     "\"main\",0,0,0,2,1,5,5,22,22,exact,exact\n", self->out);
	EXPECT_NE(NULL, strstr(self->err, "the counts of 5 samples are not charged to functions"));
	run(self, "export -q -c all --format folded --weight cycles -e " PROGRAM " trace.rtd");
	EXPECT_STREQ("source 0;main 5\nsource 0;fib 100\n", self->out);
	run(self, "export -q -c all --format folded --weight instructions -e " PROGRAM " trace.rtd");
	EXPECT_STREQ("source 0 channel 7;main 22\nsource 0 channel 7;fib 33\n", self->out);
	/* The page's plots omit the counts in each thread's first record. */
	run(self, "export -q -c all --format html -e " PROGRAM " -o t.html trace.rtd");
	python(_metadata,
	       "from page_calls import load\n"
	       "sums = [(p['counter'], round(sum(p['count']))) for p in load('t.html')['plots']]\n"
	       "assert sums == [('cycles', 100), ('instructions', 44)], sums\n");
}

TEST_F(command, tracer_functions_are_marked)
{
	struct gen_stream stream;
	char command[512];

	snprintf(command, sizeof(command), "cp %s libsifive-perf.so.0", PROGRAM);
	ASSERT_EQ(0, system(command));
	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 1, 1, 64);
	gen_header(&stream);
	sample(&stream, FIB + 2, 1);
	sample(&stream, LIBRARY + FIB + 2, 2);
	save(self, "trace.rtd");
	side_car();
	run(self, "report --format csv trace.rtd");
	EXPECT_STREQ("function,samples,cycles:self,counts\n\"fib [tracer]\",2,14,exact\n\"fib\",1,7,exact\n",
		     self->out);
	EXPECT_NE(NULL, strstr(self->err, "2 of 3 samples are in the tracer's own functions"));
	/* The tracer's samples are also recognised if its file is missing. */
	ASSERT_EQ(0, system("rm libsifive-perf.so.0"));
	run(self, "report --format csv trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "libsifive-perf.so.0+0x21002 [tracer]\",2,14,exact\n"));
	EXPECT_NE(NULL, strstr(self->err, "2 of 3 samples are in the tracer's own functions"));
}

/*
 * All addresses of the writers must be shown as one function, and no file must be reported as
 * missing.
 */
TEST_F(command, generated_writers_are_marked_as_tracer)
{
	struct gen_stream stream;

	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 1, 1, 64);
	gen_header(&stream);
	sample(&stream, CODE + 0x200, 1);
	sample(&stream, CODE + 0x1002, 2);
	save(self, "trace.rtd");
	side_car();
	run(self, "report --format csv trace.rtd");
	EXPECT_STREQ("function,samples,cycles:self,counts\n\"record writer [tracer]\",3,21,exact\n", self->out);
	EXPECT_NE(NULL, strstr(self->err, "3 of 3 samples are in the tracer's own functions"));
	EXPECT_EQ(NULL, strstr(self->err, "not found"));
}

TEST_F(command, every_output_uses_the_word_sample)
{
	static const char * const formats[] = {
		"decode", "decode --format csv", "decode --format json", "replay", "report",
		"graph", "export --format chrome", "export --format html",
		"export --format svg", "export --format csv",
	};
	size_t i;

	make_samples(self);
	for (i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		run(self, "%s trace.rtd", formats[i]);
		EXPECT_EQ(0, self->status);
		EXPECT_NE(NULL, strstr(self->out, "sample"));
		EXPECT_EQ(NULL, strstr(self->out, "isr"));
		EXPECT_NE(NULL, strstr(self->err, " 7 samples;"));
	}
}

TEST_HARNESS_MAIN
