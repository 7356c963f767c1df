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

#define FILE_NAME	"trace.rtd"

/* Path of the file that the user named, or "" if the command chose the name. */
static char named[PATH_MAX];

/* Set if only the user may read new files. */
static bool restricted;

/* Report how to read the traces of all @sinks sinks together. */
static void show_all(const char *path, unsigned int sinks)
{
	char first[PATH_MAX], last[PATH_MAX];

	perf_device_file(first, path, 0, sinks);
	perf_device_file(last, path, sinks - 1, sinks);
	report("one trace for each of %u sinks; to read them together: sifive-trace report %s%s %s", sinks,
	       first, sinks > 2 ? " ..." : "", last);
}

uint64_t files_show(const char *path, bool quiet)
{
	char name[PATH_MAX];
	struct stat status;
	uint64_t bytes = 0;
	unsigned int i, sinks = 0;

	/* Look for a single file first, then for the file of each sink. */
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

mode_t files_restrict(void)
{
	restricted = true;
	return umask(077);
}

static bool is_named(const char *path)
{
	return !strcmp(path, named);
}

/* Change the mode of an existing file, but not the mode of a device. */
static int restrict_file(int fd, const char *path)
{
	struct stat status;

	if (fstat(fd, &status) || !S_ISREG(status.st_mode) || !(status.st_mode & 077) ||
	    !fchmod(fd, 0600))
		return 0;
	report("%s: cannot keep others from reading it: name another file with -o", path);
	return -1;
}

int files_create(const char *path)
{
	struct stat status;
	int fd;

	if (!is_named(path)) {
		if (!lstat(path, &status) &&
		    (S_ISREG(status.st_mode) || S_ISLNK(status.st_mode)) && unlink(path))
			return -1;
		return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0 || !restricted || !restrict_file(fd, path))
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

struct output *files_open(const char *path)
{
	int fd = files_create(path);
	struct output *out;

	if (fd < 0) {
		report("%s: cannot write: %s", path, strerror(errno));
		return NULL;
	}
	out = output_to(fd, path);
	close(fd);
	return out;
}

bool files_remove_one(const char *path)
{
	char meta[PATH_MAX + 16];
	struct stat status;
	bool link = !lstat(path, &status) && S_ISLNK(status.st_mode);
	bool follow = link && is_named(path);

	if ((!link || follow) && !stat(path, &status) && !S_ISREG(status.st_mode))
		return false;
	snprintf(meta, sizeof(meta), "%s.meta", path);
	unlink(meta);
	/* Left behind by a recorder that was killed. */
	snprintf(meta, sizeof(meta), "%s.meta.new", path);
	unlink(meta);
	snprintf(meta, sizeof(meta), "%s.recording", path);
	unlink(meta);
	return follow ? !truncate(path, 0) : !unlink(path);
}

void files_remove_names(const char *path)
{
	char name[PATH_MAX + 16];

	snprintf(name, sizeof(name), "%s.kallsyms", path);
	unlink(name);
}

void files_remove(const char *path)
{
	char name[PATH_MAX];
	unsigned int i;

	files_remove_names(path);
	files_remove_one(path);
	for (i = 0; i < SIFIVE_TRACE_MAX_ENCODERS; i++) {
		perf_device_file(name, path, i, 2);
		if (!files_remove_one(name))
			return;
	}
}

/* Check that a file can be written, creating it if needed; return 0 or an errno. */
static int try_file(const char *path)
{
	struct stat status;
	bool made = lstat(path, &status);
	int fd, error = 0;

	/* Without O_NONBLOCK, opening a pipe would block until it has a reader. */
	fd = open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC |
		  (is_named(path) ? 0 : O_NOFOLLOW), 0666);
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

	snprintf(name, sizeof(name), "%s", path);
	if (!error && machine_side_car()) {
		snprintf(name, sizeof(name), "%s.meta", path);
		error = try_file(name);
		/* A side-car file that is a link will be replaced. */
		if (error == ELOOP)
			error = 0;
	}
	if (!error)
		return 0;
	report("%s: %s: the program was not run", name,
	       error == EINVAL ? "not a regular file" :
	       error == ENOENT ? "no such directory" : strerror(error));
	return -1;
}

int files_path(const char *given, char *path, size_t size)
{
	const char *wanted = given ? given : FILE_NAME;
	size_t length = strlen(wanted), stem = length;
	struct stat status;
	bool dir = length && wanted[length - 1] == '/';
	char here[PATH_MAX];
	int used;

	if (!length) {
		report("-o needs the name of a file or directory");
		return -1;
	}
	if (dir && mkdir(wanted, 0777) && errno != EEXIST) {
		report("%s: %s", wanted, strerror(errno));
		return -1;
	}
	if (!dir && !stat(wanted, &status))
		dir = S_ISDIR(status.st_mode);
	if (*wanted != '/' && !getcwd(here, sizeof(here))) {
		report("cannot read the current directory's name: %s: give -o an absolute path",
		       strerror(errno));
		return -1;
	}
	while (stem > 1 && wanted[stem - 1] == '/')
		stem--;
	used = snprintf(path, size, "%s%s%.*s%s", *wanted == '/' ? "" : here,
			*wanted == '/' ? "" : "/", (int)stem, wanted,
			dir ? "/" FILE_NAME : "");
	if (used > 0 && (size_t)used < size) {
		snprintf(named, sizeof(named), "%s", given && !dir ? path : "");
		return 0;
	}
	report("%s: the name is too long", wanted);
	return -1;
}
