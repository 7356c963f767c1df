/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What the subcommands of sifive-trace share. */
#ifndef SIFIVE_TRACE_COMMAND_H
#define SIFIVE_TRACE_COMMAND_H

/* Exit codes of every subcommand. */
enum exit_code {
	EXIT_OK		= 0,
	EXIT_LOSSES	= 1,	/* --strict, and something was lost or damaged */
	EXIT_USAGE	= 2,
	EXIT_UNREADABLE	= 3,	/* no file, trace or record; or not written */
};

/**
 * report() - print a line "sifive-trace: …" to standard error
 * @format:	as for printf, without a newline
 */
void report(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * usage_error() - report() what is wrong with the arguments
 * @format:	as for printf, without a newline
 *
 * Return: EXIT_USAGE.
 */
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The subcommands: argv[0] is the subcommand's name. Return an exit_code. */
int command_info(int argc, char **argv);
int command_list(int argc, char **argv);
int command_record(int argc, char **argv);
int command_start(int argc, char **argv);
int command_stop(int argc, char **argv);
int command_status(int argc, char **argv);
int command_dump(int argc, char **argv);
int command_decode(int argc, char **argv);
int command_report(int argc, char **argv);
int command_graph(int argc, char **argv);
int command_replay(int argc, char **argv);
int command_export(int argc, char **argv);
int command_filter(int argc, char **argv);

#endif /* SIFIVE_TRACE_COMMAND_H */
