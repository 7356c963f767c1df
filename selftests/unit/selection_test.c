// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests that report, graph and replay select the same calls with the same options. */
#include "command_fixture.h"

static const char meta[] =
	"{ \"srcbits\": 0, \"threads\": [ { \"channel\": 6, \"pid\": 5, \"tid\": 7, \"name\": \"one\" },"
	" { \"channel\": 7, \"pid\": 5, \"tid\": 8, \"name\": \"two\" } ] }";

static void call(struct gen_stream *stream, unsigned int type, uint64_t function)
{
	const uint64_t address[] = { function, 0x100 };

	gen_record(stream, type, address, NULL);
	stream->gen->now += 10;
}

/* Thread 7: 0x30000 { fib { main { fib } } main }, samples in main and in fib. Thread 8: fib */
static void save_threads(FIXTURE_DATA(command) *self)
{
	struct gen_stream one, two;

	gen_sync(&self->gen, 0);
	self->gen.step = 0;
	gen_stream_init(&one, &self->gen, 0, 6, 0, 0, 64);
	gen_stream_init(&two, &self->gen, 0, 7, 0, 0, 64);
	gen_header(&one);
	gen_header(&two);
	call(&one, 0, 0x30000);
	call(&one, 0, FIB);
	call(&two, 0, FIB);
	call(&one, 0, MAIN);
	call(&one, 0, FIB);
	call(&one, 1, FIB);
	call(&one, 1, MAIN);
	call(&two, 1, FIB);
	call(&one, 1, FIB);
	call(&one, 0, MAIN);
	call(&one, 1, MAIN);
	call(&one, 1, 0x30000);
	call(&one, 3, MAIN);
	call(&one, 3, FIB);
	save(self, "trace.rtd");
	write_file("trace.rtd.meta", meta, strlen(meta));
}

#define REPLAY(options)	"replay -q -e " PROGRAM " " options " trace.rtd | cut -c 29- | sed 1d"

TEST_F(command, replay_filter_shows_functions_and_what_they_call)
{
	static const char fib[] = "one/7                 fib() {\n"
		"one/7                   main() {\n"
		"one/7                     fib()\n"
		"one/7                   } main\n"
		"one/7                 } fib\n";
	char text[512];

	save_threads(self);
	snprintf(text, sizeof(text), "%sone/7                 * sample in fib\n", fib);
	run(self, REPLAY("--filter fib --tid 7"));
	EXPECT_STREQ(text, self->out);
	/*
	 * With a threshold, the lines of a call are written only when the first of the shown calls
	 * ends.
	 */
	run(self, REPLAY("--filter fib --tid 7 --ts-hz 1000000 --time-threshold 1us"));
	EXPECT_STREQ(text, self->out);
	run(self, REPLAY("--filter fib --depth 1"));
	EXPECT_STREQ("one/7                 fib() {\ntwo/8                 fib()\n"
		     "one/7                 } fib\none/7                 * sample in fib\n",
		     self->out) TH_LOG("%s", self->out);
	run(self, REPLAY("--filter 'm*' --filter nothing"));
	EXPECT_STREQ("one/7                 main() {\none/7                   fib()\n"
		     "one/7                 } main\none/7                 main()\n"
		     "one/7                 * sample in main\n", self->out);
	run(self, "replay -q --filter nothing -e " PROGRAM " trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->err, "no call matches --filter"));
}

TEST_F(command, graph_and_report_show_one_thread)
{
	save_threads(self);
	run(self, "graph -q --tid 7 --filter fib --filter main -e " PROGRAM " trace.rtd"
	    " | awk '{ print $3, $5 }'");
	EXPECT_STREQ("calls function\n1 fib\n1 main\n1 fib\n1 main\n0 main\n0 fib\n", self->out)
		TH_LOG("%s", self->out);
	run(self, "graph -q --json --tid 8 -e " PROGRAM " trace.rtd | jq -c '[.rows[].calls]'");
	EXPECT_STREQ("[1]\n", self->out);
	run(self, "report -q --csv --tid 8 -e " PROGRAM " trace.rtd");
	EXPECT_STREQ("function,calls,total,self,times\n\"fib\",1,50,50,exact\n", self->out);
	run(self, "report -q --csv --by line --tid 8 -e " PROGRAM " trace.rtd");
	EXPECT_STREQ("line,calls,total,self,times\n\"?\",1,50,50,exact\n", self->out);
	run(self, "report -q --tid 9 -e " PROGRAM " trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->err, "nothing matches --tid"));
}

TEST_F(command, empty_selections_are_reported)
{
	static const char * const command[] = {
		"graph", "graph --diff trace.rtd", "report --diff trace.rtd",
	};
	unsigned int i;

	save_threads(self);
	for (i = 0; i < 3; i++) {
		run(self, "%s -q --tid 9 -e " PROGRAM " trace.rtd", command[i]);
		EXPECT_EQ(0, self->status);
		EXPECT_NE(NULL, strstr(self->err, "nothing matches --tid")) TH_LOG("%s", command[i]);
		run(self, "%s -q --filter nothing -e " PROGRAM " trace.rtd", command[i]);
		EXPECT_NE(NULL, strstr(self->err, "nothing matches --filter"))
			TH_LOG("%s", command[i]);
	}
}

TEST_HARNESS_MAIN
