/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Objects that processes map, and names of threads, from perf's events. */
#ifndef SIFIVE_TRACE_WATCH_H
#define SIFIVE_TRACE_WATCH_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "names.h"
#include "objects.h"

/**
 * struct watch - the events of all CPUs
 * @event:	one per CPU, @cpus of them, and one more
 * @ring:	the ring of each event
 * @names:	receives events about threads, or NULL
 */
struct watch {
	struct pollfd	*event;
	void		**ring;
	size_t		cpus;
	struct names	*names;
};

/**
 * watch_open() - start watching all processes
 * @watch:	filled, also after an error; for watch_close()
 * @seldom:	watch_wait() returns when a ring is filling up rather than at
 *		the first event
 * @names:	receives events about threads, or NULL
 *
 * Return: 0, or -1: the error has been printed.
 */
int watch_open(struct watch *watch, bool seldom, struct names *names);

/**
 * watch_read() - process the events since the last call
 * @objects_of:	returns the objects to which those that process @pid has mapped are added, NULL:
 *		ignore them; called with @context
 * @missed:	the number of missed events is added to that of these objects
 */
void watch_read(struct watch *watch, struct objects *(*objects_of)(void *context, pid_t pid),
		void *context, struct objects *missed);

/**
 * watch_wait() - wait for an event
 * @watch:	all zero: nothing is watched
 * @also:	something else to wait for, or NULL; its descriptor may be -1
 * @longest:	maximum time to wait, NULL: no limit
 * @mask:	a signal that this allows also ends the wait
 */
void watch_wait(struct watch *watch, const struct pollfd *also,
		const struct timespec *longest, const sigset_t *mask);

void watch_close(struct watch *watch);

#endif /* SIFIVE_TRACE_WATCH_H */
