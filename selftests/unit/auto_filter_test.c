// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests record --auto-filter: the dry run, its filter, and the cleanup when the dry run fails or
 * is interrupted. Instead of running a program, record_once() writes a trace with known costs.
 */
#define COMMAND ""
#include "command_fixture.h"

#include <signal.h>
#include <sys/wait.h>

/* command_fixture.h defines another function with this name. */
#define start_command	the_start_command
#include "command.h"
#include "target/auto_filter.h"
#include "target/machine.h"
#include "target/snapshot.h"

#define OFTEN	2000

/* Append the message to a file, because the dry run is a separate process. */
static void note(const char *format, va_list arguments)
{
	FILE *file = fopen("messages", "a");

	if (!file)
		abort();
	vfprintf(file, format, arguments);
	fputc('\n', file);
	fclose(file);
}

void report(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	note(format, arguments);
	va_end(arguments);
}

int usage_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	note(format, arguments);
	va_end(arguments);
	return EXIT_USAGE;
}

void report_to(void (*receive)(void *context, const char *text), void *context)
{
}

bool machine_side_car(void)
{
	return true;
}

void perf_device_file(char *name, const char *path, uint32_t index, uint32_t sinks)
{
	snprintf(name, PATH_MAX, sinks < 2 ? "%s" : "%s.%u", path, index);
}

/* The behaviour of the recorded program. */
static enum { CALLS, FEW_CALLS, NO_CALLS, KILLED, ASKS, REQUESTS, NOT_RUN } does;
static int exits;

static struct recording r;

static void call(struct gen_stream *stream, uint64_t function, bool enter)
{
	const uint64_t address[] = { function, MAIN + 0x12 };

	gen_record(stream, !enter, address, NULL);
}

/* Generate a trace in which main() often calls fib(), except for FEW_CALLS and NO_CALLS. */
static void make(struct gen *gen)
{
	struct gen_stream stream;
	unsigned int i;

	gen_init(gen, 0, 40);
	gen->step = 1;
	gen_sync(gen, 0);
	gen_stream_init(&stream, gen, 0, 6, 1, 0, 64);
	gen_header(&stream);
	if (does == NO_CALLS)
		return;
	call(&stream, MAIN, true);
	for (i = 0; i < OFTEN && does != FEW_CALLS; i++) {
		call(&stream, FIB, true);
		gen->now += 10;
		call(&stream, FIB, false);
		gen->now += 100000;
	}
	gen->now += 100000;
	call(&stream, MAIN, false);
}

static int record_once(struct recording *recording)
{
	static const char meta[] = "{\"version\":1,\"srcbits\":0,\"ts_hz\":1000000,\"objects\":[{\"path\":\"" PROGRAM "\",\"start\":131072,\"end\":147456,\"bias\":0}]}";
	char path[PATH_MAX + 8];
	struct gen gen;

	report("records %d%d%d", recording->quiet, recording->snapshot,
	       recording->pieces.size > 0);
	recording->launched.ran = does != NOT_RUN;
	if (does == NOT_RUN)
		return EXIT_CANNOT_RUN;
	recording->mark.sinks = 1;
	make(&gen);
	write_file(recording->output, gen.data, gen.length);
	snprintf(path, sizeof(path), "%s.meta", recording->output);
	write_file(path, meta, sizeof(meta) - 1);
	gen_free(&gen);
	if (does == ASKS)
		kill(getppid(), SIGINT);
	/* A user can send the signal to either process, so send it to both. */
	if (does == REQUESTS) {
		kill(getppid(), SIGUSR2);
		kill(getpid(), SIGUSR2);
	}
	if (does != KILLED)
		return exits;
	recording->launched.signal = SIGSEGV;
	return EXIT_SIGNAL + SIGSEGV;
}

static size_t left_out;

/* Run auto_filter() with these settings; the trace's directory must be empty afterwards. */
static int try(FIXTURE_DATA(command) *self, char *filter)
{
	static char program[] = PROGRAM, name[] = "program";
	static char *argv[] = { name, NULL };
	int status;

	memset(&r, 0, sizeof(r));
	snprintf(r.output, sizeof(r.output), "%s/t/trace.rtd", self->dir);
	r.argv = argv;
	r.percent = 1;
	r.snapshot = true;
	r.pieces.size = 4096;
	r.program.object[0] = program;
	r.program.objects = 1;
	signal(SIGINT, SIG_DFL);
	strcpy(filter, "filter.XXXXXX");
	unlink("messages");
	if (mkdir("t", 0777))
		abort();
	status = auto_filter(&r, record_once, filter, &left_out);
	read_file("messages", self->err);
	/* Check that the dry run has left no files. */
	if (rmdir("t"))
		abort();
	if (*filter)
		read_file(filter, self->out);
	return status;
}

