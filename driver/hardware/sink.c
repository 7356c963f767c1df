// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sinks. SBA is system memory, which memory.c provides. SRAM is inside the component and is read
 * through a window, but never while the component writes, so STOP copies it.
 */

#include <linux/bitfield.h>
#include <linux/jhash.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include <linux/sifive_trace_regs.h>

#include "hardware.h"

/* Larger than any component's SRAM; a register that reads as all ones exceeds this limit. */
#define SRAM_MAX	SZ_16M

/* The Error message that reports missing data; one is written for each source. */
#define ERROR_TCODE	8
#define ERROR_LOST	0x20
#define ERROR_BITS	(6 + 4 + 6)
#define SLICE_BITS	6

/* Padding of sink words; no message begins with this byte. */
#define IDLE		0xff

static u32 sink_word(const struct sft_component *c)
{
	return 4 << FIELD_GET(TR_IMPL_SINK_BYTES, c->impl);
}

/*
 * Return the size of the component's SRAM, from the implemented bits of the write pointer. The
 * component must be active and idle; its write pointer is lost.
 */
static u64 sram_size(struct sft_component *c)
{
	sft_write(c, TR_SINK_WP, ~0u);
	return (u64)round_down(sft_read(c, TR_SINK_WP), sink_word(c)) + sink_word(c);
}

/* Copy in steps, and let other tasks run between them. */
static void copy(void *to, const void *from, size_t count)
{
	size_t step;

	for (; count; count -= step, to += step, from += step) {
		step = min_t(size_t, count, SZ_1M);
		memcpy(to, from, step);
		cond_resched();
	}
}

/*
 * Set the size and memory of a sink whose kind and owner are set. The owner must be active
 * and idle. @wanted: size of SBA memory in bytes; the size of SRAM is fixed.
 */
int sft_sink_take(struct sft_sink *s, size_t wanted, struct sft_why *why)
{
	u64 size;

	s->word = sink_word(s->owner);
	if (s->kind == SIFIVE_TRACE_SINK_SBA)
		return sft_memory_take(s, wanted, why);
	size = sram_size(s->owner);
	if (size > SRAM_MAX)
		return sft_fail(why, -EIO, "%s: its SRAM reports an impossible size of %llu bytes",
				sft_name(s->owner), size);
	s->size = size;
	s->data = kvzalloc(s->size, GFP_KERNEL);
	if (!s->data)
		return sft_fail(why, -ENOMEM, "%s: no memory for a copy of its %zu bytes",
				sft_name(s->owner), s->size);
	return 0;
}

void sft_sink_release(struct sft_sink *s)
{
	if (s->kind == SIFIVE_TRACE_SINK_SRAM)
		kvfree(s->data);
	else
		sft_memory_release(s);
	s->data = NULL;
}

static int program_register(struct sft_sink *s, u32 offset, u32 value,
			    const char *name, struct sft_why *why)
{
	u32 got;

	sft_write(s->owner, offset, value);
	got = sft_read(s->owner, offset);
	if (got != value)
		return sft_fail(why, -EIO, "%s: sink %s holds %#x, not %#x",
				sft_name(s->owner), name, got, value);
	return 0;
}

/* Point the sink registers of an active, idle owner at the buffer, starting at @wp. */
static int aim(struct sft_sink *s, u32 wp, struct sft_why *why)
{
	u32 base = lower_32_bits(s->address);
	int ret;

	if (s->kind == SIFIVE_TRACE_SINK_SBA) {
		ret = program_register(s, TR_SINK_BASE, base, "base", why);
		if (!ret)
			ret = program_register(s, TR_SINK_BASE_HIGH,
					       upper_32_bits(s->address),
					       "base high", why);
		if (ret)
			return ret;
	}
	ret = program_register(s, TR_SINK_LIMIT, base + s->size - s->word, "limit", why);
	if (ret)
		return ret;
	return program_register(s, TR_SINK_WP, base + wp, "write pointer", why);
}

/*
 * Return whether the sink belongs to an encoder whose stream has ended. The write position was
 * saved at that time, because the encoder may have lost its registers when the CPU went offline.
 */
static bool has_ended(const struct sft_sink *s)
{
	return s->owner->is_encoder && to_encoder(s->owner)->ended;
}

/* Start at the beginning of the buffer. An ended stream's sink is set up by sft_sink_restore(). */
int sft_sink_program(struct sft_sink *s, struct sft_why *why)
{
	s->stopped_wp = 0;
	s->wrapped = false;
	s->skip = 0;
	s->closed = false;
	return has_ended(s) ? 0 : aim(s, 0, why);
}

/* Continue at the stop position; the owner may have lost its registers. */
int sft_sink_restore(struct sft_sink *s, struct sft_why *why)
{
	return aim(s, s->stopped_wp | (s->wrapped ? TR_SINK_WP_WRAPPED : 0), why);
}

