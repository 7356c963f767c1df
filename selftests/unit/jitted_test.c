// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that the addresses of a trace are those of the generated code that its processes had at the
 * time, according to dumps of just-in-time compilers.
 */
#include <stdlib.h>
#include <string.h>
#include "kselftest_harness.h"

#include "directory.h"
#include "jit_file.h"
#include "kept_report.h"
#include "perfrec/perfrec.h"
#include "symbols.h"

#define PID	10

#define SECOND	1000000000ull

/* A trace whose clock ticks each microsecond, from second 100 to second 110 of CLOCK_MONOTONIC. */
static struct meta_utc sample[] = {
	{ .time = 1000, .ns = 100 * SECOND, .within = 1000 },
	{ .time = 10001000, .ns = 110 * SECOND, .within = 1000 },
};

static const struct symbols_options options = { .demangle = DEMANGLE_NO };

static const char *const dump_10[] = { "/tmp/jit-10.dump" };

static struct meta meta_of(const char *const *list, size_t lists)
{
	static char files[] = "copies";

	return (struct meta){
		.files = files, .generated = (const char **)(uintptr_t)list, .lists = lists,
		.sample = sample, .samples = 2, .coverage.run_ns = 10 * SECOND,
	};
}

static struct symbols *symbols_of(const struct meta *meta)
{
	struct symbols *symbols = symbols_open(&options, meta);

	if (!symbols)
		abort();
	symbols_clock(symbols, 1000000, (1ull << 40) - 1);
	return symbols;
}

/* Return the name at an address at a time in seconds after the start, for instruction trace. */
static const char *flow_name(struct symbols *symbols, uint64_t address, double after)
{
	const uint64_t ticks = 1000 + (uint64_t)(after * 1e6 + 0.5);
	const uint64_t place = symbols_place_at(symbols, address, after < 0 ? NULL : &ticks);
	struct symbol symbol;

	return place != address && symbols_find(symbols, place, &symbol) ? symbol.function : "none";
}

/* Return the name at an address in a record of a thread. */
static const char *record_name(struct symbols *symbols, uint64_t address, double after,
			       unsigned int channel)
{
	const struct perfrec_record record = {
		.channel = (uint8_t)channel,
		.begin = { .time = 1000 + (uint64_t)(after * 1e6 + 0.5), .time_known = true },
	};
	struct symbol symbol;

	symbols_where(symbols, &record);
	symbols_find(symbols, address, &symbol);
	return symbol.function ? symbol.function : "none";
}

static void put(const char *path, const char *content)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(content, file) < 0 || fclose(file))
		abort();
}

FIXTURE(traces)
{
	char dir[64];
	struct jit_file file;
};

FIXTURE_SETUP(traces)
{
	strcpy(self->dir, "/tmp/jitted_test.XXXXXX");
	ASSERT_EQ(0, dir_enter(self->dir));
	ASSERT_EQ(0, system("mkdir -p copies/tmp"));
	jit_begin(&self->file, PID);
	jit_load(&self->file, 102 * SECOND, 0x1000, "abcd", 4, "one", 1);
	jit_load(&self->file, 104 * SECOND, 0x1000, "efghij", 6, "two", 2);
	jit_load(&self->file, 104 * SECOND, 0x2000, "klmn", 4, "three", 3);
	jit_load(&self->file, 104 * SECOND, 0x3000, "opqr", 4, "four", 4);
	jit_end(&self->file, "copies/tmp/jit-10.dump");
}

FIXTURE_TEARDOWN(traces)
{
	ASSERT_EQ(0, dir_remove(self->dir));
}

