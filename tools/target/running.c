// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See running.h. */
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../command.h"
#include "proc.h"
#include "running.h"

/* Name of the file that lists the processes of a control group. */
#define PROCS	"cgroup.procs"

/* Add a process to the list; return 0 or ENOMEM. */
static int add(struct running *running, pid_t pid)
{
	pid_t *more = reallocarray(running->pid, running->count + 1, sizeof(*more));

	if (!more)
		return ENOMEM;
	running->pid = more;
	more[running->count++] = pid;
	return 0;
}

static int by_number(const void *left, const void *right)
{
	const pid_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/*
 * Sort the list and remove duplicates: a process that moves between groups during the walk may be
 * found in both groups.
 */
static void sort(struct running *running)
{
	size_t i, kept = 0;

	if (!running->count)
		return;
	qsort(running->pid, running->count, sizeof(*running->pid), by_number);
	for (i = 1; i < running->count; i++)
		if (running->pid[i] != running->pid[kept])
			running->pid[++kept] = running->pid[i];
	running->count = kept + 1;
}

int running_named(struct running *running, const char *list)
{
	const char *at = list;
	char *end;
	long pid;

	*running = (struct running){ .pid = NULL };
	do {
		errno = 0;
		pid = strtol(at, &end, 10);
		if (end == at || errno || pid < 1 || pid > INT_MAX || (*end && *end != ','))
			return -1;
		if (add(running, (pid_t)pid)) {
			report("out of memory");
			return -1;
		}
		at = end + 1;
	} while (*end);
	sort(running);
	return 0;
}

/* Find the effective user of a process; return false if the process has ended. */
static bool user_of(pid_t pid, uid_t *user)
{
	char text[64];

	return proc_status(pid, "Uid", text, sizeof(text)) && sscanf(text, "%*u %u", user) == 1;
}

/* Find the user id of @user, which is a name or a number. */
static int find_user(const char *user, uid_t *number)
{
	const struct passwd *entry = getpwnam(user);
	unsigned long value;
	char *end;

	if (entry) {
		*number = entry->pw_uid;
		return 0;
	}
	errno = 0;
	value = strtoul(user, &end, 10);
	if (*user < '0' || *user > '9' || *end || errno || value >= UINT_MAX) {
		report("-u %s: there is no such user: give a name of /etc/passwd, or a number",
		       user);
		return -1;
	}
	*number = (uid_t)value;
	return 0;
}

/* Argument of add_of_user(). */
struct of_user {
	struct running	*running;
	uid_t		user;
};

static int add_of_user(void *argument, pid_t pid)
{
	const struct of_user *wanted = argument;
	uid_t user;

	return user_of(pid, &user) && user == wanted->user ? add(wanted->running, pid) : 0;
}

int running_of_user(struct running *running, const char *user)
{
	struct of_user wanted = { .running = running };
	int error;

	*running = (struct running){ .pid = NULL };
	if (find_user(user, &wanted.user))
		return -1;
	error = proc_each(proc_dir(), add_of_user, &wanted);
	if (error < 0)
		report("-u %s: /proc: %s", user, strerror(errno));
	else if (error)
		report("out of memory");
	sort(running);
	return error ? -1 : 0;
}

/* Find where cgroup2 is mounted; special characters are escaped as in /proc/mounts. */
static bool find_mount(char *path)
{
	FILE *mounts = fopen("/proc/self/mounts", "re");
	char line[PATH_MAX + 256], type[32];
	bool found = false;

	while (mounts && !found && fgets(line, sizeof(line), mounts))
		found = sscanf(line, "%*s %4095s %31s", path, type) == 2 &&
			!strcmp(type, "cgroup2");
	if (mounts)
		fclose(mounts);
	return found;
}

static bool has_procs(const char *dir)
{
	char path[PATH_MAX + sizeof(PROCS)];

	snprintf(path, sizeof(path), "%s/" PROCS, dir);
	return !access(path, F_OK);
}

/* Find a control group's directory and store its path in @path, which holds PATH_MAX bytes. */
static int find_group(const char *cgroup, char *path)
{
	char mount[PATH_MAX];

	if (*cgroup == '/' && strlen(cgroup) < PATH_MAX && has_procs(cgroup)) {
		strcpy(path, cgroup);
		return 0;
	}
	if (!find_mount(mount)) {
		report("-G %s: no cgroup2 file system is mounted: mount -t cgroup2 none /sys/fs/cgroup",
		       cgroup);
		return -1;
	}
	if (snprintf(path, PATH_MAX, "%s/%s", mount, cgroup) < PATH_MAX && has_procs(path))
		return 0;
	report("-G %s: there is no such control group in %s", cgroup, mount);
	return -1;
}

/* The list to fill. A global, because nftw() passes no argument to visit(). */
static struct running *found;

/*
 * Maximum number of attempts to read all groups. An attempt fails if a group is removed during the
 * attempt.
 */
#define WALKS	10

/* Add the processes that the file @path lists; return 0 or an errno. */
static int read_procs(const char *path)
{
	int pid, error = 0;
	FILE *procs;

	procs = fopen(path, "re");
	if (!procs)
		return errno;
	errno = 0;
	/* The list shows a process outside the command's pid namespace as 0. */
	while (!error && fscanf(procs, "%d", &pid) == 1)
		error = pid > 0 ? add(found, pid) : 0;
	if (!error && ferror(procs))
		error = errno;
	fclose(procs);
	/* A threaded group has no list of processes: an ancestor's list contains them. */
	return error == EOPNOTSUPP ? 0 : error;
}

static int visit(const char *path, const struct stat *file, int type, struct FTW *ftw)
{
	(void)file;
	if (type == FTW_DNR)
		return EACCES;
	if (type != FTW_F || strcmp(path + ftw->base, PROCS))
		return 0;
	return read_procs(path);
}

/* Add the processes of all groups in @path; return 0 or an errno, ENOENT if a group was removed. */
static int walk(const char *path)
{
	int error = nftw(path, visit, 16, FTW_PHYS);

	if (error < 0)
		error = errno;
	/* The list of a removed group cannot be read. */
	return error == ENODEV ? ENOENT : error;
}

int running_in_cgroup(struct running *running, const char *cgroup)
{
	char path[PATH_MAX];
	int error = ENOENT;
	unsigned int i;

	*running = (struct running){ .pid = NULL };
	if (find_group(cgroup, path))
		return -1;
	found = running;
	for (i = 0; i < WALKS && error == ENOENT; i++) {
		running->count = 0;
		error = walk(path);
	}
	sort(running);
	if (error == ENOENT && !has_procs(path))
		report("-G %s: the control group has been removed", cgroup);
	else if (error == ENOENT)
		report("-G %s: groups below it are removed too often to list their processes: name one of these groups", cgroup);
	else if (error)
		report("-G %s: %s: %s", cgroup, path, strerror(error));
	return error ? -1 : 0;
}
