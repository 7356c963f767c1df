// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests the output, messages and exit status of sifive-trace decode. */
#include "command_fixture.h"

TEST_F(command, text_output_is_as_expected)
{
	sample_trace(&self->gen, 0, 1);
	save(self, "trace.rtd");
	run(self, "decode -e " PROGRAM " trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ(
		"# header 1 of source 0 channel 6 at 0x5: counts Delta, 2 counters\n"
		"#   counter 0  cycles                 64 bits  csr 0xc00\n"
		"#   counter 3  r20001                 64 bits  csr 0xc03\n"
		"#         time src type       cycles     r20001  function\n"
		"          1014   0 enter           0          0  main <- 0x3f00000000\n"
		"          1019   0 enter          50 8589934592    fib <- main+0x12 (fib.c:20)\n"
		"          1025   0 exit            7          0    fib -> main+0x12 (fib.c:20)\n"
		"          1029   0 manual          0          3    main+0x12 (fib.c:20)\n"
		"          1033   0 sample          0          0    fib (fib.c:12)\n",
		self->out);
	EXPECT_STREQ(
		"sifive-trace: trace.rtd: 5 records: 2 enter, 1 exit, 1 manual, 1 sample;"
		" 1 header, 36 messages, 171 bytes; srcbits 0 inferred\n"
		"sifive-trace: trace.rtd: time 1011 to 1033, 22 ticks\n"
		"sifive-trace: trace.rtd: counts may be per hart and include everything that"
		" ran there: unknown without a side-car file\n",
		self->err);
}

TEST_F(command, absolute_values_are_as_expected)
{
	sample_trace(&self->gen, 0, 2);
	save(self, "trace.rtd");
	run(self, "decode --values absolute trace.rtd | grep -v '^#'");
	EXPECT_STREQ(
		"          1014   0 enter        1000       2000  0x20000 <- 0x3f00000000\n"
		"          1020   0 enter        1050 8589936592    0x21000 <- 0x20012\n"
		"          1026   0 exit         1057 8589936592    0x21000 -> 0x20012\n"
		"          1030   0 manual       1057 8589936595    0x20012\n"
		"          1034   0 sample       1057 8589936595    0x21000\n",
		self->out);
	run(self, "decode --values raw trace.rtd | grep -v '^#' | cut -c1-48");
	EXPECT_STREQ(
		"          1014   0 enter        1000       2000 \n"
		"          1020   0 enter        2034 8589934592 \n"
		"          1026   0 exit           59          0 \n"
		"          1030   0 manual          0          3 \n"
		"          1034   0 sample          0          0 \n",
		self->out);
	run(self, "decode trace.rtd | grep -v '^#' | cut -c1-48");
	EXPECT_STREQ(
		"          1014   0 enter           -          - \n"
		"          1020   0 enter          50 8589934592 \n"
		"          1026   0 exit            7          0 \n"
		"          1030   0 manual          0          3 \n"
		"          1034   0 sample          0          0 \n",
		self->out);
}

TEST_F(command, csv_output_is_as_expected)
{
	sample_trace(&self->gen, 0, 1);
	save(self, "trace.rtd");
	run(self, "decode -q --format csv -e " PROGRAM " trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ(
		"ticks,source,channel,type,address,function,file,line,caller_address,caller,cycles,r20001,time,thread,note\n"
		"1014,0,6,enter,0x20000,main,sample/fib.c,20,0x3f00000000,,0,0,exact,,\n"
		"1019,0,6,enter,0x21000,fib,sample/fib.c,12,0x20012,main,50,8589934592,exact,,\n"
		"1025,0,6,exit,0x21000,fib,sample/fib.c,12,0x20012,main,7,0,exact,,\n"
		"1029,0,6,manual,0x20012,main,sample/fib.c,20,,,0,3,exact,,\n"
		"1033,0,6,sample,0x21000,fib,sample/fib.c,12,,,0,0,exact,,\n", self->out);
}

