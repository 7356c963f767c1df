// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests top and decode -f with a trace that is being written: a simulated recorder appends to the
 * trace, replaces the side-car file, and ends in different ways.
 */
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "command_fixture.h"

#define FIRST	0x22000
#define SECOND	0x44000

/* The running command, and the recorder's process, which holds the lock. */
struct scene {
	pid_t			command;
	pid_t			recorder;
	int			to, from;
	struct gen_stream	stream;
	size_t			written;
	size_t			length;		/* of the command's output so far */
};

static void own_boot(char boot[64])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");

	if (!file || fscanf(file, "%63s", boot) != 1)
		abort();
	fclose(file);
}

/* Write the lock file; set @locks to keep it locked in a process until record_end(). */
static void write_lock(struct scene *scene, const char *boot, int beat, bool locks)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int ready[2], fd;
	char byte;

	if (pipe2(ready, O_CLOEXEC))
		abort();
	scene->recorder = fork();
	if (!scene->recorder) {
		alarm(HANGS);
		fd = open("trace.rtd.recording", O_WRONLY | O_CREAT | O_TRUNC, 0600);
		if (fd < 0 || (locks && fcntl(fd, F_SETLK, &lock)))
			_exit(1);
		dprintf(fd, "boot %s\nbeat %d\n", boot, beat);
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		abort();
	close(ready[0]);
}

static void lock(struct scene *scene)
{
	char boot[64];

	own_boot(boot);
	write_lock(scene, boot, 1000, true);
}

static void kill_recorder(struct scene *scene)
{
	kill(scene->recorder, SIGKILL);
	waitpid(scene->recorder, NULL, 0);
}

static void end_recorder(struct scene *scene)
{
	unlink("trace.rtd.recording");
	kill_recorder(scene);
}

/* Replace the side-car file. @with: further keys, each followed by a comma. */
static void write_meta(const char *with)
{
	FILE *file = fopen("trace.rtd.meta.new", "w");

	if (!file || fprintf(file, "{\"version\":1,\"srcbits\":6,\"ts_width\":40,\"ts_scheme\":\"xor\",%s\"per_thread\":true}\n",
			     with) < 0 || fclose(file) ||
	    rename("trace.rtd.meta.new", "trace.rtd.meta"))
		abort();
}

#define OBJECT(name, in)	"{\"path\":\"/none/" name "\",\"start\":\"0x22000\",\"end\":\"0x5f000\",\"bias\":\"0x22000\",\"in\":[" in "]}"
/* The trace has times after the second sample, because the clock was read before its end. */
#define RUNNING			"\"coverage\":{\"running\":true},\"ts_hz\":1000,"		\
	"\"clock_samples\":[{\"time\":990,\"ns\":1000000},{\"time\":991,\"ns\":2000000}],"
#define PROCESSES		"\"threads\":[{\"channel\":6,\"pid\":5,\"tid\":5}],\"processes\":[{\"pid\":5},{\"pid\":6}],"
/* Another process has another object at the same addresses. */
#define OBJECTS(name)		PROCESSES "\"objects\":[" OBJECT(name, "0") "," OBJECT("other.so", "1") "],"
#define LIBFIRST		RUNNING OBJECTS("libfirst.so")
#define LIBLAST			"\"coverage\":{}," OBJECTS("liblast.so")

/* Append what has been generated since the last call. */
static void append(struct scene *scene, const struct gen *gen)
{
	const size_t length = gen->length - scene->written;
	int fd = open("trace.rtd", O_WRONLY | O_CREAT | O_APPEND, 0600);

	if (fd < 0 || write(fd, gen->data + scene->written, length) != (ssize_t)length)
		abort();
	close(fd);
	scene->written = gen->length;
}

static void generate(struct scene *scene, uint64_t function)
{
	unsigned int k;

	for (k = 0; k < 8; k++) {
		uint64_t value = scene->stream.counter[0].previous + 7;
		uint64_t address[2] = { function, MAIN };

		gen_record(&scene->stream, k & 1, address, &value);
	}
}

