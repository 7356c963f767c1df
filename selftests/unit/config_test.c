// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Tests the user's configuration file, which sets defaults for options, and suggestions for
 * mistyped words.
 */
#include "command_fixture.h"

/* Write @text to the user's configuration file. */
static void configure(const char *text)
{
	mkdir("sifive-trace", 0755);
	write_file("sifive-trace/config", text, strlen(text));
}

static void make_trace(FIXTURE_DATA(command) *self)
{
	sample_trace(&self->gen, 0, 1);
	save(self, "trace.rtd");
}

TEST_F(command, options_in_the_file_become_defaults)
{
	make_trace(self);
	configure("# mine\n\n[report]\n  format = csv \n[decode]\nformat=json\n[report]\nquiet");
	run(self, "report --meta none trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_EQ(0, strncmp(self->out, "function,", 9));
	EXPECT_STREQ("", self->err);
	run(self, "report --format text --meta none trace.rtd");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "  function\n"));
	run(self, "decode --meta none trace.rtd");
	EXPECT_EQ('{', self->out[0]);
	run(self, "--no-config report --meta none trace.rtd");
	EXPECT_NE(NULL, strstr(self->out, "  function\n"));
	EXPECT_STRNE("", self->err);
}

TEST_F(command, errors_in_the_file_are_reported_with_their_line)
{
	static const struct {
		const char *text, *message;
	} wrong[] = {
		{ "[report]\nsotr = self\n",
		  "config:2: report has no option \"sotr\": did you mean sort? try sifive-trace report --help\n" },
		{ "[report]\n\nquiet = yes\n", "config:3: quiet takes no value\n" },
		{ "[report]\nsort\n", "config:2: sort needs a value: KEY\n" },
		{ "[report]\ntop = many\n", "the value is set in " },
		{ "[reports]\n", "config:1: no command \"reports\": " },
		{ "[]\n", "config:1: no command \"\": " },
		{ "quiet\n[report]\n", "config:1: \"quiet\" belongs to no command: " },
		{ "[report]\nhelp\n", "config:2: report has no option \"help\"" },
	};
	size_t i;

	make_trace(self);
	configure("[report]\nsotr = self\n");
	run(self, "report --help");
	EXPECT_EQ(0, self->status);
	EXPECT_NE(NULL, strstr(self->out, "--sort KEY"));
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		configure(wrong[i].text);
		run(self, "report --meta none trace.rtd");
		EXPECT_EQ(2, self->status);
		EXPECT_NE(NULL, strstr(self->err, wrong[i].message)) {
			TH_LOG("%s", self->err);
		}
		run(self, "--no-config report --meta none trace.rtd");
		EXPECT_EQ(0, self->status);
	}
}

TEST_F(command, non_text_file_is_refused)
{
	char *large = calloc(1, 20000);

	make_trace(self);
	configure("");
	run(self, "report --meta none trace.rtd");
	EXPECT_EQ(0, self->status);
	write_file("sifive-trace/config", "[report]\n\0quiet\n", 16);
	run(self, "report --meta none trace.rtd");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "config: not a text file: it contains a zero byte\n"));
	memset(large, '#', 20000);
	write_file("sifive-trace/config", large, 20000);
	free(large);
	run(self, "report --meta none trace.rtd");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "config: too large: "));
	unlink("sifive-trace/config");
	mkdir("sifive-trace/config", 0755);
	run(self, "report --meta none trace.rtd");
	EXPECT_EQ(2, self->status);
	EXPECT_NE(NULL, strstr(self->err, "config: cannot read: Is a directory"));
}

TEST_F(command, unknown_command_is_reported_with_the_nearest_one)
{
	run(self, "reprot");
	EXPECT_EQ(2, self->status);
	EXPECT_STREQ("sifive-trace: no command \"reprot\": did you mean report? try sifive-trace --help\n",
		     self->err);
	run(self, "xyzzy");
	EXPECT_STREQ("sifive-trace: no command \"xyzzy\": try sifive-trace --help\n", self->err);
}

TEST_HARNESS_MAIN
