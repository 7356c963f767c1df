// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <stdio.h>
#include <stdlib.h>

#include "harm_program.h"

#define STEPS	150

static unsigned int any(uint64_t *seed, unsigned int below)
{
	return (unsigned int)(gen_random(seed) % below);
}

static void write_meta(const struct program *program)
{
	FILE *meta = fopen("trace.rtd.meta", "w");
	unsigned int i;

	if (!meta)
		abort();
	fprintf(meta, "{\"version\":1,\"srcbits\":2,\"ts_scheme\":\"xor\",\"per_thread\":%s,\"threads\":[",
		program->per_thread ? "true" : "false");
	for (i = 0; i < program->threads; i++)
		fprintf(meta, "%s{\"channel\":%u,\"pid\":100,\"tid\":%u}", i ? "," : "",
			program->thread[i].channel, 100 + i);
	fprintf(meta, "]}\n");
	fclose(meta);
}

void harm_program_make(struct program *program, uint64_t *seed,
		       void (*ended)(void *context, const struct program_thread *thread,
				     const struct program_frame *frame), void *context)
{
	unsigned int i;

	program_init(program, gen_random(seed));
	program->ended = ended;
	program->context = context;
	program->gen.now = 1000;
	program->keep_truth = true;
	program->count_type = any(seed, 3);
	program->per_thread = any(seed, 2);
	program->sources = 1 + any(seed, 2);
	program->threads = 1 + any(seed, 3);
	program->moves = any(seed, 2) ? 1 + any(seed, 60) : 0;
	program->throws = any(seed, 2) ? 1 + any(seed, 60) : 0;
	program->headers = any(seed, 2) ? 1 + any(seed, 20) : 0;
	for (i = 0; i < program->threads; i++)
		program->thread[i].src = i % program->sources;
	for (i = 0; i < program->sources; i++)
		gen_sync(&program->gen, i);
	for (i = 0; i < STEPS; i++) {
		program_step(program);
		if (!any(seed, 20))
			gen_sync(&program->gen, any(seed, program->sources));
	}
	program_end(program);
	write_meta(program);
}
