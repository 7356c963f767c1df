// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests a flush while the emulator's time follows the host's clock. The emulator's timers can then
 * be late, but a driver polls the empty bit for only a few microseconds.
 */
#include "guest.h"

#define TICKS	50	/* 5 us; a flush takes 1 us */

static void empty_is_set_after_flush(void)
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
	result(!late, "the empty bit is set when the flush is complete");
}

void guest(void)
{
	empty_is_set_after_flush();
	end();
}
