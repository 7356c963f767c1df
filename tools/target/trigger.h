/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* record --trigger and --slower-than: finds the calls to a function that trigger a snapshot. */
#ifndef SIFIVE_TRACE_TRIGGER_H
#define SIFIVE_TRACE_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "../cli.h"
#include "../hash.h"
#include "../output.h"
#include "lib/session.h"
#include "objects.h"
#include "probes.h"
#include "program.h"
#include "ticks.h"

/* Interval in nanoseconds at which the probes are read, and the age at which events are handled. */
#define TRIGGER_PERIOD	1000000

/**
 * struct trigger_hit - the call that triggered a snapshot
 * @function:	the called function, as the user named it, or NULL if no call triggered the snapshot
 * @slow:	set if the call took longer than @limit; clear if call number @call was the trigger
 * @call:	number of the call, from 1, among the calls of all threads; if @slow is set,
 *		calls are numbered in the order in which they ended
 * @tid:	thread that made the call
 * @limit:	time limit of --slower-than in nanoseconds
 * @from, @to: start and end of the call in nanoseconds of CLOCK_MONOTONIC; @to is set only if @slow
 *		is set
 * @last:	set if the file contains the ring at the program's end
 */
struct trigger_hit {
	const char	*function;
	bool		slow;
	uint64_t	call;
	pid_t		tid;
	uint64_t	limit;
	uint64_t	from;
	uint64_t	to;
	bool		last;
};

struct trigger_thread;

/**
 * struct trigger - state of the option --trigger or --slower-than
 * @function:	the function, or NULL if the option was not given
 * @slow:	set for --slower-than, clear for --trigger
 * @limit:	N of --trigger, or TIME of --slower-than in nanoseconds
 * @waits:	set if no loaded object has the function, so there are no probes
 * @looked:	number of loaded objects that do not have the function, if @waits is set
 * @refused:	set if an object has the function, but the function could not be probed
 * @probes:	probes of the function
 * @calls:	number of calls that began
 * @ended:	number of calls that ended, if @slow is set
 * @longest:	duration of the longest call that ended, in nanoseconds
 * @unsure:	time up to which events were lost or some probes were not set
 * @hits:	number of calls that trigger a snapshot (hits)
 * @snapshots:	number of hits with a snapshot; counted by the caller
 * @failed:	number of hits whose snapshot could not be written; counted by the caller
 * @early:	number of hits that began before the previous snapshot was written
 * @thread:	the @threads threads, with the calls that have not ended
 */
struct trigger {
	char			*function;
	bool			slow;
	uint64_t		limit;
	bool			waits;
	size_t			looked;
	bool			refused;
	struct probes		probes;
	uint64_t		calls;
	uint64_t		ended;
	uint64_t		longest;
	uint64_t		unsure;
	uint64_t		hits;
	uint64_t		snapshots;
	uint64_t		failed;
	uint64_t		early;
	struct trigger_thread	*thread;
	size_t			threads;
	size_t			room;
	struct hash		index;
};

/** trigger_set_reached() - @set function of --trigger; the value is a struct trigger */
int trigger_set_reached(void *at, const struct cli_option *option, const char *value);

/** trigger_set_slower() - @set function of --slower-than, like trigger_set_reached() */
int trigger_set_slower(void *at, const struct cli_option *option, const char *value);

/**
 * trigger_open() - probe the function
 * @trigger:	the trigger; nothing is done if its option was not given
 * @program:	the program; it and its shared objects are searched for the function
 *
 * If there is no such function yet, but the program may load objects with dlopen(), probing is left
 * to trigger_see(). Return: 0, or -1 after printing an error.
 */
int trigger_open(struct trigger *trigger, const struct program *program);

/**
 * trigger_see() - probe the function if an object loaded after trigger_open() has it
 * @program:	the program, see trigger_open()
 * @objects:	all objects that have been loaded
 *
 * The kernel sets and removes the probes' breakpoints whenever a process maps or unmaps the file,
 * so an object may be unloaded and loaded again at another address.
 */
void trigger_see(struct trigger *trigger, const struct program *program,
		 const struct objects *objects);

/** trigger_close() - remove the probes */
void trigger_close(struct trigger *trigger);

/** trigger_read() - read the probes' events; call this before trigger_next() */
void trigger_read(struct trigger *trigger);

/**
 * trigger_next() - look for a call that triggers a snapshot
 * @pid:	the process of the call, or 0 for any
 * @until:	time of the latest call to consider
 * @covered:	time at which the latest snapshot was complete; a call that began earlier
 *		triggers no snapshot
 * @hit:	set to the call
 *
 * Return: whether there is such a call; if so, the caller must take a snapshot.
 */
bool trigger_next(struct trigger *trigger, pid_t pid, uint64_t until, uint64_t covered,
		  struct trigger_hit *hit);

/** trigger_unset() - return whether the function has no probes: it was not found or was refused */
static inline bool trigger_unset(const struct trigger *trigger)
{
	return trigger->waits || trigger->refused;
}

/** trigger_report() - print statistics on all snapshots, or only losses if @quiet is set */
void trigger_report(const struct trigger *trigger, bool quiet);

/**
 * trigger_clock() - read both clocks; @hz is 0 if the session has no timestamps that can be read
 */
void trigger_clock(const struct perf_device *device, struct trigger_clock *clock);

/** trigger_describe() - write "trigger":{...} of a side-car file */
void trigger_describe(struct output *out, const struct trigger_hit *hit,
		      const struct trigger_clock *clock);

#endif /* SIFIVE_TRACE_TRIGGER_H */
