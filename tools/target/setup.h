/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Handles the options that record and start share: what to record, and to which sink. */
#ifndef SIFIVE_TRACE_SETUP_H
#define SIFIVE_TRACE_SETUP_H

#include <stdbool.h>

#include "../cli.h"

/* Include this before the driver's header, which defines macros with names used here. */
#include "sifive_trace.h"
#include "lib/session.h"

/* Default sampling interval in microseconds. */
#define SETUP_INTERVAL	1000

/**
 * struct setup - the user's settings
 * @options:	options for the library, complete after setup_finish()
 * @parsed:	@options in the driver's form
 * @events:	value of -e, or NULL for cycles and instructions if available
 * @sram:	set by --sink sram
 * @per_cpu:	set if counts are per hart
 * @switches:	set if the kernel records context switches
 * @syscalls:	set if the kernel also records system calls
 * @faults:	set if the kernel also records page faults
 * @turn_us:	length of a turn in microseconds, if there are more events than counters
 */
struct setup {
	struct sifive_trace_options	options;
	struct perf_setup		parsed;
	const char			*events;
	int				sram;	/* 1 for --sink sram */
	bool				per_cpu;
	bool				switches;
	bool				syscalls;
	bool				faults;
	unsigned int			turn_us;
};

/* The option groups of a command. Its struct @type has a member @member of type struct setup. */
#define SETUP_GROUPS(type, member)						\
	{ "What to record", setup_what, offsetof(type, member) },		\
	{ "Where to", setup_where, offsetof(type, member) }

extern const struct cli_option setup_what[];
extern const struct cli_option setup_where[];

/** setup_init() - set all defaults */
void setup_init(struct setup *setup);

/** setup_header_interval() - @set function of record's option --header-interval */
int setup_header_interval(void *at, const struct cli_option *option, const char *value);

/** setup_turn() - @set function of record's option --turn */
int setup_turn(void *at, const struct cli_option *option, const char *value);

/** setup_size() - @set function of an option whose value is a size in bytes, stored as uint64_t */
int setup_size(void *at, const struct cli_option *option, const char *value);

/** setup_duration() - like setup_size(), but for a time in nanoseconds */
int setup_duration(void *at, const struct cli_option *option, const char *value);

/** struct setup_pieces - the length of a recording's pieces: @size bytes, or @time ns */
struct setup_pieces {
	uint64_t	size;
	uint64_t	time;
};

/* The minimum size of a piece. */
#define SETUP_PIECE_LEAST	4096

/** setup_rotate() - like setup_size(), but for a size or a time, stored as struct setup_pieces */
int setup_rotate(void *at, const struct cli_option *option, const char *value);

/** setup_sampled() - return whether the kernel writes samples */
bool setup_sampled(const struct setup *setup);

/** setup_finish() - check the settings; return 0, or -1 after printing an error */
int setup_finish(struct setup *setup);

/**
 * setup_ignored() - report environment variables of the library that @command
 * ignores, with the options to use instead
 */
void setup_ignored(const char *command);

/**
 * setup_environment() - set the environment variables for the preloaded library; return 0 or -1
 * @output:	path of the trace or, if @join is set, of the directory in which the processes write
 *		their data
 * @join:	set if the command holds the session, and processes join it
 */
int setup_environment(const struct setup *setup, const char *output, bool join);

#endif /* SIFIVE_TRACE_SETUP_H */
