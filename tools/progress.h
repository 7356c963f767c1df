/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Shows the progress of long work on standard error, if that is a terminal. */
#ifndef SIFIVE_TRACE_PROGRESS_H
#define SIFIVE_TRACE_PROGRESS_H

#include <stdint.h>

/** progress_clock() - return the time of a monotonic clock in milliseconds */
int64_t progress_clock(void);

struct progress;

/**
 * progress_new() - begin to show the progress of reading a file
 * @fd:		the file, whose size is 100 %
 *
 * Return: the progress, or NULL if standard error is not a terminal.
 */
struct progress *progress_new(int fd);

/** progress_of() - like progress_new(), but for a total of @whole bytes (0: unknown) */
struct progress *progress_of(uint64_t whole);

/** progress_show() - show that @bytes bytes have been read; NULL is allowed */
void progress_show(struct progress *progress, uint64_t bytes);

/** progress_end() - clear the line and free @progress; NULL is allowed */
void progress_end(struct progress *progress);

#endif /* SIFIVE_TRACE_PROGRESS_H */
