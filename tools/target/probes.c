// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * See probes.h. Each probed instruction has an event of perf's PMU "uprobe" on each CPU, for all
 * processes. Events for a single process cannot be used, because new threads could not inherit such
 * events: the kernel would read the file name again from that process's memory, which does not
 * contain the name. Return instructions are probed directly, because the kernel's return probes
 * replace addresses on the stack, which breaks C++ exceptions.
 */
#include <asm/perf_regs.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../command.h"
#include "perf_ring.h"
#include "probes.h"

#define PMU	"/sys/bus/event_source/devices/uprobe/type"

/* Number of events for which memory is allocated in advance. */
#define ROOM_MIN	256

/* The kernel's record of a probe hit. The stack pointer is its only register. */
struct sample {
	struct perf_event_header	header;
	uint64_t			id;
	uint32_t			pid, tid;
	uint64_t			time;
	uint64_t			abi;
	uint64_t			sp;
};

/* The data that read() returns from an event's descriptor. */
struct counted {
	uint64_t	value;
	uint64_t	lost;
};

static bool read_type(uint32_t *type)
{
	FILE *file = fopen(PMU, "re");
	bool found = file && fscanf(file, "%" SCNu32, type) == 1;

	if (file)
		fclose(file);
	return found;
}

static int open_event(uint32_t type, const char *path, uint64_t offset, int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.uprobe_path = (uintptr_t)path,
		.probe_offset = offset,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_REGS_USER,
		.sample_regs_user = 1u << PERF_REG_RISCV_SP,
		.read_format = PERF_FORMAT_LOST,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		/*
		 * The rings are read periodically, because waking the reader would slow
		 * the program down.
		 */
		.watermark = 1,
		.wakeup_watermark = PERF_RING_SIZE,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Add event @i of a CPU. All events of a CPU use the ring of its first event. */
static int add_event(struct probes *probes, int fd, size_t i)
{
	size_t at = probes->events;

	probes->fd[at] = fd;
	probes->ring[at] = MAP_FAILED;
	probes->events++;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &probes->id[at]))
		return -1;
	if (i)
		return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, probes->fd[at - i]);
	probes->ring[at] = perf_ring_map(fd);
	return probes->ring[at] == MAP_FAILED ? -1 : 0;
}

static int open_cpu(struct probes *probes, uint32_t type, const struct found *found, int cpu)
{
	size_t i;
	int fd;

	for (i = 0; i < probes->each; i++) {
		probes->offset = i;
		fd = open_event(type, found->path, found->offset[i], cpu);
		/* The CPU is offline. */
		if (fd < 0 && errno == ENODEV && !i)
			return 0;
		if (fd < 0 || add_event(probes, fd, i))
			return -1;
	}
	return 0;
}

/*
 * Map the file, because the kernel checks the probed instructions only once a process has mapped
 * them.
 */
static void *map_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *file = MAP_FAILED;
	struct stat status;

	if (fd >= 0 && !fstat(fd, &status)) {
		*size = (size_t)status.st_size;
		file = mmap(NULL, *size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	}
	if (fd >= 0)
		close(fd);
	return file;
}

static void report_failure(const struct probes *probes, const char *path, const char *option,
			   int error)
{
	if (error != EINVAL)
		report("--%s: %s cannot be probed: %s%s", option, path, strerror(error),
		       error == EACCES || error == EPERM ?
		       ": probes need CAP_PERFMON: record as root" : "");
	else if (!probes->offset)
		report("--%s: %s: the kernel cannot probe the function's first instruction: give one of its callers or callees instead",
		       option, path);
	else
		report("--%s: %s: the kernel cannot probe the function's returns: give another function, use a newer kernel, or use --trigger",
		       option, path);
}

int probes_open(struct probes *probes, const struct found *found, const char *option)
{
	const size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_CONF);
	size_t cpu, size = 0;
	uint32_t type;
	void *file;
	int error;

	*probes = (struct probes){ .each = found->offsets };
	if (!read_type(&type)) {
		report("--%s: the kernel cannot probe programs: it lacks " PMU ": use a kernel with CONFIG_UPROBE_EVENTS, such as Debian's, or take snapshots with SIGUSR2",
		       option);
		return -1;
	}
	probes->fd = calloc(cpus, probes->each * sizeof(*probes->fd));
	probes->ring = calloc(cpus, probes->each * sizeof(*probes->ring));
	probes->id = calloc(cpus, probes->each * sizeof(*probes->id));
	probes->event = calloc(ROOM_MIN, sizeof(*probes->event));
	probes->room = ROOM_MIN;
	file = map_file(found->path, &size);
	errno = ENOMEM;
	for (cpu = 0; probes->fd && probes->ring && probes->id && probes->event && cpu < cpus;
	     cpu++)
		if (open_cpu(probes, type, found, (int)cpu))
			break;
	error = errno;
	if (file != MAP_FAILED)
		munmap(file, size);
	if (cpu == cpus)
		return 0;
	report_failure(probes, found->path, option, error);
	probes_close(probes);
	return -1;
}

