// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Writes records continuously for SECONDS, with one thread on each CPU. Prints "made N", the number
 * of calls. Each thread makes at least LEAST calls (20000), even if it gets hardly any CPU time.
 *
 *	soak SECONDS [LEAST]
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define HIDDEN	__attribute__((no_instrument_function))

/* Number of calls between two reads of the clock. */
#define BATCH	1000
static struct timespec end;
static unsigned long least = 20000;
static _Atomic unsigned long made;

__attribute__((noinline)) static void leaf(void)
{
	__asm__ volatile("");
}

HIDDEN static int is_over(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > end.tv_sec ||
	       (now.tv_sec == end.tv_sec && now.tv_nsec >= end.tv_nsec);
}

HIDDEN static void *write_records(void *unused)
{
	unsigned long calls = 0;
	int i;

	(void)unused;
	while (calls < least || !is_over()) {
		for (i = 0; i < BATCH; i++)
			leaf();
		calls += BATCH;
	}
	made += calls;
	return NULL;
}

HIDDEN static pthread_t begin(int cpu)
{
	pthread_attr_t attributes;
	pthread_t thread;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (pthread_attr_init(&attributes) ||
	    pthread_attr_setaffinity_np(&attributes, sizeof(one), &one) ||
	    pthread_create(&thread, &attributes, write_records, NULL))
		exit(1);
	pthread_attr_destroy(&attributes);
	return thread;
}

HIDDEN int main(int argc, char **argv)
{
	const int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t *thread = calloc((size_t)cpus, sizeof(*thread));
	int i;

	if (!thread || argc < 2)
		return 1;
	if (argc > 2)
		least = strtoul(argv[2], NULL, 10);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += atoi(argv[1]);
	for (i = 0; i < cpus; i++)
		thread[i] = begin(i);
	for (i = 0; i < cpus; i++)
		pthread_join(thread[i], NULL);
	printf("made %lu\n", made);
	free(thread);
	return 0;
}
