// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests export --format dqr, which writes traces with the same records but only one header for each
 * source and channel, and programs at their load addresses.
 */
#include "command_fixture.h"

#define BIAS	0x3f00000000ull

/* Two records of calls from main to fib. */
static void calls(struct gen_stream *stream, uint64_t bias, uint64_t *value)
{
	const uint64_t fib[] = { FIB + bias, MAIN + bias + 0x12 };
	unsigned int type, i;

	for (type = 0; type < 2; type++) {
		for (i = 0; i < stream->counters; i++)
			value[i] += (7ull << 31) + i;
		gen_record(stream, type, fib, value);
	}
}

/* Read the records of @trace as text, with times and counts. */
static void records(FIXTURE_DATA(command) *self, const char *trace, const char *options)
{
	run(self, "decode -s 1 --meta none --values raw %s --strict %s | grep -v '^#'",
	    options, trace);
}

static void expect_records(FIXTURE_DATA(command) *self,
			   struct __test_metadata *_metadata, const char *one,
			   const char *other, const char *options)
{
	static char text[SIZE];

	records(self, one, options);
	strcpy(text, self->out);
	EXPECT_NE('\0', *text);
	records(self, other, options);
	EXPECT_STREQ(text, self->out);
	EXPECT_STREQ("", self->err) {
		TH_LOG("%s", self->err);
	}
}

static void set_up(struct gen *gen, struct gen_stream *stream, unsigned int src,
		   unsigned int channel, unsigned int count_type)
{
	if (!gen->last[src])
		gen_sync(gen, src);
	gen_stream_init(stream, gen, (uint8_t)src, (uint8_t)channel,
			(uint8_t)count_type, 2, 64);
	stream->counter[1].number = 3;
	stream->counter[1].type = 2;
	stream->counter[1].event_data = 0x300000002;
	stream->counter[1].csr = 0xc03;
	gen_header(stream);
}

/* Names, numbers, functions and lines must be the same as for a program that was not relocated. */
TEST_F(command, relocated_program_is_shown_at_its_load_address)
{
	uint64_t value[2] = { 0 };
	struct gen_stream stream;

	gen_free(&self->gen);
	gen_init(&self->gen, 1, 40);
	set_up(&self->gen, &stream, 1, 6, 0);
	calls(&stream, BIAS, value);
	save(self, "trace.rtd");
	run(self, "export -q --format dqr -s 1 -e " PROGRAM "@0x3f00000000 -o out trace.rtd;"
	    " find out -type f | sort; cat out/channel6/*.properties;"
	    " readelf -hSsW out/objects/* | sed -n"
	    " -e 's/ *Entry.*0x3f000/entry /p' -e 's/.*\\(sample_fib\\) .*\\(3f000[0-9]*\\).*/\\1 \\2/p'"
	    " -e 's/.*\\(3f000[0-9]*\\) .*FUNC.* fib$/fib \\1/p'");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("", self->err);
	EXPECT_STREQ(
		"out/channel6/decode_sample.elf.properties\n"
		"out/channel6/trace.rtd\n"
		"out/objects/decode_sample.elf\n"
		"elf=../objects/decode_sample.elf\n"
		"rtd=trace.rtd\n"
		"srcbits=1\n"
		"bits=64\n"
		"tssize=40\n"
		"trace.config.int.itc.perf=true\n"
		"trace.config.int.itc.perf.channel=6\n"
		"objdump=riscv64-linux-gnu-objdump\n"
		"entry 20000\n"
		"sample_fib 3f00021000\n"
		"fib 3f00021000\n", self->out);
	run(self, "decode -q -s 1 -e " PROGRAM "@0x3f00000000 trace.rtd >before;"
	    COMMAND " decode -q -s 1 -e out/objects/decode_sample.elf trace.rtd | cmp - before;"
	    " grep -o 'fib .*' before");
	EXPECT_STREQ("fib <- main+0x12 (fib.c:20)\nfib -> main+0x12 (fib.c:20)\n",
		     self->out);
	expect_records(self, _metadata, "trace.rtd", "out/channel6/trace.rtd", "-q");
}

/*
 * Values relative to an omitted header must be converted to differences from the previous record.
 */
