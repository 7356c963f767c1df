/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Running a program. */
#ifndef SIFIVE_TRACE_LAUNCH_H
#define SIFIVE_TRACE_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "program.h"

/**
 * struct launch - a program to be run
 * @path, @argv: of execv()
 * @before:	called in the new process before that, with @argument: 0, or -1: the
 *		reason has been printed, and it ends with EXIT_RECORD
 * @meanwhile:	called with @argument again and again while the program runs: it
 *		waits until it has something to do, or for a signal that @mask lets in;
 *		NULL: nothing is to do
 */
struct launch {
	const char	*path;
	char		**argv;
	int		(*before)(void *argument);
	void		*argument;
	void		(*meanwhile)(void *argument, const sigset_t *mask);
};

/**
 * struct launched - what has become of it
 * @pid:	its process
 * @signal:	that ended it, or 0
 * @ran:	it has begun; otherwise the reason has been printed
 */
struct launched {
	pid_t		pid;
	int		signal;
	bool		ran;
};

/**
 * launch_run() - run it to its end
 * @launch:	what to run
 * @launched:	filled
 *
 * The terminal's keys are for the program meanwhile. What the command was asked to
 * ignore, as nohup(1) does, it goes on to ignore, and so does the program.
 *
 * Return: its exit status, 128 and the signal that ended it; EXIT_CANNOT_RUN or
 * EXIT_RECORD when it has not run.
 */
int launch_run(const struct launch *launch, struct launched *launched);

#endif /* SIFIVE_TRACE_LAUNCH_H */
