// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * An instrumented program with two functions that repeat the same work, one ten times as often as
 * the other.
 */
#include <stdlib.h>

static volatile unsigned int sum;

static void light(void)
{
	volatile unsigned int i;

	for (i = 0; i < 20; i++)
		sum += i;
}

static void heavy(void)
{
	volatile unsigned int i;

	for (i = 0; i < 200; i++)
		sum ^= i;
}

static void work(int turns)
{
	while (turns--) {
		light();
		heavy();
		light();
	}
}

int main(int argc, char **argv)
{
	work(argc > 1 ? atoi(argv[1]) : 10000);
	return 0;
}
