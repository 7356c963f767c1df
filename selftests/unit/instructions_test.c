// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that decode shows the instructions of a trace, and where and why instructions are missing.
 */
#include <inttypes.h>

#include "flow_messages.h"
#include "flow_program.h"

TEST_F(command, addresses_equal_those_of_the_run)
{
	static const struct tracer tracer = {
		.hist_bits = 31, .implicit = 1023, .version0 = true, .repeats = true,
		.traps = true, .sync = 20, .icnt_max = 4096, .overflows = true,
	};
	static struct program program;
	char line[32], *at = self->out;
	uint64_t seed = 7;
	size_t i, gaps = 0;

	program_make(&program, &seed);
	program_write(&program, "program");
	program_run(&program, &tracer, &self->gen, 3000, &seed);
	save(self, "t");
	run(self, "decode -s 0 --format pc -e program t");
	ASSERT_EQ(0, self->status);
	for (i = 0; i < program.pcs; i++) {
		snprintf(line, sizeof(line), "%" PRIx64 "\n", program.pc[i]);
		if (program.pc[i] == PROGRAM_GAP)
			snprintf(line, sizeof(line), "#");
		gaps += program.pc[i] == PROGRAM_GAP;
		ASSERT_EQ(0, strncmp(line, at, strlen(line)));
		at = strchr(at, '\n') + 1;
	}
	ASSERT_LT(0, gaps);
	snprintf(line, sizeof(line), "missing in %zu places: the enc", gaps);
	EXPECT_NE(NULL, strstr(self->err, line));
	snprintf(line, sizeof(line), "%zu instructions", program.pcs - gaps);
	EXPECT_NE(NULL, strstr(self->err, line));
	program_free(&program);
}

TEST_F(command, instructions_show_time_function_and_line)
{
	gen_start(&self->gen, FIB);
	self->gen.now = 1500;
	stop(&self->gen, 1);
	save(self, "t");
	run(self, "decode -s 0 --ts-hz 1000000 --format instructions -e " PROGRAM " t");
	ASSERT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, " [0]  trace starts: trace on\n"));
	EXPECT_NE(NULL, strstr(self->out, "[0]  0x21000  "));
	EXPECT_NE(NULL, strstr(self->out, "  fib  sample/fib.c:12\n"));
	EXPECT_NE(NULL, strstr(self->out, " 0.001500000 [0]  trace stops (EVCODE 4)\n"));
	EXPECT_NE(NULL, strstr(self->err, "1 instructions"));
}

TEST_F(command, code_without_a_file_is_reported_missing)
{
	gen_start(&self->gen, 0x70000000);
	stop(&self->gen, 1);
	gen_start(&self->gen, FIB);
	stop(&self->gen, 1);
	save(self, "t");
	run(self, "decode -s 0 --format pc -e " PROGRAM " t");
	ASSERT_EQ(0, self->status);
	EXPECT_STREQ("#  instructions are missing: no file contains the code, from 0x70000000 on\n21000\n",
		     self->out);
}

TEST_F(command, trace_without_branches_has_no_instructions)
{
	sample_trace(&self->gen, 0, 0);
	save(self, "t");
	run(self, "decode -s 0 --format instructions -e " PROGRAM " t");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "no instruction trace"));
}

TEST_F(command, trace_with_branches_only_has_no_records)
{
	gen_start(&self->gen, FIB);
	stop(&self->gen, 1);
	save(self, "t");
	run(self, "decode -s 0 -e " PROGRAM " t");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "instruction trace only"));
}

/* The code of a stripped program, or of a program without functions, can be read. */
TEST_F(command, flow_needs_no_symbols)
{
	gen_start(&self->gen, FIB);
	stop(&self->gen, 1);
	save(self, "t");
	run(self, "decode -s 0 --format pc -e " PROGRAM ".stripped t");
	ASSERT_EQ(0, self->status);
	EXPECT_STREQ("21000\n", self->out);
}