/* Read the current write position, and whether the sink has wrapped. */
static struct sft_position read_position(const struct sft_sink *s)
{
	u32 value = sft_read(s->owner, TR_SINK_WP);
	struct sft_position at = {
		.wp = round_down(value, s->word) - lower_32_bits(s->address),
		.wrapped = value & TR_SINK_WP_WRAPPED,
	};

	/*
	 * A program can change an encoder's write pointer through its stimulus page. If
	 * it points outside the buffer, no byte of the sink is valid.
	 */
	return at.wp < s->size ? at : (struct sft_position){ };
}

static bool is_running(const struct sft_sink *s)
{
	return sft_hw.capture.running && !has_ended(s);
}

/*
 * Return a sink's write position. For a running SRAM, whose data cannot be read, return the
 * position at the last stop.
 */
struct sft_position sft_sink_position(const struct sft_sink *s)
{
	if (is_running(s) && s->kind == SIFIVE_TRACE_SINK_SBA)
		return read_position(s);
	return (struct sft_position){ .wp = s->stopped_wp, .wrapped = s->wrapped };
}

/*
 * Return the length of the partial message at the beginning of the oldest @bytes of a ring. Only
 * the end of a message is marked.
 */
static u32 broken_message(const u8 *data, size_t size, size_t oldest, size_t bytes)
{
	size_t i, limit = min_t(size_t, bytes, SFT_MESSAGE_MAX);

	for (i = 0; i < limit; i++) {
		u8 byte = data[(oldest + i) % size];

		if ((byte & SFT_MESSAGE_END) == SFT_MESSAGE_END)
			return i + 1;
	}
	return limit;
}

/*
 * Called after the owner was stopped: save its position. If the owner failed to become idle, its
 * SRAM must not be read and is considered empty.
 */
void sft_sink_stopped(struct sft_sink *s, bool idle)
{
	struct sft_position at;
	u32 *to = s->data;
	size_t bytes;

	if (has_ended(s))
		return;
	at = read_position(s);
	s->stopped_wp = at.wp;
	s->wrapped = at.wrapped;
	if (s->kind == SIFIVE_TRACE_SINK_SRAM && !idle) {
		s->stopped_wp = 0;
		s->wrapped = false;
	}
	if (s->kind == SIFIVE_TRACE_SINK_SRAM) {
		sft_write(s->owner, TR_SINK_RP, 0);
		for (bytes = s->wrapped ? s->size : s->stopped_wp; bytes >= 4; bytes -= 4) {
			*to++ = (__force u32)cpu_to_le32(sft_read(s->owner, TR_SINK_DATA));
			if (!(bytes & (SZ_4K - 1)))
				cond_resched();
		}
	}
	/* A sink that stops when it wraps never overwrites its beginning. */
	s->skip = s->wrapped && sft_hw.capture.flags & SIFIVE_TRACE_CONFIG_RING ?
		  broken_message(s->data, s->size, s->stopped_wp, s->size) : 0;
}

size_t sft_sink_bytes(const struct sft_sink *s)
{
	struct sft_position at = sft_sink_position(s);

	return (at.wrapped ? s->size : at.wp) - (is_running(s) ? 0 : s->skip);
}

/* Return the checksum of a stopped sink, to check whether memory was preserved. */
u32 sft_sink_sum(const struct sft_sink *s)
{
	size_t step, at, bytes = s->wrapped ? s->size : s->stopped_wp;
	u32 sum = 0;

	for (at = 0; at < bytes; at += step) {
		step = min_t(size_t, bytes - at, SZ_1M);
		sum = jhash(s->data + at, step, sum);
		cond_resched();
	}
	return sum;
}

/* Discard the captured data. */
void sft_sink_lose(struct sft_sink *s)
{
	s->stopped_wp = 0;
	s->wrapped = false;
	s->skip = 0;
	sft_memory_clear(s->data, s->size);
}

/* Write the message that reports missing data from a source; returns its length. */
static unsigned int put_error(const struct sft_sink *s, u32 src, u8 *to)
{
	unsigned int bits = ERROR_BITS + s->src_bits, length = 0;
	u64 rest = ERROR_TCODE | (u64)src << SLICE_BITS |
		   (u64)ERROR_LOST << (bits - SLICE_BITS);

	for (; bits > SLICE_BITS; bits -= SLICE_BITS, rest >>= SLICE_BITS)
		to[length++] = (u8)(rest << 2);
	to[length++] = (u8)(rest << 2) | SFT_MESSAGE_END;
	return length;
}

/*
 * Write an Error message for each source, at most SFT_ERRORS_MAX bytes in all; returns the
 * length.
 */
unsigned int sft_sink_errors(const struct sft_sink *s, u8 *to)
{
	unsigned int length = 0;
	struct sft_encoder *e;

	for_each_encoder(e)
		if (s->encoders & BIT_ULL(e->index))
			length += put_error(s, sft_encoder_src(e), to + length);
	return length;
}

/* Like sft_sink_errors(), but padded to whole words. */
static size_t put_words(const struct sft_sink *s, u8 to[SFT_ERRORS_MAX])
{
	size_t count = sft_sink_errors(s, to), whole = round_up(count, s->word);

	memset(to + count, IDLE, whole - count);
	return whole;
}

