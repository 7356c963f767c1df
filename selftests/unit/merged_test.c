// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests that commands read the traces of several sinks as if merge had combined them. */
#include <signal.h>
#include <sys/wait.h>

#include "sinks.h"

/* covered_sample.c */
#define WORK		0x40018ull
#define INSTRUCTIONS	12

#define NAME		"a.rtd + 1 more"

/* work(3), as in covered_test.c. */
static void run_work(struct gen *gen, unsigned int src)
{
	const uint8_t sync[] = { 5 }, sync_bits[] = { 4, 0 }, fixed[] = { 4, 1 };
	const uint8_t bits[] = { 4, 2, 0 };
	const uint64_t begin[] = { 0, WORK >> 1 }, ways[] = { 2 * INSTRUCTIONS, 0x56 };

	gen_message(gen, 9, src, sync, sync_bits, begin, 2);
	gen_message(gen, 33, src, fixed, bits, ways, 2);
}

/* The traces of both sinks have calls, samples and instructions; temporary files are in tmp. */
static void make_traces(void)
{
	static const char * const path[] = { "a.rtd", "b.rtd" };
	const uint64_t address[2] = { FIB, MAIN + 0x12 };
	uint64_t value = 5000;
	struct sinks sinks;
	unsigned int i;

	make_sinks(&sinks, false);
	for (i = 0; i < 2; i++) {
		gen_record(&sinks.stream[i][1], 3, address, &value);
		run_work(&sinks.own[i], 0);
		write_file(path[i], sinks.own[i].data, sinks.own[i].length);
	}
	free_sinks(&sinks);
	write_metas();
	if (mkdir("tmp", 0777) || setenv("TMPDIR", "tmp", 1))
		abort();
}

/* Return whether no temporary file remains. */
static bool is_clean(void)
{
	return !rmdir("tmp") && !mkdir("tmp", 0777);
}

/*
 * Save the command's output for m.rtd, which merge has written, with the file's name replaced by
 * NAME.
 */
static int keep_merged(FIXTURE_DATA(command) *self, const char *before, const char *after)
{
	run(self, "%s m.rtd %s", before, after);
	if (system("LC_ALL=C sed 's/m\\.rtd/" NAME "/g' out.txt >expected"))
		abort();
	return self->status;
}

static void expect_same(struct __test_metadata *_metadata, FIXTURE_DATA(command) *self,
			const char *before, const char *after)
{
	const int status = keep_merged(self, before, after);

	EXPECT_EQ(0, status) TH_LOG("%s: %s", before, self->err);
	run(self, "%s a.rtd b.rtd %s", before, after);
	EXPECT_EQ(status, self->status) TH_LOG("%s: %s", before, self->err);
	EXPECT_EQ(0, system("cmp out.txt expected")) TH_LOG("%s %s", before, after);
	EXPECT_LT(10, strlen(self->out)) TH_LOG("%s", before);
	EXPECT_TRUE(is_clean()) TH_LOG("%s", before);
}

TEST_F(command, every_command_shows_the_same_as_for_the_merged_trace)
{
	static const char * const commands[] = {
		"report", "report --by thread", "report --by hart", "report --csv", "report --json",
		"report --columns avg,p99", "report --time 0s..5s", "report --strict -c all",
		"report --time 5%..60%", "decode --time 20%..70%", "coverage --time 10%..",
		"graph", "graph --by thread", "graph --json", "replay",
		"replay --time-threshold 1ms", "replay -j 1", "decode", "decode --format csv",
		"decode --format json", "decode --format instructions", "decode --format pc",
		"export --format chrome", "export --format perfetto", "export --format folded",
		"export --format csv",
		"export --format svg", "export --format html", "export --format speedscope",
		"export --format firefox", "export --format bolt --object covered_sample.elf",
		"export --format profgen --object covered_sample.elf", "coverage",
		"coverage --by line", "coverage --by path", "coverage --format lcov", "annotate",
		"annotate --source-only", "annotate --json",
	};
	char command[256];
	size_t i;

	make_traces();
	run(self, "merge -q -o m.rtd a.rtd b.rtd");
	ASSERT_EQ(0, self->status) { TH_LOG("%s", self->err); }
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		snprintf(command, sizeof(command), "%s -e " PROGRAM " -e " LINES, commands[i]);
		expect_same(_metadata, self, command, "");
	}
	/* Options can be given between and after the traces. */
	keep_merged(self, "report --by thread --csv", "");
	run(self, "report a.rtd --by thread b.rtd --csv");
	EXPECT_EQ(0, self->status);
	EXPECT_EQ(0, system("cmp out.txt expected"));
	expect_same(_metadata, self, "report --diff m.rtd", "");
}

