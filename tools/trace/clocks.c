// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Corrects the clocks of a trace's sources after damage: see clocks.h. */
#include <string.h>

#include "clocks.h"
#include "ring.h"

/* How many of a source's latest stores are used to measure its time steps. */
#define FEW		256

/*
 * Bytes between two comparisons of clocks: more than RING_SKEW, and far fewer than the queue
 * holds.
 */
#define STRETCH		(4 * RING_SKEW)

void clocks_shift(struct clocks *clocks, size_t count, unsigned int events)
{
	unsigned int i;

	clocks->stores -= count;
	clocks->events -= events;
	clocks->checked_stores -= count < clocks->checked_stores ? count : clocks->checked_stores;
	clocks->checked_events -= events < clocks->checked_events ? events : clocks->checked_events;
	memmove(clocks->event, clocks->event + events,
		clocks->events * sizeof(clocks->event[0]));
	for (i = 0; i < clocks->events; i++)
		clocks->event[i].at -= count;
}

void clocks_break(struct clocks *clocks, const struct nexus *nexus, int src, uint64_t offset)
{
	unsigned int i;

	for (i = 0; i < NEXUS_SOURCES; i++) {
		if (src >= 0 && i != (unsigned int)src)
			continue;
		/* The timestamp of an Error message was applied to a clock that may be wrong. */
		if (clocks->broken[i] <= clocks->absolute[i])
			clocks->least[i] = src < 0 ? nexus->now[i] : 0;
		clocks->broken[i] = offset;
	}
}

/*
 * A source's queued stores in which @bit may be wrong: from the latest store back to the last time
 * step whose highest changed bit is @bit, or to a lost timestamp.
 */
struct window {
	struct clocks	*clocks;
	uint8_t		src;
	uint64_t	bit;
	size_t		first;
	size_t		end;
	bool		lost;		/* begins where a timestamp was lost */
};

static void find_window(struct window *window)
{
	const struct clocks *clocks = window->clocks;
	const struct store *later = NULL;
	size_t i;

	window->first = window->end;
	for (i = window->end; i--;) {
		const struct store *store = &clocks->store[i];

		if (store->src != window->src || !store->time_known)
			continue;
		if (later && nexus_highest_bit((later->time ^ store->time) &
					 clocks->mask) == window->bit)
			return;
		window->lost = store->offset < clocks->broken[window->src];
		if (window->lost)
			return;
		later = store;
		window->first = i;
	}
	window->lost = clocks->broken[window->src];
}

static void flip(const struct window *window, size_t first, uint64_t bits)
{
	size_t i;

	for (i = first; i < window->end; i++)
		if (window->clocks->store[i].src == window->src &&
		    window->clocks->store[i].time_known)
			window->clocks->store[i].time ^= bits;
}

static void doubt(const struct window *window)
{
	size_t i;

	for (i = window->first; i < window->end; i++)
		if (window->clocks->store[i].src == window->src &&
		    window->clocks->store[i].time_known)
			window->clocks->store[i].time_known = TIME_INFERRED;
}

/*
 * Find the store with the damaged timestamp. Flipping the bit in all stores from a candidate up to
 * the contradiction changes two time steps, the first and the last. Time must not go back in
 * either. Choose the candidate that minimises the longer of the two steps, or return window->end if
 * the message at the contradiction itself is damaged.
 */
static size_t find_damage(const struct window *window, uint64_t time)
{
	const struct store *before = NULL, *last = NULL;
	uint64_t step, end_step, least = UINT64_MAX;
	size_t i, found = window->end;

	for (i = window->end; i-- && !last;)
		if (window->clocks->store[i].src == window->src)
			last = &window->clocks->store[i];
	if (!last)
		return found;
	if (time >= last->time)
		least = time - last->time;
	end_step = time - (last->time ^ window->bit);
	for (i = 0; i < window->end; i++) {
		const struct store *store = &window->clocks->store[i];
		uint64_t flipped = store->time ^ window->bit;

		if (store->src != window->src || !store->time_known)
			continue;
		step = before ? flipped - before->time : 0;
		if (i >= window->first && (!before || flipped >= before->time)) {
			if (step < end_step)
				step = end_step;
			if (step < least) {
				least = step;
				found = i;
			}
		}
		before = store;
	}
	return found;
}

