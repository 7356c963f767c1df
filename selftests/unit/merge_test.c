// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Merge: traces of several sinks become the trace that one sink would have made. */
#include "command_fixture.h"
#include "nexus_collect.h"

#define RECORDS		200
#define SOURCES		2	/* of each sink */
#define AHEAD		777	/* ticks of the second sink's clock */
#define SAMPLED		5000000

#define SHARED	"\"version\":1,\"ts_width\":40,\"ts_hz\":10000000,\"ts_scheme\":\"xor\",\"exe\":\"/bin/x\""

static void write_meta(const char *path, const char *wrapped, unsigned int hart,
		       uint64_t time, uint64_t ns, const char *more)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "{" SHARED ",\"srcbits\":1,\"wrapped\":%s,\"sources\":[{\"src\":0,\"hart\":%u,\"cpu\":%u},{\"src\":1,\"hart\":%u,\"cpu\":%u}],\"coverage\":{\"full\":false,\"bytes\":1,\"buffer\":100},\"clock_sample\":{\"time\":%llu,\"ns\":%llu,\"within\":100}%s}",
		 wrapped, hart, hart, hart + 1, hart + 1, (unsigned long long)time,
		 (unsigned long long)ns, more);
	write_file(path, text, strlen(text));
}

/* Both clocks, 20 us apart. */
static void write_metas(const char *more)
{
	write_meta("a.rtd.meta", "false", 0, SAMPLED, 1000000000, more);
	write_meta("b.rtd.meta", "false", 2, SAMPLED + 200 + AHEAD, 1000020000, more);
}

/* What each of two sinks gets, and one sink would get, whose clock is the one ahead. */
struct sinks {
	struct gen		own[2];
	struct gen		one;
	struct gen_stream	stream[2][SOURCES];
	struct gen_stream	same[2][SOURCES];
};

static void begin_stream(struct gen_stream *stream, struct gen *gen, unsigned int src,
			 uint64_t now)
{
	gen->now = now;
	gen_sync(gen, src);
	gen_stream_init(stream, gen, (uint8_t)src, 6, 1, 1, 64);
	gen_header(stream);
}

static void make_sinks(struct sinks *sinks, bool delta)
{
	uint64_t seed = 1, now = 1000, value = 0;
	unsigned int i, sink, src;

	gen_init(&sinks->one, 2, 40);
	sinks->one.ts_delta = delta;
	for (sink = 0; sink < 2; sink++) {
		gen_init(&sinks->own[sink], 1, 40);
		sinks->own[sink].ts_delta = delta;
		for (src = 0; src < SOURCES; src++) {
			begin_stream(&sinks->stream[sink][src], &sinks->own[sink], src,
				     now + sink * AHEAD);
			begin_stream(&sinks->same[sink][src], &sinks->one, sink * SOURCES + src,
				     now + AHEAD);
			now = sinks->one.now - AHEAD + 10;
		}
	}
	for (i = 0; i < RECORDS; i++) {
		const uint64_t address[2] = { MAIN + 2 * i, FIB };

		sink = gen_random(&seed) & 1;
		src = gen_random(&seed) & 1;
		value += 10;
		sinks->own[sink].now = now + sink * AHEAD;
		sinks->one.now = now + AHEAD;
		gen_record(&sinks->stream[sink][src], i & 1, address, &value);
		gen_record(&sinks->same[sink][src], i & 1, address, &value);
		now = sinks->one.now - AHEAD + 1 + gen_random(&seed) % 100000;
	}
	write_file("a.rtd", sinks->own[0].data, sinks->own[0].length);
	write_file("b.rtd", sinks->own[1].data, sinks->own[1].length);
}

static void free_sinks(struct sinks *sinks)
{
	gen_free(&sinks->one);
	gen_free(&sinks->own[0]);
	gen_free(&sinks->own[1]);
}