TEST_F(traces, have_the_code_of_each_time)
{
	const struct meta meta = meta_of(dump_10, 1);
	struct symbols *symbols = symbols_of(&meta);
	uint64_t size = 0, ticks = 1000 + 3000000, place;
	struct symbol symbol;
	const uint8_t *code;

	EXPECT_STREQ("none", flow_name(symbols, 0x1000, 1));
	EXPECT_STREQ("one", flow_name(symbols, 0x1000, 3));
	EXPECT_STREQ("none", flow_name(symbols, 0x1004, 3));
	EXPECT_STREQ("two", flow_name(symbols, 0x1000, 5));
	EXPECT_STREQ("one", flow_name(symbols, 0x1002, 3));
	EXPECT_STREQ("two", flow_name(symbols, 0x1005, 9));
	EXPECT_STREQ("three", flow_name(symbols, 0x2000, 9));
	EXPECT_STREQ("none", flow_name(symbols, 1ull << 63, 9));
	EXPECT_STREQ("two", record_name(symbols, 0x1004, 9, 3));
	place = symbols_place_at(symbols, 0x1002, &ticks);
	EXPECT_NE(0x1002, place);
	code = symbols_code(symbols, place, &size);
	ASSERT_NE(NULL, code);
	EXPECT_EQ(2, size);
	EXPECT_EQ(0, memcmp("cd", code, 2));
	/* An address in the trace's separate addresses stays as it is. */
	EXPECT_EQ(place, symbols_place_at(symbols, place, &ticks));
	EXPECT_EQ(place, symbols_place(symbols, place));
	ASSERT_TRUE(symbols_find(symbols, place, &symbol));
	EXPECT_EQ(place - 2, symbol.start);
	EXPECT_EQ(0x1002, symbol.offset);
	EXPECT_STREQ("jit-10.dump", symbol.object);
	ticks = 1000 + 5000000;
	/* Another function has begun and ended in the middle of this one. */
	place = symbols_place_at(symbols, 0x1000, &ticks);
	code = symbols_code(symbols, place, &size);
	ASSERT_NE(NULL, code);
	EXPECT_EQ(4, size);
	EXPECT_EQ(0, memcmp("efghij", code, 6));
	EXPECT_EQ(NULL, symbols_code(symbols, 0x1000, &size));
	EXPECT_EQ(NULL, symbols_code(symbols, place + 6, &size));
	EXPECT_EQ(NULL, symbols_code(symbols, UINT64_MAX, &size));
	EXPECT_STREQ("", reported);
	symbols_close(symbols);
}

/* Later, a function begins within an instruction of a compressed program's function. */
TEST_F(traces, have_whole_instructions_across_the_start_of_another_function)
{
	static const char wide[] = "\x01\x00\x13\x05\xf5\xff\x01\x00\x82\x80";
	const struct meta meta = meta_of(dump_10, 1);
	uint64_t size = 0, ticks = 1000 + 3000000, place;
	struct symbols *symbols;
	const uint8_t *code;

	jit_begin(&self->file, PID);
	jit_load(&self->file, 102 * SECOND, 0x1000, wide, 10, "one", 1);
	jit_load(&self->file, 104 * SECOND, 0x1004, "\x82\x80", 2, "two", 2);
	jit_end(&self->file, "copies/tmp/jit-10.dump");
	symbols = symbols_of(&meta);
	place = symbols_place_at(symbols, 0x1002, &ticks);
	code = symbols_code(symbols, place, &size);
	ASSERT_NE(NULL, code);
	EXPECT_EQ(4, size);
	EXPECT_EQ(0, memcmp(wide + 2, code, 4));
	/* Later, this instruction does not exist. */
	ticks = 1000 + 5000000;
	place = symbols_place_at(symbols, 0x1004, &ticks);
	EXPECT_NE(NULL, symbols_code(symbols, place, &size));
	EXPECT_EQ(2, size);
	symbols_close(symbols);
}

/* The clock was read within a microsecond, and ticks each microsecond. */
TEST_F(traces, do_not_guess_at_the_moment_of_a_change)
{
	const struct meta meta = meta_of(dump_10, 1);
	struct symbols *symbols = symbols_of(&meta);

	EXPECT_STREQ("one", flow_name(symbols, 0x1000, 4 - 4e-6));
	EXPECT_STREQ("", reported);
	EXPECT_STREQ("none", flow_name(symbols, 0x1000, 4 - 1e-6));
	EXPECT_STREQ("none", flow_name(symbols, 0x1000, 4 + 1e-6));
	EXPECT_STREQ("two", flow_name(symbols, 0x1000, 4 + 4e-6));
	EXPECT_NE(NULL, strstr(reported, "not accurate enough"));
	/* Nothing else was there before. */
	EXPECT_STREQ("three", flow_name(symbols, 0x2000, 4 - 1e-6));
	symbols_close(symbols);
}

