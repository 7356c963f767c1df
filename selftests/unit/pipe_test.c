// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that a trace from a pipe is processed as it arrives: lines appear before the pipe is
 * closed.
 */
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "command_fixture.h"

/* The running command, with a pipe to its input and a pipe from its output. */
struct reader {
	pid_t	child;
	int	to;
	int	from;
};

static void begin(struct reader *reader, const char *arguments)
{
	char command[256];

	signal(SIGPIPE, SIG_IGN);
	snprintf(command, sizeof(command), "%s - 2>/dev/null", arguments);
	reader->child = start_command(command, &reader->to, &reader->from);
}

/* Write the trace generated since @done. */
static void feed(struct reader *reader, const struct gen *gen, size_t done)
{
	size_t length = gen->length - done;

	if (write(reader->to, gen->data + done, length) != (ssize_t)length)
		abort();
}

/* Read until a line contains @wanted. Return false if the input ends first. */
static bool comes(struct reader *reader, char *text, const char *wanted)
{
	size_t length = 0;
	ssize_t count;

	*text = '\0';
	while (!strstr(text, wanted) && length < SIZE - 1) {
		count = read(reader->from, text + length, SIZE - 1 - length);
		if (count <= 0)
			return false;
		length += (size_t)count;
		text[length] = '\0';
	}
	return strstr(text, wanted);
}

static int end(struct reader *reader)
{
	char rest[256];
	int status;

	close(reader->to);
	while (read(reader->from, rest, sizeof(rest)) > 0)
		;
	close(reader->from);
	if (waitpid(reader->child, &status, 0) != reader->child ||
	    !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static void record(struct gen_stream *stream, unsigned int type, uint64_t function)
{
	uint64_t value = stream->counter[0].previous + 7;
	uint64_t address[2] = { function, MAIN };

	gen_record(stream, type, address, &value);
}

TEST_F_TIMEOUT(command, lines_are_printed_while_the_pipe_is_open, 2 * HANGS)
{
	static const char * const arguments[] = {
		"decode", "decode --format csv", "decode --format json", "replay", "top",
	};
	unsigned int i, k;
	size_t done;

	for (i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
		struct gen_stream stream;
		struct reader reader;

		gen_free(&self->gen);
		gen_init(&self->gen, 6, 40);
		gen_sync(&self->gen, 3);
		gen_stream_init(&stream, &self->gen, 3, 6, 1, 1, 64);
		gen_header(&stream);
		for (k = 0; k < 8; k++)
			record(&stream, k & 1, 0x22000);
		begin(&reader, arguments[i]);
		feed(&reader, &self->gen, 0);
		EXPECT_TRUE(comes(&reader, self->out, "0x22000"));
		done = self->gen.length;
		for (k = 0; k < 8; k++)
			record(&stream, k & 1, 0x44000);
		feed(&reader, &self->gen, done);
		EXPECT_TRUE(comes(&reader, self->out, "0x44000")) {
			TH_LOG("%s: %s", arguments[i], self->out);
		}
		EXPECT_EQ(0, end(&reader));
	}
}

/* A trace that arrives byte by byte, with pauses, gives the same result as a file. */
TEST_F_TIMEOUT(command, pausing_pipe_returns_the_same_result_as_a_file, 2 * HANGS)
{
	static char text[SIZE];
	struct reader reader;
	size_t length = 0;
	ssize_t count;
	size_t i;

	gen_free(&self->gen);
	gen_init(&self->gen, 6, 40);
	self->gen.ts_delta = true;
	sample_trace(&self->gen, 5, 2);
	sample_trace(&self->gen, 5, 2);
	save(self, "trace.rtd");
	begin(&reader, "decode --format csv");
	for (i = 0; i < self->gen.length; i++) {
		if (write(reader.to, self->gen.data + i, 1) != 1)
			abort();
		/* The rest must not arrive in the same read(). */
		if (i % 50 == 49)
			poll(NULL, 0, 40);
	}
	close(reader.to);
	while ((count = read(reader.from, text + length, SIZE - 1 - length)) > 0)
		length += (size_t)count;
	text[length] = '\0';
	reader.to = -1;
	EXPECT_EQ(0, end(&reader));
	run(self, "decode --format csv trace.rtd");
	EXPECT_STREQ(self->out, text);
}

TEST_HARNESS_MAIN
