// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Tests that options are parsed according to their table, and that unknown options are rejected. */
#include <getopt.h>
#include <string.h>

#include <kselftest_harness.h>

#include "cli.h"
#include "command.h"
#include "kept_report.h"

struct inner {
	int		number;
	int		choice;
	int		word;
	unsigned int	bits;
};

struct target {
	const char	*text;
	bool		flag;
	struct cli_list	list;
	struct inner	inner;
};

static void list_words(cli_add *add, void *context)
{
	add(context, "one", "the first");
	add(context, "two", "the second");
}

static const struct cli_option outer_options[] = {
	{ .letter = 't', .name = "text", .value = "TEXT", .help = "a text",
	  .set = cli_text, .offset = offsetof(struct target, text) },
	{ .name = "flag", .help = "a flag",
	  .set = cli_flag, .offset = offsetof(struct target, flag) },
	{ .letter = 'l', .name = "list", .value = "WORD", .help = "may be repeated",
	  .set = cli_append, .offset = offsetof(struct target, list), .most = 2 },
	{ .name = NULL }
};

static const struct cli_option inner_options[] = {
	{ .letter = 'n', .name = "number", .value = "N", .help = "a number",
	  .set = cli_number, .offset = offsetof(struct inner, number),
	  .least = -3, .most = 7 },
	{ .name = "word", .value = "WORD", .help = "a word", .list = list_words,
	  .set = cli_word, .offset = offsetof(struct inner, word) },
	{ .name = "choice", .value = "red|blue", .optional = true, .help = "a colour",
	  .set = cli_word, .offset = offsetof(struct inner, choice) },
	{ .name = "bits", .help = "two bits",
	  .set = cli_bits, .offset = offsetof(struct inner, bits), .most = 6 },
	{ .name = NULL }
};

static const struct cli_group groups[] = {
	{ NULL, outer_options, 0 },
	{ "Inner", inner_options, offsetof(struct target, inner) },
	{ .options = NULL }
};

FIXTURE(cli)
{
	struct cli_command command;
	struct target target;
	char *argv[16];
	int argc;
};

FIXTURE_SETUP(cli)
{
	self->command = (struct cli_command){
		.name = "try", .arguments = "THING", .help = "A try.",
		.groups = groups, .status = "Exit status: 0 done.",
	};
}

FIXTURE_TEARDOWN(cli)
{
}

/* Parse a command line; return an exit code. */
static int parse(FIXTURE_DATA(cli) *self, const char *line)
{
	static char words[256];
	char *word;

	memset(&self->target, 0, sizeof(self->target));
	*reported = 0;
	optind = 0;
	snprintf(words, sizeof(words), "try %s", line);
	self->argc = 0;
	for (word = strtok(words, " "); word; word = strtok(NULL, " "))
		self->argv[self->argc++] = word;
	self->argv[self->argc] = NULL;
	return cli_parse(&self->command, &self->target, self->argc, self->argv);
}

TEST_F(cli, values_are_stored_as_the_table_specifies)
{
	ASSERT_EQ(EXIT_OK, parse(self, "-t a --flag -lx --list=y -n -3 --word two --bits z"));
	EXPECT_STREQ("a", self->target.text);
	EXPECT_TRUE(self->target.flag);
	ASSERT_EQ(2, self->target.list.count);
	EXPECT_STREQ("x", self->target.list.text[0]);
	EXPECT_STREQ("y", self->target.list.text[1]);
	EXPECT_EQ(-3, self->target.inner.number);
	EXPECT_EQ(1, self->target.inner.word);
	EXPECT_EQ(6, self->target.inner.bits);
	EXPECT_STREQ("z", self->argv[optind]);
	ASSERT_EQ(EXIT_OK, parse(self, "-n 7 --word one"));
	EXPECT_EQ(7, self->target.inner.number);
	EXPECT_EQ(0, self->target.inner.word);
}