TEST_F(command, multi_file_formats_include_all_traces)
{
	make_traces();
	run(self, "merge -q -o m.rtd a.rtd b.rtd");
	run(self, "decode --format perf -o one m.rtd -e " PROGRAM);
	EXPECT_EQ(0, self->status) TH_LOG("%s", self->err);
	run(self, "decode --format perf -o two a.rtd b.rtd -e " PROGRAM);
	EXPECT_EQ(0, self->status) TH_LOG("%s", self->err);
	EXPECT_EQ(0, system("diff -r one two && test -s one/decode_sample.perf"));
	run(self, "export --format ctf -o three m.rtd");
	run(self, "export --format ctf -o four a.rtd b.rtd");
	EXPECT_EQ(0, self->status) TH_LOG("%s", self->err);
	EXPECT_EQ(0, system("rm three/metadata four/metadata && diff -r three four"));
	EXPECT_TRUE(is_clean());
}

TEST_F(command, summary_states_the_traces_and_the_clock_precision)
{
	write_cut_sinks();
	run(self, "report a.rtd b.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->err, "sifive-trace: b.rtd: its last message is cut off\n"));
	EXPECT_NE(NULL, strstr(self->err, ": " NAME ": "));
	EXPECT_NE(NULL, strstr(self->err, "2 traces, 4 encoders; their clocks agree within 402 ns\n"))
		TH_LOG("%s", self->err);
	EXPECT_NE(NULL, strstr(self->err, ": " NAME ": 199 records")) TH_LOG("%s", self->err);
	/* A loss in one trace is a loss in the merged trace. */
	run(self, "report --strict a.rtd b.rtd");
	EXPECT_EQ(1, self->status);
	run(self, "report -q a.rtd b.rtd");
	EXPECT_STREQ("", self->err);
}

/* A function can have any name, so traces are recognised by the names that record gives them. */
TEST_F(command, annotate_recognises_traces_by_their_names)
{
	make_traces();
	run(self, "merge -q -o m.rtd a.rtd b.rtd");
	expect_same(_metadata, self, "annotate -e " PROGRAM " -e " LINES, "fib");
	EXPECT_NE(NULL, strstr(self->out, "fib")) TH_LOG("%s", self->out);
	EXPECT_EQ(NULL, strstr(self->out, "work")) TH_LOG("%s", self->out);
	/* Pieces and snapshots have numbers; the first trace can have any name. */
	ASSERT_EQ(0, system("mv a.rtd x && mv a.rtd.meta x.meta && mv b.rtd b.rtd.12 && mv b.rtd.meta b.rtd.12.meta"));
	run(self, "annotate -q -e " PROGRAM " -e " LINES " x b.rtd.12 fib");
	EXPECT_EQ(0, self->status) TH_LOG("%s", self->err);
	EXPECT_STREQ("", self->err);
	/* Snapshots of several sinks have two numbers. */
	ASSERT_EQ(0, system("cp b.rtd.12 b.rtd.1.2 && cp b.rtd.12.meta b.rtd.1.2.meta"));
	run(self, "annotate -q -e " PROGRAM " -e " LINES " x b.rtd.1.2 fib");
	EXPECT_EQ(0, self->status) TH_LOG("%s", self->err);
	EXPECT_STREQ("", self->err);
	/* These arguments are names of functions. */
	run(self, "annotate -q -e " PROGRAM " x fib b.rtd.12 x");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->err, "x: the trace contains nothing about function \"b.rtd.12\"")) TH_LOG("%s", self->err);
	EXPECT_NE(NULL, strstr(self->err, "x: the trace contains nothing about function \"x\"")) TH_LOG("%s", self->err);
	run(self, "annotate -q -e " PROGRAM " x b.rtdx b.rtd.12");
	EXPECT_NE(NULL, strstr(self->err, "x: the trace contains nothing about function \"b.rtdx\"")) TH_LOG("%s", self->err);
	EXPECT_NE(NULL, strstr(self->err, "x: the trace contains nothing about function \"b.rtd.12\"")) TH_LOG("%s", self->err);
	EXPECT_NE(NULL, strstr(self->err, "it is a trace: name it before the functions"))
		TH_LOG("%s", self->err);
	run(self, "annotate -q -e " PROGRAM " x b.rtd.1x b.rtd.");
	EXPECT_NE(NULL, strstr(self->err, "x: the trace contains nothing about function \"b.rtd.1x\"")) TH_LOG("%s", self->err);
	EXPECT_NE(NULL, strstr(self->err, "x: the trace contains nothing about function \"b.rtd.\"")) TH_LOG("%s", self->err);
	EXPECT_TRUE(is_clean());
}

