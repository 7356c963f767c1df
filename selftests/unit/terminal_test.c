// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests the command on a terminal, and without one. */
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>

#include "sinks.h"

#define NAME		"warehouse::department::shelf<perishable>::inventory::"	\
			"supervisor::recalculate<12345>"
/*
 * Size of a trace that takes more than half a second to read while watch() slows the command down
 * sixfold.
 */
#define MANY		(5u << 20)
#define CLEARED		"\r                        \r"

static const char *terminal = "dumb", *pager = "cat";

/* Start the command with its output to a terminal with this many columns, or to a pipe. */
static pid_t start(const char *arguments, unsigned short columns, int *from)
{
	struct winsize size = { .ws_row = 24, .ws_col = columns };
	char command[512];
	int pipes[2];
	pid_t child;

	if (!columns && pipe(pipes))
		return -1;
	child = columns ? forkpty(from, NULL, NULL, &size) : fork();
	if (child) {
		if (!columns)
			close(pipes[1]);
		if (!columns)
			*from = pipes[0];
		return child;
	}
	if (!columns) {
		dup2(pipes[1], 1);
		dup2(pipes[1], 2);
	}
	/* nohup(1) and background jobs of scripts ignore these signals. */
	signal(SIGHUP, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	setenv("TERM", terminal, 1);
	setenv("PAGER", pager, 1);
	unsetenv("LESS");
	snprintf(command, sizeof(command), "exec " COMMAND " %s", arguments);
	execl("/bin/sh", "sh", "-c", command, NULL);
	_exit(127);
}

/*
 * Read the command's output, and occasionally stop the command while it prints nothing, so that the
 * command takes a long time on any machine.
 */
static void watch(FIXTURE_DATA(command) *self, const char *arguments,
		  unsigned short columns)
{
	struct pollfd poll_from = { .events = POLLIN };
	size_t used = 0;
	ssize_t count;
	pid_t child;

	self->status = -1;
	child = start(arguments, columns, &poll_from.fd);
	if (child < 0)
		return;
	for (;;) {
		if (!poll(&poll_from, 1, 10)) {
			kill(child, SIGSTOP);
			usleep(50000);
			kill(child, SIGCONT);
			continue;
		}
		count = read(poll_from.fd, self->out + used, SIZE - 1 - used);
		if (count <= 0)
			break;
		used += (size_t)count;
	}
	self->out[used] = '\0';
	close(poll_from.fd);
	if (waitpid(child, &self->status, 0) == child)
		self->status = WIFEXITED(self->status) ?
			       WEXITSTATUS(self->status) : -1;
}

/* Write calls to a function with a long name, with counters whose columns also need space. */
static void calls(struct gen *gen, unsigned int counters, size_t bytes)
{
	const uint64_t one[] = { MAIN, 0x3f00000000 };
	const uint64_t two[] = { LENGTHY, MAIN + 0x12 };
	uint64_t value[GEN_COUNTERS] = { 0 };
	struct gen_stream stream;
	unsigned int i, k;

	gen_sync(gen, 0);
	gen_stream_init(&stream, gen, 0, 6, 1, counters, 64);
	for (i = 0; i < counters; i++) {
		stream.counter[i].type = 1;
		stream.counter[i].code = 1 + 2 * i;
	}
	gen_header(&stream);
	do {
		for (i = 0; i < 4; i++) {
			for (k = 0; k < counters; k++)
				value[k] += 1000000 * i * k + 1;
			gen_record(&stream, i > 1, i % 3 ? two : one, value);
		}
		gen->truths = 0;
	} while (gen->length < bytes);
}

/* Return the length of the longest line, without the newline. */
static size_t widest(const char *text)
{
	size_t longest = 0;

	while (*text) {
		size_t length = strcspn(text, "\r\n");

		if (length > longest)
			longest = length;
		text += length;
		text += strspn(text, "\r\n");
	}
	return longest;
}

TEST_F(command, progress_is_shown_on_a_terminal)
{
	unsigned int before = 0, percent, shown = 0;
	const char *at;

	calls(&self->gen, 1, MANY);
	save(self, "trace.rtd");
	watch(self, "report --meta none trace.rtd", 100);
	EXPECT_EQ(0, self->status);
	for (at = self->out; (at = strstr(at, "% of 5 MB ")); at++, shown++) {
		ASSERT_EQ(1, sscanf(at - 3, "%u%%", &percent));
		EXPECT_LE(before, percent);
		EXPECT_GE(100, percent);
		before = percent;
	}
	EXPECT_LT(0, shown);
	/* Progress precedes the result. */
	at = strstr(self->out, CLEARED);
	ASSERT_NE(NULL, at);
	EXPECT_NE(NULL, strstr(at, "function\r\n"));
	EXPECT_EQ(NULL, strstr(at, "MB "));

	/* The size of a pipe is unknown. */
	watch(self, "report --meta none - <trace.rtd", 100);
	EXPECT_NE(NULL, strstr(self->out, "% of 5 MB "));
	ASSERT_EQ(0, system("mkfifo fifo; cat trace.rtd >fifo &"));
	watch(self, "report --meta none - <fifo", 100);
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, " MB "));
	EXPECT_EQ(NULL, strstr(self->out, "% of"));
	EXPECT_NE(NULL, strstr(self->out, CLEARED));

	/* Merging traces takes longer than reading them. */
	gen_free(&self->gen);
	gen_init(&self->gen, 1, 40);
	calls(&self->gen, 1, MANY / 2);
	save(self, "a.rtd");
	save(self, "b.rtd");
	write_metas();
	watch(self, "report a.rtd b.rtd", 100);
	EXPECT_EQ(0, self->status) TH_LOG("%s", self->out);
	at = strstr(self->out, "% of 5 MB ");
	EXPECT_NE(NULL, at);
	EXPECT_LT(at, strstr(self->out, "clocks agree"));
	watch(self, "replay a.rtd b.rtd | tail -n 1", 100);
	EXPECT_EQ(NULL, strstr(self->out, "MB "));

	/* No progress is shown with -q, or if output is not a terminal. */
	watch(self, "report -q --meta none trace.rtd", 100);
	EXPECT_EQ(0, self->status);
	EXPECT_EQ(NULL, strstr(self->out, "MB "));
	watch(self, "report --meta none trace.rtd", 0);
	EXPECT_EQ(0, self->status);
	EXPECT_EQ(NULL, strstr(self->out, "MB "));
	EXPECT_EQ(NULL, strchr(self->out, '\r'));
}

