// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Creates processes in many ways. Each process calls leaf() ten times, or CALLS times, then ends in
 * one of several ways. Prints "made N", the total number of calls. "stops" forks while the parent
 * process, which is the recorder, is stopped.
 *
 *	tree WAY [NUMBER] [CALLS]
 *
 * "instead" executes the program again in the same process. "limit" cannot write files at its end.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Number of children that exist at the same time. */
#define TOGETHER	8

static volatile unsigned int sum;
static unsigned int calls = 10;

static void leaf(unsigned int i)
{
	sum += i;
}

static void work(void)
{
	unsigned int i;

	for (i = 0; i < calls; i++)
		leaf(i);
}

/* Each child ends in a different way. */
static void end(unsigned int i)
{
	switch (i % 4) {
	case 0:
		exit(0);
	case 1:
		_exit(0);
	case 2:
		kill(getpid(), SIGKILL);
	}
	abort();
}

static void storm(unsigned int number)
{
	unsigned int i, alive = 0;

	for (i = 0; i < number; i++) {
		if (alive == TOGETHER) {
			wait(NULL);
			alive--;
		}
		if (!fork()) {
			work();
			end(i);
		}
		alive++;
	}
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

static void wait_for(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) < 0 || status)
		exit(1);
}

/* Run this program again, in a new process that makes calls. */
static void run_again(const char *way, char *program)
{
	char *const argv[] = { program, "work", NULL };
	char command[4096];
	pid_t child;

	if (!strcmp(way, "system")) {
		snprintf(command, sizeof(command), "%s work | cat", program);
		if (system(command))
			exit(1);
	} else if (!strcmp(way, "spawn")) {
		if (posix_spawn(&child, program, NULL, NULL, argv, environ))
			exit(1);
		wait_for(child);
	} else if (!strcmp(way, "vfork")) {
		child = vfork();
		if (!child) {
			execv(program, argv);
			_exit(1);
		}
		wait_for(child);
	} else {
		child = fork();
		if (!child) {
			work();
			execv(program, argv);
			_exit(1);
		}
		wait_for(child);
	}
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "work";
	unsigned int number = argc > 2 ? (unsigned int)atoi(argv[2]) : 0;
	pid_t child;

	if (argc > 3)
		calls = (unsigned int)atoi(argv[3]);
	work();
	if (!strcmp(way, "work")) {
		return 0;
	} else if (!strcmp(way, "fork")) {
		storm(number);
		printf("made %u\n", (number + 1) * calls);
	} else if (!strcmp(way, "stops")) {
		kill(getppid(), SIGSTOP);
		storm(number);
		kill(getppid(), SIGCONT);
		printf("made %u\n", (number + 1) * calls);
	} else if (!strcmp(way, "instead")) {
		execl(argv[0], argv[0], "work", NULL);
		return 1;
	} else if (!strcmp(way, "limit")) {
		return setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 0 });
	} else if (!strcmp(way, "daemon")) {
		if (daemon(1, 1))
			return 1;
		usleep(300000);
		work();
		printf("made %u\n", 2 * calls);
	} else if (!strcmp(way, "clone")) {
		/* Calls clone() directly, which does not run atfork handlers. */
		child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		if (!child) {
			work();
			_exit(0);
		}
		wait_for(child);
		printf("made %u\n", 2 * calls);
	} else {
		run_again(way, argv[0]);
		printf("made %u\n", (!strcmp(way, "exec") ? 3 : 2) * calls);
	}
	return 0;
}