/* Run main up to its second-to-last instruction. */
static void run_main(struct gen *gen)
{
	begin(gen, CODE);
	indirect(gen, 0, 6, PLAIN + 4);
	indirect(gen, 0, 2, CODE + 4);
	indirect(gen, 0, 6, CODE + 8);
	indirect(gen, 0, 6, CODE + 12);
	indirect(gen, 2, 2, HANDLER);
	indirect(gen, 0, 2, CODE + 16);
	stop(gen, 2);
}

TEST_F(command, call_tree_includes_tail_calls_longjmp_and_traps)
{
	self->gen.step = 100;
	run_main(&self->gen);
	save(self, "t");
	run(self, "export -q -s 0 --format folded --weight calls -e " CALLS " t");
	ASSERT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "main 1\n"));
	EXPECT_NE(NULL, strstr(self->out, "main;plain 1\n"));
	EXPECT_NE(NULL, strstr(self->out, "main;plain;leaf 1\n"));
	EXPECT_NE(NULL, strstr(self->out, "main;tail 1\n"));
	EXPECT_NE(NULL, strstr(self->out, "main;leaf 1\n"));
	EXPECT_NE(NULL, strstr(self->out, "main;jumper 1\n"));
	EXPECT_NE(NULL, strstr(self->out, "main;jumper;longjump 1\n"));
	EXPECT_NE(NULL, strstr(self->out, "main;handler 1\n"));
}

TEST_F(command, report_graph_and_replay_read_instruction_trace)
{
	run_main(&self->gen);
	save(self, "t");
	run(self, "report -s 0 --sort calls --format csv -e " CALLS " t | cut -d , -f 1-2");
	ASSERT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "\"leaf\",2\n"));
	EXPECT_NE(NULL, strstr(self->out, "\"handler\",1\n"));
	EXPECT_NE(NULL, strstr(self->err, "13 instructions"));
	EXPECT_EQ(NULL, strstr(self->err, "without an exit"));
	EXPECT_EQ(NULL, strstr(self->err, "of calls that began before"));
	run(self, "replay -q -s 0 -e " CALLS " t");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "longjump"));
	run(self, "graph -q -s 0 -e " CALLS " t");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "handler"));
}

/*
 * Run the program, the kernel and the firmware, and return. CALLS contains the code of the program
 * and of the kernel.
 */
static void run_parts(FIXTURE_DATA(command) *self, const char *side_car)
{
	gen_free(&self->gen);
	gen_init(&self->gen, 0, 40);
	begin(&self->gen, CODE);
	indirect(&self->gen, 1, 2, KERNEL + HANDLER);
	indirect(&self->gen, 1, 0, FIRMWARE);
	indirect(&self->gen, 0, 8, FIRMWARE + 0x100);
	indirect(&self->gen, 0, 8, KERNEL + HANDLER);
	indirect(&self->gen, 0, 2, PLAIN);
	stop(&self->gen, 2);
	save(self, "t");
	write_file("t.meta", side_car, strlen(side_car));
	run(self, "decode -s 0 --format pc -e " CALLS " -e " CALLS "@0xffffffff80000000 t");
}

TEST_F(command, parts_excluded_by_calls_option_are_omitted)
{
	run_parts(self, SIDE_CAR("\"all\""));
	EXPECT_STREQ("30000\n#  instructions are missing: no file contains the code, from 0x80000000 on\n"
		     "ffffffff80030600\n30100\n", self->out);
	run_parts(self, SIDE_CAR("\"user\""));
	EXPECT_STREQ("30000\n#  omitted, as requested by record --calls\n30100\n", self->out);
	EXPECT_NE(NULL, strstr(self->err, "1 part of the flow omitted, as requested by record --calls"));
	EXPECT_EQ(NULL, strstr(self->err, "missing"));
	run_parts(self, SIDE_CAR("\"kernel\""));
	/* The kernel's first part is a trap into the firmware. */
	EXPECT_STREQ("#  omitted, as requested by record --calls\n"
		     "#  omitted, as requested by record --calls\nffffffff80030600\n"
		     "#  omitted, as requested by record --calls\n", self->out);
	/* An unknown value, such as one from a later version, must not reveal more instructions. */
	run_parts(self, SIDE_CAR("\"guests\""));
	EXPECT_EQ(NULL, strstr(self->out, "ffffffff"));
	run_parts(self, SIDE_CAR("7"));
	EXPECT_EQ(NULL, strstr(self->out, "ffffffff"));
}

