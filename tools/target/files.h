/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The files that a trace is written to: one, or one for each sink. */
#ifndef SIFIVE_TRACE_FILES_H
#define SIFIVE_TRACE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** files_path() - the file that -o means: a folder gets a trace.rtd; 0 or -1 */
int files_path(const char *wanted, char *path, size_t size);

/**
 * files_check() - whether a trace can be written, before a program is run for it
 *
 * Return: 0, or -1: the reason has been printed.
 */
int files_check(const char *path);

/** files_remove() - remove, or empty behind a link, what was recorded before */
void files_remove(const char *path);

/** files_show() - say which files there are; the bytes of all of them */
uint64_t files_show(const char *path, bool quiet);

#endif /* SIFIVE_TRACE_FILES_H */
