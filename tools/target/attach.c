// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See attach.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../command.h"
#include "attach.h"

/* The process that records. */
static pid_t recorder;

/* Further arguments are omitted from the trace's description. */
#define ARGUMENTS	64

static int open_file(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* The process's arguments, or its path if it has overwritten all of them. */
static char **read_arguments(pid_t pid, char *path)
{
	static char text[4096], *argv[ARGUMENTS + 1];
	int fd = open_file(pid, "cmdline");
	ssize_t size = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	unsigned int count = 0;
	char *at = text;

	if (fd >= 0)
		close(fd);
	argv[0] = path;
	while (at < text + size && count < ARGUMENTS) {
		argv[count++] = at;
		at += strlen(at) + 1;
	}
	return argv;
}

int attach_find(struct recording *r)
{
	char link[64];
	ssize_t length;
	int maps;

	recorder = getpid();
	if (r->pid == recorder) {
		report("-p %d is this command: name another process", r->pid);
		return -1;
	}
	snprintf(link, sizeof(link), "/proc/%d/exe", r->pid);
	length = readlink(link, r->program.path, sizeof(r->program.path) - 1);
	if (length < 0 && errno == ENOENT && !kill(r->pid, 0)) {
		report("-p %d: it is a kernel thread, or has ended", r->pid);
		return -1;
	}
	maps = length < 0 ? -1 : open_file(r->pid, "maps");
	if (maps < 0) {
		report("-p %d: %s", r->pid,
		       errno == ENOENT ? "there is no such process" : strerror(errno));
		return -1;
	}
	close(maps);
	r->program.path[length] = '\0';
	r->argv = read_arguments(r->pid, r->program.path);
	return 0;
}

void attach_check(const struct recording *r)
{
	cpu_set_t cpus;
	uint32_t i;

	if (sched_getaffinity(r->pid, sizeof(cpus), &cpus))
		return;
	for (i = 0; i < r->device.count; i++)
		CPU_CLR((size_t)r->device.encoder[i].cpu, &cpus);
	if (CPU_COUNT(&cpus))
		report("process %d may run on CPUs that are not recorded: its activity there is lost",
		       r->pid);
}

int attach_wait(const struct recording *r)
{
	struct pollfd process = { .events = POLLIN };

	if (*r->command) {
		execvp(*r->command, r->command);
		report("%s: %s", *r->command, strerror(errno));
		return -1;
	}
	/* This process holds the session's descriptor: the device is not free until it ends too. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != recorder)
		_exit(EXIT_RECORD);
	process.fd = (int)syscall(SYS_pidfd_open, r->pid, 0);
	/* The process may have ended since. */
	if (process.fd < 0 && errno != ESRCH) {
		report("cannot wait for process %d: %s", r->pid, strerror(errno));
		return -1;
	}
	while (process.fd >= 0 && poll(&process, 1, -1) < 0)
		;
	_exit(EXIT_SUCCESS);
}