TEST_F(command, no_output_contains_omitted_parts)
{
	static const char * const commands[] = {
		"report --format csv", "annotate", "annotate --json", "graph", "replay",
		"decode --format instructions", "export --format folded --weight calls",
		"export --format html", "export --format chrome", "export --format csv",
	};
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		run_parts(self, SIDE_CAR("\"user\""));
		run(self, "%s -s 0 -e " CALLS " -e " CALLS "@0xffffffff80000000 t", commands[i]);
		EXPECT_EQ(0, self->status);
		EXPECT_NE(NULL, strstr(self->out, "plain"))
			TH_LOG("%s", commands[i]);
		EXPECT_EQ(NULL, strstr(self->out, "ffffffff"));
		EXPECT_EQ(NULL, strstr(self->out, "handler"));
	}
}

#define COPIED(dir)	"{\"version\":1,\"files\":\"" dir "\",\"objects\":[{\"path\":" \
			"\"/no/calls\",\"start\":196608,\"end\":200704,\"bias\":0}]}"

TEST_F(command, code_is_found_in_copies_next_to_the_trace)
{
	run_main(&self->gen);
	save(self, "t");
	ASSERT_EQ(0, system("mkdir -p kept/t.files/no && cp " CALLS " kept/t.files/no/calls && mv t kept"));
	write_file("kept/t.meta", COPIED("t.files"), strlen(COPIED("t.files")));
	run(self, "decode -s 0 --format pc kept/t");
	EXPECT_EQ(0, self->status);
	EXPECT_EQ(NULL, strstr(self->out, "missing"));
	/* The side-car file must not name a directory in another place. */
	write_file("kept/t.meta", COPIED("../kept/t.files"), strlen(COPIED("../kept/t.files")));
	run(self, "decode -s 0 --format pc kept/t");
	EXPECT_NE(NULL, strstr(self->out, "missing"));
	EXPECT_NE(NULL, strstr(self->err, "\"files\" is not the name of a directory"));
}

#define LEAF		(CODE + 0x500)
#define VDSO		0x100000ull
#define WITH_VDSO	"{\"version\":1,\"instruction\":{\"calls\":\"user\"},\"files\":\"t.files\",\"objects\":[" \
			"{\"path\":\"/calls\",\"start\":196608,\"end\":200704,\"bias\":0}," \
			"{\"path\":\"[vdso]\",\"start\":1245184,\"end\":1249280,\"bias\":1048576}]}"

static void run_with_vdso(FIXTURE_DATA(command) *self)
{
	save(self, "t");
	if (system("mkdir t.files && cp " CALLS " t.files/calls && cp " CALLS " 't.files/[vdso]'"))
		abort();
	write_file("t.meta", WITH_VDSO, strlen(WITH_VDSO));
	run(self, "decode -s 0 --format pc t");
}

/* A return without a message may be from a call made before the kernel ran. */
TEST_F(command, open_calls_survive_kernel_execution)
{
	begin(&self->gen, CODE);
	indirect(&self->gen, 2, 2, KERNEL);
	indirect(&self->gen, 0, 8, PLAIN);
	stop(&self->gen, 8);
	run_with_vdso(self);
	EXPECT_STREQ("30000\n#  omitted, as requested by record --calls\n"
		     "30100\n30500\n30104\n30004\n", self->out);
}

/* main() traps; the kernel starts a handler, leaf(), and then returns to plain(). */
static void run_handler(FIXTURE_DATA(command) *self)
{
	begin(&self->gen, CODE);
	indirect(&self->gen, 2, 2, KERNEL);
	indirect(&self->gen, 0, 8, LEAF);
	indirect(&self->gen, 1, 4, KERNEL);
	indirect(&self->gen, 0, 8, PLAIN);
	stop(&self->gen, 8);
	run_with_vdso(self);
}

