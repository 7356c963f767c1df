// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests the contents of the rows of export --format csv, and which fields are empty or marked. */
#include <stdlib.h>
#include <string.h>

#include "command_fixture.h"

#define NAMES	"trace,host,board,command,kind,thread,pid,tid,function,object,build_id,caller,id,parent,depth,outermost,unix_ns,start_ns,duration_ns,self_ns,waited_ns,start_inferred,duration_inferred,self_inferred,counts_partial,path_inferred,ended,callers,note"

/* Number of records, which exceeds the number that the reader can buffer for sorting. */
#define MANY	4000

static void begin(FIXTURE_DATA(command) *self, struct gen_stream *stream)
{
	gen_sync(&self->gen, 0);
	gen_stream_init(stream, &self->gen, 0, 6, 1, 1, 64);
	gen_header(stream);
}

static void record(struct gen_stream *stream, unsigned int type, uint64_t function,
		   int64_t cost)
{
	const uint64_t address[] = { function, MAIN + 0x12 };
	const uint64_t value = stream->counter[0].previous + (uint64_t)cost;

	gen_record(stream, type, address, &value);
}

/* Write a call to main, with a call to fib and a manual record in it, and a sample. */
static void make_calls(FIXTURE_DATA(command) *self)
{
	struct gen_stream stream;

	gen_free(&self->gen);
	gen_init(&self->gen, 0, 40);
	begin(self, &stream);
	record(&stream, 0, MAIN, 1);
	record(&stream, 0, FIB, 20);
	record(&stream, 1, FIB, 300);
	record(&stream, 2, MAIN + 4, 4000);
	record(&stream, 1, MAIN, 50000);
	record(&stream, 3, FIB + 2, 600000);
	save(self, "trace.rtd");
}

/* Return the line with this number, without the fields that are equal in all lines. */
static const char *row(FIXTURE_DATA(command) *self, unsigned int number)
{
	static char line[1024];
	const char *at = self->out;

	while (number--)
		at = strchr(at, '\n') + 1;
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
	return line;
}

#define ROW(expected, number)						\
do {									\
	EXPECT_STREQ(expected, row(self, number)) {			\
		TH_LOG("%s", row(self, number));			\
	}								\
} while (0)

#define WHOLE	"\"h,1\",\"b \"\"x\"\"\",./p a b,"

TEST_F(command, rows_contain_side_car_data)
{
	static const char meta[] =
		"{\"srcbits\":0,\"ts_width\":40,\"ts_hz\":1000000000,\"host\":\"h,1\",\"board\":"
		"\"b \\\"x\\\"\",\"exe\":\"/bin/p\",\"args\":[\"./p\",\"a b\"],\"threads\":[{\"channel\":6,"
		"\"pid\":5,\"tid\":7,\"name\":\"w,\"}],\"objects\":[{\"path\":\"/none/p\","
		"\"build_id\":\"ab12\",\"start\":0,\"end\":\"0x40000000\",\"bias\":0}],\"utc\":"
		"{\"time\":2000,\"ns\":\"1790000000000000000\"},\"coverage\":{\"full\":true,\"run_ns\":"
		"5000}}";

	make_calls(self);
	write_file("trace.rtd.meta", meta, strlen(meta));
	run(self, "export -q --format csv trace.rtd");
	EXPECT_EQ(0, self->status);
	ROW(NAMES ",cycles,cycles_self", 0);
	ROW("trace.rtd," WHOLE "call,\"w,/7\",5,7,p+0x21000,/none/p,ab12,p+0x20000,2,1,1,1,"
	    "1789999999999999011,1011,4,4,0,0,0,0,0,0,exit,,,300,300", 1);
	ROW("trace.rtd," WHOLE "manual,\"w,/7\",5,7,p+0x20004,/none/p,ab12,p+0x20000,,1,1,,"
	    "1789999999999999019,1019,,,,0,,,,,,,,,", 2);
	ROW("trace.rtd," WHOLE "call,\"w,/7\",5,7,p+0x20000,/none/p,ab12,,1,,0,1,"
	    "1789999999999999007,1007,15,11,0,0,0,0,0,0,exit,,,54320,54020", 3);
	ROW("trace.rtd," WHOLE "sample,\"w,/7\",5,7,p+0x21002,/none/p,ab12,,,,0,1,"
	    "1789999999999999026,1026,,,,0,,,,,,,,600000,600000", 4);
	ROW("trace.rtd," WHOLE "trace,,,,,,,,,,,,,,,,,,,,,,,,"
	    "\"covers the first 20.000 ns of 5.000 us, then the buffer was full\",,", 5);
}