/* Output is not mixed with progress, even with less(1). */
TEST_F(command, progress_is_not_shown_within_output)
{
	static const char * const commands[] = {
		"decode", "replay", "export --format chrome",
	};
	static const struct {
		const char *to;
		bool progress;
	} output[] = {
		{ "| tail -n 1", false }, { "-o /dev/stdout | tail -n 1", false },
		{ "-o out", true }, { ">out", true },
	};
	char arguments[128];
	unsigned int i, k;

	calls(&self->gen, 1, 256 << 10);
	save(self, "trace.rtd");
	ASSERT_EQ(0, system("mkfifo fifo"));
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		for (k = 0; k < sizeof(output) / sizeof(output[0]); k++) {
			/*
			 * Between two stretches of work, sleep for longer than the delay before
			 * progress is shown.
			 */
			ASSERT_EQ(0, system("{ cat trace.rtd; sleep 1;"
					    " cat trace.rtd; } >fifo &"));
			snprintf(arguments, sizeof(arguments),
				 "%s --meta none - <fifo %s", commands[i],
				 output[k].to);
			watch(self, arguments, 100);
			EXPECT_EQ(0, self->status);
			EXPECT_EQ(output[k].progress,
				  strstr(self->out, " MB ") != NULL) {
				TH_LOG("%s", arguments);
			}
		}
	}
}

TEST_F(command, output_to_a_pipe_is_plain)
{
	static const char * const arguments[] = {
		"report", "report --by thread", "report --diff trace.rtd", "graph",
		"replay", "decode", "decode --format csv", "decode --format json",
		"export --format folded",
	};
	unsigned int i;

	calls(&self->gen, 3, 10000);
	save(self, "trace.rtd");
	for (i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
		run(self, "%s -e " PROGRAM " trace.rtd", arguments[i]);
		EXPECT_EQ(0, self->status);
		EXPECT_NE(NULL, strstr(self->out, "supervisor::recalculate")) {
			TH_LOG("%s", arguments[i]);
		}
		EXPECT_EQ(NULL, strpbrk(self->out, "\r\033\b"));
		EXPECT_EQ(NULL, strpbrk(self->err, "\r\033\b"));
	}
}