TEST_F(cli, invalid_values_are_refused_with_the_valid_ones)
{
	static const char * const number[] = { "8", "-4", "x", "7x", "99999999999999999999" };
	char line[64];
	size_t i;

	for (i = 0; i < sizeof(number) / sizeof(number[0]); i++) {
		snprintf(line, sizeof(line), "-n %s", number[i]);
		EXPECT_EQ(EXIT_USAGE, parse(self, line));
		EXPECT_NE(NULL, strstr(reported, "-n takes a number from -3 to 7, not"));
	}
	EXPECT_EQ(EXIT_USAGE, parse(self, "--word three"));
	EXPECT_STREQ("--word takes one or two, not \"three\"", reported);
	EXPECT_EQ(EXIT_USAGE, parse(self, "-l 1 -l 2 -l 3"));
	EXPECT_STREQ("--list can be given at most 2 times", reported);
}

TEST_F(cli, unknown_option_is_reported_with_the_nearest_one)
{
	static const struct {
		const char *line, *message;
	} wrong[] = {
		{ "--unknown", "try has no option --unknown: try sifive-trace try --help" },
		{ "--flga", "try has no option --flga: did you mean --flag? try sifive-trace try --help" },
		{ "--nubmer=3", "try has no option --nubmer: did you mean --number? try sifive-trace try --help" },
		{ "-x", "try has no option -x: try sifive-trace try --help" },
		{ "--flag=yes", "--flag takes no value" },
		{ "-t", "-t needs a value: TEXT" },
		{ "--number", "--number needs a value: N" },
	};
	char line[64];
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		strcpy(line, wrong[i].line);
		EXPECT_EQ(EXIT_USAGE, parse(self, line));
		EXPECT_STREQ(wrong[i].message, reported);
	}
	ASSERT_EQ(EXIT_OK, parse(self, "--num 3"));
	EXPECT_EQ(3, self->target.inner.number);
}

TEST_F(cli, optional_value_needs_an_equals_sign)
{
	ASSERT_EQ(EXIT_OK, parse(self, "--choice=blue x"));
	EXPECT_EQ(1, self->target.inner.choice);
	EXPECT_STREQ("x", self->argv[optind]);
	self->target.inner.choice = 7;
	ASSERT_EQ(EXIT_OK, parse(self, "--choice blue"));
	EXPECT_EQ(0, self->target.inner.choice);
	EXPECT_STREQ("blue", self->argv[optind]);
	EXPECT_EQ(EXIT_USAGE, parse(self, "--choice=green"));
	EXPECT_STREQ("--choice takes red or blue, not \"green\"", reported);
}

TEST_F(cli, options_after_the_program_are_not_parsed)
{
	EXPECT_EQ(EXIT_USAGE, parse(self, "program --unknown"));
	self->command.program = true;
	ASSERT_EQ(EXIT_OK, parse(self, "--flag program --unknown"));
	EXPECT_TRUE(self->target.flag);
	EXPECT_STREQ("program", self->argv[optind]);
}

TEST_F(cli, excess_arguments_are_refused)
{
	ASSERT_EQ(EXIT_OK, parse(self, "a b"));
	EXPECT_EQ(EXIT_OK, cli_arguments(&self->command, 2, self->argc, self->argv));
	EXPECT_EQ(EXIT_USAGE, cli_arguments(&self->command, 1, self->argc, self->argv));
	EXPECT_STREQ("try takes only one THING at a time: \"b\" is one too many", reported);
	*reported = 0;
	EXPECT_EQ(EXIT_USAGE, cli_arguments(&self->command, 0, self->argc, self->argv));
	EXPECT_NE(NULL, strstr(reported, "try takes no argument: \"a\" is unexpected"));
}

TEST_F(cli, help_stops_parsing)
{
	EXPECT_EQ(EXIT_HELP, parse(self, "--flag -h -n 99"));
	EXPECT_STREQ("", reported);
}

TEST_HARNESS_MAIN
