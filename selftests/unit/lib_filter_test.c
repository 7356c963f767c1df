// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that a filter selects exactly the functions in its ranges, in objects loaded before or
 * after the set-up. The ranges can overlap and be in any order. The error for a malformed file
 * contains the line number.
 */
#include "kselftest_harness.h"

#include <dlfcn.h>

#include "lib_mock.h"

FIXTURE(filter)
{
	char path[48];
	const char *name;
	uintptr_t bias;
};

static int find_bias(struct dl_phdr_info *info, size_t size, void *bias)
{
	(void)size;
	*(uintptr_t *)bias = info->dlpi_addr;
	return 1;
}

FIXTURE_SETUP(filter)
{
	setenv("SIFIVE_TRACE_VERBOSE", "0", 1);
	mock_device_reset();
	sprintf(self->path, "/tmp/lib_filter_test.%d", getpid());
	self->name = program_invocation_short_name;
	/* The first object is the program. */
	dl_iterate_phdr(find_bias, &self->bias);
}

FIXTURE_TEARDOWN(filter)
{
	perf_filter_load(NULL);
	unlink(self->path);
}

static int load(FIXTURE_DATA(filter) *self, const char *text)
{
	FILE *file = fopen(self->path, "w");

	fputs(text, file);
	fclose(file);
	return perf_filter_load(self->path);
}

#define IS_RECORDED(address)	perf_filter_has(address, PERF_FILTER_RECORD)

/* The first pages of a program must count as part of the program, wherever it is loaded. */
#define HAS(address)	IS_RECORDED(self->bias + (address))

static uintptr_t text_of(FIXTURE_DATA(filter) *self)
{
	return (uintptr_t)load - self->bias;
}

TEST_F(filter, is_optional_but_must_be_readable)
{
	ASSERT_EQ(0, perf_filter_load(NULL));
	EXPECT_FALSE(perf_filter_on());
	EXPECT_ERROR(perf_filter_load("/nonexistent/filter"), "cannot open the filter /nonexistent/filter");
	EXPECT_FALSE(perf_filter_on());
}

TEST_F(filter, selects_address_ranges)
{
	uintptr_t at = text_of(self);
	char text[512];

	/* Ranges that are out of order, nested or adjacent, or that have a 0x prefix. */
	snprintf(text, sizeof(text),
		 "# comment\n\n%s %lx %lx\n%s %lx %lx\n  %s 0x%lx %lx\n%s %lx %lx\nother 0 ffffffffffff\n",
		 self->name, at + 0x100, at + 0x180, self->name, at, at + 0x10,
		 self->name, at + 0x120, at + 0x130, self->name, at + 0x10,
		 at + 0x20);
	ASSERT_EQ(0, load(self, text));
	EXPECT_TRUE(perf_filter_on());
	EXPECT_FALSE(HAS(at - 1));
	EXPECT_TRUE(HAS(at));
	EXPECT_TRUE(HAS(at + 0xf));
	EXPECT_TRUE(HAS(at + 0x10));
	EXPECT_TRUE(HAS(at + 0x1f));
	EXPECT_FALSE(HAS(at + 0x20));
	EXPECT_FALSE(HAS(at + 0xff));
	EXPECT_TRUE(HAS(at + 0x100));
	EXPECT_TRUE(HAS(at + 0x130));
	EXPECT_TRUE(HAS(at + 0x17f));
	EXPECT_FALSE(HAS(at + 0x180));
	/* Test an address in an object without a filter, and an address outside all objects. */
	EXPECT_FALSE(IS_RECORDED((uintptr_t)&fclose));
	EXPECT_FALSE(IS_RECORDED(16));
}

