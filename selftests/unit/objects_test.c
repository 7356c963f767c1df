// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that the command's list of objects is within the reader's limits and contains each object
 * once; that objects that do not fit are counted; and that objects whose addresses overlap are
 * omitted.
 */
#include <elf.h>
#include <limits.h>
#include <stdlib.h>
#include "kselftest_harness.h"

#include "target/objects.h"
#include "trace/meta.h"

#define EACH	0x1000ull

FIXTURE(objects)
{
	struct objects objects;
	struct meta meta;
	char path[64];
	char *text;
};

FIXTURE_SETUP(objects)
{
	int fd;

	strcpy(self->path, "/tmp/objects_test.XXXXXX");
	fd = mkstemp(self->path);
	ASSERT_LE(0, fd);
	close(fd);
	meta_init(&self->meta);
}

FIXTURE_TEARDOWN(objects)
{
	unlink(self->path);
	meta_free(&self->meta);
	objects_free(&self->objects);
	free(self->text);
}

/* Add the @i-th of several objects that do not overlap. @name must not be an existing file. */
static void add(struct objects *objects, uint64_t i, const char *name)
{
	objects_add_code(objects, name, 2 * i * EACH, EACH, 0);
}

/* Write the objects to a file, after as much other content as possible, and read the file back. */
static void read_back(struct __test_metadata *_metadata,
		      FIXTURE_DATA(objects) *self, bool newest)
{
	struct output *out = output_open(self->path);
	static char argument[META_BYTES_MAX / 8];
	size_t length;
	FILE *file;

	memset(argument, 'a', sizeof(argument) - 1);
	ASSERT_NE(NULL, out);
	put_string(out, "{\"unknown\":");
	put_json(out, argument);
	put_string(out, ",");
	objects_write(&self->objects, out, newest);
	put_string(out, "\"version\":1}");
	ASSERT_EQ(0, output_close(out));

	file = fopen(self->path, "re");
	self->text = malloc(2 * META_BYTES_MAX);
	ASSERT_NE(NULL, file);
	ASSERT_NE(NULL, self->text);
	length = fread(self->text, 1, 2 * META_BYTES_MAX, file);
	fclose(file);
	ASSERT_EQ(0, meta_parse("meta", self->text, length, &self->meta));
}

static bool has(const struct meta *meta, uint64_t i)
{
	size_t n;

	for (n = 0; n < meta->objects; n++)
		if (meta->object[n].start == 2 * i * EACH)
			return true;
	return false;
}

TEST_F(objects, are_written_once_each)
{
	add(&self->objects, 1, "/no/first");
	add(&self->objects, 2, "/no/second");
	add(&self->objects, 1, "/no/first");
	/* The name that perf uses for memory without a file. */
	add(&self->objects, 3, "//anon");
	read_back(_metadata, self, true);
	EXPECT_EQ(2, self->meta.objects);
	EXPECT_TRUE(has(&self->meta, 1));
	EXPECT_TRUE(has(&self->meta, 2));
	EXPECT_EQ(0, self->objects.left_out);
}

TEST_F(objects, that_overlap_are_omitted)
{
	add(&self->objects, 1, "/no/alone");
	/* Add an object, two objects within it, and an object on either side. */
	objects_add_code(&self->objects, "/no/large", 100 * EACH, 100 * EACH, 0);
	objects_add_code(&self->objects, "/no/within", 110 * EACH, EACH, 0);
	objects_add_code(&self->objects, "/no/within", 199 * EACH, EACH, 0);
	objects_add_code(&self->objects, "/no/behind", 200 * EACH, EACH, 0);
	objects_add_code(&self->objects, "/no/before", 99 * EACH, EACH, 0);
	read_back(_metadata, self, false);
	ASSERT_EQ(3, self->meta.objects);
	EXPECT_STREQ("/no/alone", self->meta.object[0].path);
	EXPECT_STREQ("/no/behind", self->meta.object[1].path);
	EXPECT_STREQ("/no/before", self->meta.object[2].path);
	EXPECT_EQ(0, self->objects.left_out);
	EXPECT_EQ(3, self->objects.ambiguous);
}

/* A clock whose tick is a nanosecond. */
static const struct trigger_clock same = { .ns = 1000000, .ticks = 1000000, .hz = 1000000000 };

