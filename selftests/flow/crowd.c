// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Runs 64 concurrent threads, which yield the CPU to each other while functions are open. */
#include <pthread.h>
#include <sched.h>

#define THREADS	64

static pthread_barrier_t all;

__attribute__((noinline)) static unsigned long work(unsigned long n)
{
	if (n < 2) {
		sched_yield();
		return n;
	}
	return work(n - 1) + work(n - 2);
}

static void *run(void *n)
{
	pthread_barrier_wait(&all);
	return (void *)work((unsigned long)n);
}

int main(void)
{
	unsigned long i, sum = 0;
	pthread_t thread[THREADS];
	void *result;

	pthread_barrier_init(&all, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, run, (void *)(i % 4)))
			return 1;
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i], &result);
		sum += (unsigned long)result;
	}
	return sum != THREADS / 4 * (0 + 1 + 1 + 2);
}
