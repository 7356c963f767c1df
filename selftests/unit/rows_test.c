// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests which calls share a row of a report, and which rows a comparison pairs. */
#include "command_fixture.h"

/* Begin a new trace of calls without counters. */
static void begin(FIXTURE_DATA(command) *self, struct gen_stream *stream)
{
	gen_free(&self->gen);
	gen_init(&self->gen, 0, 40);
	gen_sync(&self->gen, 0);
	gen_stream_init(stream, &self->gen, 0, 6, 0, 0, 64);
	gen_header(stream);
}

/*
 * Save a trace with @count calls to fib in the object at @one and, unless @two is 0, one call in
 * the object at @two.
 */
static void call_objects(FIXTURE_DATA(command) *self, const char *name, const char *meta,
			 uint64_t one, unsigned int count, uint64_t two)
{
	uint64_t address[2] = { 0, 0x100 };
	struct gen_stream stream;
	char file[32];
	unsigned int i;

	begin(self, &stream);
	for (i = 0; i < 2 * count; i++) {
		address[0] = one + FIB;
		gen_record(&stream, i % 2, address, NULL);
	}
	for (i = 0; two && i < 2; i++) {
		address[0] = two + FIB;
		gen_record(&stream, i, address, NULL);
	}
	save(self, name);
	snprintf(file, sizeof(file), "%s.meta", name);
	write_file(file, meta, strlen(meta));
}

#define AT(path, place)	"{\"path\":\"" path "\",\"start\":\"" place "00000\",\"end\":\"" \
			place "fffff\",\"bias\":\"" place "00000\"}"
#define OBJECTS(list)	"{\"srcbits\":0,\"objects\":[" list "]}"

TEST_F(command, functions_are_not_paired_by_address_or_name_alone)
{
	static const char twice[] = OBJECTS(AT("one.elf", "0x1") "," AT("one.elf", "0x2"));
	static const char both[] = OBJECTS(AT("one.elf", "0x1") "," AT("two.elf", "0x2"));
	static const char moved[] = OBJECTS(AT("one.elf", "0x7") "," AT("two.elf", "0x8"));
	static const char renamed[] = OBJECTS(AT("new.elf", "0x7"));

	ASSERT_EQ(0, system("cp " PROGRAM " one.elf; cp " PROGRAM " two.elf; cp "
			    PROGRAM " new.elf"));
	call_objects(self, "twice.rtd", twice, 0x100000, 2, 0x200000);
	run(self, "report -q --format csv --sort calls twice.rtd | cut -d , -f 1-2");
	EXPECT_STREQ("function,calls\n\"fib\",3\n", self->out);
	call_objects(self, "both.rtd", both, 0x100000, 2, 0x200000);
	run(self, "report -q --format csv --sort calls both.rtd | cut -d , -f 1-2");
	EXPECT_STREQ("function,calls\n\"fib\",2\n\"fib\",1\n", self->out);
	call_objects(self, "moved.rtd", moved, 0x700000, 5, 0);
	run(self, "report -q --sort calls --format csv --diff moved.rtd both.rtd | cut -d , -f 1-3");
	EXPECT_STREQ("function,calls:before,calls:after\n\"fib\",2,5\n\"fib\",1,0\n", self->out);
	call_objects(self, "moved.rtd", moved, 0x800000, 5, 0);
	run(self, "report -q --sort calls --format csv --diff moved.rtd both.rtd | cut -d , -f 1-3");
	EXPECT_STREQ("function,calls:before,calls:after\n\"fib\",1,5\n\"fib\",2,0\n", self->out);
	call_objects(self, "renamed.rtd", renamed, 0x700000, 5, 0);
	run(self, "report -q --sort calls --format csv --diff renamed.rtd twice.rtd | cut -d , -f 1-3");
	EXPECT_STREQ("function,calls:before,calls:after\n\"fib\",3,5\n", self->out);
}

/*
 * Write a run in which main (230 ticks) calls fib (30 ticks), and fib calls itself twice, one call
 * within the other, for 10 and 5 ticks. Samples in fib and elsewhere follow.
 */
