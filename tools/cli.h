/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Handles the command line. Each subcommand describes its options in a table, from which parsing,
 * --help and shell completion are derived.
 */
#ifndef SIFIVE_TRACE_CLI_H
#define SIFIVE_TRACE_CLI_H

#include <stdbool.h>
#include <stddef.h>

/* Maximum number of values for a repeatable option. */
#define CLI_LIST_MAX	64

/**
 * cli_add - receives one word of a list
 * @context:	the context passed to the function that lists the words
 * @word:	the word
 * @help:	description of the word, or NULL for none
 */
typedef void cli_add(void *context, const char *word, const char *help);

/**
 * struct cli_option - an option of a command
 * @letter:	'o' for "-o", or 0 for none
 * @name:	"output" for "--output"; NULL ends a table
 * @value:	description of its value: a placeholder in capitals, words separated by |, or both;
 *		NULL for an option without a value
 * @optional:	the value may be omitted, as in --name instead of --name=VALUE; @set then receives
 *		NULL
 * @help:	one or more sentences; NULL hides the option
 * @set:	stores the value; returns EXIT_OK, or EXIT_USAGE after printing
 *		an error
 * @offset:	offset of the value in the table's struct
 * @least, @most: limits for cli_number(). @most is also the maximum number of values for
 *		cli_append() (0: CLI_LIST_MAX), the bits that cli_bits() sets, or the value that
 *		cli_constant() stores
 * @words:	words for completion, separated by |, if @value names none
 * @list:	calls @add for each possible value, if @value names none
 * @listed:	set if the help text shows the words from @list
 */
struct cli_option {
	char		letter;
	const char	*name;
	const char	*value;
	bool		optional;
	const char	*help;
	int		(*set)(void *at, const struct cli_option *option,
			       const char *value);
	size_t		offset;
	int		least;
	int		most;
	const char	*words;
	void		(*list)(cli_add *add, void *context);
	bool		listed;
};

/**
 * struct cli_group - options shown together in the help text
 * @title:	line above the options, or NULL if none
 * @options:	the table; NULL ends the groups
 * @base:	offset of the table's struct in the command's struct
 */
struct cli_group {
	const char		*title;
	const struct cli_option	*options;
	size_t			base;
};

/**
 * struct cli_command - a subcommand
 * @name:	name of the command
 * @run:	runs the command and returns an exit code; argv[0] is the command's name
 * @summary:	one line for the list of commands
 * @arguments:	the arguments after the options, or NULL if there are none
 * @help:	paragraphs of the command's help text, separated by empty lines
 * @groups:	options of the command, other than --help, which every command has
 * @status:	exit codes of the command
 * @whole:	files that the command has written are removed if it fails
 * @program:	set if options end at the first argument, where a program's command line begins
 */
struct cli_command {
	const char		*name;
	int			(*run)(int argc, char **argv);
	const char		*summary;
	const char		*arguments;
	const char		*help;
	const struct cli_group	*groups;
	const char		*status;
	bool			whole;
	bool			program;
};

/* Options shared by several tables; each option sets a member of a struct. */
#define CLI_OUTPUT(type, member)						\
	{ .letter = 'o', .name = "output", .value = "FILE",			\
	  .help = "file to write to (default: standard output)",		\
	  .set = cli_text, .offset = offsetof(type, member) }

#define CLI_FORMAT(type, member, lister)					\
	{ .name = "format", .value = "FORMAT", .help = "one of:",		\
	  .list = lister, .listed = true,					\
	  .set = cli_word, .offset = offsetof(type, member) }

/* Defines a short form of --format @member, such as --json for --format json. */
#define CLI_AS(word, type, member, value)					\
	{ .name = #word, .help = "the same as --format " #word,			\
	  .set = cli_constant, .offset = offsetof(type, member), .most = value }

/* The --help option of every command. */
extern const struct cli_option cli_help_option;

/*
 * Functions for @set. They store, in order, a const char *, a bool, an unsigned int, an int, and an
 * int.
 */
int cli_text(void *at, const struct cli_option *option, const char *value);
int cli_flag(void *at, const struct cli_option *option, const char *value);
int cli_bits(void *at, const struct cli_option *option, const char *value);
int cli_constant(void *at, const struct cli_option *option, const char *value);
int cli_number(void *at, const struct cli_option *option, const char *value);
/* Store a double greater than 0 and less than 100. */
int cli_percent(void *at, const struct cli_option *option, const char *value);
/*
 * cli_word() stores an int: the index of the word, or 0 if the value is omitted. cli_append() adds
 * to a struct cli_list.
 */
int cli_word(void *at, const struct cli_option *option, const char *value);
int cli_append(void *at, const struct cli_option *option, const char *value);

/**
 * struct cli_list - the values of a repeatable option
 * @text:	the @count values
 */
struct cli_list {
	const char	*text[CLI_LIST_MAX];
	unsigned int	count;
};

/**
 * cli_refuse() - report an invalid value of an option
 * @option:	the option
 * @takes:	description of valid values: "a size such as 64k"
 * @value:	the value
 *
 * Return: EXIT_USAGE.
 */
int cli_refuse(const struct cli_option *option, const char *takes, const char *value);

/**
 * cli_parse() - parse a command's options
 * @command:	the command, with its tables
 * @target:	the struct to fill
 * @argc, @argv: arguments of the command
 *
 * Return: EXIT_OK, with getopt's optind at the first argument; EXIT_USAGE after
 * printing an error; EXIT_HELP after printing help.
 */
int cli_parse(const struct cli_command *command, void *target, int argc, char **argv);

/**
 * cli_arguments() - check the number of arguments after the options
 * @command:	the command, for the message
 * @most:	maximum number of arguments
 * @argc, @argv: arguments of the command, after cli_parse()
 *
 * Return: EXIT_OK, or EXIT_USAGE after reporting the first excess argument.
 */
int cli_arguments(const struct cli_command *command, int most, int argc, char **argv);

/** cli_each_word() - call @add for each possible value of an option */
void cli_each_word(const struct cli_option *option, cli_add *add, void *context);

/** cli_help() - print a command's help to standard output */
void cli_help(const struct cli_command *command);

/** cli_put_wrapped() - print text wrapped at 80 columns, with all lines but the first indented */
void cli_put_wrapped(const char *text, int indent);

/**
 * cli_complete() - print the completions of a command line's last word
 * @commands:	all commands, followed by NULL
 * @words:	the words after the program's name, followed by NULL
 *
 * Prints a line "WORD<tab>DESCRIPTION" for each completion, or nothing if the last word is a file
 * name.
 */
void cli_complete(const struct cli_command * const *commands, char **words);

#endif /* SIFIVE_TRACE_CLI_H */
