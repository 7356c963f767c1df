/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What all commands that read a trace have in common: options and opening. */
#ifndef SIFIVE_TRACE_OPTIONS_H
#define SIFIVE_TRACE_OPTIONS_H

#include <getopt.h>

#include "meta.h"
#include "symbols.h"
#include "trace.h"

/**
 * struct options - the common options
 * @trace:	how to decode
 * @symbols:	where names come from
 * @meta:	--meta, NULL for the file beside the trace
 * @ts_hz:	--ts-hz, 0: as the side-car file says
 * @strict:	losses are an error
 * @help:	the help was asked for
 * @path:	the trace
 */
struct options {
	struct trace_options	trace;
	struct symbols_options	symbols;
	const char		*meta;
	uint64_t		ts_hz;
	bool			strict;
	bool			help;
	const char		*path;
};

enum common_option {
	OPTION_TS_WIDTH = 256,
	OPTION_TS_SCHEME,
	OPTION_TS_HZ,
	OPTION_RING,
	OPTION_STRICT,
	OPTION_META,
	OPTION_SYMFS,
	OPTION_DEMANGLE,
	/* From here on each command's own. */
	OPTION_OWN
};

#define COMMON_SHORT	"e:c:s:qh"
#define COMMON_LONG							\
	{ "elf",	required_argument, NULL, 'e' },			\
	{ "channel",	required_argument, NULL, 'c' },			\
	{ "srcbits",	required_argument, NULL, 's' },			\
	{ "quiet",	no_argument,	   NULL, 'q' },			\
	{ "help",	no_argument,	   NULL, 'h' },			\
	{ "ts-width",	required_argument, NULL, OPTION_TS_WIDTH },	\
	{ "ts-scheme",	required_argument, NULL, OPTION_TS_SCHEME },	\
	{ "ts-hz",	required_argument, NULL, OPTION_TS_HZ },	\
	{ "ring",	no_argument,	   NULL, OPTION_RING },		\
	{ "strict",	no_argument,	   NULL, OPTION_STRICT },	\
	{ "meta",	required_argument, NULL, OPTION_META },		\
	{ "symfs",	required_argument, NULL, OPTION_SYMFS },	\
	{ "demangle",	required_argument, NULL, OPTION_DEMANGLE }

/* The help's part for them, to be printed behind the command's own. */
extern const char options_help[];

/** options_init() - all as if nothing had been said */
void options_init(struct options *options);

/**
 * options_parse() - take in a common option
 * @command:	name of the command, for messages
 * @option:	what getopt_long() returned; optarg as it left it
 *
 * Return: EXIT_OK, or EXIT_USAGE: the reason has been printed.
 */
int options_parse(struct options *options, const char *command, int option);

/**
 * options_trace() - the argument behind the options: the trace
 * @count:	how many traces the command takes
 */
int options_trace(struct options *options, int argc, char **argv);

/**
 * options_output() - refuse an output that would overwrite what is read
 * @output:	-o, NULL for none
 *
 * Return: EXIT_OK, or EXIT_USAGE: the reason has been printed.
 */
int options_output(const struct options *options, const char *output);

/** parse_number() - a decimal number from @least to @most; false: it is none */
bool parse_number(const char *text, int least, int most, int *number);

/** parse_word() - which of @count @words @text is, or -1 */
int parse_word(const char *text, const char * const *words, int count);

/**
 * struct input - a trace with all that belongs to it
 * @options:	as given to input_open()
 * @meta:	its side-car file
 * @symbols:	names
 * @trace:	its bytes and records
 * @hz:		ticks in a second, 0: unknown
 */
struct input {
	const struct options	*options;
	struct meta		meta;
	struct symbols		*symbols;
	struct trace		*trace;
	uint64_t		hz;
};

/**
 * input_open() - open a trace, its side-car file and its programs
 * @input:	filled; for input_close(), also after an error
 *
 * Return: an exit code; the reason has been printed.
 */
int input_open(struct input *input, const struct options *options);

/** input_close() - free all of it */
void input_close(struct input *input);

/**
 * input_summary() - say on standard error what was in the trace
 * @input:	after trace_run()
 * @perf:	say too how many records --format perf leaves out
 *
 * Return: the command's exit code: EXIT_UNREADABLE without a record,
 * EXIT_LOSSES with --strict.
 */
int input_summary(const struct input *input, bool perf);

#endif /* SIFIVE_TRACE_OPTIONS_H */
