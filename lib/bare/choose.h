/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Which counter is to count which event. */
#ifndef PERF_BARE_CHOOSE_H
#define PERF_BARE_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

#include "../compiler.h"
#include "../counter.h"

/* The first counter that is programmable. */
#define BARE_COUNTER_FIRST	3

/**
 * struct bare_choice - the events that have a counter each
 * @can:	whether counter @number can count event @event
 * @arg:	for that
 * @holder:	the event that has counter n, -1: nobody
 * @number:	the counter that event n has
 */
struct bare_choice {
	bool (*can)(const void *arg, unsigned int event, unsigned int number);
	const void *arg;
	signed char holder[PERF_COUNTER_MAX];
	unsigned char number[PERF_COUNTER_MAX];
};

PERF_INTERNAL void bare_choose_begin(struct bare_choice *choice);

/*
 * Give one more event a counter of its own; others may get another one for that, so
 * that their order does not matter. Returns false when there is none for it. No
 * more counters are asked for than that takes.
 */
PERF_INTERNAL bool bare_choose(struct bare_choice *choice, unsigned int event);

#endif /* PERF_BARE_CHOOSE_H */
