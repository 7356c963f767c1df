/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Handles the options of all commands that read a trace, and opens the trace. */
#ifndef SIFIVE_TRACE_OPTIONS_H
#define SIFIVE_TRACE_OPTIONS_H

#include <limits.h>

#include "cli.h"
#include "meta.h"
#include "range.h"
#include "symbols.h"
#include "trace.h"
#include "utc.h"

/*
 * The calls to show if a trace contains both kinds: those from the instruction trace, or those that
 * instrumented functions recorded.
 */
enum options_calls {
	OPTIONS_CALLS_INSTRUCTIONS,
	OPTIONS_CALLS_RECORDS,
};

/* The clock of the times that a command shows, in the order of the words of --clock. */
enum options_clock {
	OPTIONS_CLOCK_TRACE,
	OPTIONS_CLOCK_UTC,
};

/**
 * struct options - the common options
 * @trace:	settings for decoding the trace
 * @symbols:	settings for symbol lookup
 * @meta:	value of --meta, or NULL for TRACE.meta
 * @ts_hz:	value of --ts-hz, or 0 for the tick rate in the side-car file
 * @range:	value of --time
 * @clock:	enum options_clock, from --clock, for commands that show when records were made
 * @calls:	enum options_calls, from --calls, for commands that show calls
 * @threshold:	value of --time-threshold in nanoseconds, for commands that show calls; 0 for the
 *		threshold of the recording, or UNITS_NO_TIME for none
 * @tid:	value of --tid, for commands that show threads, or -1 for all threads
 * @strict:	set by --strict, to treat losses as an error
 * @output:	value of -o, or NULL for the default; the option is in each command's own table
 * @path:	path of the trace; if several are merged, the name of the merged trace in messages
 * @part:	the @parts traces that are merged; @parts is 0 if @path is the only trace
 * @name:	memory for @path if traces are merged
 */
struct options {
	struct trace_options	trace;
	struct symbols_options	symbols;
	const char		*meta;
	uint64_t		ts_hz;
	struct range		range;
	int			clock;
	int			calls;
	uint64_t		threshold;
	int			tid;
	bool			strict;
	const char		*output;
	const char		*path;
	char			**part;
	unsigned int		parts;
	char			name[PATH_MAX + 32];
};

/* The option groups of a command whose struct @type has a struct options as @member. */
#define OPTIONS_GROUPS(type, member)					\
	{ "The trace and how to read it", options_reading,		\
	  offsetof(type, member) },					\
	{ "Names of functions and lines", options_names, offsetof(type, member) }

/* Like OPTIONS_GROUPS, for commands that show calls. */
#define OPTIONS_CALLS_GROUPS(type, member)				\
	{ NULL, options_time, offsetof(type, member) },			\
	{ NULL, options_calls, offsetof(type, member) },		\
	OPTIONS_GROUPS(type, member)

/* The option --depth of a command that shows a call tree. */
#define OPTIONS_DEPTH(type, member)						\
	{ .name = "depth", .value = "N", .help = "show at most N levels of calls", \
	  .set = cli_number, .offset = offsetof(type, member),			\
	  .least = 1, .most = 1000000 }

/* The option --filter of a command that shows calls, for a struct cli_list. */
#define OPTIONS_FILTER(type, member)						\
	{ .name = "filter", .value = "PATTERN",					\
	  .help = "show only calls to functions with this name, and what they call; * matches any characters, ? one; may be repeated", \
	  .set = cli_append, .offset = offsetof(type, member) }

/* The option --tid of a command whose struct has a struct options as @common. */
#define OPTIONS_TID(type, common)						\
	{ .name = "tid", .value = "N", .help = "show only the thread with this id", \
	  .set = cli_number, .offset = offsetof(type, common.tid), .most = INT_MAX }

extern const struct cli_option options_time[];
extern const struct cli_option options_clock[];
extern const struct cli_option options_calls[];
extern const struct cli_option options_reading[];
extern const struct cli_option options_names[];

/* The last sentence in the help of commands that read several traces. */
#define OPTIONS_SEVERAL							\
	" Several traces, of all sinks of a recording, are read as if merged by sifive-trace merge."

/* Exit codes of these commands, for their help. */
#define OPTIONS_STATUS							\
	"Exit status: 0 done, 1 losses with --strict, 2 usage error, 3 input or output error, or no records in the trace."

/** options_init() - set all defaults */
void options_init(struct options *options);