/* Fields with unknown values are empty; databases read an empty field as NULL. */
TEST_F(command, unknown_values_are_empty)
{
	make_calls(self);
	run(self, "export -q --meta none --format csv trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, ",start_ticks,duration_ticks,self_ticks,waited_ticks,"));
	ROW("trace.rtd,,,,call,source 0,,,0x21000,,,0x20000,2,1,1,1,,1011,4,4,0,0,0,0,0,0,exit,,,300,300", 1);
	gen_free(&self->gen);
	gen_init(&self->gen, 0, 0);
	{
		struct gen_stream stream;

		gen_stream_init(&stream, &self->gen, 0, 6, 1, 1, 64);
		gen_header(&stream);
		record(&stream, 0, FIB, 1);
		record(&stream, 1, FIB, 1);
	}
	save(self, "trace.rtd");
	run(self, "export -q --meta none --ts-hz 1000 --format csv trace.rtd");
	ROW("trace.rtd,,,,call,source 0,,,0x21000,,,,1,,0,1,,,,,0,,,,0,0,exit,,,1,1", 1);
	ROW("trace.rtd,,,,trace,,,,,,,,,,,,,,,,,,,,,,,,,,", 2);
}

#define CLOCK	"{\"srcbits\":0,\"ts_width\":%u,\"ts_hz\":1000000000,\"utc\":{\"time\":%u,\"ns\":" \
		"\"1790000000000000000\"},\"coverage\":{\"run_ns\":%u}}"

/*
 * The date is correct even if timestamps wrap, and missing if they may have wrapped more than once.
 */
TEST_F(command, dates_are_correct_or_missing)
{
	static const struct {
		unsigned int width, time, run;
		const char *date;
	} clocks[] = {
		{ 40, 2000, 5000, ",1789999999999999007," },
		{ 40, 7, 5000, ",1790000000000001000," },
		{ 11, 1500, 1000, ",1789999999999999507," },
		{ 11, 2040, 1000, ",1790000000000001015," },
		{ 11, 1500, 1024, ",,1007," },
		{ 40, 2000, 0, ",,1007," },
	};
	char meta[512];
	unsigned int i;

	for (i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		struct gen_stream stream;

		gen_free(&self->gen);
		gen_init(&self->gen, 0, clocks[i].width);
		begin(self, &stream);
		record(&stream, 0, MAIN, 1);
		record(&stream, 1, MAIN, 1);
		save(self, "trace.rtd");
		snprintf(meta, sizeof(meta), CLOCK, clocks[i].width, clocks[i].time,
			 clocks[i].run);
		write_file("trace.rtd.meta", meta, strlen(meta));
		run(self, "export -q --format csv trace.rtd | sed -n 2p");
		EXPECT_NE(NULL, strstr(self->out, clocks[i].date)) {
			TH_LOG("%u: %s", i, self->out);
		}
	}
}

/*
 * The times of calls around a loss are not exact, and their counts exclude the loss.
 */
TEST_F(command, losses_are_marked)
{
	struct gen_stream stream;

	begin(self, &stream);
	record(&stream, 0, MAIN, 1);
	record(&stream, 0, FIB, 20);
	record(&stream, 1, FIB, 300);
	/* Write the beginning of another record, which completes the previous record. */
	gen_store(&self->gen, 0, 6, 1, 0xff);
	gen_error(&self->gen, 0);
	gen_sync(&self->gen, 0);
	record(&stream, 0, FIB, 4000);
	record(&stream, 1, FIB, 50000);
	record(&stream, 1, MAIN, 600000);
	record(&stream, 0, LENGTHY, 1);
	save(self, "trace.rtd");
	run(self, "export --meta none --ts-hz 1000000000 --format csv trace.rtd | cut -d, -f 5-6,9,12-");
	EXPECT_NE(NULL, strstr(self->err, "1 place"));
	ROW("call,source 0,0x21000,0x20000,2,1,1,1,,1011,4,4,0,0,0,0,0,0,exit,,,300,300", 1);
	ROW("lost,source 0,,,,,,,,1022,,,,0,,,,,,,,,", 2);
	ROW("call,source 0,0x21000,0x20000,3,1,1,1,,1022,4,4,0,0,0,0,0,1,exit,,,50000,50000", 3);
	ROW("call,source 0,0x20000,,1,,0,1,,1007,23,8,0,0,1,1,1,0,exit,,,650320,600020", 4);
	ROW("call,source 0,0x22000,,4,,0,1,,1034,0,0,0,0,0,0,0,0,cut,,,0,0", 5);
}

#define PER_THREAD \
	"{\"srcbits\":1,\"per_thread\":true,\"threads\":[{\"channel\":6,\"pid\":5,\"tid\":5}]}"

/* The count at the entry to FIB is too high by 500. */
TEST_F(command, counts_that_go_backwards_are_charged_only_to_enclosing_calls)
{
	static const char * const meta[] = { PER_THREAD, "{\"srcbits\":1}" };
	struct gen_stream stream;
	unsigned int i;

	for (i = 0; i < 6; i++) {
		gen_free(&self->gen);
		gen_init(&self->gen, 1, 40);
		gen_sync(&self->gen, 0);
		gen_stream_init(&stream, &self->gen, 0, 6, (uint8_t)(i % 3), 1, i < 3 ? 64 : 40);
		gen_header(&stream);
		record(&stream, 0, MAIN, 1000);
		record(&stream, 0, FIB, 100 + 500);
		record(&stream, 1, FIB, -400);
		record(&stream, 1, MAIN, 100);
		save(self, "trace.rtd");
		write_file("trace.rtd.meta", meta[i / 3], strlen(meta[i / 3]));
		run(self, "export --strict --format csv trace.rtd | cut -d, -f 5,9,25-");
		EXPECT_NE(NULL, strstr(self->err, ": 1 count went backwards: "));
		ROW("call,0x21000,1,0,exit,,,0,0", 1);
		ROW("call,0x20000,1,0,exit,,,300,700", 2);
		run(self, "report -q --strict trace.rtd");
		EXPECT_EQ(1, self->status);
		run(self, "report --strict --format json trace.rtd");
		EXPECT_NE(NULL, strstr(self->out, "\"records_without_counts\":0,\"counts_backwards\":1,\"counts_beyond_limit\":0}"));
		run(self, "decode -q --values delta trace.rtd");
		EXPECT_EQ(NULL, strstr(self->out, "281474976710256"));
		EXPECT_EQ(NULL, strstr(self->out, "1099511627376"));
		run(self, "decode --strict --json trace.rtd");
		EXPECT_EQ(1, self->status);
		EXPECT_NE(NULL, strstr(self->err, ": 1 count went backwards, shown as unknown: "));
		run(self, "decode --strict --values raw trace.rtd");
		EXPECT_EQ(NULL, strstr(self->err, "went backwards"));
	}
}

/* A narrow counter may advance by most of its range; a wide counter, by nearly all of it. */
TEST_F(command, large_counts_are_not_mistaken_for_negative_ones)
{
	static const struct {
		unsigned int width;
		uint64_t count;
	} counter[] = {
		{ 64, 0xefffffffffffull }, { 48, 0xefffffffffffull }, { 40, 0xefffffffffull },
		{ 32, 0xefffffff }, { 31, 0x7fffffff }, { 8, 0xff },
	};
	const uint64_t address[] = { FIB, MAIN };
	struct gen_stream stream;
	char expected[80];
	unsigned int i;

	for (i = 0; i < 3 * sizeof(counter) / sizeof(counter[0]); i++) {
		uint64_t value = 10;

		gen_free(&self->gen);
		gen_init(&self->gen, 1, 40);
		gen_sync(&self->gen, 0);
		gen_stream_init(&stream, &self->gen, 0, 6, (uint8_t)(i % 3), 1,
				counter[i / 3].width);
		gen_header(&stream);
		gen_record(&stream, 0, address, &value);
		value += counter[i / 3].count;
		gen_record(&stream, 1, address, &value);
		save(self, "trace.rtd");
		write_file("trace.rtd.meta", PER_THREAD, strlen(PER_THREAD));
		run(self, "export --strict --format csv trace.rtd");
		EXPECT_EQ(0, self->status);
		snprintf(expected, sizeof(expected), ",0,0,exit,,,%llu,%llu",
			 (unsigned long long)counter[i / 3].count,
			 (unsigned long long)counter[i / 3].count);
		EXPECT_NE(NULL, strstr(row(self, 1), expected)) {
			TH_LOG("%u: %s", i, row(self, 1));
		}
	}
}

/* Sums stay below 2^63, and counts left out of them are reported. */
TEST_F(command, sums_do_not_wrap)
{
	static const char * const command[] = {
		"export --format csv", "export --format chrome", "export --format speedscope",
		"report --csv", "report --json", "graph", "graph --json",
	};
	const uint64_t address[] = { FIB, MAIN }, outer[] = { MAIN, MAIN };
	const uint64_t most = 0xe00000000000ull, calls = 40000;
	uint64_t value = 0, shown = 0;
	struct gen_stream stream;
	unsigned int i;
	char text[100];

	gen_free(&self->gen);
	gen_init(&self->gen, 1, 40);
	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 0, 1, 48);
	gen_header(&stream);
	gen_record(&stream, 0, outer, &value);
	for (i = 0; i < 2 * calls; i++) {
		value = (value + most) & 0xffffffffffff;
		shown += shown + most < 1ull << 63 ? most : 0;
		gen_record(&stream, i % 2, address, &value);
	}
	gen_record(&stream, 1, outer, &value);
	save(self, "trace.rtd");
	write_file("trace.rtd.meta", PER_THREAD, strlen(PER_THREAD));
	for (i = 0; i < sizeof(command) / sizeof(command[0]); i++) {
		snprintf(text, sizeof(text), "%s --strict trace.rtd", command[i]);
		run(self, text);
		EXPECT_EQ(1, self->status) {
			TH_LOG("%s", text);
		}
		EXPECT_NE(NULL, strstr(self->err, " counts left out, because sums would exceed 63 bits"));
	}
	run(self, "report -q --csv trace.rtd");
	snprintf(text, sizeof(text), "\"0x20000\",1,390004,190004,%llu,", (unsigned long long)shown);
	EXPECT_NE(NULL, strstr(self->out, text)) {
		TH_LOG("%s", self->out);
	}
	EXPECT_NE(NULL, strstr(self->out, ",exact,partial\n"));
	EXPECT_EQ(NULL, strstr(self->out, ",exact,exact\n"));
	run(self, "export -q --format csv trace.rtd | grep ,call, | tail -n 1");
	snprintf(text, sizeof(text), ",0,exit,,,%llu,", (unsigned long long)shown);
	EXPECT_NE(NULL, strstr(self->out, text)) {
		TH_LOG("%s", self->out);
	}
}