TEST_F(command, repeated_headers_are_omitted)
{
	unsigned int count_type, i, src;

	for (count_type = 0; count_type < 3; count_type++) {
		struct gen_stream stream[2];
		uint64_t value[2] = { 0 };

		gen_free(&self->gen);
		gen_init(&self->gen, 1, 40);
		for (i = 0; i < 3; i++)
			for (src = 0; src < 2; src++) {
				set_up(&self->gen, &stream[src], src, 9, count_type);
				calls(&stream[src], 0, value);
			}
		save(self, "trace.rtd");
		run(self, "export -c 9 --format dqr -s 1 -e " PROGRAM
		    " -o out%u trace.rtd; ls out%u", count_type, count_type);
		EXPECT_EQ(0, self->status);
		EXPECT_STREQ("channel9\nobjects\n", self->out);
		run(self, "decode -c 9 -s 1 out%u/channel9/trace.rtd", count_type);
		EXPECT_NE(NULL, strstr(self->err, "12 records: 6 enter, 6 exit"));
		EXPECT_NE(NULL, strstr(self->err, "; 2 headers"));
		run(self, "decode -q -c 9 -s 1 --format json --values %s trace.rtd |"
		    " grep -v header >before;" COMMAND " decode -q -c 9 -s 1 --format json"
		    " --values %s out%u/channel9/trace.rtd | grep -v header | cmp - before",
		    count_type == 1 ? "raw" : "absolute",
		    count_type == 1 ? "raw" : "absolute", count_type);
		EXPECT_STREQ("", self->out);
		EXPECT_STREQ("", self->err);
	}
}

TEST_F(command, header_with_other_counters_begins_another_trace)
{
	struct gen_stream stream[2];
	uint64_t value[2] = { 0 };
	unsigned int src;

	gen_free(&self->gen);
	gen_init(&self->gen, 1, 40);
	for (src = 0; src < 2; src++) {
		set_up(&self->gen, &stream[src], src, 6, 2);
		calls(&stream[src], 0, value);
	}
	stream[0].counters = 1;
	gen_header(&stream[0]);
	calls(&stream[0], 0, value);
	calls(&stream[1], 0, value);
	save(self, "trace.rtd");
	run(self, "export --format dqr -s 1 -e " PROGRAM " -o out trace.rtd; ls out;"
	    " cat out/channel6.2/*.properties | grep elf");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("channel6\nchannel6.2\nobjects\nelf=../objects/decode_sample.elf\n",
		     self->out);
	run(self, "decode -q -s 1 --values absolute --format json trace.rtd |"
	    " grep -v header | sort >before; for i in out/*/trace.rtd; do " COMMAND
	    " decode --strict -q -s 1 --values absolute --format json $i; done |"
	    " grep -v header | sort | cmp - before");
	EXPECT_STREQ("", self->out);
	EXPECT_STREQ("", self->err);
}

TEST_F(command, each_channel_has_a_separate_directory)
{
	struct gen_stream stream[2];
	uint64_t value[2] = { 0 };

	gen_free(&self->gen);
	gen_init(&self->gen, 1, 40);
	set_up(&self->gen, &stream[0], 0, 6, 1);
	set_up(&self->gen, &stream[1], 0, 7, 1);
	calls(&stream[0], 0, value);
	calls(&stream[1], 0, value);
	calls(&stream[0], 0, value);
	save(self, "trace.rtd");
	run(self, "export -q -c all --format dqr -s 1 -e " PROGRAM " -o out trace.rtd; ls out");
	EXPECT_STREQ("channel6\nchannel7\nobjects\n", self->out);
	expect_records(self, _metadata, "trace.rtd", "out/channel6/trace.rtd", "-q -c 6");
	expect_records(self, _metadata, "trace.rtd", "out/channel7/trace.rtd", "-q -c 7");
}

TEST_F(command, data_unsupported_by_that_decoder_is_reported)
{
	static const char meta[] = "{\"objects\": [{\"path\": \"decode_sample.elf.stripped\","
		" \"start\": \"0x20000\", \"end\": \"0x22000\", \"bias\": 0}]}";
	uint64_t value[2] = { 0 };
	struct gen_stream stream;

	gen_free(&self->gen);
	gen_init(&self->gen, 5, 40);
	set_up(&self->gen, &stream, 16, 6, 0);
	calls(&stream, 0, value);
	set_up(&self->gen, &stream, 15, 6, 0);
	calls(&stream, 0, value);
	save(self, "trace.rtd");
	run(self, "export --format dqr -s 5 -o none trace.rtd; cat none/channel6/*.properties");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->err, "2 records of sources from 16 on are left out"));
	EXPECT_NE(NULL, strstr(self->err, "no program: "));
	EXPECT_EQ(0, strncmp(self->out, "rtd=trace.rtd\nsrcbits=5\n", 24));
	write_file("trace.rtd.meta", meta, strlen(meta));
	run(self, "export --format dqr -s 5 -e " PROGRAM ".stripped -o stripped trace.rtd;"
	    " find stripped -type f | sort");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("stripped/channel6/trace.properties\nstripped/channel6/trace.rtd\n",
		     self->out);
	EXPECT_NE(NULL, strstr(self->err, "no symbol table (stripped?)"));
	run(self, "export --format dqr -s 5 -e " PROGRAM " -o none trace.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "none: cannot replace this directory"));
	run(self, "export --format dqr trace.rtd");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "--format dqr needs a directory"));
}

TEST_HARNESS_MAIN
