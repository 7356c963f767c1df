// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests both decoders together: they return the contents of a generated trace, and account for
 * every word, even if bytes are damaged in any way.
 */
#include <stdlib.h>

#include <kselftest_harness.h>

#include "gen.h"
#include "nexus/nexus.h"
#include "perfrec_collect.h"

static struct collected_records all;

/* Count the input, for comparison with the output. */
static uint64_t run(const struct gen *gen)
{
	struct nexus_options options = {
		.src_bits = gen->src_bits,
		.ts_width = gen->ts_width,
		.ts_scheme = gen->ts_delta ? NEXUS_TS_DELTA : NEXUS_TS_XOR,
	};
	struct perfrec *perfrec = perfrec_new(&collect_ops, &all);
	struct nexus_message message;
	uint64_t words = 0;
	struct nexus nexus;
	struct store store;
	enum nexus_item item;
	bool ended = false;

	memset(&all, 0, sizeof(all));
	if (!perfrec || nexus_init(&nexus, &options))
		abort();
	nexus_feed(&nexus, gen->data, gen->length);
	for (;;) {
		item = nexus_next(&nexus, &message);
		if (item == NEXUS_MORE) {
			if (ended)
				break;
			nexus_end(&nexus);
			ended = true;
		} else if (item == NEXUS_GAP) {
			if (message.gap != NEXUS_GAP_TRUNCATED)
				perfrec_lost(perfrec, -1);
		} else if (message.tcode == NEXUS_ERROR) {
			perfrec_lost(perfrec, message.src);
		} else if (nexus_store(&message, &store)) {
			words++;
			perfrec_push(perfrec, &store);
		}
	}
	perfrec_flush(perfrec);
	perfrec_free(perfrec);
	return words;
}

static uint64_t words_out(void)
{
	uint64_t words = all.lost_words;
	size_t i, c;

	for (i = 0; i < all.records; i++)
		words += all.record[i].words;
	for (i = 0; i < all.headers; i++) {
		words += 3 + all.header[i].owned;
		for (c = 0; c < all.header[i].counters; c++)
			words += all.header[i].counter[c].type == 2 ? 4 : 3;
	}
	return words;
}

static void check_record(struct __test_metadata *_metadata,
			 const struct gen_truth *truth,
			 const struct perfrec_record *record,
			 unsigned int count_type)
{
	bool delta = count_type == PERFREC_DELTA || !truth->first;
	unsigned int i;

	ASSERT_EQ(truth->type, record->type);
	ASSERT_EQ(truth->src, record->src);
	ASSERT_EQ(truth->channel, record->channel);
	ASSERT_EQ(truth->counters, record->counters);
	ASSERT_EQ(truth->addresses, record->addresses);
	ASSERT_EQ(PERFREC_ADDRESS_KNOWN | PERFREC_VALUE_KNOWN |
		  (delta ? PERFREC_DELTA_KNOWN : 0), record->flags);
	for (i = 0; i < truth->addresses; i++)
		ASSERT_EQ(truth->address[i], record->address[i]);
	for (i = 0; i < truth->counters; i++) {
		ASSERT_EQ(truth->sent[i], record->sent[i]);
		ASSERT_EQ(truth->value[i], record->value[i]);
		if (delta)
			ASSERT_EQ(truth->delta[i], record->delta[i]);
	}
}

/* Check the records of one stream, in the order in which they were written. */
static void check_stream(struct __test_metadata *_metadata,
			 const struct gen *gen, unsigned int src,
			 unsigned int channel, unsigned int count_type,
			 bool times, bool offsets)
{
	size_t t, r = 0;

	for (t = 0; t < gen->truths; t++) {
		const struct gen_truth *truth = &gen->truth[t];
		const struct perfrec_record *record;

		if (truth->src != src || truth->channel != channel)
			continue;
		while (r < all.records && (all.record[r].src != src ||
					   all.record[r].channel != channel))
			r++;
		ASSERT_GT(all.records, r);
		record = &all.record[r++];
		check_record(_metadata, truth, record, count_type);
		if (offsets)
			ASSERT_EQ(truth->offset, record->begin.offset);
		if (times) {
			ASSERT_TRUE(record->begin.time_known);
			ASSERT_EQ(truth->begin_time, record->begin.time);
			ASSERT_EQ(truth->address_time, record->address_end.time);
		}
	}
}

