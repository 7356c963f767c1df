// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Completes command lines for shells: see cli.h. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

/**
 * struct prefix - the beginning of the word to complete
 * @typed:	the part that the user has typed
 * @length:	length of the word; for a list, the length of the last element
 * @kept:	length of the list's earlier elements, or 0 if the word is not a list
 */
struct prefix {
	const char	*typed;
	size_t		length;
	size_t		kept;
};

/*
 * Return the length of the first clause of a help text. The list of completions shows this clause.
 */
static int clause(const char *help)
{
	size_t length = strcspn(help, ":;(");

	while (length && help[length - 1] == ' ')
		length--;
	return (int)length;
}

static void offer(void *context, const char *word, const char *help)
{
	const struct prefix *prefix = context;

	if (strncmp(word, prefix->typed + prefix->kept, prefix->length))
		return;
	printf("%.*s%s", (int)prefix->kept, prefix->typed, word);
	if (help)
		printf("\t%.*s", clause(help), help);
	putchar('\n');
}

static void offer_value(const struct cli_option *option, const char *typed)
{
	struct prefix prefix = { .typed = typed, .length = strlen(typed) };
	const char *comma = strrchr(typed, ',');

	if (option->list && comma) {
		prefix.kept = (size_t)(comma + 1 - typed);
		prefix.length -= prefix.kept;
	}
	cli_each_word(option, offer, &prefix);
}

static void offer_option(struct prefix *prefix, const struct cli_option *option)
{
	char word[64];

	if (!option->help)
		return;
	if (option->letter) {
		snprintf(word, sizeof(word), "-%c", option->letter);
		offer(prefix, word, option->help);
	}
	snprintf(word, sizeof(word), "--%s", option->name);
	offer(prefix, word, option->help);
}

static void offer_options(const struct cli_command *command, const char *typed)
{
	struct prefix prefix = { .typed = typed, .length = strlen(typed) };
	const struct cli_option *option;
	const struct cli_group *group;

	for (group = command->groups; group->options; group++)
		for (option = group->options; option->name; option++)
			offer_option(&prefix, option);
	offer_option(&prefix, &cli_help_option);
}

static void offer_commands(const struct cli_command * const *commands,
			   const char *typed)
{
	struct prefix prefix = { .typed = typed, .length = strlen(typed) };

	for (; *commands; commands++)
		offer(&prefix, (*commands)->name, (*commands)->summary);
	if (*typed != '-')
		return;
	offer(&prefix, "--help", "list the commands");
	offer(&prefix, "--version", "print the version");
}

static const struct cli_option *option_of(const struct cli_command *command,
					  char letter, const char *name)
{
	const struct cli_option *option;
	const struct cli_group *group;

	for (group = command->groups; group->options; group++)
		for (option = group->options; option->name; option++)
			if (name ? !strcmp(option->name, name) :
				   option->letter == letter)
				return option;
	return NULL;
}

/* If the word after @word is the value of an option, return that option; otherwise, return NULL. */
static const struct cli_option *value_of(const struct cli_command *command,
					 const char *word)
{
	const struct cli_option *option = NULL;

	if (word[0] != '-')
		return NULL;
	if (word[1] == '-')
		option = option_of(command, 0, word + 2);
	/* In a group of one-letter options, the first option with a value ends the group. */
	else
		while (*++word && !(option && option->value))
			option = option_of(command, *word, NULL);
	return option && option->value && !option->optional &&
	       (*word == '-' || !*word) ? option : NULL;
}

static void offer_words(const struct cli_command *command, char **words)
{
	const struct cli_option *option = NULL;
	bool arguments = false;

	for (; words[1]; words++) {
		if (option) {
			option = NULL;
			continue;
		}
		arguments |= !strcmp(*words, "--") ||
			     (command->program && **words != '-');
		if (!arguments)
			option = value_of(command, *words);
	}
	if (option)
		offer_value(option, *words);
	else if (**words == '-' && !arguments)
		offer_options(command, *words);
}

void cli_complete(const struct cli_command * const *commands, char **words)
{
	if (!words[0] || !words[1]) {
		offer_commands(commands, words[0] ? words[0] : "");
		return;
	}
	for (; *commands; commands++)
		if (!strcmp((*commands)->name, words[0])) {
			offer_words(*commands, words + 1);
			return;
		}
}
