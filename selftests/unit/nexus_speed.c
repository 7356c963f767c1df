// SPDX-License-Identifier: Apache-2.0 OR MIT
/* How fast a trace becomes statistics, on one core, from memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gen.h"
#include "nexus/nexus.h"
#include "perfrec/perfrec.h"

#define TRACE_BYTES	(100u << 20)
#define CHUNK		(1u << 20)
#define ROUNDS		3

struct sums {
	uint64_t	records;
	uint64_t	messages;
	uint64_t	counted[PERFREC_COUNTERS];
};

static void add_record(void *context, const struct perfrec_record *record)
{
	struct sums *sums = context;
	unsigned int i;

	sums->records++;
	for (i = 0; i < record->counters; i++)
		sums->counted[i] += record->delta[i];
}

static const struct perfrec_ops ops = { .record = add_record };

/* Function entries and exits with three counters, as an application gives. */
static void make_trace(struct gen *gen)
{
	struct gen_stream stream;
	uint64_t value[3] = { 0 }, address[2], seed = 1;
	unsigned int i = 0;

	gen_init(gen, 2, 40);
	gen_sync(gen, 1);
	gen_stream_init(&stream, gen, 1, 6, PERFREC_DELTA, 3, 64);
	gen_header(&stream);
	while (gen->length < TRACE_BYTES) {
		value[0] += gen_random(&seed) % 1000;
		value[1] += gen_random(&seed) % 500;
		value[2] += gen_random(&seed) % 10;
		address[0] = 0x10000 + gen_random(&seed) % 0x10000 * 2;
		address[1] = 0x10000 + gen_random(&seed) % 0x10000 * 2;
		gen->step = gen_random(&seed) % 30;
		gen_record(&stream, i++ & 1, address, value);
		gen->truths = 0;
	}
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void decode(const struct gen *gen, struct sums *sums)
{
	struct nexus_options options = { .src_bits = 2 };
	struct perfrec *perfrec = perfrec_new(&ops, sums);
	struct nexus_message message;
	struct nexus nexus;
	size_t at, size;

	if (!perfrec || nexus_init(&nexus, &options))
		abort();
	for (at = 0; at < gen->length; at += size) {
		size = gen->length - at < CHUNK ? gen->length - at : CHUNK;
		nexus_feed(&nexus, gen->data + at, size);
		while (nexus_next(&nexus, &message) == NEXUS_MESSAGE) {
			struct perfrec_word word = {
				.offset = message.offset,
				.time = message.time,
				.value = (uint32_t)message.field[1],
				.src = message.src,
				.channel = nexus_itc_channel(&message) & 31,
				.bytes = (uint8_t)nexus_itc_bytes(&message),
				.time_known = message.flags & NEXUS_TIME_KNOWN,
			};

			sums->messages++;
			if (message.tcode == NEXUS_DATA_ACQUISITION)
				perfrec_push(perfrec, &word);
		}
	}
	perfrec_flush(perfrec);
	perfrec_free(perfrec);
}

int main(int argc, char **argv)
{
	struct gen gen;
	int round;

	make_trace(&gen);
	/* With an argument: keep the trace, for the command. */
	if (argc > 1) {
		FILE *file = fopen(argv[1], "wb");

		if (!file || fwrite(gen.data, gen.length, 1, file) != 1 ||
		    fclose(file)) {
			perror(argv[1]);
			return 1;
		}
	}
	for (round = 0; round < ROUNDS; round++) {
		struct sums sums = { 0 };
		double start = now(), took;

		decode(&gen, &sums);
		took = now() - start;
		printf("%.0f MB/s, %.1f ns a message, %.1f million records/s\n",
		       (double)gen.length / took / 1e6,
		       took * 1e9 / (double)sums.messages,
		       (double)sums.records / took / 1e6);
	}
	gen_free(&gen);
	return 0;
}
