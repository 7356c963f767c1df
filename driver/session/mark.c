// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mark in a drained ring. To detect that the entire ring has been overwritten since the last
 * check, the driver writes a mark some distance after the newest byte: a sink word that no
 * trace contains. While the mark is intact, the hardware has not overwritten the whole ring. All
 * functions here are called with the system locked.
 */

#include <linux/string.h>
#include <linux/uaccess.h>

#include "drain.h"

/* Slices with these low bits are reserved, so no message contains one. */
#define MARK_BYTE	0x02

bool sft_mark_intact(const struct drain *d, u32 at)
{
	return !memchr_inv(d->sink->data + at, MARK_BYTE, d->sink->word);
}

/* Return the distance in bytes from @start to the mark, in the direction of writing. */
static size_t mark_after(const struct drain *d, size_t start)
{
	return (d->mark + d->sink->size - start) % d->sink->size;
}

/**
 * struct patch - trace bytes to return in place of the mark
 * @bytes:	the first byte
 * @at:		offset of the first byte in a copy
 * @count:	number of bytes, may be 0
 */
struct patch {
	const u8 *bytes;
	size_t at;
	size_t count;
};

/* Find the bytes that replace the mark in a copy of @count bytes that starts at @start. */
static struct patch covered(const struct drain *d, size_t start, size_t count)
{
	size_t word = d->sink->word, after = mark_after(d, start);
	size_t inside = d->sink->size - after;

	if (d->marked && after < count)
		return (struct patch){ d->covered, after, min(word, count - after) };
	if (d->marked && inside < word)
		return (struct patch){ d->covered + inside, 0, min(word - inside, count) };
	return (struct patch){ d->covered };
}

/* Return whether the mark covers an unread byte. */
static bool covers_unread(const struct drain *d)
{
	return covered(d, sft_drain_at(d, 0), d->fill).count;
}

static void set_mark(struct drain *d, u32 at)
{
	d->mark = at;
	d->marked = true;
	memcpy(d->covered, d->sink->data + at, d->sink->word);
	memset(d->sink->data + at, MARK_BYTE, d->sink->word);
	/* Write the mark before the write pointer is read again. */
	mb();
}

/*
 * Move the mark beyond the newest byte. Returns false if the hardware has overwritten the old mark.
 * The hardware reaches the old mark before the new mark, so an intact old mark proves that nothing
 * between them has been written.
 */
bool sft_mark_move(struct drain *d)
{
	const struct sft_sink *s = d->sink;
	struct drain old = { .mark = d->mark, .marked = d->marked };
	bool needed = d->marked && covers_unread(d);

	memcpy(old.covered, d->covered, sizeof(old.covered));
	set_mark(d, (d->at + s->size - MARK_BEHIND) % s->size);
	if (!old.marked)
		return true;
	if (!sft_mark_intact(d, old.mark))
		return false;
	/* If the hardware is writing here, it has already overwritten older unread bytes. */
	if (needed)
		memcpy(s->data + old.mark, old.covered, s->word);
	return true;
}

/* Remove the mark from a stopped ring. */
void sft_mark_remove(struct drain *d)
{
	if (d->marked && sft_mark_intact(d, d->mark))
		memcpy(d->sink->data + d->mark, d->covered, d->sink->word);
	d->marked = false;
}

/* Copy @count unread bytes, starting with unread byte number @from. */
void sft_drain_peek(const struct drain *d, u8 *to, size_t from, size_t count)
{
	size_t start = sft_drain_at(d, from);
	struct patch p = covered(d, start, count);

	sft_sink_copy_at(d->sink, to, start, count);
	memcpy(to + p.at, p.bytes, p.count);
}

/* Copy the oldest @count unread bytes to a reader's memory, without faulting it in. */
int sft_drain_copy_out(const struct drain *d, char __user *to, size_t count)
{
	size_t start = sft_drain_at(d, 0), first = min(count, d->sink->size - start);
	struct patch p = covered(d, start, count);

	if (copy_to_user_nofault(to, d->sink->data + start, first) ||
	    copy_to_user_nofault(to + first, d->sink->data, count - first) ||
	    copy_to_user_nofault(to + p.at, p.bytes, p.count))
		return -EFAULT;
	return 0;
}