/* Each line is a JSON object with an offset, even if the line does not describe a record. */
TEST_F(command, json_output_is_as_expected)
{
	const uint64_t process = 2 | 1 << 2 | 1 << 4 | 77 << 5;

	sample_trace(&self->gen, 0, 1);
	gen_message(&self->gen, 2, 0, NULL, NULL, &process, 1);
	gen_store(&self->gen, 0, 6, 1, 2);
	gen_bytes(&self->gen, "\x02\x03", 2);
	gen_error(&self->gen, 0);
	save(self, "trace.rtd");
	run(self, "decode --format json -e " PROGRAM " trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ(
		"{\"kind\":\"header\",\"source\":0,\"channel\":6,\"offset\":5,\"count_type\":\"Delta\",\"counters\":["
		"{\"name\":\"cycles\",\"number\":0,\"type\":0,\"code\":1,\"event_data\":\"0x0\",\"csr\":3072,\"bits\":64},"
		"{\"name\":\"r20001\",\"number\":3,\"type\":2,\"code\":0,\"event_data\":\"0x20001\",\"csr\":3075,\"bits\":64}]}\n"
		"{\"kind\":\"enter\",\"source\":0,\"channel\":6,\"ticks\":1014,\"address\":\"0x20000\",\"function\":\"main\",\"object\":\"decode_sample.elf\",\"file\":\"sample/fib.c\",\"line\":20,\"caller_address\":\"0x3f00000000\",\"counters\":{\"cycles\":0,\"r20001\":0}}\n"
		"{\"kind\":\"enter\",\"source\":0,\"channel\":6,\"ticks\":1019,\"address\":\"0x21000\",\"function\":\"fib\",\"object\":\"decode_sample.elf\",\"file\":\"sample/fib.c\",\"line\":12,\"caller_address\":\"0x20012\",\"caller_function\":\"main\",\"caller_object\":\"decode_sample.elf\",\"caller_file\":\"sample/fib.c\",\"caller_line\":20,\"counters\":{\"cycles\":50,\"r20001\":8589934592}}\n"
		"{\"kind\":\"exit\",\"source\":0,\"channel\":6,\"ticks\":1025,\"address\":\"0x21000\",\"function\":\"fib\",\"object\":\"decode_sample.elf\",\"file\":\"sample/fib.c\",\"line\":12,\"caller_address\":\"0x20012\",\"caller_function\":\"main\",\"caller_object\":\"decode_sample.elf\",\"caller_file\":\"sample/fib.c\",\"caller_line\":20,\"counters\":{\"cycles\":7,\"r20001\":0}}\n"
		"{\"kind\":\"manual\",\"source\":0,\"channel\":6,\"ticks\":1029,\"address\":\"0x20012\",\"function\":\"main\",\"object\":\"decode_sample.elf\",\"file\":\"sample/fib.c\",\"line\":20,\"counters\":{\"cycles\":0,\"r20001\":3}}\n"
		"{\"kind\":\"ownership\",\"source\":0,\"offset\":171,\"format\":2,\"privilege\":1,\"virtual\":true,\"context\":77}\n"
		"{\"kind\":\"sample\",\"source\":0,\"channel\":6,\"ticks\":1033,\"address\":\"0x21000\",\"function\":\"fib\",\"object\":\"decode_sample.elf\",\"file\":\"sample/fib.c\",\"line\":12,\"counters\":{\"cycles\":0,\"r20001\":0}}\n"
		"{\"kind\":\"lost\",\"source\":0,\"channel\":6,\"offset\":175,\"words\":1,\"reason\":\"messages were lost within it\"}\n"
		"{\"kind\":\"gap\",\"offset\":179,\"bytes\":2,\"reason\":\"reserved MSEO\"}\n"
		"{\"kind\":\"error\",\"source\":0,\"offset\":181,\"type\":0,\"code\":32}\n",
		self->out);
	EXPECT_EQ(0, system("python3 -c \"import json;"
			    " [json.loads(l) for l in open('out.txt')]\""));
	run(self, "decode trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "\n# 0xab: source 0: context 0x4d of"
			       " privilege 1, virtual (format 2)\n"));
	EXPECT_NE(NULL, strstr(self->out, "\n# 0xaf: source 0 channel 6: 1 word dropped"));
	EXPECT_NE(NULL, strstr(self->out, "\n# 0xb3: 2 bytes skipped"));
	EXPECT_NE(NULL, strstr(self->out, "\n# 0xb5: source 0: the encoder lost"));
	EXPECT_NE(NULL, strstr(self->err, "the context changed 1 time"));
}

TEST_F(command, source_width_is_inferred)
{
	unsigned int src_bits, type;
	char expected[64];

	for (src_bits = 0; src_bits <= 7; src_bits++) {
		for (type = 0; type < 3; type++) {
			unsigned int src;

			gen_free(&self->gen);
			gen_init(&self->gen, src_bits, 40);
			for (src = 0; src < 1u << src_bits; src++)
				sample_trace(&self->gen, src, type);
			save(self, "trace.rtd");
			run(self, "decode trace.rtd");
			EXPECT_EQ(0, self->status);
			snprintf(expected, sizeof(expected),
				 "srcbits %u inferred", src_bits);
			EXPECT_NE(NULL, strstr(self->err, expected));
			snprintf(expected, sizeof(expected), " %u header",
				 1u << src_bits);
			EXPECT_NE(NULL, strstr(self->err, expected));
		}
	}
}

