// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests that the memory use of commands does not grow with endless input. */
#include <sys/resource.h>
#include <sys/wait.h>

#include "command_fixture.h"

#define PART	(1u << 20)
/*
 * Allowance in KiB for the sanitizers, the C library, and pages that are first used after the first
 * chunk.
 */
#define SLACK_KB	(4 << 10)

/* Write nested calls, five levels deep, with a counter, until a chunk is full. */
static void fill(struct gen *gen)
{
	struct gen_stream stream;
	uint64_t value = 0;
	uint64_t i;

	gen_sync(gen, 0);
	gen_stream_init(&stream, gen, 0, 6, 1, 1, 64);
	gen_header(&stream);
	while (gen->length < PART) {
		for (i = 0; i < 10; i++) {
			uint64_t address[] = {
				MAIN + 0x1000 * (i < 5 ? i : 9 - i), MAIN + 0x10,
			};

			value += 7;
			gen_record(&stream, i >= 5, address, &value);
		}
		gen->truths = 0;
	}
}

/* Feed the command this many chunks. Return its peak memory in KiB, or -1. */
static long feed(const struct gen *gen, const char *arguments, unsigned int parts)
{
	char command[256];
	struct rusage usage;
	unsigned int i;
	int to, status;
	pid_t child;

	snprintf(command, sizeof(command), "%s >/dev/null", arguments);
	child = start_command(command, &to, NULL);
	for (i = 0; i < parts; i++) {
		size_t done = 0;

		while (done < gen->length) {
			ssize_t count = write(to, gen->data + done, gen->length - done);

			if (count <= 0)
				break;
			done += (size_t)count;
		}
	}
	close(to);
	if (wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) ||
	    WEXITSTATUS(status))
		return -1;
	return usage.ru_maxrss;
}

TEST_F(command, memory_use_is_bounded_for_endless_traces)
{
	static const char * const arguments[] = {
		"report -q -", "report -q --json -", "decode -q -", "decode -q --format csv -",
		"decode -q --format json -", "graph -q -", "replay -q -",
		"export -q --format chrome -", "export -q --format perfetto -", "export -q --format svg -",
		"export -q --format folded -", "decode -q --format perf -o perf -",
		"export -q --format html -", "export -q --format ctf -o $(mktemp -u XXXX) -",
		"export -q --format speedscope -", "export -q --format firefox -", "export -q --format pprof -",
		"export -q --format csv -",
		"export -q --format dqr -o $(mktemp -u XXXX) -",
		"annotate -q -", "report -q --diff part.rtd -", "report -q --by thread -",
	};
	unsigned int i;

	fill(&self->gen);
	save(self, "part.rtd");
	for (i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
		long few = feed(&self->gen, arguments[i], 1);
		long many = feed(&self->gen, arguments[i], 6);

		EXPECT_LT(0, few);
		EXPECT_LT(0, many);
		EXPECT_GT(few + SLACK_KB, many) {
			TH_LOG("%s: %ld KiB for one chunk, %ld KiB for six", arguments[i], few, many);
		}
	}
}

TEST_HARNESS_MAIN
