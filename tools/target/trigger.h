/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* record --trigger and --slower-than: which calls of a function make a snapshot. */
#ifndef SIFIVE_TRACE_TRIGGER_H
#define SIFIVE_TRACE_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "../cli.h"
#include "../hash.h"
#include "../output.h"
#include "lib/session.h"
#include "probes.h"
#include "program.h"

/* How often the probes are read, in nanoseconds; events are as old as that when they count. */
#define TRIGGER_PERIOD	1000000

/**
 * struct trigger_hit - the call that a snapshot is of
 * @function:	its function, as the user has named it; NULL: a snapshot of no call
 * @slow:	it took longer than @limit; false: it is call number @call
 * @call:	its number, from 1 on, of all threads, in the order of their ends if @slow
 * @tid:	its thread
 * @limit:	--slower-than, nanoseconds
 * @from, @to:	when it began and ended, nanoseconds of the monotonic clock; @to only if @slow
 * @last:	the file is what the ring holds at the program's end
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
 * struct trigger - one of the options
 * @function:	the function, NULL: the option was not given
 * @slow:	--slower-than
 * @limit:	N, or TIME in nanoseconds
 * @probes:	of the function
 * @calls:	how many began, and with @slow how many of them ended
 * @longest:	of those that ended, nanoseconds
 * @unsure:	until then events were lost
 * @hits:	those that were to make a snapshot
 * @snapshots:	@hits that have one: the caller counts them, and
 * @failed:	those whose snapshot could not be written
 * @early:	those that began before the previous snapshot was written
 * @thread:	calls that have not ended, by thread, @threads of them
 */
struct trigger {
	char			*function;
	bool			slow;
	uint64_t		limit;
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

/** trigger_set_reached() - for @set of --trigger, a struct trigger */
int trigger_set_reached(void *at, const struct cli_option *option, const char *value);

/** trigger_set_slower() - the same of --slower-than */
int trigger_set_slower(void *at, const struct cli_option *option, const char *value);

/**
 * trigger_open() - probe the function
 * @trigger:	nothing happens if the option was not given
 * @program:	where the function is, or in its shared objects
 *
 * Return: 0, or -1: the error has been printed.
 */
int trigger_open(struct trigger *trigger, const struct program *program);

/** trigger_close() - remove the probes */
void trigger_close(struct trigger *trigger);

/** trigger_read() - read what the probes have seen; before trigger_next() */
void trigger_read(struct trigger *trigger);

/**
 * trigger_next() - look for a call that makes a snapshot
 * @pid:	its process, 0 for any
 * @until:	no later than this time
 * @covered:	until then the latest snapshot was written: calls from before have none
 * @hit:	filled
 *
 * Return: whether there is one: the caller makes a snapshot.
 */
bool trigger_next(struct trigger *trigger, pid_t pid, uint64_t until, uint64_t covered,
		  struct trigger_hit *hit);

/** trigger_report() - statistics over all snapshots; @quiet: losses alone */
void trigger_report(const struct trigger *trigger, bool quiet);

/**
 * struct trigger_clock - times of the trace
 * @ns, @ticks:	one moment by the monotonic clock, and by the encoder's
 * @hz:		ticks in a second, 0: the encoder's time is not known
 */
struct trigger_clock {
	uint64_t	ns;
	uint64_t	ticks;
	uint64_t	hz;
};

/** trigger_clock() - what time it is; a session without timestamps has none */
void trigger_clock(const struct perf_device *device, struct trigger_clock *clock);

/** trigger_describe() - write "trigger":{...} of a side-car file */
void trigger_describe(struct output *out, const struct trigger_hit *hit,
		      const struct trigger_clock *clock);

#endif /* SIFIVE_TRACE_TRIGGER_H */
