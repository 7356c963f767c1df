// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drained captures: read() returns the bytes of a running ring once and in order. The
 * hardware has no interrupt for that, so a delayed work follows the write pointer. To
 * detect that the ring was overwritten as a whole since the last look, the driver
 * writes a mark some way behind the newest byte: a sink word that no trace contains.
 * While the mark is there, the hardware has not written the whole ring. All functions
 * here are called with the system locked, but for sft_drain_crowded() and sft_drain_look().
 */

#include <linux/ktime.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "session.h"

/*
 * Distance of the mark behind the newest byte: the last words may not be in memory yet.
 */
#define MARK_BEHIND	SZ_1K

/* Slices with these low bits are reserved, so no message contains one. */
#define MARK_BYTE	0x02

/* The widest sink word. */
#define WORD_MAX	32

/*
 * Look often enough that a sink of this many bytes per second fills at most half its
 * ring.
 */
#define FASTEST		(200u * SZ_1M)
#define BYTES_PER_US	200
#define SELDOM		(HZ / 10)

/*
 * Stores wait when more than a quarter of the ring is unread, until at most an eighth is. A
 * sink at full speed has filled at most three quarters by the next check; the rest is for
 * stores that are made before the pages are gone.
 */
#define WAIT_FROM	4
#define WAIT_UNTIL	8

/* How long stores wait for a reader, if there is none. */
#define READER_NS	(5ull * NSEC_PER_SEC)

/* With a buffer of fewer bytes a reader may get part of a message. */
#define SMALL		64

/**
 * struct drain - state of a sink that is drained
 * @sink:	the sink
 * @reader:	the file that reads it, NULL = none yet
 * @at:		where the sink was written at the last look
 * @fill:	unread bytes before that
 * @oldest:	where they begin; also read without the system's lock
 * @alone:	stores do not wait for a reader in vain, or did not at this time
 * @unattended:	they did for too long
 * @marked:	there is a mark
 * @mark:	where, in the sink
 * @covered:	the bytes in its place
 * @cut:	the unread bytes begin within a message
 * @missing:	bytes were lost that no message reports yet
 * @more:	more bytes were lost than are counted
 * @fresh:	bytes written since the previous look of the work
 * @moved:	bytes were written before the previous look
 * @rest:	bytes to return before the unread ones: the rest of a message that did
 *		not fit a reader's buffer, and messages that report a loss
 * @rest_at:	the first of them
 * @rest_end:	behind the last one
 * @given:	bytes that read() has returned
 * @gaps:	how often bytes were lost
 * @lost:	how many bytes
 * @gap_offset:	bytes returned before the last gap
 * @gap_begin:	the bytes of the gap were written after this time
 * @gap_end:	and before this one; both in nanoseconds of the monotonic clock
 * @clean:	unread bytes were written after this time
 * @known:	unread bytes that were written before @known_at
 * @known_at:	time of a look
 */
struct drain {
	const struct sft_sink *sink;
	const struct sft_file *reader;
	u32 at;
	size_t fill;
	u32 oldest;
	u64 alone;
	bool unattended;
	bool marked;
	u32 mark;
	u8 covered[WORD_MAX];
	bool cut;
	bool missing;
	bool more;
	size_t fresh;
	bool moved;
	u8 rest[SMALL + SFT_ERRORS_MAX];
	unsigned int rest_at;
	unsigned int rest_end;
	u64 given;
	u64 gaps;
	u64 lost;
	u64 gap_offset;
	u64 gap_begin;
	u64 gap_end;
	u64 clean;
	size_t known;
	u64 known_at;
};

static struct drain *drains;
static unsigned long interval;	/* between looks, in jiffies */

static void look_again(struct work_struct *work);
static DECLARE_DELAYED_WORK(look_work, look_again);

/* Whether read() drains the capture. */
bool sft_drain_on(void)
{
	return drains;
}