static void save_nested(FIXTURE_DATA(command) *self, const char *name)
{
	const uint64_t call[][2] = {
		{ MAIN, 0x3f00000000 }, { FIB, MAIN + 0x12 }, { FIB, FIB + 0x20 }, { FIB, FIB + 0x20 },
	};
	static const unsigned int before[] = { 100, 10, 5, 5 }, behind[] = { 100, 10, 0, 0 };
	struct gen_stream stream;
	int i;

	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 0, 0, 64);
	gen_header(&stream);
	self->gen.step = 0;
	for (i = 0; i < 4; i++) {
		gen_record(&stream, 0, call[i], NULL);
		self->gen.now += before[i];
	}
	while (i--) {
		self->gen.now += behind[i];
		gen_record(&stream, 1, call[i], NULL);
	}
	gen_record(&stream, 3, call[1], NULL);
	gen_record(&stream, 3, &call[0][1], NULL);
	save(self, name);
}

/* A call is counted for the object of its function, and for the line from which it was made. */
TEST_F(command, objects_and_lines_have_the_totals_of_functions)
{
	save_nested(self, "trace.rtd");
	run(self, "report -q --csv -e " PROGRAM " trace.rtd");
	EXPECT_STREQ("function,calls,total,self,samples,times\n\"main\",1,230,200,0,exact\n"
		     "\"fib\",3,30,30,1,exact\n\"0x3f00000000\",0,0,0,1,exact\n", self->out);
	run(self, "report -q --csv --by object -e " PROGRAM " trace.rtd");
	EXPECT_STREQ("object,calls,total,self,samples,times\n"
		     "\"decode_sample.elf\",4,230,230,1,exact\n\"?\",0,0,0,1,exact\n", self->out);
	run(self, "report -q --csv --by line -e " PROGRAM " trace.rtd");
	EXPECT_STREQ("line,calls,total,self,samples,times\n\"?\",1,230,200,1,exact\n"
		     "\"sample/fib.c:20\",1,30,20,0,exact\n"
		     "\"sample/fib.c:12\",2,10,10,1,exact\n", self->out);
	run(self, "report -q --json --by line --filter '*:12' --sort calls -e " PROGRAM " trace.rtd"
	    " | jq -c '.by, (.rows[] | .line, .total)'");
	EXPECT_STREQ("\"line\"\n\"sample/fib.c:12\"\n10\n", self->out);
	run(self, "report -q --by line --top 1 --width 70 -e " PROGRAM " trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "samples%  line\n")) TH_LOG("%s", self->out);
	EXPECT_NE(NULL, strstr(self->out, "\n(2 more lines)\n"));
	/* If a line's name does not fit, its end is shown. */
	ASSERT_EQ(0, system("cp " PROGRAM ".stripped name-of-a-program-without-any-lines.elf"));
	run(self, "report -q --by line --width 44 -e name-of-a-program-without-any-lines.elf"
	    " trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "-lines.elf:?\n")) TH_LOG("%s", self->out);
	EXPECT_NE(NULL, strstr(self->out, "  ..."));
	EXPECT_EQ(NULL, strstr(self->out, "name-of"));
	run(self, "report -q --by object --filter none -e " PROGRAM " trace.rtd");
	EXPECT_NE(NULL, strstr(self->err, "no object matches --filter"));
}

TEST_F(command, objects_and_lines_of_two_traces_are_compared)
{
	static const char both[] = OBJECTS(AT("one.elf", "0x1") "," AT("two.elf", "0x2"));
	static const char moved[] = OBJECTS(AT("one.elf", "0x7"));

	ASSERT_EQ(0, system("cp " PROGRAM " one.elf; cp " PROGRAM " two.elf"));
	call_objects(self, "both.rtd", both, 0x100000, 2, 0x200000);
	call_objects(self, "moved.rtd", moved, 0x700000, 5, 0);
	run(self, "report -q --sort calls --csv --by object --diff moved.rtd both.rtd"
	    " | cut -d , -f 1-3");
	EXPECT_STREQ("object,calls:before,calls:after\n\"one.elf\",2,5\n\"two.elf\",1,0\n",
		     self->out);
	run(self, "report -q --sort calls --json --by line --diff moved.rtd both.rtd"
	    " | jq -c '.by, (.rows[0] | .line, .[\"calls:after\"])'");
	EXPECT_STREQ("\"line\"\n\"?\"\n5\n", self->out);
	run(self, "report -q --by thread --diff moved.rtd both.rtd");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "--diff compares functions, objects or lines"));
}

