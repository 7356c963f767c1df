/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What is to be recorded: the options that record and start have in common. */
#ifndef SIFIVE_TRACE_SETUP_H
#define SIFIVE_TRACE_SETUP_H

#include <getopt.h>
#include <stdbool.h>

/* Before the driver's header, which makes macros of names in it. */
#include "sifive_trace.h"
#include "lib/session.h"

/* Microseconds between two samples where the user does not say. */
#define SETUP_INTERVAL	1000

/**
 * struct setup - what the user wants
 * @options:	in the library's words, after setup_finish()
 * @parsed:	the same in the driver's words
 * @events:	-e, NULL: what there is of cycles and instructions
 * @sram:	--sink sram
 */
struct setup {
	struct sifive_trace_options	options;
	struct perf_setup		parsed;
	const char			*events;
	bool				sram;
};

enum setup_option {
	OPTION_COUNT = 512,
	OPTION_RING,
	OPTION_SINK,
	OPTION_CHANNEL,
	OPTION_PER_THREAD,
	/* From here on each command's own. */
	OPTION_COMMAND
};

#define SETUP_SHORT	"e:b:C:i:c:"
#define SETUP_LONG							\
	{ "event",	required_argument, NULL, 'e' },			\
	{ "buffer",	required_argument, NULL, 'b' },			\
	{ "cpus",	required_argument, NULL, 'C' },			\
	{ "interval",	required_argument, NULL, 'i' },			\
	{ "period",	required_argument, NULL, 'c' },			\
	{ "count",	required_argument, NULL, OPTION_COUNT },	\
	{ "ring",	no_argument,	   NULL, OPTION_RING },		\
	{ "sink",	required_argument, NULL, OPTION_SINK },		\
	{ "channel",	required_argument, NULL, OPTION_CHANNEL },	\
	{ "per-thread",	no_argument,	   NULL, OPTION_PER_THREAD }

/* The help's part for them; whether threads have counts is for record alone. */
extern const char setup_help[];

/** setup_init() - all as if nothing had been said */
void setup_init(struct setup *setup);

/**
 * setup_option() - take in an option
 * @command:	name of the command, for messages
 * @option:	what getopt_long() returned; optarg as it left it
 *
 * Return: EXIT_OK, or EXIT_USAGE: the reason has been printed.
 */
int setup_option(struct setup *setup, const char *command, int option);

/** setup_header_interval() - take in the argument of that option; EXIT_OK or an error's */
int setup_header_interval(struct setup *setup);

/** setup_sampled() - whether the kernel is to write records */
bool setup_sampled(const struct setup *setup);

/** setup_finish() - check all of it; 0 or -1: the reason has been printed */
int setup_finish(struct setup *setup);

/**
 * setup_ignored() - say which variables of the library stand in the environment for
 * nothing, since @command takes options
 */
void setup_ignored(const char *command);

/** setup_environment() - tell the library that a program loads; 0 or -1 */
int setup_environment(const struct setup *setup, const char *output);

#endif /* SIFIVE_TRACE_SETUP_H */