/* Generate a trace with calls to FIRST, and write it. */
static void begin_trace(FIXTURE_DATA(command) *self, struct scene *scene)
{
	gen_free(&self->gen);
	gen_init(&self->gen, 6, 40);
	gen_sync(&self->gen, 3);
	gen_stream_init(&scene->stream, &self->gen, 3, 6, 1, 1, 64);
	gen_header(&scene->stream);
	generate(scene, FIRST);
	append(scene, &self->gen);
}

static void begin(struct scene *scene, const char *arguments)
{
	char command[256];

	snprintf(command, sizeof(command), "%s trace.rtd 2>err.txt", arguments);
	scene->command = start_command(command, &scene->to, &scene->from);
	scene->length = 0;
}

/* Read output until it contains @wanted; return false if it ends first. */
static bool comes(FIXTURE_DATA(command) *self, struct scene *scene, const char *wanted)
{
	const size_t before = scene->length;
	ssize_t count;

	self->out[scene->length] = '\0';
	while (!wanted || !strstr(self->out + before, wanted)) {
		count = read(scene->from, self->out + scene->length, SIZE - 1 - scene->length);
		if (count <= 0)
			return !wanted && !count;
		scene->length += (size_t)count;
		self->out[scene->length] = '\0';
	}
	return true;
}

/* Read the rest of the output, and return the exit status. */
static int finish(FIXTURE_DATA(command) *self, struct scene *scene)
{
	bool ended = comes(self, scene, NULL);
	int status;

	close(scene->to);
	close(scene->from);
	if (waitpid(scene->command, &status, 0) != scene->command || !ended || !WIFEXITED(status))
		return -1;
	read_file("err.txt", self->err);
	return WEXITSTATUS(status);
}

#define EXPECT_SAYS(text)						\
	EXPECT_NE(NULL, strstr(self->err, text)) {			\
		TH_LOG("%s", self->err);				\
	}

static const char * const both[] = { "top", "decode -f" };

TEST_F_TIMEOUT(command, growing_trace_is_shown_until_the_recording_ends, 2 * HANGS)
{
	struct scene scene;
	static char wanted[SIZE];
	size_t i;

	for (i = 0; i < 2; i++) {
		scene = (struct scene){ 0 };
		unlink("trace.rtd");
		lock(&scene);
		write_meta(LIBFIRST);
		begin_trace(self, &scene);
		begin(&scene, both[i]);
		EXPECT_TRUE(comes(self, &scene, "libfirst.so+0x0"));
		generate(&scene, SECOND);
		append(&scene, &self->gen);
		EXPECT_TRUE(comes(self, &scene, "libfirst.so+0x22000"));
		end_recorder(&scene);
		EXPECT_EQ(0, finish(self, &scene));
		EXPECT_EQ(NULL, strstr(self->err, "no longer runs"));
		strcpy(wanted, self->out);
		run(self, i ? "decode trace.rtd" : "report --top 20 trace.rtd");
		EXPECT_NE(NULL, strstr(wanted, self->out)) {
			TH_LOG("%s: %s instead of %s", both[i], wanted, self->out);
		}
		EXPECT_EQ(i, strlen(wanted) == strlen(self->out));
	}
}

/* Wait until the command has printed an error. */
static void says(FIXTURE_DATA(command) *self, const char *text)
{
	do {
		poll(NULL, 0, 10);
		read_file("err.txt", self->err);
	} while (!strstr(self->err, text));
}

/* The recorder creates the trace after the lock, and the side-car file once it knows a program. */
TEST_F_TIMEOUT(command, command_waits_for_the_recorder_to_create_the_files, 2 * HANGS)
{
	struct scene scene;
	size_t i;

	for (i = 0; i < 2; i++) {
		scene = (struct scene){ 0 };
		unlink("trace.rtd");
		unlink("trace.rtd.meta");
		lock(&scene);
		begin(&scene, both[i]);
		says(self, "waiting for trace.rtd, which");
		begin_trace(self, &scene);
		says(self, "waiting for trace.rtd.meta, which");
		write_meta(LIBFIRST);
		EXPECT_TRUE(comes(self, &scene, "libfirst.so+0x0"));
		EXPECT_EQ(NULL, strstr(self->out, "0x22000"));
		end_recorder(&scene);
		EXPECT_EQ(0, finish(self, &scene));
	}
}