/* Check that a stopped sink in memory has room for Error messages and further trace. */
int sft_sink_check_room(const struct sft_sink *s, struct sft_why *why)
{
	u8 errors[SFT_ERRORS_MAX];

	if (sft_hw.capture.flags & SIFIVE_TRACE_CONFIG_RING ||
	    (!s->wrapped && s->stopped_wp + put_words(s, errors) < s->size))
		return 0;
	return sft_fail(why, -ENOSPC, "%s: no room to continue: the buffer is full",
			sft_name(s->owner));
}

/* Append Error messages to a stopped sink in memory that has room for them, and continue it. */
int sft_sink_interrupt(struct sft_sink *s, struct sft_why *why)
{
	u8 errors[SFT_ERRORS_MAX];
	size_t i, count = put_words(s, errors);

	for (i = 0; i < count; i++)
		((u8 *)s->data)[(s->stopped_wp + i) % s->size] = errors[i];
	s->wrapped |= s->stopped_wp + count >= s->size;
	s->stopped_wp = (s->stopped_wp + count) % s->size;
	if (s->wrapped)
		s->skip = broken_message(s->data, s->size, s->stopped_wp, s->size);
	return has_ended(s) ? 0 : sft_sink_restore(s, why);
}

/* The write pointer of an SRAM, unlike its data, can be read while the component writes. */
bool sft_sink_wrapped(const struct sft_sink *s)
{
	return is_running(s) ? read_position(s).wrapped : s->wrapped;
}

/*
 * Return whether the sink is full: it is not a ring and has reached its end, or its stream was
 * ended early (@closed).
 */
bool sft_sink_full(const struct sft_sink *s)
{
	return READ_ONCE(s->closed) ||
	       (sft_sink_wrapped(s) && !(sft_hw.capture.flags & SIFIVE_TRACE_CONFIG_RING));
}

/* Return the number of bytes that still fit into a running sink that is not a ring. */
size_t sft_sink_room(const struct sft_sink *s)
{
	struct sft_position at = read_position(s);

	return at.wrapped ? 0 : s->size - at.wp;
}

/* Copy @count bytes of the buffer, starting at @start and wrapping around at its end. */
void sft_sink_copy_at(const struct sft_sink *s, void *to, size_t start, size_t count)
{
	size_t first = min(count, s->size - start);

	copy(to, s->data + start, first);
	copy(to + first, s->data, count - first);
}

/*
 * Copy up to @count captured bytes, starting @offset bytes after the oldest. Returns the
 * number of bytes, or 0 at the end.
 */
size_t sft_sink_copy(const struct sft_sink *s, void *to, u64 offset, size_t count)
{
	struct sft_position at = sft_sink_position(s);
	size_t bytes = sft_sink_bytes(s);
	size_t start;

	if (offset >= bytes)
		return 0;
	count = min_t(u64, count, bytes - offset);
	start = at.wrapped ? at.wp + offset : offset;
	if (!is_running(s))
		start += s->skip;
	sft_sink_copy_at(s, to, start % s->size, count);
	return count;
}

/*
 * Copy the contents of an SBA ring whose position is @before, oldest byte first; @to
 * has the sink's size. Returns the number of bytes.
 */
size_t sft_sink_copy_ring(const struct sft_sink *s, const struct sft_position *before,
			  void *to)
{
	size_t bytes = before->wrapped ? s->size : before->wp;

	sft_sink_copy_at(s, to, before->wrapped ? before->wp : 0, bytes);
	return bytes;
}

/*
 * Return the number of bytes to skip at the beginning of a ring's copy: the bytes overwritten by
 * the time the ring was at position @after, and the partial message after these bytes.
 */
size_t sft_sink_overwritten(const struct sft_sink *s, const struct sft_position *before,
			    const struct sft_position *after, const void *data)
{
	size_t bytes = before->wrapped ? s->size : before->wp;
	size_t drop;

	if (!after->wrapped)
		return 0;
	drop = before->wrapped ? (after->wp + s->size - before->wp) % s->size : after->wp;
	/* A word is written before the write pointer advances. */
	drop = min_t(size_t, drop + s->word, bytes);
	return drop + broken_message(data, s->size, drop, bytes - drop);
}

/*
 * Copy some of the bytes written before @at; returns their number. These bytes change only when the
 * ring wraps again; the write pointers alone do not show such a wrap. Omits the newest bytes, which
 * may still be in flight.
 */
size_t sft_sink_newest(const struct sft_sink *s, const struct sft_position *at, void *to)
{
	size_t written = at->wrapped ? s->size : at->wp;
	size_t behind = min_t(size_t, s->size / 4, SZ_1K) + SFT_NEWEST;

	if (written < behind)
		return 0;
	sft_sink_copy_at(s, to, (at->wp + s->size - behind) % s->size, SFT_NEWEST);
	return SFT_NEWEST;
}
