// SPDX-License-Identifier: GPL-2.0-only
/* Reads counters, and does work that they count. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace_counter.h"
#include "trace_device.h"

/* The CSR's number is part of the instruction. */
#define READ(n) ({							\
	unsigned long value;						\
									\
	asm volatile("csrr %0, %1"					\
		     : "=r" (value) : "i" (CSR_CYCLE + (n)));		\
	value;								\
})

uint64_t trace_read_counter(unsigned int counter)
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
	trace_read_counter(*(unsigned int *)counter);
}

int trace_signal_of_counter(unsigned int counter)
{
	return trace_signal_of(read_counter_of, &counter);
}

void trace_spin(uint64_t turns)
{
	asm volatile("1:	addi %0, %0, -1\n"
		     "	bnez %0, 1b\n"
		     : "+r" (turns));
}

void trace_touch_pages(unsigned int count)
{
	size_t page = (size_t)getpagesize();
	volatile char *memory = mmap(NULL, count * page, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
				     -1, 0);
	unsigned int i;

	for (i = 0; i < count; i++)
		memory[i * page];
	munmap((void *)memory, count * page);
}

uint64_t trace_count_spin(unsigned int counter, uint64_t turns)
{
	uint64_t best = ~0ull, before, after;
	unsigned int i;

	for (i = 0; i < 50; i++) {
		before = trace_read_counter(counter);
		trace_spin(turns);
		after = trace_read_counter(counter);
		if (after - before < best)
			best = after - before;
	}
	return best;
}

bool trace_emulated(void)
{
	char compatible[64] = "";
	int fd = open("/proc/device-tree/compatible", O_RDONLY);

	if (fd >= 0) {
		if (read(fd, compatible, sizeof(compatible) - 1) < 0)
			compatible[0] = '\0';
		close(fd);
	}
	return !strcmp(compatible, "riscv-virtio");
}
