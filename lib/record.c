// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "record.h"

/* Below this width, the lower 32 bits of a difference also need masking. */
#define NARROW	32

PERF_INTERNAL int perf_layout_init(struct perf_layout *layout, uint32_t type,
				   const struct perf_counter *counter,
				   uint32_t count)
{
	uint32_t mask = 0;
	uint32_t i, number;

	if (type > SIFIVE_TRACE_RECORD_TYPE_MAX || count > PERF_COUNTER_MAX)
		return -1;

	for (i = 0; i < count; i++) {
		number = counter[i].number;
		if (number >= PERF_COUNTER_MAX || mask & 1u << number)
			return -1;
		mask |= 1u << number;
	}

	*layout = (struct perf_layout) {
		.type	= type,
		.count	= count,
		.mask	= mask,
	};

	for (i = 0; i < count; i++) {
		/* The counter's index is the number of counters with lower numbers. */
		uint32_t below = mask & ((1u << counter[i].number) - 1);
		uint32_t place = 0;

		for (; below; below &= below - 1)
			place++;

		layout->counter[place] = counter[i];
		layout->number[place] = (uint8_t)counter[i].number;
		layout->width[place] = perf_counter_mask(counter[i].info);
		if (PERF_COUNTER_WIDTH(counter[i].info) < NARROW)
			layout->narrow = true;
	}

	return 0;
}

PERF_LOCAL void emit32(const struct perf_stream *s, uint32_t value, bool poll)
{
	if (poll)
		perf_wait_ready(s);
	perf_stimulus32(s->stimulus, value);
}

PERF_LOCAL void emit8(const struct perf_stream *s, uint32_t value, bool poll)
{
	if (poll)
		perf_wait_ready(s);
	perf_stimulus8(s->stimulus, value);
}

PERF_LOCAL void emit_address(struct perf_stream *s, uintptr_t address, bool poll)
{
	uint64_t value = address;

	if (s->layout->type == SIFIVE_TRACE_RECORD_XOR) {
		value ^= s->address;
		s->address = address;
	}
	if (!(value >> 32)) {
		emit32(s, (uint32_t)value, poll);
		return;
	}
	emit32(s, (uint32_t)value | 1, poll);
	emit32(s, (uint32_t)(value >> 32), poll);
}

/* Return the count to record for counter @i, which has the value @now. */
PERF_LOCAL uint64_t take_count(struct perf_stream *s, uint32_t i, uint64_t now)
{
	const uint64_t last = s->last[i];

	if (s->layout->type == SIFIVE_TRACE_RECORD_RAW)
		return now;
	s->last[i] = now;
	return s->layout->type == SIFIVE_TRACE_RECORD_DELTA ? now - last : now ^ last;
}

PERF_INTERNAL void perf_stream_record(struct perf_stream *stream, uint32_t kind,
				      uintptr_t address, uintptr_t address2,
				      const uint64_t *now)
{
	const struct perf_layout *layout = stream->layout;
	const bool poll = layout->poll == PERF_POLL_STORE;
	uint32_t i;

	if (layout->poll == PERF_POLL_RECORD)
		perf_wait_ready(stream);
	emit8(stream, kind, poll);
	emit_address(stream, address, poll);
	if (kind <= PERF_RECORD_EXIT)
		emit_address(stream, address2, poll);

	for (i = 0; i < layout->count; i++) {
		/*
		 * Differences, and the sums that are a thread's own counts, are modulo 2^64. If a
		 * narrower counter has wrapped, these values have bits above its width.
		 */
		uint64_t value = take_count(stream, i, now[i]) & layout->width[i];
		uint16_t upper = (uint16_t)(value >> 32);

		emit32(stream, (uint32_t)value, poll);
		if (!upper)
			continue;
		if (poll)
			perf_wait_ready(stream);
		perf_stimulus16(stream->stimulus, upper);
	}
}

PERF_INTERNAL void perf_stream_header(struct perf_stream *stream, uint32_t flags,
				      uint32_t owner, const uint64_t *now)
{
	const struct perf_layout *layout = stream->layout;
	const bool poll = layout->poll != PERF_POLL_NOT;
	uint32_t i;

	emit32(stream, SIFIVE_TRACE_RECORD_MAGIC, poll);
	emit8(stream, layout->type | flags, poll);
	if (flags)
		emit32(stream, owner, poll);
	emit32(stream, layout->mask, poll);

	for (i = 0; i < layout->count; i++) {
		const struct perf_counter *counter = &layout->counter[i];

		emit32(stream, counter->type, poll);
		if (counter->type == SIFIVE_TRACE_EVENT_RAW) {
			emit32(stream, (uint32_t)counter->data, poll);
			emit32(stream, (uint32_t)(counter->data >> 32), poll);
		} else {
			emit32(stream, counter->code, poll);
		}
		emit32(stream, counter->info, poll);
	}

	stream->address = 0;
	for (i = 0; i < layout->count; i++)
		stream->last[i] = layout->type == SIFIVE_TRACE_RECORD_DELTA ? now[i] : 0;
}
