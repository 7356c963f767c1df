/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Assigns counters to events. */
#ifndef PERF_BARE_CHOOSE_H
#define PERF_BARE_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

#include "../compiler.h"
#include "../counter.h"

/* Number of the first programmable counter. */
#define BARE_COUNTER_FIRST	3

/**
 * struct bare_choice - the assignment of counters to events
 * @can:	function that returns whether counter @number can count event @event
 * @arg:	argument of @can
 * @holder:	event of counter n, or -1 if none
 * @number:	counter of event n
 */
struct bare_choice {
	bool (*can)(const void *arg, unsigned int event, unsigned int number);
	const void *arg;
	signed char holder[PERF_COUNTER_MAX];
	unsigned char number[PERF_COUNTER_MAX];
};

PERF_INTERNAL void bare_choose_begin(struct bare_choice *choice);

/*
 * Assign a counter to one more event. Moves other events to different counters if necessary, so the
 * order of events does not matter. Returns false if no counter is left. Tests no more counters than
 * necessary.
 */
PERF_INTERNAL bool bare_choose(struct bare_choice *choice, unsigned int event);

#endif /* PERF_BARE_CHOOSE_H */
