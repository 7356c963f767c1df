// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See launch.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../command.h"
#include "launch.h"
#include "proc.h"

/* Maximum number of children that the command can have before it runs the program. */
#define EARLIER_MAX	256

/* The command's children before the program is run: those of a shell that executed the command. */
static pid_t earlier[EARLIER_MAX];
static size_t earlier_count;

/* Process id of the running program, or 0, for the signal handlers. */
static volatile sig_atomic_t running;

/* Set by a signal that ends the wait for the program's children. */
static volatile sig_atomic_t interrupted;

/* Set by a signal that the program also receives, and may handle. */
static volatile sig_atomic_t offered;

/* Handler for signals that end the command and are passed on to the program. */
static void pass_on(int number)
{
	if (running)
		kill(running, number);
	interrupted = 1;
}

/* Handler for signals that the terminal also sends to the program. */
static void note(int number)
{
	(void)number;
	if (running)
		offered = 1;
	else
		interrupted = 1;
}

/* Handler for SIGCHLD, which only has to interrupt the wait. */
static void wake(int number)
{
	(void)number;
}

/*
 * The signals whose handling changes, and their handlers. SIGPIPE and SIGXFSZ are ignored, so that
 * the command can finish writing even if a message goes to a closed pipe, or a file reaches its
 * size limit.
 */
static const struct {
	int	number;
	void	(*handler)(int);
} signals[] = {
	{ SIGINT,  note },
	{ SIGQUIT, note },
	{ SIGTERM, pass_on },
	{ SIGHUP,  pass_on },
	{ SIGCHLD, wake },
	{ SIGPIPE, SIG_IGN },
	{ SIGXFSZ, SIG_IGN },
};

#define SIGNALS		(sizeof(signals) / sizeof(signals[0]))

/* The previous handlers and signal mask, valid while @taken is set. */
static struct {
	struct sigaction	action[SIGNALS];
	sigset_t		mask;
	bool			taken;
} before;

void launch_begin(void)
{
	sigset_t handled;
	size_t i;

	if (before.taken)
		return;
	sigemptyset(&handled);
	for (i = 0; i < SIGNALS; i++) {
		struct sigaction action = { .sa_handler = signals[i].handler };

		sigaction(signals[i].number, NULL, &before.action[i]);
		/*
		 * Keep ignoring a signal that the command ignores, so that the program also ignores
		 * the signal.
		 */
		if (before.action[i].sa_handler == SIG_IGN &&
		    signals[i].handler != wake)
			continue;
		sigaction(signals[i].number, &action, NULL);
		sigaddset(&handled, signals[i].number);
	}
	sigprocmask(SIG_BLOCK, &handled, &before.mask);
	before.taken = true;
}

/* Handle the signals that have arrived; return whether one of them ends the command. */
static bool is_interrupted(void)
{
	sigset_t blocked;

	sigprocmask(SIG_SETMASK, &before.mask, &blocked);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	return offered || interrupted;
}

static void return_signals(void)
{
	size_t i;

	for (i = 0; i < SIGNALS; i++)
		sigaction(signals[i].number, &before.action[i], NULL);
	before.taken = false;
}

/*
 * Execute the program. A successful exec() closes the pipe @failed, so data in the pipe means that
 * the program did not run.
 */
static void run(const struct launch *launch, int failed)
{
	int status = EXIT_RECORD;

	if (!launch->before || !launch->before(launch->argument)) {
		execv(launch->path, launch->argv);
		report("%s: %s", launch->path, strerror(errno));
		status = EXIT_CANNOT_RUN;
	}
	if (write(failed, "", 1) < 0)
		report("pipe: %s", strerror(errno));
	_exit(status);
}

static int exit_status(int status, int *number)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	*number = WTERMSIG(status);
	return EXIT_SIGNAL + *number;
}

static bool is_child(pid_t pid)
{
	char parent[16];

	return proc_status(pid, "PPid", parent, sizeof(parent)) && atoi(parent) == getpid();
}

static int add_earlier(void *unused, pid_t pid)
{
	(void)unused;
	if (earlier_count < EARLIER_MAX && is_child(pid))
		earlier[earlier_count++] = pid;
	return 0;
}

static int is_later(void *unused, pid_t pid)
{
	size_t i;

	(void)unused;
	for (i = 0; i < earlier_count; i++)
		if (earlier[i] == pid)
			return 0;
	return is_child(pid);
}

static void forget_earlier(pid_t pid)
{
	size_t i;

	for (i = 0; i < earlier_count; i++)
		if (earlier[i] == pid)
			earlier[i--] = earlier[--earlier_count];
}

/* Return whether the command has children that are not in earlier[]. */
static bool has_later(void)
{
	return !waitid(P_ALL, 0, NULL, WEXITED | WNOHANG | WNOWAIT) &&
	       (!earlier_count || proc_each(proc_dir(), is_later, NULL));
}

static void wait_once(const struct launch *launch, const sigset_t *mask)
{
	if (launch->meanwhile)
		launch->meanwhile(launch->argument, mask);
	else
		sigsuspend(mask);
}

static int wait_for(const struct launch *launch, pid_t pid, int *number)
{
	sigset_t mask = before.mask;
	int status, result = EXIT_RECORD;
	bool ended = false;
	pid_t got;

	sigdelset(&mask, SIGCHLD);
	while (!ended || (launch->children && !interrupted)) {
		got = waitpid(launch->children ? -1 : pid, &status, WNOHANG);
		if (got < 0 || (!got && ended && !has_later()))
			break;
		if (!got)
			wait_once(launch, &mask);
		forget_earlier(got);
		if (got != pid)
			continue;
		result = exit_status(status, number);
		ended = true;
		running = 0;
		/* If ^C has ended the program, do not wait for the program's children. */
		if (offered && WIFSIGNALED(status))
			interrupted = 1;
		if (launch->children && !interrupted && has_later())
			launch->left(launch->argument);
	}
	if (!ended)
		report("cannot wait for the program: %s", strerror(errno));
	return result;
}

int launch_run(const struct launch *launch, struct launched *launched)
{
	int status = EXIT_RECORD, ends[2];
	char failed;

	*launched = (struct launched){ .pid = -1 };
	running = 0;
	interrupted = 0;
	offered = 0;
	launch_begin();
	if (is_interrupted()) {
		launched->interrupted = true;
		report("interrupted: the program was not run");
		return status;
	}
	if (pipe2(ends, O_CLOEXEC)) {
		report("cannot create a process: %s", strerror(errno));
		return status;
	}
	earlier_count = 0;
	if (launch->children) {
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		if (has_later())
			proc_each(proc_dir(), add_earlier, NULL);
	}
	launched->pid = fork();
	if (!launched->pid) {
		return_signals();
		sigprocmask(SIG_SETMASK, &before.mask, NULL);
		run(launch, ends[1]);
	}
	close(ends[1]);
	if (launched->pid < 0) {
		report("cannot create a process: %s", strerror(errno));
	} else {
		running = launched->pid;
		status = wait_for(launch, launched->pid, &launched->signal);
		running = 0;
		launched->ran = !read(ends[0], &failed, 1);
	}
	close(ends[0]);
	/* Do not forward pending signals, because the program has ended. */
	launched->interrupted = is_interrupted();
	return status;
}

void launch_end(void)
{
	if (!before.taken)
		return;
	/*
	 * Unblock signals that arrived after the program's end. The signal handlers have no effect,
	 * because no program is running.
	 */
	sigprocmask(SIG_SETMASK, &before.mask, NULL);
	return_signals();
}