TEST_F(command, tables_fit_the_requested_width)
{
	static const char * const arguments[] = {
		"report -q", "report -q --by thread", "report -q --by hart",
		"report -q --diff trace.rtd",
	};
	static const unsigned short columns[] = { 44, 60, 80, 133 };
	char text[256];
	unsigned int i, k;

	calls(&self->gen, 7, 10000);
	save(self, "trace.rtd");
	for (i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
		for (k = 0; k < sizeof(columns) / sizeof(columns[0]); k++) {
			run(self, "%s --width %u -e " PROGRAM " trace.rtd",
			    arguments[i], columns[k]);
			EXPECT_EQ(0, self->status);
			EXPECT_GE(columns[k], widest(self->out)) {
				TH_LOG("%s --width %u: %s", arguments[i],
				       columns[k], self->out);
			}
			EXPECT_NE(NULL, strstr(self->out, "warehouse"));
		}
		/*
		 * Use the terminal's width, or 80 columns if the terminal does not report a width.
		 */
		snprintf(text, sizeof(text), "%s -e " PROGRAM " trace.rtd", arguments[i]);
		watch(self, text, 66);
		EXPECT_EQ(0, self->status);
		EXPECT_GE(66, widest(self->out));
		EXPECT_NE(NULL, strstr(self->out, "...\r\n"));
		watch(self, text, 1);
		EXPECT_GE(80, widest(self->out));
		EXPECT_LT(66, widest(self->out));
		/*
		 * In a file, numbers do not exceed 80 columns and names are complete.
		 */
		run(self, "%s -e " PROGRAM " trace.rtd", arguments[i]);
		EXPECT_NE(NULL, strstr(self->out, NAME "\n"));
		ASSERT_EQ(0, system("sed 's/ [^ ]*$//' out.txt >numbers.txt"));
		read_file("numbers.txt", self->out);
		EXPECT_GE(80, widest(self->out));
	}
	run(self, "report --width 43 trace.rtd");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "--width takes a number from 44 to 10000"));
}

TEST_F(command, headings_are_bold_only_on_a_terminal)
{
	sample_trace(&self->gen, 0, 1);
	save(self, "trace.rtd");
	terminal = "xterm";
	watch(self, "report --meta none trace.rtd", 100);
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "\033[1m"));
	EXPECT_NE(NULL, strstr(self->out, "  function\033[m\r\n"));
	setenv("NO_COLOR", "1", 1);
	watch(self, "report --meta none trace.rtd", 100);
	unsetenv("NO_COLOR");
	EXPECT_EQ(NULL, strchr(self->out, '\033'));
	watch(self, "report --meta none -o table trace.rtd && cat table", 100);
	EXPECT_EQ(NULL, strchr(self->out, '\033'));
	watch(self, "report --meta none trace.rtd", 0);
	EXPECT_EQ(NULL, strchr(self->out, '\033'));
	terminal = "dumb";
	watch(self, "report --meta none trace.rtd", 100);
	EXPECT_EQ(NULL, strchr(self->out, '\033'));
}