/* Write a run in which main runs for 100 ticks before and after each of its callees. */
static void save_callees(FIXTURE_DATA(command) *self, const char *name, uint64_t one,
			 unsigned int one_ticks, uint64_t two, unsigned int two_ticks)
{
	const uint64_t whole[] = { MAIN, 0x3f00000000 };
	const uint64_t inner[][2] = { { one, MAIN + 0x12 }, { two, MAIN + 0x12 } };
	struct gen_stream stream;
	unsigned int i;

	begin(self, &stream);
	self->gen.step = 0;
	gen_record(&stream, 0, whole, NULL);
	for (i = 0; i < 2; i++) {
		self->gen.now += 100;
		gen_record(&stream, 0, inner[i], NULL);
		self->gen.now += i ? two_ticks : one_ticks;
		gen_record(&stream, 1, inner[i], NULL);
	}
	gen_record(&stream, 1, whole, NULL);
	save(self, name);
}

/* fib becomes 5 % slower; main calls itself instead of 0x30000. */
TEST_F(command, call_trees_of_two_traces_are_compared)
{
	static const char both[] = OBJECTS(AT("one.elf", "0x1") "," AT("two.elf", "0x2"));
	static const char moved[] = OBJECTS(AT("one.elf", "0x7"));

	save_callees(self, "old.rtd", FIB, 1000, 0x30000, 100);
	save_callees(self, "new.rtd", FIB, 1050, MAIN, 30);
	run(self, "graph -q -e " PROGRAM " --diff new.rtd old.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ(
		"                          total                          calls\n"
		"     before      after   change     before      after   change  function\n"
		"       1300       1280    -1.5%          1          1        =  main\n"
		"        100          -     gone          1          -     gone    0x30000\n"
		"       1000       1050    +5.0%          1          1        =    fib\n"
		"          -         30      new          -          1      new    main\n", self->out);
	run(self, "graph -q -e " PROGRAM " --diff new.rtd --min 50 --filter f* old.rtd | sed 1,2d");
	EXPECT_STREQ("       1000       1050    +5.0%          1          1        =  fib\n",
		     self->out);
	run(self, "graph -q --json -e " PROGRAM " --diff new.rtd old.rtd | jq -c '(.traces | length),"
	    " (.rows[] | [.function, .in, .depth, .[\"self:before\"], .[\"self:after\"]])'");
	EXPECT_STREQ("2\n[\"main\",\"both\",0,200,200]\n[\"0x30000\",\"before\",1,100,0]\n"
		     "[\"fib\",\"both\",1,1000,1050]\n[\"main\",\"after\",1,0,30]\n", self->out);
	run(self, "graph -q --by thread --diff new.rtd old.rtd");
	EXPECT_EQ(2, self->status);
	/* Functions are matched as by report --diff. */
	ASSERT_EQ(0, system("cp " PROGRAM " one.elf; cp " PROGRAM " two.elf"));
	call_objects(self, "both.rtd", both, 0x100000, 2, 0x200000);
	call_objects(self, "moved.rtd", moved, 0x700000, 5, 0);
	run(self, "graph -q --json --diff moved.rtd both.rtd"
	    " | jq -c '.rows[] | [.function, .in, .[\"calls:before\"], .[\"calls:after\"]]' | sort");
	EXPECT_STREQ("[\"fib\",\"before\",1,0]\n[\"fib\",\"both\",2,5]\n", self->out);
	/* Times in ticks and in seconds cannot be compared. */
	write_file("new.rtd.meta", "{\"ts_hz\":1000000}", 17);
	run(self, "graph -q -e " PROGRAM " --diff new.rtd old.rtd");
	EXPECT_NE(NULL, strstr(self->err, "times cannot be compared"));
	EXPECT_NE(NULL, strstr(self->out, "   ?          1          1        =  main\n"))
		TH_LOG("%s", self->out);
	run(self, "graph -q -e " PROGRAM " --diff no.rtd old.rtd");
	EXPECT_EQ(3, self->status);
}