/* Call dlopen() and dlclose() for two shared objects in turn, then again for the first object. */
TEST_F(objects, that_replace_one_another_are_written_with_their_times)
{
	self->objects.clock = same;
	objects_map(&self->objects, 7, 1000, "/no/first", 10 * EACH, 2 * EACH, 0);
	objects_map(&self->objects, 7, 1001, "/no/first", 10 * EACH, 2 * EACH, 0);
	objects_map(&self->objects, 7, 2000, "/no/second", 11 * EACH, 2 * EACH, 0);
	objects_map(&self->objects, 7, 3000, "/no/first", 10 * EACH, 2 * EACH, 0);
	read_back(_metadata, self, false);
	EXPECT_EQ(0, self->objects.ambiguous);
	ASSERT_EQ(3, self->meta.objects);
	EXPECT_STREQ("/no/first", self->meta.object[0].path);
	EXPECT_EQ(0, self->meta.object[0].from);
	EXPECT_EQ(1999, self->meta.object[0].to);
	EXPECT_STREQ("/no/second", self->meta.object[1].path);
	EXPECT_EQ(2000, self->meta.object[1].from);
	EXPECT_EQ(2999, self->meta.object[1].to);
	EXPECT_STREQ("/no/first", self->meta.object[2].path);
	EXPECT_EQ(3000, self->meta.object[2].from);
	EXPECT_EQ(UINT64_MAX, self->meta.object[2].to);
}

/* A later instant of the same clock. */
#define MS	1000000ull
static const struct trigger_clock later = {
	.ns = 10 * MS, .ticks = 10 * MS, .hz = 1000000000,
};

/* Times in milliseconds, moved by the error of the clocks: 10 us and 500 ppm of what follows. */
#define ERROR(ms)	(10000 + (10 - (ms)) * MS / 2000)
#define EARLY(ms)	((ms) * MS - ERROR(ms))
#define LATE(ms)	((ms) * MS + ERROR(ms))

/* Expect object number @i to have these addresses, and these times. */
static void expect(struct __test_metadata *_metadata, const struct meta *meta, size_t i,
		   uint64_t start, uint64_t end, uint64_t from, uint64_t to)
{
	ASSERT_GT(meta->objects, i);
	EXPECT_EQ(start * EACH, meta->object[i].start);
	EXPECT_EQ(end * EACH, meta->object[i].end);
	EXPECT_EQ(from, meta->object[i].from);
	EXPECT_EQ(to, meta->object[i].to);
}

/* A process maps memory of its own over a page of an object, and later an object over that. */
TEST_F(objects, lose_pages_that_generated_code_replaces)
{
	self->objects.clock = later;
	objects_map(&self->objects, 7, 1 * MS, "/no/first", 10 * EACH, 4 * EACH, 0);
	objects_map(&self->objects, 7, 2 * MS, "//anon", 11 * EACH, EACH, 0);
	objects_map(&self->objects, 7, 2 * MS + MS / 2, "//anon", 11 * EACH, EACH, 0);
	objects_map(&self->objects, 7, 3 * MS, "/no/second", 11 * EACH, EACH, 0);
	/* Memory in an object's place before the object. */
	objects_map(&self->objects, 7, 3 * MS, "/dev/zero", 20 * EACH, EACH, 0);
	objects_map(&self->objects, 7, 4 * MS, "/no/third", 20 * EACH, EACH, 0);
	read_back(_metadata, self, false);
	EXPECT_EQ(0, self->objects.ambiguous);
	EXPECT_EQ(0, self->objects.left_out);
	ASSERT_EQ(5, self->meta.objects);
	expect(_metadata, &self->meta, 0, 10, 14, 0, EARLY(2) - 1);
	expect(_metadata, &self->meta, 1, 10, 11, EARLY(2), UINT64_MAX);
	expect(_metadata, &self->meta, 2, 12, 14, EARLY(2), UINT64_MAX);
	expect(_metadata, &self->meta, 3, 11, 12, LATE(3), UINT64_MAX);
	expect(_metadata, &self->meta, 4, 20, 21, LATE(4), UINT64_MAX);
}

/*
 * Processes change a page's code while it is executable, or while it is not; then perf reports the
 * whole mapping again.
 */
TEST_F(objects, lose_pages_that_their_process_changes)
{
	self->objects.clock = later;
	objects_map(&self->objects, 7, 1 * MS, "/no/first", 10 * EACH, 2 * EACH, 0);
	objects_map_writable(&self->objects, 7, 2 * MS, "/no/first", 11 * EACH, EACH);
	objects_map(&self->objects, 7, 3 * MS, "/no/first", 10 * EACH, 2 * EACH, 0);
	objects_map(&self->objects, 8, 1 * MS, "/no/second", 20 * EACH, 3 * EACH, 0);
	objects_map(&self->objects, 8, 2 * MS, "/no/second", 20 * EACH, 2 * EACH, 0);
	objects_map(&self->objects, 8, 3 * MS, "/no/second", 20 * EACH, 2 * EACH, 0);
	read_back(_metadata, self, false);
	EXPECT_EQ(0, self->objects.ambiguous);
	ASSERT_EQ(4, self->meta.objects);
	expect(_metadata, &self->meta, 0, 10, 12, 0, EARLY(2) - 1);
	expect(_metadata, &self->meta, 1, 10, 11, EARLY(2), UINT64_MAX);
	expect(_metadata, &self->meta, 2, 20, 23, 0, EARLY(2) - 1);
	expect(_metadata, &self->meta, 3, 22, 23, EARLY(2), UINT64_MAX);
}

