// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Parses options and prints help, as described by tables: see cli.h. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "command.h"
#include "config.h"
#include "nearest.h"

/* Maximum number of options per command, including --help. */
#define OPTIONS_MAX	64
/* For a long option, getopt_long() returns this value plus the option's index. */
#define LONG		256

#define WIDTH		80
/* Column at which the help text of an option starts. */
#define HELP_COLUMN	24

/* ---- values ------------------------------------------------------------ */

int cli_text(void *at, const struct cli_option *option, const char *value)
{
	(void)option;
	memcpy(at, &value, sizeof(value));
	return EXIT_OK;
}

int cli_flag(void *at, const struct cli_option *option, const char *value)
{
	(void)option;
	(void)value;
	*(bool *)at = true;
	return EXIT_OK;
}

int cli_constant(void *at, const struct cli_option *option, const char *value)
{
	(void)value;
	*(int *)at = option->most;
	return EXIT_OK;
}

int cli_bits(void *at, const struct cli_option *option, const char *value)
{
	(void)value;
	*(unsigned int *)at |= (unsigned int)option->most;
	return EXIT_OK;
}

int cli_refuse(const struct cli_option *option, const char *takes, const char *value)
{
	if (option->letter)
		return usage_error("-%c takes %s, not \"%s\"", option->letter, takes,
				   value);
	return usage_error("--%s takes %s, not \"%s\"", option->name, takes, value);
}

int cli_number(void *at, const struct cli_option *option, const char *value)
{
	char takes[64], *end;
	long n;

	errno = 0;
	n = strtol(value, &end, 10);
	if (end != value && !*end && !errno && n >= option->least &&
	    n <= option->most) {
		*(int *)at = (int)n;
		return EXIT_OK;
	}
	snprintf(takes, sizeof(takes), "a number from %d to %d", option->least,
		 option->most);
	return cli_refuse(option, takes, value);
}

int cli_percent(void *at, const struct cli_option *option, const char *value)
{
	double percent;
	char *end;

	percent = strtod(value, &end);
	if (end == value || *end || !(percent > 0 && percent < 100))
		return cli_refuse(option, "a percentage above 0 and below 100", value);
	memcpy(at, &percent, sizeof(percent));
	return EXIT_OK;
}

/* State of a search for a word in an option's list. The search also collects all words as text. */
struct choice {
	struct nearest	nearest;
	int		count;
	int		found;
	char		text[256];
	size_t		last;		/* offset of the separator before the last word in text */
};

static void add_choice(void *context, const char *word, const char *help)
{
	struct choice *choice = context;
	size_t used = strlen(choice->text);

	(void)help;
	if (!strcmp(word, choice->nearest.wanted))
		choice->found = choice->count;
	snprintf(choice->text + used, sizeof(choice->text) - used, "%s%s",
		 choice->count++ ? ", " : "", word);
	choice->last = used;
}

int cli_word(void *at, const struct cli_option *option, const char *value)
{
	struct choice choice = { .nearest.wanted = value, .found = -1 };

	if (!value) {
		*(int *)at = 0;
		return EXIT_OK;
	}
	cli_each_word(option, add_choice, &choice);
	if (choice.found >= 0) {
		*(int *)at = choice.found;
		return EXIT_OK;
	}
	return usage_error("--%s takes %.*s or %s, not \"%s\"", option->name,
			   (int)choice.last, choice.text,
			   choice.text + choice.last + 2, value);
}

int cli_append(void *at, const struct cli_option *option, const char *value)
{
	struct cli_list *list = at;
	int most = option->most ? option->most : CLI_LIST_MAX;

	if (list->count < (unsigned int)most) {
		list->text[list->count++] = value;
		return EXIT_OK;
	}
	return usage_error("--%s can be given at most %d times", option->name, most);
}

static void each_of(const char *words, cli_add *add, void *context)
{
	char word[64];
	size_t length;

	for (; *words; words += length + (words[length] == '|')) {
		length = strcspn(words, "|");
		snprintf(word, sizeof(word), "%.*s", (int)length, words);
		/* A word that does not begin with a lower-case letter is a placeholder. */
		if (*word >= 'a' && *word <= 'z')
			add(context, word, NULL);
	}
}