/* No instruction calls a signal handler, and no message reports its return. */
TEST_F(command, signal_handler_returns_to_the_vdso)
{
	run_handler(self);
	EXPECT_STREQ("30000\n#  omitted, as requested by record --calls\n"
		     "30500\n130700\n#  omitted, as requested by record --calls\n"
		     "30100\n30500\n30104\n30004\n", self->out);
}

/* In the call tree of the same flow, the end of the handler does not end any other call. */
TEST_F(command, calls_continue_after_a_signal_handler)
{
	run_handler(self);
	run(self, "export -q --format folded --weight calls t");
	EXPECT_STREQ("source 0;main 1\nsource 0;main;leaf 1\nsource 0;main;plain 1\n"
		     "source 0;main;plain;leaf 1\n", self->out);
}

/*
 * If the vdso is unknown, the handler's return address is unknown, too. A gap follows, without
 * invented instructions.
 */
TEST_F(command, signal_handler_return_to_unknown_vdso_begins_a_gap)
{
	static const char twice[] = "{\"version\":1,\"instruction\":{\"calls\":\"user\"}}";

	begin(&self->gen, CODE);
	indirect(&self->gen, 2, 2, KERNEL);
	indirect(&self->gen, 0, 8, LEAF);
	indirect(&self->gen, 1, 4, KERNEL);
	stop(&self->gen, 8);
	save(self, "t");
	write_file("t.meta", twice, strlen(twice));
	run(self, "decode -s 0 --format pc -e " CALLS " t");
	EXPECT_STREQ("30000\n#  omitted, as requested by record --calls\n30500\n"
		     "#  instructions are missing: a return to an unseen caller\n"
		     "#  omitted, as requested by record --calls\n", self->out);
}

/* The address at which the kernel executes a probed instruction that it does not simulate. */
#define SLOT		0x60000ull
#define WITH_PROBES	"{\"version\":1,\"instruction\":{\"calls\":\"user\"},\"files\":\"t.files\",\"objects\":[" \
			"{\"path\":\"/calls\",\"start\":196608,\"end\":200704,\"bias\":0}," \
			"{\"path\":\"[uprobes]\",\"start\":393216,\"end\":397312,\"bias\":393216}]}"

/*
 * Run code that calls or jumps to probed(), which has probes at its first instruction and return.
 */
static void run_probed(FIXTURE_DATA(command) *self, uint64_t from)
{
	gen_free(&self->gen);
	gen_init(&self->gen, 0, 40);
	begin(&self->gen, from);
	indirect(&self->gen, 1, 2, KERNEL);
	indirect(&self->gen, 0, 8, SLOT + 128);
	indirect(&self->gen, 1, 2, KERNEL);
	indirect(&self->gen, 0, 8, PROBED + 4);
	indirect(&self->gen, 1, 2, KERNEL);
	indirect(&self->gen, 0, 8, CALLER + 4);
	stop(&self->gen, 2);
	save(self, "t");
	if (system("mkdir -p t.files && cp " CALLS " t.files/calls"))
		abort();
	write_file("t.meta", WITH_PROBES, strlen(WITH_PROBES));
}

TEST_F(command, probes_cause_no_gaps)
{
	run_probed(self, CALLER);
	run(self, "decode -s 0 --format pc t");
	EXPECT_STREQ("30a00\n#  omitted, as requested by record --calls\n"
		     "30904\n#  omitted, as requested by record --calls\n30a04\n", self->out);
	EXPECT_EQ(NULL, strstr(self->err, "missing"));
	EXPECT_EQ(NULL, strstr(self->err, "not found"));
}

TEST_F(command, probed_call_is_attributed_to_its_caller)
{
	run_probed(self, CALLER);
	run(self, "export -q -s 0 --format folded --weight calls t");
	EXPECT_STREQ("source 0;caller 1\nsource 0;caller;probed 1\n", self->out);
	/* Jump to probed(): a tail call. */
	run_probed(self, HOP);
	run(self, "export -q -s 0 --format folded --weight calls t");
	EXPECT_STREQ("source 0;hop 1\nsource 0;probed 1\nsource 0;caller 1\n", self->out);
}

