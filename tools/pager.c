// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See pager.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "output.h"
#include "pager.h"

/* Least exit status of a shell that cannot run a command. */
#define SHELL_CANNOT_RUN	126

/* Signals that a terminal or a user sends to end the command. */
static const int ends[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };

static bool disabled, begun;
/* The pipe to the pager while the pager is being started. */
static int pipe_to[2] = { -1, -1 };

void pager_disable(void)
{
	disabled = true;
}

/*
 * Close the pager's input, and wait until the user quits the pager, which is the only child.
 * Async-signal-safe.
 */
static void finish(void)
{
	int status = 0;

	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	close(pipe_to[1]);
	while (wait(&status) < 0 && errno == EINTR)
		;
	/* The shell has reported that it cannot run the pager: nothing was shown. */
	if (WIFEXITED(status) && WEXITSTATUS(status) >= SHELL_CANNOT_RUN)
		_exit(EXIT_UNREADABLE);
}

/* Wait for the pager before ending: otherwise, the shell would read the terminal, too. */
static void finish_and_end(int number)
{
	finish();
	signal(number, SIG_DFL);
	raise(number);
}

/* Start the pager with @input; return 0 or an error number. */
static int spawn(char *command, int input)
{
	char *by_shell[] = { "sh", "-c", command, NULL }, *alone[] = { "less", NULL };
	char **argv = command ? by_shell : alone;
	posix_spawn_file_actions_t actions;
	extern char **environ;
	pid_t pid;
	int error;

	error = posix_spawn_file_actions_init(&actions);
	if (error)
		return error;
	error = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) ?:
		posix_spawnp(&pid, *argv, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

static void begin(char *command)
{
	void (*before[sizeof(ends) / sizeof(*ends)])(int number);
	size_t i;

	if (pipe2(pipe_to, O_CLOEXEC))
		return;
	/* Options of less: exit if the text fits on one screen, show colours, keep the screen. */
	setenv("LESS", "FRX", false);
	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		before[i] = signal(ends[i], finish_and_end);
	begun = !spawn(command, pipe_to[0]);
	if (begun) {
		if (isatty(STDERR_FILENO))
			dup2(pipe_to[1], STDERR_FILENO);
		dup2(pipe_to[1], STDOUT_FILENO);
		atexit(finish);
	}
	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (!begun || before[i] == SIG_IGN)
			signal(ends[i], before[i]);
	close(pipe_to[0]);
	close(pipe_to[1]);
	pipe_to[1] = -1;
}

struct output *pager_open(const char *path)
{
	/* Open the output first, because it has styles only if it is a terminal. */
	struct output *output = output_open(path);
	char *command = getenv("PAGER"), *terminal = getenv("TERM");

	if (output && !path && !begun && !disabled && isatty(STDOUT_FILENO) &&
	    terminal && strcmp(terminal, "dumb") &&
	    (!command || (*command && strcmp(command, "cat"))))
		begin(command);
	return output;
}
