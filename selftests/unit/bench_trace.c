// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Writes a trace of the given size in KB to standard output: calls by two threads, each of which
 * remains on one hart. If a side-car file is named, the program also writes that file. The trace
 * then contains calls of four threads that migrate between four harts, with messages merged as by a
 * funnel.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gen_program.h"

#define PART	(1u << 20)
#define MOVING	4
/* Threads migrate once in this many records, which take at least a millisecond. */
#define STAYS	1000

static int describe(const char *path)
{
	FILE *file = fopen(path, "w");
	unsigned int i;

	if (!file)
		return -1;
	fprintf(file, "{\"version\":1,\"srcbits\":2,\"ts_width\":40,\"threads\":[");
	for (i = 0; i < MOVING; i++)
		fprintf(file, "%s{\"channel\":%u,\"pid\":1,\"tid\":%u,\"name\":\"worker\"}",
			i ? "," : "", 6 + i, 1 + i);
	fprintf(file, "]}\n");
	return fclose(file);
}

int main(int argc, char **argv)
{
	static struct program program;
	uint64_t wanted = argc > 1 ? strtoull(argv[1], NULL, 0) << 10 : 0;
	uint64_t part = wanted < PART ? wanted : PART;
	uint64_t written = 0;
	unsigned int i;

	program_init(&program, 1);
	program.functions = PROGRAM_FUNCTIONS;
	program.sources = 2;
	program.threads = 2;
	if (argc > 2) {
		program.sources = MOVING;
		program.threads = MOVING;
		program.moves = STAYS;
		if (describe(argv[2])) {
			perror(argv[2]);
			return 1;
		}
	}
	for (i = 0; i < program.threads; i++)
		program.thread[i].src = i;
	for (i = 0; i < program.sources; i++)
		gen_sync(&program.gen, i);
	while (written < wanted) {
		while (program.gen.length < part)
			program_step(&program);
		if (argc > 2)
			program_shuffle(&program);
		if (fwrite(program.gen.data, program.gen.length, 1, stdout) != 1) {
			perror("bench_trace");
			return 1;
		}
		written += program.gen.length;
		program.gen.length = 0;
	}
	fprintf(stderr, "%llu\n", (unsigned long long)program.records);
	return fflush(stdout) ? 1 : 0;
}
