/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Maps the ring buffers into which perf writes the records of events, and defines the records. */
#ifndef SIFIVE_TRACE_PERF_RING_H
#define SIFIVE_TRACE_PERF_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Size of a ring's records, a power of two. */
#define PERF_RING_SIZE	(1u << 18)

/* Size of the time that perf appends to records: sample_id_all, with PERF_SAMPLE_TIME only. */
#define PERF_TIME_SIZE	sizeof(uint64_t)

/* A thread's new name. */
struct perf_comm {
	struct perf_event_header	header;
	uint32_t			pid, tid;
	char				name[];
};

/* The start or end of a thread, with the parent's ids. */
struct perf_task {
	struct perf_event_header	header;
	uint32_t			pid, parent;
	uint32_t			tid, parent_tid;
	uint64_t			time;
};

/* A new executable mapping. */
struct perf_mapping {
	struct perf_event_header	header;
	uint32_t			pid, tid;
	uint64_t			address, length, offset;
	uint32_t			major, minor;
	uint64_t			inode, generation;
	uint32_t			protection, flags;
	char				path[];
};

/* A loss of events; perf writes this record before the next one, once the ring has room again. */
struct perf_loss {
	struct perf_event_header	header;
	uint64_t			id;
	uint64_t			lost;
};

/** perf_ring_map() - map the ring of event @fd; MAP_FAILED with errno if it cannot be mapped */
struct perf_event_mmap_page *perf_ring_map(int fd);

/** perf_ring_unmap() - unmap a ring; MAP_FAILED is allowed */
void perf_ring_unmap(struct perf_event_mmap_page *ring);

/**
 * perf_ring_now() - return the time of CLOCK_MONOTONIC, the clock of the events, in nanoseconds
 *
 * This is the same as perf_device_now(), whose header conflicts with <linux/perf_event.h>.
 */
uint64_t perf_ring_now(void);

/**
 * perf_ring_copy() - copy @size bytes of the records, starting at byte @from, wrapping at the end
 * of the ring
 */
void perf_ring_copy(void *to, const struct perf_event_mmap_page *ring, uint64_t from, size_t size);

/** perf_ring_time() - return the time that perf has appended to a record: see PERF_TIME_SIZE */
static inline uint64_t perf_ring_time(const struct perf_event_header *record)
{
	uint64_t time;

	memcpy(&time, (const char *)record + record->size - PERF_TIME_SIZE, PERF_TIME_SIZE);
	return time;
}

#endif /* SIFIVE_TRACE_PERF_RING_H */
