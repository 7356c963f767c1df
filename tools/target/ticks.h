/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Converts times to the trace's clock. */
#ifndef SIFIVE_TRACE_TICKS_H
#define SIFIVE_TRACE_TICKS_H

#include <stdint.h>

/**
 * struct trigger_clock - converts times to the trace's clock
 * @ns, @ticks: the same instant on CLOCK_MONOTONIC and on the encoder's clock
 * @hz:		ticks per second, 0 if the encoder's time is unknown
 */
struct trigger_clock {
	uint64_t	ns;
	uint64_t	ticks;
	uint64_t	hz;
};

/** trigger_ticks() - return the encoder's time at @ns, or 0 if its clock had not yet started */
static inline uint64_t trigger_ticks(const struct trigger_clock *clock, uint64_t ns)
{
	const uint64_t ago = (uint64_t)((double)(clock->ns - ns) * (double)clock->hz / 1e9);

	return ago < clock->ticks ? clock->ticks - ago : 0;
}

#endif /* SIFIVE_TRACE_TICKS_H */
