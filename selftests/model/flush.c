// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests a flush when time follows the host's clock, so that the emulator's timers may be late: a
 * driver may poll for empty for only a few microseconds.
 */
#include "guest.h"

#define TICKS	50	/* 5 us; while a flush takes 1 us */

static void empty_is_set_when_the_flush_is_over(void)
{
	unsigned int n, late = 0;
	uint64_t over;

	for (n = 0; n < 100; n++) {
		start();
		store();
		wr(TR_CONTROL, OFF);
		for (over = now() + TICKS; now() < over;)
			;
		late += !(rd(TR_CONTROL) & TR_CONTROL_EMPTY);
	}
	result(!late, "empty is set when the flush is over");
}

void guest(void)
{
	empty_is_set_when_the_flush_is_over();
	end();
}
