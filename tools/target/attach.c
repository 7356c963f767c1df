// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See attach.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/sifive_trace.h>

#include "../command.h"
#include "attach.h"
#include "launch.h"
#include "proc.h"
#include "running.h"

/* Process id of the recording command. */
static pid_t recorder;

/* Maximum number of arguments in the trace's description; the remaining arguments are omitted. */
#define ARGUMENTS	64

static int open_file(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%d/%s", proc_dir(), (int)pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Read a file in a process's /proc directory as a string; return the string's size. */
static size_t read_file(pid_t pid, const char *name, char *text, size_t room)
{
	int fd = open_file(pid, name);
	ssize_t size = fd < 0 ? 0 : read(fd, text, room - 1);

	if (fd >= 0)
		close(fd);
	if (size < 0)
		size = 0;
	text[size] = '\0';
	return (size_t)size;
}

/*
 * Read the process's arguments, or its path if the process has overwritten the arguments.
 * Return 0, or -1 if out of memory.
 */
static int read_arguments(struct attached *process)
{
	char text[4096], *at;
	const size_t size = read_file(process->is.pid, "cmdline", text, sizeof(text));
	unsigned int count = 0;

	process->arguments = calloc(1, size + 1);
	process->is.argv = calloc(ARGUMENTS + 1, sizeof(*process->is.argv));
	if (!process->arguments || !process->is.argv)
		return -1;
	memcpy(process->arguments, text, size);
	process->is.argv[0] = process->is.exe;
	for (at = process->arguments; at < process->arguments + size && count < ARGUMENTS;
	     at += strlen(at) + 1)
		process->is.argv[count++] = at;
	return 0;
}

static void free_process(struct attached *process)
{
	free(process->is.exe);
	free(process->is.argv);
	free(process->arguments);
	objects_free(&process->objects);
	*process = (struct attached){ .is.pid = 0 };
}

/*
 * Read the description of a process. Return 0, or an errno: ENOENT for a kernel thread or a process
 * that has ended.
 */
static int look_at(struct attached *process, pid_t pid)
{
	char link[64], path[PATH_MAX];
	ssize_t length;
	int maps;

	*process = (struct attached){ .is.pid = pid };
	snprintf(link, sizeof(link), "%s/%d/exe", proc_dir(), (int)pid);
	length = readlink(link, path, sizeof(path) - 1);
	if (length < 0)
		return errno;
	path[length] = '\0';
	maps = open_file(pid, "maps");
	if (maps < 0)
		return errno;
	close(maps);
	process->is.exe = strdup(path);
	if (!process->is.exe || read_arguments(process))
		return ENOMEM;
	/*
	 * Read the start time last, so that earlier reads cannot be from another process with the
	 * same id.
	 */
	proc_stat(process->is.pid, &process->is.parent, &process->began);
	return 0;
}

/*
 * Return the process of a thread, or 0 if the thread has ended. Threads also have directories in
 * /proc.
 */
static pid_t process_of(pid_t thread)
{
	char text[32];

	return proc_status(thread, "Tgid", text, sizeof(text)) ? atoi(text) : 0;
}

/* Check that an id from the user belongs to a process other than this command. */
static bool is_other_process(pid_t pid)
{
	const pid_t process = process_of(pid);

	if (process && process != pid)
		report("-p %d: it is a thread of process %d: use -p %d", (int)pid, (int)process,
		       (int)process);
	else if (pid == recorder)
		report("-p %d is this command: name another process", (int)pid);
	else
		return true;
	return false;
}

/* Report that a process named by the user cannot be recorded. */
static int refuse(pid_t pid, int error)
{
	if (error == ENOENT && !kill(pid, 0))
		report("-p %d: it is a kernel thread, or has ended", (int)pid);
	else
		report("-p %d: %s", (int)pid, strerror(error == ENOENT ? ESRCH : error));
	return -1;
}

static const char *option_of(const struct attach *attach)
{
	return attach->pids ? "-p" : attach->user ? "-u" : "-G";
}

static const char *value_of(const struct attach *attach)
{
	return attach->pids ? attach->pids : attach->user ? attach->user : attach->cgroup;
}

static int find(const struct attach *attach, struct running *running)
{
	return attach->pids ? running_named(running, attach->pids) :
	       attach->user ? running_of_user(running, attach->user) :
			      running_in_cgroup(running, attach->cgroup);
}

/* Store in @attach the processes that can be recorded. */
static int look_at_all(struct attach *attach, const struct running *running)
{
	size_t i, forbidden = 0;
	int error;

	for (i = 0; i < running->count; i++) {
		struct attached *process = &attach->process[attach->count];

		if (attach->pids && !is_other_process(running->pid[i]))
			return -1;
		error = running->pid[i] == recorder ? ENOENT :
						      look_at(process, running->pid[i]);
		if (!error) {
			attach->id[attach->count++] = running->pid[i];
			continue;
		}
		free_process(process);
		if (error == ENOMEM) {
			report("out of memory");
			return -1;
		}
		if (attach->pids)
			return refuse(running->pid[i], error);
		forbidden += error == EACCES || error == EPERM;
	}
	if (forbidden)
		report("%s %s: %zu processes are not recorded: this user may not read their mappings",
		       option_of(attach), value_of(attach), forbidden);
	if (attach->count)
		return 0;
	report("%s %s: there is no process to record", option_of(attach), value_of(attach));
	return -1;
}

int attach_find(struct attach *attach)
{
	struct running running;
	int error = -1;

	recorder = getpid();
	if (find(attach, &running))
		goto out;
	attach->process = calloc(running.count + 1, sizeof(*attach->process));
	attach->id = calloc(running.count + 1, sizeof(*attach->id));
	if (!attach->process || !attach->id)
		report("out of memory");
	else
		error = look_at_all(attach, &running);
	if (!error && attach->count > SIFIVE_TRACE_MAX_PROCESSES) {
		report("%s %s: there are %zu such processes, but a recording can have at most %d: select fewer, or record everything that runs with -a",
		       option_of(attach), value_of(attach), attach->count,
		       SIFIVE_TRACE_MAX_PROCESSES);
		error = -1;
	}
out:
	free(running.pid);
	return error;
}

/* Return whether the process may run on CPUs other than @cpus. */
static bool may_leave(pid_t pid, const cpu_set_t *cpus)
{
	cpu_set_t its, both;

	if (sched_getaffinity(pid, sizeof(its), &its))
		return false;
	CPU_AND(&both, &its, cpus);
	return !CPU_EQUAL(&both, &its);
}

/*
 * Read a process again after START, because data read before START may describe another program or
 * another process. A process that has ended since START keeps its description.
 */
static void look_again(struct attached *process)
{
	const pid_t pid = process->is.pid;
	struct attached now;
	int error = look_at(&now, pid);

	if (error) {
		free_process(&now);
		if (error != ENOENT && error != ESRCH)
			report("process %d: %s: the program that it executes now is unknown; it was %s",
			       (int)pid, strerror(error), process->is.exe);
		return;
	}
	if (now.began != process->began)
		report("process %d has ended, and another process has its id: its records are not those of %s",
		       (int)pid, process->is.exe);
	free_process(process);
	*process = now;
}

void attach_started(struct attach *attach, const cpu_set_t *cpus)
{
	size_t i, kept = 0, leaving = 0;
	pid_t last = 0;

	for (i = 0; i < attach->count; i++) {
		struct attached *process = &attach->process[i];

		if (!attach->id[i]) {
			if (attach->pids)
				report("process %d has ended: it is not recorded",
				       (int)process->is.pid);
			free_process(process);
			continue;
		}
		look_again(process);
		if (may_leave(process->is.pid, cpus)) {
			last = process->is.pid;
			leaving++;
		}
		attach->process[kept++] = *process;
	}
	attach->count = kept;
	if (leaving == 1)
		report("process %d may run on CPUs that are not recorded: its activity there is lost",
		       (int)last);
	else if (leaving)
		report("%zu processes may run on CPUs that are not recorded: their activity there is lost",
		       leaving);
}

void attach_objects(struct attach *attach, const char *files)
{
	size_t i;

	for (i = 0; i < attach->count; i++) {
		attach->process[i].objects.files = files;
		objects_add(&attach->process[i].objects, attach->process[i].is.pid);
	}
}

static int by_pid(const void *key, const void *element)
{
	const struct attached *process = element;
	const pid_t *pid = key;

	return (*pid > process->is.pid) - (*pid < process->is.pid);
}

struct objects *attach_objects_of(struct attach *attach, pid_t pid)
{
	struct attached *process = bsearch(&pid, attach->process, attach->count,
					   sizeof(*attach->process), by_pid);

	return process ? &process->objects : NULL;
}

void attach_describe(struct attach *attach, struct tree *tree, bool newest)
{
	size_t i;

	/* The description from before START may contain processes that had ended by START. */
	tree_clear(tree);
	for (i = 0; i < attach->count; i++)
		tree_add(tree, &attach->process[i].is, &attach->process[i].objects, newest);
}

void attach_sum(const struct attach *attach, struct objects *sum)
{
	size_t i;

	for (i = 0; i < attach->count; i++) {
		sum->ambiguous += attach->process[i].objects.ambiguous;
		sum->left_out += attach->process[i].objects.left_out;
	}
}

/* Open a descriptor for each process, or store -1 for a process that has ended; return 0 or -1. */
static int open_processes(const struct attach *attach, struct pollfd *process)
{
	size_t i;

	for (i = 0; i < attach->count; i++) {
		const pid_t pid = attach->process[i].is.pid;
		const int fd = (int)syscall(SYS_pidfd_open, pid, 0);

		process[i] = (struct pollfd){ .fd = fd, .events = POLLIN };
		if (fd >= 0 || errno == ESRCH)
			continue;
		if (errno == EMFILE)
			report("cannot wait for %zu processes: too many open files: raise the limit (ulimit -Hn), or select fewer processes",
			       attach->count);
		else
			report("cannot wait for process %d: %s: also give a program to run: the recording ends when it exits",
			       (int)pid, strerror(errno));
		return -1;
	}
	return 0;
}

/* Raise the limit on descriptors, because each process may need a descriptor. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int attach_wait(const struct attach *attach, char **command)
{
	struct pollfd *process;
	size_t i;

	if (*command) {
		execvp(*command, command);
		report("%s: %s", *command, strerror(errno));
		return -1;
	}
	/*
	 * The child must end with the recorder, because the child's copy of the session descriptor
	 * keeps the session open.
	 */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != recorder) {
		report("the recording process has ended");
		return -1;
	}
	raise_limit();
	process = calloc(attach->count, sizeof(*process));
	if (!process) {
		report("out of memory");
		return -1;
	}
	/* Open the descriptors before waiting, because the id of an ended process may be reused. */
	if (open_processes(attach, process)) {
		free(process);
		return -1;
	}
	for (i = 0; i < attach->count; i++)
		while (process[i].fd >= 0 && poll(&process[i], 1, -1) < 0)
			;
	_exit(EXIT_SUCCESS);
}

void attach_free(struct attach *attach)
{
	size_t i;

	for (i = 0; i < attach->count; i++)
		free_process(&attach->process[i]);
	free(attach->process);
	free(attach->id);
	attach->process = NULL;
	attach->id = NULL;
	attach->count = 0;
}
