// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Finds and reads the side-car file of a trace: see meta.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "meta.h"

/* Read and parse a side-car file; @beside is clear if the user specified the file. */
static int read_file(const char *path, int fd, bool beside, struct meta *meta)
{
	struct stat status;
	ssize_t count;
	char *text;
	int error;

	if (fstat(fd, &status) || !S_ISREG(status.st_mode)) {
		report("%s: not a regular file (" META_ADVICE ")", path);
		return -1;
	}
	if (beside && !status.st_size) {
		report("%s: empty, as after a killed recording: the trace is read without it",
		       path);
		return 0;
	}
	if (status.st_size > META_BYTES_MAX)
		status.st_size = META_BYTES_MAX + 1;
	text = malloc((size_t)status.st_size + 1);
	if (!text) {
		report("%s: out of memory", path);
		return -1;
	}
	count = pread(fd, text, (size_t)status.st_size, 0);
	if (count < 0)
		report("%s: cannot read: %s", path, strerror(errno));
	error = count < 0 ? -1 : meta_parse(path, text, (size_t)count, meta);
	free(text);
	return error;
}

int meta_read(const char *path, const char *trace, struct meta *meta)
{
	char beside[PATH_MAX];
	int fd, error, length;

	meta_init(meta);
	if (path && !strcmp(path, "none"))
		return 0;
	if (!path) {
		length = snprintf(beside, sizeof(beside), "%s.meta", trace);
		if (!strcmp(trace, "-") || length >= (int)sizeof(beside))
			return 0;
		path = beside;
	}
	/* Opening a pipe must not block. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && path == beside && errno == ENOENT)
		return 0;
	if (fd < 0) {
		report("%s: cannot open: %s", path, strerror(errno));
		return -1;
	}
	error = read_file(path, fd, path == beside, meta);
	close(fd);
	return error;
}
