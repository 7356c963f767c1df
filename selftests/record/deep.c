// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Built without hooks or frame pointers. Recurses to the depth given as the argument; the innermost
 * call calls the hot function.
 */
#include <stdio.h>
#include <stdlib.h>

#define KEPT	__attribute__((noinline, noclone, noipa))

static volatile unsigned long sum;

KEPT static void bottom(unsigned long n)
{
	while (n--)
		sum += n;
}

KEPT static unsigned long down(unsigned long levels, unsigned long n)
{
	volatile unsigned long room[4] = { levels };

	if (levels > 1)
		return down(levels - 1, n) + room[0];
	bottom(n);
	return room[0];
}

int main(int argc, char **argv)
{
	unsigned long levels = argc > 1 ? strtoul(argv[1], NULL, 10) : 10;
	unsigned long seed = 1, rounds;

	for (rounds = 0; rounds < 1500; rounds++) {
		seed = seed * 1103515245 + 12345;
		sum += down(levels, 5000 + (seed >> 16 & 0xfff));
	}
	printf("%lu levels\n", levels);
	return 3;
}
