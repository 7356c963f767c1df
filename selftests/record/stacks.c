// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Built without hooks, but with frame pointers: two callers at different depths call the hot
 * function. The callers do not alternate, so that periodic samples hit both.
 */
#include <stdlib.h>

#define KEPT	__attribute__((noinline, noclone))

static volatile unsigned long sum;

KEPT static void inner(unsigned long n)
{
	while (n--)
		sum += n;
}

KEPT static void hot(unsigned long n)
{
	inner(2 * n);
	sum++;
}

KEPT static void step(unsigned long n)
{
	inner(n);
	sum++;
}

KEPT static void cold(unsigned long n)
{
	step(n);
	sum++;
}

KEPT static void work(unsigned long n)
{
	hot(n);
	cold(n);
	sum++;
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 2500;
	unsigned long seed = 1;

	while (rounds--) {
		seed = seed * 1103515245 + 12345;
		work(5000 + (seed >> 16 & 0xfff));
	}
	return 3;
}
