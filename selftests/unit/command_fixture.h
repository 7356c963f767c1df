/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Runs the command in the test's own directory, and saves its output. */
#ifndef SELFTESTS_UNIT_COMMAND_FIXTURE_H
#define SELFTESTS_UNIT_COMMAND_FIXTURE_H

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>

#include <kselftest_harness.h>

#include "directory.h"
#include "gen.h"

#define MAIN	0x20000ull
#define FIB	0x21000ull
#define LENGTHY	0x22000ull
#define SIZE	(1 << 16)
/* Timeout in seconds; only a command that waits in vain for input reaches it. */
#define HANGS	600

FIXTURE(command) {
	char dir[64];
	char out[SIZE];
	char err[SIZE];
	int status;
	struct gen gen;
};

FIXTURE_SETUP(command)
{
	strcpy(self->dir, "/tmp/command_test.XXXXXX");
	ASSERT_EQ(0, dir_enter(self->dir));
	/* Keep tests independent of the user's defaults. */
	ASSERT_EQ(0, setenv("XDG_CONFIG_HOME", self->dir, 1));
	gen_init(&self->gen, 0, 40);
}

FIXTURE_TEARDOWN(command)
{
	gen_free(&self->gen);
	ASSERT_EQ(0, dir_remove(self->dir));
}

static inline void read_file(const char *path, char *text)
{
	FILE *file = fopen(path, "r");
	size_t length = 0;

	if (file) {
		length = fread(text, 1, SIZE - 1, file);
		fclose(file);
	} else {
		strcpy(text, "(no such file)");
		return;
	}
	text[length] = '\0';
}

static inline void write_file(const char *path, const void *data, size_t length)
{
	FILE *file = fopen(path, "wb");

	if (!file || fwrite(data, 1, length, file) != length || fclose(file))
		abort();
}

/*
 * The leak check takes as long as the rest of a run. After a test's first eight runs, check only
 * every eighth run.
 */
static inline void look_for_leaks(void)
{
	static unsigned int runs;
	const bool look = runs < 8 || !(runs % 8);

	runs++;
	if (setenv("LSAN_OPTIONS", look ? "detect_leaks=1" : "detect_leaks=0", 1))
		abort();
}

/* Run the command with these arguments, in the test's directory. */
static inline void __attribute__((format(printf, 2, 3)))
run(FIXTURE_DATA(command) *self, const char *format, ...)
{
	char command[1024];
	int length, status;
	va_list arguments;

	length = snprintf(command, sizeof(command), "{ " COMMAND " ");
	va_start(arguments, format);
	length += vsnprintf(command + length, sizeof(command) - length, format,
			    arguments);
	va_end(arguments);
	snprintf(command + length, sizeof(command) - length,
		 "\n} >out.txt 2>err.txt");
	look_for_leaks();
	status = system(command);
	self->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	read_file("out.txt", self->out);
	read_file("err.txt", self->err);
}

/* Start the command with a pipe to its input and, unless @from is NULL, a pipe from its output. */
static inline pid_t start_command(const char *arguments, int *to, int *from)
{
	char command[512];
	int in[2], out[2];
	pid_t child;

	if (pipe2(in, O_CLOEXEC) || (from && pipe2(out, O_CLOEXEC)))
		abort();
	child = fork();
	if (!child) {
		alarm(HANGS);
		dup2(in[0], 0);
		if (from)
			dup2(out[1], 1);
		snprintf(command, sizeof(command), "exec " COMMAND " %s", arguments);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	close(in[0]);
	*to = in[1];
	if (from) {
		close(out[1]);
		*from = out[0];
	}
	return child;
}

static inline void save(FIXTURE_DATA(command) *self, const char *path)
{
	write_file(path, self->gen.data, self->gen.length);
}

/* Write a call to main, a call to fib that returns, a manual record and a sample. */
static inline void sample_trace(struct gen *gen, unsigned int src,
				unsigned int count_type)
{
	const uint64_t enter_main[] = { MAIN, 0x3f00000000 };
	const uint64_t fib[] = { FIB, MAIN + 0x12 };
	struct gen_stream stream;
	uint64_t value[2] = { 1000, 2000 };
	unsigned int i;

	gen_sync(gen, src);
	gen_stream_init(&stream, gen, (uint8_t)src, 6, (uint8_t)count_type, 2, 64);
	stream.counter[1].number = 3;
	stream.counter[1].type = 2;
	stream.counter[1].event_data = 0x20001;
	stream.counter[1].csr = 0xc03;
	for (i = 0; i < 2; i++)
		stream.counter[i].previous = value[i];
	gen_header(&stream);
	gen_record(&stream, 0, enter_main, value);
	value[0] += 50;
	value[1] += 1ull << 33;
	gen_record(&stream, 0, fib, value);
	value[0] += 7;
	gen_record(&stream, 1, fib, value);
	value[1] += 3;
	gen_record(&stream, 2, &fib[1], value);
	gen_record(&stream, 3, fib, value);
}

#endif /* SELFTESTS_UNIT_COMMAND_FIXTURE_H */