TEST_F(command, merged_is_what_one_sink_would_have)
{
	static char bytes[SIZE];
	struct sinks sinks;
	FILE *file;

	make_sinks(&sinks, false);
	write_metas("");
	run(self, "merge -o m.rtd a.rtd b.rtd");
	ASSERT_EQ(0, self->status) { TH_LOG("%s", self->err); }
	EXPECT_NE(NULL, strstr(self->err, "2 traces, 4 encoders; their clocks agree within 301 ns"))
		TH_LOG("%s", self->err);
	file = fopen("m.rtd", "rb");
	ASSERT_NE(NULL, file);
	ASSERT_LT(sinks.one.length, sizeof(bytes));
	EXPECT_EQ(sinks.one.length, fread(bytes, 1, sizeof(bytes), file));
	EXPECT_EQ(0, memcmp(bytes, sinks.one.data, sinks.one.length));
	fclose(file);
	/* Its side-car file describes it; the reader finds nothing missing. */
	run(self, "report --strict m.rtd");
	EXPECT_EQ(0, self->status) TH_LOG("%s", self->err);
	read_file("m.rtd.meta", self->out);
	EXPECT_NE(NULL, strstr(self->out, "\"srcbits\":2"));
	EXPECT_NE(NULL, strstr(self->out, "\"buffer\":200"));
	EXPECT_EQ(NULL, strstr(self->out, "clock_sample"));
	free_sinks(&sinks);
}

TEST_F(command, order_of_the_traces_does_not_matter_to_times)
{
	static char first[SIZE];
	struct sinks sinks;

	make_sinks(&sinks, false);
	write_metas("");
	run(self, "merge -o m.rtd a.rtd b.rtd");
	run(self, "replay -q m.rtd");
	EXPECT_EQ(0, self->status);
	strcpy(first, self->out);
	run(self, "merge -o m.rtd b.rtd a.rtd");
	run(self, "replay -q m.rtd");
	EXPECT_STREQ(first, self->out);
	EXPECT_LT(1000, strlen(first));
	free_sinks(&sinks);
}

TEST_F(command, differences_of_times)
{
	struct sinks sinks;
	char *at;

	make_sinks(&sinks, true);
	write_metas("");
	for (const char *path = "a.rtd.meta"; path; path = *path == 'a' ? "b.rtd.meta" : NULL) {
		read_file(path, self->out);
		at = strstr(self->out, "\"xor\"");
		ASSERT_NE(NULL, at);
		memmove(at + 7, at + 5, strlen(at + 5) + 1);
		memcpy(at, "\"delta\"", 7);
		write_file(path, self->out, strlen(self->out));
	}
	run(self, "merge -o m.rtd a.rtd b.rtd");
	ASSERT_EQ(0, self->status) { TH_LOG("%s", self->err); }
	read_file("m.rtd", self->out);
	EXPECT_EQ(0, memcmp(self->out, sinks.one.data, sinks.one.length));
	free_sinks(&sinks);
}

static void expect_refused(struct __test_metadata *_metadata, FIXTURE_DATA(command) *self,
			   const char *arguments, int status, const char *why)
{
	run(self, "merge -o m.rtd %s", arguments);
	EXPECT_EQ(status, self->status);
	EXPECT_NE(NULL, strstr(self->err, why)) TH_LOG("%s: %s", why, self->err);
	EXPECT_NE(0, access("m.rtd", F_OK)) TH_LOG("%s", why);
	EXPECT_NE(0, access("m.rtd.meta", F_OK)) TH_LOG("%s", why);
}

