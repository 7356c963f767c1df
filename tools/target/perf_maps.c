// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See perf_maps.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../command.h"
#include "copy.h"
#include "perf_maps.h"
#include "proc.h"

/* Return the earliest time at which a process can have written a list. */
static time_t first_time(const struct perf_maps *maps, pid_t pid)
{
	struct timespec now, up;
	uint64_t began;
	pid_t parent;

	if (!proc_stat(pid, &parent, &began) || clock_gettime(CLOCK_REALTIME, &now) ||
	    clock_gettime(CLOCK_BOOTTIME, &up))
		return maps->began;
	/* The start time is at most one tick late, so subtracting one second is sufficient. */
	return now.tv_sec - up.tv_sec + (time_t)(began / (uint64_t)sysconf(_SC_CLK_TCK)) - 1;
}

/* Return the reason not to use the list, or NULL. */
static const char *objection(const struct perf_maps *maps, const struct stat *status, pid_t pid)
{
	struct stat process;
	char proc[32];

	if (!S_ISREG(status->st_mode))
		return "not a regular file";
	if (status->st_size > META_LIST_BYTES_MAX)
		return "over 64 MiB";
	if (maps->bytes + (uint64_t)status->st_size > META_LISTS_BYTES_MAX)
		return "the lists of this recording exceed 256 MiB in total";
	snprintf(proc, sizeof(proc), "%s/%d", proc_dir(), (int)pid);
	if (status->st_uid && status->st_uid != geteuid() &&
	    (stat(proc, &process) || process.st_uid != status->st_uid))
		return "it does not belong to the process's user, or that process has ended";
	return NULL;
}

/* Copy at most @size bytes. Once complete, the copy replaces any earlier copy. */
static int copy_bytes(int from, const char *to, size_t size)
{
	char buffer[64 << 10], path[PATH_MAX + 80];
	ssize_t count = 1;
	bool failed;
	FILE *file;
	int fd;

	snprintf(path, sizeof(path), "%s.new", to);
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file)
		return -1;
	while (size && count > 0 && !ferror(file)) {
		count = read(from, buffer, size < sizeof(buffer) ? size : sizeof(buffer));
		if (count > 0) {
			fwrite(buffer, 1, (size_t)count, file);
			size -= (size_t)count;
		}
	}
	failed = count < 0 || ferror(file);
	if (fclose(file) || failed || rename(path, to)) {
		unlink(path);
		return -1;
	}
	return 0;
}

/* Create the directory for copies, and in it the directory tmp. */
static int make_dir(struct perf_maps *maps)
{
	char inner[PATH_MAX + 32];

	snprintf(inner, sizeof(inner), "%s/tmp", maps->dir);
	if ((!maps->made && copy_dir(maps->dir)) || copy_dir(inner))
		return -1;
	maps->made = true;
	return 0;
}

static void copy(struct perf_maps *maps, const char *path, int fd, const struct stat *status,
		 pid_t pid)
{
	char to[PATH_MAX + 64];

	snprintf(to, sizeof(to), "%s%s", maps->dir, path);
	if (make_dir(maps))
		return;
	if (copy_bytes(fd, to, (size_t)status->st_size)) {
		report(META_LIST_UNUSED, to, strerror(errno));
		return;
	}
	maps->bytes += (uint64_t)status->st_size;
	maps->pid[maps->count++] = pid;
}

static void name_list(char *path, size_t size, pid_t pid)
{
	snprintf(path, size, "/tmp/perf-%d.map", (int)pid);
}

void perf_maps_copy(struct perf_maps *maps, pid_t pid)
{
	struct stat status;
	const char *why;
	char path[64];
	size_t i;
	int fd;

	for (i = 0; i < maps->count; i++)
		if (maps->pid[i] == pid)
			return;
	if (maps->count == META_PROCESSES_MAX)
		return;
	name_list(path, sizeof(path), pid);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno != ENOENT)
		report(META_LIST_UNUSED, path, errno == ELOOP ? "a link" : strerror(errno));
	if (fd < 0)
		return;
	if (fstat(fd, &status)) {
		report(META_LIST_UNUSED, path, strerror(errno));
	} else if (status.st_mtime >= first_time(maps, pid)) {
		why = objection(maps, &status, pid);
		if (why)
			report(META_LIST_UNUSED, path, why);
		else
			copy(maps, path, fd, &status, pid);
	}
	close(fd);
}

void perf_maps_write(const struct perf_maps *maps, struct output *output)
{
	char path[64];
	size_t i;

	for (i = 0; i < maps->count; i++) {
		name_list(path, sizeof(path), maps->pid[i]);
		put_string(output, i ? "," : "\"generated\":[");
		put_json(output, path);
	}
	if (maps->count)
		put_string(output, "],\n");
}
