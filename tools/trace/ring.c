// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Reconstructs data that a ring buffer has overwritten: see ring.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ring.h"

#define CHUNK	(64u << 10)
/* Maximum number of passes over the file to correct times that appear too late. */
#define LOOKS	4
/* A reference time in ticks. Times of all sources are converted to times near it for comparison. */
#define MIDDLE	(1ull << 62)
/* Number of stores decoded per call. */
#define STORES	64

bool ring_header(const struct meta *meta, struct perfrec_header *header)
{
	const struct meta_counter *by_number[PERFREC_COUNTERS] = { NULL };
	size_t i;

	if (meta->count_type < 0)
		return false;
	memset(header, 0, sizeof(*header));
	header->count_type = (uint32_t)meta->count_type;
	for (i = 0; i < meta->counters; i++)
		by_number[meta->counter[i].number] = &meta->counter[i];
	for (i = 0; i < PERFREC_COUNTERS; i++) {
		const struct meta_counter *from = by_number[i];
		struct perfrec_counter *to = &header->counter[header->counters];

		if (!from)
			continue;
		if (!perfrec_is_event_type(from->type))
			return false;
		to->number = (uint8_t)i;
		to->type = from->turn ? PERFREC_EVENT_TURNS : from->type;
		if (to->type == PERFREC_EVENT_RAW)
			to->event_data = from->data;
		else if (!from->turn)
			to->code = from->code;
		to->csr = (uint16_t)PERFREC_INFO_CSR(from->info);
		to->width = (uint8_t)PERFREC_INFO_WIDTH(from->info);
		header->mask |= 1u << i;
		header->counters++;
	}
	return true;
}

bool ring_begins(const void *data, size_t length,
		 const struct nexus_options *options)
{
	struct nexus_message message;
	struct nexus nexus;

	if (nexus_init(&nexus, options))
		return false;
	nexus_feed(&nexus, data, length);
	while (nexus_next(&nexus, &message) == NEXUS_MESSAGE)
		if (message.flags & NEXUS_TIMESTAMP)
			return !(message.flags & NEXUS_SYNC);
	return false;
}

/**
 * struct chain - a source's messages before its first absolute time
 * @change:	bits changed by all timestamps up to the latest: c_i in ring_times()
 * @known:	mask of the known bits of X (see ring_times())
 * @value:	the known bits
 * @begun:	set if a message from the source has been read
 * @ended:	set if messages were lost, so later times cannot be derived from @change
 * @contrary:	set if no X is consistent with all messages
 * @done:	set if the absolute time was reached
 * @halfway:	set if the highest bit of the timestamp has changed
 * @span:	upper bound on the time from the first to the last message, or 0 if the times cannot
 *		be moved earlier
 * @last:	time of the latest message
 * @limit:	upper limit for @last, at most the absolute time
 * @place:	@last, converted to a time near MIDDLE
 * @first:	the first time in the current stretch of the file
 * @latest:	the latest times in the current stretch, in the previous stretch, and in all earlier
 *		stretches
 * @excess:	maximum number of ticks by which its times exceed those of other sources that follow
 *		in the file
 */
struct chain {
	uint64_t	change;
	uint64_t	known;
	uint64_t	value;
	bool		begun;
	bool		ended;
	bool		contrary;
	bool		done;
	bool		halfway;
	uint64_t	span;
	uint64_t	last;
	uint64_t	limit;
	uint64_t	place;
	uint64_t	first;
	uint64_t	latest[3];
	uint64_t	excess;
};

struct pass {
	struct ring_times	*times;
	struct nexus		nexus;
	uint64_t		mask;
	bool			delta;
	bool			looking;	/* all times are known */
	bool			wraps;		/* times may wrap in the ring */
	uint64_t		stretch;	/* number of the current stretch of the file */
	struct chain		chain[NEXUS_SOURCES];
	uint8_t			buffer[CHUNK];
};

/* Return the highest bit set in @bits, and all bits below it. */
static uint64_t up_to_highest(uint64_t bits)
{
	return bits ? ~0ull >> __builtin_clzll(bits) : 0;
}

static void add_change(const struct pass *pass, struct chain *chain,
		       uint64_t change)
{
	uint64_t below = up_to_highest((change ^ chain->change) & pass->mask);
	uint64_t bit = below ^ below >> 1;
	uint64_t before = chain->change & bit;

	chain->begun = true;
	chain->change = change;
	if (pass->delta || !bit)
		return;
	/* Only the highest bit can also change from 1 to 0, when the time wraps. */
	if (bit == (pass->mask ^ pass->mask >> 1)) {
		chain->halfway = true;
		return;
	}
	if (chain->known & bit && (chain->value & bit) != before)
		chain->contrary = true;
	chain->known |= bit;
	chain->value |= before;
}

