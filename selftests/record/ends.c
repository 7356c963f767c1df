// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Ends in various ways: by a signal, without exit(), in the background, or after enough calls to
 * fill the buffer.
 */
#include <err.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int work(int n)
{
	return 3 * n;
}

/* Wait until the parent command has ended. */
static void outlive(pid_t command)
{
	while (!kill(command, 0))
		usleep(10000);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	const pid_t command = getppid();
	int i, sum = 0, most = argc > 2 ? atoi(argv[2]) : 50;

	for (i = 0; i < most; i++)
		sum += work(i);
	if (!strcmp(how, "fault"))
		raise(SIGSEGV);
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	if (!strcmp(how, "interrupt"))
		/* The parent command also receives the signal, as on a terminal. */
		kill(0, SIGINT);
	if (!strcmp(how, "hangup"))
		/* The parent command also receives the signal, as on a terminal. */
		kill(0, SIGHUP);
	if (!strcmp(how, "at once"))
		_exit(3);
	/*
	 * Exit with a status that a shell uses for a program that cannot be run or that a signal
	 * has ended.
	 */
	if (!strcmp(how, "unlike"))
		_exit(argc > 3 ? atoi(argv[3]) : 125);
	/* A child created without the library's knowledge keeps the library's descriptors open. */
	if (!strcmp(how, "copy")) {
		if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0))
			_exit(5);
		outlive(command);
		_exit(0);
	}
	if (!strcmp(how, "background")) {
		if (daemon(1, 1))
			err(1, "daemon");
		outlive(command);
	}
	return sum < 0 ? 1 : 4;
}
