// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Runs threads that wait for the same mutex, in C library functions that have no symbols. main()
 * and NUMBER threads, 1 by default, each call run(), which calls outer(), which calls hold() 20
 * times.
 *
 *	locks [NUMBER]
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS_MAX	64

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned int held;
static useconds_t pause_us = 2000;

static void hold(void)
{
	pthread_mutex_lock(&mutex);
	held++;
	usleep(pause_us);
	pthread_mutex_unlock(&mutex);
}

static void outer(void)
{
	int i;

	for (i = 0; i < 20; i++) {
		hold();
		usleep(10);
	}
}

static void *run(void *unused)
{
	outer();
	return unused;
}

int main(int argc, char **argv)
{
	const int number = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t thread[THREADS_MAX];
	int i;

	if (number < 1 || number > THREADS_MAX)
		return 2;
	if (number > 1)
		pause_us = 0;
	for (i = 0; i < number; i++)
		if (pthread_create(&thread[i], NULL, run, NULL))
			return 1;
	run(NULL);
	for (i = 0; i < number; i++)
		pthread_join(thread[i], NULL);
	return held != 20 * (unsigned int)(number + 1);
}
