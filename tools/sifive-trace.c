// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The command sifive-trace: records traces on SiFive processors, and reads traces. */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "config.h"
#include "nearest.h"
#include "output.h"

static const struct cli_command * const commands[] = {
	&info_command, &list_command,
#ifdef WITH_RECORD
	&record_command, &start_command, &stop_command, &pause_command, &resume_command,
	&status_command, &dump_command,
#endif
#ifdef WITH_DECODE
	&report_command, &annotate_command, &top_command, &graph_command, &replay_command, &export_command,
	&decode_command, &coverage_command, &merge_command, &filter_command,
#endif
	NULL
};

/* Commands that are missing from some builds, and the reasons. */
#define NO_DECODE	"it was built without libdw and json-c; copy the trace and its side-car file to a machine with a full build"
#define NO_RECORD	"it needs a RISC-V build"

static const struct {
	const char	*name;
	const char	*reason;
} missing[] = {
	{ "report", NO_DECODE },
	{ "annotate", NO_DECODE },
	{ "top", NO_DECODE },
	{ "graph", NO_DECODE },
	{ "replay", NO_DECODE },
	{ "export", NO_DECODE },
	{ "decode", NO_DECODE },
	{ "merge", NO_DECODE },
	{ "coverage", NO_DECODE },
	{ "filter", NO_DECODE },
	{ "record", NO_RECORD },
	{ "start", NO_RECORD },
	{ "stop", NO_RECORD },
	{ "pause", NO_RECORD },
	{ "resume", NO_RECORD },
	{ "status", NO_RECORD },
	{ "dump", NO_RECORD },
};

static void help(void)
{
	size_t i;

	puts("usage: sifive-trace COMMAND [OPTION]... ARGUMENT...\n\nCommands:");
	for (i = 0; commands[i]; i++)
		printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
	puts("\n"
	     "  -h, --help     print this help; after a command, print the command's help\n"
	     "  -V, --version  print the version\n"
	     "  --no-config    before a command: ignore the user's defaults for options\n"
	     "\n"
	     "Exit status: 0 done, 1 losses with --strict, 2 usage error, 3 input or output\n"
	     "error, or no records in the trace. record returns its program's exit status.");
}

/* Write what stdio has buffered. Return @result or, if a write failed, EXIT_UNREADABLE. */
static int finish(int result)
{
	if (!fflush(stdout) && !ferror(stdout))
		return result;
	report("standard output: cannot write: %s", strerror(errno));
	return EXIT_UNREADABLE;
}

static int run(const struct cli_command *command, int argc, char **argv)
{
	int result = command->run(argc, argv);

	if (command->whole && result >= EXIT_USAGE)
		output_remove();
	return finish(result == EXIT_HELP ? EXIT_OK : result);
}

static bool is_command(const char *name)
{
	size_t i;

	for (i = 0; commands[i]; i++)
		if (!strcmp(name, commands[i]->name))
			return true;
	for (i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
		if (!strcmp(name, missing[i].name))
			return true;
	return false;
}

static int no_command(const char *name)
{
	struct nearest nearest = { .wanted = name };
	char text[80];
	size_t i;

	for (i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
		if (!strcmp(name, missing[i].name))
			return usage_error("this sifive-trace does not support %s: %s",
					   name, missing[i].reason);
	if (!*name)
		return usage_error("no command: try sifive-trace --help");
	for (i = 0; commands[i]; i++)
		nearest_try(&nearest, commands[i]->name);
	return usage_error("no command \"%s\": %stry sifive-trace --help", name,
			   nearest_text(&nearest, "", text, sizeof(text)));
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	size_t i;

	/*
	 * With a fixed threshold, realloc() of large tables always uses mremap(), which does not
	 * copy.
	 */
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	if (!strcmp(name, "-h") || !strcmp(name, "--help")) {
		help();
		return finish(EXIT_OK);
	}
	if (!strcmp(name, "-V") || !strcmp(name, "--version")) {
		puts("sifive-trace " VERSION);
		return finish(EXIT_OK);
	}
	/* Internal: called by the shell scripts in completion/. */
	if (!strcmp(name, "complete")) {
		cli_complete(commands, argv + 2);
		return EXIT_OK;
	}
	if (!strcmp(name, "--no-config")) {
		name = argc > 2 ? argv[2] : "";
		argc--;
		argv++;
	} else if (config_read(is_command)) {
		return EXIT_USAGE;
	}
	for (i = 0; commands[i]; i++)
		if (!strcmp(name, commands[i]->name))
			return run(commands[i], argc - 1, argv + 1);
	return no_command(name);
}
