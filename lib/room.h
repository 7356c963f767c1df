/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Handles records of a drained capture whose sink has no room. While a sink has no room, the driver
 * sets a byte in the losses page. A writer checks the byte before a record's first store; if it is
 * set, the record waits for room or is dropped. Before the thread's next record, a mark in the
 * stream reports the wait or the number of dropped records.
 */
#ifndef PERF_ROOM_H
#define PERF_ROOM_H

#include <stdbool.h>

#include <linux/types.h>

#include "thread.h"

/* Return whether a lane's sink has no room. */
PERF_INLINE bool perf_room_lacks(const struct perf_lane *lane)
{
	return *lane->full;
}

/**
 * perf_room_give_way - make a record wait for room, or drop it
 * @gate:	the thread's gate; a change of its value ends the wait
 *
 * Returns whether the record is dropped.
 */
PERF_INTERNAL bool perf_room_give_way(struct perf_thread *thread, const struct perf_lane *lane,
				      uintptr_t gate);

/* Count a dropped record of the thread; the thread's next header reports it. */
PERF_INTERNAL void perf_room_note(struct perf_thread *thread);

/* Before the thread's next record on each CPU, write a header that identifies the thread. */
PERF_INTERNAL void perf_room_renew(struct perf_thread *thread);

/* Write the number of records that the thread has dropped; a header follows. */
PERF_INTERNAL void perf_room_mark_drop(struct perf_thread *thread,
				       const struct perf_stream *stream);

/* Write the time that the thread has waited; its record follows. */
PERF_INTERNAL void perf_room_mark_wait(struct perf_thread *thread,
				       const struct perf_stream *stream);

#endif /* PERF_ROOM_H */
