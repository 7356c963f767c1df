// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See watch.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../command.h"
#include "../compare.h"
#include "perf_ring.h"
#include "watch.h"

static int open_cpu(int cpu, bool seldom, bool mappings, bool names)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = mappings,
		.mmap2 = mappings,
		.comm = names,
		.task = 1,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = seldom ? PERF_RING_SIZE / 4 : 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

int watch_open(struct watch *watch, bool seldom, bool mappings, struct names *names,
	       struct descendants *descendants)
{
	const bool comm = names || descendants;
	size_t most = (size_t)sysconf(_SC_NPROCESSORS_CONF), cpu;
	int fd = -1, error;

	*watch = (struct watch){ .names = names, .descendants = descendants };
	watch->event = calloc(most + 1, sizeof(*watch->event));
	watch->ring = calloc(most, sizeof(*watch->ring));
	for (cpu = 0; watch->event && watch->ring && cpu < most; cpu++) {
		fd = open_cpu((int)cpu, seldom, mappings, comm);
		/* The CPU is offline. */
		if (fd < 0 && errno == ENODEV)
			continue;
		if (fd < 0)
			break;
		watch->event[watch->cpus].fd = fd;
		watch->event[watch->cpus].events = POLLIN;
		watch->ring[watch->cpus++] = perf_ring_map(fd);
		if (watch->ring[watch->cpus - 1] == MAP_FAILED)
			break;
	}
	if (cpu == most)
		return 0;
	error = errno;
	watch_close(watch);
	return error;
}

void watch_report(int error)
{
	report("cannot detect which objects programs load: %s: some addresses will have no names (see sifive-trace info)",
	       strerror(error));
}

/* Return how long an event has been enabled; this time stops when the event's CPU goes offline. */
static uint64_t enabled(int fd)
{
	struct {
		uint64_t	value;
		uint64_t	enabled;
	} event;

	return fd >= 0 && read(fd, &event, sizeof(event)) == sizeof(event) ? event.enabled : 0;
}

size_t watch_late(const struct watch *watch)
{
	/* Longer than a timer tick on any kernel. */
	struct timespec moment = { .tv_nsec = 20000000 };
	const long online = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t *before = calloc(watch->cpus + 1, sizeof(*before));
	size_t alive = 0, i;

	for (i = 0; before && i < watch->cpus; i++)
		before[i] = enabled(watch->event[i].fd);
	while (nanosleep(&moment, &moment) && errno == EINTR)
		;
	for (i = 0; before && i < watch->cpus; i++)
		alive += enabled(watch->event[i].fd) > before[i];
	free(before);
	return before && watch->cpus && online > (long)alive ? (size_t)online - alive : 0;
}

void watch_close(struct watch *watch)
{
	while (watch->cpus--) {
		perf_ring_unmap(watch->ring[watch->cpus]);
		if (watch->event[watch->cpus].fd >= 0)
			close(watch->event[watch->cpus].fd);
	}
	while (watch->records)
		free(watch->record[--watch->records].header);
	free(watch->record);
	free(watch->event);
	free(watch->ring);
	memset(watch, 0, sizeof(*watch));
}

static void add_mapping(struct objects *objects, const struct perf_mapping *mapping)
{
	const uint64_t time = perf_ring_time(&mapping->header);

	if (objects && mapping->protection & PROT_WRITE)
		objects_map_writable(objects, (pid_t)mapping->pid, time, mapping->path,
				     mapping->address, mapping->length);
	else if (objects)
		objects_map(objects, (pid_t)mapping->pid, time, mapping->path, mapping->address,
			    mapping->length, mapping->offset);
}

/* Handle the start of a process. Records of this type also report the start of a thread. */
static void add_child(struct objects *objects, const struct perf_task *task)
{
	if (objects && task->pid != task->parent)
		objects_fork(objects, (pid_t)task->parent);
}

static void miss(struct watch *watch, struct objects *missed, uint64_t events)
{
	missed->missed += events;
	if (watch->names)
		watch->names->missed += events;
	if (watch->descendants)
		watch->descendants->missed += events;
}

