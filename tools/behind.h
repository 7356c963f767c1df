/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Writes full output buffers in one thread, in order of arrival, while the program fills other
 * buffers.
 */
#ifndef SIFIVE_TRACE_BEHIND_H
#define SIFIVE_TRACE_BEHIND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/**
 * struct behind_file - a file being written
 * @fd:		the file
 * @error:	errno of the first failed write, after which nothing more is written
 * @waiting:	number of buffers that have not been written yet; private to behind.c
 */
struct behind_file {
	int		fd;
	atomic_int	error;
	unsigned int	waiting;
};

/** behind_write() - write bytes now, in this thread */
void behind_write(struct behind_file *file, const char *bytes, size_t length);

/** behind_begin() - start the thread if it is not running; return whether it is running */
bool behind_begin(void);

/**
 * behind_end() - call once for each successful behind_begin(); the last call ends the
 * thread
 */
void behind_end(void);

/**
 * behind_put() - pass a buffer to the thread, which writes it
 * @buffer:	a buffer from malloc(), which the thread then owns
 * @used:	number of bytes to write
 * @size:	size of every buffer in bytes
 *
 * Return: another buffer, which the caller owns; or NULL if out of memory, in which case the caller
 * continues to own @buffer.
 */
char *behind_put(struct behind_file *file, char *buffer, size_t used, size_t size);

/** behind_wait() - wait until all buffers for a file have been written */
void behind_wait(struct behind_file *file);

#endif /* SIFIVE_TRACE_BEHIND_H */
