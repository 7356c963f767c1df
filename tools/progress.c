// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Shows a progress line, which is redrawn in place: see progress.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"

/* Times in ms. No progress is shown in the first PATIENCE ms. */
#define PATIENCE	500
#define INTERVAL	200

struct progress {
	uint64_t	whole;		/* 0 if unknown */
	int64_t		next;
	int		shown;
};

int64_t progress_clock(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

struct progress *progress_new(int fd)
{
	struct stat status;

	return progress_of(!fstat(fd, &status) && S_ISREG(status.st_mode) ?
			   (uint64_t)status.st_size : 0);
}

struct progress *progress_of(uint64_t whole)
{
	struct progress *progress = isatty(STDERR_FILENO) ? calloc(1, sizeof(*progress)) : NULL;

	if (!progress)
		return NULL;
	progress->next = progress_clock() + PATIENCE;
	progress->whole = whole;
	return progress;
}

void progress_show(struct progress *progress, uint64_t bytes)
{
	int64_t time;

	if (!progress)
		return;
	time = progress_clock();
	if (time < progress->next)
		return;
	progress->next = time + INTERVAL;
	progress->shown = 1;
	if (progress->whole)
		fprintf(stderr, "\r%3" PRIu64 "%% of %" PRIu64 " MB ",
			100 * bytes / progress->whole, progress->whole >> 20);
	else
		fprintf(stderr, "\r%" PRIu64 " MB ", bytes >> 20);
}

void progress_end(struct progress *progress)
{
	if (progress && progress->shown)
		fputs("\r                        \r", stderr);
	free(progress);
}
