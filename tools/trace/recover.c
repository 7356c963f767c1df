// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Recovers timestamps from damaged bytes: clocks_recover() of clocks.h. */
#include <string.h>

#include "clocks.h"

/* Number of bytes after the damage that are decoded to test a candidate. */
#define TRIAL		(4u << 10)
/* Number of stores decoded per call. */
#define STORES		64

/* Implausibility of message times; the first member that differs is decisive. */
struct doubt {
	uint64_t	contradictions;
	uint64_t	unsteady;	/* sum of differences between successive steps */
};

/**
 * struct recovery - damaged bytes, and the best candidate for the clocks after them
 * @window:	the damaged bytes, and later bytes that may belong to the same messages
 * @skip:	number of bytes after the damage that belong to a damaged message, for the best
 *		candidate
 * @doubt:	implausibility of the messages after the damage, for the best candidate
 * @repaired:	set if the best candidate differs from the unchanged clocks
 */
struct recovery {
	const struct nexus	*nexus;
	const uint64_t		*words;
	uint8_t			window[CLOCKS_DAMAGE_MAX + 2 * NEXUS_MESSAGE_MAX];
	size_t			filled;
	size_t			length;
	struct nexus		best;
	size_t			skip;
	struct doubt		doubt;
	bool			repaired;
};

/* Time steps by source, and how uneven they are: wrong bits make steps more uneven. */
struct steps {
	uint64_t	time[NEXUS_SOURCES];
	uint64_t	step[NEXUS_SOURCES];
	uint64_t	unsteady;
};

static void add_step(struct steps *steps, unsigned int src, uint64_t time)
{
	uint64_t step = time - steps->time[src], before = steps->step[src];

	steps->unsteady += step > before ? step - before : before - step;
	steps->time[src] = time;
	steps->step[src] = step;
}

static struct doubt examine(const struct nexus *from, size_t skip)
{
	size_t length = (size_t)(from->in_end - from->in) - skip, count, i;
	struct doubt doubt = { 0, 0 };
	struct nexus_message message;
	struct store store[STORES];
	struct nexus trial = *from;
	struct steps steps = { 0 };
	enum nexus_item item;

	memcpy(steps.time, trial.now, sizeof(steps.time));
	nexus_feed(&trial, trial.in + skip, length < TRIAL ? length : TRIAL);
	do {
		do {
			count = nexus_stores(&trial, store, STORES);
			for (i = 0; i < count; i++)
				add_step(&steps, store[i].src, store[i].time);
		} while (count == STORES);
		item = nexus_next(&trial, &message);
		if (item == NEXUS_MESSAGE)
			add_step(&steps, message.src, trial.now[message.src]);
		doubt.contradictions += item == NEXUS_GAP ||
					(item == NEXUS_MESSAGE &&
					 message.flags & NEXUS_CONTRARY);
	} while (item != NEXUS_MORE);
	doubt.unsteady = steps.unsteady;
	return doubt;
}

static int compare(const struct doubt *a, const struct doubt *b)
{
	if (a->contradictions != b->contradictions)
		return a->contradictions < b->contradictions ? -1 : 1;
	if (a->unsteady != b->unsteady)
		return a->unsteady < b->unsteady ? -1 : 1;
	return 0;
}

/* Test the clocks of @candidate, and keep them if no previous candidate was better. */
static void consider(struct recovery *recovery, const struct nexus *candidate,
		     size_t skip)
{
	struct nexus tried = *recovery->nexus;
	struct doubt doubt;
	unsigned int src;
	int order;

	for (src = 0; src < NEXUS_SOURCES; src++) {
		bool same = candidate->now[src] == tried.now[src];

		if (candidate->quality[src] && (!tried.quality[src] || !same))
			nexus_set_time(&tried, src, candidate->now[src],
				       TIME_INFERRED);
	}
	doubt = examine(&tried, skip);
	order = compare(&doubt, &recovery->doubt);
	if (order > 0 || (!order && recovery->repaired))
		return;
	recovery->best = tried;
	recovery->skip = skip;
	recovery->doubt = doubt;
	recovery->repaired = true;
}