/* Quotes are not part of the name, which can contain spaces or begin like a comment. */
TEST_F(filter, accepts_quoted_object_names)
{
	uintptr_t at = text_of(self);
	char *usual = program_invocation_name, text[512];

	snprintf(text, sizeof(text), "\"%s\" %lx %lx\n\"# a  name\" %lx %lx\n",
		 self->name, at, at + 1, at + 1, at + 2);
	ASSERT_EQ(0, load(self, text));
	EXPECT_TRUE(HAS(at));
	EXPECT_FALSE(HAS(at + 1));
	program_invocation_name = "./a directory/# a  name";
	ASSERT_EQ(0, load(self, text));
	EXPECT_FALSE(HAS(at));
	EXPECT_TRUE(HAS(at + 1));
	program_invocation_name = usual;
}

/* The program was started through a symbolic link, or has overwritten its arguments. */
TEST_F(filter, recognises_the_program_by_its_file)
{
	uintptr_t at = text_of(self);
	char *usual = program_invocation_name, text[512];

	snprintf(text, sizeof(text), "%s %lx %lx\n", self->name, at, at + 1);
	program_invocation_name = "server: idle";
	ASSERT_EQ(0, load(self, text));
	EXPECT_TRUE(HAS(at));
	EXPECT_FALSE(HAS(at + 1));
	program_invocation_name = usual;
}

TEST_F(filter, without_ranges_selects_nothing)
{
	ASSERT_EQ(0, load(self, "# nothing\n"));
	EXPECT_TRUE(perf_filter_on());
	EXPECT_FALSE(HAS(text_of(self)));
}

TEST_F(filter, applies_to_objects_loaded_later)
{
	uintptr_t function;
	Dl_info info;
	char text[128];
	void *object;

	ASSERT_EQ(0, load(self, "symbols_sample.so 0 100000\n"));
	object = dlopen(OBJECT, RTLD_NOW);
	ASSERT_NE(NULL, object);
	function = (uintptr_t)dlsym(object, "plain");
	ASSERT_NE(0, function);
	ASSERT_NE(0, dladdr((void *)function, &info));
	EXPECT_TRUE(IS_RECORDED(function));

	/* Addresses of a shared object are relative to its load address. */
	snprintf(text, sizeof(text), "symbols_sample.so %lx %lx\n",
		 function - (uintptr_t)info.dli_fbase,
		 function - (uintptr_t)info.dli_fbase + 1);
	ASSERT_EQ(0, load(self, text));
	EXPECT_TRUE(IS_RECORDED(function));
	EXPECT_FALSE(IS_RECORDED(function + 1));
	dlclose(object);
}

static bool copy_object(const char *to)
{
	FILE *from = fopen(OBJECT, "r"), *copy = fopen(to, "w");
	int c;

	if (!from || !copy)
		return false;
	while ((c = getc(from)) != EOF)
		putc(c, copy);
	fclose(from);
	return !fclose(copy);
}

static uintptr_t open_plain(const char *path, void **object)
{
	*object = dlopen(path, RTLD_NOW);
	return *object ? (uintptr_t)dlsym(*object, "plain") : 0;
}

/* Another object with the same code is loaded at the same address. */
TEST_F(filter, does_not_apply_to_an_object_that_replaced_a_closed_one)
{
	uintptr_t first, second;
	char copy[64];
	void *object;

	snprintf(copy, sizeof(copy), "%s.so", self->path);
	ASSERT_TRUE(copy_object(copy));
	first = open_plain(OBJECT, &object);
	ASSERT_NE(0, first);
	ASSERT_EQ(0, load(self, "symbols_sample.so 0 100000\n"));
	EXPECT_TRUE(IS_RECORDED(first));
	dlclose(object);
	second = open_plain(copy, &object);
	unlink(copy);
	ASSERT_EQ(first, second);
	EXPECT_FALSE(IS_RECORDED(second));
	dlclose(object);
}

