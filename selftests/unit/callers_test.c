// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests samples with callers in reports, trees and exports. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "browser.h"

/* Return addresses: in main after a call to fib, in fib after a recursive call, and elsewhere. */
#define IN_MAIN		(MAIN + 8)
#define IN_FIB		(FIB + 8)
#define OUTSIDE		0x3f00000000ull

static void begin(FIXTURE_DATA(command) *self, struct gen_stream *stream)
{
	gen_sync(&self->gen, 0);
	gen_stream_init(stream, &self->gen, 0, 6, 1, 1, 64);
	gen_header(stream);
}

/* Write a sample, with a count of 7. */
static void sample(struct gen_stream *stream, uint64_t pc, const uint64_t *address,
		   unsigned int count)
{
	const uint64_t value = stream->counter[0].previous + 7;

	if (count)
		gen_callers(stream, address, count);
	gen_record(stream, 3, &pc, &value);
}

#define CALLED(stream, pc, ...)							\
	sample(stream, pc, (const uint64_t []){ __VA_ARGS__ },			\
	       sizeof((uint64_t []){ __VA_ARGS__ }) / sizeof(uint64_t))

/*
 * Write samples in which the return-address register contains the address that is also in the
 * frame, an address left there by an earlier call, or the return address of a leaf function.
 */
static void make_stacks(FIXTURE_DATA(command) *self)
{
	struct gen_stream stream;

	begin(self, &stream);
	CALLED(&stream, FIB + 2, IN_MAIN, IN_MAIN);
	CALLED(&stream, FIB + 2, IN_FIB, IN_FIB, IN_MAIN);
	CALLED(&stream, FIB + 2, FIB + 4, IN_FIB, IN_MAIN);
	CALLED(&stream, LENGTHY, IN_FIB, IN_MAIN);
	CALLED(&stream, MAIN + 2, 0);
	sample(&stream, MAIN + 2, NULL, 0);
	save(self, "trace.rtd");
}

#define SHELF	"warehouse::department::shelf<perishable>::inventory::supervisor::" \
		"recalculate<12345>"

TEST_F(command, csv_sums_equal_report_totals)
{
	make_stacks(self);
	run(self, "export -q --format csv -e " PROGRAM " -o t.csv trace.rtd; "
	    COMMAND " report -q --json -e " PROGRAM " -o r.json trace.rtd; "
	    SOURCES "/sql.py t.csv r.json");
	EXPECT_EQ(0, self->status) {
		TH_LOG("%s", self->err);
	}
	EXPECT_EQ(&self->out[0], strstr(self->out, "sample 6\ntrace 1\n"));
	run(self, "export -q --format csv -e " PROGRAM " trace.rtd | sed -n 3p");
	EXPECT_NE(NULL, strstr(self->out, ",sample,source 0,,,fib,"));
	EXPECT_NE(NULL, strstr(self->out, ",fib;main,,7,7\n")) {
		TH_LOG("%s", self->out);
	}
}

TEST_F(command, folded_stacks_show_caller_paths)
{
	make_stacks(self);
	run(self, "export -q --format folded -e %s trace.rtd | LC_ALL=C sort", PROGRAM);
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("source 0;main 2\nsource 0;main;fib 1\nsource 0;main;fib;fib 2\n"
		     "source 0;main;fib;" SHELF " 1\n", self->out);
	run(self, "export -q --format folded --weight cycles -e %s trace.rtd | LC_ALL=C sort", PROGRAM);
	EXPECT_STREQ("source 0;main 14\nsource 0;main;fib 7\nsource 0;main;fib;fib 14\n"
		     "source 0;main;fib;" SHELF " 7\n", self->out);
}

TEST_F(command, functions_include_samples_of_their_callees)
{
	make_stacks(self);
	run(self, "report -q --format csv -e %s trace.rtd", PROGRAM);
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("function,samples,samples:total,cycles:total,cycles:self,counts\n"
		     "\"fib\",3,4,28,21,exact\n\"main\",2,6,42,14,exact\n"
		     "\"" SHELF "\",1,1,7,7,exact\n",
		     self->out);
	run(self, "report -q --format csv --sort samples:total -e %s trace.rtd", PROGRAM);
	EXPECT_EQ(0, strncmp(strchr(self->out, '\n'), "\n\"main\",2,6,", 12));
}

