// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that code in dumps of just-in-time compilers is found by address and time, and that damaged
 * and hostile dumps are refused or used only as far as they are valid.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "kselftest_harness.h"

#include "directory.h"
#include "jit_file.h"
#include "jitdump.h"
#include "jitted.h"
#include "kept_report.h"

#define PID	10

FIXTURE(dumps)
{
	char dir[64];
	struct jit_file file;
};

FIXTURE_SETUP(dumps)
{
	strcpy(self->dir, "/tmp/jitdump_test.XXXXXX");
	ASSERT_EQ(0, dir_enter(self->dir));
	jit_begin(&self->file, PID);
}

FIXTURE_TEARDOWN(dumps)
{
	free(self->file.bytes);
	ASSERT_EQ(0, dir_remove(self->dir));
}

/* Read the file under construction, which can be extended afterwards. */
static struct jitdump *read_file(const struct jit_file *file)
{
	jit_write(file, "dump", file->length);
	return jitdump_open("dump", PID);
}

/* Return the number of pieces of code in the file, or -1 if it is refused. */
static int codes_of(const struct jit_file *file)
{
	struct jitdump *dump = read_file(file);
	const int codes = dump ? (int)dump->codes : -1;

	jitdump_close(dump);
	return codes;
}

/* ---- files ---------------------------------------------------------------- */

TEST_F(dumps, have_names_of_perf)
{
	EXPECT_EQ(12, jitdump_pid("/tmp/jit-12.dump"));
	EXPECT_EQ(12, jitdump_pid("/home/user/jit-1.dump/jit-12.dump"));
	EXPECT_EQ(-1, jitdump_pid("jit-12.dump"));
	EXPECT_EQ(-1, jitdump_pid("/tmp/jit-.dump"));
	EXPECT_EQ(-1, jitdump_pid("/tmp/jit-1x.dump"));
	EXPECT_EQ(-1, jitdump_pid("/tmp/jit-12.dump2"));
	EXPECT_EQ(-1, jitdump_pid("/tmp/ajit-12.dump"));
	EXPECT_EQ(-1, jitdump_pid("/tmp/jit-11111111111.dump"));
}

TEST_F(dumps, have_code)
{
	struct jitdump *dump;

	jit_load(&self->file, 100, 0x1000, "abcd", 4, "one", 1);
	/* Debug and unwinding information, and a record of an unknown kind. */
	jit_record(&self->file, 2, 110, 8);
	jit_number(&self->file, 0, 8);
	jit_record(&self->file, 4, 120, 0);
	jit_record(&self->file, 77, 130, 3);
	jit_bytes(&self->file, "???", 3);
	jit_load(&self->file, 140, 0x2000, "efghij", 6, "two words", 2);
	jit_move(&self->file, 150, 0x1000, 0x3000, 4, 1);
	jit_load(&self->file, 160, 0x4000, "", 0, "empty", 3);
	jit_load(&self->file, 170, 0x5000, "kl", 2, "", 4);
	jit_record(&self->file, 3, 180, 0);
	jit_load(&self->file, 190, 0x6000, "mn", 2, "after the end", 5);
	dump = read_file(&self->file);
	ASSERT_NE(NULL, dump);
	EXPECT_STREQ("", reported);
	ASSERT_EQ(4, dump->codes);
	EXPECT_FALSE(dump->arch_time);
	EXPECT_EQ(100, dump->code[0].time);
	EXPECT_EQ(0x1000, dump->code[0].start);
	EXPECT_EQ(4, dump->code[0].size);
	EXPECT_EQ(0, memcmp("abcd", dump->code[0].bytes, 4));
	EXPECT_STREQ("one", dump->code[0].name);
	EXPECT_STREQ("two words", dump->code[1].name);
	EXPECT_EQ(0, memcmp("efghij", dump->code[1].bytes, 6));
	EXPECT_EQ(150, dump->code[2].time);
	EXPECT_EQ(0x3000, dump->code[2].start);
	EXPECT_STREQ("one", dump->code[2].name);
	EXPECT_EQ(dump->code[0].bytes, dump->code[2].bytes);
	EXPECT_EQ(NULL, dump->code[3].name);
	jitdump_close(dump);
}

