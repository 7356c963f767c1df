// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Reads the user's defaults for options: see config.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "config.h"

#define BYTES_MAX	16383

/* A line that sets an option of @command. */
struct line {
	const char	*command;
	unsigned int	number;
	const char	*name;
	const char	*value;
};

/* The configuration file. Options point to values in its text until the program ends. */
static struct {
	char		path[4096];
	char		text[BYTES_MAX + 1];
	size_t		size;
	/* The shortest line is two bytes long: a letter and a NUL. */
	struct line	line[BYTES_MAX / 2 + 1];
	size_t		lines;
} file;

static bool find_path(void)
{
	const char *home = getenv("XDG_CONFIG_HOME"), *dir = "";
	int length;

	/* According to the XDG Base Directory Specification, relative paths are invalid. */
	if (!home || *home != '/') {
		home = getenv("HOME");
		dir = "/.config";
	}
	if (!home || *home != '/')
		return false;
	length = snprintf(file.path, sizeof(file.path), "%s%s/sifive-trace/config", home,
			  dir);
	return length < (int)sizeof(file.path);
}

/* Strip spaces at both ends. */
static char *trimmed(char *text)
{
	char *end = text + strlen(text);

	while (end > text && strchr(" \t\r", end[-1]))
		*--end = '\0';
	return text + strspn(text, " \t");
}

/* Return the name in a line "[name]", or NULL for any other line. */
static char *section_of(char *line)
{
	size_t length = strlen(line);

	if (*line != '[' || line[length - 1] != ']')
		return NULL;
	line[length - 1] = '\0';
	return trimmed(line + 1);
}

static int add_line(const char *section, unsigned int number, char *name)
{
	char *value = strchr(name, '=');

	if (!section)
		return usage_error("%s:%u: \"%s\" belongs to no command: put a section line such as [report] before it",
				   file.path, number, name);
	if (value)
		*value++ = '\0';
	file.line[file.lines++] = (struct line){
		section, number, trimmed(name), value ? trimmed(value) : NULL,
	};
	return EXIT_OK;
}

static int parse(bool (*command)(const char *name))
{
	char *rest = file.text, *line, *section = NULL, *found;
	unsigned int number = 0;
	int result = EXIT_OK;

	while (!result && rest && (line = strsep(&rest, "\n"))) {
		line = trimmed(line);
		number++;
		if (!*line || *line == '#')
			continue;
		found = section_of(line);
		if (!found)
			result = add_line(section, number, line);
		else if (!command(found))
			result = usage_error("%s:%u: no command \"%s\": a section is a command, as in [report]",
					     file.path, number, found);
		else
			section = found;
	}
	return result;
}

int config_read(bool (*command)(const char *name))
{
	FILE *stream;
	int result;

	if (!find_path())
		return EXIT_OK;
	stream = fopen(file.path, "re");
	if (!stream && (errno == ENOENT || errno == ENOTDIR))
		return EXIT_OK;
	if (stream)
		file.size = fread(file.text, 1, sizeof(file.text), stream);
	if (!stream || ferror(stream))
		result = usage_error("%s: cannot read: %s: check it, or use sifive-trace --no-config",
				     file.path, strerror(errno));
	else if (file.size == sizeof(file.text))
		result = usage_error("%s: too large: at most %d bytes are allowed", file.path, BYTES_MAX);
	else if (strlen(file.text) < file.size)
		result = usage_error("%s: not a text file: it contains a zero byte", file.path);
	else
		result = parse(command);
	if (stream)
		fclose(stream);
	return result;
}

int config_each(const char *command,
		int (*use)(void *context, const struct config_line *line), void *context)
{
	char where[sizeof(file.path) + 16];
	int result = EXIT_OK;
	size_t i;

	for (i = 0; i < file.lines && !result; i++) {
		const struct line *line = &file.line[i];

		if (strcmp(line->command, command))
			continue;
		snprintf(where, sizeof(where), "%s:%u", file.path, line->number);
		result = use(context, &(struct config_line){
			.where = where, .name = line->name, .value = line->value,
		});
	}
	return result;
}
