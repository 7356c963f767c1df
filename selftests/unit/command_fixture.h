/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Runs the command in a folder of the test's own, and keeps what it said. */
#ifndef SELFTESTS_UNIT_COMMAND_FIXTURE_H
#define SELFTESTS_UNIT_COMMAND_FIXTURE_H

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>

#include <kselftest_harness.h>

#include "gen.h"

#define MAIN	0x20000ull
#define FIB	0x21000ull
#define SIZE	(1 << 16)

FIXTURE(command) {
	char folder[64];
	char out[SIZE];
	char err[SIZE];
	int status;
	struct gen gen;
};

FIXTURE_SETUP(command)
{
	strcpy(self->folder, "/tmp/command_test.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->folder));
	ASSERT_EQ(0, chdir(self->folder));
	gen_init(&self->gen, 0, 40);
}

FIXTURE_TEARDOWN(command)
{
	char command[128];

	gen_free(&self->gen);
	ASSERT_EQ(0, chdir("/"));
	snprintf(command, sizeof(command), "rm -rf %s", self->folder);
	ASSERT_EQ(0, system(command));
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

/* Run the command with these arguments, in the test's folder. */
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
	status = system(command);
	self->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	read_file("out.txt", self->out);
	read_file("err.txt", self->err);
}

static inline void save(FIXTURE_DATA(command) *self, const char *path)
{
	write_file(path, self->gen.data, self->gen.length);
}

#endif /* SELFTESTS_UNIT_COMMAND_FIXTURE_H */