/*
 * Write 10 runs, NAME.0.rtd to NAME.9.rtd: main and fib take 100000 ticks each, with noise of up
 * to 1 %, and fib takes @percent more.
 */
static void save_runs(FIXTURE_DATA(command) *self, const char *name, unsigned int percent,
		      uint64_t *seed)
{
	const uint64_t whole[] = { MAIN, 0x3f00000000 }, inner[] = { FIB, MAIN + 0x12 };
	struct gen_stream stream;
	char file[32];
	unsigned int i;

	for (i = 0; i < 10; i++) {
		gen_free(&self->gen);
		gen_init(&self->gen, 0, 40);
		gen_sync(&self->gen, 0);
		gen_stream_init(&stream, &self->gen, 0, 6, 0, 0, 64);
		gen_header(&stream);
		gen_record(&stream, 0, whole, NULL);
		self->gen.now += 100000 + gen_random(seed) % 1000;
		gen_record(&stream, 0, inner, NULL);
		self->gen.now += 1000 * (100 + percent) + gen_random(seed) % 1000;
		gen_record(&stream, 1, inner, NULL);
		gen_record(&stream, 1, whole, NULL);
		snprintf(file, sizeof(file), "%s.%u.rtd", name, i);
		save(self, file);
	}
}

#define AFTER(n)	" --diff " n ".0.rtd --diff " n ".1.rtd --diff " n ".2.rtd --diff " n	\
	".3.rtd --diff " n ".4.rtd --diff " n ".5.rtd --diff " n ".6.rtd --diff " n ".7.rtd"	\
	" --diff " n ".8.rtd --diff " n ".9.rtd "

/*
 * Compare 10 runs with 10 others: only the function that became 5 % slower is reported as changed.
 */
TEST_F(command, change_over_several_runs_is_reported_with_confidence)
{
	uint64_t seed = 1;

	save_runs(self, "old", 0, &seed);
	save_runs(self, "new", 5, &seed);
	save_runs(self, "same", 0, &seed);
	run(self, "report -q -e " PROGRAM " --runs" AFTER("new") "old.*.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("", self->err);
	EXPECT_NE(NULL, strstr(self->out, "change confidence  function\n"));
	EXPECT_NE(NULL, strstr(self->out, "    +5.2%    >99.99%  fib\n"));
	EXPECT_NE(NULL, strstr(self->out, "          -  main\n"));
	EXPECT_NE(NULL, strstr(self->out,
		"\n1 of 2 functions changed, by self in 10 and 10 runs: confidence at least 99 %.\n"));
	run(self, "report -q -e " PROGRAM " --runs" AFTER("same") "old.*.rtd | tail -n 1");
	EXPECT_EQ('0', *self->out);
	run(self, "report -q -e " PROGRAM " --csv --runs" AFTER("new") "old.*.rtd"
	    " | cut -d , -f 1-3,8-");
	EXPECT_NE(NULL, strstr(self->out,
		"function,calls:before,calls:after,times:before,times:after,confidence,changed\n"));
	EXPECT_NE(NULL, strstr(self->out, "\"fib\",1,1,exact,exact,0.999978,true\n"));
	EXPECT_NE(NULL, strstr(self->out, ",false\n"));
	run(self, "report -q -e " PROGRAM " --json --runs" AFTER("new") "old.*.rtd"
	    " | jq -r '.runs.before, .runs.column, .rows[0].changed, (.traces | length)'");
	EXPECT_STREQ("10\nself\ntrue\n20\n", self->out);
	/* Without --runs, the traces are treated as the sinks of one recording. */
	run(self, "report -q --runs old.0.rtd");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "--runs selects how --diff reads the traces"));
}

