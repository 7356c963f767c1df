// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read a drained capture. Each byte is returned once; while the capture runs, only whole
 * messages are returned. All functions here are called with the system locked.
 */

#include <linux/uaccess.h>

#include "drain.h"

static void put_errors(struct drain *d)
{
	d->rest_end += sft_sink_errors(d->sink, d->rest + d->rest_end);
	d->missing = false;
}

/* Drop the rest of a message whose beginning was lost. */
static void skip_cut(struct drain *d)
{
	size_t i, count = min_t(size_t, d->fill, SFT_MESSAGE_MAX);
	u8 bytes[SFT_MESSAGE_MAX];

	sft_drain_peek(d, bytes, 0, count);
	for (i = 0; i < count; i++)
		if ((bytes[i] & SFT_MESSAGE_END) == SFT_MESSAGE_END)
			break;
	d->cut = i == SFT_MESSAGE_MAX ? false : i == count;
	count = min(i + 1, count);
	d->lost += count;
	sft_drain_consume(d, count);
}

/* Return the offset at which the last whole message in @count bytes ends, or 0 if there is none. */
static size_t whole_messages(const u8 *bytes, size_t count)
{
	while (count && (bytes[count - 1] & SFT_MESSAGE_END) != SFT_MESSAGE_END)
		count--;
	return count;
}

/*
 * Return the length of the whole messages among the oldest @count unread bytes, or @count if no
 * message ends near the end of those bytes.
 */
static size_t whole_unread(const struct drain *d, size_t count)
{
	size_t whole, last = min_t(size_t, count, SFT_MESSAGE_MAX);
	u8 bytes[SFT_MESSAGE_MAX];

	sft_drain_peek(d, bytes, count - last, last);
	whole = whole_messages(bytes, last);
	return whole || last == count ? count - last + whole : count;
}

/*
 * Return the number of unread bytes to copy to the reader, up to @count, which is at least SMALL.
 * A running capture returns only whole messages, so that a loss cannot cut one.
 */
static size_t available(struct drain *d, size_t count)
{
	sft_drain_follow(d);
	while (d->cut && d->fill && !d->missing)
		skip_cut(d);
	if (d->missing)
		return 0;
	if (sft_drain_live() || count < d->fill)
		return whole_unread(d, min(count, d->fill));
	return d->fill;
}

/* Account for a copy of unread bytes; returns 0 if the hardware has overwritten them. */
static size_t take(struct drain *d, size_t count)
{
	sft_drain_follow(d);
	if (d->missing)
		return 0;
	sft_drain_consume(d, count);
	return count;
}

/* Return up to @count unread bytes. */
static ssize_t give_unread(struct drain *d, char __user *to, size_t count)
{
	count = available(d, count);
	return sft_drain_copy_out(d, to, count) ? -EFAULT : take(d, count);
}

/* Move unread bytes to @d->rest, for a reader whose buffer may be shorter than a message. */
static void fill_rest(struct drain *d)
{
	size_t count = available(d, SMALL);

	sft_drain_peek(d, d->rest, 0, count);
	d->rest_end = take(d, count);
}

/* Return up to @count bytes of @d->rest. */
static ssize_t give_rest(struct drain *d, char __user *to, size_t count)
{
	count = min_t(size_t, count, d->rest_end - d->rest_at);
	if (copy_to_user_nofault(to, d->rest + d->rest_at, count))
		return -EFAULT;
	d->rest_at += count;
	if (d->rest_at == d->rest_end) {
		d->rest_at = 0;
		d->rest_end = 0;
	}
	return count;
}

/*
 * Return up to @count bytes to the reader, or 0 if there are none yet. If the reader's memory must
 * be faulted in first, the bytes remain unread.
 */
static ssize_t give(struct drain *d, char __user *to, size_t count)
{
	ssize_t done = 0;

	if (!d->rest_end && !d->missing) {
		if (count >= SMALL)
			done = give_unread(d, to, count);
		else
			fill_rest(d);
	}
	if (!d->rest_end && d->missing)
		put_errors(d);
	if (!done)
		done = give_rest(d, to, count);
	if (done > 0)
		d->given += done;
	return done;
}

static struct drain *drain_of(int sink)
{
	if (!sft_drains || (sink == SFT_ALL_SINKS && sft_hw.capture.sinks != 1))
		return NULL;
	sink = max(sink, 0);
	return sink < (int)sft_hw.capture.sinks ? &sft_drains[sink] : NULL;
}

/*
 * Read up to @count bytes of a drained sink. Returns 0 at the end, after STOP; -EAGAIN if there are
 * no bytes yet; -EFAULT, with no byte counted as read, if the reader's memory has to be faulted in
 * first.
 */
ssize_t sft_drain_read(struct sft_file *file, char __user *to, size_t count,
		       struct sft_why *why)
{
	struct drain *d = drain_of(file->sink);
	ssize_t done;

	if (!d && file->sink != SFT_ALL_SINKS)
		return 0;
	if (!d)
		return sft_fail(why, -EOPNOTSUPP,
				"the capture drains %u sinks: read /dev/sifive-trace.N of each",
				sft_hw.capture.sinks);
	if (d->reader && d->reader != file)
		return sft_fail(why, -EBUSY, "another open file reads this sink");
	d->reader = file;
	WRITE_ONCE(d->unattended, false);
	done = give(d, to, count);
	return done || !sft_drain_live() ? done : -EAGAIN;
}

/* Called when a file is closed: another file may continue to read. */
void sft_drain_leave(const struct sft_file *file)
{
	unsigned int i;

	for (i = 0; sft_drains && i < sft_hw.capture.sinks; i++)
		if (sft_drains[i].reader == file)
			sft_drains[i].reader = NULL;
}

/* Return the number of bytes of sink number @i that read() has not returned yet. */
u64 sft_drain_unread(unsigned int i)
{
	struct drain *d = &sft_drains[i];

	sft_drain_follow(d);
	return (u64)d->fill + d->rest_end - d->rest_at;
}

/* Return whether the unread bytes contain a whole message; otherwise read() returns nothing yet. */
static bool is_readable(struct drain *d)
{
	return d->rest_end || available(d, d->sink->size);
}

/* Return whether a reader of @sink, which may be SFT_ALL_SINKS, has enough bytes to read. */
bool sft_drain_ready(int sink)
{
	u64 enough = max_t(u64, sft.state.watermark, 1);
	unsigned int i;

	for (i = 0; i < sft_hw.capture.sinks; i++) {
		if (sink != SFT_ALL_SINKS && sink != (int)i)
			continue;
		if (sft_drain_unread(i) >= enough && is_readable(&sft_drains[i]))
			return true;
		if (sft_drains[i].missing || sft_drain_waited_for(&sft_drains[i]))
			return true;
	}
	return !sft_drain_live();
}

/* Report the bytes that sink number @out->index has returned and lost. */
void sft_drain_describe(struct sifive_trace_sink *out)
{
	const struct drain *d = &sft_drains[out->index];

	out->flags = d->gaps ? SIFIVE_TRACE_STATUS_GAP : 0;
	if (d->more)
		out->flags |= SIFIVE_TRACE_STATUS_GAP_MORE;
	out->given = d->given;
	out->gaps = d->gaps;
	out->lost = d->lost;
	out->gap_offset = d->gap_offset;
	out->gap_begin = d->gap_begin;
	out->gap_end = d->gap_end;
}