/* Keep the record of @size bytes in a ring, and append a NUL. */
static void keep(struct watch *watch, const struct perf_event_mmap_page *page, uint64_t tail,
		 size_t size, struct objects *missed)
{
	struct watch_record *more = watch->record;
	struct perf_event_header *header = malloc(size + 1);

	if (header && watch->records == watch->room) {
		more = reallocarray(more, 2 * watch->room + 64, sizeof(*more));
		if (more) {
			watch->record = more;
			watch->room = 2 * watch->room + 64;
		}
	}
	if (!header || !more) {
		free(header);
		miss(watch, missed, 1);
		return;
	}
	perf_ring_copy(header, page, tail, size);
	((char *)header)[size] = '\0';
	more[watch->records] = (struct watch_record){
		perf_ring_time(header), watch->records, header,
	};
	watch->records++;
}

static void read_ring(struct watch *watch, struct perf_event_mmap_page *page,
		      struct objects *missed)
{
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->data_tail;
	struct perf_event_header header;
	struct perf_loss loss;

	for (; tail < head; tail += header.size) {
		perf_ring_copy(&header, page, tail, sizeof(header));
		if (header.size < sizeof(header))
			break;
		if (header.type == PERF_RECORD_LOST && header.size >= sizeof(loss)) {
			perf_ring_copy(&loss, page, tail, sizeof(loss));
			miss(watch, missed, loss.lost);
		} else if (header.size >= sizeof(header) + PERF_TIME_SIZE) {
			keep(watch, page, tail, header.size, missed);
		}
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}

static int by_time(const void *left, const void *right)
{
	const struct watch_record *a = left, *b = right;
	const int result = compare_numbers(a->time, b->time);

	return result ? result : compare_numbers(a->order, b->order);
}

static void apply(struct watch *watch, const struct perf_event_header *header,
		  struct objects *(*objects_of)(void *context, pid_t pid), void *context)
{
	const struct perf_mapping *mapping = (const void *)header;
	const struct perf_task *task = (const void *)header;

	if (header->type == PERF_RECORD_MMAP2 && header->size > sizeof(*mapping)) {
		add_mapping(objects_of(context, (pid_t)mapping->pid), mapping);
		if (watch->dumps)
			jit_dumps_map(watch->dumps, (pid_t)mapping->pid, mapping->path);
	}
	if (header->type == PERF_RECORD_FORK && header->size >= sizeof(*task))
		add_child(objects_of(context, (pid_t)task->parent), task);
	if (watch->names)
		names_event(watch->names, header);
	if (watch->descendants)
		descendants_event(watch->descendants, header);
}

/*
 * A process that moves to another CPU writes to another ring, so apply events in the order of their
 * times. Events that are not older than this call wait for the next call, because a ring that has
 * already been read may still receive an event with an earlier time.
 */
void watch_read(struct watch *watch, struct objects *(*objects_of)(void *context, pid_t pid),
		void *context, struct objects *missed)
{
	const uint64_t now = perf_ring_now();
	size_t i, kept = 0;

	for (i = 0; i < watch->cpus; i++)
		read_ring(watch, watch->ring[i], missed);
	if (watch->records)
		qsort(watch->record, watch->records, sizeof(*watch->record), by_time);
	for (i = 0; i < watch->records && watch->record[i].time < now; i++) {
		apply(watch, watch->record[i].header, objects_of, context);
		free(watch->record[i].header);
	}
	for (; i < watch->records; i++, kept++) {
		watch->record[kept] = watch->record[i];
		watch->record[kept].order = kept;
	}
	watch->records = kept;
}

void watch_wait(struct watch *watch, const struct pollfd *also,
		const struct timespec *longest, const sigset_t *mask)
{
	struct pollfd alone, *event = watch->event ? watch->event : &alone;
	static const struct timespec now;
	size_t i;

	event[watch->cpus] = also ? *also : (struct pollfd){ .fd = -1 };
	/*
	 * Handle pending signals first, because pending events would delay their handling. After a
	 * signal, return to the caller, which checks for events such as the end of a child.
	 */
	if (ppoll(NULL, 0, &now, mask) < 0)
		return;
	if (ppoll(event, watch->cpus + 1, longest, mask) <= 0)
		return;
	/*
	 * Stop polling the events of CPUs that have gone offline: their rings receive no more
	 * events.
	 */
	for (i = 0; i < watch->cpus; i++) {
		if (!(watch->event[i].revents & (POLLHUP | POLLERR)))
			continue;
		close(watch->event[i].fd);
		watch->event[i].fd = -1;
	}
}