/* The last side-car file describes the objects of all traces. */
TEST_F(command, file_copies_are_found_next_to_the_last_trace)
{
	struct sidecar a = first_sink(), b = second_sink();

	make_traces();
	b.more = ",\"files\":\"kept\",\"objects\":[{\"path\":\"/no/work\",\"start\":262144,\"end\":266240,\"bias\":0}]";
	a.more = b.more;
	b.path = "in/b.rtd.meta";
	ASSERT_EQ(0, system("mkdir -p in/kept/no && mv b.rtd in && cp " LINES " in/kept/no/work"));
	write_meta(&a);
	write_meta(&b);
	run(self, "decode --format pc a.rtd in/b.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "40018\n")) TH_LOG("%s%s", self->out, self->err);
	EXPECT_EQ(NULL, strstr(self->out, "missing")) TH_LOG("%s", self->out);
}

TEST_F(command, unmergeable_arguments_are_refused)
{
	static const struct {
		const char *arguments;
		int status;
		const char *why;
	} bad[] = {
		{ "report a.rtd a.rtd", 3, "a.rtd: given twice" },
		{ "report a.rtd ./a.rtd", 3, "./a.rtd: given twice" },
		{ "report a.rtd b.rtd link.rtd", 3, "link.rtd: given twice" },
		{ "graph - a.rtd", 2, "standard input cannot be merged" },
		{ "replay a.rtd -", 2, "standard input cannot be merged" },
		{ "annotate - b.rtd", 2, "standard input cannot be merged" },
		{ "decode a.rtd " PROGRAM, 2, "is a program, not a trace; name it with -e" },
		{ "report a.rtd none.rtd", 3, "none.rtd: cannot read: No such file" },
		{ "coverage a.rtd tmp", 3, "tmp.meta: No such file" },
		{ "report a.rtd alone.rtd", 3, "alone.rtd.meta: No such file or directory: merging traces needs the side-car files" },
		{ "export --format chrome a.rtd later.rtd", 3, "later.rtd: it is not from the same recording" },
		{ "annotate a.rtd damaged.rtd", 3, "damaged.rtd: offset " },
		{ "report --meta a.rtd.meta a.rtd b.rtd", 2, "--meta" },
		{ "report --meta none a.rtd b.rtd", 2, "--meta" },
		{ "report -s 1 a.rtd b.rtd", 2, "--srcbits" },
		{ "report --ts-width 40 a.rtd b.rtd", 2, "--ts-width" },
		{ "report --ts-scheme xor a.rtd b.rtd", 2, "--ts-scheme" },
		{ "report --ring a.rtd b.rtd", 2, "--ring" },
		{ "report -o a.rtd a.rtd b.rtd", 2, "a.rtd: cannot write: it is also an input" },
		{ "report -o b.rtd a.rtd b.rtd", 2, "b.rtd: cannot write: it is also an input" },
		{ "report -o b.rtd.meta a.rtd b.rtd", 2, "b.rtd.meta: cannot write: it is also an input" },
		{ "decode --format perf -o . a.rtd x.perf", 3, "x.perf: cannot write: it is also an input" },
		{ "report --by nothing a.rtd b.rtd", 2, "--by" },
		{ "report --time 1..2..3 a.rtd b.rtd", 2, "--time" },
		{ "report -e none.elf a.rtd b.rtd", 3, "none.elf" },
		{ "top a.rtd b.rtd", 2, "only one trace at a time" },
	};
	struct sidecar later = second_sink();
	struct stat status;
	unsigned int i;

	make_traces();
	later.path = "later.rtd.meta";
	later.start_ns += 3600 * SECOND;
	later.stop_ns += 3600 * SECOND;
	write_meta(&later);
	ASSERT_EQ(0, system("cp b.rtd later.rtd && cp b.rtd alone.rtd && ln b.rtd link.rtd && ln b.rtd.meta link.rtd.meta"
			    " && cp b.rtd x.perf && cp b.rtd.meta x.perf.meta"
			    " && head -c 900 b.rtd >damaged.rtd && printf '\\253' >>damaged.rtd && tail -c +902 b.rtd >>damaged.rtd"
			    " && cp b.rtd.meta damaged.rtd.meta"));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		run(self, "%s", bad[i].arguments);
		EXPECT_EQ(bad[i].status, self->status) TH_LOG("%s: %s", bad[i].arguments, self->err);
		EXPECT_NE(NULL, strstr(self->err, bad[i].why))
			TH_LOG("%s: %s", bad[i].arguments, self->err);
		EXPECT_STREQ("", self->out) TH_LOG("%s", bad[i].arguments);
		EXPECT_TRUE(is_clean()) TH_LOG("%s", bad[i].arguments);
	}
	EXPECT_EQ(0, stat("b.rtd", &status));
	EXPECT_LT(1000, status.st_size);
}

