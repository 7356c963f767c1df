// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Requests snapshots after 100, 200 and 300 steps, and then ends. Prints the number of requests
 * that succeeded.
 *
 *	asks [TRACE]
 *
 * With TRACE, the program waits for the first and the second snapshot of that trace.
 */
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "sifive_trace.h"

/* Built without the library, the program calls the function only if the library is loaded. */
#ifdef WEAK
#pragma weak sifive_trace_snapshot
#endif

#define STEPS	100
#define SECONDS	60

static volatile int sum;

__attribute__((noinline)) static void step(int n)
{
	sum += n;
}

/* The records of these calls push the request's own record out of the hardware. */
__attribute__((noinline)) static void after(int n)
{
	sum -= n;
}

__attribute__((no_instrument_function)) static void wait_for(const char *trace, int number)
{
	char path[PATH_MAX];
	int i;

	snprintf(path, sizeof(path), "%s.%d.meta", trace, number);
	for (i = 0; i < 1000 * SECONDS && access(path, F_OK); i++)
		usleep(1000);
}

__attribute__((no_instrument_function)) static int ask(void)
{
	int (*volatile function)(void) = sifive_trace_snapshot;

	return function && !function();
}

int main(int argc, char **argv)
{
	int n, asked = 0;

	for (n = 1; n <= 3 * STEPS; n++) {
		step(n);
		if (n % STEPS)
			continue;
		asked += ask();
		after(n);
		after(n);
		if (argc > 1 && n < 3 * STEPS)
			wait_for(argv[1], n / STEPS);
	}
	printf("%d\n", asked);
	return 0;
}