/*
 * main takes 3/4 of the time, and executes 3 instructions in 2 cycles; 1 of 300 instructions causes
 * a miss.
 */
TEST_F(command, ratios_have_short_names_and_totals_have_shares)
{
	const uint64_t whole[] = { MAIN, 0x3f00000000 }, inner[] = { FIB, MAIN + 0x12 };
	uint64_t value[3] = { 0 };
	struct gen_stream stream;

	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 1, 3, 64);
	stream.counter[2].code = 4;
	gen_header(&stream);
	self->gen.step = 0;
	gen_record(&stream, 0, whole, value);
	self->gen.now += 300;
	value[0] = 2000;
	value[1] = 3000;
	value[2] = 10;
	gen_record(&stream, 0, inner, value);
	self->gen.now += 100;
	gen_record(&stream, 1, inner, value);
	gen_record(&stream, 1, whole, value);
	save(self, "trace.rtd");
	run(self, "report -q --json --columns ipc,mpki --by cpu trace.rtd"
	    " | jq -c '.by, (.rows[0] | .ipc, .mpki)'");
	EXPECT_STREQ("\"hart\"\n1.5\n3.333333\n", self->out);
	run(self, "report -q --width 200 --columns total%% --sort total%% trace.rtd"
	    " | awk 'NR > 2 && NR < 6 { print $5 }'");
	EXPECT_STREQ("total%\n100.00\n25.00\n", self->out);
	run(self, "report -q --columns total%% --filter none trace.rtd");
	EXPECT_EQ(0, self->status);
	run(self, "report -q --columns mpki,mpki trace.rtd");
	EXPECT_NE(NULL, strstr(self->err, "each once"));
}

TEST_F(command, average_of_short_calls_is_not_rounded_to_a_tick)
{
	static const uint64_t address[2] = { FIB, 0x100 };
	struct gen_stream stream;
	unsigned int i;

	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 0, 0, 64);
	gen_header(&stream);
	/* Each call takes the three ticks of its enter record, and one call takes one more tick. */
	for (i = 0; i < 4; i++) {
		self->gen.now += i == 1;
		gen_record(&stream, i % 2, address, NULL);
	}
	gen_sync(&self->gen, 0);
	save(self, "trace.rtd");
	run(self, "report -q --ts-hz 1000000 --csv --columns avg trace.rtd");
	EXPECT_STREQ("function,calls,total,self,avg,times\n"
		     "\"0x21000\",2,0.000007000,0.000007000,0.000003500,exact\n", self->out);
	run(self, "report -q --ts-hz 1000000 --columns avg trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, " 3.500 us"));
	/* Without a rate, the average is a number of ticks. */
	run(self, "report -q --csv --columns avg trace.rtd | cut -d , -f 5");
	EXPECT_STREQ("avg\n4\n", self->out);
}

TEST_F(command, stacks_of_a_deep_recursion_have_a_limited_length)
{
	static const uint64_t address[2] = { FIB, FIB + 8 };
	struct gen_stream stream;
	unsigned int i;

	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 0, 0, 64);
	gen_header(&stream);
	for (i = 0; i < 6000; i++)
		gen_record(&stream, i / 3000, address, NULL);
	save(self, "trace.rtd");
	/*
	 * Length of the longest stack, number of stacks with omitted frames, and sum of the
	 * weights.
	 */
	run(self, "export -q --format folded --weight calls trace.rtd | "
	    "awk -F '[; ]' '{ $0 = substr($0, index($0, \";\") + 1); if (NF > n) n = NF; "
	    "if (/;\\[\\.\\.\\.\\];0x21000 1$/) o++; calls += $NF } END { print n - 1, o, calls }'");
	EXPECT_STREQ("1023 1977 3000\n", self->out);
	EXPECT_NE(NULL, strstr(self->err, "paths of more than 1024 calls"));
}

TEST_HARNESS_MAIN
