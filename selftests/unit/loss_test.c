// SPDX-License-Identifier: Apache-2.0 OR MIT
/* What commands say of traces that lack something, and make of the rest. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command_fixture.h"

#define LENGTHY	0x22000ull
#define OUTSIDE	0x3f00000000ull
#define CHUNK	(256 << 10)

static const uint64_t in_main[] = { MAIN, OUTSIDE };
static const uint64_t in_fib[] = { FIB, MAIN + 0x12 };
static const uint64_t in_lengthy[] = { LENGTHY, FIB + 0x10 };

/* One counter, which counts 10 from record to record. */
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

static void python(struct __test_metadata *_metadata, const char *text)
{
	FILE *python = popen("python3 -", "w");

	ASSERT_NE(NULL, python);
	fputs(text, python);
	EXPECT_EQ(0, pclose(python));
}

/* What record -i of an instrumented program gives. */
TEST_F(command, calls_and_samples_are_apart)
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
		"         47          17         1         0  main\n"
		"         30          30         3         6    fib\n"
		"          0           0         0         1  warehouse::depar\n",
		self->out);
	run(self, "export -q --format html -e " PROGRAM " -o t.html trace.rtd");
	python(_metadata,
	       "import json\n"
	       "text = open('t.html').read().split('var DATA = ')[1]\n"
	       "data = json.loads(text.split('};\\n')[0] + '}')\n"
	       "name = lambda n: data['functions'][n[1]] if n[1] >= 0 else ''\n"
	       "tree = {name(n): n[2:4] for n in data['tree']}\n"
	       "assert tree['main'] == [1, 0] and tree['fib'] == [3, 6], tree\n");
	if (system("command -v chromium >/dev/null"))
		SKIP(return, "no chromium");
	EXPECT_EQ(0, system("python3 " SOURCES "/browser.py --samples t.html"));
}

/* A megabyte that nobody wrote, or that is damaged, in front of the records. */
TEST_F(command, records_begin_late)
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
		/* Places in the file are the same, however it is read. */
		run(self, "decode trace.rtd | grep '^# header'");
		EXPECT_NE('\0', self->out[0]);
		EXPECT_EQ(0, system("cat trace.rtd | " COMMAND " decode - 2>piped.err |"
				    " grep '^# header' >piped.txt"));
		read_file("piped.txt", self->err);
		EXPECT_STREQ(self->out, self->err);
	}
}

/* Messages of which any width makes sense, and the header is in the next chunk. */
TEST_F(command, messages_before_the_records)
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

TEST_HARNESS_MAIN
