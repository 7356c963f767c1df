// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Which file an object in memory is, and what its addresses are called. */
#include <gelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "image.h"
#include "kept_report.h"
#include "symbols.h"

#define BIAS	0x3f80000000ull

FIXTURE(symbols) {
	char folder[64];
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

static uint64_t address_of(const char *function)
{
	unsigned long long address = 0;
	char command[256];
	FILE *pipe;

	snprintf(command, sizeof(command), "nm " OBJECT " | awk '$3 == \"%s\" { print $1 }'",
		 function);
	pipe = popen(command, "r");
	if (!pipe || fscanf(pipe, "%llx", &address) != 1)
		abort();
	pclose(pipe);
	return address;
}

FIXTURE_SETUP(symbols)
{
	strcpy(self->folder, "/tmp/symbols_test.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->folder));
	ASSERT_EQ(0, chdir(self->folder));
	ASSERT_TRUE(image_build_id(OBJECT, self->id));
	ASSERT_EQ(40, strlen(self->id));
	self->area = address_of("_ZN3geo4areaEii") + BIAS;
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
	ASSERT_EQ(0, chdir("/"));
	shell("rm -rf %s", self->folder);
}

static bool find(FIXTURE_DATA(symbols) *self, uint64_t address)
{
	if (!self->symbols)
		self->symbols = symbols_open(&self->options, &self->meta);
	return self->symbols && symbols_find(self->symbols, address, &self->symbol);
}

TEST_F(symbols, by_build_id_whatever_its_name)
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

TEST_F(symbols, demangled_as_asked)
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

TEST_F(symbols, another_build_is_refused)
{
	char text[64];

	self->object.path = OBJECT;
	self->object.build_id = "0123456789abcdef0123456789abcdef01234567";
	EXPECT_FALSE(find(self, self->area));
	EXPECT_NE(NULL, strstr(reported, "but the trace is of 0123456789"));
	symbol_name(&self->symbol, self->area, text, sizeof(text));
	EXPECT_EQ(0, strncmp(text, "symbols_sample.so+0x", 20));
}

TEST_F(symbols, under_another_root)
{
	shell("mkdir -p root/no/such && cp " OBJECT " root/no/such/libgeo.so");
	self->options.symfs = "root";
	EXPECT_TRUE(find(self, self->area));
	EXPECT_STREQ("", reported);
}

TEST_F(symbols, debug_file_by_build_id)
{
	shell("mkdir -p root/usr/lib/debug/.build-id/%.2s && objcopy --only-keep-debug "
	      OBJECT " root/usr/lib/debug/.build-id/%.2s/%s.debug",
	      self->id, self->id, self->id + 2);
	self->options.symfs = "root";
	ASSERT_TRUE(find(self, self->area));
	EXPECT_STREQ("geo::area", self->symbol.function);
	EXPECT_STREQ("/src/geo.cc", self->symbol.file);
}

TEST_F(symbols, stripped_file_with_debug_link)
{
	shell("objcopy --only-keep-debug " OBJECT " libgeo.debug && strip -o libgeo.so "
	      OBJECT " && objcopy --add-gnu-debuglink=libgeo.debug libgeo.so");
	self->options.file[self->options.files++] = "libgeo.so";
	ASSERT_TRUE(find(self, self->area));
	EXPECT_STREQ("geo::area", self->symbol.function);
	EXPECT_STREQ("/src/geo.cc", self->symbol.file);
}

TEST_F(symbols, load_address_given_by_hand)
{
	self->meta.objects = 0;
	self->options.file[self->options.files++] = OBJECT "@0x3f80000000";
	ASSERT_TRUE(find(self, self->area));
	EXPECT_STREQ("geo::area", self->symbol.function);
}

TEST_F(symbols, caller_is_before_where_it_returns_to)
{
	self->options.file[self->options.files++] = OBJECT;
	ASSERT_TRUE(find(self, self->area));
	EXPECT_TRUE(symbols_find_caller(self->symbols, self->area, &self->symbol));
	EXPECT_EQ(self->area, self->symbol.start);
	EXPECT_TRUE(symbols_find_caller(self->symbols, self->area + 3,
					&self->symbol));
	EXPECT_STREQ("geo::area", self->symbol.function);
}

TEST_F(symbols, not_a_program)
{
	self->meta.objects = 0;
	self->options.file[self->options.files++] = "/etc/passwd";
	EXPECT_FALSE(find(self, self->area));
	EXPECT_NE(NULL, strstr(reported, "/etc/passwd: no ELF program"));
	reported[0] = '\0';
	self->options.file[0] = "/dev/zero";
	EXPECT_FALSE(find(self, self->area));
	EXPECT_NE(NULL, strstr(reported, "/dev/zero: no ELF program: not a file"));
}

TEST_HARNESS_MAIN
