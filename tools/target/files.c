// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See files.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/session.h"

#include "../command.h"
#include "files.h"
#include "machine.h"

/* Commands read the traces of @sinks sinks together. */
static void show_all(const char *path, unsigned int sinks)
{
	char first[PATH_MAX], last[PATH_MAX];

	perf_device_file(first, path, 0, sinks);
	perf_device_file(last, path, sinks - 1, sinks);
	report("one trace for each of %u sinks; all together: sifive-trace report %s%s %s", sinks,
	       first, sinks > 2 ? " ..." : "", last);
}

uint64_t files_show(const char *path, bool quiet)
{
	char name[PATH_MAX];
	struct stat status;
	uint64_t bytes = 0;
	unsigned int i, sinks = 0;

	/* Calls a function for the file, or for the file of each sink. */
	for (i = 0; i <= SIFIVE_TRACE_MAX_ENCODERS; i++) {
		perf_device_file(name, path, i ? i - 1 : 0, i ? 2 : 1);
		if (stat(name, &status))
			continue;
		sinks += i && sinks == i - 1;
		bytes += (uint64_t)status.st_size;
		if (!quiet && status.st_size)
			report("%s: %" PRIu64 " bytes: sifive-trace report %s",
			       name, (uint64_t)status.st_size, name);
	}
	if (sinks > 1 && !quiet)
		show_all(path, sinks);
	return bytes;
}

/*
 * Removes a trace and its side-car file; returns false if there was none. If the user @named
 * the file, a link is followed and its target emptied: the new trace is written there.
 */
static bool remove_one(const char *path, bool named)
{
	char meta[PATH_MAX + 8];
	struct stat status;
	bool link = !lstat(path, &status) && S_ISLNK(status.st_mode);
	bool there = !stat(path, &status);

	if (there && !S_ISREG(status.st_mode))
		return false;
	snprintf(meta, sizeof(meta), "%s.meta", path);
	unlink(meta);
	if (link && named)
		return !truncate(path, 0);
	return there && !unlink(path);
}

void files_remove(const char *path)
{
	char name[PATH_MAX];
	unsigned int i;

	snprintf(name, sizeof(name), "%s.kallsyms", path);
	unlink(name);
	remove_one(path, true);
	for (i = 0; i < SIFIVE_TRACE_MAX_ENCODERS; i++) {
		perf_device_file(name, path, i, 2);
		if (!remove_one(name, false))
			return;
	}
}

/* Checks that a file can be written, creating it if needed; returns 0 or an errno. */
static int try_file(const char *path)
{
	struct stat status;
	bool made = lstat(path, &status);
	int fd, error = 0;

	/* Opening a pipe would block until it has a reader. */
	fd = open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0666);
	if (fd < 0)
		return errno;
	if (fstat(fd, &status) || !S_ISREG(status.st_mode))
		error = EINVAL;
	close(fd);
	if (made)
		unlink(path);
	return error;
}

int files_check(const char *path)
{
	char name[PATH_MAX + 8];
	int error = try_file(path);
	struct stat status;

	snprintf(name, sizeof(name), "%s", path);
	if (!error && machine_side_car()) {
		snprintf(name, sizeof(name), "%s.meta", path);
		/* A link itself is removed, not its target. */
		if (lstat(name, &status) || !S_ISLNK(status.st_mode))
			error = try_file(name);
	}
	if (!error)
		return 0;
	report("%s: %s: the program was not run", name,
	       error == EINVAL ? "not a regular file" :
	       error == ENOENT ? "no such folder" : strerror(error));
	return -1;
}

int files_path(const char *wanted, char *path, size_t size)
{
	size_t length = strlen(wanted), stem = length;
	struct stat status;
	bool folder = length && wanted[length - 1] == '/';
	char here[PATH_MAX];
	int used;

	if (!length) {
		report("-o takes the name of a file or folder");
		return -1;
	}
	if (folder && mkdir(wanted, 0777) && errno != EEXIST) {
		report("%s: %s", wanted, strerror(errno));
		return -1;
	}
	if (!folder && !stat(wanted, &status))
		folder = S_ISDIR(status.st_mode);
	if (!getcwd(here, sizeof(here))) {
		report("cannot read the current folder's name: %s", strerror(errno));
		return -1;
	}
	while (stem > 1 && wanted[stem - 1] == '/')
		stem--;
	used = snprintf(path, size, "%s%s%.*s%s", *wanted == '/' ? "" : here,
			*wanted == '/' ? "" : "/", (int)stem, wanted,
			folder ? "/trace.rtd" : "");
	if (used > 0 && (size_t)used < size)
		return 0;
	report("%s: the name is too long", wanted);
	return -1;
}
