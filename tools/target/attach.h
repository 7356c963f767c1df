/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A running process, recorded with record -p. */
#ifndef SIFIVE_TRACE_ATTACH_H
#define SIFIVE_TRACE_ATTACH_H

#include "recording.h"

/**
 * attach_find() - identify the process to record
 *
 * Sets the program's path and arguments. Return: 0, or -1 if it cannot be recorded: the error has
 * been printed.
 */
int attach_find(struct recording *r);

/** attach_check() - report that the process may run where the session does not record */
void attach_check(const struct recording *r);

/**
 * attach_wait() - in a child of the command: wait for the end of the recording
 *
 * Executes the given command, or exits when the process has ended. Return: -1: the error has been
 * printed.
 */
int attach_wait(const struct recording *r);

#endif /* SIFIVE_TRACE_ATTACH_H */