/* top also shows new names of earlier calls, and its last table is that of report. */
TEST_F_TIMEOUT(command, growing_trace_gets_names_from_a_new_side_car_file, 2 * HANGS)
{
	struct scene scene;
	size_t i;

	for (i = 0; i < 2; i++) {
		scene = (struct scene){ 0 };
		unlink("trace.rtd");
		lock(&scene);
		write_meta(RUNNING);
		begin_trace(self, &scene);
		begin(&scene, both[i]);
		EXPECT_TRUE(comes(self, &scene, "0x22000"));
		write_meta(LIBFIRST);
		/* top reads the trace again after a second, if data has arrived. */
		while (!strstr(self->out, i ? "libfirst.so+0x22000" : "libfirst.so+0x0")) {
			generate(&scene, SECOND);
			append(&scene, &self->gen);
			ASSERT_TRUE(comes(self, &scene, "\n"));
		}
		write_meta(LIBLAST);
		end_recorder(&scene);
		EXPECT_EQ(0, finish(self, &scene));
		EXPECT_EQ(!i, strstr(self->out, "liblast.so+0x0") != NULL);
		/* A message about a file is printed once, although it is looked for several times. */
		EXPECT_EQ(NULL, strstr(strstr(self->err, "libfirst.so: not found") + 1,
				       "libfirst.so: not found"));
		EXPECT_EQ(NULL, strstr(self->err, "still running"));
	}
}

/* The recorder writes the last side-car file a moment before it removes its lock file. */
TEST_F_TIMEOUT(command, losses_in_the_last_side_car_file_are_reported, 2 * HANGS)
{
	static const char * const lost[] = { "", "\"lost\":{\"dropped\":77}," };
	struct scene scene;
	char last[512];
	size_t i;

	for (i = 0; i < 2; i++) {
		scene = (struct scene){ 0 };
		unlink("trace.rtd");
		lock(&scene);
		write_meta(RUNNING);
		begin_trace(self, &scene);
		begin(&scene, "decode -f --strict");
		EXPECT_TRUE(comes(self, &scene, "0x22000"));
		snprintf(last, sizeof(last), "%s%s", lost[i], LIBLAST);
		write_meta(last);
		/* The command reads new names before it shows the next records. */
		while (!strstr(self->out, "liblast.so+0x22000")) {
			generate(&scene, SECOND);
			append(&scene, &self->gen);
			ASSERT_TRUE(comes(self, &scene, "\n"));
		}
		end_recorder(&scene);
		EXPECT_EQ(i, finish(self, &scene));
		EXPECT_EQ(i, strstr(self->err, "77 ") != NULL);
		EXPECT_EQ(NULL, strstr(self->err, "lacks the end")) {
			TH_LOG("%s", self->err);
		}
		EXPECT_EQ(NULL, strstr(self->out, "lacks the end")) {
			TH_LOG("%s", self->out);
		}
	}
}

/* A lock file that an earlier recorder left, or another kind of file with its name */
TEST_F_TIMEOUT(command, lock_file_of_another_recording_is_ignored, 2 * HANGS)
{
	struct scene scene = { 0 };
	size_t i;

	begin_trace(self, &scene);
	write_meta(LIBLAST);
	lock(&scene);
	kill_recorder(&scene);
	for (i = 0; i < 6; i++) {
		if (i == 2)
			EXPECT_EQ(0, unlink("trace.rtd.recording") || mkdir("trace.rtd.recording", 0700));
		if (i == 4)
			EXPECT_EQ(0, rmdir("trace.rtd.recording") ||
				     symlink("/dev/zero", "trace.rtd.recording"));
		begin(&scene, both[i % 2]);
		EXPECT_EQ(0, finish(self, &scene));
		EXPECT_NE(NULL, strstr(self->out, "liblast.so+0x0"));
		EXPECT_EQ(NULL, strstr(self->err, "no longer runs")) {
			TH_LOG("%s", self->err);
		}
	}
	unlink("trace.rtd.recording");
}

