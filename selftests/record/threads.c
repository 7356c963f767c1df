// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Three named threads with different numbers of calls. With an argument, the threads run one
 * after another.
 */
#include <pthread.h>

#include "calls.h"

static pthread_mutex_t print = PTHREAD_MUTEX_INITIALIZER;

static unsigned int leaf(unsigned int n)
{
	calls_count("branch", "leaf");
	return n & 1;
}

static unsigned int branch(unsigned int n)
{
	unsigned int i, odd = 0;

	calls_count("work", "branch");
	for (i = 0; i < n; i++)
		odd += leaf(i);
	return odd;
}

static void *work(void *argument)
{
	unsigned long n = (unsigned long)argument, i;
	char name[16];

	calls_count("-", "work");
	snprintf(name, sizeof(name), "worker%lu", n);
	pthread_setname_np(pthread_self(), name);
	for (i = 0; i < 10 * n; i++)
		branch(n);
	pthread_mutex_lock(&print);
	calls_print(name);
	pthread_mutex_unlock(&print);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[3];
	unsigned long i;

	(void)argv;
	calls_count("-", "main");
	for (i = 0; i < 3; i++) {
		if (pthread_create(&thread[i], NULL, work, (void *)(i + 1)))
			return 1;
		if (argc > 1)
			pthread_join(thread[i], NULL);
	}
	for (i = 0; argc == 1 && i < 3; i++)
		pthread_join(thread[i], NULL);
	calls_print("threads");
	return 0;
}
