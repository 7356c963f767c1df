// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Defines instrumented versions of C library functions that libsifive-perf could call while it
 * records a thread's first call, or calls made by a signal handler. Calls leaf() in threads, some
 * of which end while others make their first call, and in a handler that interrupts such calls.
 * Prints "made N", the number of calls.
 */
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#define HIDDEN	__attribute__((no_instrument_function))

#define CALLS	10
#define SIGNALS	20
#define THREADS	60

static atomic_uint made, signals;

pid_t getpid(void)
{
	return (pid_t)syscall(SYS_getpid);
}

int sigaltstack(const stack_t *stack, stack_t *old)
{
	return (int)syscall(SYS_sigaltstack, stack, old);
}

int prctl(int option, ...)
{
	unsigned long first, second;
	va_list list;

	va_start(list, option);
	first = va_arg(list, unsigned long);
	second = va_arg(list, unsigned long);
	va_end(list);
	return (int)syscall(SYS_prctl, option, first, second, 0, 0);
}

static void leaf(void)
{
	made++;
}

static HIDDEN void *work(void *unused)
{
	int i;

	for (i = 0; i < CALLS; i++)
		leaf();
	return unused;
}

static HIDDEN void signal_soon(void)
{
	const struct itimerval soon = { .it_value.tv_usec = 1000 };

	setitimer(ITIMER_REAL, &soon, NULL);
}

static HIDDEN void on_signal(int number)
{
	(void)number;
	leaf();
	if (++signals < SIGNALS)
		signal_soon();
}

int HIDDEN main(void)
{
	pthread_t thread[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, NULL))
			return 1;
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	signal(SIGALRM, on_signal);
	signal_soon();
	while (signals < SIGNALS)
		leaf();
	printf("made %u\n", made);
	return 0;
}
