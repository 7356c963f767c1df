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

/* The first four bytes of a dump, in either byte order. */
#define MAGIC		"DTiJ"
#define SWAPPED		"JiTD"

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

/* Return the reason not to use a list or dump, or NULL. */
static const char *objection(const struct perf_maps *maps, const struct stat *status, pid_t pid,
			     bool dump)
{
	struct stat process;
	char proc[32];

	if (!S_ISREG(status->st_mode))
		return "not a regular file";
	if (!dump && status->st_size > META_LIST_BYTES_MAX)
		return "over 64 MiB";
	if (maps->bytes + (uint64_t)status->st_size > META_LISTS_BYTES_MAX)
		return "the lists and dumps of this recording exceed 256 MiB in total";
	snprintf(proc, sizeof(proc), "%s/%d", proc_dir(), (int)pid);
	if (status->st_uid && status->st_uid != geteuid() &&
	    (stat(proc, &process) || process.st_uid != status->st_uid))
		return "it does not belong to the process's user, or that process has ended";
	return NULL;
}

/* Copy at most @size bytes. Once complete, the copy replaces any earlier copy. */
static int copy_bytes(int from, const char *to, size_t size)
{
	char buffer[64 << 10], path[2 * PATH_MAX + 8];
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

/* Return whether the file has been copied. */
static bool copy(struct perf_maps *maps, const char *path, int fd, const struct stat *status)
{
	char to[2 * PATH_MAX];

	if (!maps->made && copy_dir(maps->dir))
		return false;
	maps->made = true;
	snprintf(to, sizeof(to), "%s%s", maps->dir, path);
	copy_parents(to);
	if (copy_bytes(fd, to, (size_t)status->st_size)) {
		report(META_LIST_UNUSED, to, strerror(errno));
		return false;
	}
	maps->bytes += (uint64_t)status->st_size;
	return true;
}

static void name_list(char *path, size_t size, pid_t pid)
{
	snprintf(path, size, "/tmp/perf-%d.map", (int)pid);
}

/* Return whether a file begins like a dump. */
static bool is_dump(int fd)
{
	char magic[4];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       (!memcmp(magic, MAGIC, sizeof(magic)) || !memcmp(magic, SWAPPED, sizeof(magic)));
}

/* Copy a file of a process, if it exists and is not too old. Return whether it has been copied. */
static bool copy_path(struct perf_maps *maps, const char *path, pid_t pid, bool dump)
{
	const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const char *why = NULL;
	struct stat status;
	bool copied = false;

	if (fd < 0 && errno != ENOENT)
		report(META_LIST_UNUSED, path, errno == ELOOP ? "a link" : strerror(errno));
	if (fd < 0)
		return false;
	if (fstat(fd, &status)) {
		why = strerror(errno);
	} else if (dump || status.st_mtime >= first_time(maps, pid)) {
		why = objection(maps, &status, pid, dump);
		if (!why && dump && !is_dump(fd))
			why = "not a jitdump file";
		copied = !why && copy(maps, path, fd, &status);
	}
	if (why)
		report(META_LIST_UNUSED, path, why);
	close(fd);
	return copied;
}

static void copy_list(struct perf_maps *maps, pid_t pid)
{
	char path[64];
	size_t i;

	for (i = 0; i < maps->count; i++)
		if (maps->pid[i] == pid)
			return;
	name_list(path, sizeof(path), pid);
	if (maps->count < META_PROCESSES_MAX && copy_path(maps, path, pid, false))
		maps->pid[maps->count++] = pid;
}

void perf_maps_begin(struct perf_maps *maps, const char *dir)
{
	size_t i;

	maps->dir = dir;
	maps->count = 0;
	maps->bytes = 0;
	for (i = 0; i < maps->dumps.count; i++)
		maps->dumps.dump[i].copied = false;
}

void perf_maps_copy(struct perf_maps *maps, pid_t pid)
{
	size_t i;

	copy_list(maps, pid);
	for (i = 0; i < maps->dumps.count; i++) {
		struct jit_dump *dump = &maps->dumps.dump[i];

		if (dump->pid == pid && !dump->copied)
			dump->copied = copy_path(maps, dump->path, pid, true);
	}
}

void perf_maps_write(const struct perf_maps *maps, struct output *output)
{
	size_t written = 0, i;
	char path[64];

	for (i = 0; i < maps->count; i++) {
		name_list(path, sizeof(path), maps->pid[i]);
		put_string(output, written++ ? "," : "\"generated\":[");
		put_json(output, path);
	}
	for (i = 0; i < maps->dumps.count; i++) {
		if (!maps->dumps.dump[i].copied)
			continue;
		put_string(output, written++ ? "," : "\"generated\":[");
		put_json(output, maps->dumps.dump[i].path);
	}
	if (written)
		put_string(output, "],\n");
}
