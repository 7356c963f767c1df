// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * sifive-trace merge: merges the traces of a recording's sinks into one trace with a side-car file.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "kernel.h"
#include "merge.h"
#include "output.h"

static int write_trace(struct merge *merge, const char *path)
{
	struct output *out = output_open(path);
	int rc;

	if (!out)
		return -1;
	rc = merge_write(merge, out);
	return output_close(out) || rc ? -1 : 0;
}

static int write_meta(struct merge *merge, const char *path)
{
	const char *text = merge_meta(merge);
	struct output *out = text ? output_open(path) : NULL;

	if (!out)
		return -1;
	put_string(out, text);
	put_string(out, "\n");
	return output_close(out);
}

/* Rename a complete file to its final name. */
static int put_in_place(const char *from, const char *to)
{
	if (!rename(from, to))
		return 0;
	report("%s: cannot write: %s", to, strerror(errno));
	return -1;
}

/*
 * Create a file in the directory of @path, and store its name in @name. Return 0, or -1 after an
 * error.
 */
static int make_file(char *name, size_t size, const char *path)
{
	const mode_t mask = umask(0);
	int fd;

	umask(mask);
	snprintf(name, size, "%s.XXXXXX", path);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0) {
		report("%s: cannot write: %s", path, strerror(errno));
		*name = '\0';
		return -1;
	}
	fchmod(fd, 0666 & ~mask);
	close(fd);
	return 0;
}

/* Copy the kernel's function names to a new file that only its owner may read. */
static int write_names(int from, const char *from_path, const char *path)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct output *out = fd < 0 ? NULL : output_to(fd, path);
	char chunk[65536];
	ssize_t got = 0;

	if (fd < 0)
		report("%s: cannot write: %s", path, strerror(errno));
	else
		close(fd);
	if (!out)
		return -1;
	while ((got = read(from, chunk, sizeof(chunk))) > 0)
		put_bytes(out, chunk, (size_t)got);
	if (got < 0)
		report("%s: %s", from_path, strerror(errno));
	return output_close(out) || got ? -1 : 0;
}

/*
 * Copy the kernel's function names from the first input that has them. An existing file of names
 * next to the output is replaced or removed, because it may be from another kernel.
 */
static int copy_names(char **paths, const char *output)
{
	char names[PATH_MAX + 16], own[PATH_MAX + 16];
	struct stat status, earlier;
	int fd = -1, rc = 0;

	for (; fd < 0 && *paths; paths++)
		fd = kernel_open_names(*paths, names, sizeof(names));
	snprintf(own, sizeof(own), "%s.kallsyms", output);
	if (fd >= 0 && (fstat(fd, &status) || !S_ISREG(status.st_mode))) {
		close(fd);
		fd = -1;
	}
	if (fd < 0 || stat(own, &earlier) || earlier.st_dev != status.st_dev ||
	    earlier.st_ino != status.st_ino) {
		unlink(own);
		rc = fd < 0 ? 0 : write_names(fd, names, own);
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

/* Write both files under temporary names, so that existing files remain after an error. */
static int write_both(struct merge *merge, const char *trace, const char *meta)
{
	char final[PATH_MAX + 8];

	snprintf(final, sizeof(final), "%s.meta", merge->output);
	if (write_trace(merge, trace) || write_meta(merge, meta))
		return -1;
	/*
	 * A trace without a side-car file is better than a trace with the side-car file of another
	 * trace.
	 */
	unlink(final);
	return put_in_place(trace, merge->output) || put_in_place(meta, final) ? -1 : 0;
}

static int merge_all(struct merge *merge)
{
	char trace[PATH_MAX + 8] = "", meta[PATH_MAX + 8] = "";
	int rc;

	rc = make_file(trace, sizeof(trace), merge->output) ||
	     make_file(meta, sizeof(meta), merge->output) || write_both(merge, trace, meta);
	if (!rc)
		return 0;
	if (*trace)
		unlink(trace);
	if (*meta)
		unlink(meta);
	return -1;
}

/*
 * Prevent users from reading the output if they may not read an input, which may contain kernel
 * addresses or stacks.
 */
static void restrict_output(char **paths)
{
	mode_t mask = umask(077);
	struct stat status;

	for (; *paths; paths++)
		if (!stat(*paths, &status))
			mask |= ~status.st_mode & 066;
	umask(mask);
}

/* Check that the output is a regular file, and neither an input nor an input's side-car file. */
static int check_output(const struct merge *merge, char **paths)
{
	char meta[PATH_MAX + 8], own[PATH_MAX + 8], names[PATH_MAX + 16];
	struct stat status;

	if (strlen(merge->output) >= PATH_MAX || !strcmp(merge->output, "-") ||
	    (!stat(merge->output, &status) && !S_ISREG(status.st_mode))) {
		report("%s: merge writes a regular file and its side-car file; name a regular file with -o",
		       merge->output);
		return -1;
	}
	snprintf(own, sizeof(own), "%s.meta", merge->output);
	snprintf(names, sizeof(names), "%s.kallsyms", merge->output);
	for (; *paths; paths++) {
		if (merge_check_name(*paths))
			return -1;
		snprintf(meta, sizeof(meta), "%s.meta", *paths);
		if (!output_spares(merge->output, *paths) || !output_spares(merge->output, meta) ||
		    !output_spares(own, *paths) || !output_spares(own, meta) ||
		    !output_spares(names, *paths) || !output_spares(names, meta))
			return -1;
	}
	return 0;
}

static const struct cli_option merge_options[] = {
	{ .letter = 'o', .name = "output", .value = "FILE",
	  .help = "the merged trace (default: trace.rtd); FILE.meta is its side-car file",
	  .set = cli_text, .offset = offsetof(struct merge, output) },
	{ .letter = 'q', .name = "quiet", .help = "print only errors",
	  .set = cli_flag, .offset = offsetof(struct merge, quiet) },
	{ .name = NULL }
};

static const struct cli_group merge_groups[] = {
	{ NULL, merge_options, 0 }, { .options = NULL }
};

static int command_merge(int argc, char **argv)
{
	struct merge merge = { .output = "trace.rtd" };
	int rc = cli_parse(&merge_command, &merge, argc, argv);

	if (rc)
		return rc;
	if (argc - optind < 2)
		return usage_error("merge needs the traces of all sinks of a recording: trace.0.rtd trace.1.rtd ...");
	rc = check_output(&merge, argv + optind);
	if (!rc)
		rc = merge_open(&merge, argv + optind, (unsigned int)(argc - optind));
	restrict_output(argv + optind);
	if (!rc)
		rc = merge_all(&merge) || copy_names(argv + optind, merge.output);
	if (!rc && !merge.quiet)
		merge_tell(&merge, merge.output);
	merge_close(&merge);
	return rc ? EXIT_UNREADABLE : EXIT_OK;
}

const struct cli_command merge_command = {
	.name = "merge",
	.run = command_merge,
	.summary = "merge the traces of several sinks into one",
	.arguments = "TRACE TRACE...",
	.help = "If harts do not share a sink, record writes a trace for each sink. Merge combines these traces into one, with all threads' calls across all harts: it converts times to one clock, using the clock readings that the driver took at the start and end of the capture.",
	.groups = merge_groups,
	.status = "Exit status: 0 done, 2 usage error, 3 input or output error, or traces that cannot be merged.",
};
