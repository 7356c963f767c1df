// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Threads that sleep, work and compete for a CPU for known times. Each thread prints its name, its
 * id, the time from its start to its end, and its CPU time, in microseconds.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NAPS	20
#define NAP	5000	/* microseconds */
#define WORK	100000

static __attribute__((no_instrument_function)) long now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

static void nap(void)
{
	usleep(NAP);
}

static void naps(void)
{
	int i;

	for (i = 0; i < NAPS; i++)
		nap();
}

static void spin(long time)
{
	long end = now(CLOCK_THREAD_CPUTIME_ID) + time;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void works(void)
{
	spin(WORK);
}

static void measure(const char *name, void (*work)(void))
{
	long begin = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);

	work();
	begin = now(CLOCK_MONOTONIC) - begin;
	cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
	printf("%s %ld %ld %ld\n", name, (long)syscall(SYS_gettid), begin, cpu);
}

static void *sleeper(void *unused)
{
	(void)unused;
	measure("sleeper", naps);
	return NULL;
}

static void *worker(void *unused)
{
	(void)unused;
	measure("worker", works);
	return NULL;
}

static void all(void)
{
	void *(* const start[])(void *) = { sleeper, worker, worker };
	pthread_t thread[3];
	int i;

	for (i = 0; i < 3; i++)
		if (pthread_create(&thread[i], NULL, start[i], NULL))
			return;
	for (i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
}

int main(void)
{
	measure("main", all);
	return 0;
}
