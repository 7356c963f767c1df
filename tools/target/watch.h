/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What programs and shared objects processes take into memory, as perf tells. */
#ifndef SIFIVE_TRACE_WATCH_H
#define SIFIVE_TRACE_WATCH_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "objects.h"

/**
 * struct watch - the CPUs' events
 * @event:	of each CPU, @cpus of them
 * @ring:	what happened there
 */
struct watch {
	struct pollfd	*event;
	void		**ring;
	size_t		cpus;
};

/**
 * watch_open() - begin to watch all processes
 * @watch:	filled, also after an error; for watch_close()
 * @seldom:	let watch_wait() end when there is much to read, not at the first
 *
 * Return: 0, or -1: the reason has been printed.
 */
int watch_open(struct watch *watch, bool seldom);

/**
 * watch_read() - take in what has happened since
 * @pid:	the process that matters, 0 for all
 * @objects:	gets what was loaded, and how much of that was missed
 */
void watch_read(struct watch *watch, pid_t pid, struct objects *objects);

/** watch_wait() - wait until something happens, or a signal that @mask lets in */
void watch_wait(struct watch *watch, const sigset_t *mask);

void watch_close(struct watch *watch);

#endif /* SIFIVE_TRACE_WATCH_H */
