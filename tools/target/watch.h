/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reads the objects that processes map, and names of threads, from perf's events. */
#ifndef SIFIVE_TRACE_WATCH_H
#define SIFIVE_TRACE_WATCH_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "descendants.h"
#include "jit_dumps.h"
#include "names.h"
#include "objects.h"

struct perf_event_header;

/**
 * struct watch_record - an event that has not been applied
 * @time:	its time
 * @order:	order of arrival, to sort events with the same time
 * @header:	perf's record, followed by a NUL
 */
struct watch_record {
	uint64_t	time;
	size_t		order;
	struct perf_event_header	*header;
};

/**
 * struct watch - the events of all CPUs
 * @event:	descriptors to poll: one for each of the @cpus CPUs, and one more for watch_wait()
 * @ring:	ring of each CPU's event
 * @names:	receives events about threads, or NULL
 * @descendants:	receives events about processes, or NULL
 * @dumps:	receives dumps of generated code that processes map, or NULL
 * @record:	the @records events that watch_read() has not applied yet, with room for @room
 */
struct watch {
	struct pollfd	*event;
	void		**ring;
	size_t		cpus;
	struct names	*names;
	struct descendants	*descendants;
	struct jit_dumps	*dumps;
	struct watch_record	*record;
	size_t		records, room;
};

/**
 * watch_open() - start watching all processes
 * @watch:	the result; needs watch_close(), even after an error
 * @seldom:	set to make watch_wait() return when a ring is filling up, instead of at the first
 *		event
 * @mappings:	set if executable mappings are needed; otherwise perf writes no events for them
 * @names:	receives events about threads, or NULL
 * @descendants:	receives events about processes, or NULL
 *
 * Return: 0, or an error number.
 */
int watch_open(struct watch *watch, bool seldom, bool mappings, struct names *names,
	       struct descendants *descendants);

/** watch_report() - report that watch_open() failed: objects are not detected */
void watch_report(int error);

/**
 * watch_read() - apply the events that arrived since the last call, in the order of their times
 * @objects_of:	called with @context; returns the set to which the objects mapped by process @pid
 *		are added, or NULL to ignore these objects
 * @missed:	set of objects whose @missed is increased by the number of missed events
 */
void watch_read(struct watch *watch, struct objects *(*objects_of)(void *context, pid_t pid),
		void *context, struct objects *missed);

/**
 * watch_wait() - wait for an event
 * @watch:	the events; if zeroed, nothing is watched
 * @also:	another event to wait for, or NULL; its descriptor may be -1
 * @longest:	maximum time to wait, or NULL if no limit
 * @mask:	signal mask during the wait; an allowed signal also ends the wait
 */
void watch_wait(struct watch *watch, const struct pollfd *also,
		const struct timespec *longest, const sigset_t *mask);

/**
 * watch_late() - return the number of online CPUs that were not always watched
 *
 * Such a CPU was offline during watch_open(), or at some time since then: a perf event ends when
 * its CPU goes offline.
 */
size_t watch_late(const struct watch *watch);

void watch_close(struct watch *watch);

#endif /* SIFIVE_TRACE_WATCH_H */