TEST_F(dumps, of_code_for_other_machines_are_refused)
{
	static const struct {
		size_t		at;
		uint32_t	number;
		const char	*why;
	} test[] = {
		{ 0, 0x4a695445, "not a jitdump file" },
		{ 0, 0x4454694a, "the other byte order" },
		{ 4, 2, "an unknown version" },
		{ 8, 39, "its header is incomplete" },
		{ 8, 1000, "its header is incomplete" },
		{ 8, UINT32_MAX, "its header is incomplete" },
		{ 12, 62, "not code for RISC-V" },
		{ 32, 2, "unknown flags" },
		{ 36, 1, "unknown flags" },
	};
	size_t i;

	for (i = 0; i < sizeof(test) / sizeof(*test); i++) {
		struct jit_file file;

		jit_begin(&file, PID);
		jit_load(&file, 100, 0x1000, "abcd", 4, "one", 1);
		EXPECT_EQ(1, codes_of(&file));
		file.last = 0;
		jit_change(&file, test[i].at, test[i].number, 4);
		EXPECT_EQ(-1, codes_of(&file));
		EXPECT_NE(NULL, strstr(reported, test[i].why));
		free(file.bytes);
	}
	EXPECT_EQ(NULL, jitdump_open("missing", PID));
	ASSERT_EQ(0, mkfifo("fifo", 0600));
	EXPECT_EQ(NULL, jitdump_open("fifo", PID));
}

TEST_F(dumps, may_have_a_longer_header)
{
	jit_number(&self->file, 0, 8);
	jit_change(&self->file, 8, 48, 4);
	jit_load(&self->file, 100, 0x1000, "abcd", 4, "one", 1);
	EXPECT_EQ(1, codes_of(&self->file));
}

/* A file may be copied while it is written, at any of its bytes. */
TEST_F(dumps, may_be_incomplete)
{
	size_t end[3], length;
	struct jitdump *dump;
	uint32_t whole;

	jit_load(&self->file, 100, 0x1000, "abcd", 4, "one", 1);
	end[0] = self->file.length;
	jit_move(&self->file, 110, 0x1000, 0x3000, 4, 1);
	end[1] = self->file.length;
	jit_load(&self->file, 120, 0x1000, "efgh", 4, "two", 2);
	end[2] = self->file.length;
	for (length = 0; length <= end[2]; length++) {
		jit_write(&self->file, "dump", length);
		dump = jitdump_open("dump", PID);
		ASSERT_EQ(length >= 40, dump != NULL);
		if (!dump)
			continue;
		whole = (length >= end[0]) + (length >= end[1]) + (length >= end[2]);
		EXPECT_EQ(whole, dump->codes);
		jitdump_close(dump);
	}
	EXPECT_EQ(NULL, strstr(reported, "not valid"));
}

/* Other records of the file remain usable. */
TEST_F(dumps, with_records_that_are_not_valid_are_used_without_them)
{
	static const struct {
		size_t		at;
		unsigned int	bytes;
		uint64_t	number;
		bool		fine;		/* not reported */
	} load[] = {
		{ 40, 8, 5 },			/* more code than there is */
		{ 40, 8, UINT64_MAX },
		{ 40, 8, 1ull << 32 },
		{ 32, 8, UINT64_MAX - 1 },	/* in the kernel */
		{ 32, 8, (1ull << 48) - 2 },	/* partly above all programs */
		{ 32, 8, 0x1001 },
		{ 56, 4, 0x61616161 },		/* an endless name */
		{ 40, 8, 0, .fine = true },
		{ 16, 4, PID + 1, .fine = true },
	};
	static const struct {
		size_t		at;
		unsigned int	bytes;
		uint64_t	number;
		bool		fine;
	} move[] = {
		{ 48, 8, 5 },
		{ 56, 8, 99 },
		{ 40, 8, 1ull << 63 },
		{ 16, 4, PID + 1, .fine = true },
	};
	size_t i;

	for (i = 0; i < sizeof(load) / sizeof(*load) + sizeof(move) / sizeof(*move); i++) {
		const size_t k = i - sizeof(load) / sizeof(*load);
		const bool loads = i < sizeof(load) / sizeof(*load);
		struct jit_file file;

		*reported = '\0';
		jit_begin(&file, PID);
		jit_load(&file, 90, 0x9000, "wxyz", 4, "kept", 9);
		if (loads)
			jit_load(&file, 100, 0x1000, "abcd", 4, "one", 1);
		else
			jit_move(&file, 100, 0x9000, 0x1000, 4, 9);
		if (loads)
			jit_change(&file, load[i].at, load[i].number, load[i].bytes);
		else
			jit_change(&file, move[k].at, move[k].number, move[k].bytes);
		jit_load(&file, 110, 0x2000, "efgh", 4, "two", 2);
		EXPECT_EQ(2, codes_of(&file));
		EXPECT_EQ(loads ? load[i].fine : move[k].fine,
			  !strstr(reported, "1 records are not valid"));
		free(file.bytes);
	}
}