/* Damage that looks like an instruction trace message does not replace the records' calls. */
TEST_F(command, single_sync_message_begins_no_instruction_trace)
{
	static const char * const command[] = {
		"export -q --format csv --strict trace.rtd", "report -q --csv --strict trace.rtd",
		"graph -q --strict trace.rtd",
	};
	const unsigned int commands = sizeof(command) / sizeof(command[0]);
	struct gen_stream stream;
	char *shown = NULL;
	unsigned int i;

	/*
	 * Test the trace without the message, with it among the records, and with it before the
	 * records.
	 */
	for (i = 0; i < 3 * commands; i++) {
		gen_free(&self->gen);
		gen_init(&self->gen, 1, 40);
		gen_sync(&self->gen, 0);
		/* Both messages have an absolute time. */
		if (i % 3 == 2)
			gen_start(&self->gen, FIB);
		else
			gen_sync(&self->gen, 0);
		gen_stream_init(&stream, &self->gen, 0, 6, 0, 1, 64);
		gen_header(&stream);
		record(&stream, 0, MAIN, 1000);
		record(&stream, 0, FIB, 100);
		record(&stream, 1, FIB, 400);
		if (i % 3 == 1)
			gen_start(&self->gen, FIB);
		else
			gen_sync(&self->gen, 0);
		record(&stream, 0, FIB, 100);
		record(&stream, 1, FIB, 400);
		record(&stream, 1, MAIN, 100);
		save(self, "trace.rtd");
		run(self, command[i / 3]);
		EXPECT_EQ(i % 3 != 0, self->status);
		if (i % 3)
			EXPECT_STREQ(shown, self->out);
		free(shown);
		shown = strdup(self->out);
	}
	free(shown);
}