static uint64_t random_address(uint64_t *seed)
{
	uint64_t address = gen_random(seed);

	/* Return a low address, an RV32 address, an Sv39 address, or any address. */
	switch (gen_random(seed) % 4) {
	case 0:
		address &= 0xfffff;
		break;
	case 1:
		address &= 0xffffffff;
		break;
	case 2:
		address = 0x3f00000000 | (address & 0xffffff);
		break;
	}
	return address & ~1ull;
}

/* Advance a counter by a little, by a lot, or not at all; it wraps at its width. */
static uint64_t move(uint64_t value, unsigned int width, uint64_t *seed)
{
	uint64_t step = gen_random(seed);

	switch (gen_random(seed) % 5) {
	case 0:
		step = 0;
		break;
	case 1:
		step = 1;
		break;
	case 2:
		step &= 0xffff;
		break;
	case 3:
		step &= 0xffffffffff;
		break;
	default:
		/* A record holds 48 bits of a count. */
		step &= 0xffffffffffff;
		break;
	}
	return (value + step) & (~0ull >> (64 - width));
}

static void records(struct gen_stream *stream, unsigned int count,
		    uint64_t *seed)
{
	uint64_t value[GEN_COUNTERS], address[2];
	unsigned int i, c;

	for (c = 0; c < stream->counters; c++)
		value[c] = stream->counter[c].previous;
	for (i = 0; i < count; i++) {
		address[0] = random_address(seed);
		address[1] = random_address(seed);
		for (c = 0; c < stream->counters; c++)
			value[c] = move(value[c], stream->counter[c].width, seed);
		stream->gen->step = gen_random(seed) % 1000;
		gen_record(stream, gen_random(seed) % 4, address, value);
	}
}

static const unsigned int widths[] = { 64, 48, 40, 32, 1 };

TEST(every_count_type_counter_number_and_width_is_decoded)
{
	unsigned int type, counters, w;
	uint64_t seed = 1;

	for (type = 0; type < 3; type++) {
		for (counters = 0; counters <= 32; counters++) {
			for (w = 0; w < 5; w++) {
				struct gen_stream stream;
				struct gen gen;
				uint64_t words;

				gen_init(&gen, (counters + w) % 5, 40);
				gen_sync(&gen, 0);
				gen_stream_init(&stream, &gen, 0, 6, type,
						counters, widths[w]);
				gen_header(&stream);
				records(&stream, 12, &seed);
				words = run(&gen);
				ASSERT_EQ(0, all.losses);
				ASSERT_EQ(1, all.headers);
				ASSERT_EQ(12, all.records);
				ASSERT_EQ(words, words_out());
				check_stream(_metadata, &gen, 0, 6, type, true,
					     true);
				gen_free(&gen);
			}
		}
	}
}

TEST(mixed_widths_events_and_timestamp_schemes_are_decoded)
{
	unsigned int round, i;
	uint64_t seed = 2;

	for (round = 0; round < 300; round++) {
		unsigned int type = round % 3, bit = 0;
		struct gen_stream stream;
		struct gen gen;

		gen_init(&gen, round % 5, 14 + round % 51);
		gen.ts_delta = round & 1;
		gen_sync(&gen, 0);
		gen_stream_init(&stream, &gen, 0, round % 32, type,
				gen_random(&seed) % 12, 64);
		for (i = 0; i < stream.counters; i++) {
			struct gen_counter *counter = &stream.counter[i];

			counter->number = bit;
			bit += 1 + gen_random(&seed) % 2;
			counter->type = gen_random(&seed) % 3;
			counter->event_data = gen_random(&seed);
			counter->width = 1 + gen_random(&seed) % 64;
		}
		gen_header(&stream);
		records(&stream, 20, &seed);
		run(&gen);
		ASSERT_EQ(0, all.losses);
		ASSERT_EQ(1, all.headers);
		ASSERT_EQ(20, all.records);
		for (i = 0; i < stream.counters; i++) {
			const struct perfrec_counter *counter =
				&all.header[0].counter[i];

			ASSERT_EQ(stream.counter[i].number, counter->number);
			ASSERT_EQ(stream.counter[i].width, counter->width);
			ASSERT_EQ(stream.counter[i].csr, counter->csr);
			ASSERT_EQ(stream.counter[i].type, counter->type);
			ASSERT_EQ(counter->type == 2 ?
				  stream.counter[i].event_data : 0,
				  counter->event_data);
			ASSERT_EQ(counter->type == 2 ? 0 : stream.counter[i].code,
				  counter->code);
		}
		check_stream(_metadata, &gen, 0, round % 32, type, true, true);
		gen_free(&gen);
	}
}