TEST_F(filter, refuses_malformed_lines)
{
	static const char *const lines[] = {
		"object\n", "object 1\n", "object 1 x\n", "object 2 1\n",
		"object 1 1\n", "object 1 2 3\n", "an object 1 2\n",
		"\"an object 1 2\n", "\"an object\" 1\n",
	};
	unsigned int i;
	char text[64];

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(text, sizeof(text), "good 1 2\n#\n%s", lines[i]);
		EXPECT_ERROR(load(self, text), ":3: invalid line: write OBJECT START END");
		EXPECT_FALSE(perf_filter_on());
	}
}

TEST_F(filter, refuses_an_end_without_a_beginning)
{
	EXPECT_ERROR(load(self, "< object 1 2\n"), "none that begins with >");
	EXPECT_FALSE(perf_filter_on());
	EXPECT_ERROR(load(self, "object 1 2\n< object 1 2\n"), "none that begins with >");
	EXPECT_ERROR(load(self, ">\n"), ":1: invalid line");
	EXPECT_ERROR(load(self, "> > object 1 2\n"), ":1: invalid line");
	ASSERT_EQ(0, load(self, "> \">\" 1 2\n"));
	EXPECT_EQ(1u << PERF_FILTER_FROM, perf_filter_on());
}

TEST_F(filter, sets_the_depth_limit)
{
	static const char * const wrong[] = { "^\n", "^ 0\n", "^ 65\n", "^ 2 3\n", "^ x\n", "^ -1\n" };
	unsigned int i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		EXPECT_ERROR(load(self, wrong[i]), ":1: invalid line: write ^ N, with N from 1 to 64");
		EXPECT_EQ(0, perf_filter_depth());
	}
	ASSERT_EQ(0, load(self, "^ 64\n"));
	EXPECT_EQ(64, perf_filter_depth());
	/* The limit applies to all functions, or only to functions that other lines select. */
	EXPECT_EQ(0, perf_filter_on());
	ASSERT_EQ(0, load(self, "> \"^\" 1 2\n^ 3\n"));
	EXPECT_EQ(3, perf_filter_depth());
	EXPECT_EQ(1u << PERF_FILTER_FROM, perf_filter_on());
	ASSERT_EQ(0, load(self, "^ 3\n\"^\" 1 2\n"));
	EXPECT_EQ(1u << PERF_FILTER_RECORD, perf_filter_on());
	ASSERT_EQ(0, load(self, "# nothing\n"));
	EXPECT_EQ(0, perf_filter_depth());
}

/* A malformed filter makes the set-up fail; a filter ends with its session. */
TEST_F(filter, ends_with_its_session)
{
	struct sifive_trace_options options = SIFIVE_TRACE_OPTIONS;
	struct sifive_trace *trace = sifive_trace_open();
	char text[128];

	ASSERT_NE(NULL, trace);
	options.filter = self->path;
	EXPECT_ERROR(sifive_trace_setup(trace, &options), "cannot open the filter");
	EXPECT_NOTHING_HELD();
	snprintf(text, sizeof(text), "%s %lx %lx\n", self->name, text_of(self),
		 text_of(self) + 1);
	ASSERT_EQ(0, load(self, text));
	ASSERT_EQ(0, sifive_trace_setup(trace, &options));
	ASSERT_EQ(0, sifive_trace_on(trace));
	mock_stores = 0;
	__cyg_profile_func_enter((void *)((uintptr_t)load + 1), NULL);
	EXPECT_EQ(0, mock_stores);
	__cyg_profile_func_enter(load, NULL);
	EXPECT_LT(0, mock_stores);

	ASSERT_EQ(0, sifive_trace_off(trace));
	options.filter = NULL;
	ASSERT_EQ(0, sifive_trace_setup(trace, &options));
	ASSERT_EQ(0, sifive_trace_on(trace));
	mock_stores = 0;
	__cyg_profile_func_enter((void *)((uintptr_t)load + 1), NULL);
	EXPECT_LT(0, mock_stores);
	sifive_trace_close(trace);
}

TEST_HARNESS_MAIN
