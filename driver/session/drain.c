// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drained captures: read() returns the bytes of a running ring once and in order. The hardware has
 * no interrupt for new bytes, so delayed work follows the write pointer. The work stops if only
 * programs write to the sinks and they have written nothing for a while. The next store by a
 * program restarts the work. All functions here are called with the system locked, except
 * sft_drain_crowded(), _look() and _resume().
 */

#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "drain.h"

/*
 * Poll often enough that a sink which receives this many bytes per second fills at most half of its
 * ring between two checks.
 */
#define FASTEST		(200u * SZ_1M)
#define BYTES_PER_US	200
#define SELDOM		(HZ / 10)

/* Time without new bytes after which the session is idle, in jiffies. */
#define IDLE		HZ

/*
 * In eighths of the ring: a sink runs out of room when more than FULL_FROM are unread, and has room
 * again when at most FULL_UNTIL are. Stores wait from the next check on, so that a program that
 * checks for room can finish its record; they wait immediately if more than HOLD_AT_ONCE are
 * unread. A sink at full speed fills at most three quarters of the ring by the next check; the rest
 * is for stores that are made before the pages are removed.
 */
#define FULL_FROM	2
#define FULL_UNTIL	1
#define HOLD_AT_ONCE	4

/* Time for which stores wait without a reader, in nanoseconds. */
#define READER_NS	(5ull * NSEC_PER_SEC)

struct drain *sft_drains;
static unsigned long interval;	/* interval between checks, in jiffies */
/* Time in jiffies at which a check last found new bytes, or a program was about to write some. */
static unsigned long busy;

static void look_again(struct work_struct *work);
static DECLARE_DELAYED_WORK(look_work, look_again);

/* Return whether read() drains the capture. */
bool sft_drain_on(void)
{
	return sft_drains;
}

/* Return whether the capture is running, or will continue after a pause or system resume. */
bool sft_drain_live(void)
{
	return sft_capture_on() || sft.state.asleep;
}

/* Return the position of unread byte number @i. */
size_t sft_drain_at(const struct drain *d, size_t i)
{
	return (d->at + d->sink->size - d->fill + i) % d->sink->size;
}

static void show_oldest(struct drain *d)
{
	WRITE_ONCE(d->oldest, sft_drain_at(d, 0));
}

/* Count the oldest @count unread bytes as read or lost. */
void sft_drain_consume(struct drain *d, size_t count)
{
	d->fill -= count;
	for (; d->looks && d->seen[d->oldest_seen].written <= d->written - d->fill; d->looks--) {
		d->clean = d->seen[d->oldest_seen].at;
		d->oldest_seen = (d->oldest_seen + 1) % LOOKS;
	}
	if (!d->fill)
		d->clean = d->looked;
	show_oldest(d);
}

/* Save the time of this check, unless little has been written since the last saved check. */
static void keep_look(struct drain *d)
{
	unsigned int next = (d->oldest_seen + d->looks) % LOOKS;
	u64 latest = d->looks ? d->seen[(next + LOOKS - 1) % LOOKS].written : d->written - d->fill;

	d->looked = ktime_get_ns();
	if (d->looks == LOOKS || d->written - latest < d->sink->size / LOOKS)
		return;
	d->seen[next].written = d->written;
	d->seen[next].at = d->looked;
	d->looks++;
}

/* Drop the unread bytes. @bytes: number of bytes lost, including any never counted as unread. */
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
	d->looked = d->gap_end;
	sft_drain_consume(d, d->fill);
}

/*
 * Called when the hardware may have overwritten the whole ring: since the last check, it has
 * written @step bytes, or @step bytes plus a whole ring.
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

/* Read the write pointer, and account for new bytes. */
void sft_drain_follow(struct drain *d)
{
	const struct sft_sink *s = d->sink;
	u32 at = sft_sink_position(s).wp;
	size_t step = (at + s->size - d->at) % s->size;
	bool whole;

	/* Read the write pointer before the memory. */
	rmb();
	if (!step) {
		if (d->marked && !sft_mark_intact(d, d->mark)) {
			sft_mark_move(d);
			lapped(d, 0);
		} else {
			d->looked = ktime_get_ns();
		}
		return;
	}
	d->fresh += step;
	d->at = at;
	d->fill += step;
	d->written += step;
	whole = sft_mark_move(d);
	if (!whole) {
		d->fill -= step;
		d->written -= step;
		lapped(d, step);
	} else if (d->fill + s->word > s->size) {
		/* The hardware writes a word before it moves the write pointer. */
		lose(d, d->fill);
	} else {
		keep_look(d);
	}
}