TEST_F(traces, without_times_have_only_code_that_was_not_replaced)
{
	struct meta meta = meta_of(dump_10, 1);
	struct symbols *symbols = symbols_of(&meta);

	EXPECT_STREQ("three", flow_name(symbols, 0x2000, -1));
	EXPECT_STREQ("none", flow_name(symbols, 0x1000, -1));
	EXPECT_STREQ("two", flow_name(symbols, 0x1004, -1));
	symbols_close(symbols);
	/* The recorder could not compare the clocks. */
	meta.samples = 0;
	*reported = '\0';
	symbols = symbols_of(&meta);
	EXPECT_STREQ("three", flow_name(symbols, 0x2000, 1));
	EXPECT_STREQ("", reported);
	EXPECT_STREQ("none", flow_name(symbols, 0x1000, 3));
	EXPECT_NE(NULL, strstr(reported, "cannot be compared"));
	symbols_close(symbols);
	/* The dump has times of another clock. */
	jit_begin(&self->file, PID);
	self->file.bytes[32] = 1;
	jit_load(&self->file, 102 * SECOND, 0x1000, "abcd", 4, "one", 1);
	jit_load(&self->file, 104 * SECOND, 0x1000, "efgh", 4, "two", 2);
	jit_load(&self->file, 104 * SECOND, 0x2000, "klmn", 4, "three", 3);
	jit_end(&self->file, "copies/tmp/jit-10.dump");
	meta = meta_of(dump_10, 1);
	*reported = '\0';
	symbols = symbols_of(&meta);
	EXPECT_STREQ("three", flow_name(symbols, 0x2000, 1));
	EXPECT_STREQ("none", flow_name(symbols, 0x1000, 3));
	EXPECT_NE(NULL, strstr(reported, "cannot be compared"));
	symbols_close(symbols);
}

TEST_F(traces, prefer_the_dump_to_the_list)
{
	static const char *const list[] = { "/tmp/perf-10.map", "/tmp/jit-10.dump" };
	const struct meta meta = meta_of(list, 2);
	struct symbols *symbols = symbols_of(&meta);

	put("copies/tmp/perf-10.map", "1000 2000 listed\n");
	EXPECT_STREQ("two", record_name(symbols, 0x1000, 5, 3));
	EXPECT_STREQ("none", record_name(symbols, 0x1000, 1, 3));
	EXPECT_STREQ("listed", record_name(symbols, 0x1800, 5, 3));
	/* A list has no code. */
	EXPECT_STREQ("none", flow_name(symbols, 0x1800, 5));
	symbols_close(symbols);
}

/* A refused dump does not matter. */
TEST_F(traces, use_the_list_if_the_dump_is_not_valid)
{
	static const char *const list[] = { "/tmp/perf-10.map", "/tmp/jit-10.dump" };
	const struct meta meta = meta_of(list, 2);
	struct symbols *symbols = symbols_of(&meta);

	put("copies/tmp/perf-10.map", "1000 2000 listed\n");
	put("copies/tmp/jit-10.dump", "nothing");
	EXPECT_STREQ("listed", record_name(symbols, 0x1000, 5, 3));
	EXPECT_NE(NULL, strstr(reported, "not a jitdump file"));
	symbols_close(symbols);
}