void probes_close(struct probes *probes)
{
	while (probes->events--) {
		perf_ring_unmap(probes->ring[probes->events]);
		close(probes->fd[probes->events]);
	}
	free(probes->fd);
	free(probes->ring);
	free(probes->id);
	free(probes->event);
	memset(probes, 0, sizeof(*probes));
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Replace the latest event and @event, for which there is no memory, with a loss. */
static void lose(struct probes *probes, const struct probe_event *event)
{
	struct probe_event *last = &probes->event[probes->count - 1];

	probes->lost += !event->until + !last->until;
	last->until = most(most(last->time + 1, last->until),
			   most(event->time + 1, event->until));
	last->time = least(last->time, event->time);
}

static void add(struct probes *probes, struct probe_event event)
{
	struct probe_event *more;

	event.order = probes->added++;
	if (probes->count == probes->room) {
		more = realloc(probes->event, 2 * probes->room * sizeof(*more));
		if (!more) {
			lose(probes, &event);
			return;
		}
		probes->event = more;
		probes->room *= 2;
	}
	probes->event[probes->count++] = event;
}

/*
 * Read a CPU's ring. The kernel reports a loss only with the next sample, when calls around the
 * loss may already have been matched. Therefore, treat a ring without room for one more sample as
 * having lost events.
 */
static void read_ring(struct probes *probes, size_t at)
{
	struct perf_event_mmap_page *page = probes->ring[at];
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	const uint64_t begin = page->data_tail;
	uint64_t tail = begin, latest = 0;
	union {
		struct perf_event_header header;
		struct sample sample;
	} record;

	while (tail < head) {
		memset(&record, 0, sizeof(record));
		perf_ring_copy(&record.header, page, tail, sizeof(record.header));
		if (record.header.size < sizeof(record.header))
			break;
		perf_ring_copy(&record, page, tail, record.header.size < sizeof(record) ?
			       record.header.size : sizeof(record));
		tail += record.header.size;
		if (record.header.type != PERF_RECORD_SAMPLE)
			continue;
		latest = record.sample.time;
		add(probes, (struct probe_event){
			.time = latest, .sp = record.sample.sp, .pid = (pid_t)record.sample.pid,
			.tid = (pid_t)record.sample.tid,
			.returns = record.sample.id != probes->id[at],
		});
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_SEQ_CST);
	head = __atomic_load_n(&page->data_head, __ATOMIC_SEQ_CST);
	if (head - begin + sizeof(struct sample) + sizeof(struct perf_loss) >= PERF_RING_SIZE)
		add(probes, (struct probe_event){ .time = latest, .until = perf_ring_now() });
}

/*
 * Read the events' counts of lost records, because a ring shows a loss only before the next record.
 */
uint64_t probes_lost(const struct probes *probes)
{
	uint64_t lost = probes->lost;
	struct counted counted;
	size_t i;

	for (i = 0; i < probes->events; i++)
		if (read(probes->fd[i], &counted, sizeof(counted)) == sizeof(counted))
			lost += counted.lost;
	return lost;
}

static int by_time(const void *left, const void *right)
{
	const struct probe_event *a = left, *b = right;

	if (a->time == b->time)
		return (a->order > b->order) - (a->order < b->order);
	return (a->time > b->time) - (a->time < b->time);
}

void probes_read(struct probes *probes)
{
	size_t i;

	probes->count -= probes->next;
	if (probes->count)
		memmove(probes->event, probes->event + probes->next,
			probes->count * sizeof(*probes->event));
	probes->next = 0;
	for (i = 0; i < probes->events; i += probes->each)
		read_ring(probes, i);
	if (probes->count)
		qsort(probes->event, probes->count, sizeof(*probes->event), by_time);
}

const struct probe_event *probes_next(struct probes *probes, uint64_t until)
{
	if (probes->next == probes->count || probes->event[probes->next].time > until)
		return NULL;
	return &probes->event[probes->next++];
}
