// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See doubts.h. */
#include <string.h>

#include "doubts.h"

static void forget_half(struct doubts *doubts)
{
	unsigned int i;

	for (i = 0; i < DOUBTS_MAX / 2; i++)
		doubts->gone += doubts->span[i].to - doubts->span[i].from;
	doubts->count -= DOUBTS_MAX / 2;
	memmove(doubts->span, doubts->span + DOUBTS_MAX / 2,
		doubts->count * sizeof(*doubts->span));
}

void doubts_add(struct doubts *doubts, uint64_t from, uint64_t to)
{
	if (to <= from)
		return;
	for (; doubts->count && doubts->span[doubts->count - 1].to >= from; doubts->count--) {
		if (doubts->span[doubts->count - 1].from < from)
			from = doubts->span[doubts->count - 1].from;
		if (doubts->span[doubts->count - 1].to > to)
			to = doubts->span[doubts->count - 1].to;
	}
	if (doubts->count == DOUBTS_MAX)
		forget_half(doubts);
	doubts->span[doubts->count].from = from;
	doubts->span[doubts->count].to = to;
	doubts->count++;
}

uint64_t doubts_in(const struct doubts *doubts, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = doubts->count; i && doubts->span[i - 1].to > from; i--) {
		const uint64_t first = doubts->span[i - 1].from > from ?
				       doubts->span[i - 1].from : from;
		const uint64_t last = doubts->span[i - 1].to < to ?
				      doubts->span[i - 1].to : to;

		sum += last > first ? last - first : 0;
	}
	return sum;
}
