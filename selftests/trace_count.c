// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "trace_count.h"
#include "trace_more.h"

/* The CSR's number is encoded in the instruction. */
#define READ(n) ({							\
	unsigned long value;						\
									\
	asm volatile("csrr %0, %1"					\
		     : "=r" (value) : "i" (CSR_CYCLE + (n)));		\
	value;								\
})

const struct sifive_trace_slot *trace_own_slot(int fd)
{
	struct sifive_trace_thread thread = TRACE_ARG(sifive_trace_thread);
	const struct sifive_trace_slot *slots;

	if (trace_ioctl(fd, SIFIVE_TRACE_IOC_THREAD, &thread) ||
	    thread.slot >= SIFIVE_TRACE_THREADS)
		return NULL;
	slots = mmap(NULL, SIFIVE_TRACE_THREADS * sizeof(*slots), PROT_READ,
		     MAP_SHARED, fd, SIFIVE_TRACE_MMAP_THREADS);
	return slots == MAP_FAILED ? NULL : &slots[thread.slot];
}

/* Repeat until the slot's offset is the same before and after the read of the counter. */
uint64_t trace_own_count(const struct sifive_trace_slot *slot, unsigned int counter)
{
	const volatile __u64 *offset = &slot->offset[counter];
	uint64_t before, value;

	do {
		before = *offset;
		value = trace_counter(counter) + before;
	} while (before != *offset);
	return value;
}

uint64_t trace_counter(unsigned int counter)
{
	switch (counter) {
	case 0:
		return READ(0);
	case 2:
		return READ(2);
	case 3:
		return READ(3);
	case 4:
		return READ(4);
	case 5:
		return READ(5);
	case 6:
		return READ(6);
	case 7:
		return READ(7);
	case 8:
		return READ(8);
	case 9:
		return READ(9);
	case 10:
		return READ(10);
	case 11:
		return READ(11);
	case 12:
		return READ(12);
	case 13:
		return READ(13);
	case 14:
		return READ(14);
	case 15:
		return READ(15);
	case 16:
		return READ(16);
	case 17:
		return READ(17);
	case 18:
		return READ(18);
	case 19:
		return READ(19);
	case 20:
		return READ(20);
	case 21:
		return READ(21);
	case 22:
		return READ(22);
	case 23:
		return READ(23);
	case 24:
		return READ(24);
	case 25:
		return READ(25);
	case 26:
		return READ(26);
	case 27:
		return READ(27);
	case 28:
		return READ(28);
	case 29:
		return READ(29);
	case 30:
		return READ(30);
	case 31:
		return READ(31);
	default:
		abort();
	}
}

static void read_counter_of(void *counter)
{
	trace_counter(*(unsigned int *)counter);
}

int trace_signal_of_counter(unsigned int counter)
{
	return trace_signal_of(read_counter_of, &counter);
}