TEST(several_headers_are_decoded)
{
	struct gen_stream stream;
	uint64_t seed = 3;
	struct gen gen;
	unsigned int i, type;

	for (type = 0; type < 3; type++) {
		gen_init(&gen, 2, 40);
		gen_sync(&gen, 2);
		gen_stream_init(&stream, &gen, 2, 6, type, 4, 48);
		for (i = 0; i < 6; i++) {
			gen_header(&stream);
			records(&stream, i, &seed);
		}
		run(&gen);
		EXPECT_EQ(6, all.headers);
		EXPECT_EQ(15, all.records);
		EXPECT_EQ(0, all.losses);
		check_stream(_metadata, &gen, 2, 6, type, true, true);
		gen_free(&gen);
	}
}

/* The sources' messages are interleaved at random, and each source has a separate time. */
TEST(two_interleaved_sources_are_decoded)
{
	unsigned int type, other, s;
	uint64_t seed = 4;

	for (type = 0; type < 3; type++) {
		for (other = 0; other < 3; other++) {
			const unsigned int types[2] = { type, other };
			struct gen one[2], merged;
			struct gen_stream stream;

			gen_init(&merged, 3, 40);
			for (s = 0; s < 2; s++) {
				gen_init(&one[s], 3, 40);
				one[s].now += 77 * s;
				gen_sync(&one[s], 2 + s);
				gen_stream_init(&stream, &one[s], 2 + s, 6,
						types[s], 3 + s, 48);
				gen_header(&stream);
				records(&stream, 50, &seed);
			}
			gen_merge(&merged, &one[0], &one[1], &seed);
			run(&merged);
			EXPECT_EQ(0, all.losses);
			EXPECT_EQ(100, all.records);
			for (s = 0; s < 2; s++) {
				check_stream(_metadata, &one[s], 2 + s, 6,
					     types[s], true, false);
				gen_free(&one[s]);
			}
			gen_free(&merged);
		}
	}
}

/* Also write messages that are not part of any record, as encoders do. */
TEST(sixteen_sources_are_decoded)
{
	const uint64_t process = 0x1234, icnt = 7;
	struct gen one[16], merged, both;
	struct gen_stream stream;
	uint64_t seed = 14;
	unsigned int s;

	gen_init(&merged, 4, 40);
	for (s = 0; s < 16; s++) {
		gen_init(&one[s], 4, 40);
		one[s].now += 1000 * s;
		gen_sync(&one[s], s);
		gen_stream_init(&stream, &one[s], s, 6, s % 3, 1 + s % 4, 48);
		gen_header(&stream);
		records(&stream, 5, &seed);
		gen_message(&one[s], NEXUS_OWNERSHIP, s, NULL, NULL, &process, 1);
		records(&stream, 5, &seed);
		gen_message(&one[s], NEXUS_DIRECT_BRANCH, s, NULL, NULL, &icnt, 1);
		records(&stream, 5, &seed);
		gen_init(&both, 4, 40);
		gen_merge(&both, &merged, &one[s], &seed);
		gen_free(&merged);
		merged = both;
	}
	run(&merged);
	EXPECT_EQ(16, all.headers);
	EXPECT_EQ(240, all.records);
	EXPECT_EQ(0, all.losses);
	for (s = 0; s < 16; s++) {
		check_stream(_metadata, &one[s], s, 6, s % 3, true, false);
		gen_free(&one[s]);
	}
	gen_free(&merged);
}