TEST_F(command, trees_include_samples_of_callees)
{
	make_stacks(self);
	run(self, "graph -q --json -e %s trace.rtd", PROGRAM);
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "\"samples\":6"));
	EXPECT_NE(NULL, strstr(self->out, "\"samples\":4"));
	EXPECT_NE(NULL, strstr(self->out, "\"samples\":2"));
}

/* main itself has no samples; only functions that it called have samples. */
TEST_F(command, html_shows_callers_without_samples)
{
	struct gen_stream stream;

	begin(self, &stream);
	CALLED(&stream, FIB + 2, IN_MAIN, IN_MAIN);
	CALLED(&stream, FIB + 2, IN_MAIN, IN_MAIN);
	save(self, "trace.rtd");
	run(self, "export -q --format html -e " PROGRAM " -o t.html trace.rtd");
	EXPECT_EQ(0, self->status);
	if (!browse(_metadata, self, CHROMIUM, "--shown t.html"))
		return;
	EXPECT_NE(NULL, strstr(self->out, "[\"0\", \"2\", \"0\", \"0.00%\", \"0\", \"main\"]")) {
		TH_LOG("%s %s", self->out, self->err);
	}
}

/* Without symbols, each address is shown as a function. */
TEST_F(command, callers_without_symbols_are_shown_as_addresses)
{
	struct gen_stream stream;

	begin(self, &stream);
	CALLED(&stream, OUTSIDE, OUTSIDE + 0x100, OUTSIDE + 0x200);
	save(self, "trace.rtd");
	run(self, "export -q --format folded trace.rtd");
	EXPECT_STREQ("source 0;0x3f00000200;0x3f00000100;0x3f00000000 1\n", self->out);
}

/* A call that does not return can be a function's last instruction. */
TEST_F(command, caller_is_looked_up_before_return_address)
{
	struct gen_stream stream;
	char command[512], end[32];
	FILE *pipe;

	snprintf(command, sizeof(command), "readelf -sW %s | awk '$8 == \"fib\" { print $3 }'",
		 PROGRAM);
	pipe = popen(command, "r");
	ASSERT_NE(NULL, pipe);
	ASSERT_NE(NULL, fgets(end, sizeof(end), pipe));
	pclose(pipe);
	begin(self, &stream);
	CALLED(&stream, LENGTHY, FIB + strtoull(end, NULL, 0), 0);
	save(self, "trace.rtd");
	run(self, "export -q --format folded -e %s trace.rtd | LC_ALL=C sort", PROGRAM);
	EXPECT_STREQ("source 0;fib;" SHELF " 1\n", self->out);
}

TEST_F(command, decode_prints_callers)
{
	make_stacks(self);
	run(self, "decode -q -e %s trace.rtd", PROGRAM);
	EXPECT_NE(NULL, strstr(self->out, "fib+0x2 (fib.c:12) <- main+0x8 (fib.c:20)\n"));
	EXPECT_NE(NULL, strstr(self->out, " <- fib+0x8 (fib.c:12) <- main+0x8 (fib.c:20)\n"));
	run(self, "decode -q --format json -e %s trace.rtd", PROGRAM);
	EXPECT_NE(NULL, strstr(self->out, "\"callers\":[{\"address\":\"0x21008\",\"function\":\"fib\""));
	EXPECT_NE(NULL, strstr(self->out, "\"callers\":[]"));
}

/*
 * There are too many different paths, so the lightest paths are merged, without losing any samples.
 */
TEST_F(command, many_stacks_keep_all_samples)
{
	struct gen_stream stream;
	uint64_t address[100], total = 0;
	unsigned int i, n;
	static char text[SIZE];
	FILE *file;

	begin(self, &stream);
	for (n = 0; n < 3000; n++) {
		for (i = 0; i < 100; i++)
			address[i] = OUTSIDE + (n * 131 + i * i * 4) % 65536 * 2;
		sample(&stream, OUTSIDE + 2 * n, address, 100);
	}
	save(self, "trace.rtd");
	run(self, "export -q --format folded -o folded trace.rtd");
	EXPECT_EQ(0, self->status);
	file = fopen("folded", "r");
	ASSERT_NE(NULL, file);
	while (fgets(text, sizeof(text), file))
		total += strtoull(strrchr(text, ' '), NULL, 10);
	fclose(file);
	EXPECT_EQ(3000, total);
}

TEST_HARNESS_MAIN
