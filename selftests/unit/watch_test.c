// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests that a signal ends a wait for events, even if it arrives before the wait. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kselftest_harness.h"

#include "target/watch.h"

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

TEST_HARNESS_MAIN
