// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "choose.h"

PERF_INTERNAL void bare_choose_begin(struct bare_choice *choice)
{
	unsigned int n;

	for (n = 0; n < PERF_COUNTER_MAX; n++)
		choice->holder[n] = -1;
}

/*
 * Move event @to[n] to the free counter @n. In the same way, fill the counter that the move has
 * freed, and so on, until event @last has a counter.
 */
PERF_LOCAL void hand_on(struct bare_choice *choice, const unsigned char *to,
			unsigned int n, unsigned int last)
{
	unsigned int event, own;

	do {
		event = to[n];
		own = choice->number[event];
		choice->holder[n] = (signed char)event;
		choice->number[event] = (unsigned char)n;
		n = own;
	} while (event != last);
}

PERF_INTERNAL bool bare_choose(struct bare_choice *choice, unsigned int event)
{
	/* The events without a counter, and for each counter the event to move to it. */
	unsigned char queue[PERF_COUNTER_MAX], to[PERF_COUNTER_MAX];
	unsigned int head, tail = 0, n;
	uint32_t seen = 0;

	queue[tail++] = (unsigned char)event;
	for (head = 0; head < tail; head++)
		for (n = BARE_COUNTER_FIRST; n < PERF_COUNTER_MAX; n++) {
			if (seen & 1u << n ||
			    !choice->can(choice->arg, queue[head], n))
				continue;
			seen |= 1u << n;
			to[n] = queue[head];
			if (choice->holder[n] < 0) {
				hand_on(choice, to, n, event);
				return true;
			}
			queue[tail++] = (unsigned char)choice->holder[n];
		}
	return false;
}
