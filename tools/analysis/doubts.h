/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Stores the intervals in which it is unknown which thread ran on a hart. */
#ifndef SIFIVE_TRACE_DOUBTS_H
#define SIFIVE_TRACE_DOUBTS_H

#include <stdint.h>

/* Number of intervals that are kept individually; of earlier intervals, only the total is kept. */
#define DOUBTS_MAX	64

/**
 * struct doubts - a set of these intervals; empty if zeroed
 * @gone:	total length of the discarded intervals, in ticks
 */
struct doubts {
	uint64_t	gone;
	/* Private: the intervals, in order. */
	unsigned int	count;
	struct {
		uint64_t	from;
		uint64_t	to;
	} span[DOUBTS_MAX];
};

/** doubts_add() - add an interval, which must not end before any interval added earlier */
void doubts_add(struct doubts *doubts, uint64_t from, uint64_t to);

/** doubts_in() - return how many of the ticks from @from to @to are in kept intervals */
uint64_t doubts_in(const struct doubts *doubts, uint64_t from, uint64_t to);

#endif /* SIFIVE_TRACE_DOUBTS_H */
