// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Reads a trace truncated at each byte in turn, and with each bit flipped in turn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "effort.h"
#include "gen_program.h"
#include "kept_report.h"
#include "profile.h"

#define STEPS	10

FIXTURE(damage) {
	struct program program;
	char trace[64];
};

FIXTURE_VARIANT(damage) {
	unsigned int count_type;
};

FIXTURE_VARIANT_ADD(damage, raw) { 0 };
FIXTURE_VARIANT_ADD(damage, delta) { 1 };
FIXTURE_VARIANT_ADD(damage, xor) { 2 };

FIXTURE_SETUP(damage)
{
	unsigned int i;
	int fd;

	strcpy(self->trace, "/tmp/damage_test.XXXXXX");
	fd = mkstemp(self->trace);
	ASSERT_LE(0, fd);
	close(fd);
	program_init(&self->program, 7);
	self->program.count_type = variant->count_type;
	self->program.sources = 2;
	self->program.threads = 2;
	self->program.moves = 5;
	gen_sync(&self->program.gen, 0);
	gen_sync(&self->program.gen, 1);
	for (i = 0; i < STEPS; i++)
		program_step(&self->program);
	program_end(&self->program);
}

FIXTURE_TEARDOWN(damage)
{
	program_free(&self->program);
	unlink(self->trace);
}

/* Return the number of records, or -1 if an error was reported. */
static int64_t read_trace(struct __test_metadata *_metadata,
			  FIXTURE_DATA(damage) *self, const void *data,
			  size_t length, int src_bits)
{
	static struct options options;
	const struct trace_stats *stats;
	struct profile profile;
	int64_t records = -1;
	unsigned int i;
	FILE *file;
	int result;

	file = fopen(self->trace, "wb");
	if (!file || fwrite(data, 1, length, file) != length || fclose(file))
		abort();
	options_init(&options);
	options.path = self->trace;
	options.trace.quiet = true;
	options.trace.channel = TRACE_ALL_CHANNELS;
	options.trace.src_bits = src_bits;
	reported[0] = '\0';
	result = profile_read(&profile, &options, PROFILE_BY_THREAD, false, NULL);
	if (result) {
		EXPECT_EQ(3, result);
		EXPECT_NE('\0', reported[0]);
	} else {
		stats = trace_stats(profile.input.trace);
		for (i = 0, records = 0; i < PERFREC_TYPES; i++)
			records += (int64_t)stats->records[i];
		EXPECT_EQ(length, stats->bytes);
	}
	profile_free(&profile);
	return records;
}

TEST_F(damage, truncation_never_adds_records)
{
	const struct gen *gen = &self->program.gen;
	int64_t before = -1, records;
	size_t length;

	for (length = 0; length <= gen->length; length++) {
		records = read_trace(_metadata, self, gen->data, length, 2);
		/* Check that an additional byte never reduces the number of records. */
		ASSERT_LE(before, records) {
			TH_LOG("cut at %zu", length);
		}
		before = records;
	}
	EXPECT_EQ(self->program.records, before);
}

TEST_F(damage, any_bit_flip_is_survived)
{
	struct gen *gen = &self->program.gen;
	size_t bit;

	for (bit = 0; bit < 8 * gen->length; bit += effort(7, 1)) {
		gen->data[bit / 8] ^= 1u << bit % 8;
		read_trace(_metadata, self, gen->data, gen->length,
			   bit % 8 ? 2 : -1);
		gen->data[bit / 8] ^= 1u << bit % 8;
	}
	EXPECT_EQ(self->program.records,
		  read_trace(_metadata, self, gen->data, gen->length, -1));
}

TEST_HARNESS_MAIN
