/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Provides each thread's state, ids and process name, for viewers that show every thread. */
#ifndef SIFIVE_TRACE_TRACKS_H
#define SIFIVE_TRACE_TRACKS_H

#include <stddef.h>

#include "threads.h"

/* Unknown ids are replaced by numbers starting here, above every Linux thread id. */
#define TRACKS_UNKNOWN	4194304

/**
 * struct tracks - the states of all threads
 * @size:	size of a thread's state in bytes
 */
struct tracks {
	size_t		size;
	/* Private to tracks.c. */
	void		**track;
	unsigned int	count;
};

/** tracks_get() - return a thread's state, initially zeroed, or NULL if out of memory */
void *tracks_get(struct tracks *tracks, unsigned int id);

/** tracks_free() - free the states of all threads */
void tracks_free(struct tracks *tracks);

/** tracks_pid() - return the thread's process id; threads whose process is unknown share an id */
int64_t tracks_pid(const struct thread *thread);

/** tracks_tid() - return the thread's id, which is unique */
int64_t tracks_tid(const struct thread *thread);

/**
 * tracks_process() - return the name of the last program that the thread's process executed, or
 * "unknown" or "program" if the name is unknown
 */
const char *tracks_process(const struct meta *meta, const struct thread *thread);

#endif /* SIFIVE_TRACE_TRACKS_H */
