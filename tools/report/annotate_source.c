// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Reads the text of source files: see annotate.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "annotate.h"
#include "command.h"

/* Limits: files above this size are not read, and longer lines are truncated. */
#define SOURCE_MAX	(64u << 20)
#define TEXT_MAX	1024
#define TAB		8

/* A source file, whether or not it was found. @at: offsets of the lines in @text. */
struct source {
	struct source	*next;
	char		*path;
	char		*text;
	size_t		*at;
	size_t		lines;
	bool		short_noted;
};

struct annotate_sources {
	const struct annotate	*annotate;
	struct source		*first;
	char			text[TEXT_MAX];
};

struct annotate_sources *annotate_sources_new(const struct annotate *annotate)
{
	struct annotate_sources *sources = calloc(1, sizeof(*sources));

	if (sources)
		sources->annotate = annotate;
	return sources;
}

void annotate_sources_free(struct annotate_sources *sources)
{
	struct source *source;

	while (sources && sources->first) {
		source = sources->first;
		sources->first = source->next;
		free(source->path);
		free(source->text);
		free(source->at);
		free(source);
	}
	free(sources);
}

/* Return the error, or 0 if there is none. */
static int read_text(FILE *file, char **text, size_t *size)
{
	struct stat status;

	if (fstat(fileno(file), &status))
		return errno;
	if (!S_ISREG(status.st_mode))
		return EINVAL;
	if (status.st_size > SOURCE_MAX)
		return EFBIG;
	*text = malloc((size_t)status.st_size + 1);
	if (!*text)
		return ENOMEM;
	*size = fread(*text, 1, (size_t)status.st_size, file);
	(*text)[*size] = '\0';
	return 0;
}

/* A line ends with a newline, or at the end of the file. */
static bool split(struct source *source, size_t size)
{
	size_t lines = 1, i;

	for (i = 0; i < size; i++)
		lines += source->text[i] == '\n';
	source->at = malloc((lines + 1) * sizeof(*source->at));
	if (!source->at)
		return false;
	source->at[0] = 0;
	for (i = 0; i < size; i++)
		if (source->text[i] == '\n')
			source->at[++source->lines] = i + 1;
	if (source->at[source->lines] < size)
		source->at[++source->lines] = size + 1;
	return true;
}

/* Return the error, or 0 if there is none. */
static int read_source(struct source *source, const char *path)
{
	/* Open only regular files: opening a pipe would block until it has a writer. */
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	size_t size = 0;
	int error;

	if (!file) {
		error = errno;
		close(fd);
		return error;
	}
	error = read_text(file, &source->text, &size);
	fclose(file);
	return error ? error : split(source, size) ? 0 : ENOMEM;
}

/* Apply --prefix and --prefix-strip, which affect only absolute paths. */
static char *place_of(const struct annotate *annotate, const char *path)
{
	const char *rest = path, *next;
	char *place;
	int i;

	if (*path != '/')
		return strdup(path);
	for (i = 0; i < annotate->strip && (next = strchr(rest + 1, '/')); i++)
		rest = next;
	return asprintf(&place, "%s%s", annotate->prefix ? annotate->prefix : "", rest) < 0 ?
	       NULL : place;
}

static void open_source(struct annotate_sources *sources, struct source *source)
{
	const struct options *options = &sources->annotate->common;
	char *place = place_of(sources->annotate, source->path), *under = NULL;
	int error = place ? ENOENT : ENOMEM;

	if (place && options->symbols.symfs &&
	    asprintf(&under, "%s/%s", options->symbols.symfs, place) >= 0)
		error = read_source(source, under);
	if (place && error)
		error = read_source(source, place);
	if (error && !options->trace.quiet)
		report("%s: source not read: %s; its lines are shown without text (--prefix, --prefix-strip and --symfs change where it is searched for)",
		       place ? place : source->path, strerror(error));
	free(under);
	free(place);
}

/* Return NULL if out of memory. Takes ownership of @path. */
static struct source *find_source(struct annotate_sources *sources, char *path)
{
	struct source **slot = &sources->first, *source;

	for (; *slot; slot = &(*slot)->next) {
		source = *slot;
		if (strcmp(source->path, path))
			continue;
		free(path);
		*slot = source->next;
		source->next = sources->first;
		sources->first = source;
		return source;
	}
	source = calloc(1, sizeof(*source));
	if (!source) {
		free(path);
		return NULL;
	}
	source->path = path;
	source->next = sources->first;
	sources->first = source;
	open_source(sources, source);
	return source;
}

static void expand(const char *from, size_t length, char to[TEXT_MAX])
{
	size_t used = 0, i;

	for (i = 0; i < length && used + TAB < TEXT_MAX; i++) {
		if (from[i] == '\r' && i + 1 == length)
			break;
		if (from[i] != '\t') {
			to[used++] = from[i];
			continue;
		}
		do {
			to[used++] = ' ';
		} while (used % TAB);
	}
	to[used] = '\0';
}

const char *annotate_sources_line(struct annotate_sources *sources, const char *dir,
				  const char *file, int line)
{
	char *path = covered_path(dir, file);
	struct source *source = path ? find_source(sources, path) : NULL;
	size_t at;

	if (!source || !source->text || line <= 0)
		return NULL;
	if ((size_t)line > source->lines) {
		if (!source->short_noted && !sources->annotate->common.trace.quiet)
			report("%s: has no line %d: this is not the file that was compiled",
			       source->path, line);
		source->short_noted = true;
		return NULL;
	}
	at = source->at[line - 1];
	expand(source->text + at, source->at[line] - 1 - at, sources->text);
	return sources->text;
}
