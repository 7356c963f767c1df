/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* How far long work has come, on standard error when that is a terminal. */
#ifndef SIFIVE_TRACE_PROGRESS_H
#define SIFIVE_TRACE_PROGRESS_H

#include <stdint.h>

struct progress;

/**
 * progress_new() - begin to read a file
 * @fd:	the file; its size is the whole
 *
 * Return: NULL where nobody would see it.
 */
struct progress *progress_new(int fd);

/** progress_show() - so many bytes have been read; NULL is fine */
void progress_show(struct progress *progress, uint64_t bytes);

/** progress_end() - clear the line and free; NULL is fine */
void progress_end(struct progress *progress);

#endif /* SIFIVE_TRACE_PROGRESS_H */
