/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Runs a program. */
#ifndef SIFIVE_TRACE_LAUNCH_H
#define SIFIVE_TRACE_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "program.h"

/**
 * struct launch - a program to run
 * @path, @argv: program and its arguments, for execv()
 * @before:	called in the new process before exec with @argument; returns 0, or -1
 *		after printing an error: the process then exits with EXIT_RECORD
 * @meanwhile:	called with @argument repeatedly while the program runs; it waits for
 *		work, or for a signal that @mask allows; may be NULL
 * @children:	also wait for all processes that the program creates, until a signal ends the
 *		command; ^C while the program runs has this effect if it ends the program
 * @left:	if @children is set: called with @argument if other processes are still running
 *		when the program has ended
 */
struct launch {
	const char	*path;
	char		**argv;
	int		(*before)(void *argument);
	void		*argument;
	void		(*meanwhile)(void *argument, const sigset_t *mask);
	bool		children;
	void		(*left)(void *argument);
};

/**
 * struct launched - the result of running a program
 * @pid:	process ID
 * @signal:	the signal that ended it, or 0
 * @ran:	the program was started; otherwise the error has been printed
 * @interrupted: a signal arrived that ends the command, or would end it if the program did not
 *		handle it
 */
struct launched {
	pid_t		pid;
	int		signal;
	bool		ran;
	bool		interrupted;
};

/**
 * launch_begin() - block signals that would end the command, until launch_end()
 *
 * Call it before the first temporary file. If such a signal then arrives before launch_run(), the
 * program is not run. SIGPIPE and SIGXFSZ are ignored, but not in the program.
 */
void launch_begin(void);

/**
 * launch_run() - run a program and wait for its end, after launch_begin()
 * @launch:	program to run
 * @launched:	filled
 *
 * Keys that send signals, such as ^C, reach only the program. Signals that the command
 * ignores, such as under nohup(1), remain ignored, even in the program. Signals that would end the
 * command remain blocked until launch_end(), so that it can write what it has recorded.
 *
 * Return: its exit status; 128 plus the signal that ended it; EXIT_CANNOT_RUN or
 * EXIT_RECORD if it did not run.
 */
int launch_run(const struct launch *launch, struct launched *launched);

/**
 * launch_end() - restore the signal handling from before launch_begin(), and discard signals that
 * have arrived since the program ended
 */
void launch_end(void);

#endif /* SIFIVE_TRACE_LAUNCH_H */
