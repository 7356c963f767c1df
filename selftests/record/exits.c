// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Runs threads that call functions continuously while their process ends:
 *
 *	exits HOW FILE [signals]
 *
 * At the end, FILE contains two 64-bit numbers: the number of calls that began, and the number of
 * calls that returned before tracing could end. With "signals", a timer's signal handler also calls
 * functions.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define HIDDEN	__attribute__((no_instrument_function))

#define THREADS	6

/* Number of calls that each thread makes before the process ends. */
#define BEFORE	300

/* Number of calls in one pass of work(). */
#define CALLS	3

struct numbers {
	_Atomic uint64_t begun, whole;
};

static struct numbers *made;
static _Atomic bool ending;
static _Atomic unsigned int ready;

__attribute__((noinline)) static void leaf(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) static void work(void)
{
	leaf();
	leaf();
}

static HIDDEN void pass(void)
{
	const bool before = !ending;

	made->begun += CALLS;
	work();
	/* The trace ends after the program's last destructor has run. */
	if (before && !ending)
		made->whole += CALLS;
}

static HIDDEN void on_signal(int number)
{
	(void)number;
	pass();
}

static HIDDEN __attribute__((destructor(101))) void last_destructor(void)
{
	ending = true;
}

/* Run forever, in bursts, so that a buffer has room for the records even on the slowest machine. */
static HIDDEN void *call(void *unused)
{
	int i;

	(void)unused;
	for (i = 0;; i++) {
		if (i == BEFORE)
			ready++;
		if (i >= BEFORE || i % 50 == 0)
			usleep(200);
		pass();
	}
	return NULL;
}

/* No call is a cancellation point, even if it waits for room. */
static HIDDEN void *call_to_the_end(void *unused)
{
	int i;

	for (i = 0; i < 5 * BEFORE; i++)
		pass();
	return unused;
}

static HIDDEN void cancel_threads(void)
{
	pthread_t thread[THREADS];
	void *result;
	int i;

	for (i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, call_to_the_end, NULL))
			exit(99);
	for (i = 0; i < THREADS; i++)
		pthread_cancel(thread[i]);
	for (i = 0; i < THREADS; i++)
		if (pthread_join(thread[i], &result) || result)
			exit(98);
}

static HIDDEN void start(void *(*function)(void *))
{
	pthread_attr_t detached;
	pthread_t thread;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &detached, function, NULL))
		exit(99);
	pthread_attr_destroy(&detached);
}

static HIDDEN void calls_on(void)
{
	int i;

	for (i = 0; i < 20; i++)
		pass();
}

/* Called by exit(): start a thread without waiting for it to end. */
static HIDDEN void start_late(void)
{
	start(call);
	calls_on();
	usleep(3000);
}

static HIDDEN void *exit_here(void *unused)
{
	(void)unused;
	calls_on();
	exit(7);
}

static HIDDEN void *kill_here(void *unused)
{
	(void)unused;
	calls_on();
	kill(getpid(), SIGKILL);
	return NULL;
}

static HIDDEN void *exec_here(void *unused)
{
	(void)unused;
	calls_on();
	execl("/bin/true", "true", NULL);
	return NULL;
}

static HIDDEN void exit_handler(int number)
{
	(void)number;
	pass();
	exit(7);
}

/* A signal can be delivered to any thread, and interrupts a call. */
static HIDDEN void send_signals(void)
{
	const struct itimerval often = { { 0, 700 }, { 0, 700 } };

	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &often, NULL);
}

/*
 * The event that ends the process may be late. After @quick passes, the thread therefore sleeps
 * occasionally, like the other threads, to let the reader run.
 */
static HIDDEN void pass_until_ended(unsigned int quick)
{
	unsigned int i;

	for (i = 0;; i++) {
		pass();
		if (i >= quick && i % 50 == 0)
			usleep(200);
	}
}

static HIDDEN void end(const char *how)
{
	if (!strcmp(how, "exit"))
		exit(7);
	if (!strcmp(how, "quick")) {
		at_quick_exit(calls_on);
		quick_exit(7);
	}
	if (!strcmp(how, "_exit"))
		_exit(7);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "late"))
		atexit(start_late);
	if (!strcmp(how, "other"))
		start(exit_here);
	if (!strcmp(how, "kill"))
		start(kill_here);
	if (!strcmp(how, "exec"))
		start(exec_here);
	if (!strcmp(how, "handler")) {
		signal(SIGUSR1, exit_handler);
		raise(SIGUSR1);
	}
	/* The handler interrupts calls, and perhaps records. */
	if (!strcmp(how, "interrupt")) {
		const struct itimerval once = { { 0, 0 }, { 0, 1000 } };

		signal(SIGALRM, exit_handler);
		setitimer(ITIMER_REAL, &once, NULL);
		pass_until_ended(5000);
	}
	if (!strcmp(how, "main"))
		pthread_exit(NULL);
	if (!strcmp(how, "cancel"))
		cancel_threads();
}

HIDDEN int main(int argc, char **argv)
{
	int i, file;

	if (argc < 3)
		return 99;
	file = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (file < 0 || ftruncate(file, sizeof(*made)))
		err(99, "%s", argv[2]);
	made = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (made == MAP_FAILED)
		err(99, "%s", argv[2]);
	if (argc > 3 && !strcmp(argv[3], "signals"))
		send_signals();
	for (i = 0; i < THREADS; i++)
		start(!strcmp(argv[1], "main") && !i ? exit_here : call);
	while (ready < THREADS - !strcmp(argv[1], "main"))
		usleep(1000);
	end(argv[1]);
	if (!strcmp(argv[1], "other") || !strcmp(argv[1], "kill") || !strcmp(argv[1], "exec"))
		pass_until_ended(0);
	return 7;
}
