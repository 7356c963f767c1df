// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See launch.h. */
#include <errno.h>
#include <fcntl.h>
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

/* A program that runs closes @failed, and can end with any status. */
static void run(const struct launch *launch, int failed)
{
	int status = EXIT_RECORD;

	keys(SIG_DFL, SIG_DFL);
	if (!launch->before || !launch->before(launch->argument)) {
		execv(launch->path, launch->argv);
		report("%s: %s", launch->path, strerror(errno));
		status = EXIT_CANNOT_RUN;
	}
	if (write(failed, "", 1) < 0)
		report("pipe: %s", strerror(errno));
	_exit(status);
}

static int wait_for(pid_t pid, int *number)
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
		if (WIFSIGNALED(status)) {
			*number = WTERMSIG(status);
			return EXIT_SIGNAL + *number;
		}
	}
}

int launch_run(const struct launch *launch, struct launched *launched)
{
	int status = EXIT_RECORD, ends[2];
	char failed;

	*launched = (struct launched){ .pid = -1 };
	if (pipe2(ends, O_CLOEXEC)) {
		report("cannot make a process: %s", strerror(errno));
		return status;
	}
	running = 0;
	keys(SIG_IGN, pass_on);
	launched->pid = fork();
	if (!launched->pid)
		run(launch, ends[1]);
	close(ends[1]);
	if (launched->pid < 0) {
		report("cannot make a process: %s", strerror(errno));
	} else {
		running = launched->pid;
		status = wait_for(launched->pid, &launched->signal);
		running = 0;
		launched->ran = !read(ends[0], &failed, 1);
	}
	close(ends[0]);
	keys(SIG_DFL, SIG_DFL);
	return status;
}
