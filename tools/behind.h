/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writes full buffers of all outputs in one thread, in the order in which they come,
 * while the program fills others.
 */
#ifndef SIFIVE_TRACE_BEHIND_H
#define SIFIVE_TRACE_BEHIND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * struct behind_file - a file that is written
 * @fd:		the file
 * @error:	errno of the first write that has failed; nothing is written after it
 * @waiting:	private to behind.c: number of buffers that are not yet written
 */
struct behind_file {
	int		fd;
	atomic_int	error;
	unsigned int	waiting;
};

/** behind_write() - write bytes now, in this thread */
void behind_write(struct behind_file *file, const char *bytes, size_t length);

/** behind_begin() - start the thread, unless it runs; returns whether it does */
bool behind_begin(void);

/** behind_end() - once for each behind_begin() that has succeeded; the last one ends the thread */
void behind_end(void);

/**
 * behind_put() - have the thread write a buffer
 * @buffer:	from malloc(); the thread's from now on
 * @used:	bytes to write
 * @size:	bytes of all buffers
 *
 * Return: another buffer, which is the caller's now; NULL if out of memory: nothing was done.
 */
char *behind_put(struct behind_file *file, char *buffer, size_t used, size_t size);

/** behind_wait() - wait until all buffers of a file are written */
void behind_wait(struct behind_file *file);

#endif /* SIFIVE_TRACE_BEHIND_H */
