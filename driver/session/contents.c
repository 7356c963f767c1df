// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts, describes and copies the captured bytes. All functions here are called with the system
 * locked.
 */

#include "session.h"

/* Return the flag for a sink that has reached its end: WRAPPED for a ring, otherwise FULL. */
static u32 sink_end(const struct sft_sink *s)
{
	if (sft_sink_full(s))
		return SIFIVE_TRACE_STATUS_FULL;
	return sft_sink_wrapped(s) ? SIFIVE_TRACE_STATUS_WRAPPED : 0;
}

/* Return whether a reader of @sink, which may be SFT_ALL_SINKS, reads sink number @i. */
static bool reads(int sink, unsigned int i)
{
	return sink == SFT_ALL_SINKS || sink == (int)i;
}

bool sft_capture_full(int sink)
{
	unsigned int i;

	for (i = 0; i < sft_hw.capture.sinks; i++)
		if (reads(sink, i) && sft_sink_full(&sft_hw.capture.sink[i]))
			return true;
	return false;
}

/* Return whether the sink's component, or one that sends to it, has reported an error. */
static bool has_failed(const struct sft_sink *s)
{
	const struct sft_component *c;
	struct sft_encoder *e;

	for_each_encoder(e) {
		if (!(s->encoders & BIT_ULL(e->index)))
			continue;
		for (c = &e->c; c != s->owner && !c->sink_error; c = c->down)
			;
		if (c->sink_error)
			return true;
	}
	return false;
}

/* Return the number of bytes that read() can return from sink number @i now. */
static u64 sink_bytes(unsigned int i)
{
	return sft_drain_on() ? sft_drain_unread(i) : sft_sink_bytes(&sft_hw.capture.sink[i]);
}

/* Describe sink number @out->index, which must exist. */
void sft_capture_describe(struct sifive_trace_sink *out)
{
	const struct sft_sink *s = &sft_hw.capture.sink[out->index];
	unsigned int i;

	out->kind = s->kind;
	out->word = s->word;
	out->bytes = sink_bytes(out->index);
	out->offset = 0;
	if (sft_drain_on()) {
		sft_drain_describe(out);
	} else {
		out->flags = sink_end(s);
		for (i = 0; i < out->index; i++)
			out->offset += sink_bytes(i);
	}
	if (has_failed(s))
		out->flags |= SIFIVE_TRACE_STATUS_SINK_ERROR;
	out->src_bits = s->src_bits;
	out->buffer = s->size;
	out->encoders = s->encoders;
	strscpy_pad(out->name, sft_name(s->owner), sizeof(out->name));
}

/* Report two readings of the sink's clock: at START, and now or, if already stopped, at STOP. */
void sft_capture_describe_clock(struct sifive_trace_sink *out)
{
	struct sft_sink *s = &sft_hw.capture.sink[out->index];

	if (s->restarted)
		return;
	if (sft_hw.capture.running)
		sft_timestamp_sample(s, &s->stop);
	out->start_time = s->start.time;
	out->start_ns = s->start.ns;
	out->start_within = s->start.within;
	out->time = s->stop.time;
	out->time_ns = s->stop.ns;
	out->time_within = s->stop.within;
}

/* Return the number of bytes that a reader of @sink can read now. */
u64 sft_capture_bytes(int sink)
{
	u64 bytes = 0;
	unsigned int i;

	for (i = 0; i < sft_hw.capture.sinks; i++)
		if (reads(sink, i))
			bytes += sink_bytes(i);
	return bytes;
}

/* Return the size in bytes of @sink, or of all sinks. */
u64 sft_capture_size(int sink)
{
	u64 size = 0;
	unsigned int i;

	for (i = 0; i < sft_hw.capture.sinks; i++)
		if (reads(sink, i))
			size += sft_hw.capture.sink[i].size;
	return size;
}

/* Check that the capture can be read in its current state. */
int sft_capture_readable(struct sft_why *why)
{
	if (sft_hw.capture.running && sft_hw.capture.kind == SIFIVE_TRACE_SINK_SRAM)
		return sft_fail(why, -EBUSY, "SRAM cannot be read while being written: STOP first");
	return 0;
}

/*
 * Copy captured bytes of @sink, or of all sinks in order, starting at @offset. Returns the
 * number of bytes, or 0 at the end.
 */
ssize_t sft_capture_copy(int sink, void *to, u64 offset, size_t count,
			 struct sft_why *why)
{
	struct sft_capture *cap = &sft_hw.capture;
	size_t bytes, done = 0;
	unsigned int i;
	int ret;

	ret = sft_capture_readable(why);
	if (ret)
		return ret;
	for (i = 0; i < cap->sinks && done < count; i++) {
		if (!reads(sink, i))
			continue;
		bytes = sft_sink_bytes(&cap->sink[i]);
		if (offset >= bytes) {
			offset -= bytes;
			continue;
		}
		done += sft_sink_copy(&cap->sink[i], to + done, offset,
				      count - done);
		offset = 0;
	}
	return done;
}
