// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Writes a trace of so many KB to standard output: a program's calls. */
#include <stdio.h>
#include <stdlib.h>

#include "gen_program.h"

#define PART	(1u << 20)

int main(int argc, char **argv)
{
	static struct program program;
	uint64_t wanted = argc > 1 ? strtoull(argv[1], NULL, 0) << 10 : 0;
	uint64_t part = wanted < PART ? wanted : PART;
	uint64_t written = 0;

	program_init(&program, 1);
	program.functions = PROGRAM_FUNCTIONS;
	program.sources = 2;
	program.threads = 2;
	program.thread[1].src = 1;
	gen_sync(&program.gen, 0);
	gen_sync(&program.gen, 1);
	while (written < wanted) {
		while (program.gen.length < part)
			program_step(&program);
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