/* Whether the capture runs, or continues after a pause or system resume. */
static bool is_live(void)
{
	return sft_capture_on() || sft.state.asleep;
}

/* ---- the mark ---------------------------------------------------------------- */

static bool is_marked(const struct drain *d, u32 at)
{
	return !memchr_inv(d->sink->data + at, MARK_BYTE, d->sink->word);
}

/* The distance from @start to the mark, in the direction of writing. */
static size_t mark_after(const struct drain *d, size_t start)
{
	return (d->mark + d->sink->size - start) % d->sink->size;
}

/* Where the unread byte number @i is. */
static size_t unread_at(const struct drain *d, size_t i)
{
	return (d->at + d->sink->size - d->fill + i) % d->sink->size;
}

/**
 * struct patch - bytes in place of the mark
 * @bytes:	the first
 * @at:		where it is in a copy
 * @count:	number of bytes, may be 0
 */
struct patch {
	const u8 *bytes;
	size_t at;
	size_t count;
};

/* What a copy of @count bytes from @start on has of the mark. */
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

/* Whether the mark covers an unread byte. */
static bool covers_unread(const struct drain *d)
{
	return covered(d, unread_at(d, 0), d->fill).count;
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
 * Move the mark to behind the newest byte. Returns false if the old mark is
 * overwritten. The hardware reaches the old mark before the new one, so a mark that is
 * still there proves that nothing between them was written.
 */
static bool move_mark(struct drain *d)
{
	const struct sft_sink *s = d->sink;
	struct drain old = { .mark = d->mark, .marked = d->marked };
	bool needed = d->marked && covers_unread(d);

	memcpy(old.covered, d->covered, sizeof(old.covered));
	set_mark(d, (d->at + s->size - MARK_BEHIND) % s->size);
	if (!old.marked)
		return true;
	if (!is_marked(d, old.mark))
		return false;
	/*
	 * If the hardware writes here now, it has already overwritten older unread
	 * bytes.
	 */
	if (needed)
		memcpy(s->data + old.mark, old.covered, s->word);
	return true;
}

/* Remove the mark from a stopped ring. */
static void remove_mark(struct drain *d)
{
	if (d->marked && is_marked(d, d->mark))
		memcpy(d->sink->data + d->mark, d->covered, d->sink->word);
	d->marked = false;
}

/* Copy @count unread bytes from number @from on. */
static void peek(const struct drain *d, u8 *to, size_t from, size_t count)
{
	size_t start = unread_at(d, from);
	struct patch p = covered(d, start, count);

	sft_sink_copy_at(d->sink, to, start, count);
	memcpy(to + p.at, p.bytes, p.count);
}

/* Copy the oldest @count unread bytes to a reader's memory, which is not faulted in. */
static int copy_out(const struct drain *d, char __user *to, size_t count)
{
	size_t start = unread_at(d, 0), first = min(count, d->sink->size - start);
	struct patch p = covered(d, start, count);

	if (copy_to_user_nofault(to, d->sink->data + start, first) ||
	    copy_to_user_nofault(to + first, d->sink->data, count - first) ||
	    copy_to_user_nofault(to + p.at, p.bytes, p.count))
		return -EFAULT;
	return 0;
}

/* ---- looks ------------------------------------------------------------------- */

static void show_oldest(struct drain *d)
{
	WRITE_ONCE(d->oldest, unread_at(d, 0));
}

/* Account for the oldest @count unread bytes as read or lost. */
static void consume(struct drain *d, size_t count)
{
	d->fill -= count;
	if (d->known <= count) {
		d->clean = d->known_at;
		d->known = 0;
	} else {
		d->known -= count;
	}
	show_oldest(d);
}

/* Account for all unread bytes as lost; @bytes are lost in total. */
static void lose(struct drain *d, u64 bytes)
{
	if (!d->missing) {
		d->missing = true;
		d->gaps++;
		d->gap_offset = d->given + d->rest_end - d->rest_at;
		d->gap_begin = d->clean;
	}
	d->lost += bytes;
	d->gap_end = ktime_get_ns();
	d->cut = true;
	d->known_at = d->gap_end;
	consume(d, d->fill);
}

/*
 * The hardware has written at least about the whole ring: @step bytes, or a lap more.
 */
static void lapped(struct drain *d, size_t step)
{
	size_t size = d->sink->size;

	if (step <= size - MARK_BEHIND)
		step += size;
	d->more = true;
	lose(d, (u64)d->fill + step);
	d->at = sft_sink_position(d->sink).wp;
	show_oldest(d);
}

/* Look at the write pointer, and account for new bytes. */
static void look(struct drain *d)
{
	const struct sft_sink *s = d->sink;
	u32 at = sft_sink_position(s).wp;
	size_t step = (at + s->size - d->at) % s->size;
	bool whole;

	/* Read memory after the write pointer. */
	rmb();
	if (!step) {
		if (d->marked && !is_marked(d, d->mark)) {
			move_mark(d);
			lapped(d, 0);
		}
		return;
	}
	d->fresh += step;
	d->at = at;
	d->fill += step;
	whole = move_mark(d);
	if (!whole) {
		d->fill -= step;
		lapped(d, step);
	} else if (d->fill + s->word > s->size) {
		/* The hardware writes a word before it moves the write pointer. */
		lose(d, d->fill);
	} else if (!d->known) {
		d->known = d->fill;
		d->known_at = ktime_get_ns();
	}
}

/* Whether stores to a sink's encoders wait until its reader has made room. */
static bool is_waited_for(const struct drain *d)
{
	return sft_mapping_held() & d->sink->encoders;
}

/* Whether to wake a sink's reader: it has enough bytes, or the sink is idle again. */
static bool is_worth(struct drain *d)
{
	bool rests = d->moved && !d->fresh;

	d->moved = d->fresh;
	return d->missing || rests || is_waited_for(d) ||
	       (d->fresh && d->fill >= sft.state.watermark);
}

/* Jiffies in which a sink at full speed fills half its ring. */
static unsigned long seldom(const struct sft_sink *s)
{
	return clamp_t(unsigned long, s->size / 2 / (FASTEST / HZ), 1, SELDOM);
}

/* Jiffies until the hardware has written an eighth of the ring, at the current rate. */
static unsigned long next_look(const struct drain *d)
{
	u64 wanted = (u64)interval * (d->sink->size / 8);

	return clamp_t(u64, d->fresh ? div64_u64(wanted, d->fresh) : SELDOM, 1,
		       seldom(d->sink));
}

/* Without a reader stores continue: what they overwrite is counted. */
static void mind_reader(struct drain *d)
{
	u64 now = ktime_get_ns();

	if (d->reader || !is_waited_for(d))
		d->alone = now;
	else if (now - d->alone > READER_NS)
		WRITE_ONCE(d->unattended, true);
}

static void look_again(struct work_struct *work)
{
	unsigned long next = SELDOM;
	bool worth = false;
	struct drain *d;

	sft_lock();
	if (!drains || !sft_hw.capture.running) {
		sft_unlock();
		return;
	}
	for (d = drains; d < drains + sft_hw.capture.sinks; d++) {
		look(d);
		mind_reader(d);
		worth |= is_worth(d);
		next = min(next, next_look(d));
		d->fresh = 0;
	}
	interval = next;
	queue_delayed_work(system_highpri_wq, &look_work, interval);
	if (worth)
		sft_wake_pollers();
	sft_unlock();
}

/* ---- stores that wait -------------------------------------------------------- */

static size_t unread_now(const struct drain *d)
{
	u32 at = sft_sink_position(d->sink).wp;

	return (at + d->sink->size - READ_ONCE(d->oldest)) % d->sink->size;
}

static bool is_crowded(const struct drain *d, size_t unread)
{
	size_t part = is_waited_for(d) ? WAIT_UNTIL : WAIT_FROM;

	return !READ_ONCE(d->unattended) && unread > d->sink->size / part;
}

/* Microseconds in which a sink at full speed gets three quarters full. */
static unsigned long fills_in(const struct drain *d, size_t unread)
{
	size_t most = d->sink->size / 4 * 3;

	return unread < most ? (most - unread) / BYTES_PER_US : 0;
}

/*
 * The encoders whose sinks have no room. Lowers @us to the time in which another sink can
 * fill up. Called without the system's lock, while the capture runs.
 */
u64 sft_drain_crowded(unsigned long *us)
{
	const struct drain *d;
	u64 encoders = 0;
	size_t unread;

	for (d = drains; d < drains + sft_hw.capture.sinks; d++) {
		unread = unread_now(d);
		if (is_crowded(d, unread))
			encoders |= d->sink->encoders;
		*us = min(*us, fills_in(d, unread));
	}
	return encoders;
}

/* Look now, which wakes the readers of sinks without room. */
void sft_drain_look(void)
{
	mod_delayed_work(system_highpri_wq, &look_work, 0);
}

/* ---- reading ----------------------------------------------------------------- */

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

	peek(d, bytes, 0, count);
	for (i = 0; i < count; i++)
		if ((bytes[i] & SFT_MESSAGE_END) == SFT_MESSAGE_END)
			break;
	d->cut = i == SFT_MESSAGE_MAX ? false : i == count;
	count = min(i + 1, count);
	d->lost += count;
	consume(d, count);
}

