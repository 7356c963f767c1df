// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The clocks of a trace's sources behind damage: see clocks.h. */
#include <string.h>

#include "clocks.h"

void clocks_break(struct clocks *clocks, int src, uint64_t offset)
{
	unsigned int i;

	for (i = 0; i < NEXUS_SOURCES; i++)
		if (src < 0 || i == (unsigned int)src)
			clocks->broken[i] = offset;
}

static uint64_t highest_bit(uint64_t bits)
{
	return bits ? 1ull << (63 - __builtin_clzll(bits)) : 0;
}

/*
 * The stores of one source in the queue, from the latest back to the one with which
 * its time's @bit last was the highest to change, or to where it lost a timestamp.
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
		if (later && highest_bit((later->time ^ store->time) &
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

static void flip(const struct window *window, size_t first)
{
	size_t i;

	for (i = first; i < window->end; i++)
		if (window->clocks->store[i].src == window->src &&
		    window->clocks->store[i].time_known)
			window->clocks->store[i].time ^= window->bit;
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
 * Which store's timestamp is damaged: from there on the bit is to be flipped, up to
 * the contradiction. The steps there become shorter or longer; none may go back.
 * Return window->end if that is the message at the contradiction itself.
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

static void correct_bit(struct clocks *clocks, unsigned int src, uint64_t bit,
			uint64_t time)
{
	struct window window = {
		.clocks = clocks, .src = (uint8_t)src, .bit = bit,
		.end = clocks->stores,
	};

	find_window(&window);
	doubt(&window);
	flip(&window, window.lost ? window.first : find_damage(&window, time));
}

/* The latest time of a source in the queue. */
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

void clocks_correct(struct clocks *clocks, const struct nexus_message *message)
{
	uint64_t bit = message->contrary, time;

	correct_bit(clocks, message->src, bit, message->time);
	/* Behind an absolute time all bits are known. */
	while (message->flags & NEXUS_SYNC &&
	       latest_time(clocks, message->src, &time) && time > message->time) {
		bit = highest_bit((time ^ message->time) & (bit - 1));
		if (!bit)
			break;
		correct_bit(clocks, message->src, bit, message->time);
	}
}