/* The kernel simulates a probed jump through a register. */
TEST_F(command, probed_indirect_jump_to_a_function_is_a_tail_call)
{
	static const char user[] = SIDE_CAR("\"user\"");

	begin(&self->gen, TURN);
	indirect(&self->gen, 1, 2, KERNEL);
	indirect(&self->gen, 0, 8, PROBED);
	stop(&self->gen, 4);
	save(self, "t");
	write_file("t.meta", user, strlen(user));
	run(self, "export -q -s 0 --format folded --weight calls -e " CALLS " t");
	EXPECT_STREQ("source 0;turn 1\nsource 0;probed 1\n", self->out);
}

/* first(), second() and third(), each of which calls the next, without symbols. */
static struct program nameless = { .halfwords = 22, .code = {
	0x00ef, 0x0100,			/* first:	jal ra, second */
	0x8067, 0, 0, 0, 0, 0,		/*		ret */
	0x0013, 0, 0x0013, 0,		/* second:	nop; nop */
	0x00ef, 0x0080, 0x8067, 0,	/*		jal ra, third; ret */
	0x0013, 0, 0x0073, 0, 0x8067, 0	/* third:	nop; ecall; ret */
} };

#define SECOND		(PROGRAM_BASE + 0x10)
#define THIRD		(PROGRAM_BASE + 0x20)
#define NAMELESS	"0x10000 1\n0x10000;0x10010 1\n0x10000;0x10010;0x10020 "

/* Print the number of calls on each path, for all threads together. */
static void print_paths(FIXTURE_DATA(command) *self, const char *files)
{
	run(self, "export -q --strict -s 0 --format folded --weight calls -o paths %s t && "
	    "sed 's/program+//g;s/^[^;]*;//' paths | LC_ALL=C sort", files);
}

/* Run second() from its second instruction on, and return to first(). */
static void run_nameless(struct gen *gen)
{
	indirect(gen, 2, 6, KERNEL);
	indirect(gen, 0, 8, THIRD + 8);
	indirect(gen, 0, 2, SECOND + 12);
	indirect(gen, 0, 2, PROGRAM_BASE + 4);
	stop(gen, 2);
}

/* An interrupt, another interrupt before the next instruction, and a system call. */
TEST_F(command, open_calls_survive_traps_in_functions_without_symbols)
{
	static const char user[] = SIDE_CAR("\"user\"");

	program_write(&nameless, "program");
	begin(&self->gen, PROGRAM_BASE);
	indirect(&self->gen, 1, 4, KERNEL);
	indirect(&self->gen, 0, 8, SECOND + 4);
	indirect(&self->gen, 1, 0, KERNEL);
	indirect(&self->gen, 0, 8, SECOND + 4);
	run_nameless(&self->gen);
	save(self, "t");
	write_file("t.meta", user, strlen(user));
	print_paths(self, "-e program");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ(NAMELESS "1\n", self->out);
}

/* The first instruction of a called function faults, for two threads that alternate. */
TEST_F(command, open_calls_survive_faults_at_the_start_of_functions)
{
	static const char user[] = SIDE_CAR("\"user\"");
	uint64_t tid;

	program_write(&nameless, "program");
	for (tid = 71; tid <= 72; tid++) {
		begin(&self->gen, PROGRAM_BASE);
		context(&self->gen, tid);
		indirect(&self->gen, 2, 2, KERNEL);
		stop(&self->gen, 0);
	}
	for (tid = 71; tid <= 72; tid++) {
		begin(&self->gen, SECOND);
		context(&self->gen, tid);
		indirect(&self->gen, 2, 0, KERNEL);
		indirect(&self->gen, 0, 8, SECOND);
		indirect(&self->gen, 1, 2, KERNEL);
		indirect(&self->gen, 0, 8, SECOND + 4);
		run_nameless(&self->gen);
	}
	save(self, "t");
	write_file("t.meta", user, strlen(user));
	print_paths(self, "-e program");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("0x10000 1\n0x10000 1\n0x10000;0x10010 1\n0x10000;0x10010 1\n"
		     "0x10000;0x10010;0x10020 1\n0x10000;0x10010;0x10020 1\n", self->out);
}