static bool plausible(const struct recovery *recovery,
		      const struct nexus_message *message)
{
	const struct nexus *nexus = recovery->nexus;
	struct store store;

	if (message->flags & (NEXUS_UNKNOWN_TCODE | NEXUS_CONTRARY))
		return false;
	if (nexus->stamps == NEXUS_STAMPS_ALL &&
	    !(message->flags & NEXUS_TIMESTAMP))
		return false;
	if (message->tcode != NEXUS_DATA_ACQUISITION)
		return message->flags & NEXUS_SYNC || nexus->quality[message->src];
	return nexus_store(message, &store) && store.bytes &&
	       recovery->words[store.channel] && nexus->quality[message->src];
}

/* Test the current window if it contains only whole messages up to the end of the damage. */
static void try_window(struct recovery *recovery)
{
	struct nexus candidate = *recovery->nexus;
	struct nexus_message message;
	size_t end = 0;

	candidate.offset = 0;
	nexus_feed(&candidate, recovery->window, recovery->filled);
	while (end < recovery->length) {
		if (nexus_next(&candidate, &message) != NEXUS_MESSAGE ||
		    !plausible(recovery, &message))
			return;
		end = message.offset + message.length;
	}
	consider(recovery, &candidate, end - recovery->length);
}

/* Test whether the last field of a message with an unknown layout can be its timestamp. */
static void try_last_field(struct recovery *recovery)
{
	const uint8_t *end = recovery->window + recovery->length, *p = end - 1;
	struct nexus candidate = *recovery->nexus;
	unsigned int src = (unsigned int)(recovery->window[0] >> 2) |
			   (unsigned int)(recovery->window[1] >> 2) << 6 |
			   (unsigned int)(recovery->window[2] >> 2) << 12;
	uint64_t value = 0;

	while (p > recovery->window + 2 && !(p[-1] & 3))
		p--;
	if (p <= recovery->window + 2 || end - p > 10)
		return;
	while (end > p)
		value = value << 6 | *--end >> 2;
	src = src >> 6 & candidate.src_mask;
	value &= candidate.ts_mask;
	if (candidate.ts_scheme == NEXUS_TS_DELTA)
		candidate.now[src] += value;
	else
		candidate.now[src] ^= value;
	if (candidate.now[src] >= recovery->nexus->now[src])
		consider(recovery, &candidate, 0);
}

int clocks_recover(struct nexus *nexus, const uint8_t *bytes, size_t length,
		   const uint64_t *words)
{
	struct recovery recovery = {
		.nexus = nexus, .words = words, .length = length,
		.best = *nexus, .doubt = examine(nexus, 0),
	};
	size_t bit, behind = (size_t)(nexus->in_end - nexus->in);

	if (length > CLOCKS_DAMAGE_MAX)
		return -1;
	if (behind > 2 * NEXUS_MESSAGE_MAX)
		behind = 2 * NEXUS_MESSAGE_MAX;
	memcpy(recovery.window, bytes, length);
	memcpy(recovery.window + length, nexus->in, behind);
	recovery.filled = length + behind;
	for (bit = 0; bit < 8 * length; bit++) {
		recovery.window[bit / 8] ^= 1u << bit % 8;
		try_window(&recovery);
		recovery.window[bit / 8] ^= 1u << bit % 8;
	}
	if (length > 3 && nexus->stamps == NEXUS_STAMPS_ALL && !recovery.repaired)
		try_last_field(&recovery);
	memcpy(nexus->now, recovery.best.now, sizeof(nexus->now));
	memcpy(nexus->quality, recovery.best.quality, sizeof(nexus->quality));
	return recovery.repaired ? (int)recovery.skip : -1;
}