/*
 * Return the latest time, at most @limit, whose @known bits equal those of @value; if there is
 * none, return the latest such time before the clock wrapped.
 */
static uint64_t latest(uint64_t value, uint64_t known, uint64_t limit,
		       uint64_t mask)
{
	uint64_t below = up_to_highest((value ^ limit) & known);
	uint64_t any = mask & ~known, less = 0;

	if (value & (below ^ below >> 1)) {
		/* The highest bit in @below makes the time too late, so clear a higher bit. */
		less = limit & any & ~below;
		if (!less)
			return value | any;
		less &= -less;
		below = 2 * less - 1;
	}
	/*
	 * Above the highest bit in @below, the time equals @limit. That bit is 1 in @limit and 0 in
	 * the time, so all lower bits of the time can be 1.
	 */
	return (limit & ~below) | ((value | any) & below & ~less);
}

/* Assume that the source sent its last message at @limit, or as late before it as possible. */
static void place_last(struct pass *pass, unsigned int src, uint64_t limit)
{
	struct chain *chain = &pass->chain[src];
	uint64_t mask = pass->mask;

	if (pass->delta) {
		chain->last = limit;
		pass->times->time[src] = (limit - chain->change) & mask;
	} else {
		chain->last = latest((chain->value ^ chain->change) & chain->known,
				     chain->known, limit, mask);
		pass->times->time[src] = (chain->last ^ chain->change) & mask;
	}
}

static void absolute(struct pass *pass, unsigned int src, uint64_t time)
{
	struct chain *chain = &pass->chain[src];
	struct ring_times *times = pass->times;

	if (!chain->begun)
		return;
	if (chain->contrary) {
		times->contrary++;
		return;
	}
	chain->limit = time;
	if (pass->delta)
		chain->span = 1;
	else if (!chain->halfway)
		chain->span = (up_to_highest(chain->known) + 1) & pass->mask;
	place_last(pass, src, time);
	pass->wraps |= chain->halfway || chain->last > time;
	times->worked_out++;
	times->known[src] = true;
}

/*
 * End a stretch of the file, and update @excess of the sources: a message at least RING_SKEW bytes
 * after another message in the file was sent later. If a source was silent for a long time before
 * its absolute time, its inferred times are too late by the length of the silence.
 */
static void end_stretch(struct pass *pass)
{
	uint64_t first = UINT64_MAX;
	unsigned int src;

	for (src = 0; src < NEXUS_SOURCES; src++)
		if (pass->chain[src].first && pass->chain[src].first < first)
			first = pass->chain[src].first;
	for (src = 0; src < NEXUS_SOURCES; src++) {
		struct chain *chain = &pass->chain[src];
		uint64_t *latest = chain->latest;

		if (latest[2] > first && latest[2] - first > chain->excess)
			chain->excess = latest[2] - first;
		latest[2] = latest[1] ? latest[1] : latest[2];
		latest[1] = latest[0];
		latest[0] = 0;
		chain->first = 0;
	}
}

static void look_at(struct pass *pass, struct chain *chain, uint64_t offset,
		    uint64_t time)
{
	uint64_t place = chain->place - ((chain->last - time) & pass->mask);
	unsigned int i;

	/* Three steps replace all of latest[], so more would have no effect. */
	for (i = 0; i < 3 && pass->stretch + i < offset / RING_SKEW; i++)
		end_stretch(pass);
	pass->stretch = offset / RING_SKEW;
	if (!chain->first)
		chain->first = place;
	chain->latest[0] = place;
}

static void on_time(struct pass *pass, struct chain *chain, uint64_t offset,
		    uint64_t time)
{
	if (chain->ended || chain->done)
		return;
	if (!pass->looking)
		add_change(pass, chain, time);
	else if (chain->place)
		look_at(pass, chain, offset, time);
}

static void on_message(struct pass *pass, const struct nexus_message *message)
{
	struct chain *chain = &pass->chain[message->src];

	if (chain->done || message->flags & NEXUS_UNKNOWN_TCODE) {
		chain->ended = true;
		return;
	}
	if (pass->looking && message->flags & NEXUS_SYNC) {
		chain->done = true;
		return;
	}
	if (nexus_is_absolute(message)) {
		absolute(pass, message->src, message->time & pass->mask);
		chain->done = true;
	} else if (message->tcode == NEXUS_ERROR) {
		chain->ended = true;
	} else if (message->flags & NEXUS_TIMESTAMP) {
		on_time(pass, chain, message->offset, message->time & pass->mask);
	}
}

