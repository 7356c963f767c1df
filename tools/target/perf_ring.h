/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Maps the ring buffers into which perf writes the records of events. */
#ifndef SIFIVE_TRACE_PERF_RING_H
#define SIFIVE_TRACE_PERF_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

/* Size of a ring's records, a power of two. */
#define PERF_RING_SIZE	(1u << 18)

/** perf_ring_map() - map the ring of event @fd; MAP_FAILED with errno if it cannot be mapped */
struct perf_event_mmap_page *perf_ring_map(int fd);

/** perf_ring_unmap() - unmap a ring; MAP_FAILED is allowed */
void perf_ring_unmap(struct perf_event_mmap_page *ring);

/**
 * perf_ring_now() - return the time of CLOCK_MONOTONIC, which is the clock of the events, in
 * nanoseconds
 *
 * Like perf_device_now(), whose header conflicts with <linux/perf_event.h>.
 */
uint64_t perf_ring_now(void);

/**
 * perf_ring_copy() - copy @size bytes of the records, starting at byte @from, wrapping at the end
 * of the ring
 */
void perf_ring_copy(void *to, const struct perf_event_mmap_page *ring, uint64_t from, size_t size);

#endif /* SIFIVE_TRACE_PERF_RING_H */
