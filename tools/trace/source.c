// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Reads a trace in chunks: see source.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "progress.h"
#include "source.h"

/*
 * Times in ms. A pipe counts as paused once it has been empty for PAUSE, or once the first byte of
 * a chunk has waited for WAIT (WAIT_FIRST for the trace's first chunk).
 */
#define PAUSE		30
#define WAIT_FIRST	70
#define WAIT		1000

int source_open(const char *path)
{
	const int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;

	if (fd < 0)
		report("%s: cannot open: %s", path, strerror(errno));
	return fd;
}

void source_take(struct source *source, int fd, const char *path, struct follow *follow)
{
	struct stat status;

	source->path = path;
	source->buffer = source->memory + SOURCE_HISTORY;
	source->fd = fd;
	if (fstat(fd, &status))
		return;
	source->file = S_ISREG(status.st_mode);
	source->live = S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode);
	if (!source->file || !follow || follow->state != FOLLOW_RUNS)
		return;
	/* It is read like a pipe. */
	source->follow = follow;
	source->file = false;
	source->live = true;
}

static int cannot_read(const struct source *source)
{
	report("%s: cannot read: %s", source->path, strerror(errno));
	return -1;
}

/*
 * Wait for more bytes. Return whether the pipe has paused; the chunk's first byte arrived at
 * @since.
 */
static bool pauses(const struct source *source, int64_t since)
{
	struct pollfd wait = { .fd = source->fd, .events = POLLIN };
	int64_t most = source->bytes ? WAIT : WAIT_FIRST;

	most -= progress_clock() - since;
	return most <= 0 || !poll(&wait, 1, most < PAUSE ? (int)most : PAUSE);
}

/*
 * Handle the end of a followed file: after @got new bytes, it pauses. Otherwise, wait, and return
 * whether to read on.
 */
static bool reads_on(struct source *source, size_t got)
{
	if (source->follow->state != FOLLOW_RUNS)
		return false;
	source->paused = got;
	if (!got)
		follow_wait(source->follow, source->fd);
	return !got;
}

int source_fill_up(struct source *source)
{
	size_t before = source->filled;
	int64_t since = 0;
	ssize_t count;

	source->paused = false;
	while (source->filled < SOURCE_CHUNK) {
		/* Wait for the first byte without a time limit. */
		source->paused = source->live && !source->follow && source->filled > before &&
				 pauses(source, since);
		if (source->paused || (source->follow && follow_stops(source->follow)))
			break;
		count = read(source->fd, source->buffer + source->filled,
			     SOURCE_CHUNK - source->filled);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return cannot_read(source);
		if (!count && source->follow && reads_on(source, source->filled - before))
			continue;
		if (!count)
			break;
		if (source->live && source->filled == before)
			since = progress_clock();
		source->filled += (size_t)count;
	}
	source->bytes += source->filled - before;
	return 0;
}

int source_fill(struct source *source)
{
	memmove(source->memory, source->memory + source->filled, SOURCE_HISTORY);
	source->filled = 0;
	return source_fill_up(source);
}

int source_rewind(struct source *source, off_t start)
{
	source->bytes = 0;
	return lseek(source->fd, start, SEEK_SET) < 0 ? cannot_read(source) : 0;
}

void source_close(struct source *source)
{
	if (source->fd != STDIN_FILENO)
		close(source->fd);
}