/* third() is a signal handler and makes a system call. The kernel then resumes second(). */
TEST_F(command, open_calls_survive_signal_handlers_in_functions_without_symbols)
{
	static const char meta[] = "{\"version\":1,\"instruction\":{\"calls\":\"user\"},"
		"\"files\":\"t.files\",\"objects\":["
		"{\"path\":\"/program\",\"start\":65536,\"end\":65580,\"bias\":0},"
		"{\"path\":\"[vdso]\",\"start\":1245184,\"end\":1249280,\"bias\":1048576}]}";

	program_write(&nameless, "program");
	begin(&self->gen, PROGRAM_BASE);
	indirect(&self->gen, 1, 4, KERNEL);
	indirect(&self->gen, 0, 8, THIRD);
	indirect(&self->gen, 2, 2, KERNEL);
	indirect(&self->gen, 0, 8, THIRD + 8);
	indirect(&self->gen, 1, 4, KERNEL);
	indirect(&self->gen, 0, 8, SECOND + 4);
	run_nameless(&self->gen);
	save(self, "t");
	ASSERT_EQ(0, system("mkdir t.files && cp program t.files && cp " CALLS " 't.files/[vdso]'"));
	write_file("t.meta", meta, strlen(meta));
	print_paths(self, "");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ(NAMELESS "2\n", self->out);
}

/* third() does not return to second(), but into a function without an open call. */
TEST_F(command, calls_that_cannot_be_continued_are_marked)
{
	static const char user[] = SIDE_CAR("\"user\"");

	program_write(&nameless, "program");
	begin(&self->gen, PROGRAM_BASE);
	indirect(&self->gen, 2, 8, KERNEL);
	indirect(&self->gen, 0, 8, THIRD + 8);
	indirect(&self->gen, 0, 2, SECOND + 4);
	indirect(&self->gen, 1, 2, KERNEL);
	stop(&self->gen, 0);
	save(self, "t");
	write_file("t.meta", user, strlen(user));
	run(self, "report --strict -s 0 -e program t");
	EXPECT_EQ(1, self->status);
	EXPECT_NE(NULL, strstr(self->err, "all calls of a thread ended too early 1 time,"));
}

/* Code that no file contains, and whose calls are therefore unknown, enters the firmware. */
TEST_F(command, unknown_code_around_the_firmware_is_a_gap)
{
	static const char user[] = SIDE_CAR("\"user\"");

	begin(&self->gen, CODE);
	indirect(&self->gen, 0, 6, 0x50000);
	indirect(&self->gen, 1, 8, FIRMWARE);
	indirect(&self->gen, 0, 8, 0x50010);
	indirect(&self->gen, 0, 8, LEAF);
	stop(&self->gen, 6);
	save(self, "t");
	write_file("t.meta", user, strlen(user));
	run(self, "decode -s 0 --format pc -e " CALLS " t");
	TH_LOG("%s", self->out);
	EXPECT_NE(NULL, strstr(self->out, "30500\n#  instructions are missing: a return"));
}

/* After a trap into the firmware, the kernel continues with the same open calls. */
TEST_F(command, kernel_calls_survive_firmware_execution)
{
	static const char kernel[] = SIDE_CAR("\"kernel\"");

	begin(&self->gen, KERNEL + CODE);
	indirect(&self->gen, 1, 2, FIRMWARE);
	indirect(&self->gen, 0, 8, KERNEL + PLAIN);
	stop(&self->gen, 2);
	save(self, "t");
	write_file("t.meta", kernel, strlen(kernel));
	run(self, "export -q -s 0 --format folded --weight calls -e " CALLS "@0xffffffff80000000 t");
	TH_LOG("%s", self->out);
	EXPECT_NE(NULL, strstr(self->out, "main;plain 1\n"));
}