/* Map pages that are present, but have no TLB entry. */
static char *map_pages(unsigned int count)
{
	char *memory = mmap(NULL, count * (size_t)getpagesize(),
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}

void trace_touch_pages(unsigned int count)
{
	size_t page = (size_t)getpagesize();
	volatile char *memory = map_pages(count);
	unsigned int i;

	for (i = 0; i < count; i++)
		memory[i * page];
	munmap((void *)memory, count * page);
}

void trace_store_pages(unsigned int count)
{
	size_t page = (size_t)getpagesize();
	volatile char *memory = map_pages(count);
	unsigned int i;

	for (i = 0; i < count; i++)
		memory[i * page] = 1;
	munmap((void *)memory, count * page);
}

void trace_call_pages(unsigned int count)
{
	static const uint32_t ret = 0x00008067;
	size_t page = (size_t)getpagesize();
	char *memory = map_pages(count);
	unsigned int i;

	for (i = 0; i < count; i++)
		memcpy(&memory[i * page], &ret, sizeof(ret));
	/* Changing the pages' protection flushes the TLB entries that the stores have created. */
	if (mprotect(memory, count * page, PROT_READ | PROT_EXEC))
		abort();
	/* Use this hart, because the counting thread is pinned to it. */
	asm volatile("fence.i" ::: "memory");
	for (i = 0; i < count; i++)
		((void (*)(void))&memory[i * page])();
	munmap(memory, count * page);
}

bool trace_emulated(void)
{
	char list[256], *name;
	int bytes = trace_file_read("/proc/device-tree/compatible", list, sizeof(list));

	/* The emulator's compatible string can follow that of the board. */
	for (name = list; name < list + bytes; name += strlen(name) + 1)
		if (!strcmp(name, "riscv-virtio"))
			return true;
	return false;
}

uint64_t trace_count_spin(unsigned int counter, uint64_t turns)
{
	uint64_t best = ~0ull, before, after;
	unsigned int i;

	for (i = 0; i < 50; i++) {
		before = trace_counter(counter);
		trace_spin(turns);
		after = trace_counter(counter);
		if (after - before < best)
			best = after - before;
	}
	return best;
}

/* Return the minimum of several runs, because interrupts can only increase the count. */
static uint64_t spin_by_perf(int event, uint64_t turns)
{
	uint64_t best = ~0ull, before, count;
	unsigned int i;

	for (i = 0; i < 20; i++) {
		before = trace_perf_count(event);
		trace_spin(turns);
		count = trace_perf_count(event) - before;
		if (count < best)
			best = count;
	}
	return best;
}

/* The difference of two loops cancels the overhead of the perf calls. */
static bool counts_turns(int event, uint64_t turns)
{
	uint64_t more = spin_by_perf(event, 2 * turns) - spin_by_perf(event, turns);

	return more >= turns * TRACE_SPIN - 100 && more <= turns * TRACE_SPIN + 100;
}

/* Counts of time may match the loop's count by chance, but not for several loop lengths. */
static bool counts_instructions(void)
{
	struct perf_event_attr attr = trace_perf_attr(PERF_TYPE_HARDWARE,
						      PERF_COUNT_HW_INSTRUCTIONS);
	bool counts;
	int event;

	if (!trace_emulated())
		return true;
	event = trace_perf_open(&attr, 0, -1);
	if (event < 0)
		return false;
	trace_perf_enable(event);
	counts = counts_turns(event, 20000) && counts_turns(event, 50000) &&
		 counts_turns(event, 30000);
	close(event);
	return counts;
}

bool trace_counts_instructions(void)
{
	if (counts_instructions())
		return true;
	if (!trace_setting("TRACE_EXACT", 0))
		return false;
	printf("# TRACE_EXACT is set, but instructions are not counted\n");
	fflush(stdout);
	abort();
}

struct perf_event_attr trace_perf_attr(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr) {
		.type		= type,
		.size		= sizeof(struct perf_event_attr),
		.config		= config,
		.disabled	= 1,
	};
}

int trace_perf_open(struct perf_event_attr *attr, int pid, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1,
			      PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int trace_perf_enable(int event)
{
	return trace_ioctl(event, PERF_EVENT_IOC_ENABLE, NULL);
}

int trace_perf_disable(int event)
{
	return trace_ioctl(event, PERF_EVENT_IOC_DISABLE, NULL);
}

uint64_t trace_perf_count(int event)
{
	uint64_t count;

	return read(event, &count, sizeof(count)) == sizeof(count) ? count : ~0ull;
}

uint64_t trace_sampled(int fd)
{
	struct sifive_trace_status status;

	return trace_status(fd, &status) ? 0 : status.samples + status.samples_lost;
}

uint64_t trace_own_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

void trace_work(void (*fn)(uint64_t turns), unsigned int ms)
{
	const uint64_t end = trace_own_time() + ms * 1000ull;

	do {
		fn(100000);
	} while (trace_own_time() < end);
}

void trace_work_sampled(int fd, void (*fn)(uint64_t turns), unsigned int ms,
			unsigned int least)
{
	const uint64_t until = trace_sampled(fd) + least;
	unsigned int i;

	trace_work(fn, ms);
	for (i = 0; i < 10000 && trace_sampled(fd) < until; i++)
		trace_work(fn, 1);
}

bool trace_samples(int fd)
{
	struct sifive_trace_status status;
	uint64_t before = ~0ull;
	unsigned int i;

	/*
	 * Limit the number of tries, not the time, because a loaded host slows the emulator down.
	 */
	for (i = 0; i < 3000 && !trace_status(fd, &status); i++) {
		if (status.samples > before)
			return true;
		before = status.samples;
		trace_spin(1000000);
	}
	return false;
}
