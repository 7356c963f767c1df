// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Spends most of its time in a system call that one function makes; with a second argument, also in
 * page faults that the kernel itself causes. Built with frame pointers and unwind tables.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KEPT	__attribute__((noinline, noclone, noipa))

static char buffer[1 << 16] __attribute__((aligned(1 << 16)));

/* Used instead of the C library's function, which may lack unwind tables. */
KEPT static long enter(int fd)
{
	register long a0 asm("a0") = fd;
	register char *a1 asm("a1") = buffer;
	register unsigned long a2 asm("a2") = sizeof(buffer);
	register long a7 asm("a7") = SYS_read;

	asm volatile("ecall" : "+r" (a0) : "r" (a1), "r" (a2), "r" (a7) : "memory");
	return a0;
}

KEPT static long repeat(int fd, unsigned long rounds, bool faults)
{
	long sum = 0;

	while (rounds--) {
		if (faults)
			madvise(buffer, sizeof(buffer), MADV_DONTNEED);
		sum += enter(fd);
	}
	return sum;
}

int main(int argc, char **argv)
{
	const unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;

	return repeat(open("/dev/zero", O_RDONLY), rounds, argc > 2) > 0 ? 3 : 1;
}