static struct window correct_bit(struct clocks *clocks, unsigned int src, uint64_t bit,
				 uint64_t time)
{
	struct window window = {
		.clocks = clocks, .src = (uint8_t)src, .bit = bit,
		.end = clocks->stores,
	};

	find_window(&window);
	doubt(&window);
	flip(&window, window.lost ? window.first : find_damage(&window, time), bit);
	return window;
}

/* Return the earliest time, not before @least, that has the same @known bits as @time. */
static uint64_t earliest(uint64_t least, uint64_t time, uint64_t known)
{
	uint64_t bit = nexus_highest_bit((least ^ time) & known), zero;

	if (!bit)
		return least;
	if (least & bit) {
		zero = ~(least | known) & ~(2 * bit - 1);
		bit = zero & -zero;
	}
	return (least & ~(2 * bit - 1)) | bit | (time & known & (bit - 1));
}

/*
 * If a bit changed to 0 while messages were lost, a higher bit changed to 1. Bits that were the
 * highest to change in a later step are known.
 */
static void carry(const struct window *window, struct nexus *nexus,
		  struct nexus_message *message)
{
	const uint64_t least = window->clocks->least[window->src];
	const struct store *first = NULL, *before = NULL;
	uint64_t known = window->bit, time = message->time;
	size_t i;

	for (i = window->first; i < window->end; i++) {
		const struct store *store = &window->clocks->store[i];

		if (store->src != window->src || !store->time_known)
			continue;
		if (before)
			known |= nexus_highest_bit(before->time ^ store->time);
		else
			first = store;
		before = store;
	}
	if (first)
		time = first->time;
	if (time >= least)
		return;
	time ^= earliest(least, time, known);
	flip(window, window->first, time);
	message->time ^= time;
	nexus->now[window->src] ^= time;
}

/* Find the latest time of a source in the queue. */
static bool latest_time(const struct clocks *clocks, unsigned int src,
			uint64_t *time)
{
	size_t i;

	for (i = clocks->stores; i--;) {
		if (clocks->store[i].src != src || !clocks->store[i].time_known)
			continue;
		*time = clocks->store[i].time;
		return true;
	}
	return false;
}

/* Queue a gap before the window's first store. */
static void queue_gap(const struct window *window, const struct nexus_message *message)
{
	const bool early = window->first < window->end;
	struct clocks *clocks = window->clocks;
	unsigned int i = clocks->events;

	if (i == CLOCKS_EVENTS)
		return;
	for (; i && clocks->event[i - 1].at > window->first; i--)
		clocks->event[i] = clocks->event[i - 1];
	clocks->event[i] = (struct clocks_event){
		.at = window->first, .item = NEXUS_GAP, .message = {
			.offset = early ? clocks->store[window->first].offset : message->offset,
			.src = message->src, .gap = NEXUS_GAP_TIMES,
		},
	};
	clocks->events++;
	clocks->checked_events += i < clocks->checked_events;
}

void clocks_correct(struct clocks *clocks, struct nexus *nexus, struct nexus_message *message)
{
	const unsigned int src = message->src;
	uint64_t bit = message->contrary, time;
	const struct window window = correct_bit(clocks, src, bit, message->time);

	queue_gap(&window, message);
	if (window.lost && clocks->absolute[src] < clocks->broken[src])
		carry(&window, nexus, message);
	/* An absolute time reveals all wrong bits, not only the highest. */
	while (message->flags & NEXUS_SYNC &&
	       latest_time(clocks, message->src, &time) && time > message->time) {
		bit = nexus_highest_bit((time ^ message->time) & (bit - 1));
		if (!bit)
			break;
		correct_bit(clocks, message->src, bit, message->time);
	}
}

void clocks_doubt(struct clocks *clocks, unsigned int src, uint64_t since)
{
	size_t i;

	for (i = clocks->stores; i-- && clocks->store[i].offset >= since;)
		if (clocks->store[i].src == src && clocks->store[i].time_known)
			clocks->store[i].time_known = TIME_INFERRED;
}

/* Mark all times of a source as inferred, because its clock may be wrong. */
static void doubt_source(struct clocks *clocks, struct nexus *nexus, unsigned int src)
{
	clocks->disorders += nexus->quality[src] == TIME_EXACT;
	clocks_doubt(clocks, src, 0);
	if (nexus->quality[src])
		nexus->quality[src] = TIME_INFERRED;
}

