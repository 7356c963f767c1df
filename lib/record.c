// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record.h"

/*
 * Writers are instances of two templates. The common one reads any counters
 * through a table of readers. The straight one knows its counters when it is
 * compiled: cycle, perhaps the timestamp, instret, and the first few hpmcounters,
 * which is what a driver hands out to a program that has the counters to itself.
 * It keeps all values in registers, and has one store, one subtraction and one
 * never-taken branch for each of them.
 */

/* Most hpmcounters (from 3 upwards) that the straight writers know. */
#define STRAIGHT_HPM	4

/* Below this width the lower 32 bits of a difference need masking, too. */
#define STRAIGHT_WIDTH	32

PERF_INLINE void write_address(struct perf_stream *s, volatile uint32_t *stimulus,
			       uintptr_t address, const uint32_t type)
{
	uint64_t value = address;

	if (type == PERF_COUNT_XOR) {
		value ^= s->address;
		s->address = address;
	}

	if (PERF_UNLIKELY(value >> 32)) {
		perf_stimulus32(stimulus, (uint32_t)value | 1);
		perf_stimulus32(stimulus, (uint32_t)(value >> 32));
	} else {
		perf_stimulus32(stimulus, (uint32_t)value);
	}
}

/* What the i-th counter's record says when the counter reads @now. */
PERF_INLINE uint64_t advance(struct perf_stream *s, uint32_t i, uint64_t now,
			     const uint32_t type)
{
	uint64_t last;

	if (type == PERF_COUNT_RAW)
		return now;

	last = s->last[i];
	s->last[i] = now;
	return type == PERF_COUNT_DELTA ? now - last : now ^ last;
}

/*
 * A difference is taken modulo 2^64, so that a counter that is narrower and has
 * wrapped shows bits above its width. Only the upper half is masked here.
 */
PERF_INLINE void write_count(struct perf_stream *s, volatile uint32_t *stimulus,
			     uint32_t i, uint64_t value, const uint32_t type)
{
	uint16_t upper;

	perf_stimulus32(stimulus, (uint32_t)value);
	if (PERF_LIKELY(!(value >> 32)))
		return;

	if (type == PERF_COUNT_DELTA)
		value &= s->width[i];
	upper = (uint16_t)(value >> 32);
	if (upper)
		perf_stimulus16(stimulus, upper);
}

PERF_INLINE void write_common(uintptr_t address, uintptr_t address2,
			      struct perf_stream *s, uint32_t kind,
			      const uint32_t type, const bool pair)
{
	volatile uint32_t *stimulus = s->stimulus;
	uint64_t now[PERF_COUNTER_MAX];
	uint32_t i;

	for (i = 0; i < s->count; i++)
		now[i] = s->read[i](s->ts);

	perf_stimulus8(stimulus, (uint8_t)kind);
	write_address(s, stimulus, address, type);
	if (pair)
		write_address(s, stimulus, address2, type);

	for (i = 0; i < s->count; i++) {
		uint64_t value = advance(s, i, now[i], type);

		if (type == PERF_COUNT_DELTA)
			value &= s->width[i];
		write_count(s, stimulus, i, value, type);
	}

	perf_stream_release(s);
}

/* Cycle, the timestamp when @ts, instret, and @hpm hpmcounters from 3 upwards. */
PERF_INLINE void write_straight(uintptr_t address, uintptr_t address2,
				struct perf_stream *s, uint32_t kind,
				const uint32_t type, const bool ts,
				const uint32_t hpm)
{
	volatile uint32_t *stimulus = s->stimulus;
	uint64_t now[3 + STRAIGHT_HPM];
	const uint32_t instret = ts ? 2 : 1;
	const uint32_t count = instret + 1 + hpm;
	uint32_t i;

	now[0] = perf_counter_csr_0();
	if (ts)
		now[1] = perf_counter_timestamp(s->ts);
	now[instret] = perf_counter_csr_2();
	if (hpm > 0)
		now[instret + 1] = perf_counter_csr_3();
	if (hpm > 1)
		now[instret + 2] = perf_counter_csr_4();
	if (hpm > 2)
		now[instret + 3] = perf_counter_csr_5();
	if (hpm > 3)
		now[instret + 4] = perf_counter_csr_6();

	perf_stimulus8(stimulus, (uint8_t)kind);
	write_address(s, stimulus, address, type);
	write_address(s, stimulus, address2, type);

#pragma GCC unroll 8
	for (i = 0; i < count; i++)
		write_count(s, stimulus, i, advance(s, i, now[i], type), type);

	perf_stream_release(s);
}

#define WRITERS_OF_TYPE(type)						\
PERF_LOCAL void write_pair_##type(uintptr_t address, uintptr_t address2,	\
				  struct perf_stream *s, uint32_t kind)	\
{									\
	write_common(address, address2, s, kind, type, true);		\
}									\
PERF_LOCAL void write_single_##type(uintptr_t address, uintptr_t address2, \
				    struct perf_stream *s, uint32_t kind) \
{									\
	write_common(address, address2, s, kind, type, false);		\
}

WRITERS_OF_TYPE(0)
WRITERS_OF_TYPE(1)
WRITERS_OF_TYPE(2)

