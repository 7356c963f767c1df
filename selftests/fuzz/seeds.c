// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Writes the seed corpus in corpus/. Run this program only to create a new corpus. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow_program.h"
#include "gen.h"
#include "jit_file.h"

static void save(const char *dir, const char *name, const uint8_t *prefix,
		 size_t length, const struct gen *gen)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.rtd", dir, name);
	file = fopen(path, "wb");
	if (!file || fwrite(prefix, 1, length, file) != length ||
	    fwrite(gen->data, 1, gen->length, file) != gen->length ||
	    fclose(file)) {
		perror(path);
		exit(1);
	}
}

static void records(struct gen *gen, unsigned int src, unsigned int channel,
		    unsigned int count_type, bool moving)
{
	struct gen_stream stream;
	uint64_t value[2] = { 100, 1ull << 33 };
	uint64_t outer[2] = { 0x10000, 0x3f00000010 };
	uint64_t inner[2] = { 0x10100, 0x10020 };

	gen_sync(gen, src);
	gen_stream_init(&stream, gen, (uint8_t)src, (uint8_t)channel,
			(uint8_t)count_type, 2, 48);
	stream.counter[1].type = 2;
	stream.counter[1].event_data = 0x20001;
	gen_header(&stream);
	gen_record(&stream, 0, outer, value);
	value[0] += 9;
	gen_record(&stream, 0, inner, value);
	if (moving)
		stream.src ^= 1;
	value[1] += 5;
	gen_record(&stream, 1, inner, value);
	gen_record(&stream, 2, inner, value);
	if (moving)
		gen_error(gen, src);
	gen_record(&stream, 3, inner, value);
	gen_record(&stream, 1, outer, value);
}

/*
 * For unwind_fuzz.c: save a stack on which signals have interrupted the innermost function and, if
 * @signals is 2, a signal handler.
 */
static void save_stack(const char *path, bool named, unsigned int signals)
{
	/* The stack pointer; return addresses and the interrupted function, in unwind_sample.S. */
	const uint64_t start = 0x3ffffff000, main_ = 0x7004c, down = 0x7008c, leaf = 0x700c0;
	uint64_t value[SIFIVE_TRACE_STACK_REGISTERS + 400] = { down, main_, start }, *word;
	size_t count = SIFIVE_TRACE_STACK_REGISTERS;
	struct gen stack = { .data = (uint8_t *)value };
	const uint8_t prefix = named;
	unsigned int i;

	for (i = 0; i < signals; i++) {
		/* The frame of the handler down(), then the signal frame. */
		count += 3;
		value[count++] = 0x3ff7ffc800;
		word = value + count;
		count += 1088 / 8;
		word[0] = 14;
		word[38] = i + 1 < signals ? down : leaf;
		word[39] = main_;
		word[40] = start + 8 * (count - SIFIVE_TRACE_STACK_REGISTERS);
	}
	/* The frame of main(). */
	count++;
	value[count++] = 0x70004;
	stack.length = 8 * count;
	save(path, signals == 1 ? "one" : "two", &prefix, 1, &stack);
}

/*
 * The number of writers in export_fuzz.c. Numbers starting at WRITERS select the same writers, but
 * with a side-car file that announces instruction trace.
 */
#define WRITERS	20

/*
 * Save this trace as input for every third writer. The other two traces are inputs for the other
 * writers.
 */
static void save_writers(const char *dir, const char *name, unsigned int type,
			 const struct gen *gen)
{
	char path[32];
	uint8_t writer;

	for (writer = (uint8_t)type; writer < 2 * WRITERS; writer += 3) {
		uint8_t options = writer < WRITERS ? writer % 4 : writer % 4 | 1;
		uint8_t prefix = (uint8_t)(4 * writer + options);

		snprintf(path, sizeof(path), "%s-%u", name, writer);
		save(dir, path, &prefix, 1, gen);
	}
}

/* For flow_fuzz.c: save runs of random programs, each in a different mode. */
static void save_flows(const char *dir)
{
	static const struct tracer modes[] = {
		{ .btm = true, .repeats = true, .traps = true, .sync = 8, .icnt_max = 64 },
		{ .hist_bits = 7, .repeats = true, .stops = true, .icnt_max = 64 },
		{ .hist_bits = 31, .implicit = 1023, .version0 = true, .repeats = true,
		  .overflows = true, .sync = 8, .icnt_max = 4096 },
	};
	static struct program program;
	uint8_t prefix[2 + 2 * 255];
	uint64_t seed = 1;
	unsigned int i;
	char name[8];

	for (i = 0; i < 3; i++) {
		struct gen gen;

		/* The program must fit into the prefix. */
		do
			program_make(&program, &seed);
		while (program.halfwords > 255);
		prefix[0] = 0;
		prefix[1] = (uint8_t)program.halfwords;
		memcpy(prefix + 2, program.code, 2 * program.halfwords);
		gen_init(&gen, 0, 40);
		gen.step = 3;
		program_run(&program, &modes[i], &gen, 1500, &seed);
		snprintf(name, sizeof(name), "%u", i);
		save(dir, name, prefix, 2 + 2 * program.halfwords, &gen);
		gen_free(&gen);
		program_free(&program);
	}
}

/* For jitdump_fuzz.c: save code that is replaced, moved and replaced in part. */
static void save_dump(const char *root)
{
	struct jit_file file;
	char path[256];

	jit_begin(&file, 10);
	jit_load(&file, 100, 0x1000, "abcdefgh", 8, "first", 1);
	jit_load(&file, 200, 0x1000, "ijkl", 4, "second", 2);
	jit_record(&file, 2, 250, 8);
	jit_number(&file, 0, 8);
	jit_move(&file, 300, 0x1000, 0x1006, 4, 2);
	jit_load(&file, 400, 0x1000, "abcdefgh", 8, "first", 3);
	jit_record(&file, 3, 500, 0);
	snprintf(path, sizeof(path), "%s/jitdump/one.in", root);
	jit_end(&file, path);
}

int main(int argc, char **argv)
{
	static const char * const names[] = { "raw", "delta", "xor" };
	const char *root = argc > 1 ? argv[1] : "corpus";
	unsigned int type;
	char flows[200], stacks[200];

	snprintf(flows, sizeof(flows), "%s/flow", root);
	save_flows(flows);
	save_dump(root);
	snprintf(stacks, sizeof(stacks), "%s/unwind", root);
	save_stack(stacks, false, 1);
	save_stack(stacks, true, 2);
	for (type = 0; type < 3; type++) {
		uint8_t nexus[] = { (uint8_t)(2 | (type == 1 ? 8 : 0)), 40 };
		uint8_t trace[] = { (uint8_t)(type + 1) };
		char dir[200];
		struct gen gen;

		gen_init(&gen, 2, 40);
		gen.ts_delta = type == 1;
		records(&gen, 1, 6, type, false);
		snprintf(dir, sizeof(dir), "%s/nexus", root);
		save(dir, names[type], nexus, 2, &gen);
		gen_free(&gen);

		gen_init(&gen, 2, 40);
		records(&gen, 0, 6, type, true);
		records(&gen, 1, 7, type, false);
		snprintf(dir, sizeof(dir), "%s/trace", root);
		save(dir, names[type], trace, 1, &gen);
		snprintf(dir, sizeof(dir), "%s/export", root);
		save_writers(dir, names[type], type, &gen);
		gen_free(&gen);
	}
	return 0;
}