/* Length of the whole messages in @count bytes. */
static size_t whole_messages(const u8 *bytes, size_t count)
{
	while (count && (bytes[count - 1] & SFT_MESSAGE_END) != SFT_MESSAGE_END)
		count--;
	return count;
}

/*
 * Length of the whole messages in the oldest @count unread bytes; @count if no message ends
 * near.
 */
static size_t whole_unread(const struct drain *d, size_t count)
{
	size_t whole, last = min_t(size_t, count, SFT_MESSAGE_MAX);
	u8 bytes[SFT_MESSAGE_MAX];

	peek(d, bytes, count - last, last);
	whole = whole_messages(bytes, last);
	return whole || last == count ? count - last + whole : count;
}

/*
 * How many unread bytes to return, up to @count, which is at least SMALL; 0 if there are
 * none. A running capture gives whole messages only, so that a loss cannot cut one.
 */
static size_t available(struct drain *d, size_t count)
{
	look(d);
	while (d->cut && d->fill && !d->missing)
		skip_cut(d);
	if (d->missing)
		return 0;
	if (is_live() || count < d->fill)
		return whole_unread(d, min(count, d->fill));
	return d->fill;
}

/* Account for a copy of unread bytes; returns 0 if the hardware has overwritten them. */
static size_t take(struct drain *d, size_t count)
{
	look(d);
	if (d->missing)
		return 0;
	consume(d, count);
	return count;
}