/* Return whether a sink is out of room until its reader catches up. */
bool sft_drain_waited_for(const struct drain *d)
{
	return sft_mapping_full() & d->sink->encoders;
}

/*
 * Return whether to wake a sink's reader: there are enough bytes to read, or the sink is idle
 * again.
 */
static bool is_worth(struct drain *d)
{
	bool rests = d->moved && !d->fresh;

	d->moved = d->fresh;
	return d->missing || rests || sft_drain_waited_for(d) ||
	       (d->fresh && d->fill >= sft.state.watermark);
}

/* Return the maximum interval between checks, in which a sink at full speed fills half its ring. */
static unsigned long seldom(const struct sft_sink *s)
{
	return clamp_t(unsigned long, s->size / 2 / (FASTEST / HZ), 1, SELDOM);
}

/* Return the interval in which the hardware, at its current rate, writes an eighth of the ring. */
static unsigned long next_look(const struct drain *d)
{
	u64 wanted = (u64)interval * (d->sink->size / 8);

	return clamp_t(u64, d->fresh ? div64_u64(wanted, d->fresh) : SELDOM, 1,
		       seldom(d->sink));
}

/* Resume stores after READER_NS without a reader; bytes that they overwrite count as lost. */
static void mind_reader(struct drain *d)
{
	u64 now = ktime_get_ns();

	if (d->reader || !sft_drain_waited_for(d) ||
	    !(sft_hw.capture.flags & SIFIVE_TRACE_CONFIG_WAIT))
		d->alone = now;
	else if (now - d->alone > READER_NS)
		WRITE_ONCE(d->unattended, true);
}

/* Return whether only programs write to the sinks: neither the kernel nor the hardware does. */
static bool only_programs_write(void)
{
	return !sft_hw.capture.instruction.mode && !sft_sampling_is_set() &&
	       !sft_switches_is_set() && !sft_counters.turns;
}

/* Return whether to stop checking until a program stores. @idle: idle state before this check. */
static bool may_rest(bool fresh, bool idle)
{
	if (fresh)
		busy = jiffies;
	else if (idle)
		return true;
	else if (time_after(jiffies, READ_ONCE(busy) + IDLE) && only_programs_write())
		/* Check once more, for stores made since this check. */
		sft_mapping_set_idle();
	return false;
}

static void look_again(struct work_struct *work)
{
	const bool idle = sft_mapping_idle();
	unsigned long next = SELDOM;
	bool worth = false, fresh = false;
	struct drain *d;

	sft_lock();
	if (!sft_drains || !sft_hw.capture.running) {
		sft_unlock();
		return;
	}
	for (d = sft_drains; d < sft_drains + sft_hw.capture.sinks; d++) {
		sft_drain_follow(d);
		mind_reader(d);
		worth |= is_worth(d);
		next = min(next, next_look(d));
		fresh |= d->fresh;
		d->fresh = 0;
	}
	interval = next;
	if (!may_rest(fresh, idle))
		queue_delayed_work(system_highpri_wq, &look_work, interval);
	if (worth)
		sft_wake_pollers();
	sft_unlock();
}

/* Return an upper bound on the number of unread bytes, some of which a reader may be consuming. */
static size_t unread_now(const struct drain *d)
{
	size_t oldest = READ_ONCE(d->oldest);

	/* Read the write pointer last, because an earlier value could be behind @oldest. */
	rmb();
	return (sft_sink_position(d->sink).wp + d->sink->size - oldest) % d->sink->size;
}

static bool is_crowded(const struct drain *d, size_t unread)
{
	size_t part = sft_drain_waited_for(d) ? FULL_UNTIL : FULL_FROM;

	return !READ_ONCE(d->unattended) && unread > d->sink->size / 8 * part;
}