TEST_F(dumps, end_where_the_next_record_is_unknown)
{
	jit_load(&self->file, 100, 0x1000, "abcd", 4, "one", 1);
	jit_load(&self->file, 110, 0x2000, "efgh", 4, "two", 2);
	jit_change(&self->file, 4, 15, 4);
	jit_load(&self->file, 120, 0x3000, "ijkl", 4, "three", 3);
	EXPECT_EQ(1, codes_of(&self->file));
	EXPECT_NE(NULL, strstr(reported, "1 records are not valid"));
	jit_begin(&self->file, PID);
	jit_load(&self->file, 110, 0x2000, "efgh", 4, "two", 2);
	jit_change(&self->file, 4, UINT32_MAX, 4);
	EXPECT_EQ(0, codes_of(&self->file));
}

TEST_F(dumps, have_names_of_limited_length)
{
	char name[3000];
	struct jitdump *dump;

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	jit_load(&self->file, 100, 0x1000, "abcd", 4, name, 1);
	dump = read_file(&self->file);
	ASSERT_NE(NULL, dump);
	EXPECT_EQ(1024, strlen(dump->code[0].name));
	EXPECT_EQ(0, memcmp("abcd", dump->code[0].bytes, 4));
	jitdump_close(dump);
}

/* ---- addresses and times ------------------------------------------------------ */

/* Return the name of the function at an address in the range of times, or why there is none. */
static const char *named_in(const struct jitted *jitted, uint64_t address, uint64_t from,
			    uint64_t to)
{
	const struct jitted_time time = { .known = from || to, .from = from, .to = to };
	const struct jitted_piece *piece;

	switch (jitted_find(jitted, address, &time, &piece)) {
	case JITTED_NEVER:
		return "never";
	case JITTED_ABSENT:
		return "absent";
	case JITTED_UNSURE:
		return "unsure";
	default:
		return piece->code->name;
	}
}

static const char *named(const struct jitted *jitted, uint64_t address, uint64_t time)
{
	return named_in(jitted, address, time, time);
}

TEST_F(dumps, have_the_code_that_was_written_last)
{
	struct jitdump *dump;
	struct jitted *jitted;

	/* Records need not be in the order of their times. */
	jit_load(&self->file, 200, 0x1004, "efghij", 6, "second", 2);
	jit_load(&self->file, 100, 0x1000, "abcdefgh", 8, "first", 1);
	jit_load(&self->file, 300, 0x1000, "abcdefgh", 8, "first", 3);
	dump = read_file(&self->file);
	ASSERT_NE(NULL, dump);
	jitted = jitted_new(&dump, 1);
	ASSERT_NE(NULL, jitted);
	EXPECT_STREQ("never", named(jitted, 0xfff, 150));
	EXPECT_STREQ("absent", named(jitted, 0x1000, 99));
	EXPECT_STREQ("first", named(jitted, 0x1000, 100));
	EXPECT_STREQ("first", named(jitted, 0x1007, 199));
	EXPECT_STREQ("absent", named(jitted, 0x1008, 199));
	EXPECT_STREQ("second", named(jitted, 0x1004, 200));
	EXPECT_STREQ("second", named(jitted, 0x1009, 200));
	/* The rest of a function remains. */
	EXPECT_STREQ("first", named(jitted, 0x1003, 250));
	EXPECT_STREQ("first", named(jitted, 0x1004, 300));
	EXPECT_STREQ("second", named(jitted, 0x1008, UINT64_MAX));
	EXPECT_STREQ("never", named(jitted, 0x100a, 250));
	/* Only one function was ever there. */
	EXPECT_STREQ("first", named_in(jitted, 0x1000, 0, 0));
	EXPECT_STREQ("second", named_in(jitted, 0x1008, 0, 0));
	EXPECT_STREQ("unsure", named_in(jitted, 0x1004, 0, 0));
	/* The time is not exact. */
	EXPECT_STREQ("first", named_in(jitted, 0x1000, 90, 110));
	EXPECT_STREQ("absent", named_in(jitted, 0x1000, 80, 90));
	EXPECT_STREQ("unsure", named_in(jitted, 0x1004, 190, 200));
	EXPECT_STREQ("first", named_in(jitted, 0x1003, 190, 310));
	EXPECT_EQ(0x1004, jitted_until(jitted, 0x1000));
	EXPECT_EQ(0x1008, jitted_until(jitted, 0x1004));
	EXPECT_EQ(0x100a, jitted_until(jitted, 0x1009));
	EXPECT_EQ(UINT64_MAX, jitted_until(jitted, 0x100a));
	jitted_free(jitted);
	jitdump_close(dump);
}

