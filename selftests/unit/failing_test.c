// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests that a command that fails says so, and leaves no incomplete files. */
#include "command_fixture.h"

/* Commands that read a trace and write the file or directory x. */
static const char * const writers[] = {
	"decode", "decode --csv", "decode --json", "decode --format perf", "replay", "report",
	"report --json", "graph", "graph --json", "export --format chrome", "export --format perfetto",
	"export --format folded", "export --format svg", "export --format html",
	"export --format speedscope", "export --format firefox", "export --format pprof",
	"export --format csv", "export --format ctf", "export --format dqr",
};

#define WRITERS	(sizeof(writers) / sizeof(writers[0]))

/* Write calls of many functions along many paths, so that each command writes more than a block. */
static void many_calls(struct gen *gen)
{
	uint64_t address[2], value[2] = { 0 }, seed = 1;
	struct gen_stream stream;
	unsigned int i;

	gen_sync(gen, 0);
	gen_stream_init(&stream, gen, 0, 6, 1, 2, 64);
	gen_header(&stream);
	for (i = 0; i < 4000; i++) {
		address[0] = MAIN + 0x10 * (gen_random(&seed) % 4000);
		address[1] = MAIN + 0x10 * (gen_random(&seed) % 4000);
		value[0] += gen_random(&seed) % 1000;
		value[1] += gen_random(&seed) % 1000;
		gen_record(&stream, i % 40 > 19, address, value);
	}
}

TEST_F_TIMEOUT(command, a_full_disk_leaves_nothing, 300)
{
	size_t i;

	many_calls(&self->gen);
	save(self, "trace.rtd");
	for (i = 0; i < WRITERS; i++) {
		/* A file cannot grow beyond 4 blocks of 512 bytes. */
		run(self, "--version; trap '' XFSZ; ulimit -f 4; " COMMAND " %s -q --meta none -o x trace.rtd 2>disk.txt",
		    writers[i]);
		read_file("disk.txt", self->err);
		EXPECT_EQ(3, self->status) TH_LOG("%s: %s", writers[i], self->err);
		EXPECT_NE(NULL, strstr(self->err, "cannot write: File too large"))
			TH_LOG("%s: %s", writers[i], self->err);
		EXPECT_EQ(-1, access("x", F_OK)) TH_LOG("%s", writers[i]);
	}
}

TEST_F_TIMEOUT(command, a_trace_without_records_leaves_nothing, 300)
{
	size_t i;

	sample_trace(&self->gen, 0, 0);
	save(self, "trace.rtd");
	for (i = 0; i < WRITERS; i++) {
		run(self, "%s -q --meta none -c 9 -o x trace.rtd", writers[i]);
		EXPECT_EQ(3, self->status) TH_LOG("%s: %s", writers[i], self->err);
		EXPECT_NE(NULL, strstr(self->err, "no records on channel 9"))
			TH_LOG("%s: %s", writers[i], self->err);
		EXPECT_EQ(-1, access("x", F_OK)) TH_LOG("%s", writers[i]);
	}
}

TEST_F(command, what_was_not_created_remains)
{
	sample_trace(&self->gen, 0, 0);
	save(self, "trace.rtd");
	write_file("file", "", 0);
	ASSERT_EQ(0, symlink("file", "link"));
	ASSERT_EQ(0, mkdir("perf", 0777));
	run(self, "decode --meta none -c 9 -o link trace.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_EQ(0, access("link", F_OK));
	run(self, "decode --format perf --meta none -c 9 -o . trace.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_EQ(0, access("perf", F_OK));
	EXPECT_EQ(0, access("trace.rtd", F_OK));
	run(self, "decode --meta none -c 9 -o /dev/null trace.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_EQ(0, access("/dev/null", F_OK));
	/* A loss is not a failure. */
	self->gen.length--;
	save(self, "trace.rtd");
	run(self, "decode --strict --meta none -q -o x trace.rtd");
	EXPECT_EQ(1, self->status);
	EXPECT_EQ(0, access("x", F_OK));
}

TEST_F(command, help_on_a_full_disk_is_an_error)
{
	static const char * const arguments[] = { "--version", "--help", "report --help", "list" };
	size_t i;

	if (access("/dev/full", W_OK))
		SKIP(return, "no /dev/full");
	for (i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
		run(self, "%s >/dev/full", arguments[i]);
		EXPECT_EQ(3, self->status) TH_LOG("%s", arguments[i]);
		EXPECT_NE(NULL, strstr(self->err, "standard output: cannot write: No space left on device"))
			TH_LOG("%s: %s", arguments[i], self->err);
	}
}

TEST_HARNESS_MAIN