/* Hart 1's clock is behind, so the exit from FIB seems to precede its enter record. */
TEST_F(command, counts_that_go_backwards_show_a_wrong_order_of_records)
{
	const uint64_t main[] = { MAIN, 0x100 }, lengthy[] = { LENGTHY, MAIN + 0x12 };
	const uint64_t fib[] = { FIB, LENGTHY + 0x12 };
	uint64_t count[] = { 100, 200, 300, 400, 500, 600 };
	struct gen_stream stream[2];
	unsigned int i, late;

	for (late = 0; late < 2; late++) {
		gen_free(&self->gen);
		gen_init(&self->gen, 1, 40);
		for (i = 0; i < 2; i++) {
			gen_sync(&self->gen, i);
			gen_stream_init(&stream[i], &self->gen, (uint8_t)i, 6, 0, 1, 64);
			gen_header(&stream[i]);
		}
		gen_record(&stream[0], 0, main, &count[0]);
		gen_record(&stream[0], 0, lengthy, &count[1]);
		if (late)
			gen_record(&stream[1], 1, fib, &count[3]);
		gen_record(&stream[0], 0, fib, &count[2]);
		if (!late)
			gen_record(&stream[1], 1, fib, &count[3]);
		gen_record(&stream[1], 1, lengthy, &count[4]);
		gen_record(&stream[1], 1, main, &count[5]);
		save(self, "trace.rtd");
		write_file("trace.rtd.meta", PER_THREAD, strlen(PER_THREAD));
		run(self, "export -q --format csv trace.rtd | grep ,0x22000,,,0x20000, | cut -d, -f 9,23-");
		EXPECT_STREQ(late ? "0x22000,1,1,1,0,exit,,,300,100\n" :
				    "0x22000,0,0,0,0,exit,,,300,200\n", self->out);
	}
}

