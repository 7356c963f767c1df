// SPDX-License-Identifier: GPL-2.0-only
/*
 * Performance records written by the kernel, one stream for each hart.
 * Documentation/trace-format.rst describes the format.
 */

#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/io.h>

#include "record.h"

/* The offset within the register selects the size of the store. */
static void put32(const struct sft_stream *s, u32 value)
{
	writel(value, s->stimulus);
}

static void put16(const struct sft_stream *s, u16 value)
{
	writew(value, s->stimulus + 2);
}

static void put8(const struct sft_stream *s, u8 value)
{
	writeb(value, s->stimulus + 3);
}

static void put_definition(const struct sft_stream *s,
			   const struct sifive_trace_event *ev)
{
	put32(s, ev->type);
	if (ev->type == SIFIVE_TRACE_EVENT_RAW) {
		put32(s, lower_32_bits(ev->data));
		put32(s, upper_32_bits(ev->data));
	} else {
		put32(s, ev->code);
	}
	put32(s, ev->info);
}

/*
 * Write a header, and set the previous values to those in the header. @now contains the counters'
 * values, by number.
 */
void sft_record_header(struct sft_stream *s, const u64 *now)
{
	unsigned long mask = s->mask;
	unsigned int n;

	put32(s, SIFIVE_TRACE_RECORD_MAGIC);
	put8(s, s->type);
	put32(s, s->mask);
	for_each_set_bit(n, &mask, SIFIVE_TRACE_MAX_COUNTERS) {
		put_definition(s, &s->event[n]);
		s->last[n] = s->type == SIFIVE_TRACE_SAMPLING_DELTA ? now[n] : 0;
	}
	s->address = 0;
	s->left = s->interval;
}

static u64 step(struct sft_stream *s, unsigned int n, u64 now)
{
	u32 info = s->event[n].info;
	u64 last = s->last[n];

	s->last[n] = now;
	switch (s->type) {
	case SIFIVE_TRACE_SAMPLING_DELTA:
		return (now - last) & GENMASK_ULL(FIELD_GET(SIFIVE_TRACE_COUNTER_WIDTH, info), 0);
	case SIFIVE_TRACE_SAMPLING_XOR:
		return now ^ last;
	default:
		return now;
	}
}

/* @value is an address, or the XOR of two addresses. */
static void put_address(const struct sft_stream *s, u64 value)
{
	if (!upper_32_bits(value)) {
		put32(s, lower_32_bits(value));
		return;
	}
	put32(s, lower_32_bits(value) | 1);
	put32(s, upper_32_bits(value));
}

void sft_record_mark(const struct sft_stream *s, u8 kind)
{
	put8(s, kind);
}

/* Write the id of the following sample's thread, before its callers or stack. */
void sft_record_thread(const struct sft_stream *s, u32 id)
{
	put8(s, SIFIVE_TRACE_RECORD_THREAD);
	put32(s, id);
}

/* Write @address XORed with the previous address, *@last. */
void sft_record_address(const struct sft_stream *s, u64 address, u64 *last)
{
	address &= ~1ull;
	put_address(s, address ^ *last);
	*last = address;
}

/* Write a register, or 8 bytes of a stack. */
void sft_record_word(const struct sft_stream *s, u64 value)
{
	u32 upper = upper_32_bits(value);

	put32(s, lower_32_bits(value));
	if (!upper)
		return;
	put16(s, upper);
	if (upper >> 16)
		put16(s, upper >> 16);
}

/* Called before a record is written: write a header if due. @now: counter values, by number. */
void sft_record_repeat(struct sft_stream *s, const u64 *now)
{
	if (!s->interval)
		return;
	if (!s->left)
		sft_record_header(s, now);
	s->left--;
}

/* Write a sample. @now: counter values, by number. */
void sft_record_isr(struct sft_stream *s, u64 pc, const u64 *now)
{
	unsigned long mask = s->mask;
	unsigned int n;
	u64 value;

	put8(s, SIFIVE_TRACE_RECORD_ISR);
	if (s->type == SIFIVE_TRACE_SAMPLING_XOR)
		sft_record_address(s, pc, &s->address);
	else
		put_address(s, pc & ~1ull);
	for_each_set_bit(n, &mask, SIFIVE_TRACE_MAX_COUNTERS) {
		value = step(s, n, now[n]);
		put32(s, lower_32_bits(value));
		if (upper_32_bits(value) & U16_MAX)
			put16(s, upper_32_bits(value));
	}
}