/* Return up to @count unread bytes. */
static ssize_t give_unread(struct drain *d, char __user *to, size_t count)
{
	count = available(d, count);
	return copy_out(d, to, count) ? -EFAULT : take(d, count);
}

/* Unread bytes for a reader whose buffer may be shorter than a message. */
static void fill_rest(struct drain *d)
{
	size_t count = available(d, SMALL);

	peek(d, d->rest, 0, count);
	d->rest_end = take(d, count);
}

/* Return up to @count bytes of the rest. */
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
 * Return up to @count bytes to the reader; 0 if there are none yet. If its memory has to be
 * faulted in first, they stay unread.
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
	if (!drains || (sink == SFT_ALL_SINKS && sft_hw.capture.sinks != 1))
		return NULL;
	sink = max(sink, 0);
	return sink < (int)sft_hw.capture.sinks ? &drains[sink] : NULL;
}

/*
 * Read up to @count bytes of a drained sink. Returns 0 at the end, after STOP, -EAGAIN if
 * there are no bytes yet, and -EFAULT if the reader's memory has to be faulted in first: a
 * drained byte is returned once.
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
	return done || !is_live() ? done : -EAGAIN;
}

/* Called when a file is closed: another file may continue. */
void sft_drain_leave(const struct sft_file *file)
{
	unsigned int i;

	for (i = 0; drains && i < sft_hw.capture.sinks; i++)
		if (drains[i].reader == file)
			drains[i].reader = NULL;
}

