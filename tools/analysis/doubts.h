/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Times during which it is unknown which thread a hart ran. */
#ifndef SIFIVE_TRACE_DOUBTS_H
#define SIFIVE_TRACE_DOUBTS_H

#include <stdint.h>

/* This many times are kept separately; of earlier times, only the sum is kept. */
#define DOUBTS_MAX	64

/**
 * struct doubts - these times; empty if zeroed
 * @gone:	sum of the times that are no longer kept, in ticks
 */
struct doubts {
	uint64_t	gone;
	/* Private: in order. */
	unsigned int	count;
	struct {
		uint64_t	from;
		uint64_t	to;
	} span[DOUBTS_MAX];
};

/** doubts_add() - add a time, which ends no earlier than all others */
void doubts_add(struct doubts *doubts, uint64_t from, uint64_t to);

/** doubts_in() - how many ticks of the kept times are from @from to @to */
uint64_t doubts_in(const struct doubts *doubts, uint64_t from, uint64_t to);

#endif /* SIFIVE_TRACE_DOUBTS_H */