TEST_F(dumps, of_a_process_are_used_together)
{
	struct jitdump *dump[2];
	const struct jitted_time time = { .known = true, .from = 250, .to = 250, .since = 201 };
	const struct jitted_piece *piece;
	struct jitted *jitted;

	jit_load(&self->file, 100, 0x1000, "abcd", 4, "one", 1);
	jit_load(&self->file, 300, 0x1000, "abcd", 4, "three", 1);
	dump[0] = read_file(&self->file);
	free(self->file.bytes);
	jit_begin(&self->file, PID);
	jit_load(&self->file, 200, 0x1000, "efgh", 4, "two", 1);
	dump[1] = read_file(&self->file);
	ASSERT_TRUE(dump[0] && dump[1]);
	jitted = jitted_new(dump, 2);
	ASSERT_NE(NULL, jitted);
	EXPECT_STREQ("one", named(jitted, 0x1000, 199));
	EXPECT_STREQ("two", named(jitted, 0x1000, 200));
	EXPECT_STREQ("three", named(jitted, 0x1000, 300));
	/* The process has since executed another program. */
	EXPECT_EQ(JITTED_ABSENT, jitted_find(jitted, 0x1000, &time, &piece));
	jitted_free(jitted);
	jitdump_close(dump[0]);
	jitdump_close(dump[1]);
}

/* The times of a dump with the architecture's clock cannot be used. */
TEST_F(dumps, with_another_clock_have_no_times)
{
	struct jitdump *dump;
	struct jitted *jitted;

	self->file.bytes[32] = 1;
	jit_load(&self->file, 100, 0x1000, "abcd", 4, "one", 1);
	jit_load(&self->file, 200, 0x2000, "abcd", 4, "two", 2);
	jit_load(&self->file, 300, 0x2000, "abcd", 4, "three", 3);
	dump = read_file(&self->file);
	ASSERT_NE(NULL, dump);
	EXPECT_TRUE(dump->arch_time);
	jitted = jitted_new(&dump, 1);
	ASSERT_NE(NULL, jitted);
	EXPECT_FALSE(jitted_timed(jitted));
	EXPECT_STREQ("one", named(jitted, 0x1000, 0));
	EXPECT_STREQ("unsure", named(jitted, 0x2000, 0));
	jitted_free(jitted);
	jitdump_close(dump);
}

