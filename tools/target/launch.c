// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See launch.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../command.h"
#include "launch.h"
#include "machine.h"

static void keys(void (*handler)(int))
{
	signal(SIGINT, handler);
	signal(SIGQUIT, handler);
}

/* @go ends when the parent is ready to look. */
static void run(const struct launch *launch, const int *go)
{
	char none;

	close(go[1]);
	while (read(go[0], &none, 1) < 0 && errno == EINTR)
		;
	keys(SIG_DFL);
	if (launch->before && launch->before(launch->argument))
		_exit(EXIT_RECORD);
	machine_pass_on();
	execv(launch->path, launch->argv);
	report("%s: %s", launch->path, strerror(errno));
	_exit(EXIT_CANNOT_RUN);
}

/* It has stopped: look where that tells something, and let it go on. */
static void resume(pid_t pid, int status, struct objects *objects)
{
	int event = status >> 16, number = WSTOPSIG(status);

	if (event == PTRACE_EVENT_EXEC || event == PTRACE_EVENT_EXIT)
		objects_add(objects, pid);
	if (event != PTRACE_EVENT_STOP)
		ptrace(PTRACE_CONT, pid, NULL, event ? 0L : (long)number);
	else if (number == SIGTRAP)
		ptrace(PTRACE_CONT, pid, NULL, NULL);
	else
		/* Stopped by the terminal: until it is told to go on. */
		ptrace(PTRACE_LISTEN, pid, NULL, NULL);
}

static int wait_for(pid_t pid, struct objects *objects)
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
		resume(pid, status, objects);
	}
}

int launch_run(const struct launch *launch, struct objects *objects)
{
	int go[2], status;
	pid_t pid = -1;

	/*
	 * With capabilities of its file nobody may look at this process, nor at its
	 * child before that has become the program.
	 */
	prctl(PR_SET_DUMPABLE, 1);
	if (!pipe2(go, O_CLOEXEC)) {
		keys(SIG_IGN);
		pid = fork();
		if (!pid)
			run(launch, go);
		close(go[0]);
	}
	if (pid < 0) {
		report("cannot make a process: %s", strerror(errno));
		return EXIT_RECORD;
	}
	if (objects && ptrace(PTRACE_SEIZE, pid, NULL,
			      (long)(PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT)))
		report("cannot see what the program loads: %s: some addresses will have no names",
		       strerror(errno));
	close(go[1]);
	status = wait_for(pid, objects);
	keys(SIG_DFL);
	return status;
}
