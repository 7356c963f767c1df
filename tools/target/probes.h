/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Observes calls of one function of a file, using the kernel's probes in its code. */
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
 * @sp:		the thread's stack pointer, which is the same at a call's start and end, and
 *		different in between if the function uses the stack
 * @pid, @tid: the process, and its thread
 * @order:	the event's order in its CPU's ring, because times may be equal
 * @until:	end of a loss: if not 0, events were lost from @time until then, and the other
 *		members are unused
 * @returns:	the call ends
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
 * @fd, @ring, @id: the @events events of all CPUs: one for the first instruction and one for each
 *		that ends the function; the events of a CPU share the ring of its first one
 * @each:	number of events per CPU
 * @offset:	index of the latest probed offset of struct found
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
 * @probes:	the result, for probes_close() even after an error
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

/** probes_lost() - return the number of events so far that could not be read */
uint64_t probes_lost(const struct probes *probes);

/**
 * probes_next() - return the next event
 * @until:	return no later event, because events of another CPU that precede it may not be
 *		readable yet
 *
 * Return: the event, valid until the next probes_read(), or NULL.
 */
const struct probe_event *probes_next(struct probes *probes, uint64_t until);

#endif /* SIFIVE_TRACE_PROBES_H */
