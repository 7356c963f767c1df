// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See gaps.h. */
#include <inttypes.h>

#include "gaps.h"

#define SECOND		1000000000

void gaps_add(struct gaps *gaps, const struct gaps_entry *gap)
{
	struct gaps_entry *last = &gaps->gap[GAPS_MAX - 1];

	if (gaps->count < GAPS_MAX) {
		gaps->gap[gaps->count++] = *gap;
		return;
	}
	last->end = gap->end;
	last->bytes += gap->bytes;
	last->dropped += gap->dropped;
}

/* Add lost bytes, such as the rest of a message cut off by a gap, to the latest gap with bytes. */
static void add_bytes(struct gaps *gaps, uint64_t bytes)
{
	unsigned int i;

	for (i = gaps->count; i > 0; i--)
		if (gaps->gap[i - 1].bytes) {
			gaps->gap[i - 1].bytes += bytes;
			return;
		}
}

void gaps_sink(struct gaps *gaps, const struct sifive_trace_sink *sink)
{
	const struct gaps_entry gap = {
		.begin = sink->gap_begin, .end = sink->gap_end, .bytes = sink->lost - gaps->lost,
	};

	/* If there are several new gaps, only the times of the latest gap are known. */
	if (sink->gaps > gaps->seen)
		gaps_add(gaps, &gap);
	else
		add_bytes(gaps, gap.bytes);
	gaps->seen = sink->gaps;
	gaps->lost = sink->lost;
}

bool gaps_room(struct gaps_room *room, const struct sifive_trace_status *status,
	       uint64_t dropped, uint64_t now, bool last, struct gaps_entry *gap)
{
	const bool full = status->flags & SIFIVE_TRACE_STATUS_WAITING;
	const uint64_t length = status->full_ns - room->full_ns;
	/* Number of times that the buffer has run out of room since the last check. */
	const uint64_t times = status->fulls - room->fulls;
	bool ends = (room->open || times) && (!full || last || (room->open && times));

	/* A thread may count a dropped record late, when there is room again. */
	ends |= last && dropped != room->dropped;
	if (!room->open)
		room->begin = full && times == 1 ? now - length : room->looked;
	*gap = (struct gaps_entry){
		.begin = room->begin,
		.end = room->open && !times ? room->looked + length : now,
		.dropped = dropped - room->dropped,
	};
	if (ends) {
		room->begin = now;
		room->dropped = dropped;
	}
	room->open = full;
	room->looked = now;
	room->full_ns = status->full_ns;
	room->fulls = status->fulls;
	return ends && gap->dropped;
}

/* Convert a time to ticks of the sink's clock. */
static uint64_t ticks(const struct sifive_trace_sink *sink, uint64_t ns, uint64_t hz,
		      unsigned int width)
{
	const __int128 since = (__int128)ns - (__int128)sink->start_ns;

	return (sink->start_time + (uint64_t)(since * (__int128)hz / SECOND)) &
	       (UINT64_MAX >> (64 - width));
}

void gaps_write(const struct gaps *gaps, const struct sifive_trace_sink *sink, uint64_t hz,
		unsigned int width, struct output *out)
{
	unsigned int i;

	for (i = 0; i < gaps->count; i++) {
		const struct gaps_entry *gap = &gaps->gap[i];

		put_string(out, i ? "," : ",\"missing\":[");
		put_string(out, "{");
		if (sink->start_ns && hz)
			put_format(out, "\"begin\":%" PRIu64 ",\"end\":%" PRIu64 ",",
				   ticks(sink, gap->begin, hz, width),
				   ticks(sink, gap->end, hz, width));
		put_format(out, "\"bytes\":%" PRIu64 ",\"dropped\":%" PRIu64 "}", gap->bytes,
			   gap->dropped);
	}
	if (gaps->count)
		put_string(out, "]");
}
