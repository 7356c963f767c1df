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
 * @before:	called with @argument in the new process, before exec; returns 0, or -1 after
 *		printing an error, in which case the process exits with EXIT_RECORD
 * @meanwhile:	called repeatedly with @argument while the program runs; waits for work, or for a
 *		signal that @mask does not block. May be NULL
 * @children:	set to also wait for all processes that the program creates. The command does
 *		not wait for children that it had before, such as those of a shell that executed
 *		it. A signal that ends the command also ends this wait, as does ^C if ^C has ended
 *		the program
 * @left:	called with @argument if @children is set and other processes are still running when
 *		the program has ended
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
 * @signal:	signal that ended the program, or 0
 * @ran:	set if the program was started; otherwise the error has been printed
 * @interrupted: set if a signal arrived that ends the command, or would end it if the program did
 *		not handle the signal
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
 * Call this before creating the first temporary file. If such a signal then arrives before
 * launch_run(), the program is not run. SIGPIPE and SIGXFSZ are ignored, but not in the program.
 */
void launch_begin(void);

/**
 * launch_run() - run a program and wait for its end, after launch_begin()
 * @launch:	program to run
 * @launched:	set to the result
 *
 * Signals from keys such as ^C are left to the program. Signals that the command ignores, such as
 * under nohup(1), remain ignored, even in the program. Signals that would end the command remain
 * blocked until launch_end(), so that the command can write what it has recorded.
 *
 * Return: the program's exit status; 128 plus the number of the signal that ended it; or
 * EXIT_CANNOT_RUN or EXIT_RECORD if it did not run.
 */
int launch_run(const struct launch *launch, struct launched *launched);

/**
 * launch_end() - restore the signal handling from before launch_begin(), and discard signals that
 * have arrived since the program ended
 */
void launch_end(void);

#endif /* SIFIVE_TRACE_LAUNCH_H */