TEST(two_interleaved_channels_are_decoded)
{
	const unsigned int channels[2] = { 6, 7 };
	struct gen one[2], merged;
	struct gen_stream stream;
	uint64_t seed = 5;
	unsigned int s;

	gen_init(&merged, 0, 0);
	for (s = 0; s < 2; s++) {
		gen_init(&one[s], 0, 0);
		gen_stream_init(&stream, &one[s], 0, channels[s],
				PERFREC_DELTA_XOR, 3, 48);
		gen_header(&stream);
		records(&stream, 50, &seed);
	}
	gen_merge(&merged, &one[0], &one[1], &seed);
	run(&merged);
	EXPECT_EQ(0, all.losses);
	EXPECT_EQ(100, all.records);
	for (s = 0; s < 2; s++) {
		check_stream(_metadata, &one[s], 0, channels[s],
			     PERFREC_DELTA_XOR, false, false);
		gen_free(&one[s]);
	}
	EXPECT_FALSE(all.record[0].begin.time_known);
	gen_free(&merged);
}

static void damaged_sample(struct gen *gen, struct gen_stream *stream,
			   unsigned int type)
{
	uint64_t seed = 6;

	gen_init(gen, 1, 40);
	gen_sync(gen, 1);
	gen_stream_init(stream, gen, 1, 6, type, 3, 48);
	gen_header(stream);
	records(stream, 6, &seed);
}

/*
 * Return whether the record lacks only the upper part of its last count. Because this word is
 * optional, its loss is the only one that cannot be detected.
 */
static bool lacks_upper_part(const struct gen_truth *truth,
			     const struct perfrec_record *record)
{
	unsigned int last = truth->counters - 1;

	return truth->sent[last] >> 32 &&
	       record->sent[last] == (uint32_t)truth->sent[last];
}

TEST(truncation_affects_only_the_last_record)
{
	struct gen_stream stream;
	unsigned int type;
	struct gen gen;
	size_t length;

	for (type = 0; type < 3; type++) {
		damaged_sample(&gen, &stream, type);
		for (length = gen.length; gen.length--;) {
			ASSERT_EQ(run(&gen), words_out());
			ASSERT_GE(6, all.records);
			ASSERT_GE(1, all.losses);
			gen.truths = all.records;
			if (all.records && lacks_upper_part(&gen.truth[all.records - 1],
							    &all.record[all.records - 1]))
				gen.truths--;
			check_stream(_metadata, &gen, 1, 6, type, true, true);
			if (!gen.length)
				break;
		}
		gen.length = length;
		gen_free(&gen);
	}
}

TEST(records_after_the_next_header_survive_any_bit_flip)
{
	struct gen_stream stream;
	uint64_t seed = 8;
	struct gen gen;
	size_t bit, damaged;

	damaged_sample(&gen, &stream, PERFREC_RAW);
	damaged = gen.length;
	/* These records and their header are undamaged, so they must be decoded completely. */
	gen_sync(&gen, 1);
	gen_header(&stream);
	gen.truths = 0;
	records(&stream, 4, &seed);
	for (bit = 0; bit < 8 * damaged; bit++) {
		size_t i;

		gen.data[bit / 8] ^= 1 << bit % 8;
		ASSERT_EQ(run(&gen), words_out());
		ASSERT_LE(4, all.records);
		for (i = 0; i < 4; i++)
			check_record(_metadata, &gen.truth[i],
				     &all.record[all.records - 4 + i],
				     PERFREC_RAW);
		gen.data[bit / 8] ^= 1 << bit % 8;
	}
	gen_free(&gen);
}

static bool is_record(const struct gen *gen, uint64_t offset)
{
	size_t i;

	for (i = 0; i < gen->truths; i++)
		if (gen->truth[i].offset == offset)
			return true;
	return false;
}

