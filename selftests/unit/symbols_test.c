// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests that the file of a loaded object, and the names of its addresses, are found. */
#include <gelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "directory.h"
#include "image.h"
#include "kept_report.h"
#include "symbols.h"

#define BIAS	0x3f80000000ull

FIXTURE(symbols) {
	char dir[64];
	char id[IMAGE_BUILD_ID_SIZE];
	uint64_t area;
	struct meta meta;
	struct meta_object object;
	struct symbols_options options;
	struct symbols *symbols;
	struct symbol symbol;
};

static void shell(const char *format, ...)
{
	char command[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	if (system(command))
		abort();
}

/* Return the first number that a command prints. */
static uint64_t printed(const char *format, ...)
{
	unsigned long long address = 0;
	char command[256];
	va_list arguments;
	FILE *pipe;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	pipe = popen(command, "r");
	if (!pipe || fscanf(pipe, "%llx", &address) != 1)
		abort();
	pclose(pipe);
	return address;
}

static uint64_t address_of(const char *object, const char *function)
{
	return printed("nm %s | awk '$3 == \"%s\" { print $1 }'", object, function);
}

FIXTURE_SETUP(symbols)
{
	strcpy(self->dir, "/tmp/symbols_test.XXXXXX");
	ASSERT_EQ(0, dir_enter(self->dir));
	ASSERT_TRUE(image_build_id(OBJECT, self->id));
	ASSERT_EQ(40, strlen(self->id));
	self->area = address_of(OBJECT, "_ZN3geo4areaEii") + BIAS;
	meta_init(&self->meta);
	self->object = (struct meta_object){
		.path = "/no/such/libgeo.so", .build_id = self->id,
		.start = BIAS, .end = BIAS + 0x10000, .bias = BIAS,
	};
	self->meta.object = &self->object;
	self->meta.objects = 1;
	reported[0] = '\0';
}

FIXTURE_TEARDOWN(symbols)
{
	symbols_close(self->symbols);
	ASSERT_EQ(0, dir_remove(self->dir));
}

static bool find(FIXTURE_DATA(symbols) *self, uint64_t address)
{
	if (!self->symbols)
		self->symbols = symbols_open(&self->options, &self->meta);
	return self->symbols && symbols_find(self->symbols, address, &self->symbol);
}

TEST_F(symbols, match_files_by_build_id)
{
	shell("cp " OBJECT " other.so");
	self->options.file[self->options.files++] = "other.so";
	ASSERT_TRUE(find(self, self->area + 1));
	EXPECT_STREQ("geo::area", self->symbol.function);
	EXPECT_EQ(self->area, self->symbol.start);
	EXPECT_STREQ("libgeo.so", self->symbol.object);
	EXPECT_STREQ("/src/geo.cc", self->symbol.file);
	EXPECT_EQ(30, self->symbol.line);
	EXPECT_FALSE(find(self, self->area + 0x20000));
	EXPECT_STREQ("", reported);
}

TEST_F(symbols, are_demangled_on_request)
{
	self->options.file[self->options.files++] = OBJECT;
	self->options.demangle = DEMANGLE_FULL;
	ASSERT_TRUE(find(self, self->area));
	EXPECT_STREQ("geo::area(int, int)", self->symbol.function);
	symbols_close(self->symbols);
	self->symbols = NULL;
	self->options.demangle = DEMANGLE_NO;
	ASSERT_TRUE(find(self, self->area));
	EXPECT_STREQ("_ZN3geo4areaEii", self->symbol.function);
}

TEST_F(symbols, of_another_build_are_refused)
{
	char text[64];

	self->object.path = OBJECT;
	self->object.build_id = "0123456789abcdef0123456789abcdef01234567";
	EXPECT_FALSE(find(self, self->area));
	EXPECT_NE(NULL, strstr(reported, "but the trace was recorded with 0123456789"));
	symbol_name(&self->symbol, self->area, text, sizeof(text));
	EXPECT_EQ(0, strncmp(text, "symbols_sample.so+0x", 20));
}

TEST_F(symbols, are_found_under_symfs)
{
	shell("mkdir -p root/no/such && cp " OBJECT " root/no/such/libgeo.so");
	self->options.symfs = "root";
	EXPECT_TRUE(find(self, self->area));
	EXPECT_STREQ("", reported);
}

TEST_F(symbols, are_read_from_debug_file_by_build_id)
{
	shell("mkdir -p root/usr/lib/debug/.build-id/%.2s && objcopy --only-keep-debug "
	      OBJECT " root/usr/lib/debug/.build-id/%.2s/%s.debug",
	      self->id, self->id, self->id + 2);
	self->options.symfs = "root";
	ASSERT_TRUE(find(self, self->area));
	EXPECT_STREQ("geo::area", self->symbol.function);
	EXPECT_STREQ("/src/geo.cc", self->symbol.file);
}

TEST_F(symbols, are_read_from_debug_file_by_debug_link)
{
	shell("objcopy --only-keep-debug " OBJECT " libgeo.debug && strip -o libgeo.so "
	      OBJECT " && objcopy --add-gnu-debuglink=libgeo.debug libgeo.so");
	self->options.file[self->options.files++] = "libgeo.so";
	ASSERT_TRUE(find(self, self->area));
	EXPECT_STREQ("geo::area", self->symbol.function);
	EXPECT_STREQ("/src/geo.cc", self->symbol.file);
}

TEST_F(symbols, use_the_specified_load_address)
{
	self->meta.objects = 0;
	self->options.file[self->options.files++] = OBJECT "@0x3f80000000";
	ASSERT_TRUE(find(self, self->area));
	EXPECT_STREQ("geo::area", self->symbol.function);
}

TEST_F(symbols, caller_is_looked_up_before_the_return_address)
{
	self->options.file[self->options.files++] = OBJECT;
	ASSERT_TRUE(find(self, self->area));
	EXPECT_TRUE(symbols_find_caller(self->symbols, self->area, &self->symbol));
	EXPECT_EQ(self->area, self->symbol.start);
	EXPECT_TRUE(symbols_find_caller(self->symbols, self->area + 3,
					&self->symbol));
	EXPECT_STREQ("geo::area", self->symbol.function);
}

TEST_F(symbols, files_that_are_not_programs_are_refused)
{
	self->meta.objects = 0;
	self->options.file[self->options.files++] = "/etc/passwd";
	EXPECT_FALSE(find(self, self->area));
	EXPECT_NE(NULL, strstr(reported, "/etc/passwd: not an ELF program"));
	reported[0] = '\0';
	self->options.file[0] = "/dev/zero";
	EXPECT_FALSE(find(self, self->area));
	EXPECT_NE(NULL, strstr(reported, "/dev/zero: not an ELF program: not a regular file"));
}

/* Use the stripped file, modified by @command, as the only object. */
static void use_stripped(FIXTURE_DATA(symbols) *self, const char *command)
{
	shell(CROSS "objcopy --strip-all " WHOLE " stripped.so && %s", command);
	if (!image_build_id("stripped.so", self->id))
		abort();
	self->options.file[self->options.files++] = "stripped.so";
	self->object.path = "/usr/lib/stripped.so";
}

TEST_F(symbols, unwind_tables_delimit_stripped_functions)
{
	uint64_t hidden = address_of(WHOLE, "hidden");
	char text[64], expected[64];

	use_stripped(self, "true");
	ASSERT_TRUE(find(self, BIAS + address_of(WHOLE, "shown") + 2));
	EXPECT_STREQ("shown", self->symbol.function);
	ASSERT_TRUE(find(self, BIAS + hidden + 2));
	EXPECT_EQ(NULL, self->symbol.function);
	EXPECT_EQ(BIAS + hidden, self->symbol.start);
	snprintf(expected, sizeof(expected), "stripped.so+0x%llx",
		 (unsigned long long)hidden + 2);
	symbol_name(&self->symbol, BIAS + hidden + 2, text, sizeof(text));
	EXPECT_STREQ(expected, text);
	/* The call instruction precedes the address that it returns to. */
	EXPECT_TRUE(symbols_find_caller(self->symbols, BIAS + hidden + 2, &self->symbol));
	symbol_name(&self->symbol, BIAS + hidden + 2, text, sizeof(text));
	EXPECT_STREQ(expected, text);
	EXPECT_STREQ("", reported);
}

TEST_F(symbols, plt_stubs_are_named_after_their_target)
{
	uint64_t stub = printed(CROSS "objdump -d -j .plt " WHOLE
				" | sed -n 's/ <outside@plt>:$//p'");

	use_stripped(self, "true");
	ASSERT_TRUE(find(self, BIAS + stub));
	EXPECT_STREQ("outside@plt", self->symbol.function);
	EXPECT_EQ(BIAS + stub, self->symbol.start);
	ASSERT_TRUE(find(self, BIAS + stub + 12));
	EXPECT_EQ(BIAS + stub, self->symbol.start);
	/* The code before the PLT stubs, which resolves functions, has no name. */
	EXPECT_FALSE(find(self, BIAS + stub - 4));
}

TEST_F(symbols, embedded_symbol_table_is_read)
{
	use_stripped(self, CROSS "objcopy --only-keep-debug " WHOLE " small && xz small && "
		     CROSS "objcopy --add-section .gnu_debugdata=small.xz stripped.so");
	ASSERT_TRUE(find(self, BIAS + address_of(WHOLE, "hidden")));
	EXPECT_STREQ("hidden", self->symbol.function);
	EXPECT_STREQ("", reported);
}

TEST_F(symbols, oversized_embedded_symbol_table_is_not_used)
{
	uint64_t hidden = address_of(WHOLE, "hidden");

	use_stripped(self, "head -c 40000000 /dev/zero | xz -0 >large.xz && "
		     CROSS "objcopy --add-section .gnu_debugdata=large.xz stripped.so");
	ASSERT_TRUE(find(self, BIAS + hidden));
	EXPECT_EQ(NULL, self->symbol.function);
	EXPECT_EQ(BIAS + hidden, self->symbol.start);
	EXPECT_NE(NULL, strstr(reported, "no symbols: its compressed symbol table"));
}

TEST_F(symbols, oversized_debug_file_is_not_used)
{
	shell("objcopy --only-keep-debug " OBJECT " whole.debug && strip -o libgeo.so "
	      OBJECT " && head -c 40000000 /dev/zero >zeros && objcopy "
	      "--update-section .debug_str=zeros whole.debug && objcopy "
	      "--compress-debug-sections=zlib whole.debug libgeo.debug && objcopy "
	      "--add-gnu-debuglink=libgeo.debug libgeo.so");
	self->options.file[self->options.files++] = "libgeo.so";
	ASSERT_TRUE(find(self, self->area));
	EXPECT_EQ(NULL, self->symbol.file);
	EXPECT_NE(NULL, strstr(reported, "libgeo.debug: debug information not used"));
}

TEST_F(symbols, compressed_file_is_not_inflated_to_find_a_program)
{
	shell("xz -k -c " OBJECT " >program.xz");
	self->meta.objects = 0;
	self->options.file[self->options.files++] = "program.xz";
	EXPECT_FALSE(find(self, self->area));
	EXPECT_NE(NULL, strstr(reported, "program.xz: not an ELF program: not an ELF file"));
}

TEST_F(symbols, file_in_several_processes_is_recognised)
{
	struct meta_object objects[4];
	size_t i;

	for (i = 0; i < 4; i++) {
		objects[i] = self->object;
		objects[i].start += i << 20;
		objects[i].end += i << 20;
		objects[i].bias += i << 20;
	}
	/* Mappings of another file, and of another part of the file. */
	objects[2].build_id = "0123456789abcdef0123456789abcdef01234567";
	objects[3].start += 0x1000;
	objects[3].end += 0x1000;
	self->meta.object = objects;
	self->meta.objects = 4;
	self->options.file[self->options.files++] = OBJECT;
	ASSERT_TRUE(find(self, self->area + (1 << 20) + 1));
	EXPECT_STREQ("geo::area", self->symbol.function);
	EXPECT_EQ(self->area + (1 << 20), self->symbol.start);
	EXPECT_EQ(self->area, symbols_same(self->symbols, self->area));
	EXPECT_EQ(self->area, symbols_same(self->symbols, self->area + (1 << 20)));
	EXPECT_EQ(self->area + (2 << 20),
		  symbols_same(self->symbols, self->area + (2 << 20)));
	EXPECT_EQ(self->area + (3 << 20),
		  symbols_same(self->symbols, self->area + (3 << 20)));
	EXPECT_EQ(BIAS - 1, symbols_same(self->symbols, BIAS - 1));
}

TEST_F(symbols, statically_linked_tracer_is_recognised_by_symbol_names)
{
	shell(CROSS "objcopy --redefine-sym hidden=perf_hook_enter "
	      "--redefine-sym shown=write_claimed " WHOLE " traced.so && "
	      CROSS "objcopy --redefine-sym shown=perf_stat " WHOLE " untraced.so");
	self->id[0] = '\0';
	self->object.build_id = NULL;
	self->object.path = "traced.so";
	ASSERT_TRUE(find(self, BIAS + address_of(WHOLE, "shown")));
	EXPECT_STREQ("write_claimed", self->symbol.function);
	EXPECT_TRUE(self->symbol.tracer);
	symbols_close(self->symbols);
	self->symbols = NULL;
	self->object.path = "untraced.so";
	ASSERT_TRUE(find(self, BIAS + address_of(WHOLE, "shown")));
	EXPECT_STREQ("perf_stat", self->symbol.function);
	EXPECT_FALSE(self->symbol.tracer);
}

TEST_HARNESS_MAIN
