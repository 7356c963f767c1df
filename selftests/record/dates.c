// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Prints the wall clock, in nanoseconds, before and after each of several calls. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define CALLS	20

__attribute__((noinline)) static void work(void)
{
	usleep(1000);
}

__attribute__((no_instrument_function)) static void print_date(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	printf("%lld%09ld\n", (long long)now.tv_sec, now.tv_nsec);
}

int main(void)
{
	int i;

	print_date();
	for (i = 0; i < CALLS; i++) {
		work();
		print_date();
	}
	return 0;
}
