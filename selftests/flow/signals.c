// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Handles a signal every 50 microseconds while functions return and jump. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static volatile sig_atomic_t handled;
static sigjmp_buf leap;
static volatile sig_atomic_t may_leap;

static void handle(int number)
{
	(void)number;
	handled++;
	if (may_leap && handled % 4 == 0)
		siglongjmp(leap, 1);
}

__attribute__((noinline)) static unsigned long work(unsigned long n)
{
	return n < 2 ? n : work(n - 1) + work(n - 2);
}

int main(int argc, char **argv)
{
	const struct itimerval timer = { { 0, 50 }, { 0, 50 } };
	const int most = argc > 1 ? atoi(argv[1]) : 40;
	static unsigned long sum;
	struct timespec now;

	signal(SIGALRM, handle);
	sigsetjmp(leap, 1);
	setitimer(ITIMER_REAL, &timer, NULL);
	may_leap = 1;
	while (handled < most) {
		sum += work(8);
		clock_gettime(CLOCK_MONOTONIC, &now);
	}
	may_leap = 0;
	setitimer(ITIMER_REAL, &(struct itimerval){ { 0, 0 }, { 0, 0 } }, NULL);
	printf("%lu\n", sum);
	return 0;
}
