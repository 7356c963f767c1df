/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* An exporter's per-thread state, by thread id. */
#ifndef SIFIVE_TRACE_TRACKS_H
#define SIFIVE_TRACE_TRACKS_H

#include <stddef.h>

/**
 * struct tracks - the states of all threads
 * @size:	bytes of each
 */
struct tracks {
	size_t		size;
	/* Private to tracks.c. */
	void		**track;
	unsigned int	count;
};

/** tracks_get() - a thread's state, initially zeroed; NULL if out of memory */
void *tracks_get(struct tracks *tracks, unsigned int id);

/** tracks_free() - free them all */
void tracks_free(struct tracks *tracks);

#endif /* SIFIVE_TRACE_TRACKS_H */
