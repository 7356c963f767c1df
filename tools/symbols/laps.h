/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Unwraps the times in the side-car file, which wrap like the trace's timestamps. */
#ifndef SIFIVE_TRACE_LAPS_H
#define SIFIVE_TRACE_LAPS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct laps - state for unwrapping a list in the side-car file, sorted by the starts of its
 * entries
 * @lap:	number of ticks after which the timestamp wraps (a lap), or 0 if unknown
 * @slack:	ticks by which an entry may start before its predecessor: half a lap, or 0 if the
 *		order is exact
 * @passed:	total ticks of the completed laps
 * @before:	wrapped time of the previous entry
 */
struct laps {
	uint64_t	lap;
	uint64_t	slack;
	uint64_t	passed;
	uint64_t	before;
};

/**
 * laps_unwrap() - unwrap the times of the next entry
 * @from, @to: times of the entry, inclusive; 0 and UINT64_MAX if unknown
 *
 * A time that is lower than the previous one by more than the slack belongs to
 * the next lap. After the first lap, a time that is higher by more than the slack belongs to the
 * previous lap.
 */
static inline void laps_unwrap(struct laps *laps, uint64_t *from, uint64_t *to)
{
	const uint64_t start = *from;
	uint64_t base;

	if (!laps->lap || start >= laps->lap)
		return;
	if (start && laps->before > start && laps->before - start > laps->slack)
		laps->passed += laps->lap;
	base = laps->passed;
	if (base && laps->slack && start > laps->before && start - laps->before > laps->slack)
		base -= laps->lap;
	else if (start)
		laps->before = start;
	if (*to != UINT64_MAX)
		*to += base + (*to < start ? laps->lap : 0);
	if (start)
		*from += base;
}

#endif /* SIFIVE_TRACE_LAPS_H */
