/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Declares what all subcommands of sifive-trace share. */
#ifndef SIFIVE_TRACE_COMMAND_H
#define SIFIVE_TRACE_COMMAND_H

#include "cli.h"

/* Exit codes of every subcommand. */
enum exit_code {
	EXIT_HELP	= -1,	/* internal: help was printed, exit with 0 */
	EXIT_OK		= 0,
	EXIT_LOSSES	= 1,	/* with --strict: data was lost or damaged */
	EXIT_USAGE	= 2,
	EXIT_UNREADABLE	= 3,	/* input or output error, or the trace has no records */
};

/**
 * report() - print a line "sifive-trace: ..." to standard error
 * @format:	format string for printf, without a newline
 */
void report(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * report_to() - pass this thread's messages to a function instead of printing them
 * @receive:	receives each message, without a newline; NULL to resume printing
 * @context:	argument for @receive
 */
void report_to(void (*receive)(void *context, const char *text), void *context);

/**
 * usage_error() - report() an error in the arguments
 * @format:	format string for printf, without a newline
 *
 * Return: EXIT_USAGE.
 */
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The subcommands. */
extern const struct cli_command info_command;
extern const struct cli_command list_command;
extern const struct cli_command record_command;
extern const struct cli_command start_command;
extern const struct cli_command stop_command;
extern const struct cli_command pause_command;
extern const struct cli_command resume_command;
extern const struct cli_command status_command;
extern const struct cli_command dump_command;
extern const struct cli_command decode_command;
extern const struct cli_command report_command;
extern const struct cli_command top_command;
extern const struct cli_command graph_command;
extern const struct cli_command replay_command;
extern const struct cli_command export_command;
extern const struct cli_command merge_command;
extern const struct cli_command coverage_command;
extern const struct cli_command annotate_command;
extern const struct cli_command filter_command;

#endif /* SIFIVE_TRACE_COMMAND_H */