/* A thread that is switched out after it has called plain() continues in plain(). */
TEST_F(command, calls_of_threads_on_one_source_are_separate)
{
	begin(&self->gen, CODE);
	context(&self->gen, 71);
	stop(&self->gen, 2);
	begin(&self->gen, CODE);
	context(&self->gen, 72);
	stop(&self->gen, 4);
	begin(&self->gen, PLAIN);
	context(&self->gen, 71);
	indirect(&self->gen, 0, 4, PLAIN + 4);
	indirect(&self->gen, 0, 2, CODE + 4);
	stop(&self->gen, 0);
	save(self, "t");
	run(self, "report -s 0 --by thread --sort calls --format csv -e " CALLS " t | cut -d , -f 1-3 | sort");
	ASSERT_EQ(0, self->status);
	EXPECT_STREQ("\"leaf\",\"thread 71\",1\n\"main\",\"thread 71\",1\n"
		     "\"main\",\"thread 72\",1\n\"plain\",\"thread 71\",1\n"
		     "\"plain\",\"thread 72\",1\nfunction,thread,calls\n", self->out);
	run(self, "export -q -s 0 --format folded --weight calls -e " CALLS " t");
	EXPECT_NE(NULL, strstr(self->out, "main;plain;leaf 1\n"));
}

/* Interrupts occur after a call and after a return, before the next instruction. */
TEST_F(command, kernel_calls_take_effect_before_an_interrupt)
{
	begin(&self->gen, KERNEL + CODE);
	indirect(&self->gen, 2, 2, KERNEL + HANDLER);
	indirect(&self->gen, 0, 2, KERNEL + PLAIN);
	indirect(&self->gen, 0, 4, KERNEL + PLAIN + 4);
	indirect(&self->gen, 2, 0, KERNEL + HANDLER);
	indirect(&self->gen, 0, 2, KERNEL + PLAIN + 4);
	indirect(&self->gen, 0, 2, KERNEL + CODE + 4);
	stop(&self->gen, 0);
	print_kernel(self, SIDE_CAR("\"kernel\""));
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("source 0;main 1\nsource 0;main;plain 1\nsource 0;main;plain;handler 2\n"
		     "source 0;main;plain;leaf 1\n", self->out);
}

/* The firmware interrupts a trap handler before its first instruction. */
TEST_F(command, firmware_can_interrupt_the_start_of_a_trap_handler)
{
	begin(&self->gen, KERNEL + CALLER);
	indirect(&self->gen, 2, 4, KERNEL + HANDLER);
	indirect(&self->gen, 2, 0, FIRMWARE);
	indirect(&self->gen, 0, 8, KERNEL + HANDLER);
	indirect(&self->gen, 0, 2, KERNEL + PROBED + 4);
	indirect(&self->gen, 0, 4, KERNEL + CALLER + 4);
	stop(&self->gen, 2);
	print_kernel(self, SIDE_CAR("\"kernel\""));
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("source 0;caller 1\nsource 0;caller;probed 1\n"
		     "source 0;caller;probed;handler 1\n", self->out);
}

#define TRAMPOLINE	(CODE + 0x700)
#define ENDER		(CODE + 0xbfc)
#define AFTER		(CODE + 0xc00)

/*
 * The kernel, whose code is known, interrupts ender() and returns to the signal handler after(),
 * which begins directly after the interrupted instruction.
 */
TEST_F(command, signal_handler_is_called_by_the_interrupted_function)
{
	begin(&self->gen, ENDER);
	indirect(&self->gen, 2, 0, KERNEL + HANDLER);
	indirect(&self->gen, 0, 2, AFTER);
	indirect(&self->gen, 0, 2, TRAMPOLINE);
	indirect(&self->gen, 1, 2, KERNEL + HANDLER);
	indirect(&self->gen, 0, 2, ENDER);
	stop(&self->gen, 4);
	print_kernel(self, SIDE_CAR("\"all\""));
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ("source 0;ender 1\nsource 0;ender;handler 2\nsource 0;ender;after 1\n"
		     "source 0;ender;leaf 1\n", self->out);
}