TEST_F(command, side_car_file_describes_the_trace)
{
	static const char meta[] =
		"{ \"srcbits\": 3, \"ts_width\": 20, \"ts_scheme\": \"delta\","
		" \"wrapped\": false, \"other\": [1, 2] }";

	gen_free(&self->gen);
	gen_init(&self->gen, 3, 20);
	self->gen.ts_delta = true;
	self->gen.now = (1 << 20) - 5;
	sample_trace(&self->gen, 5, 0);
	save(self, "trace.rtd");
	write_file("trace.rtd.meta", meta, strlen(meta));
	run(self, "decode trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->err, "srcbits 3 from the side-car file"));
	EXPECT_NE(NULL, strstr(self->err, "time 1048582 to 1048606, 24 ticks"));

	write_file("trace.rtd.meta", "{ \"srcbits\"", 11);
	run(self, "decode --ts-width 20 --ts-scheme delta trace.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "trace.rtd.meta: not a JSON object"));
	EXPECT_NE(NULL, strstr(self->err, "--meta none"));
	run(self, "decode --meta none --ts-width 20 --ts-scheme delta trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->err, "srcbits 3 inferred"));

	write_file("trace.rtd.meta", "{ \"srcbits\": -1, \"ts_scheme\": 7 }", 34);
	run(self, "decode -s 3 trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->err, "\"srcbits\" is not a number"));
	EXPECT_NE(NULL, strstr(self->err, "\"ts_scheme\" is not a string"));
	EXPECT_NE(NULL, strstr(self->err, "srcbits 3 as given"));
}

TEST_F(command, standard_input_and_output_file_are_supported)
{
	sample_trace(&self->gen, 0, 0);
	save(self, "trace.rtd");
	run(self, "decode trace.rtd");
	write_file("expected.txt", self->out, strlen(self->out));
	run(self, "decode -o file.txt - < trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("", self->out);
	EXPECT_EQ(0, system("cmp file.txt expected.txt"));
	run(self, "decode -o no/such/file.txt trace.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "no/such/file.txt: cannot write"));
}

/*
 * The output never overwrites an input file, regardless of the name by which the user refers to it.
 */
TEST_F(command, output_never_overwrites_an_input)
{
	static const char * const wrong[] = {
		"decode -o trace.rtd trace.rtd", "decode -o link trace.rtd",
		"decode -o trace.rtd - <trace.rtd",
		"decode -o trace.rtd.meta trace.rtd",
		"decode --meta own.meta -o own.meta trace.rtd",
		"decode -e program -o program trace.rtd",
		"decode -e program@0x1000 -o program trace.rtd",
		"decode --format csv -o trace.rtd trace.rtd",
		"decode --format json -o trace.rtd trace.rtd",
		"report -o trace.rtd trace.rtd",
		"report -o trace.rtd --diff trace.rtd other.rtd",
		"annotate -o trace.rtd trace.rtd", "annotate -e program -o program trace.rtd main",
		"graph -o trace.rtd trace.rtd", "replay -o trace.rtd trace.rtd",
		"export --format html -o trace.rtd trace.rtd",
		"filter -F '*' -o program program",
	};
	size_t i;

	sample_trace(&self->gen, 0, 1);
	save(self, "trace.rtd");
	save(self, "other.rtd");
	write_file("trace.rtd.meta", "{}", 2);
	write_file("own.meta", "{}", 2);
	ASSERT_EQ(0, system("ln trace.rtd link && cp " PROGRAM " program &&"
			    " cat trace.rtd trace.rtd.meta own.meta program >all"));
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		run(self, "%s", wrong[i]);
		EXPECT_EQ(2, self->status) {
			TH_LOG("%s: %s", wrong[i], self->err);
		}
		EXPECT_NE(NULL, strstr(self->err, "it is also an input"));
		ASSERT_EQ(0, system("cat trace.rtd trace.rtd.meta own.meta"
				    " program | cmp - all"));
	}
	/* The command also checks a name that it chooses itself. The last input here is empty. */
	save(self, "trace.perf");
	run(self, "decode --format perf trace.perf");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "./trace.perf: cannot write: it is also an input"));
	EXPECT_EQ(0, system("cmp trace.perf trace.rtd"));
	run(self, "decode -o /dev/null - </dev/null");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "empty: nothing was recorded"));
}

/* The command ends without a message if the reader of its output exits. */
TEST_F(command, closed_pipe_ends_the_command_silently)
{
	unsigned int i;

	for (i = 0; i < 3000; i++)
		sample_trace(&self->gen, 0, 0);
	save(self, "trace.rtd");
	run(self, "decode trace.rtd 2>pipe.txt | head -1 >/dev/null");
	read_file("pipe.txt", self->err);
	EXPECT_STREQ("", self->err);
	run(self, "--version; trap '' PIPE; " COMMAND
	    " decode trace.rtd 2>pipe.txt | head -1 >/dev/null");
	read_file("pipe.txt", self->err);
	EXPECT_STREQ("", self->err);
}

