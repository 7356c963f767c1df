// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See kernel.h. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "compare.h"
#include "kernel.h"
#include "perfrec/perfrec.h"

/* Maximum size of the file, which is typically 2 MB. */
#define BYTES_MAX	(16 << 20)
/*
 * Maximum length of a function: an address further from the nearest symbol is not in any function.
 */
#define FUNCTION_MAX	(1 << 20)

struct kernel {
	char			*text;
	struct kernel_function	*function;	/* functions by start */
	size_t			functions;
};

static int by_start(const void *a, const void *b)
{
	const struct kernel_function *one = a, *two = b;

	if (one->start != two->start)
		return compare_numbers(one->start, two->start);
	return strcmp(one->name, two->name);
}

/* Read "ADDRESS TYPE NAME [MODULE]". Return false if it is not a function. */
static bool read_line(char *line, struct kernel_function *function)
{
	char *rest, *type, *module;

	function->start = strtoull(line, &rest, 16);
	/* Sign-extend an address of a 32-bit kernel. */
	if (function->start >> 31 == 1)
		function->start |= ~0ull << 32;
	type = rest + 1;
	if (rest == line || *rest != ' ' || !strchr("tTwW", *type) || !*type || type[1] != ' ')
		return false;
	function->name = type + 2;
	module = type + 2 + strcspn(type + 2, "\t ");
	function->module = "[kernel]";
	if (*module) {
		*module++ = '\0';
		if (*module == '[')
			function->module = module;
	}
	/* The assembler's local labels are not names. */
	return perfrec_is_kernel(function->start) && *function->name &&
	       *function->name != '$' && *function->name != '.';
}

static bool read_functions(struct kernel *kernel)
{
	struct kernel_function function, *more;
	char *line, *next = kernel->text;
	size_t room = 0;

	while ((line = strsep(&next, "\n"))) {
		if (!read_line(line, &function))
			continue;
		if (kernel->functions == room) {
			room = room ? 2 * room : 1024;
			more = realloc(kernel->function, room * sizeof(*more));
			if (!more)
				return false;
			kernel->function = more;
		}
		kernel->function[kernel->functions++] = function;
	}
	if (kernel->functions)
		qsort(kernel->function, kernel->functions, sizeof(function), by_start);
	return true;
}

/* Read a regular file; any other file could block. Return NULL after printing an error. */
static char *read_text(int fd, const char *path)
{
	struct stat status;
	ssize_t length = 0, got = 1;
	char *text;

	if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_size > BYTES_MAX) {
		report("%s: not used: not a regular file of at most 16 MB", path);
		return NULL;
	}
	text = malloc((size_t)status.st_size + 1);
	while (text && length < status.st_size && got > 0) {
		got = read(fd, text + length, (size_t)(status.st_size - length));
		length += got > 0 ? got : 0;
	}
	if (!text || got < 0) {
		report("%s: not used: %s", path, strerror(errno));
		free(text);
		return NULL;
	}
	text[length] = '\0';
	return text;
}

static int open_beside(const char *trace, char *path, size_t size)
{
	snprintf(path, size, "%s.kallsyms", trace);
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* Remove ".NUMBER" before @end from a path. Return false if the path has no such part. */
static bool drop_number(char *path, char *end)
{
	char *dot = end;

	while (dot > path && isdigit((unsigned char)dot[-1]))
		dot--;
	if (dot == end || dot == path || *--dot != '.')
		return false;
	memmove(dot, end, strlen(end) + 1);
	return true;
}

int kernel_open_names(const char *trace, char *path, size_t size)
{
	char whole[PATH_MAX], *suffix;
	int fd = open_beside(trace, path, size);

	snprintf(whole, sizeof(whole), "%s", trace);
	while (fd < 0 && drop_number(whole, whole + strlen(whole)))
		fd = open_beside(whole, path, size);
	suffix = strrchr(whole, '.');
	if (fd < 0 && suffix && !strchr(suffix, '/') && drop_number(whole, suffix))
		fd = open_beside(whole, path, size);
	return fd;
}

struct kernel *kernel_open(const char *trace)
{
	char path[PATH_MAX + 16];
	int fd = kernel_open_names(trace, path, sizeof(path));
	struct kernel *kernel;

	if (fd < 0)
		return NULL;
	kernel = calloc(1, sizeof(*kernel));
	if (kernel)
		kernel->text = read_text(fd, path);
	close(fd);
	if (kernel && kernel->text && read_functions(kernel))
		return kernel;
	if (!kernel || kernel->text)
		report("%s: not used: out of memory", path);
	kernel_close(kernel);
	return NULL;
}

const struct kernel_function *kernel_find(const struct kernel *kernel, uint64_t address)
{
	size_t low = 0, high = kernel ? kernel->functions : 0;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (kernel->function[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - kernel->function[low - 1].start >= FUNCTION_MAX)
		return NULL;
	/* Of several names at one address, always use the same name. */
	while (low > 1 && kernel->function[low - 2].start == kernel->function[low - 1].start)
		low--;
	return &kernel->function[low - 1];
}

void kernel_close(struct kernel *kernel)
{
	if (!kernel)
		return;
	free(kernel->function);
	free(kernel->text);
	free(kernel);
}
