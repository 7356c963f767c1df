// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Performs actions that can make a preloaded library fail:
 *
 *	adverse work		makes calls
 *	adverse unload OBJECT	unloads an object in a cancelled thread, then in another thread
 *	adverse loader		forks while another thread holds a lock of the loader
 *	adverse title		overwrites its arguments and environment, then forks
 *	adverse error FILE	opens FILE as descriptor 2, and writes "data"
 *	adverse pipe		executes itself; standard error is then a pipe that has no readers
 *	adverse wait FILE	executes itself when FILE exists
 *
 * Forked children, and "work", which pipe and wait also execute, make CALLS calls to leaf().
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS	1000

/* Seconds after which a hung process is killed. */
#define LONG	120

static volatile unsigned int sum;
static volatile pid_t child;
static pthread_barrier_t steps;

static void leaf(unsigned int i)
{
	sum += i;
}

static void work(void)
{
	unsigned int i;

	for (i = 0; i < CALLS; i++)
		leaf(i);
}

static void hangs(int unused)
{
	(void)unused;
	if (child)
		kill(child, SIGKILL);
	_exit(write(STDERR_FILENO, "no end\n", 7) > 0);
}

static int wait_for_child(void)
{
	int status;

	return waitpid(child, &status, 0) < 0 || status;
}

static void *unload_cancelled(void *path)
{
	void *object = dlopen(path, RTLD_NOW);

	pthread_cancel(pthread_self());
	dlclose(object);
	pthread_testcancel();
	return NULL;
}

static int unload(char *path)
{
	pthread_t thread;
	void *result;

	if (pthread_create(&thread, NULL, unload_cancelled, path) ||
	    pthread_join(thread, &result) || result != PTHREAD_CANCELED)
		return 1;
	return dlclose(dlopen(path, RTLD_NOW));
}

static int stay(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)info;
	(void)size;
	(void)unused;
	pthread_barrier_wait(&steps);
	pthread_barrier_wait(&steps);
	return 1;
}

static void *hold_lock(void *unused)
{
	dl_iterate_phdr(stay, NULL);
	return unused;
}

static int fork_worker(void)
{
	child = fork();
	if (!child) {
		work();
		_exit(0);
	}
	return wait_for_child();
}

static int loader(void)
{
	pthread_t thread;
	int failed;

	pthread_barrier_init(&steps, NULL, 2);
	if (pthread_create(&thread, NULL, hold_lock, NULL))
		return 1;
	pthread_barrier_wait(&steps);
	failed = fork_worker();
	pthread_barrier_wait(&steps);
	return pthread_join(thread, NULL) || failed;
}

/* Move the environment to make room for a title, as setproctitle() does in many servers. */
static int title(char **argv)
{
	char *begin = argv[0], *end = begin;
	char **variable;
	int i;

	for (i = 0; argv[i]; i++)
		end = argv[i] + strlen(argv[i]);
	for (variable = environ; *variable; variable++) {
		end = *variable + strlen(*variable);
		*variable = strdup(*variable);
	}
	memset(begin, 'x', (size_t)(end - begin));
	return fork_worker();
}

static int error(const char *path)
{
	close(STDERR_FILENO);
	return open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644) != STDERR_FILENO ||
	       write(STDERR_FILENO, "data\n", 5) != 5;
}

static int execute(char *program)
{
	execl(program, program, "work", NULL);
	return 1;
}

static int break_pipe(char *program)
{
	int end[2];

	if (pipe(end) || dup2(end[1], STDERR_FILENO) < 0)
		return 1;
	close(end[0]);
	setenv("SIFIVE_TRACE_RECORD", "1", 1);
	return execute(program);
}

static int wait_to_execute(char *program, const char *path)
{
	while (access(path, F_OK))
		usleep(1000);
	child = fork();
	if (!child)
		_exit(execute(program));
	return wait_for_child();
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	signal(SIGALRM, hangs);
	alarm(LONG);
	if (!strcmp(way, "work"))
		work();
	else if (!strcmp(way, "unload") && argc > 2)
		return unload(argv[2]);
	else if (!strcmp(way, "loader"))
		return loader();
	else if (!strcmp(way, "title"))
		return title(argv);
	else if (!strcmp(way, "error") && argc > 2)
		return error(argv[2]);
	else if (!strcmp(way, "pipe"))
		return break_pipe(argv[0]);
	else if (!strcmp(way, "wait") && argc > 2)
		return wait_to_execute(argv[0], argv[2]);
	else
		return 2;
	return 0;
}
