/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Names and creates a trace's files: one, or one per sink. */
#ifndef SIFIVE_TRACE_FILES_H
#define SIFIVE_TRACE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../output.h"

/**
 * files_path() - choose the file for -o
 * @given:	argument of -o, or NULL to use trace.rtd
 * @path:	set to the path of the file; if -o names a directory, the path of trace.rtd in it
 *
 * The command follows a link only if the user named the link, not if the command chose or derived
 * the name. Return: 0, or -1 after printing an error.
 */
int files_path(const char *given, char *path, size_t size);

/**
 * files_check() - check that a trace can be written, before the program runs
 *
 * Return: 0, or -1 after printing an error.
 */
int files_check(const char *path);

/**
 * files_restrict() - make files created after this call readable only by the user
 *
 * Return: the previous file mode creation mask.
 */
mode_t files_restrict(void);

/**
 * files_create() - create a file of a recording for writing
 *
 * An existing file whose name the command chose is removed first, because another user may have put
 * a link there. Return: the new file's descriptor, or -1 with errno.
 */
int files_create(const char *path);

/** files_open() - like files_create(); return an output, or NULL after printing an error */
struct output *files_open(const char *path);

/** files_remove_names() - remove an earlier trace's file of kernel function names */
void files_remove_names(const char *path);

/**
 * files_remove_one() - remove one trace and its side-car file
 *
 * If the user named the file, a link is followed and its target emptied, because the new trace is
 * written there. Return: whether there was a trace.
 */
bool files_remove_one(const char *path);

/** files_remove() - remove an existing recording at the path, or empty it if a link leads to it */
void files_remove(const char *path);

/** files_show() - print the names and sizes of the files; return their total size */
uint64_t files_show(const char *path, bool quiet);

#endif /* SIFIVE_TRACE_FILES_H */