TEST_F_TIMEOUT(command, killed_recorder_ends_the_trace, 2 * HANGS)
{
	struct scene scene;
	size_t i;

	for (i = 0; i < 2; i++) {
		scene = (struct scene){ 0 };
		unlink("trace.rtd");
		lock(&scene);
		write_meta(LIBFIRST);
		begin_trace(self, &scene);
		begin(&scene, both[i]);
		EXPECT_TRUE(comes(self, &scene, "libfirst.so+0x0"));
		kill_recorder(&scene);
		EXPECT_EQ(0, finish(self, &scene));
		EXPECT_SAYS("trace.rtd: the recorder no longer runs, or this is a copy of its files: the end of the recording is missing");
		EXPECT_SAYS("lacks the end: the recording was still running, or was killed");
		EXPECT_EQ(NULL, strstr(self->err, "missing in"));
	}
	/* The file that it left behind does not make other commands wait. */
	begin(&scene, "top");
	EXPECT_EQ(0, finish(self, &scene));
	EXPECT_SAYS("the recorder no longer runs");
	run(self, "report --strict trace.rtd");
	EXPECT_EQ(1, self->status);
	EXPECT_SAYS("lacks the end");
}

/* Another machine's lock is not seen, so the file must be touched. */
TEST_F_TIMEOUT(command, silent_recorder_of_another_machine_ends_the_trace, 2 * HANGS)
{
	struct scene scene = { 0 };

	write_lock(&scene, "another", 1, false);
	write_meta(LIBFIRST);
	begin_trace(self, &scene);
	begin(&scene, "decode -f");
	EXPECT_TRUE(comes(self, &scene, "libfirst.so+0x0"));
	EXPECT_EQ(0, finish(self, &scene));
	EXPECT_SAYS("the recorder no longer runs");
	kill_recorder(&scene);
}

TEST_F_TIMEOUT(command, recorder_of_another_machine_is_followed, 2 * HANGS)
{
	struct scene scene = { 0 };

	write_lock(&scene, "another", 1000 * HANGS, false);
	write_meta(LIBFIRST);
	begin_trace(self, &scene);
	begin(&scene, "decode -f");
	EXPECT_TRUE(comes(self, &scene, "libfirst.so+0x0"));
	generate(&scene, SECOND);
	append(&scene, &self->gen);
	EXPECT_TRUE(comes(self, &scene, "libfirst.so+0x22000"));
	end_recorder(&scene);
	EXPECT_EQ(0, finish(self, &scene));
	EXPECT_EQ(NULL, strstr(self->err, "recorder"));
}

static int truncate_trace(void)
{
	return truncate("trace.rtd", 10);
}

static int replace_trace(void)
{
	return rename("trace.rtd.meta", "trace.rtd");
}

static int remove_trace(void)
{
	return unlink("trace.rtd");
}

TEST_F_TIMEOUT(command, truncated_or_replaced_trace_is_not_followed, 3 * HANGS)
{
	static int (* const harm[])(void) = { truncate_trace, replace_trace, remove_trace };
	struct scene scene;
	size_t i, k;

	for (k = 0; k < 3; k++) {
		for (i = 0; i < 2; i++) {
			scene = (struct scene){ 0 };
			unlink("trace.rtd");
			lock(&scene);
			write_meta(LIBFIRST);
			begin_trace(self, &scene);
			begin(&scene, both[i]);
			EXPECT_TRUE(comes(self, &scene, "libfirst.so+0x0"));
			EXPECT_EQ(0, harm[k]());
			EXPECT_EQ(3, finish(self, &scene));
			EXPECT_SAYS(k ? "trace.rtd: replaced or removed" : "trace.rtd: truncated");
			end_recorder(&scene);
		}
	}
}

