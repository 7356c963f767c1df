// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See perf_maps.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../command.h"
#include "copy.h"
#include "perf_maps.h"

/* Maximum size of a file, which is the reader's limit. */
#define BYTES_MAX	(64 << 20)

/* Number of objects for one process. */
#define OBJECTS_EACH	256

#define PAGE		4096ull

#define UNUSED		"%s: not used: %s: generated functions are shown as addresses"

struct span {
	uint64_t	start, end;
};

static int by_start(const void *left, const void *right)
{
	const struct span *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

/* Open the file, if it exists and a user may have written it for this process. */
static int open_map(const char *path, pid_t pid, struct stat *status)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat process;
	char proc[32];

	if (fd < 0 && errno != ENOENT)
		report(UNUSED, path, errno == ELOOP ? "a link" : strerror(errno));
	if (fd < 0)
		return -1;
	snprintf(proc, sizeof(proc), "/proc/%d", (int)pid);
	if (fstat(fd, status) || !S_ISREG(status->st_mode) || status->st_size > BYTES_MAX)
		report(UNUSED, path, "not a regular file of at most 64 MB");
	else if (status->st_uid && status->st_uid != geteuid() &&
		 (stat(proc, &process) || process.st_uid != status->st_uid))
		report(UNUSED, path, "it belongs to another user");
	else
		return fd;
	close(fd);
	return -1;
}

static char *read_map(int fd, size_t size, size_t *length)
{
	char *text = malloc(size + 1);
	ssize_t got = 1;

	*length = 0;
	while (text && *length < size && got > 0) {
		got = read(fd, text + *length, size - *length);
		*length += got > 0 ? (size_t)got : 0;
	}
	if (text)
		text[*length] = '\0';
	return text;
}

static int write_copy(const char *path, const char *text, size_t length)
{
	int fd, error;
	ssize_t put = 0;
	size_t done = 0;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	while (done < length && put >= 0) {
		put = write(fd, text + done, length - done);
		done += put > 0 ? (size_t)put : 0;
	}
	error = put < 0 ? errno : 0;
	close(fd);
	if (error)
		unlink(path);
	errno = error;
	return error ? -1 : 0;
}

/* Read the lines "START SIZE NAME". Return the functions' addresses, or NULL if out of memory. */
static struct span *read_spans(const char *text, size_t *count)
{
	struct span *span = NULL, *more;
	uint64_t start, size;
	size_t room = 0;

	*count = 0;
	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (sscanf(text, "%" SCNx64 " %" SCNx64, &start, &size) != 2 || !size ||
		    start + size < start || (start + size) >> 63)
			continue;
		if (*count == room) {
			room = room ? 2 * room : 1024;
			more = realloc(span, room * sizeof(*span));
			if (!more)
				break;
			span = more;
		}
		span[(*count)++] = (struct span){ start, start + size };
	}
	return span;
}

/* Join functions with at most @gap bytes between them; return the number of spans that remain. */
static size_t join(struct span *span, size_t count, uint64_t gap)
{
	size_t kept = 0, i;

	for (i = 0; i < count; i++) {
		if (kept && span[i].start <= span[kept - 1].end + gap) {
			if (span[kept - 1].end < span[i].end)
				span[kept - 1].end = span[i].end;
		} else {
			span[kept++] = span[i];
		}
	}
	return kept;
}

/*
 * Add an object for each group of functions. As long as less than a page is between them, no other
 * object can be there.
 */
static void add_objects(struct perf_maps *maps, const char *path, pid_t pid, const char *text)
{
	struct span *span;
	uint64_t gap;
	size_t count, i;

	span = read_spans(text, &count);
	if (count)
		qsort(span, count, sizeof(*span), by_start);
	for (gap = PAGE - 1; (count = join(span, count, gap)) > OBJECTS_EACH; )
		gap *= 2;
	objects_forget(maps->objects, path);
	for (i = 0; i < count; i++)
		objects_add_generated(maps->objects, path, pid, span[i].start, span[i].end);
	free(span);
}

/* Create the folder for copies, with the folder tmp. */
static int make_folder(struct perf_maps *maps)
{
	char inner[PATH_MAX + 32];

	snprintf(inner, sizeof(inner), "%s/tmp", maps->folder);
	if ((!maps->made && copy_folder(maps->folder)) || copy_folder(inner))
		return -1;
	maps->made = true;
	return 0;
}

void perf_maps_copy(struct perf_maps *maps, pid_t pid)
{
	char path[64], to[PATH_MAX + 64], *text;
	struct stat status;
	size_t length;
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
	fd = open_map(path, pid, &status);
	if (fd < 0)
		return;
	text = read_map(fd, (size_t)status.st_size, &length);
	close(fd);
	snprintf(to, sizeof(to), "%s%s", maps->folder, path);
	if (!text)
		report(UNUSED, path, "out of memory");
	else if (!make_folder(maps) && write_copy(to, text, length))
		report(UNUSED, to, strerror(errno));
	else if (maps->made)
		add_objects(maps, path, pid, text);
	free(text);
}