TEST_F(command, messages_contradicting_the_code_are_losses)
{
	begin(&self->gen, PLAIN);
	stop(&self->gen, 2);
	save(self, "t");
	run(self, "decode --strict -s 0 --format pc -e " CALLS " t");
	ASSERT_EQ(0, self->status);
	/* The trace ends within an instruction. */
	begin(&self->gen, PLAIN);
	stop(&self->gen, 1);
	save(self, "t");
	run(self, "decode -s 0 --format pc -e " CALLS " t");
	ASSERT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->err, "messages contradict the code"));
	run(self, "decode --strict -s 0 --format pc -e " CALLS " t");
	EXPECT_EQ(1, self->status);
	run(self, "report --strict -s 0 -e " CALLS " t");
	EXPECT_EQ(1, self->status);
}

/* Only 4095 threads have calls; the others' parts are not attributed to any of them. */
TEST_F(command, calls_of_excess_threads_are_omitted)
{
	uint64_t tid;

	for (tid = 1; tid <= 4200; tid++) {
		begin(&self->gen, PLAIN);
		context(&self->gen, tid);
		stop(&self->gen, 2);
	}
	save(self, "t");
	run(self, "report -s 0 --format csv --sort calls -e " CALLS " t | cut -d , -f 1-2");
	ASSERT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "\"plain\",4095\n"));
	EXPECT_NE(NULL, strstr(self->err, "threads whose calls are left out ran 105 times"));
}

TEST_F(command, calls_beyond_the_limit_are_reported)
{
	/* jal ra, . */
	static struct program program = { .code = { 0x00ef }, .halfwords = 2 };

	program_write(&program, "program");
	begin(&self->gen, PROGRAM_BASE);
	stop(&self->gen, 1 << 20);
	save(self, "t");
	run(self, "report -s 0 -e program t");
	ASSERT_EQ(0, self->status);
	/* Of 524288 calls, 131072 are open. */
	EXPECT_NE(NULL, strstr(self->err, " 393216 calls nested too deeply: left out"));
}

/* A later Sync message confirms the instructions, but they were executed in the earlier object. */
TEST_F(command, instructions_are_read_from_the_object_at_their_time)
{
	/* nop; bnez zero, .-4 */
	static struct program earlier = { .code = { 0x13, 0, 0x1ee3, 0xfe00 }, .halfwords = 4 };
	static struct program later = { .code = { 1, 1, 1, 1 }, .halfwords = 4 };
	static const char meta[] = "{ \"objects\": ["
		"{ \"path\": \"earlier\", \"start\": 65536, \"end\": 65544, \"bias\": 0, \"from\": 900, \"to\": 1022 },"
		"{ \"path\": \"later\", \"start\": 65536, \"end\": 65544, \"bias\": 0, \"from\": 1023 } ] }";
	const uint64_t halfwords = 4;

	program_write(&earlier, "earlier");
	program_write(&later, "later");
	write_file("t.meta", meta, strlen(meta));
	self->gen.now = 1000;
	begin(&self->gen, PROGRAM_BASE);
	self->gen.now = 1010;
	gen_message(&self->gen, 3, 0, NULL, NULL, &halfwords, 1);
	self->gen.now = 1020;
	gen_message(&self->gen, 3, 0, NULL, NULL, &halfwords, 1);
	self->gen.now = 1025;
	begin(&self->gen, PROGRAM_BASE);
	self->gen.now = 1030;
	stop(&self->gen, 2);
	save(self, "t");
	run(self, "decode -s 0 --symfs . --format pc t");
	ASSERT_EQ(0, self->status);
	EXPECT_STREQ("10000\n10004\n10000\n10004\n10000\n10002\n", self->out);
	run(self, "decode -q -s 0 --symfs . --format instructions t");
	EXPECT_NE(NULL, strstr(self->out, "  earlier+0x10004\n"));
	EXPECT_NE(NULL, strstr(self->out, "  later+0x10002\n"));
}

TEST_HARNESS_MAIN