static perf_record_writer *const pair_writers[] = {
	[PERF_COUNT_RAW]	= write_pair_0,
	[PERF_COUNT_DELTA]	= write_pair_1,
	[PERF_COUNT_XOR]	= write_pair_2,
};

static perf_record_writer *const single_writers[] = {
	[PERF_COUNT_RAW]	= write_single_0,
	[PERF_COUNT_DELTA]	= write_single_1,
	[PERF_COUNT_XOR]	= write_single_2,
};

#define STRAIGHT(type, ts, hpm)						\
PERF_LOCAL void write_straight_##type##_##ts##_##hpm(uintptr_t address,	\
						     uintptr_t address2,	\
						     struct perf_stream *s, \
						     uint32_t kind)	\
{									\
	write_straight(address, address2, s, kind, type, ts, hpm);	\
}

#define STRAIGHT_NAME(type, ts, hpm)	write_straight_##type##_##ts##_##hpm,

#define STRAIGHT_EACH_HPM(X, type, ts) \
	X(type, ts, 0) X(type, ts, 1) X(type, ts, 2) X(type, ts, 3) X(type, ts, 4)

#define STRAIGHT_EACH(X, type) \
	STRAIGHT_EACH_HPM(X, type, 0) STRAIGHT_EACH_HPM(X, type, 1)

STRAIGHT_EACH(STRAIGHT, 0)
STRAIGHT_EACH(STRAIGHT, 1)
STRAIGHT_EACH(STRAIGHT, 2)

/* By count type, whether the timestamp is among the counters, and hpmcounters. */
static perf_record_writer *const straight_writers[3][2][STRAIGHT_HPM + 1] = {
#define STRAIGHT_ROW(type) \
	[type] = { { STRAIGHT_EACH_HPM(STRAIGHT_NAME, type, 0) }, \
		   { STRAIGHT_EACH_HPM(STRAIGHT_NAME, type, 1) } },
	STRAIGHT_ROW(0)
	STRAIGHT_ROW(1)
	STRAIGHT_ROW(2)
};

/* The straight writer for a stream's counters, NULL when there is none. */
PERF_LOCAL perf_record_writer *straight_writer(const struct perf_stream *s)
{
	const uint32_t timestamp = 1u << PERF_COUNTER_TIMESTAMP;
	uint32_t i, hpm;

	for (i = 0; i < s->count; i++)
		if (PERF_COUNTER_WIDTH(s->counter[i].info) < STRAIGHT_WIDTH)
			return 0;

	for (hpm = 0; hpm <= STRAIGHT_HPM; hpm++)
		if ((s->mask & ~timestamp) == ((8u << hpm) - 1 - timestamp))
			return straight_writers[s->type][!!(s->mask & timestamp)][hpm];

	return 0;
}

PERF_INTERNAL int perf_stream_init(struct perf_stream *stream,
				   volatile uint32_t *stimulus,
				   const volatile uint32_t *ts, uint32_t type,
				   const struct perf_counter *counter,
				   uint32_t count)
{
	perf_record_writer *straight;
	uint32_t mask = 0;
	uint32_t i, number;

	if (type > PERF_COUNT_XOR || count > PERF_COUNTER_MAX)
		return -1;

	for (i = 0; i < count; i++) {
		number = counter[i].number;
		if (number >= PERF_COUNTER_MAX || mask & 1u << number)
			return -1;
		mask |= 1u << number;
	}

	*stream = (struct perf_stream) {
		.count		= count,
		.stimulus	= stimulus,
		.ts		= ts,
		.write_pair	= pair_writers[type],
		.write_single	= single_writers[type],
		.mask		= mask,
		.type		= type,
	};

	for (i = 0; i < count; i++) {
		/* Place among the counters with lower numbers. */
		uint32_t below = mask & ((1u << counter[i].number) - 1);
		uint32_t place = 0;

		for (; below; below &= below - 1)
			place++;

		stream->counter[place] = counter[i];
		stream->read[place] = perf_counter_reader_of(counter[i].number);
		stream->width[place] = perf_counter_mask(counter[i].info);
	}

	straight = straight_writer(stream);
	if (straight)
		stream->write_pair = straight;

	return 0;
}

PERF_INTERNAL void perf_stream_header(struct perf_stream *stream)
{
	volatile uint32_t *stimulus = stream->stimulus;
	uint32_t i;

	perf_stimulus32(stimulus, PERF_RECORD_MAGIC);
	perf_stimulus8(stimulus, (uint8_t)stream->type);
	perf_stimulus32(stimulus, stream->mask);

	for (i = 0; i < stream->count; i++) {
		const struct perf_counter *counter = &stream->counter[i];

		perf_stimulus32(stimulus, counter->type);
		if (counter->type == PERF_EVENT_RAW) {
			perf_stimulus32(stimulus, (uint32_t)counter->data);
			perf_stimulus32(stimulus, (uint32_t)(counter->data >> 32));
		} else {
			perf_stimulus32(stimulus, counter->code);
		}
		perf_stimulus32(stimulus, counter->info);
	}

	stream->address = 0;
	for (i = 0; i < stream->count; i++)
		stream->last[i] = stream->type == PERF_COUNT_DELTA ?
				  stream->read[i](stream->ts) : 0;
}
