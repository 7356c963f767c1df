// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that decode --format perf writes the same lines as SiFive's decoder: one for each word that
 * completes a value, with that word's time.
 */
#include <elf.h>
#include <inttypes.h>

#include "command_fixture.h"

static void expect_file(struct __test_metadata *_metadata, const char *path,
			const char *expected)
{
	static char text[SIZE];

	read_file(path, text);
	EXPECT_STREQ(expected, text);
}

TEST_F(command, perf_output_is_as_expected)
{
	FILE *old;

	/* These files are from an earlier trace with another counter, and must not remain. */
	ASSERT_EQ(0, mkdir("perf", 0777));
	old = fopen("perf/decode_sample.perfchannel5", "w");
	ASSERT_NE(NULL, old);
	fclose(old);
	sample_trace(&self->gen, 0, 0);
	save(self, "trace.rtd");
	run(self, "decode --format perf -e " PROGRAM " trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("", self->out);
	EXPECT_NE(0, access("perf/decode_sample.perfchannel5", F_OK));
	expect_file(_metadata, "decode_sample.perf",
		"# ELFPATH=" PROGRAM "\n"
		"# COUNT_TYPE: RAW\n"
		"[0] 1003 [Perf Cntr Mask] [Mask=0x00000009]\n"
		"[0] 1006 [Perf Cntr Def] [Counter=0] [Type=0] [Code=1] [EventData=0x00000000] [CntrCSR=0xc00] [CntrBits=64]\n"
		"[0] 1010 [Perf Cntr Def] [Counter=3] [Type=2] [Code=0] [EventData=0x00020001] [CntrCSR=0xc03] [CntrBits=64]\n"
		"[0] 1014 [Func Enter at 0x00020000] [Called From 0x3f00000000] ffl:sample/fib.c:main:20\n"
		"[0] 1016 PC=0x00020000 [Perf Cntr] [Index=0] [Value=1000]  ffl:sample/fib.c:main:20\n"
		"[0] 1017 PC=0x00020000 [Perf Cntr] [Index=3] [Value=2000]  ffl:sample/fib.c:main:20\n"
		"[0] 1019 [Func Enter at 0x00021000] [Called From 0x00020012] ffl:sample/fib.c:fib:12\n"
		"[0] 1021 PC=0x00021000 [Perf Cntr] [Index=0] [Value=1050]  ffl:sample/fib.c:fib:12\n"
		"[0] 1022 PC=0x00021000 [Perf Cntr] [Index=3] [Value=8589936592]  ffl:sample/fib.c:fib:12\n"
		"[0] 1025 [Func Exit] [Func at 0x00021000] [Returning to 0x00020012] ffl:sample/fib.c:main:20\n"
		"[0] 1027 PC=0x00020012 [Perf Cntr] [Index=0] [Value=1057]  ffl:sample/fib.c:main:20\n"
		"[0] 1028 PC=0x00020012 [Perf Cntr] [Index=3] [Value=8589936592]  ffl:sample/fib.c:main:20\n"
		"[0] 1030 PC=0x00020012 [Address] ffl:sample/fib.c:main:20\n"
		"[0] 1032 PC=0x00020012 [Perf Cntr] [Index=0] [Value=1057]  ffl:sample/fib.c:main:20\n"
		"[0] 1033 PC=0x00020012 [Perf Cntr] [Index=3] [Value=8589936595]  ffl:sample/fib.c:main:20\n"
		"[0] 1035 PC=0x00021000 [Address] ffl:sample/fib.c:fib:12\n"
		"[0] 1037 PC=0x00021000 [Perf Cntr] [Index=0] [Value=1057]  ffl:sample/fib.c:fib:12\n"
		"[0] 1038 PC=0x00021000 [Perf Cntr] [Index=3] [Value=8589936595]  ffl:sample/fib.c:fib:12\n");
	expect_file(_metadata, "perf/decode_sample.address",
		"# ELFPATH=" PROGRAM "\n"
		"# COUNT_TYPE: RAW\n"
		"[0] 1030 PC=0x00020012 [Address] ffl:sample/fib.c:main:20\n"
		"[0] 1035 PC=0x00021000 [Address] ffl:sample/fib.c:fib:12\n");
	expect_file(_metadata, "perf/decode_sample.callret",
		"# ELFPATH=" PROGRAM "\n"
		"# COUNT_TYPE: RAW\n"
		"[0] 1014 [Func Enter at 0x00020000] [Called From 0x3f00000000] ffl:sample/fib.c:main:20\n"
		"[0] 1019 [Func Enter at 0x00021000] [Called From 0x00020012] ffl:sample/fib.c:fib:12\n"
		"[0] 1025 [Func Exit] [Func at 0x00021000] [Returning to 0x00020012] ffl:sample/fib.c:main:20\n");
	expect_file(_metadata, "perf/decode_sample.perfchannel3",
		"# ELFPATH=" PROGRAM "\n"
		"# COUNT_TYPE: RAW\n"
		"[0] 1010 [Perf Cntr Def] [Counter=3] [Type=2] [Code=0] [EventData=0x00020001] [CntrCSR=0xc03] [CntrBits=64]\n"
		"[0] 1017 PC=0x00020000 [Perf Cntr] [Index=3] [Value=2000]  ffl:sample/fib.c:main:20\n"
		"[0] 1022 PC=0x00021000 [Perf Cntr] [Index=3] [Value=8589936592]  ffl:sample/fib.c:fib:12\n"
		"[0] 1028 PC=0x00020012 [Perf Cntr] [Index=3] [Value=8589936592]  ffl:sample/fib.c:main:20\n"
		"[0] 1033 PC=0x00020012 [Perf Cntr] [Index=3] [Value=8589936595]  ffl:sample/fib.c:main:20\n"
		"[0] 1038 PC=0x00021000 [Perf Cntr] [Index=3] [Value=8589936595]  ffl:sample/fib.c:fib:12\n");
}

/* Each line names its source; a later header's counters have separate files. */
TEST_F(command, perf_output_separates_sources_and_headers)
{
	const uint64_t at = MAIN;
	struct gen_stream stream[2];
	uint64_t value = 100;
	unsigned int src;

	gen_free(&self->gen);
	gen_init(&self->gen, 1, 40);
	for (src = 0; src < 2; src++) {
		gen_sync(&self->gen, src);
		gen_stream_init(&stream[src], &self->gen, (uint8_t)src, 6, 0, 1, 64);
		gen_header(&stream[src]);
		gen_record(&stream[src], 2, &at, &value);
		value += 10;
	}
	stream[0].counter[0].number = 2;
	stream[0].counter[0].code = 2;
	stream[0].counter[0].csr = 0xc02;
	gen_header(&stream[0]);
	for (src = 0; src < 2; src++) {
		gen_record(&stream[src], 2, &at, &value);
		value += 10;
	}
	save(self, "trace.rtd");
	run(self, "decode --format perf trace.rtd");
	EXPECT_EQ(0, self->status);
	expect_file(_metadata, "trace.perf",
		"# ELFPATH=\n"
		"# COUNT_TYPE: RAW\n"
		"[0] 1003 [Perf Cntr Mask] [Mask=0x00000001]\n"
		"[0] 1006 [Perf Cntr Def] [Counter=0] [Type=0] [Code=1] [EventData=0x00000000] [CntrCSR=0xc00] [CntrBits=64]\n"
		"[0] 1008 PC=0x00020000 [Address] ffl:::0\n"
		"# COUNT_TYPE: RAW\n"
		"[1] 1013 [Perf Cntr Mask] [Mask=0x00000001]\n"
		"[1] 1016 [Perf Cntr Def] [Counter=0] [Type=0] [Code=1] [EventData=0x00000000] [CntrCSR=0xc00] [CntrBits=64]\n"
		"[1] 1018 PC=0x00020000 [Address] ffl:::0\n"
		"[0] 1020 PC=0x00020000 [Perf Cntr] [Index=0] [Value=100]  ffl:::0\n"
		"# COUNT_TYPE: RAW\n"
		"[0] 1022 [Perf Cntr Mask] [Mask=0x00000004]\n"
		"[0] 1025 [Perf Cntr Def] [Counter=2] [Type=0] [Code=2] [EventData=0x00000000] [CntrCSR=0xc02] [CntrBits=64]\n"
		"[0] 1027 PC=0x00020000 [Address] ffl:::0\n"
		"[1] 1029 PC=0x00020000 [Perf Cntr] [Index=0] [Value=110]  ffl:::0\n"
		"[1] 1030 PC=0x00020000 [Address] ffl:::0\n"
		"[0] 1028 PC=0x00020000 [Perf Cntr] [Index=2] [Value=120]  ffl:::0\n"
		"[1] 1031 PC=0x00020000 [Perf Cntr] [Index=0] [Value=130]  ffl:::0\n");
	expect_file(_metadata, "perf/trace.address",
		"# ELFPATH=\n"
		"# COUNT_TYPE: RAW\n"
		"[0] 1008 PC=0x00020000 [Address] ffl:::0\n"
		"[1] 1018 PC=0x00020000 [Address] ffl:::0\n"
		"[0] 1027 PC=0x00020000 [Address] ffl:::0\n"
		"[1] 1030 PC=0x00020000 [Address] ffl:::0\n");
	expect_file(_metadata, "perf/trace.perfchannel0",
		"# ELFPATH=\n"
		"# COUNT_TYPE: RAW\n"
		"[0] 1006 [Perf Cntr Def] [Counter=0] [Type=0] [Code=1] [EventData=0x00000000] [CntrCSR=0xc00] [CntrBits=64]\n"
		"[1] 1016 [Perf Cntr Def] [Counter=0] [Type=0] [Code=1] [EventData=0x00000000] [CntrCSR=0xc00] [CntrBits=64]\n"
		"[0] 1020 PC=0x00020000 [Perf Cntr] [Index=0] [Value=100]  ffl:::0\n"
		"[1] 1029 PC=0x00020000 [Perf Cntr] [Index=0] [Value=110]  ffl:::0\n"
		"[1] 1031 PC=0x00020000 [Perf Cntr] [Index=0] [Value=130]  ffl:::0\n");
	expect_file(_metadata, "perf/trace.perfchannel2",
		"# ELFPATH=\n"
		"# COUNT_TYPE: RAW\n"
		"[0] 1025 [Perf Cntr Def] [Counter=2] [Type=0] [Code=2] [EventData=0x00000000] [CntrCSR=0xc02] [CntrBits=64]\n"
		"[0] 1028 PC=0x00020000 [Perf Cntr] [Index=2] [Value=120]  ffl:::0\n");
}

/* The load address is not part of the object's name. */
TEST_F(command, perf_files_are_named_without_the_load_address)
{
	sample_trace(&self->gen, 0, 1);
	save(self, "trace.rtd");
	ASSERT_EQ(0, system("cp " PROGRAM " prog.elf"));
	run(self, "decode --format perf -e prog.elf@0x1000 trace.rtd;"
	    " head -n 1 prog.perf; ls perf");
	EXPECT_STREQ("# ELFPATH=prog.elf\nprog.address\nprog.callret\n"
		     "prog.perfchannel0\nprog.perfchannel3\n", self->out);
}

TEST_F(command, perf_values_and_times_are_as_expected)
{
	/* Times are printed as their low 32 bits, signed. */
	self->gen.now = 0xffffffff00;
	sample_trace(&self->gen, 0, 2);
	save(self, "trace.rtd");
	run(self, "decode --format perf -o new trace.rtd");
	EXPECT_EQ(0, self->status);
	run(self, "decode --help >/dev/null; cat new/perf/trace.perfchannel0");
	EXPECT_STREQ(
		"# ELFPATH=\n"
		"# COUNT_TYPE: DeltaXOR\n"
		"[0] -250 [Perf Cntr Def] [Counter=0] [Type=0] [Code=1] [EventData=0x00000000] [CntrCSR=0xc00] [CntrBits=64]\n"
		"[0] -240 PC=0x00020000 [Perf Cntr] [Index=0] [Value=1000]  ffl:::0\n"
		"[0] -234 PC=0x00021000 [Perf Cntr] [Index=0] [Value=1050]  ffl:::0\n"
		"[0] -228 PC=0x00020012 [Perf Cntr] [Index=0] [Value=1057]  ffl:::0\n"
		"[0] -224 PC=0x00020012 [Perf Cntr] [Index=0] [Value=1057]  ffl:::0\n"
		"[0] -220 PC=0x00021000 [Perf Cntr] [Index=0] [Value=1057]  ffl:::0\n",
		self->out);
}


/* Write a header of @counters counters from source @src, at its absolute time. */
static void begin(struct gen *gen, struct gen_stream *stream, unsigned int src,
		  unsigned int counters)
{
	gen_sync(gen, src);
	gen_stream_init(stream, gen, (uint8_t)src, 6, 0, counters, 64);
	gen_header(stream);
}

/* Write stores of the sizes and values in @word. A size of 0 ends the array. */
static void stores(struct gen *gen, unsigned int src, const uint32_t (*word)[2])
{
	for (; (*word)[0]; word++)
		gen_store(gen, src, 6, (*word)[0], (*word)[1]);
}

#define WORDS(...)	(const uint32_t [][2]){ __VA_ARGS__, { 0, 0 } }

/* Expect these lines after the headers. */
static void expect_lines(FIXTURE_DATA(command) *self,
			 struct __test_metadata *_metadata, const char *expected)
{
	save(self, "trace.rtd");
	run(self, "decode --format perf -e " PROGRAM " trace.rtd;"
	    " grep -v -e '^#' -e 'Perf Cntr [MD]' decode_sample.perf");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ(expected, self->out);
}

TEST_F(command, counter_time_is_that_of_its_last_word)
{
	struct gen_stream stream;

	self->gen.step = 10;
	begin(&self->gen, &stream, 0, 2);
	self->gen.now = 2000;
	stores(&self->gen, 0, WORDS({ 1, 0 }, { 4, FIB }, { 4, MAIN }, { 4, 1 },
				    { 2, 3 }, { 4, 2 }));
	self->gen.now = 3000;
	stores(&self->gen, 0, WORDS({ 1, 2 }, { 4, FIB }, { 4, 5 }, { 4, 6 }));
	expect_lines(self, _metadata,
		"[0] 2020 [Func Enter at 0x00021000] [Called From 0x00020000] ffl:sample/fib.c:fib:12\n"
		"[0] 2040 PC=0x00021000 [Perf Cntr] [Index=0] [Value=12884901889]  ffl:sample/fib.c:fib:12\n"
		"[0] 3000 PC=0x00021000 [Perf Cntr] [Index=1] [Value=2]  ffl:sample/fib.c:fib:12\n"
		"[0] 3010 PC=0x00021000 [Address] ffl:sample/fib.c:fib:12\n"
		"[0] 3030 PC=0x00021000 [Perf Cntr] [Index=0] [Value=5]  ffl:sample/fib.c:fib:12\n"
		"[0] 3030 PC=0x00021000 [Perf Cntr] [Index=1] [Value=6]  ffl:sample/fib.c:fib:12\n");
}

/* Lines are in order even if a stream is interrupted for any length of time within a counter. */
TEST_F(command, lines_of_sources_are_in_the_order_of_their_words)
{
	const uint64_t at = MAIN, value[2] = { 7, 8 };
	struct gen_stream stream[2];
	unsigned int i;

	gen_free(&self->gen);
	gen_init(&self->gen, 1, 40);
	begin(&self->gen, &stream[0], 0, 2);
	begin(&self->gen, &stream[1], 1, 2);
	self->gen.now = 2000;
	stores(&self->gen, 0, WORDS({ 1, 1 }, { 4, FIB }));
	stores(&self->gen, 1, WORDS({ 1, 2 }, { 4, FIB }, { 4, 1 }, { 4, 5 }));
	stores(&self->gen, 0, WORDS({ 4, MAIN }, { 4, 2 }, { 4, 3 }));
	for (i = 0; i < 300; i++)
		gen_record(&stream[1], 2, &at, value);
	self->gen.now = 9000;
	stores(&self->gen, 0, WORDS({ 2, 1 }));
	save(self, "trace.rtd");
	run(self, "decode -s 1 --format perf -e " PROGRAM " trace.rtd;"
	    " grep -e 'Index=[01]. .Value=[^78]' -e Func -e 'PC=0x00021' decode_sample.perf");
	EXPECT_STREQ(
		"[1] 2003 PC=0x00021000 [Address] ffl:sample/fib.c:fib:12\n"
		"[1] 2005 PC=0x00021000 [Perf Cntr] [Index=0] [Value=1]  ffl:sample/fib.c:fib:12\n"
		"[0] 2006 [Func Exit] [Func at 0x00021000] [Returning to 0x00020000] ffl:sample/fib.c:main:20\n"
		"[0] 2008 PC=0x00020000 [Perf Cntr] [Index=0] [Value=2]  ffl:sample/fib.c:main:20\n"
		"[1] 2009 PC=0x00021000 [Perf Cntr] [Index=1] [Value=5]  ffl:sample/fib.c:fib:12\n"
		"[0] 9000 PC=0x00020000 [Perf Cntr] [Index=1] [Value=4294967299]  ffl:sample/fib.c:main:20\n",
		self->out);
}

/* Two interleaved headers, one of them incomplete. */
TEST_F(command, lines_of_headers_are_in_the_order_of_their_words)
{
	static const uint32_t word[][2] = {
		{ 4, 0x70657266 }, { 1, 1 }, { 4, 5 }, { 4, 0 }, { 4, 1 },
		{ 4, 0x3fc00 }, { 4, 0 }, { 4, 2 }, { 4, 0x3fc02 },
		{ 1, 2 }, { 4, MAIN }, { 4, 3 }, { 4, 4 },
	};
	unsigned int i, src;

	gen_free(&self->gen);
	gen_init(&self->gen, 1, 40);
	for (src = 0; src < 2; src++)
		gen_sync(&self->gen, src);
	self->gen.now = 2000;
	for (i = 0; i < sizeof(word) / sizeof(word[0]); i++)
		for (src = 0; src < (i < 8 ? 2 : 1); src++)
			gen_store(&self->gen, src, 6, word[i][0], word[i][1]);
	save(self, "trace.rtd");
	run(self, "decode -s 1 --format perf trace.rtd; cut -c1-50 trace.perf");
	EXPECT_STREQ(
		"# ELFPATH=\n"
		"# COUNT_TYPE: Delta\n"
		"# COUNT_TYPE: Delta\n"
		"[0] 2004 [Perf Cntr Mask] [Mask=0x00000005]\n"
		"[1] 2005 [Perf Cntr Mask] [Mask=0x00000005]\n"
		"[0] 2010 [Perf Cntr Def] [Counter=0] [Type=0] [Cod\n"
		"[1] 2011 [Perf Cntr Def] [Counter=0] [Type=0] [Cod\n"
		"[0] 2016 [Perf Cntr Def] [Counter=2] [Type=0] [Cod\n"
		"[0] 2018 PC=0x00020000 [Address] ffl:::0\n"
		"[0] 2020 PC=0x00020000 [Perf Cntr] [Index=0] [Valu\n"
		"[0] 2020 PC=0x00020000 [Perf Cntr] [Index=2] [Valu\n",
		self->out);
}

TEST_F(command, truncated_record_has_lines_for_its_complete_words)
{
	const uint64_t at = MAIN, value[3] = { 7, 8, 9 };
	struct gen_stream stream;

	begin(&self->gen, &stream, 0, 3);
	self->gen.now = 2000;
	stores(&self->gen, 0, WORDS({ 1, 0 }, { 4, FIB }, { 4, MAIN }, { 4, 1 },
				    { 4, 2 }));
	gen_record(&stream, 2, &at, value);
	stores(&self->gen, 0, WORDS({ 1, 1 }, { 4, FIB }, { 4, MAIN }, { 4, 4 },
				    { 4, 5 }));
	expect_lines(self, _metadata,
		"[0] 2002 [Func Enter at 0x00021000] [Called From 0x00020000] ffl:sample/fib.c:fib:12\n"
		"[0] 2004 PC=0x00021000 [Perf Cntr] [Index=0] [Value=1]  ffl:sample/fib.c:fib:12\n"
		"[0] 2005 PC=0x00021000 [Perf Cntr] [Index=1] [Value=2]  ffl:sample/fib.c:fib:12\n"
		"[0] 2006 PC=0x00020000 [Address] ffl:sample/fib.c:main:20\n"
		"[0] 2008 PC=0x00020000 [Perf Cntr] [Index=0] [Value=7]  ffl:sample/fib.c:main:20\n"
		"[0] 2009 PC=0x00020000 [Perf Cntr] [Index=1] [Value=8]  ffl:sample/fib.c:main:20\n"
		"[0] 2010 PC=0x00020000 [Perf Cntr] [Index=2] [Value=9]  ffl:sample/fib.c:main:20\n"
		"[0] 2012 [Func Exit] [Func at 0x00021000] [Returning to 0x00020000] ffl:sample/fib.c:main:20\n"
		"[0] 2014 PC=0x00020000 [Perf Cntr] [Index=0] [Value=4]  ffl:sample/fib.c:main:20\n");
}

TEST_F(command, time_after_an_error_is_0_until_the_next_absolute_one)
{
	const uint64_t at = MAIN, value = 7;
	struct gen_stream stream;

	begin(&self->gen, &stream, 0, 1);
	gen_error(&self->gen, 0);
	gen_record(&stream, 2, &at, &value);
	gen_record(&stream, 2, &at, &value);
	self->gen.now = 5000;
	gen_sync(&self->gen, 0);
	gen_record(&stream, 2, &at, &value);
	expect_lines(self, _metadata,
		"[0] 0 PC=0x00020000 [Address] ffl:sample/fib.c:main:20\n"
		"[0] 0 PC=0x00020000 [Perf Cntr] [Index=0] [Value=7]  ffl:sample/fib.c:main:20\n"
		"[0] 0 PC=0x00020000 [Address] ffl:sample/fib.c:main:20\n"
		"[0] 5001 PC=0x00020000 [Perf Cntr] [Index=0] [Value=7]  ffl:sample/fib.c:main:20\n"
		"[0] 5002 PC=0x00020000 [Address] ffl:sample/fib.c:main:20\n"
		"[0] 5003 PC=0x00020000 [Perf Cntr] [Index=0] [Value=7]  ffl:sample/fib.c:main:20\n");
}

/* Each source needs an absolute time after an Error message of any source, as in SiFive's decoder. */
TEST_F(command, times_of_all_sources_after_an_error_are_0_until_their_next_absolute_one)
{
	const uint64_t at = MAIN, value = 7;
	struct gen_stream stream[2];
	unsigned int i;

	gen_free(&self->gen);
	gen_init(&self->gen, 1, 40);
	for (i = 0; i < 2; i++)
		begin(&self->gen, &stream[i], i, 0);
	for (i = 0; i < 2; i++)
		gen_record(&stream[i], 2, &at, &value);
	gen_error(&self->gen, 0);
	for (i = 0; i < 2; i++)
		gen_record(&stream[i], 2, &at, &value);
	self->gen.now = 5000;
	gen_sync(&self->gen, 0);
	for (i = 0; i < 2; i++)
		gen_record(&stream[i], 2, &at, &value);
	self->gen.now = 6000;
	gen_sync(&self->gen, 1);
	for (i = 0; i < 2; i++)
		gen_record(&stream[i], 2, &at, &value);
	save(self, "trace.rtd");
	run(self, "decode -s 1 --format perf -e " PROGRAM " trace.rtd;"
	    " grep Address decode_sample.perf | cut -d ' ' -f 1,2");
	EXPECT_STREQ("[0] 1009\n[1] 1011\n[0] 0\n[1] 0\n[0] 5002\n[1] 0\n[0] 6002\n[1] 6004\n",
		     self->out);
}

/* Return the middle of the first 4-byte instruction of main. */
static uint64_t inside_an_instruction(void)
{
	FILE *file = fopen(PROGRAM, "r");
	uint64_t at = MAIN, offset = 0;
	uint16_t half = 0;
	Elf64_Phdr part;
	Elf64_Ehdr elf;
	unsigned int i;

	if (!file || fread(&elf, sizeof(elf), 1, file) != 1)
		return 0;
	fseek(file, (long)elf.e_phoff, SEEK_SET);
	for (i = 0; i < elf.e_phnum && fread(&part, sizeof(part), 1, file) == 1; i++)
		if (part.p_type == PT_LOAD && MAIN - part.p_vaddr < part.p_filesz)
			offset = part.p_offset - part.p_vaddr;
	for (; (half & 3) != 3; at += 2) {
		fseek(file, (long)(at + offset), SEEK_SET);
		if (fread(&half, sizeof(half), 1, file) != 1)
			break;
	}
	fclose(file);
	return at;
}

TEST_F(command, address_inside_an_instruction_has_no_line)
{
	const uint64_t at = inside_an_instruction(), before = at - 2, behind = at + 2;
	struct gen_stream stream;
	char expected[512];

	begin(&self->gen, &stream, 0, 0);
	gen_record(&stream, 2, &before, NULL);
	gen_record(&stream, 2, &at, NULL);
	gen_record(&stream, 2, &behind, NULL);
	gen_record(&stream, 2, &at, NULL);
	snprintf(expected, sizeof(expected),
		 "0x%08" PRIx64 " [Address] ffl:sample/fib.c:main:20\n"
		 "0x%08" PRIx64 " [Address] ffl::main:0\n"
		 "0x%08" PRIx64 " [Address] ffl:sample/fib.c:main:20\n"
		 "0x%08" PRIx64 " [Address] ffl::main:0\n", before, at, behind, at);
	save(self, "trace.rtd");
	run(self, "decode --format perf -e " PROGRAM " trace.rtd;"
	    " grep -o '0x.* .Addr.*' decode_sample.perf");
	EXPECT_STREQ(expected, self->out);
}

/* Codes are signed. Names are not demangled, because ":" separates fields. */
TEST_F(command, numbers_and_names_are_readable_by_other_programs)
{
	const uint64_t at = LENGTHY, value = 7;
	struct gen_stream stream;

	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 0, 1, 64);
	stream.counter[0].code = 0xfffffffe;
	gen_header(&stream);
	gen_record(&stream, 2, &at, &value);
	save(self, "trace.rtd");
	run(self, "decode --format perf -e " PROGRAM " trace.rtd;"
	    " grep -o -e 'Code=[^ ]*' -e 'ress. ffl.*' decode_sample.perf");
	EXPECT_STREQ("Code=-2]\nress] ffl:sample/fib.c:_ZN9warehouse10department5shelf"
		     "I10perishableE9inventory10supervisor11recalculateILi12345EEEii:30\n",
		     self->out);
	run(self, "decode --format perf --demangle full -e " PROGRAM " trace.rtd");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "--demangle does not apply to --format perf"));
}

TEST_HARNESS_MAIN
