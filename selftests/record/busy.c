// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Calls two functions, one of which takes most of the time. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static unsigned long busy(unsigned long n)
{
	unsigned long i, sum = 0;

	for (i = 0; i < n; i++)
		sum += i ^ sum;
	return sum;
}

static unsigned long lazy(unsigned long n)
{
	return n + 1;
}

/*
 * Number of rounds that usually take 300 ms. The program runs for at least that time and at least
 * that number of rounds, because on a loaded host, time can pass without any work. With a file
 * name, the program runs until that file exists.
 */
#define ROUNDS	4

int main(int argc, char **argv)
{
	long most = argc > 1 ? atol(argv[1]) : 300;
	struct timespec begin, now;
	unsigned long sum = 0;
	long rounds = 0;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		sum = lazy(busy(20000) + sum);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (++rounds < ROUNDS * most ||
		 (now.tv_sec - begin.tv_sec) * 1000 +
		 (now.tv_nsec - begin.tv_nsec) / 1000000 < most ||
		 (argc > 2 && access(argv[2], F_OK)));
	printf("%lu\n", sum);
	return 5;
}
