/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The user's defaults for options: $XDG_CONFIG_HOME/sifive-trace/config, or
 * ~/.config/sifive-trace/config. Each line is a [COMMAND], an option of that command without its
 * dashes ("sort = self" or "quiet"), a comment that begins with #, or empty.
 */
#ifndef SIFIVE_TRACE_CONFIG_H
#define SIFIVE_TRACE_CONFIG_H

#include <stdbool.h>

/**
 * config_read() - read the configuration file, if it exists
 * @command:	returns whether a command with this name exists
 *
 * Return: EXIT_OK, or EXIT_USAGE after reporting an error.
 */
int config_read(bool (*command)(const char *name));

/**
 * struct config_line - an option in the configuration file
 * @where:	"FILE:LINE", for messages
 * @name:	the option's name
 * @value:	value of the option, or NULL if it has none
 */
struct config_line {
	const char	*where;
	const char	*name;
	const char	*value;
};

/**
 * config_each() - call @line for each of a command's options
 *
 * Return: EXIT_OK, or the first other value that @line returns.
 */
int config_each(const char *command,
		int (*line)(void *context, const struct config_line *line), void *context);

#endif /* SIFIVE_TRACE_CONFIG_H */