/* Write random records; the headers between them may change the counters. */
static void headers_sample(struct gen *gen, unsigned int type, uint64_t *seed)
{
	struct gen_stream stream;
	unsigned int i;

	gen_init(gen, 1, 40);
	gen_sync(gen, 1);
	gen_stream_init(&stream, gen, 1, 6, (uint8_t)type, 1 + gen_random(seed) % 4, 48);
	for (i = 0; i < 12; i++) {
		if (gen_random(seed) % 8 == 0)
			gen_stream_init(&stream, gen, 1, 6, (uint8_t)type,
					1 + gen_random(seed) % 4, 48);
		gen_header(&stream);
		records(&stream, gen_random(seed) % 3, seed);
	}
}

/*
 * HEADER_FLIPS in the environment is the number of flipped bits, for example 160000 for a longer
 * run.
 */
TEST(header_words_are_never_decoded_as_a_record)
{
	const char *text = getenv("HEADER_FLIPS");
	unsigned int flips = text ? (unsigned int)atoi(text) : 8000, i, k;
	uint64_t seed = 21, invented = 0, records = 0;

	for (i = 0; i < flips; i++) {
		struct gen gen;
		size_t bit;

		headers_sample(&gen, i % 3, &seed);
		bit = gen_random(&seed) % (8 * gen.length);
		gen.data[bit / 8] ^= 1 << bit % 8;
		ASSERT_EQ(run(&gen), words_out());
		for (k = 0; k < all.records; k++)
			/* A record that no header describes is marked as such. */
			invented += all.record[k].header &&
				    !is_record(&gen, all.record[k].begin.offset);
		records += all.records;
		gen_free(&gen);
	}
	TH_LOG("%u flipped bits: %zu of %zu records invented", flips, (size_t)invented,
	       (size_t)records);
	EXPECT_EQ(0, invented);
	EXPECT_LT(flips * 8, records);
}

TEST(lost_and_changed_bytes_are_survived)
{
	uint64_t seed = 9;
	unsigned int round;

	for (round = 0; round < 400; round++) {
		struct gen_stream stream;
		struct gen gen;
		unsigned int i;

		gen_init(&gen, 1, 40);
		gen_sync(&gen, 1);
		gen_stream_init(&stream, &gen, 1, 6, round % 3, 4, 64);
		gen_header(&stream);
		records(&stream, 60, &seed);
		for (i = 0; i < 1 + round % 20; i++) {
			size_t at = gen_random(&seed) % gen.length;
			size_t cut = gen_random(&seed) % 40;

			if (at + cut > gen.length)
				cut = gen.length - at;
			if (i & 1) {
				gen.length -= cut;
				memmove(gen.data + at, gen.data + at + cut,
					gen.length - at);
			} else if (at < gen.length) {
				gen.data[at] = (uint8_t)gen_random(&seed);
			}
		}
		ASSERT_EQ(run(&gen), words_out());
		gen_free(&gen);
	}
}

/* Decode words in random order: no word may be omitted or counted twice. */
TEST(random_words_are_all_accounted_for)
{
	static const uint8_t sizes[] = { 1, 1, 2, 4, 4, 4, 4, 4, 4, 0 };
	unsigned int round, i, marks;
	uint64_t seed = 10, rest;

	for (round = 0; round < 500; round++) {
		struct perfrec *perfrec = perfrec_new(&collect_ops, &all);

		memset(&all, 0, sizeof(all));
		for (i = marks = 0; i < 500; i++) {
			uint64_t random = gen_random(&seed);
			struct store word = {
				.offset = i,
				.value = random >> 32 & (random & 8 ? 3 : 0xff),
				.channel = random >> 16 & 1,
				.bytes = sizes[(random & 0xffff) % sizeof(sizes)],
			};

			if (word.bytes == 4 && random >> 20 & 1)
				word.value = SIFIVE_TRACE_RECORD_MAGIC;
			if ((random >> 21 & 0x3f) == 0)
				perfrec_lost(perfrec, -1);
			marks += perfrec_is_mark(&word);
			perfrec_push(perfrec, &word);
		}
		perfrec_flush(perfrec);
		perfrec_free(perfrec);
		ASSERT_GT(COLLECT_HEADERS, all.headers);
		/* A complete mark has two words, which are not passed to any callback. */
		rest = 500 - words_out();
		ASSERT_GE(2 * marks, rest);
		ASSERT_EQ(0, rest % 2);
	}
}

TEST_HARNESS_MAIN