void cli_each_word(const struct cli_option *option, cli_add *add, void *context)
{
	if (option->list)
		option->list(add, context);
	else if (option->words)
		each_of(option->words, add, context);
	else if (option->value)
		each_of(option->value, add, context);
}

/* ---- parsing ----------------------------------------------------------- */

/**
 * struct parser - the tables in getopt_long()'s format
 * @option:	the @count options
 * @at:		destination of each option's value
 * @command:	name of the command
 */
struct parser {
	const char		*command;
	const struct cli_option	*option[OPTIONS_MAX];
	char			*at[OPTIONS_MAX];
	size_t			count;
	struct option		longs[OPTIONS_MAX + 1];
	char			shorts[2 * OPTIONS_MAX + 3];
};

const struct cli_option cli_help_option = {
	.letter = 'h', .name = "help", .help = "print this help",
};

static void add_option(struct parser *parser, const struct cli_option *option, void *at)
{
	size_t i = parser->count++;

	parser->option[i] = option;
	parser->at[i] = at;
	parser->longs[i] = (struct option){
		option->name, option->optional ? optional_argument :
			      option->value ? required_argument : no_argument, NULL,
		LONG + (int)i,
	};
	if (option->letter)
		sprintf(parser->shorts + strlen(parser->shorts), "%c%s",
			option->letter, option->value ? ":" : "");
}

static void init_parser(struct parser *parser, const struct cli_command *command,
			char *target)
{
	const struct cli_option *option;
	const struct cli_group *group;

	memset(parser, 0, sizeof(*parser));
	parser->command = command->name;
	/* With the ":", getopt_long() distinguishes a missing value from an unknown option. */
	strcpy(parser->shorts, command->program ? "+:" : ":");
	for (group = command->groups; group->options; group++)
		for (option = group->options; option->name; option++)
			add_option(parser, option,
				   target + group->base + option->offset);
	add_option(parser, &cli_help_option, NULL);
}

/* Return the index of the option that getopt_long() has returned, or -1. */
static int found_option(const struct parser *parser, int found)
{
	size_t i;

	if (found >= LONG)
		return found - LONG;
	for (i = 0; i < parser->count; i++)
		if (parser->option[i]->letter == found)
			return (int)i;
	return -1;
}

/* Write the name of the most similar option, after @before: see nearest_text(). */
static const char *hint(const struct parser *parser, const char *name, const char *before,
			char *text, size_t size)
{
	struct nearest nearest = { .wanted = name };
	size_t i;

	for (i = 0; i < parser->count; i++)
		nearest_try(&nearest, parser->option[i]->name);
	return nearest_text(&nearest, before, text, size);
}

/* Report the argument @word that getopt_long() has refused. */
static int refused_option(const struct parser *parser, int found, char *word)
{
	const char *command = parser->command;
	const struct cli_option *option;
	size_t length, matches = 0, i;
	char text[80];
	int index;

	index = optopt ? found_option(parser, optopt) : -1;
	if (index >= 0) {
		option = parser->option[index];
		if (found != ':')
			return usage_error("--%s takes no value", option->name);
		return optopt >= LONG ?
		       usage_error("--%s needs a value: %s", option->name, option->value) :
		       usage_error("-%c needs a value: %s", optopt, option->value);
	}
	if (optopt)
		return usage_error("%s has no option -%c: try sifive-trace %s --help", command,
				   optopt, command);
	word += 2;
	word[strcspn(word, "=")] = '\0';
	length = strlen(word);
	for (i = 0; i < parser->count; i++)
		matches += !strncmp(parser->option[i]->name, word, length);
	if (matches > 1)
		return usage_error("--%s is ambiguous: more than one option of %s begins with it: try sifive-trace %s --help",
				   word, command, command);
	return usage_error("%s has no option --%s: %stry sifive-trace %s --help", command, word,
			   hint(parser, word, "--", text, sizeof(text)), command);
}