TEST_F(command, what_cannot_be_merged)
{
	struct sinks sinks;

	make_sinks(&sinks, false);
	write_metas("");
	expect_refused(_metadata, self, "a.rtd", 2, "takes the traces of all sinks");
	expect_refused(_metadata, self, "a.rtd none.rtd", 3, "none.rtd");
	expect_refused(_metadata, self, "a.rtd a.rtd", 3, "given twice");
	unlink("b.rtd.meta");
	expect_refused(_metadata, self, "a.rtd b.rtd", 3, "needs the side-car files");
	write_meta("b.rtd.meta", "true", 2, 1, 1, "");
	expect_refused(_metadata, self, "a.rtd b.rtd", 3, "oldest bytes were overwritten");
	write_meta("b.rtd.meta", "false", 2, 1, 0, "");
	expect_refused(_metadata, self, "a.rtd b.rtd", 3, "no \"clock_sample\"");
	write_meta("b.rtd.meta", "false", 2, 1, 1, ",\"piece\":1");
	expect_refused(_metadata, self, "a.rtd b.rtd", 3, "a piece of a recording");
	write_meta("b.rtd.meta", "false", 2, 1, 1, ",\"channel\":3");
	expect_refused(_metadata, self, "a.rtd b.rtd", 3, "not of the same recording");
	write_metas("");
	sinks.own[1].data[sinks.own[1].length / 2] ^= 2;
	write_file("b.rtd", sinks.own[1].data, sinks.own[1].length);
	expect_refused(_metadata, self, "a.rtd b.rtd", 3, "a merged trace would hide it");
	run(self, "merge -o b.rtd a.rtd b.rtd");
	EXPECT_EQ(3, self->status);
	EXPECT_NE(NULL, strstr(self->err, "it is an input"));
	free_sinks(&sinks);
}

TEST_F(command, a_reader_of_two_traces_names_merge)
{
	run(self, "report a.rtd b.rtd");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "sifive-trace merge")) TH_LOG("%s", self->err);
}

/* All layouts: fixed fields' widths, and the most variable fields. */
static const struct {
	uint8_t tcode;
	uint8_t bits[3];
	unsigned int fields;
} layouts[] = {
	{ 2, { 0 }, 1 }, { 3, { 0 }, 1 }, { 4, { 2 }, 2 }, { 7, { 0 }, 2 }, { 8, { 4 }, 1 },
	{ 9, { 4 }, 2 }, { 11, { 4 }, 2 }, { 12, { 4, 2 }, 2 }, { 28, { 2 }, 3 },
	{ 29, { 4, 2 }, 3 }, { 30, { 0 }, 1 },
};

TEST(messages_are_written_as_an_encoder_does)
{
	struct collected all;
	struct nexus nexus;
	uint64_t seed = 7;
	unsigned int i, n, src_bits;

	for (i = 0; i < 3000; i++) {
		const unsigned int kind = gen_random(&seed) % (sizeof(layouts) / sizeof(layouts[0]));
		uint8_t fixed[2], bytes[NEXUS_ENCODED_MAX];
		uint64_t field[3], raw = 0, before;
		struct nexus_options options = { 0 };
		struct gen gen;
		size_t length;

		src_bits = gen_random(&seed) % (NEXUS_SRC_BITS_MAX + 1);
		options.src_bits = src_bits;
		gen_init(&gen, src_bits, gen_random(&seed) & 1 ? 40 : 0);
		gen.now = gen_random(&seed) >> 30;
		for (n = 0; n < 2; n++)
			fixed[n] = gen_random(&seed) & ((1u << layouts[kind].bits[n]) - 1);
		for (n = 0; n < 3; n++)
			field[n] = gen_random(&seed) >> gen_random(&seed) % 64;
		/* Stay within the longest message. */
		field[1] >>= 20;
		field[2] >>= 30;
		n = gen_random(&seed) & ((1u << src_bits) - 1);
		gen_message(&gen, layouts[kind].tcode, n, fixed, layouts[kind].bits, field,
			    layouts[kind].fields);
		collect(&options, gen.data, gen.length, gen.length, &all);
		ASSERT_EQ(1, all.items);
		ASSERT_EQ(NEXUS_MESSAGE, all.item[0]);
		before = 0;
		raw = all.message[0].time ^ before;
		ASSERT_EQ(0, nexus_init(&nexus, &options));
		length = nexus_encode(&nexus, &all.message[0], raw, bytes);
		ASSERT_EQ(gen.length, length);
		ASSERT_EQ(0, memcmp(bytes, gen.data, length)) {
			TH_LOG("TCODE %u, srcbits %u", layouts[kind].tcode, src_bits);
		}
		gen_free(&gen);
	}
}

TEST_HARNESS_MAIN
