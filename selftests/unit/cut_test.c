// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests cutting a trace between any two messages. Each piece can be read separately. Together, the
 * pieces contain each record of the whole trace once, with the same addresses, counts, times and
 * marks.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "cut.h"
#include "effort.h"
#include "gen.h"
#include "trace.h"

#define RECORDS		60
#define STREAMS		3
#define COUNTERS	2
#define CALLERS		40

/* The content of a record, as read. */
struct read {
	uint8_t		src;
	uint8_t		type;
	uint8_t		timed;
	uint64_t	time;
	uint64_t	address[2];
	uint64_t	value[COUNTERS];
	uint64_t	delta[COUNTERS];
	uint64_t	dropped;
	uint64_t	waited;
	bool		after_loss;
	uint32_t	thread;		/* thread id plus 1, or 0 if the record names no thread */
	unsigned int	callers;
	uint64_t	caller[CALLERS];
};

struct reading {
	struct read	record[RECORDS * STREAMS + 1];
	size_t		records;
	size_t		losses;
};

static void on_record(void *context, const struct perfrec_record *record)
{
	struct reading *reading = context;
	struct read *to = &reading->record[reading->records];
	unsigned int i;

	if (reading->records == RECORDS * STREAMS)
		return;
	reading->records++;
	memset(to, 0, sizeof(*to));
	to->src = record->src;
	to->type = record->type;
	to->timed = record->address_end.time_known != TIME_UNKNOWN;
	to->time = record->address_end.time;
	memcpy(to->address, record->address, record->addresses * sizeof(to->address[0]));
	for (i = 0; i < COUNTERS; i++) {
		to->value[i] = record->value[i];
		to->delta[i] = record->delta[i];
	}
	to->after_loss = record->flags & PERFREC_AFTER_LOSS;
	to->thread = record->flags & PERFREC_NAMED ? 1 + record->thread : 0;
	if (perfrec_callers(record)) {
		to->callers = record->callers->count;
		memcpy(to->caller, record->callers->address, to->callers * sizeof(*to->caller));
	}
	if (record->flags & PERFREC_MARKED) {
		to->dropped = record->dropped;
		to->waited = record->waited;
	}
}

static void on_lost(void *context, const struct perfrec_loss *loss)
{
	struct reading *reading = context;

	reading->losses++;
}

static void read_piece(const void *bytes, size_t length, const char *text,
		       struct reading *reading)
{
	const struct trace_options options = {
		.channel = TRACE_ALL_CHANNELS, .src_bits = 2, .ts_width = 40,
		.ts_scheme = NEXUS_TS_XOR, .quiet = true,
	};
	const struct trace_ops ops = { .record = on_record, .lost = on_lost };
	char path[] = "/tmp/cut_test.XXXXXX";
	int fd = mkstemp(path);
	struct trace *trace;
	struct meta meta;

	if (fd < 0 || write(fd, bytes, length) != (ssize_t)length)
		exit(1);
	close(fd);
	if (meta_parse("cut", text, strlen(text), &meta))
		exit(1);
	trace = trace_open(path, &options, &meta);
	if (!trace || trace_run(trace, &ops, reading))
		exit(1);
	trace_close(trace);
	meta_free(&meta);
	unlink(path);
}

/* Append a comma and the output of @write_it to @text. */
static void append(char *text, size_t size, const struct cut *cut,
		   void (*write_it)(const struct cut *cut, struct output *out))
{
	char path[] = "/tmp/cut_test.XXXXXX";
	int fd = mkstemp(path);
	struct output *out = output_open(path);
	size_t length = strlen(text);
	ssize_t got;

	text[length++] = ',';
	write_it(cut, out);
	output_close(out);
	got = read(fd, text + length, size - length - 1);
	text[length + (size_t)got] = '\0';
	close(fd);
	unlink(path);
}

static struct gen gen;

/* Write marks before a record: the record's thread has dropped records, and may have waited. */
static void mark(struct gen_stream *stream, uint64_t *seed)
{
	const unsigned int which = gen_random(seed) & 31;
	unsigned int i;

	for (i = 0; i < (which & 3) && which < 4; i++) {
		gen_store(stream->gen, stream->src, stream->channel, 1,
			  SIFIVE_TRACE_RECORD_DROPPED);
		gen_store(stream->gen, stream->src, stream->channel, 4, 10 + which);
		gen_header(stream);
	}
	for (i = 0; i < 2 && (which == 3 || which == 4); i++) {
		gen_store(stream->gen, stream->src, stream->channel, 1,
			  SIFIVE_TRACE_RECORD_WAITED - i);
		gen_store(stream->gen, stream->src, stream->channel, 4, 1000 + which);
	}
}

/* Write a sample's callers: some addresses fit in 32 bits, others do not. */
static void callers(struct gen_stream *stream, uint64_t *seed)
{
	unsigned int count = 1 + gen_random(seed) % CALLERS, i;
	uint64_t address[CALLERS];

	for (i = 0; i < count; i++)
		address[i] = gen_random(seed) & 0x1fffffffffe & (i & 1 ? 0xfffe : ~0ull);
	gen_callers(stream, address, count);
}

/*
 * Generate three sources with interleaved messages, and with counts wider than 32 bits.
 */
