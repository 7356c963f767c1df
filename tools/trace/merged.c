// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See merged.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "merge.h"
#include "merged.h"
#include "output.h"

static const char *temporary_dir(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/tmp";
}

/*
 * Create an unnamed file on a file system without O_TMPFILE. Only a SIGKILL between mkostemp() and
 * unlink() can leave the file behind, in which case it is empty.
 */
static int make_and_remove(const char *dir)
{
	char name[PATH_MAX];
	sigset_t all, before;
	int fd;

	if (snprintf(name, sizeof(name), "%s/sifive-trace.XXXXXX", dir) >= (int)sizeof(name)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return fd;
}

static int make_file(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	/* Kernels without O_TMPFILE return EISDIR. */
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR))
		fd = make_and_remove(dir);
	if (fd < 0)
		report("%s: cannot create a temporary file: %s; name another directory with TMPDIR",
		       dir, strerror(errno));
	return fd;
}

static int write_file(struct merge *merge, const char *dir, int fd)
{
	struct output *out = output_to(fd, dir);
	int rc;

	if (!out)
		return -1;
	rc = merge_write(merge, out);
	if (output_close(out)) {
		report("%s: traces are merged in a temporary file of about %" PRIu64 " MB; set TMPDIR to a directory with that much space, or use sifive-trace merge",
		       dir, (merge->size >> 20) + 1);
		return -1;
	}
	return rc || lseek(fd, 0, SEEK_SET) ? -1 : 0;
}

/*
 * Parse the merged side-car file under the name of the last trace's file, because names in it are
 * relative to that trace's directory.
 */
static int read_meta(struct merge *merge, struct meta *meta)
{
	const char *text = merge_meta(merge);
	char name[PATH_MAX + 8];

	if (!text)
		return -1;
	snprintf(name, sizeof(name), "%s.meta", merge->input[merge->inputs - 1]->path);
	return meta_parse(name, text, strlen(text), meta);
}

int merged_open(char **paths, unsigned int count, const char *name,
		const struct trace_options *options, struct meta *meta)
{
	struct merge merge = {
		.output = name, .quiet = options->quiet, .hidden = options->watched,
	};
	const char *dir = temporary_dir();
	int fd = -1, rc;

	meta_init(meta);
	rc = merge_open(&merge, paths, count);
	if (!rc) {
		fd = make_file(dir);
		rc = fd < 0 || write_file(&merge, dir, fd) || read_meta(&merge, meta);
	}
	if (!rc && !merge.quiet)
		merge_tell(&merge, NULL);
	merge_close(&merge);
	if (rc && fd >= 0)
		close(fd);
	return rc ? -1 : fd;
}
