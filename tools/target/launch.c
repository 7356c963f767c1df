// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See launch.h. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../command.h"
#include "launch.h"

/* The program, while it runs. */
static volatile sig_atomic_t running;

/* Keys reach the program by themselves; whoever ends the command means it, too. */
static void pass_on(int number)
{
	if (running)
		kill(running, number);
}

static void keys(void (*handler)(int), void (*end)(int))
{
	signal(SIGINT, handler);
	signal(SIGQUIT, handler);
	signal(SIGTERM, end);
	signal(SIGHUP, end);
}

static void run(const struct launch *launch)
{
	keys(SIG_DFL, SIG_DFL);
	if (launch->before && launch->before(launch->argument))
		_exit(EXIT_RECORD);
	execv(launch->path, launch->argv);
	report("%s: %s", launch->path, strerror(errno));
	_exit(EXIT_CANNOT_RUN);
}

static int wait_for(pid_t pid)
{
	int status;

	for (;;) {
		if (waitpid(pid, &status, 0) < 0) {
			if (errno == EINTR)
				continue;
			report("cannot wait for the program: %s", strerror(errno));
			return EXIT_RECORD;
		}
		if (WIFEXITED(status))
			return WEXITSTATUS(status);
		if (WIFSIGNALED(status))
			return EXIT_SIGNAL + WTERMSIG(status);
	}
}

int launch_run(const struct launch *launch, pid_t *pid)
{
	int status;

	running = 0;
	keys(SIG_IGN, pass_on);
	*pid = fork();
	if (!*pid)
		run(launch);
	if (*pid < 0) {
		report("cannot make a process: %s", strerror(errno));
		status = EXIT_RECORD;
	} else {
		running = *pid;
		status = wait_for(*pid);
		running = 0;
	}
	keys(SIG_DFL, SIG_DFL);
	return status;
}