/* The arguments that a command accepts. */
enum options_takes {
	OPTIONS_ONE,		/* a trace */
	OPTIONS_TRACES,		/* traces of one recording, which are read as one */
	OPTIONS_AND_MORE,	/* traces of one recording, then other arguments */
};

/**
 * options_parse() - parse the command line of a command that reads traces
 * @command:	the command, with its tables
 * @target:	the struct that the tables fill
 * @options:	the common options in @target
 * @takes:	enum options_takes; other arguments begin at optind
 *
 * Return: like cli_parse(); the traces are in @options.
 */
int options_parse(const struct cli_command *command, void *target, struct options *options,
		  enum options_takes takes, int argc, char **argv);

/** options_first() - return the path of the (first) trace */
const char *options_first(const struct options *options);

/**
 * options_spares() - check that an output file is not also an input file
 * @path:	the output, or NULL for standard output
 *
 * Return: false after printing an error if the output is also an input.
 */
bool options_spares(const struct options *options, const char *path);

/** options_output() - refuse -o if it names an input file; return EXIT_OK or EXIT_USAGE */
int options_output(const struct options *options);

/** options_thread() - return whether --tid selects a thread; @tid: its id, or -1 if unknown */
static inline bool options_thread(const struct options *options, int64_t tid)
{
	return options->tid < 0 || tid == options->tid;
}

/**
 * options_matches() - return whether a name matches any pattern of --filter, or no pattern is given
 */
bool options_matches(const struct cli_list *filter, const char *name);

/** options_nothing() - report that --filter or --tid selects nothing, if it is given */
void options_nothing(const struct options *options, const struct cli_list *filter);

/**
 * options_all_calls() - show calls of any length, even if the recording has a threshold
 *
 * Return: false if --time-threshold excludes calls.
 */
bool options_all_calls(struct options *options);

/**
 * struct input - an open trace with its side-car file and symbols
 * @options:	options given to input_open()
 * @meta:	side-car file of the trace
 * @symbols:	names of functions and source lines
 * @trace:	bytes and records of the trace
 * @utc:	wall clock of the trace
 * @hz:		ticks per second, or 0 if unknown
 * @from, @to: selected time range, in ticks
 * @limited:	the range is not the whole trace
 * @shortest:	calls of fewer ticks are left out
 */
struct input {
	const struct options	*options;
	struct meta		meta;
	struct symbols		*symbols;
	struct trace		*trace;
	struct utc		utc;
	uint64_t		hz;
	uint64_t		from;
	uint64_t		to;
	bool			limited;
	uint64_t		shortest;
};

/**
 * input_open() - open a trace, its side-car file and its programs
 * @input:	the result; call input_close() even after an error
 *
 * Return: an exit code; errors have been printed.
 */
int input_open(struct input *input, const struct options *options);

/** input_is_utc() - return whether to show wall-clock times, with --clock utc */
static inline bool input_is_utc(const struct input *input)
{
	return input->options->clock == OPTIONS_CLOCK_UTC;
}

/* Width of a wall-clock time in text. */
#define INPUT_UTC_WIDTH	21

/**
 * input_time() - convert a time in the trace to the clock of --clock
 * @time:	a time in ticks, replaced by nanoseconds since the Epoch with --clock utc
 *
 * Return: the rate of the result, for put_time().
 */
uint64_t input_time(const struct input *input, uint64_t *time);

/**
 * input_nothing() - report that --time selects nothing
 * @what:	what the command shows: "records" or "instructions"
 * @span:	times of all of the trace's records or instructions
 */
void input_nothing(const struct input *input, const char *what, const struct range_span *span);

/** input_close() - close and free an input */
void input_close(struct input *input);

/* The data that a command reads from a trace. */
enum input_reads {
	INPUT_RECORDS,
	INPUT_STORES,		/* records, but not calls from the instruction trace */
	INPUT_TIMES,		/* records, or context switches */
	INPUT_PERF,		/* records that --format perf can show */
	INPUT_FLOW,		/* instruction trace */
};

/**
 * input_summary() - print a summary of the trace to standard error
 * @input:	the trace, after trace_run()
 * @reads:	enum input_reads
 *
 * Return: the command's exit code: EXIT_UNREADABLE if the trace lacks the data that it reads,
 * EXIT_LOSSES with --strict.
 */
int input_summary(const struct input *input, enum input_reads reads);

#endif /* SIFIVE_TRACE_OPTIONS_H */