/* Apply the user's default for one option. */
static int configure(void *context, const struct config_line *line)
{
	struct parser *parser = context;
	const struct cli_option *option;
	char text[80];
	int result;
	size_t i;

	for (i = 0; i < parser->count; i++) {
		option = parser->option[i];
		if (strcmp(option->name, line->name) || option == &cli_help_option)
			continue;
		if (!option->value && line->value)
			return usage_error("%s: %s takes no value", line->where, line->name);
		if (option->value && !option->optional && !line->value)
			return usage_error("%s: %s needs a value: %s", line->where, line->name,
					   option->value);
		result = option->set(parser->at[i], option, line->value);
		if (result)
			report("the value is set in %s", line->where);
		return result;
	}
	return usage_error("%s: %s has no option \"%s\": %stry sifive-trace %s --help", line->where,
			   parser->command, line->name,
			   hint(parser, line->name, "", text, sizeof(text)), parser->command);
}

int cli_parse(const struct cli_command *command, void *target, int argc, char **argv)
{
	struct parser parser;
	int config, found, i, result;

	init_parser(&parser, command, target);
	config = config_each(command->name, configure, &parser);
	opterr = 0;
	while ((found = getopt_long(argc, argv, parser.shorts, parser.longs,
				    NULL)) != -1) {
		i = found_option(&parser, found);
		if (i >= 0 && parser.option[i] == &cli_help_option) {
			cli_help(command);
			return EXIT_HELP;
		}
		/*
		 * Errors in the configuration file must not prevent --help, because their messages
		 * refer to it.
		 */
		if (config)
			continue;
		if (i < 0)
			return refused_option(&parser, found, argv[optind - 1]);
		result = parser.option[i]->set(parser.at[i], parser.option[i], optarg);
		if (result)
			return result;
	}
	return config;
}

int cli_arguments(const struct cli_command *command, int most, int argc, char **argv)
{
	if (argc - optind <= most)
		return EXIT_OK;
	if (!most)
		return usage_error("%s takes no argument: \"%s\" is unexpected: try sifive-trace %s --help",
				   command->name, argv[optind], command->name);
	return usage_error("%s takes only one %s at a time: \"%s\" is one too many", command->name,
			   command->arguments, argv[optind + most]);
}

/* ---- help -------------------------------------------------------------- */

void cli_put_wrapped(const char *text, int indent)
{
	int column = indent;
	size_t length;

	for (; *text; text += length) {
		text += *text == ' ';
		length = strcspn(text, " \n");
		if (text[length] == '\n' && !length) {
			printf("\n\n%*s", indent, "");
			column = indent;
			text += strspn(text, "\n");
			continue;
		}
		if (column > indent && column + 1 + (int)length > WIDTH) {
			printf("\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			putchar(' ');
			column++;
		}
		printf("%.*s", (int)length, text);
		column += (int)length;
	}
	putchar('\n');
}

static void put_word(void *context, const char *word, const char *help)
{
	(void)context;
	printf("%*s%-10s ", HELP_COLUMN + 2, "", word);
	cli_put_wrapped(help, HELP_COLUMN + 13);
}

static void put_option(const struct cli_option *option)
{
	char head[80];
	int length;

	if (!option->help)
		return;
	length = snprintf(head, sizeof(head), option->letter ? "  -%c, " : "      ",
			  option->letter);
	length += snprintf(head + length, sizeof(head) - (size_t)length,
			   option->optional ? "--%s%s%s]" : "--%s%s%s", option->name,
			   option->optional ? "[=" : option->value ? " " : "",
			   option->value ? option->value : "");
	if (length < HELP_COLUMN - 1)
		printf("%-*s", HELP_COLUMN, head);
	else
		printf("%s\n%*s", head, HELP_COLUMN, "");
	cli_put_wrapped(option->help, HELP_COLUMN);
	if (option->listed)
		option->list(put_word, NULL);
}

void cli_help(const struct cli_command *command)
{
	const struct cli_option *option;
	const struct cli_group *group;

	printf("usage: sifive-trace %s%s%s%s\n\n", command->name,
	       command->groups->options ? " [OPTION]..." : "",
	       command->arguments ? " " : "",
	       command->arguments ? command->arguments : "");
	cli_put_wrapped(command->help, 0);
	for (group = command->groups; group->options; group++) {
		if (group->title || group == command->groups)
			putchar('\n');
		if (group->title)
			printf("%s:\n", group->title);
		for (option = group->options; option->name; option++)
			put_option(option);
	}
	if (group == command->groups)
		putchar('\n');
	put_option(&cli_help_option);
	putchar('\n');
	cli_put_wrapped(command->status, 0);
}
