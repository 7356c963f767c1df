// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Checks absolute timestamps: see head.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clocks.h"
#include "head.h"

#define CHUNK		(64u << 10)
/* Number of stores decoded per call. */
#define STORES		64
/*
 * Maximum number of bytes to read ahead: in general, and if it is unknown which bits can be wrong.
 * The second limit slightly exceeds the size of the decoder's queue.
 */
#define AHEAD		(4u << 20)
#define AHEAD_UNKNOWN	(128u << 10)
/*
 * A source's first time is confirmed once the source's time has advanced by this multiple of the
 * first time's distance from the start of the capture, or from another source's first time.
 */
#define ENOUGH		8

/**
 * struct sight - a source in the bytes read ahead
 * @seen:	its first absolute time has been read
 * @done:	that time is confirmed or contradicted
 * @first:	its first absolute time
 * @last:	its latest time
 * @enough:	ticks by which @last must exceed @first to confirm @first
 * @confirmed:	bits that were the highest to change in a step
 */
struct sight {
	bool		seen;
	bool		done;
	uint64_t	first;
	uint64_t	last;
	uint64_t	enough;
	uint64_t	confirmed;
};

struct scan {
	struct head	*head;
	struct nexus	nexus;
	struct sight	sight[NEXUS_SOURCES];
	unsigned int	seen;
	unsigned int	open;		/* number of sources with @seen, but not @done */
	bool		ended;		/* bytes are damaged or lost */
	uint8_t		buffer[CHUNK];
};

void head_init(struct head *head, const struct meta *meta, uint64_t mask)
{
	const struct meta_utc *start, *stop;
	double length;
	uint64_t ticks;

	*head = (struct head){ .mask = mask, .slack = meta->ts_hz >> 10 };
	/* The second sample of a running recording was not read at its end. */
	if (meta->samples != 2 || !meta->ts_hz || meta->coverage.running)
		return;
	start = &meta->sample[0];
	stop = &meta->sample[1];
	if (!start->ns || stop->ns <= start->ns)
		return;
	length = (double)(stop->ns - start->ns) * (double)meta->ts_hz / 1e9;
	head->start = start->time & mask;
	if (length < (double)UINT64_MAX / 4 && length > (double)mask / 16 * 15) {
		head->whole = (uint64_t)length;
		return;
	}
	/* The two clocks differ slightly; if they differ more, one clock is unreliable. */
	ticks = (stop->time - start->time) & mask;
	if (length <= (double)mask / 16 * 15 && (double)ticks > length / 16 * 15 &&
	    (double)ticks < length / 16 * 17 + (double)head->slack)
		head->length = ticks;
}

/* Return whether a time is in the capture, as far as the capture's limits are known. */
static bool is_inside(const struct head *head, uint64_t time)
{
	return !head->length || ((time - head->start + head->slack) & head->mask) <=
				head->length + 2 * head->slack;
}

/* ---- reading ahead ------------------------------------------------------- */

static void finish(struct scan *scan, struct sight *sight)
{
	sight->done = true;
	scan->open--;
}

/* Return how far a time is from the start of the capture, in either direction. */
static uint64_t from_start(const struct head *head, uint64_t time)
{
	const uint64_t after = (time - head->start) & head->mask;
	const uint64_t before = (head->start - time) & head->mask;

	return after < before ? after : before;
}

/* After another source has been found, set how far the sources' times have to advance. */
static void measure_distances(struct scan *scan)
{
	const struct head *head = scan->head;
	uint64_t distance, other;
	unsigned int i, k;

	for (i = 0; i < NEXUS_SOURCES; i++) {
		struct sight *sight = &scan->sight[i];

		if (!sight->seen)
			continue;
		distance = head->length ? from_start(head, sight->first) : head->mask;
		for (k = 0; k < NEXUS_SOURCES && scan->seen > 1; k++) {
			if (k == i || !scan->sight[k].seen)
				continue;
			other = scan->sight[k].first;
			other = other > sight->first ? other - sight->first : sight->first - other;
			distance = other < distance ? other : distance;
		}
		sight->enough = distance + head->slack < head->mask / ENOUGH ?
				ENOUGH * (distance + head->slack) : UINT64_MAX;
	}
}

static void on_time(struct scan *scan, struct sight *sight, uint64_t time)
{
	sight->confirmed |= nexus_highest_bit(sight->last ^ time);
	sight->last = time;
	if (time - sight->first > sight->enough && !scan->head->whole)
		finish(scan, sight);
}

/*
 * A bit that has been 1 since the source's first time should have been 0. It is wrong either in
 * that time or in this message's timestamp. In the first case, the bit below it has also changed,
 * unless the step was very long.
 */
static void on_contradiction(struct scan *scan, struct sight *sight,
			     struct nexus_message *message)
{
	const uint64_t bit = message->contrary, changed = sight->last ^ message->time;

	if (!(sight->confirmed & bit) &&
	    (changed & bit >> 1 || bit == 1 || message->flags & NEXUS_SYNC) &&
	    !clocks_slept(&scan->nexus, message))
		scan->head->wrong[message->src] = bit;
	finish(scan, sight);
}

