/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Observes the calls to one function in a file, using kernel probes in the function's code. */
#ifndef SIFIVE_TRACE_PROBES_H
#define SIFIVE_TRACE_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "find.h"

/**
 * struct probe_event - the start or end of a call
 * @time:	time in nanoseconds of CLOCK_MONOTONIC
 * @sp:		the thread's stack pointer: the same at a call's start and end, but different in
 *		between if the function uses the stack
 * @pid, @tid: process and thread of the call
 * @order:	order of arrival, to sort events with the same time
 * @until:	end of a loss: if not 0, events were lost from @time to @until, and all other
 *		members are unused
 * @returns:	set if the call ends, clear if it starts
 */
struct probe_event {
	uint64_t	time;
	uint64_t	sp;
	uint64_t	order;
	uint64_t	until;
	pid_t		pid;
	pid_t		tid;
	bool		returns;
};

/**
 * struct probes - a function's probes
 * @fd, @ring, @id: descriptor, ring and id of each of the @events events. Each CPU has an event for
 *		the first instruction, and one for each instruction that ends the function. A CPU's
 *		events share the ring of its first event
 * @each:	number of events per CPU
 * @offset:	index in struct found of the latest probed offset
 * @lost:	number of events lost because memory ran out
 * @added:	number of events added so far
 * @event:	the @count events that were read, in order of time, starting at @next
 */
struct probes {
	int			*fd;
	void			**ring;
	uint64_t		*id;
	size_t			events;
	size_t			each;
	size_t			offset;
	uint64_t		lost;
	uint64_t		added;
	struct probe_event	*event;
	size_t			count;
	size_t			room;
	size_t			next;
};

/**
 * probes_open() - probe a function in all processes
 * @probes:	the result; needs probes_close(), even after an error
 * @found:	the function
 * @option:	the user's option, for error messages
 *
 * Return: 0, or -1 after printing an error.
 */
int probes_open(struct probes *probes, const struct found *found, const char *option);

/** probes_close() - remove the probes; zeroed probes are allowed */
void probes_close(struct probes *probes);

/** probes_read() - read the rings */
void probes_read(struct probes *probes);

/** probes_lost() - return the number of events that could not be read */
uint64_t probes_lost(const struct probes *probes);

/**
 * probes_next() - return the next event
 * @until:	time of the latest event to return; for later times, events from some CPUs may not
 *		be readable yet
 *
 * Return: the event, valid until the next probes_read(), or NULL.
 */
const struct probe_event *probes_next(struct probes *probes, uint64_t until);

#endif /* SIFIVE_TRACE_PROBES_H */