/* Add to @time the periods missing from a source's times; return their total length. */
static uint64_t unwrap(struct clocks *clocks, uint64_t *lacks, uint64_t *time)
{
	*time += *lacks;
	if (*time > clocks->latest) {
		clocks->latest = *time;
	} else if (clocks->latest - *time > clocks->mask / 2) {
		const uint64_t more = (clocks->latest - *time + clocks->mask / 2) & ~clocks->mask;

		*lacks += more;
		*time += more;
	}
	return *lacks;
}

/* Return the latest time among all sources. */
static uint64_t latest_clock(const struct nexus *nexus)
{
	uint64_t latest = 0;
	unsigned int src;

	for (src = 0; src <= nexus->src_mask; src++)
		if (nexus->quality[src] && nexus->now[src] > latest)
			latest = nexus->now[src];
	return latest;
}

bool clocks_slept(struct nexus *nexus, struct nexus_message *message)
{
	const unsigned int src = message->src;
	const uint64_t latest = latest_clock(nexus);

	if (latest < nexus->now[src] || latest - nexus->now[src] <= nexus->ts_mask / 2)
		return false;
	message->flags &= ~NEXUS_CONTRARY;
	if (!(message->flags & NEXUS_SYNC)) {
		message->time ^= message->contrary;
		nexus->now[src] ^= message->contrary;
	}
	return true;
}

void clocks_unwrap(struct clocks *clocks, struct nexus *nexus)
{
	const uint64_t latest = latest_clock(nexus);
	uint64_t lacks[NEXUS_SOURCES] = { 0 };
	size_t *at = &clocks->checked_stores;
	unsigned int src;

	/* A time that was too late may have been corrected. */
	if (clocks->latest > latest || latest <= clocks->mask)
		clocks->latest = latest;
	if (latest <= clocks->mask) {
		*at = clocks->stores;
		clocks->checked_events = clocks->events;
		return;
	}
	while (*at < clocks->stores || clocks->checked_events < clocks->events) {
		struct clocks_event *event = &clocks->event[clocks->checked_events];
		struct nexus_message *message = &event->message;
		struct store *store = &clocks->store[*at];

		if (clocks->checked_events < clocks->events && event->at <= *at) {
			clocks->checked_events++;
			if (event->item == NEXUS_MESSAGE && message->flags & NEXUS_TIME_KNOWN &&
			    unwrap(clocks, &lacks[message->src], &message->time))
				message->flags |= NEXUS_TIME_INFERRED;
			continue;
		}
		++*at;
		if (store->time_known &&
		    unwrap(clocks, &lacks[store->src], &store->time))
			store->time_known = TIME_INFERRED;
	}
	for (src = 0; src <= nexus->src_mask; src++)
		if (lacks[src])
			nexus_set_time(nexus, src, nexus->now[src] + lacks[src], TIME_INFERRED);
}

static void end_stretch(const struct nexus *nexus, struct clocks_stretch *stretch,
			const struct clocks_stretch *before)
{
	uint64_t latest = 0;
	unsigned int src;

	stretch->end = nexus->offset;
	for (src = 0; src <= nexus->src_mask; src++) {
		uint64_t now = nexus->now[src];

		stretch->now[src] = now;
		stretch->sent[src] = now != before->now[src] && nexus->quality[src];
		if (stretch->sent[src] && now > latest) {
			latest = now;
			stretch->late = src;
		}
	}
	stretch->latest = latest;
}

/*
 * Compare the latest time in @first with the times of the other sources in @last. A source with an
 * earlier time contradicts it; the remaining sources agree with it. If no source agrees, the times
 * of the source with the latest time become doubtful. If any source agrees, or if only one
 * contradicts it, the times of the contradicting sources become doubtful.
 */
static void compare_stretches(struct clocks *clocks, struct nexus *nexus,
			      const struct clocks_stretch *first,
			      const struct clocks_stretch *last)
{
	unsigned int earlier = 0, agreeing = 0, src;

	for (src = 0; src <= nexus->src_mask; src++) {
		if (src == first->late || !last->sent[src])
			continue;
		if (last->now[src] < first->latest)
			earlier++;
		else
			agreeing++;
	}
	if (!earlier)
		return;
	if (!agreeing)
		doubt_source(clocks, nexus, first->late);
	for (src = 0; src <= nexus->src_mask && (agreeing || earlier == 1); src++)
		if (src != first->late && last->sent[src] &&
		    last->now[src] < first->latest)
			doubt_source(clocks, nexus, src);
}