/* Return whether the filter files have been removed. */
static bool is_clean(const char *filter)
{
	return !*filter && !system("! ls filter.* 2>/dev/null | grep -q .");
}

TEST_F(command, frequent_functions_are_excluded_and_listed)
{
	char filter[16];

	does = CALLS;
	ASSERT_EQ(0, try(self, filter));
	ASSERT_NE('\0', *filter);
	EXPECT_EQ(1, left_out);
	EXPECT_EQ(NULL, strstr(self->out, "# fib\n"));
	EXPECT_NE(NULL, strstr(self->out, "# main\n"));
	EXPECT_NE(NULL, strstr(self->err, "program: dry run"));
	EXPECT_NE(NULL, strstr(self->err, "left out: fib: 99.95 % of the calls, "));
	EXPECT_NE(NULL, strstr(self->err, "dry run: functions left out: 1, "));
}

TEST_F(command, dry_run_leaves_recording_options_unchanged)
{
	char filter[16];

	does = CALLS;
	ASSERT_EQ(0, try(self, filter));
	EXPECT_NE(NULL, strstr(self->err, "records 100\n"));
	EXPECT_TRUE(!r.quiet && r.snapshot && r.pieces.size == 4096);
	EXPECT_EQ(NULL, strstr(r.output, "dry"));
}

TEST_F(command, program_with_exit_status_is_recorded)
{
	char filter[16];

	does = CALLS;
	exits = 3;
	EXPECT_EQ(0, try(self, filter));
	exits = 0;
	EXPECT_NE('\0', *filter);
}

TEST_F(command, without_frequent_functions_nothing_is_excluded)
{
	char filter[16];

	does = FEW_CALLS;
	ASSERT_EQ(0, try(self, filter));
	EXPECT_TRUE(is_clean(filter));
	EXPECT_NE(NULL, strstr(self->err, "functions left out: 0, "));
}

TEST_F(command, dry_run_without_calls_is_an_error)
{
	char filter[16];

	does = NO_CALLS;
	EXPECT_EQ(EXIT_RECORD, try(self, filter));
	EXPECT_TRUE(is_clean(filter));
	EXPECT_NE(NULL, strstr(self->err, "the dry run produced no filter: the program was not recorded"));
}

TEST_F(command, signal_that_kills_the_program_cancels_recording)
{
	char filter[16];

	does = KILLED;
	EXPECT_EQ(EXIT_SIGNAL + SIGSEGV, try(self, filter));
	EXPECT_TRUE(is_clean(filter));
	EXPECT_NE(NULL, strstr(self->err, "the dry run was ended by signal 11"));
}

TEST_F(command, handled_interrupt_cancels_recording)
{
	char filter[16];

	does = ASKS;
	EXPECT_EQ(EXIT_RECORD, try(self, filter));
	EXPECT_TRUE(is_clean(filter));
	EXPECT_NE(NULL, strstr(self->err, "interrupted in the dry run"));
}

/*
 * A snapshot request during the dry run does not end any process; the recording then begins with a
 * snapshot.
 */
TEST_F(command, snapshot_request_in_dry_run_is_kept_for_recording)
{
	char filter[16];
	sigset_t mask;

	does = REQUESTS;
	snapshot_take_signal();
	EXPECT_EQ(0, try(self, filter));
	EXPECT_NE('\0', *filter);
	EXPECT_EQ(NULL, strstr(self->err, "interrupted"));
	EXPECT_FALSE(snapshot_requested());
	ASSERT_EQ(0, sigprocmask(SIG_BLOCK, NULL, &mask));
	EXPECT_TRUE(sigismember(&mask, SIGUSR2));
	snapshot_allow(&mask);
	ASSERT_EQ(0, sigprocmask(SIG_SETMASK, &mask, NULL));
	EXPECT_TRUE(snapshot_requested());
}

TEST_F(command, program_that_cannot_run_cancels_recording)
{
	char filter[16];

	does = NOT_RUN;
	EXPECT_EQ(EXIT_CANNOT_RUN, try(self, filter));
	EXPECT_TRUE(is_clean(filter));
}

TEST_HARNESS_MAIN
