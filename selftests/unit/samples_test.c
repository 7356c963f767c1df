// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Sampled traces: of several processes, of the tracer itself, and what they are called. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_fixture.h"

/* Where another process has the program, and where the library is. */
#define OTHER		0x5000000ull
#define LIBRARY		0x9000000ull

/* The code that the library has made, which is in no file. */
#define CODE		0xa000000ull

static void sample(struct gen_stream *stream, uint64_t pc, unsigned int count)
{
	uint64_t value = stream->counter[0].previous;

	while (count--) {
		value += 7;
		gen_record(stream, 3, &pc, &value);
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

TEST_F(command, function_of_several_processes_is_one_row)
{
	make_samples(self);
	run(self, "report -q --format csv trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("function,samples,cycles:self\n\"fib\",6,42\n\"main\",1,7\n", self->out);
	run(self, "graph -q trace.rtd");
	EXPECT_EQ(NULL, strstr(strstr(self->out, "fib") + 1, "fib"));
	run(self, "export -q --format folded trace.rtd");
	EXPECT_STREQ("source 0;fib 6\nsource 0;main 1\n", self->out);
}

TEST_F(command, tracer_is_marked)
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
	EXPECT_STREQ("function,samples,cycles:self\n\"fib [tracer]\",2,14\n\"fib\",1,7\n",
		     self->out);
	EXPECT_NE(NULL, strstr(self->err, "2 of 3 samples are in the tracer's own functions"));
	/* Without its file, too. */
	ASSERT_EQ(0, system("rm libsifive-perf.so.0"));
	run(self, "report --format csv trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "libsifive-perf.so.0+0x21002 [tracer]\",2,14\n"));
	EXPECT_NE(NULL, strstr(self->err, "2 of 3 samples are in the tracer's own functions"));
}

/* One function, wherever in it, and no file that is missing. */
TEST_F(command, writers_are_the_tracers)
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
	EXPECT_STREQ("function,samples,cycles:self\n\"record writer [tracer]\",3,21\n", self->out);
	EXPECT_NE(NULL, strstr(self->err, "3 of 3 samples are in the tracer's own functions"));
	EXPECT_EQ(NULL, strstr(self->err, "not found"));
}

TEST_F(command, samples_are_called_samples)
{
	static const char * const formats[] = {
		"decode", "decode --format csv", "decode --format json", "replay", "report",
		"graph", "export --format chrome", "export --format html",
		"export --format svg",
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
