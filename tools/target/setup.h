/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What is to be recorded: the options that record and start have in common. */
#ifndef SIFIVE_TRACE_SETUP_H
#define SIFIVE_TRACE_SETUP_H

#include <stdbool.h>

#include "../cli.h"

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
	int				sram;	/* 0 or 1 */
};

/* The groups of these options, for a struct whose member @member they are. */
#define SETUP_GROUPS(type, member)						\
	{ "What to record", setup_what, offsetof(type, member) },		\
	{ "Where to", setup_where, offsetof(type, member) }

extern const struct cli_option setup_what[];
extern const struct cli_option setup_where[];

/** setup_init() - all as if nothing had been said */
void setup_init(struct setup *setup);

/** setup_header_interval() - for @set of record's option of that name */
int setup_header_interval(void *at, const struct cli_option *option, const char *value);

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