TEST_F(dumps, may_have_64k_functions)
{
	struct jitdump *dump;
	struct jitted *jitted;
	char name[16];
	uint64_t i;

	for (i = 0; i < 65536; i++) {
		snprintf(name, sizeof(name), "f%u", (unsigned int)i);
		jit_load(&self->file, 100 + i, 0x1000, name, 4, name, i);
		jit_move(&self->file, 100 + i, 0x1000, 0x10000 + 4 * i, 4, i);
	}
	dump = read_file(&self->file);
	ASSERT_NE(NULL, dump);
	EXPECT_EQ(2 * 65536, dump->codes);
	jitted = jitted_new(&dump, 1);
	ASSERT_NE(NULL, jitted);
	for (i = 0; i < 65536; i += 97) {
		snprintf(name, sizeof(name), "f%u", (unsigned int)i);
		EXPECT_STREQ(name, named(jitted, 0x1002, 100 + i));
		EXPECT_STREQ(name, named(jitted, 0x10000 + 4 * i, 100 + i));
		EXPECT_STREQ("absent", named(jitted, 0x10000 + 4 * i, 99 + i));
	}
	EXPECT_STREQ("unsure", named_in(jitted, 0x1000, 0, 0));
	jitted_free(jitted);
	jitdump_close(dump);
}

/* Memory does not grow with the square of the number of functions. */
TEST_F(dumps, with_too_many_overlaps_are_refused)
{
	static char code[16600];
	struct jitdump *dump;
	uint64_t i;

	jit_load(&self->file, 100, 0x1000, code, sizeof(code), "f", 1);
	for (i = 1; i < 8300; i++)
		jit_move(&self->file, 100 + i, 0x1000, 0x1000 + 2 * i, sizeof(code), 1);
	dump = read_file(&self->file);
	ASSERT_NE(NULL, dump);
	errno = 0;
	EXPECT_EQ(NULL, jitted_new(&dump, 1));
	EXPECT_EQ(EOVERFLOW, errno);
	jitdump_close(dump);
}

/* A compiler reuses its memory for functions of different sizes. */
TEST_F(dumps, of_reused_memory_are_used)
{
	static char code[4096];
	struct jitted *jitted;
	struct jitdump *dump;
	uint64_t address, i = 0;
	unsigned int round;

	srand(1);
	jit_load(&self->file, 1, 0x100000, code, sizeof(code), "f", 1);
	for (round = 0; round < 100; round++)
		for (address = 0x200000; address < 0x240000; address += 64 * (1 + (uint64_t)rand() % 63))
			jit_move(&self->file, 100 + i++, 0x100000, address, sizeof(code), 1);
	dump = read_file(&self->file);
	ASSERT_NE(NULL, dump);
	jitted = jitted_new(&dump, 1);
	EXPECT_NE(NULL, jitted);
	jitted_free(jitted);
	jitdump_close(dump);
}

TEST_F(dumps, agree_with_a_memory)
{
	unsigned int start[40], size[40], time[40], round, count, i, at, when;
	const struct jitted_piece *piece;
	struct jitdump *dump;
	struct jitted *jitted;
	char name[16], code[64];

	for (round = 0; round < 100; round++) {
		srand(round);
		count = 1 + (unsigned int)rand() % 40;
		jit_begin(&self->file, PID);
		for (i = 0; i < count; i++) {
			start[i] = 2 * ((unsigned int)rand() % 40);
			size[i] = 1 + (unsigned int)rand() % 40;
			time[i] = 1 + (unsigned int)rand() % 30;
			snprintf(name, sizeof(name), "f%u", i);
			memset(code, (int)i, sizeof(code));
			jit_load(&self->file, time[i], start[i], code, size[i], name, i);
		}
		jit_end(&self->file, "dump");
		dump = jitdump_open("dump", PID);
		ASSERT_NE(NULL, dump);
		jitted = jitted_new(&dump, 1);
		ASSERT_NE(NULL, jitted);
		for (at = 0; at < 130; at++)
			for (when = 1; when < 32; when++) {
				const struct jitted_time t = {
					.known = true, .from = when, .to = when,
				};
				int best = -1;

				for (i = 0; i < count; i++)
					if (at - start[i] < size[i] && time[i] <= when &&
					    (best < 0 || time[i] >= time[best]))
						best = (int)i;
				if (jitted_find(jitted, at, &t, &piece) != JITTED_FOUND) {
					EXPECT_EQ(-1, best);
					continue;
				}
				EXPECT_EQ(best, atoi(piece->code->name + 1));
				EXPECT_EQ(piece, jitted_at(jitted, piece->place + at -
							   piece->code->start));
			}
		jitted_free(jitted);
		jitdump_close(dump);
	}
}

TEST_HARNESS_MAIN
