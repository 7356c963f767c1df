// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See copy.h. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../command.h"
#include "../output.h"
#include "copy.h"

/* Copy a file to @out; return whether the whole file was read. */
static bool copy_bytes(FILE *file, struct output *out, const char *from)
{
	static char chunk[65536];
	size_t got;

	while ((got = fread(chunk, 1, sizeof(chunk), file)))
		put_bytes(out, chunk, got);
	if (ferror(file))
		report("%s: cannot read: %s", from, strerror(errno));
	return !ferror(file);
}

int copy_dir(const char *dir)
{
	struct stat status;

	if ((!mkdir(dir, 0777) || errno == EEXIST) && !lstat(dir, &status) &&
	    S_ISDIR(status.st_mode) && status.st_uid == geteuid())
		return 0;
	report("%s: cannot be created, or belongs to another user: no file is copied; remove it, or choose another name with -o",
	       dir);
	return -1;
}

void copy_parents(char *path)
{
	char *slash;

	for (slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0777);
		*slash = '/';
	}
}

int copy_file(const char *from, const char *to)
{
	FILE *file = fopen(from, "re");
	char partial[2 * PATH_MAX + 8];
	struct output *out;
	bool fine;

	if (!file) {
		report("%s: %s", from, strerror(errno));
		return -1;
	}
	snprintf(partial, sizeof(partial), "%s.part", to);
	out = output_open(partial);
	fine = out && copy_bytes(file, out, from);
	fclose(file);
	if (!out)
		return -1;
	fine = !output_close(out) && fine;
	if (fine && !rename(partial, to))
		return 0;
	if (fine)
		report("%s: %s", to, strerror(errno));
	unlink(partial);
	return -1;
}
