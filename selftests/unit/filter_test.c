// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests filter --from-trace with traces of known costs. */
#include "command_fixture.h"

#define OFTEN	2000

static void call(struct gen_stream *stream, uint64_t function, bool enter)
{
	const uint64_t address[] = { function, MAIN + 0x12 };

	gen_record(stream, !enter, address, NULL);
}

/* Save a trace in which main() calls fib() often, for @ticks each time, and lengthy() once. */
static void make(FIXTURE_DATA(command) *self, uint64_t ticks)
{
	struct gen_stream stream;
	unsigned int i;

	self->gen.step = 1;
	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 1, 0, 64);
	gen_header(&stream);
	call(&stream, MAIN, true);
	for (i = 0; i < OFTEN; i++) {
		call(&stream, FIB, true);
		self->gen.now += ticks;
		call(&stream, FIB, false);
		self->gen.now += 100000;
	}
	call(&stream, LENGTHY, true);
	call(&stream, LENGTHY, false);
	call(&stream, MAIN, false);
	save(self, "trace.rtd");
}

TEST_F(command, frequent_short_functions_are_excluded_and_listed)
{
	make(self, 10);
	run(self, "filter --from-trace trace.rtd " PROGRAM);
	ASSERT_EQ(0, self->status);
	EXPECT_EQ(NULL, strstr(self->out, "# fib\n"));
	EXPECT_NE(NULL, strstr(self->out, "# main\n"));
	/* lengthy() takes less time in total, but has few records. */
	EXPECT_NE(NULL, strstr(self->out, "recalculate"));
	EXPECT_NE(NULL, strstr(self->err, "left out: fib: 99.90 % of the calls, 0.0"));
	EXPECT_NE(NULL, strstr(self->err, "functions left out: 1, "));
}

TEST_F(command, functions_with_a_large_share_of_time_are_kept)
{
	make(self, 2000);
	run(self, "filter --from-trace trace.rtd " PROGRAM);
	ASSERT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "# fib\n"));
	EXPECT_NE(NULL, strstr(self->err, "functions left out: 0, "));
	run(self, "filter --from-trace trace.rtd --share 5 " PROGRAM);
	ASSERT_EQ(0, self->status);
	EXPECT_EQ(NULL, strstr(self->out, "# fib\n"));
}

TEST_F(command, filter_from_trace_needs_timed_calls)
{
	gen_sync(&self->gen, 0);
	save(self, "trace.rtd");
	run(self, "filter --from-trace trace.rtd -o filter " PROGRAM);
	EXPECT_EQ(3, self->status);
	EXPECT_NE(0, access("filter", F_OK));
	run(self, "filter --from-trace none.rtd " PROGRAM);
	EXPECT_EQ(3, self->status);
	make(self, 10);
	run(self, "filter --from-trace trace.rtd -o trace.rtd " PROGRAM);
	EXPECT_EQ(2, self->status);
	run(self, "filter --from-trace trace.rtd -F fib " PROGRAM);
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "--from-trace cannot be combined with -F, -S and -v"));
	run(self, "filter --share 2 -F fib " PROGRAM);
	EXPECT_EQ(2, self->status);
	run(self, "filter --share 0 --from-trace trace.rtd " PROGRAM);
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "above 0 and below 100"));
}

TEST_HARNESS_MAIN
