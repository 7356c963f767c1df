// SPDX-License-Identifier: Apache-2.0 OR MIT
/* sifive-trace: records, and answers from the traces of SiFive processors. */
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

static const struct subcommand {
	const char	*name;
	int		(*run)(int argc, char **argv);
	const char	*help;
} subcommands[] = {
	{ "info", command_info, "this machine's trace hardware, and what is missing" },
	{ "list", command_list, "the events that this machine can count" },
#ifdef WITH_RECORD
	{ "record", command_record, "run a program and record what it does" },
	{ "start", command_start, "record whatever runs, until stop" },
	{ "stop", command_stop, "end what start has begun" },
	{ "status", command_status, "who records, and how much there is" },
	{ "dump", command_dump, "write what was recorded to a file" },
#endif
#ifdef WITH_DECODE
	{ "report", command_report, "what each function cost: calls, time, counters" },
	{ "graph", command_graph, "the tree of calls, with what each branch cost" },
	{ "replay", command_replay, "the program's run, call by call" },
	{ "export", command_export, "for Perfetto, flame graphs, Trace Compass, a browser" },
	{ "decode", command_decode, "print the records of a trace, one by one" },
	{ "filter", command_filter, "select the functions to record" },
#endif
};

/* Commands that some builds do not have. */
#define NO_DECODE	"it was built without libdw and json-c; use one on a machine that has them, for which traces are copied with their side-car files"
#define NO_RECORD	"it was built for another machine than the traced one, which is a RISC-V machine"

static const struct {
	const char	*name;
	const char	*reason;
} missing[] = {
	{ "report", NO_DECODE },
	{ "graph", NO_DECODE },
	{ "replay", NO_DECODE },
	{ "export", NO_DECODE },
	{ "decode", NO_DECODE },
	{ "filter", NO_DECODE },
	{ "record", NO_RECORD },
	{ "start", NO_RECORD },
	{ "stop", NO_RECORD },
	{ "status", NO_RECORD },
	{ "dump", NO_RECORD },
};

#define SUBCOMMANDS	(sizeof(subcommands) / sizeof(subcommands[0]))

static void help(void)
{
	size_t i;

	puts("usage: sifive-trace COMMAND [OPTION]... ARGUMENT...\n\nCommands:");
	for (i = 0; i < SUBCOMMANDS; i++)
		printf("  %-10s %s\n", subcommands[i].name, subcommands[i].help);
	puts("\n"
	     "  -h, --help     this text; after a command, its own\n"
	     "  -V, --version  the version\n"
	     "\n"
	     "Exit status: 0 done, 1 losses with --strict, 2 wrong usage, 3 nothing could be\n"
	     "read, or not be written. record: its program's, or see its help.");
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	size_t i;

	/* Large tables grow in place, whatever large was released before. */
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	if (!strcmp(name, "-h") || !strcmp(name, "--help")) {
		help();
		return EXIT_OK;
	}
	if (!strcmp(name, "-V") || !strcmp(name, "--version")) {
		puts("sifive-trace " VERSION);
		return EXIT_OK;
	}
	for (i = 0; i < SUBCOMMANDS; i++)
		if (!strcmp(name, subcommands[i].name))
			return subcommands[i].run(argc - 1, argv + 1);

	for (i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
		if (!strcmp(name, missing[i].name))
			return usage_error("this sifive-trace has no %s: %s",
					   name, missing[i].reason);

	if (!*name)
		return usage_error("no command: try sifive-trace --help");
	return usage_error("no command \"%s\": try sifive-trace --help", name);
}
