// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests which calls share a row of a report, and which rows a comparison pairs. */
#include "command_fixture.h"

/* Calls fib @count times in each object loaded at one of these addresses. */
static void call_objects(FIXTURE_DATA(command) *self, const char *name, const char *meta,
			 uint64_t one, unsigned int count, uint64_t two)
{
	uint64_t address[2] = { 0, 0x100 };
	struct gen_stream stream;
	char file[32];
	unsigned int i;

	gen_free(&self->gen);
	gen_init(&self->gen, 0, 40);
	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 0, 0, 64);
	gen_header(&stream);
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

/* Functions are paired neither by address nor by name alone. */
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

TEST_HARNESS_MAIN