TEST_F(command, temporary_files_need_a_directory_with_free_space)
{
	make_traces();
	ASSERT_EQ(0, setenv("TMPDIR", "none", 1));
	run(self, "report a.rtd b.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "none: cannot create a temporary file: No such file or directory; name another directory with TMPDIR"))
		TH_LOG("%s", self->err);
	ASSERT_EQ(0, setenv("TMPDIR", "a.rtd", 1));
	run(self, "report a.rtd b.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "a.rtd: cannot create a temporary file: Not a directory"))
		TH_LOG("%s", self->err);
	/* A single trace needs no side-car file. */
	run(self, "report -s 1 a.rtd");
	EXPECT_EQ(0, self->status);
	ASSERT_EQ(0, setenv("TMPDIR", "tmp", 1));
	EXPECT_EQ(3 << 8, system("trap '' XFSZ; ulimit -f 2; " COMMAND " report a.rtd b.rtd 2>err.txt >out.txt"));
	read_file("err.txt", self->err);
	EXPECT_NE(NULL, strstr(self->err, "tmp: cannot write: File too large")) TH_LOG("%s", self->err);
	EXPECT_NE(NULL, strstr(self->err, "tmp: traces are merged in a temporary file of about 1 MB; set TMPDIR to a directory with that much space"))
		TH_LOG("%s", self->err);
	read_file("out.txt", self->out);
	EXPECT_STREQ("", self->out);
	EXPECT_TRUE(is_clean());
}

/* Return whether an unnamed file in this directory is open in a process. */
static bool has_temporary(pid_t process, const char *dir)
{
	char path[64], link[512];
	bool found = false;
	ssize_t length;
	int fd;

	for (fd = 0; fd < 32; fd++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", process, fd);
		length = readlink(path, link, sizeof(link) - 1);
		if (length < 0)
			continue;
		link[length] = '\0';
		found |= !strncmp(link, dir, strlen(dir)) && strstr(link, " (deleted)");
	}
	return found;
}

TEST_F(command, temporary_merged_trace_is_unlinked_while_read)
{
	char dir[128], byte;
	int to, from, status;
	pid_t child;

	make_traces();
	snprintf(dir, sizeof(dir), "%s/tmp/", self->dir);
	/* The command waits for room in the pipe, with the trace open. */
	child = start_command("decode -q --format json a.rtd b.rtd", &to, &from);
	ASSERT_LT(0, fcntl(from, F_SETPIPE_SZ, 4096));
	ASSERT_EQ(1, read(from, &byte, 1));
	EXPECT_TRUE(has_temporary(child, dir));
	EXPECT_TRUE(is_clean());
	EXPECT_EQ(0, kill(child, SIGKILL));
	EXPECT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_TRUE(is_clean());
	close(to);
	close(from);
}

TEST_HARNESS_MAIN