/* Write a file that has nothing but a dynamic section with these flags. */
static void write_dynamic(const char *path, uint64_t flags)
{
	const struct {
		Elf64_Ehdr	header;
		Elf64_Phdr	segment;
		Elf64_Dyn	entry[2];
	} file = {
		.header = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB },
			.e_type = ET_DYN, .e_machine = EM_RISCV, .e_phnum = 1,
			.e_phoff = sizeof(file.header), .e_phentsize = sizeof(file.segment),
		},
		.segment = {
			.p_type = PT_DYNAMIC, .p_filesz = sizeof(file.entry),
			.p_offset = sizeof(file.header) + sizeof(file.segment),
		},
		.entry = { { .d_tag = DT_FLAGS, .d_un.d_val = flags } },
	};
	FILE *out = fopen(path, "we");

	fwrite(&file, sizeof(file), 1, out);
	fclose(out);
}

/* The loader makes the code of such an object writable, and then executable again. */
TEST_F(objects, keep_code_that_the_loader_relocates)
{
	const uint64_t flags[] = { 0, DF_TEXTREL };
	unsigned int i;

	self->objects.clock = later;
	for (i = 0; i < 2; i++) {
		write_dynamic(self->path, flags[i]);
		objects_map(&self->objects, 7 + i, 1 * MS, self->path, 10 * i * EACH, 3 * EACH, 0);
		objects_map_writable(&self->objects, 7 + i, 2 * MS, self->path, 10 * i * EACH,
				     i * EACH);
		objects_map(&self->objects, 7 + i, 2 * MS, self->path, 10 * i * EACH, 2 * EACH, 0);
	}
	read_back(_metadata, self, false);
	ASSERT_EQ(3, self->meta.objects);
	expect(_metadata, &self->meta, 0, 0, 3, 0, EARLY(2) - 1);
	expect(_metadata, &self->meta, 1, 2, 3, EARLY(2), UINT64_MAX);
	expect(_metadata, &self->meta, 2, 10, 13, 0, UINT64_MAX);
}

/* Only objects that could be decoded wrongly count as ambiguous, and the list has a limit. */
TEST_F(objects, are_omitted_if_another_process_has_generated_code_there)
{
	uint64_t i;

	self->objects.clock = later;
	objects_map(&self->objects, 7, 1 * MS, "/no/first", 10 * EACH, 2 * EACH, 0);
	objects_map(&self->objects, 8, 2 * MS, "//anon", 10 * EACH, EACH, 0);
	for (i = 0; i < 2 * META_OBJECTS_MAX; i++)
		objects_map(&self->objects, 7, 3 * MS, "//anon", (100 + 2 * i) * EACH, EACH, 0);
	read_back(_metadata, self, false);
	EXPECT_EQ(0, self->meta.objects);
	EXPECT_EQ(1, self->objects.ambiguous);
	EXPECT_EQ(0, self->objects.left_out);
	EXPECT_GE(META_OBJECTS_MAX / 2, self->objects.count);
}

/* The clock has 1000 ticks per second, and starts at 1 ms. */
TEST_F(objects, that_are_replaced_before_the_clock_starts_or_within_a_tick_are_omitted)
{
	self->objects.clock = (struct trigger_clock){ .ns = 9000000, .ticks = 8, .hz = 1000 };
	objects_map(&self->objects, 7, 100000, "/no/first", 10 * EACH, EACH, 0);
	objects_map(&self->objects, 7, 200000, "/no/second", 10 * EACH, EACH, 0);
	objects_map(&self->objects, 7, 4100000, "/no/third", 10 * EACH, EACH, 0);
	objects_map(&self->objects, 7, 4200000, "/no/fourth", 10 * EACH, EACH, 0);
	read_back(_metadata, self, false);
	EXPECT_EQ(0, self->objects.ambiguous);
	EXPECT_EQ(0, self->objects.left_out);
	ASSERT_EQ(2, self->meta.objects);
	EXPECT_STREQ("/no/second", self->meta.object[0].path);
	EXPECT_EQ(0, self->meta.object[0].from);
	EXPECT_EQ(3, self->meta.object[0].to);
	EXPECT_STREQ("/no/fourth", self->meta.object[1].path);
}

TEST_F(objects, that_replace_one_another_often_do_not_accumulate)
{
	uint64_t i;

	for (i = 1; i <= 2 * META_OBJECTS_MAX; i++)
		objects_map(&self->objects, 7, i, i % 2 ? "/no/first" : "/no/second", 10 * EACH,
			    EACH, 0);
	EXPECT_GE(META_OBJECTS_MAX + 1, self->objects.count);
}

