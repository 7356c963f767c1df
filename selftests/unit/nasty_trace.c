// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Writes to standard output a trace with as many distinct items as possible: all channels of all
 * sources, new functions and call sites in each record, calls of unlimited depth, repeated
 * headers of up to 31 counters with changing names, and times that jump.
 *
 *	nasty_trace KB SRCBITS SEED [COUNTERS]
 *
 * Traces with different seeds differ, but have some functions in common. COUNTERS is the minimum
 * number of counters per stream; up to 64 different events are then counted. If COUNTERS is 0, most
 * streams have at most two counters, and up to 1000 different events are counted.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gen.h"

#define PART		(1u << 20)
#define CHANNELS	32
#define COUNTERS	31

static uint64_t seed;
static unsigned int least;

static uint64_t below(uint64_t limit)
{
	return gen_random(&seed) % limit;
}

static unsigned int counters(void)
{
	if (!least && below(4))
		return (unsigned int)below(3);
	return least + (unsigned int)below(COUNTERS + 1 - least);
}

static void begin(struct gen_stream *stream, struct gen *gen, unsigned int src,
		  unsigned int channel)
{
	unsigned int i;

	gen_stream_init(stream, gen, (uint8_t)src, (uint8_t)channel,
			(uint8_t)below(3), counters(), 48);
	for (i = 0; i < stream->counters; i++)
		stream->counter[i].code = 1 + (uint32_t)below(least ? 64 : 1000);
	gen_header(stream);
}

static void record(struct gen_stream *stream)
{
	/* Most records are enter records of new functions. */
	unsigned int type = (unsigned int)(below(8) < 5 ? 0 : below(4));
	uint64_t address[2] = { below(1ull << 47) << 1, below(1ull << 47) << 1 };
	uint64_t value[GEN_COUNTERS];
	unsigned int i;

	/* Some functions recur. */
	if (!below(4))
		address[0] = 0x10000 + 64 * below(100000);
	for (i = 0; i < stream->counters; i++)
		value[i] = below(8) ? below(1 << 16) : gen_random(&seed);
	gen_record(stream, type, address, value);
	stream->gen->truths = 0;
}

int main(int argc, char **argv)
{
	uint64_t wanted = argc > 1 ? strtoull(argv[1], NULL, 0) << 10 : 0;
	unsigned int src_bits = argc > 2 ? (unsigned int)atoi(argv[2]) : 4;
	unsigned int streams = CHANNELS << src_bits, i;
	struct gen_stream *stream;
	uint64_t written = 0;
	struct gen gen;

	seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
	least = argc > 4 ? (unsigned int)atoi(argv[4]) : 0;
	stream = calloc(streams, sizeof(*stream));
	if (!stream || src_bits > 7 || least > COUNTERS)
		return 2;
	gen_init(&gen, src_bits, 40);
	for (i = 0; i < streams; i++) {
		if (i % CHANNELS == 0)
			gen_sync(&gen, i / CHANNELS);
		begin(&stream[i], &gen, i / CHANNELS, i % CHANNELS);
	}
	while (written < wanted) {
		while (gen.length < PART) {
			i = (unsigned int)below(streams);
			gen.step = below(100) ? 1 + below(20) : below(1 << 30);
			if (!below(200))
				begin(&stream[i], &gen, i / CHANNELS, i % CHANNELS);
			if (!below(5000))
				gen_error(&gen, i / CHANNELS);
			record(&stream[i]);
		}
		if (fwrite(gen.data, gen.length, 1, stdout) != 1) {
			perror("nasty_trace");
			return 1;
		}
		written += gen.length;
		gen.length = 0;
	}
	gen_free(&gen);
	free(stream);
	return fflush(stdout) ? 1 : 0;
}
