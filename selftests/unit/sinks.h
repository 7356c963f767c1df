/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Writes the traces of two sinks of one recording. */
#ifndef SELFTESTS_UNIT_SINKS_H
#define SELFTESTS_UNIT_SINKS_H

#include "command_fixture.h"

#define RECORDS		200
#define SINK_SOURCES	2	/* sources of each sink */
#define AHEAD		777	/* ticks of the first sink's clock */
#define STARTED		500	/* the other sink's clock at that time */
#define SECOND		1000000000ull
#define HZ		10000000

#define SHARED	"\"version\":1,\"ts_width\":%u,\"ts_hz\":10000000,\"ts_scheme\":\"xor\",\"exe\":\"/bin/x\""

/* A side-car file with readings of the clock at START and at STOP. */
struct sidecar {
	const char	*path;
	unsigned int	hart;
	unsigned int	width;
	uint64_t	start;
	uint64_t	start_ns;
	uint64_t	stop;
	uint64_t	stop_ns;
	const char	*wrapped;
	const char	*coverage;
	const char	*more;
};

static inline void write_meta(const struct sidecar *s)
{
	const uint64_t mask = ~0ull >> (64 - s->width);
	char text[1200];

	snprintf(text, sizeof(text),
		 "{" SHARED ",\"srcbits\":1,\"wrapped\":%s,\"sources\":[{\"src\":0,\"hart\":%u,\"cpu\":%u},{\"src\":1,\"hart\":%u,\"cpu\":%u}],\"coverage\":%s,\"clock_samples\":[{\"time\":%llu,\"ns\":%llu,\"within\":100},{\"time\":\"0x%llx\",\"ns\":%llu,\"within\":50}]%s}",
		 s->width, s->wrapped, s->hart, s->hart, s->hart + 1, s->hart + 1, s->coverage,
		 (unsigned long long)(s->start & mask), (unsigned long long)s->start_ns,
		 (unsigned long long)(s->stop & mask), (unsigned long long)s->stop_ns, s->more);
	write_file(s->path, text, strlen(text));
}

#define COVERAGE	"{\"full\":false,\"bytes\":1,\"buffer\":100}"

/*
 * Two clocks with the same rate. At START and at STOP, the second clock was read 20 us after the
 * first.
 */
static inline struct sidecar first_sink(void)
{
	return (struct sidecar){
		.path = "a.rtd.meta", .width = 40, .start = STARTED + AHEAD, .start_ns = SECOND,
		.stop = STARTED + AHEAD + 10 * HZ, .stop_ns = 11 * SECOND, .wrapped = "false",
		.coverage = COVERAGE, .more = "",
	};
}

static inline struct sidecar second_sink(void)
{
	return (struct sidecar){
		.path = "b.rtd.meta", .hart = 2, .width = 40, .start = STARTED + 200,
		.start_ns = SECOND + 20000, .stop = STARTED + 200 + 10 * HZ,
		.stop_ns = 11 * SECOND + 20000, .wrapped = "false", .coverage = COVERAGE, .more = "",
	};
}

static inline void write_metas(void)
{
	struct sidecar a = first_sink(), b = second_sink();

	write_meta(&a);
	write_meta(&b);
}

/*
 * A recording with two sinks, and the same recording with a single sink that uses the first sink's
 * clock.
 */
struct sinks {
	struct gen		own[2];
	struct gen		one;
	struct gen_stream	stream[2][SINK_SOURCES];
	struct gen_stream	same[2][SINK_SOURCES];
};

static inline void begin_stream(struct gen_stream *stream, struct gen *gen, unsigned int src,
			 uint64_t now)
{
	gen->now = now;
	gen_sync(gen, src);
	gen_stream_init(stream, gen, (uint8_t)src, 6, 1, 1, 64);
	gen_header(stream);
}

/* Generate the traces. The first message is @begin ticks after the second sink's clock was 0. */
static inline void make_sinks_at(struct sinks *sinks, bool delta, unsigned int width,
				 uint64_t begin)
{
	uint64_t seed = 1, now = begin, value = 0;
	unsigned int i, sink, src;

	gen_init(&sinks->one, 2, width);
	sinks->one.ts_delta = delta;
	for (sink = 0; sink < 2; sink++) {
		gen_init(&sinks->own[sink], 1, width);
		sinks->own[sink].ts_delta = delta;
		for (src = 0; src < SINK_SOURCES; src++) {
			begin_stream(&sinks->stream[sink][src], &sinks->own[sink], src,
				     now + !sink * AHEAD);
			begin_stream(&sinks->same[sink][src], &sinks->one,
				     sink * SINK_SOURCES + src, now + AHEAD);
			now = sinks->one.now - AHEAD + 10;
		}
	}
	for (i = 0; i < RECORDS; i++) {
		const uint64_t address[2] = { MAIN + 2 * i, FIB };

		sink = gen_random(&seed) & 1;
		src = gen_random(&seed) & 1;
		value += 10;
		sinks->own[sink].now = now + !sink * AHEAD;
		sinks->one.now = now + AHEAD;
		gen_record(&sinks->stream[sink][src], i & 1, address, &value);
		gen_record(&sinks->same[sink][src], i & 1, address, &value);
		now = sinks->one.now - AHEAD + 1 + gen_random(&seed) % 100000;
	}
	write_file("a.rtd", sinks->own[0].data, sinks->own[0].length);
	write_file("b.rtd", sinks->own[1].data, sinks->own[1].length);
}

static inline void make_sinks(struct sinks *sinks, bool delta)
{
	make_sinks_at(sinks, delta, 40, 1000);
}

static inline void free_sinks(struct sinks *sinks)
{
	gen_free(&sinks->one);
	gen_free(&sinks->own[0]);
	gen_free(&sinks->own[1]);
}

/* Write the traces of two sinks; the second sink's buffer became full within a message. */
static inline void write_cut_sinks(void)
{
	struct sidecar b = second_sink();
	struct sinks sinks;

	make_sinks(&sinks, false);
	write_metas();
	write_file("b.rtd", sinks.own[1].data, sinks.own[1].length - 2);
	b.coverage = "{\"full\":true,\"bytes\":1,\"buffer\":100}";
	write_meta(&b);
	free_sinks(&sinks);
}

#endif /* SELFTESTS_UNIT_SINKS_H */