/*
 * Two objects have the same addresses: in two processes; in a process whose child may still have
 * the first object; and in one of two processes that share the first object.
 */
TEST_F(objects, that_may_exist_at_the_same_time_are_omitted)
{
	self->objects.clock = same;
	objects_map(&self->objects, 7, 1000, "/no/first", 10 * EACH, EACH, 0);
	objects_map(&self->objects, 8, 2000, "/no/second", 10 * EACH, EACH, 0);
	objects_map(&self->objects, 7, 1000, "/no/third", 20 * EACH, EACH, 0);
	objects_fork(&self->objects, 7);
	objects_map(&self->objects, 7, 2000, "/no/fourth", 20 * EACH, EACH, 0);
	objects_map(&self->objects, 7, 1000, "/no/shared", 30 * EACH, EACH, 0);
	objects_map(&self->objects, 8, 1000, "/no/shared", 30 * EACH, EACH, 0);
	objects_map(&self->objects, 7, 2000, "/no/fifth", 30 * EACH, EACH, 0);
	read_back(_metadata, self, false);
	EXPECT_EQ(0, self->meta.objects);
	EXPECT_EQ(6, self->objects.ambiguous);
}

TEST_F(objects, that_replace_one_another_are_omitted_without_a_clock)
{
	objects_map(&self->objects, 7, 1000, "/no/first", 10 * EACH, EACH, 0);
	objects_map(&self->objects, 7, 2000, "/no/second", 10 * EACH, EACH, 0);
	read_back(_metadata, self, false);
	EXPECT_EQ(0, self->meta.objects);
}

/* Mappings that are read before and after they are shortened, or in the opposite order. */
TEST_F(objects, of_shortened_mappings_keep_the_longest_extent)
{
	objects_add_code(&self->objects, "/no/program", 10 * EACH, EACH, 0);
	objects_add_code(&self->objects, "/no/program", 10 * EACH, 3 * EACH, 0);
	objects_add_code(&self->objects, "/no/other", 20 * EACH, 3 * EACH, 0);
	objects_add_code(&self->objects, "/no/other", 20 * EACH, EACH, 0);
	/* Two mappings of different parts of the file. */
	objects_add_code(&self->objects, "/no/moved", 30 * EACH, 2 * EACH, 0);
	objects_add_code(&self->objects, "/no/moved", 31 * EACH, 2 * EACH, 0);
	read_back(_metadata, self, false);
	ASSERT_EQ(2, self->meta.objects);
	EXPECT_STREQ("/no/program", self->meta.object[0].path);
	EXPECT_EQ(10 * EACH, self->meta.object[0].start);
	EXPECT_EQ(13 * EACH, self->meta.object[0].end);
	EXPECT_EQ(20 * EACH, self->meta.object[1].start);
	EXPECT_EQ(23 * EACH, self->meta.object[1].end);
	EXPECT_EQ(2, self->objects.ambiguous);
}

static void add_many(struct objects *objects)
{
	uint64_t i;

	for (i = 0; i < META_OBJECTS_MAX + 100; i++)
		add(objects, i, "/no/such");
	/* An object that has existed from the beginning is found again at the end. */
	add(objects, 7, "/no/such");
}

TEST_F(objects, beyond_the_limit_keep_the_newest)
{
	add_many(&self->objects);
	read_back(_metadata, self, true);
	EXPECT_EQ(META_OBJECTS_MAX, self->meta.objects);
	EXPECT_EQ(100, self->objects.left_out);
	EXPECT_TRUE(has(&self->meta, META_OBJECTS_MAX + 99));
	EXPECT_TRUE(has(&self->meta, 7));
	EXPECT_FALSE(has(&self->meta, 8));
}

TEST_F(objects, beyond_the_limit_keep_the_oldest)
{
	add_many(&self->objects);
	read_back(_metadata, self, false);
	EXPECT_EQ(META_OBJECTS_MAX, self->meta.objects);
	EXPECT_EQ(100, self->objects.left_out);
	EXPECT_TRUE(has(&self->meta, 0));
	EXPECT_TRUE(has(&self->meta, META_OBJECTS_MAX - 1));
	EXPECT_FALSE(has(&self->meta, META_OBJECTS_MAX));
}

/* Names so long that the file cannot hold all objects. */
TEST_F(objects, with_long_names_are_written_or_counted)
{
	char name[2048] = "/no/";
	uint64_t i;

	memset(name + 4, '\x01', sizeof(name) - 5);
	for (i = 0; i < 1000; i++)
		add(&self->objects, i, name);
	read_back(_metadata, self, true);
	EXPECT_LT(100, self->meta.objects);
	EXPECT_EQ(1000, self->meta.objects + self->objects.left_out);
	EXPECT_TRUE(has(&self->meta, 999));
}

TEST_HARNESS_MAIN
