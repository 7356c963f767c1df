// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "emit.h"
#include "record.h"

/* Below this width the lower 32 bits of a difference need masking, too. */
#define NARROW	32

PERF_INTERNAL int perf_layout_init(struct perf_layout *layout, uint32_t type,
				   const struct perf_counter *counter,
				   uint32_t count)
{
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

	*layout = (struct perf_layout) {
		.type	= type,
		.count	= count,
		.mask	= mask,
	};

	for (i = 0; i < count; i++) {
		/* Place among the counters with lower numbers. */
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

/* Each count type by itself, as it is asked for in each count of a record. */
PERF_INLINE void record_of_type(struct perf_stream *s, uint32_t kind,
				uintptr_t address, uintptr_t address2,
				uint64_t *now, const uint32_t type)
{
	const struct perf_layout *layout = s->layout;
	volatile uint32_t *stimulus = s->stimulus;
	const uint32_t count = layout->count;
	const bool poll = layout->poll == PERF_POLL_STORE;

	perf_emit_place(s, stimulus, kind, address, address2,
			kind <= PERF_RECORD_EXIT, type, poll);
	if (perf_emit_values(s, now, count, type) >> 32 || layout->narrow)
		perf_emit_long(s, now, count, poll);
	else
		perf_emit_short(stimulus, now, count, poll);
}

PERF_INTERNAL void perf_stream_record(struct perf_stream *stream, uint32_t kind,
				      uintptr_t address, uintptr_t address2,
				      const uint64_t *now)
{
	const struct perf_layout *layout = stream->layout;
	uint64_t value[PERF_COUNTER_MAX];
	uint32_t i;

	for (i = 0; i < layout->count; i++)
		value[i] = now[i];
	if (layout->poll == PERF_POLL_RECORD)
		perf_emit_ready(stream->stimulus);

	switch (layout->type) {
	case PERF_COUNT_RAW:
		record_of_type(stream, kind, address, address2, value,
			       PERF_COUNT_RAW);
		break;
	case PERF_COUNT_DELTA:
		record_of_type(stream, kind, address, address2, value,
			       PERF_COUNT_DELTA);
		break;
	default:
		record_of_type(stream, kind, address, address2, value,
			       PERF_COUNT_XOR);
		break;
	}
}

PERF_INTERNAL void perf_stream_header(struct perf_stream *stream,
				      const uint64_t *now)
{
	const struct perf_layout *layout = stream->layout;
	volatile uint32_t *stimulus = stream->stimulus;
	const bool poll = layout->poll != PERF_POLL_NOT;
	uint32_t i;

	perf_emit32(stimulus, PERF_RECORD_MAGIC, poll);
	perf_emit8(stimulus, (uint8_t)layout->type, poll);
	perf_emit32(stimulus, layout->mask, poll);

	for (i = 0; i < layout->count; i++) {
		const struct perf_counter *counter = &layout->counter[i];

		perf_emit32(stimulus, counter->type, poll);
		if (counter->type == PERF_EVENT_RAW) {
			perf_emit32(stimulus, (uint32_t)counter->data, poll);
			perf_emit32(stimulus, (uint32_t)(counter->data >> 32),
				    poll);
		} else {
			perf_emit32(stimulus, counter->code, poll);
		}
		perf_emit32(stimulus, counter->info, poll);
	}

	stream->address = 0;
	for (i = 0; i < layout->count; i++)
		stream->last[i] = layout->type == PERF_COUNT_DELTA ? now[i] : 0;
}