static void make(unsigned int count_type, uint64_t seed)
{
	struct gen part[STREAMS], both;
	unsigned int i, n, type;

	for (i = 0; i < STREAMS; i++) {
		struct gen_stream stream;
		uint64_t value[COUNTERS] = { 0xfffffff000, 5 };

		gen_init(&part[i], 2, 40);
		part[i].now = 1000 + i;
		gen_sync(&part[i], i);
		gen_stream_init(&stream, &part[i], (uint8_t)i, 6, (uint8_t)count_type, COUNTERS, 64);
		gen_header(&stream);
		for (n = 0; n < RECORDS; n++) {
			const uint64_t address[2] = {
				0x2a00001000 + (gen_random(&seed) & 0xfffe),
				0x10000 + (gen_random(&seed) & 0xfffe),
			};

			mark(&stream, &seed);
			value[0] += gen_random(&seed) & 0x1ffffffff;
			value[1] += gen_random(&seed) & 0xfff;
			type = gen_random(&seed) & 3;
			if (type == PERFREC_ISR && gen_random(&seed) & 1)
				gen_thread(&stream, (uint32_t)gen_random(&seed) & 3);
			if (type == PERFREC_ISR && gen_random(&seed) & 1)
				callers(&stream, &seed);
			gen_record(&stream, type, address, value);
		}
		gen_sync(&part[i], i);
	}
	gen_init(&both, 2, 40);
	gen_init(&gen, 2, 40);
	gen_merge(&both, &part[0], &part[1], &seed);
	gen_merge(&gen, &both, &part[2], &seed);
	gen_free(&both);
	for (i = 0; i < STREAMS; i++)
		gen_free(&part[i]);
}

static int by_source(const void *a, const void *b)
{
	const struct read *one = a, *two = b;

	if (one->src != two->src)
		return one->src - two->src;
	return (one->time > two->time) - (one->time < two->time);
}

/* Read the trace in @ends + 1 pieces, which end at the offsets in @end and at the trace's end. */
static void read_pieces(const size_t *end, size_t ends, struct reading *reading)
{
	struct cut *cut = cut_new(2, 40);
	size_t begin = 0, i;

	for (i = 0; i <= ends; i++) {
		size_t to = i < ends ? end[i] : gen.length;
		static char text[1 << 16];

		strcpy(text, "{\"version\":1");
		if (i)
			append(text, sizeof(text), cut, cut_write);
		cut_begin(cut);
		cut_feed(cut, gen.data + begin, to - begin);
		if (i < ends) {
			append(text, sizeof(text), cut, cut_rest);
			strcat(text, ",\"continued\":true");
		}
		strcat(text, "}");
		read_piece(gen.data + begin, to - begin, text, reading);
		begin = to;
	}
	cut_free(cut);
}

static void check(struct __test_metadata *_metadata, const size_t *end, size_t ends,
		  const struct reading *whole)
{
	static struct reading got;

	memset(&got, 0, sizeof(got));
	read_pieces(end, ends, &got);
	EXPECT_EQ(0, got.losses);
	ASSERT_EQ(whole->records, got.records);
	qsort(got.record, got.records, sizeof(got.record[0]), by_source);
	ASSERT_EQ(0, memcmp(whole->record, got.record, sizeof(got.record)));
}

FIXTURE(cuts) {
	struct reading whole;
};

FIXTURE_VARIANT(cuts) {
	unsigned int count_type;
};

FIXTURE_VARIANT_ADD(cuts, raw) { .count_type = 0 };
FIXTURE_VARIANT_ADD(cuts, delta) { .count_type = 1 };
FIXTURE_VARIANT_ADD(cuts, xor) { .count_type = 2 };

FIXTURE_SETUP(cuts)
{
	make(variant->count_type, 7);
	memset(&self->whole, 0, sizeof(self->whole));
	read_piece(gen.data, gen.length, "{}", &self->whole);
	ASSERT_EQ(RECORDS * STREAMS, self->whole.records);
	qsort(self->whole.record, self->whole.records, sizeof(self->whole.record[0]), by_source);
}

FIXTURE_TEARDOWN(cuts)
{
	gen_free(&gen);
}

TEST_F(cuts, at_any_message_lose_no_record)
{
	const unsigned int step = effort(5, 1);
	unsigned int messages = 0;
	size_t at;

	/* The first piece has messages from all sources. */
	for (at = 400; at < gen.length; at++)
		if ((gen.data[at - 1] & 3) == 3 && messages++ % step == 0)
			check(_metadata, &at, 1, &self->whole);
}

TEST_F(cuts, into_small_pieces_lose_no_record)
{
	static size_t end[1 << 12];
	size_t at, ends = 0;

	for (at = 1; at < gen.length; at++)
		if ((gen.data[at - 1] & 3) == 3 && at >= (ends ? end[ends - 1] : 0) + 50)
			end[ends++] = at;
	check(_metadata, end, ends, &self->whole);
}

TEST(cut_within_a_message_is_placed_at_its_continuation)
{
	const uint8_t rest[] = { 0x05, 0x07, 0x1c };
	struct cut *cut = cut_new(1, 40);

	EXPECT_EQ(0, cut_place(cut, rest, sizeof(rest)));
	cut_feed(cut, "\x1c\xdd", 2);
	EXPECT_EQ(2, cut_place(cut, rest, sizeof(rest)));
	EXPECT_EQ(-1, cut_place(cut, rest, 1));
	cut_feed(cut, rest, 2);
	EXPECT_EQ(0, cut_place(cut, rest, sizeof(rest)));
	cut_free(cut);
}

TEST_HARNESS_MAIN
