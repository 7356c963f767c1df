// SPDX-License-Identifier: Apache-2.0 OR MIT
/* terminal COMMAND ARGUMENT...: runs COMMAND on a terminal, and prints the terminal's output. */
#include <pty.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int terminal, status;
	char text[4096];
	ssize_t got;
	pid_t child = argc > 1 ? forkpty(&terminal, NULL, NULL, NULL) : -1;

	if (child < 0) {
		perror("terminal");
		return 1;
	}
	if (!child) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	setvbuf(stdout, NULL, _IONBF, 0);
	/* read() fails with EIO when no process has the terminal open. */
	while ((got = read(terminal, text, sizeof(text))) > 0)
		fwrite(text, 1, (size_t)got, stdout);
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return 1;
	return WEXITSTATUS(status);
}