/* The table's first line is written before the later header, with more counters, is read. */
TEST_F(command, counters_without_a_column_are_reported)
{
	const uint64_t address[] = { MAIN, 0x100 }, value[2] = { 0 };
	struct gen_stream stream;
	unsigned int i;

	begin(self, &stream);
	for (i = 0; i < MANY; i++)
		record(&stream, i % 2, FIB, 1);
	gen_stream_init(&stream, &self->gen, 0, 7, 1, 2, 64);
	stream.counter[1].code = 7;
	gen_header(&stream);
	gen_record(&stream, 0, address, value);
	gen_record(&stream, 1, address, value);
	save(self, "trace.rtd");
	run(self, "export -c all --meta none --format csv trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->err, "a later header defines more counters, such as "));
	EXPECT_NE(NULL, strstr(self->err, "they have no column (use --format perfetto for all counters)"));
	run(self, "--version; " COMMAND " export -q -c all --meta none --format csv -o t.csv trace.rtd; "
	    SOURCES "/sql.py t.csv");
	EXPECT_EQ(0, self->status);
	/* If a thread does not have a counter, the field for that counter is empty, not 0. */
	gen_free(&self->gen);
	gen_init(&self->gen, 0, 40);
	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 7, 1, 2, 64);
	stream.counter[1].code = 7;
	gen_header(&stream);
	gen_record(&stream, 0, address, value);
	gen_record(&stream, 1, address, value);
	begin(self, &stream);
	record(&stream, 0, FIB, 1);
	record(&stream, 1, FIB, 5);
	save(self, "trace.rtd");
	run(self, "export -q -c all --meta none --format csv trace.rtd");
	EXPECT_NE(NULL, strstr(row(self, 1), ",0,exit,,,0,0,0,0"));
	EXPECT_NE(NULL, strstr(row(self, 2), ",0,exit,,,5,5,,"));
}

TEST_HARNESS_MAIN