/* Handle the stores up to the next message that is not a store. */
static void on_stores(struct pass *pass)
{
	struct store store[STORES];
	size_t count, i;

	do {
		count = nexus_stores(&pass->nexus, store, STORES);
		for (i = 0; i < count; i++) {
			struct chain *chain = &pass->chain[store[i].src];

			on_time(pass, chain, store[i].offset,
				store[i].time & pass->mask);
		}
	} while (count == STORES);
}

/*
 * Set each source's time, or 0 if it is unknown, in which case the decoded time shows which bits of
 * the source's clock have changed.
 */
static void start_clocks(struct pass *pass)
{
	unsigned int src;

	for (src = 0; src < NEXUS_SOURCES; src++)
		nexus_set_time(&pass->nexus, src, pass->times->time[src],
			       TIME_UNKNOWN);
}

/* End the chains of all sources, because any of them may have sent the lost bytes. */
static void end_chains(struct pass *pass)
{
	unsigned int src;

	for (src = 0; src < NEXUS_SOURCES; src++)
		pass->chain[src].ended = true;
}

static void drain(struct pass *pass)
{
	struct nexus_message message;
	enum nexus_item item;

	do {
		on_stores(pass);
		item = nexus_next(&pass->nexus, &message);
		if (item == NEXUS_MESSAGE)
			on_message(pass, &message);
		else if (item == NEXUS_GAP && message.gap == NEXUS_GAP_ALIGN)
			start_clocks(pass);
		else if (item == NEXUS_GAP)
			end_chains(pass);
	} while (item != NEXUS_MORE);
}

static int read_all(struct pass *pass, int fd, const struct nexus_options *options)
{
	off_t offset = 0;
	ssize_t count;

	nexus_init(&pass->nexus, options);
	start_clocks(pass);
	while ((count = pread(fd, pass->buffer, CHUNK, offset))) {
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -1;
		nexus_feed(&pass->nexus, pass->buffer, (size_t)count);
		drain(pass);
		offset += count;
	}
	return 0;
}

/*
 * Convert times to times near MIDDLE, which can be compared even if only some clocks have wrapped.
 */
static void begin_look(struct pass *pass)
{
	uint64_t half = pass->mask / 2 + 1, reference = 0;
	unsigned int src;

	pass->looking = true;
	pass->stretch = 0;
	for (src = 0; src < NEXUS_SOURCES; src++) {
		struct chain *chain = &pass->chain[src];

		chain->ended = false;
		chain->done = false;
		chain->excess = 0;
		chain->first = 0;
		memset(chain->latest, 0, sizeof(chain->latest));
		if (!pass->times->known[src])
			continue;
		if (!reference)
			reference = chain->limit;
		chain->place = MIDDLE - half +
			       ((chain->limit - reference + half) & pass->mask) -
			       ((chain->limit - chain->last) & pass->mask);
	}
}

/* Called if no times of the source are consistent with the order of messages in the file. */
static void give_up(struct pass *pass, unsigned int src)
{
	pass->chain[src].place = 0;
	pass->chain[src].span = 0;
	pass->times->known[src] = false;
	pass->times->time[src] = 0;
	pass->times->worked_out--;
	pass->times->contrary++;
}

/* Move times that are too late to earlier times; return whether any were moved. */
static bool put_earlier(struct pass *pass)
{
	bool changed = false;
	uint64_t last, limit;
	unsigned int src;

	end_stretch(pass);
	for (src = 0; src < NEXUS_SOURCES; src++) {
		struct chain *chain = &pass->chain[src];

		/* The clocks of two harts can differ slightly. */
		if (!chain->span || !chain->excess ||
		    chain->excess <= chain->span / 16)
			continue;
		last = chain->last;
		limit = (last - chain->excess) & pass->mask;
		place_last(pass, src, limit);
		/*
		 * If the clock has not wrapped, this time would be before the clock's start at 0.
		 */
		if (!pass->wraps && (chain->excess > last || chain->last > limit))
			give_up(pass, src);
		changed = true;
	}
	return changed;
}

int ring_times(int fd, const struct nexus_options *options,
	       struct ring_times *times)
{
	struct pass *pass = calloc(1, sizeof(*pass));
	unsigned int looks;
	int error;

	memset(times, 0, sizeof(*times));
	if (!pass)
		return -1;
	nexus_init(&pass->nexus, options);
	pass->times = times;
	pass->mask = pass->nexus.ts_mask;
	pass->delta = options->ts_scheme == NEXUS_TS_DELTA;
	error = read_all(pass, fd, options);
	for (looks = 0; looks < LOOKS && !error && times->worked_out > 1 &&
	     pass->mask < MIDDLE / 4; looks++) {
		begin_look(pass);
		error = read_all(pass, fd, options);
		if (!put_earlier(pass))
			break;
	}
	free(pass);
	return error;
}