void clocks_compare(struct clocks *clocks, struct nexus *nexus)
{
	unsigned int next = clocks->next;
	struct clocks_stretch *stretch = &clocks->stretch[next];
	const struct clocks_stretch *before = &clocks->stretch[(next + 2) % 3];

	if (!nexus->src_mask || nexus->offset < before->end + STRETCH)
		return;
	clocks_unwrap(clocks, nexus);
	end_stretch(nexus, stretch, before);
	clocks->next = (next + 1) % 3;
	compare_stretches(clocks, nexus, &clocks->stretch[clocks->next], stretch);
}

/**
 * struct ending - a source's stores in the queue after its latest absolute time
 * @stores:	number of these stores
 * @early:	number of stores before the last FEW; all of them if there are at most FEW
 * @last:	time of the store visited previously
 * @longest:	longest time step among the last FEW stores
 * @lowest:	lowest of the highest changed bits of these steps, or 0 if none
 * @bits:	bits that these steps change, except confirmed bits
 */
struct ending {
	size_t		stores;
	size_t		early;
	uint64_t	last;
	uint64_t	longest;
	uint64_t	lowest;
	uint64_t	bits;
};

/* Return whether a store with a known time follows its source's latest absolute time. */
static bool is_behind_absolute(const struct clocks *clocks, const struct store *store)
{
	return store->time_known && store->offset >= clocks->absolute[store->src];
}

static void measure_step(struct ending *ending, uint64_t from, uint64_t to)
{
	uint64_t highest = nexus_highest_bit(from ^ to);

	ending->bits |= from ^ to;
	if (to - from > ending->longest)
		ending->longest = to - from;
	if (highest && (!ending->lowest || highest < ending->lowest))
		ending->lowest = highest;
}

/*
 * Measure the time steps near the end of each source. Steps before the end are not measured: after
 * a very long pause, too few times may follow to confirm the bits that the pause changed.
 */
static void measure_steps(const struct clocks *clocks, struct ending *endings)
{
	size_t i;

	for (i = 0; i < clocks->stores; i++)
		if (is_behind_absolute(clocks, &clocks->store[i]))
			endings[clocks->store[i].src].stores++;
	for (i = 0; i < NEXUS_SOURCES; i++)
		endings[i].early = endings[i].stores > FEW ? endings[i].stores - FEW :
							     endings[i].stores;
	for (i = 0; i < clocks->stores; i++) {
		const struct store *store = &clocks->store[i];
		struct ending *ending = &endings[store->src];

		if (!is_behind_absolute(clocks, store))
			continue;
		if (ending->early)
			ending->early--;
		else
			measure_step(ending, ending->last, store->time);
		ending->last = store->time;
	}
}

/*
 * For the @open sources with unconfirmed bits, mark times as inferred, from the end back to the
 * store that confirms the last such bit.
 */
static void doubt_ends(struct clocks *clocks, struct ending *endings, unsigned int open)
{
	size_t i;

	for (i = clocks->stores; i-- && open;) {
		struct store *store = &clocks->store[i];
		struct ending *ending = &endings[store->src];

		if (!ending->bits || !store->time_known)
			continue;
		ending->bits &= ~nexus_highest_bit(store->time ^ ending->last);
		ending->last = store->time;
		if (!ending->bits || store->offset < clocks->absolute[store->src]) {
			ending->bits = 0;
			open--;
			continue;
		}
		store->time_known = TIME_INFERRED;
	}
}

void clocks_end(struct clocks *clocks)
{
	struct ending endings[NEXUS_SOURCES] = { 0 };
	unsigned int src, open = 0;

	measure_steps(clocks, endings);
	for (src = 0; src < NEXUS_SOURCES; src++) {
		struct ending *ending = &endings[src];

		/*
		 * Ignore bits above twice the longest step, because a step is unlikely to change
		 * them, and bits below the shortest step, because errors in them cannot be
		 * detected.
		 */
		ending->bits &= 4 * nexus_highest_bit(ending->longest) - ending->lowest;
		open += !!ending->bits;
	}
	doubt_ends(clocks, endings, open);
}
