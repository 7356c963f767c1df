// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See perf_ring.h. */
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "perf_ring.h"

/* Return the size of the mapping: a page with the ring's state, and then the records. */
static size_t map_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE) + PERF_RING_SIZE;
}

struct perf_event_mmap_page *perf_ring_map(int fd)
{
	return mmap(NULL, map_size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

void perf_ring_unmap(struct perf_event_mmap_page *ring)
{
	if (ring != MAP_FAILED)
		munmap(ring, map_size());
}

uint64_t perf_ring_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void perf_ring_copy(void *to, const struct perf_event_mmap_page *ring, uint64_t from, size_t size)
{
	const char *records = (const char *)ring + sysconf(_SC_PAGESIZE);
	size_t at = from % PERF_RING_SIZE, first = PERF_RING_SIZE - at;

	if (first > size)
		first = size;
	memcpy(to, records + at, first);
	memcpy((char *)to + first, records, size - first);
}