TEST_F_TIMEOUT(command, interrupt_ends_the_output_not_the_recording, 2 * HANGS)
{
	struct scene scene;
	size_t i;

	/* A shell's background jobs ignore the signal. */
	signal(SIGINT, SIG_DFL);
	for (i = 0; i < 2; i++) {
		scene = (struct scene){ 0 };
		unlink("trace.rtd");
		lock(&scene);
		write_meta(LIBFIRST);
		begin_trace(self, &scene);
		begin(&scene, both[i]);
		EXPECT_TRUE(comes(self, &scene, "libfirst.so+0x0"));
		kill(scene.command, SIGINT);
		EXPECT_EQ(0, finish(self, &scene));
		EXPECT_SAYS("trace.rtd: interrupted: the recording continues");
		EXPECT_SAYS("8 records");
		end_recorder(&scene);
	}
}

/* Start top on a terminal with this many lines, which becomes its standard output. */
static void begin_on_terminal(struct scene *scene, unsigned short lines)
{
	struct winsize size = { .ws_row = lines, .ws_col = 100 };

	scene->to = open("/dev/null", O_WRONLY | O_CLOEXEC);
	scene->command = forkpty(&scene->from, NULL, NULL, &size);
	if (scene->command)
		return;
	alarm(HANGS);
	execl("/bin/sh", "sh", "-c", "exec " COMMAND " top trace.rtd 2>err.txt", NULL);
	_exit(127);
}

/* Six lines are left for headings. */
TEST_F_TIMEOUT(command, table_fits_a_terminal_that_is_resized, 2 * HANGS)
{
	struct scene scene = { 0 };
	struct winsize size = { .ws_row = 7, .ws_col = 100 };

	lock(&scene);
	write_meta(LIBFIRST);
	begin_trace(self, &scene);
	generate(&scene, SECOND);
	append(&scene, &self->gen);
	begin_on_terminal(&scene, 24);
	EXPECT_TRUE(comes(self, &scene, "libfirst.so+0x22000"));
	EXPECT_NE(NULL, strstr(self->out, "libfirst.so+0x0"));
	ASSERT_EQ(0, ioctl(scene.from, TIOCSWINSZ, &size));
	generate(&scene, SECOND);
	append(&scene, &self->gen);
	EXPECT_TRUE(comes(self, &scene, "1 more"));
	end_recorder(&scene);
	kill(scene.command, SIGKILL);
	waitpid(scene.command, NULL, 0);
}

TEST_F_TIMEOUT(command, complete_trace_is_printed_once, HANGS)
{
	struct scene scene = { 0 };
	static char wanted[SIZE];

	write_meta("\"coverage\":{},");
	begin_trace(self, &scene);
	run(self, "decode trace.rtd");
	strcpy(wanted, self->out);
	run(self, "decode -f trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ(wanted, self->out);
	run(self, "decode --follow --meta trace.rtd.meta - <trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_STREQ(wanted, self->out);
	run(self, "top --top 20 trace.rtd");
	strcpy(wanted, self->out);
	run(self, "report --top 20 trace.rtd");
	EXPECT_STREQ(wanted, self->out);
}

TEST_F_TIMEOUT(command, what_cannot_be_followed_is_refused, HANGS)
{
	struct scene scene = { 0 };

	write_meta(LIBFIRST);
	begin_trace(self, &scene);
	run(self, "decode -f --format instructions trace.rtd");
	EXPECT_EQ(2, self->status);
	EXPECT_SAYS("-f does not apply to --format instructions");
	run(self, "decode -f --format perf -o dir trace.rtd");
	EXPECT_EQ(2, self->status);
	run(self, "decode -f trace.rtd trace.rtd");
	EXPECT_EQ(2, self->status);
	EXPECT_SAYS("-f follows one trace at a time");
	lock(&scene);
	run(self, "decode -f --time 10%%..20%% trace.rtd");
	EXPECT_EQ(2, self->status);
	EXPECT_SAYS("the recording is still running");
	end_recorder(&scene);
	run(self, "top pieces.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_SAYS("pieces.rtd: no such file: nothing is being recorded to it, or the recording is in pieces (--rotate), which cannot be followed: name a piece, for example pieces.rtd.1");
	run(self, "top");
	EXPECT_EQ(2, self->status);
	EXPECT_SAYS("top: no trace");
}

TEST_HARNESS_MAIN