/* Return whether stores to a sink have to wait until it has room. */
static bool is_held(const struct drain *d, size_t unread)
{
	return sft_hw.capture.flags & SIFIVE_TRACE_CONFIG_WAIT &&
	       (sft_drain_waited_for(d) || unread > d->sink->size / 8 * HOLD_AT_ONCE);
}

/* Return the minimum number of microseconds until three quarters of a sink's ring are unread. */
static unsigned long fills_in(const struct drain *d, size_t unread)
{
	size_t most = d->sink->size / 4 * 3;

	return unread < most ? (most - unread) / BYTES_PER_US : 0;
}

/*
 * Return a mask of the encoders whose sinks have no room, and add to @held the encoders whose
 * stores have to wait. Lower @us if any sink can fill up sooner. Called without the system's
 * lock, while the capture runs.
 */
u64 sft_drain_crowded(unsigned long *us, u64 *held)
{
	const struct drain *d;
	u64 encoders = 0;
	size_t unread;

	for (d = sft_drains; d < sft_drains + sft_hw.capture.sinks; d++) {
		unread = unread_now(d);
		if (is_crowded(d, unread)) {
			encoders |= d->sink->encoders;
			if (is_held(d, unread))
				*held |= d->sink->encoders;
		}
		*us = min(*us, fills_in(d, unread));
	}
	return encoders;
}

/* Check now, to wake the readers of sinks that have no room. */
void sft_drain_look(void)
{
	mod_delayed_work(system_highpri_wq, &look_work, 0);
}

/*
 * Called before what may be the first store, so that the session does not become idle immediately.
 */
void sft_drain_resume(void)
{
	WRITE_ONCE(busy, jiffies);
	WRITE_ONCE(interval, 1);
	mod_delayed_work(system_highpri_wq, &look_work, 1);
}

/* Called when the sinks are rewound. */
void sft_drain_rewind(void)
{
	struct drain *d;

	for (d = sft_drains; sft_drains && d < sft_drains + sft_hw.capture.sinks; d++)
		*d = (struct drain){ .sink = d->sink, .reader = d->reader };
}

int sft_drain_config(struct sft_why *why)
{
	unsigned int i, sinks = sft_hw.capture.sinks;

	if (!(sft_hw.capture.flags & SIFIVE_TRACE_CONFIG_DRAIN))
		return 0;
	sft_drains = kcalloc(sinks, sizeof(*sft_drains), GFP_KERNEL);
	if (!sft_drains)
		return sft_fail(why, -ENOMEM, "no memory to drain %u sinks", sinks);
	for (i = 0; i < sinks; i++)
		sft_drains[i].sink = &sft_hw.capture.sink[i];
	return 0;
}

/* Called before the hardware starts. */
void sft_drain_start(void)
{
	struct drain *d;

	if (!sft_drains)
		return;
	for (d = sft_drains; d < sft_drains + sft_hw.capture.sinks; d++) {
		sft_mark_move(d);
		d->alone = ktime_get_ns();
		d->looked = d->alone;
		if (!d->fill)
			d->clean = d->alone;
	}
	sft_mapping_set_busy();
	sft_drain_resume();
	if (sft_hw.capture.flags & (SIFIVE_TRACE_CONFIG_WAIT | SIFIVE_TRACE_CONFIG_DROP))
		sft_waiting_watch(true);
}

/* Called after the hardware has stopped. */
void sft_drain_stop(void)
{
	struct drain *d;

	sft_waiting_watch(false);
	for (d = sft_drains; sft_drains && d < sft_drains + sft_hw.capture.sinks; d++) {
		sft_drain_follow(d);
		sft_mark_remove(d);
	}
}

/* Account for data of sink number @i that was lost during system suspend. */
void sft_drain_lose(unsigned int i)
{
	if (!sft_drains)
		return;
	if (sft_drains[i].fill)
		lose(&sft_drains[i], sft_drains[i].fill);
	sft_drains[i].at = 0;
	show_oldest(&sft_drains[i]);
}

/* Called when the capture is freed. */
void sft_drain_clear(void)
{
	kfree(sft_drains);
	sft_drains = NULL;
}

void sft_drain_exit(void)
{
	cancel_delayed_work_sync(&look_work);
}