/* Number of bytes of sink number @i that read() has not returned yet. */
u64 sft_drain_unread(unsigned int i)
{
	struct drain *d = &drains[i];

	look(d);
	return (u64)d->fill + d->rest_end - d->rest_at;
}

/* Whether the unread bytes have a whole message, or read() would give nothing yet. */
static bool is_readable(struct drain *d)
{
	return d->rest_end || available(d, d->sink->size);
}

/* Whether a reader of @sink, or of SFT_ALL_SINKS, has enough to read. */
bool sft_drain_ready(int sink)
{
	u64 enough = max_t(u64, sft.state.watermark, 1);
	unsigned int i;

	for (i = 0; i < sft_hw.capture.sinks; i++) {
		if (sink != SFT_ALL_SINKS && sink != (int)i)
			continue;
		if (sft_drain_unread(i) >= enough && is_readable(&drains[i]))
			return true;
		if (drains[i].missing || is_waited_for(&drains[i]))
			return true;
	}
	return !is_live();
}

/* Report what sink number @out->index has returned and lost. */
void sft_drain_describe(struct sifive_trace_sink *out)
{
	const struct drain *d = &drains[out->index];

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

/* ---- the life of a capture --------------------------------------------------- */

/* Called when the sinks are rewound. */
void sft_drain_rewind(void)
{
	struct drain *d;

	for (d = drains; drains && d < drains + sft_hw.capture.sinks; d++)
		*d = (struct drain){ .sink = d->sink, .reader = d->reader };
}

int sft_drain_config(struct sft_why *why)
{
	unsigned int i, sinks = sft_hw.capture.sinks;

	if (!(sft_hw.capture.flags & SIFIVE_TRACE_CONFIG_DRAIN))
		return 0;
	drains = kcalloc(sinks, sizeof(*drains), GFP_KERNEL);
	if (!drains)
		return sft_fail(why, -ENOMEM, "no memory to drain %u sinks", sinks);
	for (i = 0; i < sinks; i++)
		drains[i].sink = &sft_hw.capture.sink[i];
	return 0;
}

/* Called before the hardware starts. */
void sft_drain_start(void)
{
	struct drain *d;

	if (!drains)
		return;
	for (d = drains; d < drains + sft_hw.capture.sinks; d++) {
		move_mark(d);
		d->alone = ktime_get_ns();
		if (!d->fill)
			d->clean = d->alone;
	}
	interval = 1;
	mod_delayed_work(system_highpri_wq, &look_work, interval);
	if (sft_hw.capture.flags & SIFIVE_TRACE_CONFIG_WAIT)
		sft_waiting_watch(true);
}

/* Called after the hardware has stopped. */
void sft_drain_stop(void)
{
	struct drain *d;

	sft_waiting_watch(false);
	for (d = drains; drains && d < drains + sft_hw.capture.sinks; d++) {
		look(d);
		remove_mark(d);
	}
}

/* Account for data of sink number @i that was lost during system suspend. */
void sft_drain_lose(unsigned int i)
{
	if (!drains)
		return;
	if (drains[i].fill)
		lose(&drains[i], drains[i].fill);
	drains[i].at = 0;
	show_oldest(&drains[i]);
}

/* Called when the capture is freed. */
void sft_drain_clear(void)
{
	kfree(drains);
	drains = NULL;
}

void sft_drain_exit(void)
{
	cancel_delayed_work_sync(&look_work);
}