TEST_F(command, full_disk_is_an_error)
{
	sample_trace(&self->gen, 0, 0);
	save(self, "trace.rtd");
	if (access("/dev/full", W_OK))
		SKIP(return, "no /dev/full");
	run(self, "decode -o /dev/full trace.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "/dev/full: cannot write: No space"));
}

TEST_F(command, other_channels_are_named_and_selectable)
{
	struct gen_stream stream;
	uint64_t address = MAIN;

	gen_stream_init(&stream, &self->gen, 0, 7, 0, 0, 64);
	gen_header(&stream);
	gen_record(&stream, 2, &address, NULL);
	gen_stream_init(&stream, &self->gen, 0, 9, 0, 0, 64);
	gen_header(&stream);
	gen_record(&stream, 3, &address, NULL);
	save(self, "trace.rtd");
	run(self, "decode trace.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "trace.rtd: no records on channel 6 "
			       "(channels seen: 7, 9); use -c"));
	run(self, "decode -c 9 trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "   0 sample  0x20000\n"));
	EXPECT_NE(NULL, strstr(self->err, "not decoded: channels 7 "));
	EXPECT_NE(NULL, strstr(self->err, "no times"));
	run(self, "decode -c all trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, " src ch type  "));
	EXPECT_NE(NULL, strstr(self->out, "   0  7 manual  0x20000\n"));
	EXPECT_NE(NULL, strstr(self->out, "   0  9 sample  0x20000\n"));
}

static void write_text(const char *name, const char *text)
{
	write_file(name, text, strlen(text));
}

static void put_named(struct gen_stream *stream, uint32_t owner, bool goes_on)
{
	const uint64_t address = MAIN;

	stream->owner = owner;
	stream->goes_on = goes_on;
	if (owner)
		gen_header(stream);
	gen_record(stream, 2, &address, NULL);
}

/* If a header is also lost, the owner of the records after it is unknown. */
TEST_F(command, threads_of_a_shared_channel_are_named_or_unknown)
{
	const uint64_t address = MAIN;
	struct gen_stream stream;

	gen_stream_init(&stream, &self->gen, 0, 6, 0, 0, 64);
	put_named(&stream, 71, false);
	gen_error(&self->gen, 0);
	gen_record(&stream, 2, &address, NULL);
	put_named(&stream, 72, true);
	save(self, "trace.rtd");
	run(self, "decode --format json trace.rtd | grep manual | grep -o 'channel.*address'");
	EXPECT_STREQ("channel\":6,\"thread\":71,\"time\":\"unknown\",\"address\n"
		     "channel\":6,\"time\":\"unknown\",\"address\n"
		     "channel\":6,\"thread\":72,\"time\":\"unknown\",\"address\n",
		     self->out);
	run(self, "decode -q --format csv trace.rtd | cut -d , -f 2-4,11-");
	EXPECT_STREQ("source,channel,type,time,thread,note\n"
		     "0,6,manual,unknown,71,\n"
		     "0,6,manual,unknown,,records may be missing before it\n"
		     "0,6,manual,unknown,72,\n", self->out);
	run(self, "decode trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "Raw, 0 counters, thread 71\n"));
	EXPECT_NE(NULL, strstr(self->out, "Raw, 0 counters, thread 72, which continues\n"));
	run(self, "report --by thread trace.rtd | sort");
	EXPECT_NE(NULL, strstr(self->out, "thread 71"));
	EXPECT_NE(NULL, strstr(self->out, "unknown thread, source 0 channel 6"));
	write_text("trace.rtd.meta", "{\"srcbits\":0,\"channel\":6,\"shared\":64,"
		  "\"threads\":[{\"channel\":6,\"tid\":70},"
		  "{\"channel\":6,\"tid\":72,\"named\":true,\"name\":\"late\"}]}");
	run(self, "decode --format csv trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, ",time,thread,note\n"));
	EXPECT_NE(NULL, strstr(self->out, ",unknown,71,\n"));
	EXPECT_NE(NULL, strstr(self->out, ",unknown,,"));
	run(self, "report --by thread trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "late/72"));
}

/* The header that names the thread was overwritten in the ring. */
TEST_F(command, ring_with_shared_channels_begins_with_unknown_thread)
{
	const uint64_t address = MAIN;
	struct gen_stream stream;

	gen_stream_init(&stream, &self->gen, 0, 6, 0, 0, 64);
	gen_record(&stream, 2, &address, NULL);
	gen_record(&stream, 2, &address, NULL);
	put_named(&stream, 72, true);
	save(self, "trace.rtd");
	write_text("trace.rtd.meta", "{\"srcbits\":0,\"channel\":6,\"shared\":64,"
		  "\"wrapped\":true,\"count_type\":0,\"counters\":[],"
		  "\"threads\":[{\"channel\":6,\"tid\":70}]}");
	run(self, "decode --format csv trace.rtd");
	EXPECT_EQ(NULL, strstr(self->out, ",70,"));
	EXPECT_NE(NULL, strstr(self->out, ",unknown,,"));
	EXPECT_NE(NULL, strstr(self->out, ",unknown,72,\n"));
}

TEST_F(command, streams_with_different_counters_have_separate_headings)
{
	struct gen_stream one, two;
	uint64_t address = MAIN, value[2] = { 11, 22 };

	gen_stream_init(&one, &self->gen, 0, 6, 1, 2, 64);
	gen_header(&one);
	gen_stream_init(&two, &self->gen, 0, 7, 1, 1, 64);
	two.counter[0].code = 2;
	gen_header(&two);
	gen_record(&one, 2, &address, value);
	gen_record(&two, 2, &address, value);
	gen_record(&one, 2, &address, value);
	save(self, "trace.rtd");
	run(self, "decode -c all trace.rtd | tail -n 4");
	EXPECT_STREQ(
		"#         time src ch type       cycles instructions  function\n"
		"             -   0  6 manual         11           22  0x20000\n"
		"             -   0  7 manual                      11  0x20000\n"
		"             -   0  6 manual          0            0  0x20000\n",
		self->out);
}

TEST_F(command, damage_is_shown_and_fails_with_strict)
{
	const uint64_t address = MAIN;
	struct gen_stream stream;

	sample_trace(&self->gen, 0, 0);
	gen_store(&self->gen, 0, 6, 1, 2);
	gen_bytes(&self->gen, "\x02\x03", 2);
	gen_error(&self->gen, 0);
	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 0, 0, 64);
	gen_header(&stream);
	gen_record(&stream, 2, &address, NULL);
	gen_bytes(&self->gen, "\x1c", 1);
	save(self, "trace.rtd");
	run(self, "decode trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, ": 2 bytes skipped: reserved MSEO\n"));
	EXPECT_NE(NULL, strstr(self->out, "source 0 channel 6: 1 word dropped: "
			       "messages were lost within it\n"));
	EXPECT_NE(NULL, strstr(self->out, "source 0: the encoder lost messages "
			       "(error type 0, code 0x20)\n"));
	EXPECT_NE(NULL, strstr(self->out, ": 1 byte skipped: the trace ends"));
	EXPECT_NE(NULL, strstr(self->err, "6 records"));
	EXPECT_NE(NULL, strstr(self->err, "damaged: 2 bytes skipped in 1 place"));
	EXPECT_NE(NULL, strstr(self->err, "the encoder lost messages 1 time"));
	EXPECT_NE(NULL, strstr(self->err, "the last message is cut off: 1 byte"));
	run(self, "decode --strict trace.rtd");
	EXPECT_EQ(1, self->status);
	self->gen.length = 0;
	sample_trace(&self->gen, 0, 0);
	save(self, "trace.rtd");
	run(self, "decode --strict trace.rtd");
	EXPECT_EQ(0, self->status);
}

/* Without a side-car file, the program's threads may have used the other channels. */
TEST_F(command, strict_fails_for_channels_that_are_left_out)
{
	static const char * const commands[] = {
		"decode", "report", "export --format folded", "replay",
	};
	size_t i;

	sample_trace(&self->gen, 0, 0);
	gen_store(&self->gen, 0, 7, 4, 1);
	save(self, "trace.rtd");
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		run(self, "%s --strict trace.rtd", commands[i]);
		EXPECT_EQ(1, self->status);
		EXPECT_NE(NULL, strstr(self->err, "not decoded: channels 7 (use -c N or -c all)"));
		run(self, "%s trace.rtd", commands[i]);
		EXPECT_EQ(0, self->status);
		run(self, "%s --strict -c 6 trace.rtd", commands[i]);
		EXPECT_EQ(0, self->status);
	}
	write_file("trace.rtd.meta", "{ \"channel\": 6 }", 16);
	run(self, "decode --strict trace.rtd");
	EXPECT_EQ(0, self->status);
}

/* --strict fails for losses that the recorder reported and for an incomplete last message. */
TEST_F(command, strict_fails_for_every_loss)
{
	static const char * const lost[] = {
		"signals", "threads", "abandoned", "samples",
		"encoders",
	};
	char meta[64];
	size_t i;

	sample_trace(&self->gen, 0, 0);
	save(self, "trace.rtd");
	for (i = 0; i < sizeof(lost) / sizeof(lost[0]); i++) {
		snprintf(meta, sizeof(meta), "{ \"lost\": { \"%s\": 500 } }",
			 lost[i]);
		write_file("trace.rtd.meta", meta, strlen(meta));
		run(self, "decode trace.rtd");
		EXPECT_EQ(0, self->status);
		EXPECT_NE(NULL, strstr(self->err, "not recorded: 500 "));
		run(self, "decode --strict trace.rtd");
		EXPECT_EQ(1, self->status);
		run(self, "report --strict trace.rtd");
		EXPECT_EQ(1, self->status);
		run(self, "export --format folded --strict trace.rtd");
		EXPECT_EQ(1, self->status);
	}
	write_file("trace.rtd.meta", "{ \"lost\": { } }", 15);
	run(self, "decode --strict trace.rtd");
	EXPECT_EQ(0, self->status);
	gen_bytes(&self->gen, "\x1c", 1);
	save(self, "trace.rtd");
	run(self, "decode --strict trace.rtd");
	EXPECT_EQ(1, self->status);
}

/* An invalid number of losses in the side-car file counts as a loss. */
TEST_F(command, strict_fails_for_bad_numbers_of_losses)
{
	static const char * const bad[] = {
		"{ \"lost\": [ 1 ] }", "{ \"lost\": { \"samples\": -3 } }",
		"{ \"lost\": { \"samples\": \"-3\" } }", "{ \"lost\": { \"samples\": {} } }",
		"{ \"lost\": { \"samples\": 1000000000000000000000000000000 } }",
		"{ \"coverage\": 5 }", "{ \"coverage\": { \"full\": 1 } }",
		"{ \"coverage\": { \"gaps\": -1 } }",
	};
	size_t i;

	sample_trace(&self->gen, 0, 0);
	save(self, "trace.rtd");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		write_file("trace.rtd.meta", bad[i], strlen(bad[i]));
		run(self, "decode --strict trace.rtd");
		EXPECT_EQ(1, self->status);
		EXPECT_NE(NULL, strstr(self->err, ": ignored"));
		EXPECT_EQ(NULL, strstr(self->err, "not recorded: "));
	}
}

TEST_F(command, side_car_numbers_can_be_strings_but_not_negative_or_huge)
{
	static const char * const rate[] = {
		"-5", "\"-5\"", "100000000001", "1000000000000000000000000000000", "\"\"", "[]",
	};
	char meta[128];
	size_t i;

	gen_free(&self->gen);
	gen_init(&self->gen, 3, 40);
	sample_trace(&self->gen, 5, 0);
	save(self, "trace.rtd");
	for (i = 0; i < sizeof(rate) / sizeof(rate[0]); i++) {
		snprintf(meta, sizeof(meta), "{ \"ts_hz\": %s }", rate[i]);
		write_file("trace.rtd.meta", meta, strlen(meta));
		run(self, "decode trace.rtd");
		EXPECT_NE(NULL, strstr(self->err, ": \"ts_hz\" is not a number"));
		EXPECT_NE(NULL, strstr(self->err, "time 1011 to 1035, 24 ticks\n"));
		EXPECT_NE(NULL, strstr(self->err, ": not specified in the side-car file\n"));
	}
	snprintf(meta, sizeof(meta),
		 "{ \"ts_hz\": \"0x3b9aca00\", \"srcbits\": \"3\", \"threads\": [ { \"channel\": \"6\", \"tid\": \"077\" } ] }");
	write_file("trace.rtd.meta", meta, strlen(meta));
	run(self, "decode --strict --format csv trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_EQ(NULL, strstr(self->err, "ignored"));
	EXPECT_NE(NULL, strstr(self->err, "srcbits 3 from the side-car file"));
	EXPECT_NE(NULL, strstr(self->err, "24 ticks, 24.000 ns"));
	run(self, "export -q --format csv trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, ",,63,"));
}

TEST_F(command, control_characters_in_names_of_events_are_not_printed)
{
	static const char meta[] =
		"{ \"counters\": [ { \"number\": 0, \"event\": \"\\u001b[31m\\u0007\", \"type\": 0, \"code\": 1 } ] }";

	sample_trace(&self->gen, 0, 0);
	save(self, "trace.rtd");
	write_file("trace.rtd.meta", meta, strlen(meta));
	run(self, "decode trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "#   counter 0  ?[31m? "));
	EXPECT_EQ(NULL, strpbrk(self->out, "\033\007"));
}

/* The header of hart 1 is lost, so its addresses are XORed with an unknown address. */
TEST_F(command, addresses_of_delta_xor_are_unknown_without_a_header)
{
	static const char meta[] = "{ \"srcbits\": 1, \"count_type\": 2 }";
	const uint64_t value = 1, fib[] = { FIB, MAIN + 0x12 }, lengthy[] = { LENGTHY, FIB + 4 };
	const uint64_t main[] = { MAIN, 0x100 };
	struct gen_stream stream[2];
	struct gen lost;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		gen_free(&self->gen);
		gen_init(&self->gen, 1, 40);
		gen_init(&lost, 1, 40);
		gen_sync(&self->gen, 0);
		gen_stream_init(&stream[0], &self->gen, 0, 6, 2, 1, 64);
		gen_header(&stream[0]);
		gen_record(&stream[0], 0, main, &value);
		gen_stream_init(&stream[1], &lost, 1, 6, 2, 1, 64);
		gen_header(&stream[1]);
		gen_record(&stream[1], 0, lengthy, &value);
		stream[1].gen = &self->gen;
		gen_error(&self->gen, 1);
		gen_sync(&self->gen, 1);
		gen_record(&stream[1], 0, fib, &value);
		gen_record(&stream[1], 1, fib, &value);
		gen_free(&lost);
		save(self, "trace.rtd");
		write_file("trace.rtd.meta", meta, i ? sizeof(meta) - 1 : 0);
		run(self, "decode -s 1 --strict trace.rtd | grep -c 'address lost$'");
		EXPECT_STREQ("2\n", self->out);
		EXPECT_NE(NULL, strstr(self->err, "2 records before any header"));
		run(self, "report -s 1 --strict --format csv trace.rtd");
		EXPECT_EQ(1, self->status);
		EXPECT_NE(NULL, strstr(self->out, "0x20000"));
		EXPECT_EQ(NULL, strstr(strstr(self->out, "0x20000") + 1, "0x"));
		EXPECT_NE(NULL, strstr(self->err, "2 records without a known address"));
		run(self, "decode -q -s 1 --format json trace.rtd | grep -c '\"address\"'");
		EXPECT_STREQ("1\n", self->out);
	}
}

TEST_F(command, ring_is_decoded_from_the_first_complete_header)
{
	unsigned int i;

	for (i = 0; i < 5; i++)
		sample_trace(&self->gen, 0, 0);
	/* The trace begins within the first header, so only the remaining four headers are read. */
	write_file("trace.rtd", self->gen.data + 40, self->gen.length - 40);
	run(self, "decode --ring trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->err, "25 records"));
	EXPECT_NE(NULL, strstr(self->err, "4 headers"));
	EXPECT_NE(NULL, strstr(self->err, "bytes skipped before the first message"));
	EXPECT_NE(NULL, strstr(self->err, "5 records before any header"));
	EXPECT_NE(NULL, strstr(self->out, " counter0?  counter1?  function\n"));
	EXPECT_NE(NULL, strstr(self->out, "0x21000 <- 0x20012 ?\n"));
	EXPECT_EQ(NULL, strstr(self->err, "damaged"));
	run(self, "decode -q --ring --format json trace.rtd | grep -c '\"layout\":\"guessed\"'");
	EXPECT_STREQ("5\n", self->out);
}

/* The same ring, with a side-car file that describes the header. */
TEST_F(command, wrapped_ring_is_decoded_with_side_car_header)
{
	static const char meta[] =
		"{ \"wrapped\": true, \"count_type\": %d, \"counters\": ["
		" { \"number\": 3, \"event\": \"mine\", \"type\": 2, \"data\": 131073, \"info\": 261123 },"
		" { \"number\": 0, \"type\": 0, \"code\": 1, \"info\": 261120 } ] }";
	char text[sizeof(meta) + 16];
	size_t begin;
	int at;

	for (at = 0; at < 3; at++) {
		self->gen.length = 0;
		self->gen.now = 1000;
		sample_trace(&self->gen, 0, at);
		gen_sync(&self->gen, 0);
		/* The file begins after the header, so it contains only records and the time. */
		begin = self->gen.truth[self->gen.truths - 5].offset;
		write_file("trace.rtd", self->gen.data + begin,
			   self->gen.length - begin);
		snprintf(text, sizeof(text), meta, at);
		write_file("trace.rtd.meta", text, strlen(text));
		run(self, "decode -e " PROGRAM " trace.rtd");
		if (at == 2) {
			EXPECT_EQ(3, self->status);
			EXPECT_NE(NULL, strstr(self->err, "no usable records: all of them depend on overwritten"));
			continue;
		}
		EXPECT_EQ(0, self->status);
		EXPECT_NE(NULL, strstr(self->out, " cycles       mine  function\n"));
		EXPECT_NE(NULL, strstr(self->out, " ~1019   0 enter "));
		EXPECT_NE(NULL, strstr(self->out, " fib <- main+0x12"));
		EXPECT_EQ(NULL, strstr(self->out, "?"));
		EXPECT_NE(NULL, strstr(self->err, "were inferred for 1 source"));
		EXPECT_NE(NULL, strstr(self->err, "4 records whose header the ring"));
		run(self, "decode --strict trace.rtd");
		EXPECT_EQ(0, self->status);
		/* A pipe is read only once. */
		run(self, "decode --meta trace.rtd.meta - < trace.rtd");
		EXPECT_NE(NULL, strstr(self->err, "records without a time"));
	}
}

TEST_F(command, usage_errors_exit_with_status_2)
{
	static const char * const wrong[] = {
		"", "wrong", "decode", "decode a -", "decode -c 32 a",
		"decode -c x a", "decode -s 8 a", "decode --ts-width 0 a",
		"decode --ts-scheme x a", "decode --format x a",
		"decode --values x a", "decode --wrong a", "decode -c",
	};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		run(self, "%s", wrong[i]);
		EXPECT_EQ(2, self->status) {
			TH_LOG("sifive-trace %s", wrong[i]);
		}
		EXPECT_STREQ("", self->out);
		EXPECT_LT(20, strlen(self->err));
	}
	run(self, "--help");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "decode"));
	run(self, "--version");
	EXPECT_EQ(0, self->status);
	run(self, "decode --help");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "--ts-scheme"));
}

TEST_F(command, undecodable_files_are_reported)
{
	uint64_t seed = 11;
	uint8_t bytes[5000];
	size_t i;

	run(self, "decode no.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "no.rtd: cannot open: No such file"));
	run(self, "decode .");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "cannot read"));
	write_file("empty.rtd", "", 0);
	run(self, "decode empty.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "empty: nothing was recorded"));
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)gen_random(&seed);
	write_file("random.rtd", bytes, sizeof(bytes));
	run(self, "decode random.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "not a trace, or damaged: no value "
			       "of srcbits makes most of its messages valid"));
	run(self, "decode -s 0 random.rtd");
	EXPECT_EQ(3, self->status);
	memset(bytes, 0xff, sizeof(bytes));
	write_file("idle.rtd", bytes, sizeof(bytes));
	run(self, "decode idle.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "idle.rtd: only idle bytes"));
	EXPECT_EQ(0, system("for i in 1 2 3 4 5 6 7 8 9 10; do cat idle.rtd; done >i;"
			    "cat i i i i i i i i i i >idle.rtd"));
	run(self, "decode idle.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "idle.rtd: only idle bytes"));
	sample_trace(&self->gen, 0, 0);
	save(self, "trace.rtd");
	run(self, "decode -e no.elf trace.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "no.elf: cannot open"));
	run(self, "decode --symfs no/directory trace.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "--symfs no/directory: cannot be read"));
	run(self, "decode -e " COMMAND " trace.rtd");
	EXPECT_NE(NULL, strstr(self->err, "not a RISC-V file"));
	run(self, "decode -e " PROGRAM " trace.rtd");
	EXPECT_EQ(NULL, strstr(self->err, "not a RISC-V file"));
	run(self, "decode -e trace.rtd trace.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "trace.rtd: not an ELF program"));
}

/* No damaged trace makes the command crash, and none causes a sanitizer error. */
TEST_F(command, damaged_traces_never_crash)
{
	static const char * const options[] = {
		"-s 0", "-s 2 --ring", "-c all -s 0", "--values absolute",
		"--format perf -e " PROGRAM, "-s 0 -e " PROGRAM,
	};
	uint64_t seed = 12;
	unsigned int round, i;
	size_t whole;

	for (i = 0; i < 30; i++)
		sample_trace(&self->gen, 0, i % 3);
	whole = self->gen.length;
	for (round = 0; round < 60; round++) {
		for (i = 0; i < 20; i++)
			self->gen.data[gen_random(&seed) % whole] =
				(uint8_t)gen_random(&seed);
		self->gen.length = whole - gen_random(&seed) % 100;
		save(self, "trace.rtd");
		run(self, "decode %s trace.rtd", options[round % 6]);
		ASSERT_TRUE(self->status == 0 || self->status == 3) {
			TH_LOG("%s", self->err);
		}
	}
}

TEST_F(command, formats_for_programs_have_short_options)
{
	sample_trace(&self->gen, 0, 1);
	save(self, "trace.rtd");
	run(self, "decode -q --json trace.rtd >json; " COMMAND " decode -q --csv trace.rtd >csv; "
	    COMMAND " decode -q --format json trace.rtd | cmp - json && "
	    COMMAND " decode -q --format csv trace.rtd | cmp - csv && ! cmp -s json csv");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("", self->err);
}

TEST_HARNESS_MAIN
