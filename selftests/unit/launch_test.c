// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests that the command still waits for the program's children if the program handles ^C; that a
 * signal which ends the program or the command also ends the wait; and that later signals do not
 * end the command before it has written the trace.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kselftest_harness.h"

#include "directory.h"
#include "target/launch.h"

static void make(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT, 0600);

	if (fd >= 0)
		close(fd);
}

FIXTURE(launch)
{
	struct launched launched;
	char dir[64];
	int number;		/* a signal for the command while the program runs */
	bool program;		/* send it to the program, too */
	unsigned int left;
};

FIXTURE_SETUP(launch)
{
	strcpy(self->dir, "/tmp/launch_test.XXXXXX");
	ASSERT_EQ(0, dir_enter(self->dir));
	make("keep");
	/* A shell without job control makes its background commands ignore SIGINT. */
	signal(SIGINT, SIG_DFL);
}

FIXTURE_TEARDOWN(launch)
{
	ASSERT_EQ(0, dir_remove(self->dir));
}

/* Send the signal once the program is ready, then let the program continue. */
static void meanwhile(void *argument, const sigset_t *mask)
{
	FIXTURE_DATA(launch) *self = argument;
	const struct timespec soon = { .tv_nsec = 10000000 };

	if (!self->number || access("ready", F_OK)) {
		/* SIGCHLD, which reports the end of the program, also ends this wait. */
		pselect(0, NULL, NULL, NULL, &soon, mask);
		return;
	}
	if (self->program)
		kill(self->launched.pid, self->number);
	kill(getpid(), self->number);
	self->number = 0;
	sigsuspend(mask);
	make("go");
}

static void left(void *argument)
{
	FIXTURE_DATA(launch) *self = argument;

	self->left++;
	make("left");
}

static int run(FIXTURE_DATA(launch) *self, const char *script)
{
	char *argv[] = { "sh", "-c", (char *)script, NULL };
	const struct launch launch = {
		.path = "/bin/sh", .argv = argv, .argument = self, .meanwhile = meanwhile,
		.children = true, .left = left,
	};

	return launch_run(&launch, &self->launched);
}

#define UNTIL(file)	"while [ ! -e " file " ]; do sleep 0.01; done; "
/* Start a child that no process waits for; it ends when the test removes its directory. */
#define CHILD		"(trap '' INT TERM; while [ -e keep ]; do sleep 0.01; done) & "

TEST_F(launch, program_that_handles_interrupts_keeps_its_children)
{
	self->number = SIGINT;
	EXPECT_EQ(0, run(self, "echo >ready; " UNTIL("go")
			 "(" UNTIL("left") "echo >late) & exit 0"));
	EXPECT_EQ(1, self->left);
	EXPECT_EQ(0, access("late", F_OK));
}

/* A shell that executes the command passes its children on to the command. */
TEST_F(launch, earlier_children_are_not_waited_for)
{
	const pid_t earlier = fork();

	if (!earlier) {
		while (!access("keep", F_OK))
			usleep(10000);
		_exit(0);
	}
	EXPECT_EQ(5, run(self, "exit 5"));
	EXPECT_EQ(0, self->left);
	EXPECT_EQ(6, run(self, "(" UNTIL("left") "echo >late) & exit 6"));
	EXPECT_EQ(1, self->left);
	EXPECT_EQ(0, access("late", F_OK));
	EXPECT_EQ(0, kill(earlier, SIGKILL));
	EXPECT_EQ(earlier, waitpid(earlier, NULL, 0));
}

TEST_F(launch, interrupt_that_ends_the_program_ends_the_wait)
{
	self->number = SIGINT;
	self->program = true;
	EXPECT_EQ(128 + SIGINT, run(self, CHILD "echo >ready; " UNTIL("no")));
	EXPECT_EQ(0, self->left);
}

TEST_F(launch, signal_for_the_command_ends_the_program_and_the_wait)
{
	self->number = SIGTERM;
	EXPECT_EQ(0, run(self, "trap 'exit 0' TERM; " CHILD "echo >ready; " UNTIL("no")));
	EXPECT_EQ(0, self->left);
}

/* Signals that arrive while the command writes the trace must not end it. */
TEST_F(launch, signals_after_program_exit_do_not_end_the_command)
{
	static const int number[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	struct sigaction action;
	sigset_t mask;
	size_t i;

	for (i = 0; i < sizeof(number) / sizeof(number[0]); i++)
		signal(number[i], SIG_DFL);
	EXPECT_EQ(0, run(self, "exit 0"));
	for (i = 0; i < sizeof(number) / sizeof(number[0]); i++) {
		raise(number[i]);
		raise(number[i]);
	}
	EXPECT_FALSE(self->launched.interrupted);
	launch_end();
	/* After this call, signals end the command again. */
	ASSERT_EQ(0, sigprocmask(SIG_SETMASK, NULL, &mask));
	for (i = 0; i < sizeof(number) / sizeof(number[0]); i++) {
		ASSERT_EQ(0, sigaction(number[i], NULL, &action));
		EXPECT_EQ(SIG_DFL, action.sa_handler);
		EXPECT_EQ(0, sigismember(&mask, number[i]));
	}
}

TEST_F(launch, signal_before_the_program_runs_ends_the_command)
{
	launch_begin();
	raise(SIGINT);
	EXPECT_EQ(EXIT_RECORD, run(self, "echo >ran"));
	EXPECT_FALSE(self->launched.ran);
	EXPECT_TRUE(self->launched.interrupted);
	EXPECT_NE(0, access("ran", F_OK));
	launch_end();
}

/* Writes fail if the reader of the command's messages has ended, or if a file exceeds its limit. */
TEST_F(launch, writes_that_fail_end_the_program_but_not_the_command)
{
	static const int number[] = { SIGPIPE, SIGXFSZ };
	size_t i;

	for (i = 0; i < sizeof(number) / sizeof(number[0]); i++)
		signal(number[i], SIG_DFL);
	EXPECT_EQ(128 + SIGPIPE, run(self, "kill -PIPE $$"));
	EXPECT_EQ(128 + SIGXFSZ, run(self, "kill -XFSZ $$"));
	for (i = 0; i < sizeof(number) / sizeof(number[0]); i++)
		raise(number[i]);
	launch_end();
	for (i = 0; i < sizeof(number) / sizeof(number[0]); i++)
		EXPECT_EQ(SIG_DFL, signal(number[i], SIG_DFL));
}

/* Signals that launch_end() has handled do not affect the next program. */
TEST_F(launch, second_program_runs_after_the_first_has_ended)
{
	EXPECT_EQ(0, run(self, "exit 0"));
	raise(SIGINT);
	launch_end();
	EXPECT_EQ(3, run(self, "exit 3"));
	EXPECT_FALSE(self->launched.interrupted);
	launch_end();
	/* A call without a running program has no effect. */
	launch_end();
}

TEST_HARNESS_MAIN
