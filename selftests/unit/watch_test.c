// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that a signal ends a wait for events, even if it arrives before the wait, and that perf is
 * asked only for the events that are needed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kselftest_harness.h"

#include "target/watch.h"

/* What watch_open() has asked perf for. All CPUs are offline. */
static struct perf_event_attr asked;

long syscall(long number, ...)
{
	long (*next)(long number, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	va_list arguments;
	long value[6];
	size_t i;

	va_start(arguments, number);
	for (i = 0; i < 6; i++)
		value[i] = va_arg(arguments, long);
	va_end(arguments);
	if (number != SYS_perf_event_open)
		return next(number, value[0], value[1], value[2], value[3], value[4], value[5]);
	asked = *(struct perf_event_attr *)value[0];
	errno = ENODEV;
	return -1;
}

static volatile sig_atomic_t arrived;

static void note(int number)
{
	(void)number;
	arrived = 1;
}

/* Timeout in seconds, because a wait that misses the signal would never end. */
#define STUCK	60

static void handle(int number, sigset_t *before)
{
	struct sigaction action = { .sa_handler = note };
	sigset_t handled;

	alarm(STUCK);
	arrived = 0;
	sigaction(number, &action, NULL);
	sigemptyset(&handled);
	sigaddset(&handled, number);
	sigprocmask(SIG_BLOCK, &handled, before);
}

/* The child has ended between the caller's last check and the wait. */
TEST(ended_child_ends_the_wait)
{
	struct watch watch = { 0 };
	siginfo_t info;
	sigset_t mask;
	pid_t pid;

	handle(SIGCHLD, &mask);
	pid = fork();
	if (!pid)
		_exit(0);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT));
	watch_wait(&watch, NULL, NULL, &mask);
	EXPECT_EQ(1, arrived);
	EXPECT_EQ(pid, waitpid(pid, NULL, WNOHANG));
}

/* Pending events must not delay the signal handler. */
TEST(signal_handler_runs_before_pending_events)
{
	struct pollfd event = { .events = POLLIN };
	struct watch watch = { 0 };
	sigset_t mask;
	int ends[2];

	ASSERT_EQ(0, pipe(ends));
	ASSERT_EQ(1, write(ends[1], "", 1));
	event.fd = ends[0];
	handle(SIGUSR1, &mask);
	raise(SIGUSR1);
	watch_wait(&watch, &event, NULL, &mask);
	EXPECT_EQ(1, arrived);
	/* Without a signal, the event ends the wait. */
	watch_wait(&watch, &event, NULL, &mask);
}

static bool asks(bool mappings, struct names *names, struct descendants *descendants)
{
	struct watch watch;
	const bool opened = !watch_open(&watch, true, mappings, names, descendants);

	watch_close(&watch);
	return opened && asked.task;
}

TEST(counting_processes_needs_no_programs)
{
	struct descendants descendants = { .programs = false };

	ASSERT_TRUE(asks(false, NULL, &descendants));
	EXPECT_TRUE(!asked.comm && !asked.mmap && !asked.mmap2);
}

TEST(programs_and_names_need_their_events)
{
	struct descendants descendants = { .programs = true };
	struct names names = { .count = 0 };

	ASSERT_TRUE(asks(true, NULL, &descendants));
	EXPECT_TRUE(asked.comm && asked.mmap && asked.mmap2);
	ASSERT_TRUE(asks(true, &names, NULL));
	EXPECT_TRUE(!!asked.comm);
}

TEST_HARNESS_MAIN