static void on_message(struct scan *scan, struct nexus_message *message)
{
	const bool absolute = nexus_is_absolute(message);
	struct sight *sight = &scan->sight[message->src];

	if (message->flags & NEXUS_UNKNOWN_TCODE || message->tcode == NEXUS_ERROR) {
		scan->ended = true;
	} else if (absolute && !sight->seen) {
		sight->seen = true;
		sight->first = message->time;
		sight->last = message->time;
		scan->seen++;
		scan->open++;
		measure_distances(scan);
	} else if (sight->seen && !sight->done && message->flags & NEXUS_CONTRARY) {
		on_contradiction(scan, sight, message);
	} else if (sight->seen && !sight->done && message->flags & NEXUS_TIMESTAMP) {
		on_time(scan, sight, message->time);
		if (absolute && !sight->done && !scan->head->whole)
			finish(scan, sight);
	}
}

static void drain(struct scan *scan)
{
	struct nexus_message message;
	struct store store[STORES];
	enum nexus_item item;
	size_t count, i;

	do {
		count = nexus_stores(&scan->nexus, store, STORES);
		for (i = 0; i < count; i++) {
			struct sight *sight = &scan->sight[store[i].src];

			if (sight->seen && !sight->done)
				on_time(scan, sight, store[i].time);
		}
		if (count == STORES)
			continue;
		item = nexus_next(&scan->nexus, &message);
		if (item == NEXUS_MESSAGE)
			on_message(scan, &message);
		else if (item == NEXUS_GAP)
			scan->ended = true;
		if (item == NEXUS_MORE)
			return;
	} while (!scan->ended);
}

static bool goes_on(const struct scan *scan, uint64_t offset)
{
	unsigned int i;

	if (scan->ended || (scan->seen && !scan->open))
		return false;
	if (scan->head->whole || offset < AHEAD_UNKNOWN)
		return true;
	for (i = 0; i < NEXUS_SOURCES && offset < AHEAD; i++)
		if (scan->sight[i].seen && !scan->sight[i].done &&
		    scan->sight[i].enough != UINT64_MAX)
			return true;
	return false;
}

/*
 * Return whether the trace's latest time is at least half a timestamp period before the end of the
 * capture.
 */
static bool lacks_wraps(const struct scan *scan)
{
	const struct head *head = scan->head;
	uint64_t last = 0;
	unsigned int i;

	for (i = 0; i < NEXUS_SOURCES; i++)
		if (scan->sight[i].seen && scan->sight[i].last > last)
			last = scan->sight[i].last;
	return !scan->ended && last && head->start + head->whole > last + head->mask / 2;
}

int head_read(struct head *head, int fd, const struct nexus_options *options)
{
	struct scan *scan = calloc(1, sizeof(*scan));
	uint64_t offset = 0;
	ssize_t count;

	if (!scan)
		return -1;
	scan->head = head;
	nexus_init(&scan->nexus, options);
	do {
		count = pread(fd, scan->buffer, CHUNK, (off_t)offset);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			break;
		nexus_feed(&scan->nexus, scan->buffer, (size_t)count);
		drain(scan);
		offset += (uint64_t)count;
	} while (goes_on(scan, offset));
	head->short_of_wraps = head->whole && !count && lacks_wraps(scan);
	free(scan);
	return count < 0 ? -1 : 0;
}

/* ---- while decoding ------------------------------------------------------ */

/* Find the bit that, if flipped in @time, puts the time inside the capture and after @before. */
static uint64_t find_bit(const struct head *head, uint64_t time, uint64_t before)
{
	uint64_t bit, found = 0, least = UINT64_MAX, step;

	for (bit = head->mask ^ head->mask >> 1; bit; bit >>= 1) {
		step = ((time ^ bit) - before) & head->mask;
		if (is_inside(head, time ^ bit) && step <= head->length && step < least) {
			least = step;
			found = bit;
		}
	}
	return found;
}

bool head_check(struct head *head, struct nexus *nexus, struct nexus_message *message)
{
	const unsigned int src = message->src;
	const bool known = message->before_known;
	uint64_t bit = head->wrong[src], time = message->time;

	head->wrong[src] = 0;
	if (bit) {
		time ^= bit;
	} else if (!is_inside(head, time)) {
		const uint64_t before = known ? message->before : head->start - head->slack;

		bit = find_bit(head, time, before);
		time = bit ? before + (((time ^ bit) - before) & head->mask) : before;
		message->flags &= ~NEXUS_CONTRARY;
		if (!bit && !known) {
			nexus_set_time(nexus, src, 0, TIME_UNKNOWN);
			message->flags &= ~(NEXUS_TIME_KNOWN | NEXUS_TIME_INFERRED);
			return true;
		}
		if (!known)
			time &= head->mask;
	} else if (!head->short_of_wraps) {
		return false;
	}
	nexus_set_time(nexus, src, time, TIME_INFERRED);
	message->time = time;
	message->flags |= NEXUS_TIME_INFERRED;
	return true;
}