/* main takes 99 ticks, fib takes 1. In the second trace, records are lost during a call. */
TEST_F(command, colors_mark_large_shares_and_inexact_numbers)
{
	const uint64_t whole[] = { MAIN, 0x3f00000000 }, inner[] = { FIB, MAIN + 0x12 };
	struct gen_stream stream;

	gen_sync(&self->gen, 0);
	gen_stream_init(&stream, &self->gen, 0, 6, 0, 0, 64);
	gen_header(&stream);
	self->gen.step = 0;
	gen_record(&stream, 0, whole, NULL);
	self->gen.now += 99;
	gen_record(&stream, 0, inner, NULL);
	self->gen.now += 1;
	gen_record(&stream, 1, inner, NULL);
	gen_record(&stream, 1, whole, NULL);
	save(self, "trace.rtd");
	gen_record(&stream, 0, inner, NULL);
	/* Bytes that are not a message. */
	gen_store(&self->gen, 0, 6, 1, 0xff);
	gen_bytes(&self->gen, "\x02\x03", 2);
	gen_record(&stream, 1, inner, NULL);
	save(self, "lost.rtd");
	run(self, "report -q --color always -e " PROGRAM " trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "\033[31m  99.00\033[m  main\n")) TH_LOG("%s", self->out);
	EXPECT_NE(NULL, strstr(self->out, "\033[32m   1.00\033[m  fib\n"));
	run(self, "graph -q --color always -e " PROGRAM " trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "\033[1m"));
	EXPECT_EQ(NULL, strstr(self->out, "\033[3"));
	run(self, "report -q --color always -e " PROGRAM " lost.rtd");
	EXPECT_NE(NULL, strstr(self->out, "\033[33m         ~")) TH_LOG("%s", self->out);
	/* The text without the escape sequences is unchanged. */
	run(self, "report -q --color always -e " PROGRAM " trace.rtd | sed 's/\033[[][0-9]*m//g' >a;"
	    " " COMMAND " report -q -e " PROGRAM " trace.rtd | cmp a -");
	EXPECT_EQ(0, self->status);
	run(self, "report -q --csv --color always -e " PROGRAM " trace.rtd");
	EXPECT_EQ(NULL, strchr(self->out, '\033'));
	terminal = "xterm";
	watch(self, "report -q --color never --meta none trace.rtd", 100);
	EXPECT_EQ(NULL, strchr(self->out, '\033'));
	watch(self, "report -q --meta none trace.rtd", 100);
	EXPECT_NE(NULL, strstr(self->out, "\033[31m"));
}

TEST_F(command, pager_shows_text_on_a_terminal)
{
	static const char * const commands[] = {
		"report", "report --by thread", "report --diff trace.rtd",
		"report --by hart", "graph", "graph --diff trace.rtd", "replay", "decode",
		"annotate",
	};
	char arguments[256];
	unsigned int i;

	calls(&self->gen, 1, 10000);
	save(self, "trace.rtd");
	terminal = "xterm";
	pager = "sed 's/^/| /'";
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		snprintf(arguments, sizeof(arguments), "%s --meta none -e " PROGRAM " trace.rtd",
			 commands[i]);
		watch(self, arguments, 100);
		EXPECT_EQ(0, self->status);
		EXPECT_NE(NULL, strstr(self->out, "\n| ")) TH_LOG("%s", arguments);
		/* The styles are those of the terminal. */
		if (strstr(commands[i], "report"))
			EXPECT_NE(NULL, strstr(self->out, "\033[1m"));
		strcat(arguments, " --no-pager");
		watch(self, arguments, 100);
		EXPECT_EQ(NULL, strstr(self->out, "\n| ")) TH_LOG("%s", arguments);
	}
	watch(self, "report --meta none trace.rtd -o table && cat table", 100);
	EXPECT_EQ(NULL, strstr(self->out, "\n| "));
	watch(self, "report --meta none trace.rtd", 0);
	EXPECT_EQ(NULL, strstr(self->out, "\n| "));
	terminal = "dumb";
	watch(self, "report --meta none trace.rtd", 100);
	EXPECT_EQ(NULL, strstr(self->out, "\n| "));
}

/*
 * The command ends after its pager, even if a signal ends the command, and returns its own exit
 * status.
 */
TEST_F(command, command_waits_for_the_pager)
{
	calls(&self->gen, 1, 10000);
	save(self, "trace.rtd");
	terminal = "xterm";
	pager = "cat; sleep 0.1; echo the end of $LESS";
	watch(self, "report --meta none trace.rtd", 100);
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "the end of FRX"));
	write_file("cut.rtd", self->gen.data, self->gen.length - 1);
	watch(self, "decode --strict --meta none cut.rtd", 100);
	EXPECT_EQ(1, self->status);
	EXPECT_NE(NULL, strstr(self->out, "the end of FRX"));
	/*
	 * The output does not fit into a pipe, so the signal arrives before the command has written
	 * all of it.
	 */
	pager = "trap '' INT; kill -INT $PPID; cat >/dev/null; sleep 0.1; echo the end";
	watch(self, "decode --meta none trace.rtd", 100);
	EXPECT_EQ(-1, self->status);
	EXPECT_NE(NULL, strstr(self->out, "the end"));
	/* A user who leaves the pager early does not cause an error message. */
	pager = "head -n 1";
	watch(self, "decode --meta none trace.rtd", 100);
	EXPECT_EQ(NULL, strstr(self->out, "cannot write")) TH_LOG("%s", self->out);
	/* The shell reports a pager that it cannot run. */
	pager = "./no-pager";
	watch(self, "report --meta none trace.rtd", 100);
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->out, "no-pager: not found")) TH_LOG("%s", self->out);
	/* Without less(1), there is no pager. */
	pager = "cat";
	watch(self, "report --meta none trace.rtd && env -u PAGER PATH=/nonexistent " COMMAND
	      " graph --meta none trace.rtd", 100);
	EXPECT_EQ(0, self->status);
	EXPECT_EQ(NULL, strstr(self->out, "the end"));
}

TEST_HARNESS_MAIN