TEST_F(traces, of_processes_have_the_code_of_each)
{
	static const char *const list[] = {
		"/tmp/jit-11.dump", "/tmp/jit-10.dump", "/tmp/../etc/jit-12.dump",
	};
	struct meta_process process[] = {
		{ .pid = 10, .to = 6000000 }, { .pid = 11, .to = UINT64_MAX },
	};
	struct meta_thread thread[] = {
		{ .channel = 3, .pid = 10, .tid = 10, .to = UINT64_MAX },
		{ .channel = 4, .pid = 11, .tid = 11, .to = UINT64_MAX },
		{ .channel = 5, .pid = 12, .tid = 12, .to = UINT64_MAX },
	};
	struct meta meta = meta_of(list, 3);
	struct symbols *symbols;

	jit_begin(&self->file, 11);
	jit_load(&self->file, 103 * SECOND, 0x1000, "zyxw", 4, "other", 1);
	jit_load(&self->file, 103 * SECOND, 0x2000, "klmn", 4, "third", 1);
	jit_load(&self->file, 103 * SECOND, 0x3000, "opqr", 4, "four", 1);
	jit_load(&self->file, 103 * SECOND, 0x5000, "zyxw", 4, "more", 1);
	jit_end(&self->file, "copies/tmp/jit-11.dump");
	meta.process = process;
	meta.processes = 2;
	meta.thread = thread;
	meta.threads = 3;
	symbols = symbols_of(&meta);
	EXPECT_STREQ("two", record_name(symbols, 0x1000, 5, 3));
	EXPECT_STREQ("other", record_name(symbols, 0x1000, 5, 4));
	EXPECT_STREQ("none", record_name(symbols, 0x1000, 5, 5));
	EXPECT_STREQ("none", record_name(symbols, 0x5000, 5, 3));
	/* Instruction trace does not name the process at each instruction. */
	EXPECT_STREQ("one", flow_name(symbols, 0x1000, 2.5));
	EXPECT_STREQ("none", flow_name(symbols, 0x1000, 5));
	EXPECT_STREQ("more", flow_name(symbols, 0x5000, 5));
	EXPECT_STREQ("none", flow_name(symbols, 0x2000, 5));
	EXPECT_NE(NULL, strstr(reported, "in which process"));
	/* Both processes have the same code. */
	EXPECT_STREQ("four", flow_name(symbols, 0x3000, 5));
	/* Process 10 has ended. */
	EXPECT_STREQ("other", flow_name(symbols, 0x1000, 7));
	symbols_close(symbols);
}

/* A process that executes another program loses its code. */
TEST_F(traces, of_programs_have_the_code_of_each)
{
	static const char *const list[] = { "/tmp/jit-10.dump", "/tmp/perf-10.map" };
	struct meta_process process[] = {
		{ .pid = 10, .to = 5000000 }, { .pid = 10, .from = 5000001, .to = UINT64_MAX },
	};
	struct meta_thread thread[] = {
		{ .channel = 3, .pid = 10, .tid = 10, .to = UINT64_MAX },
	};
	struct meta meta = meta_of(list, 2);
	struct symbols *symbols;

	put("copies/tmp/perf-10.map", "6000 2000 listed\n");
	meta.process = process;
	meta.processes = 2;
	meta.thread = thread;
	meta.threads = 1;
	symbols = symbols_of(&meta);
	EXPECT_STREQ("one", record_name(symbols, 0x1000, 3, 3));
	EXPECT_STREQ("two", record_name(symbols, 0x1000, 4.5, 3));
	EXPECT_STREQ("none", record_name(symbols, 0x1000, 5.5, 3));
	EXPECT_STREQ("two", flow_name(symbols, 0x1000, 4.5));
	EXPECT_STREQ("none", flow_name(symbols, 0x1000, 5.5));
	EXPECT_STREQ("none", record_name(symbols, 0x6000, 3, 3));
	EXPECT_STREQ("listed", record_name(symbols, 0x6000, 5.5, 3));
	symbols_close(symbols);
	/* Without comparable times, either program may have written the code. */
	EXPECT_STREQ("", reported);
	meta.samples = 0;
	symbols = symbols_of(&meta);
	EXPECT_STREQ("none", record_name(symbols, 0x2000, 4.5, 3));
	EXPECT_STREQ("none", record_name(symbols, 0x2000, 5.5, 3));
	EXPECT_NE(NULL, strstr(reported, "cannot be compared"));
	symbols_close(symbols);
}

/* An object in a file has its own code. */
TEST_F(traces, do_not_replace_objects_that_have_files)
{
	struct meta_object object[] = {
		{ .path = "/lib/all.so", .start = 0x1000, .end = 0x1400, .to = UINT64_MAX },
		{ .path = "/memfd:jit (deleted)", .start = 0x2000, .end = 0x2400, .to = UINT64_MAX },
	};
	struct meta meta = meta_of(dump_10, 1);
	struct symbols *symbols;

	meta.object = object;
	meta.objects = 2;
	symbols = symbols_of(&meta);
	EXPECT_STREQ("none", flow_name(symbols, 0x1000, 5));
	EXPECT_STREQ("three", flow_name(symbols, 0x2000, 5));
	EXPECT_STREQ("three", record_name(symbols, 0x2000, 5, 3));
	symbols_close(symbols);
}

TEST_HARNESS_MAIN
