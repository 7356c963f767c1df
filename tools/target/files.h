/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The files of a trace: one, or one per sink. */
#ifndef SIFIVE_TRACE_FILES_H
#define SIFIVE_TRACE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** files_path() - the file for -o, trace.rtd in the folder if -o names a folder; 0 or -1 */
int files_path(const char *wanted, char *path, size_t size);

/**
 * files_check() - check that a trace can be written, before the program runs
 *
 * Return: 0, or -1 after printing an error.
 */
int files_check(const char *path);

/** files_remove() - remove the previous recording, or empty it if a link leads to it */
void files_remove(const char *path);

/** files_show() - print the files; returns their total size */
uint64_t files_show(const char *path, bool quiet);

#endif /* SIFIVE_TRACE_FILES_H */
