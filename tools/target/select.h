/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* A filter file for the library, from names in a program's symbol tables. */
#ifndef SIFIVE_TRACE_SELECT_H
#define SIFIVE_TRACE_SELECT_H

#include <stddef.h>

#include "program.h"

/**
 * select_functions() - write a filter file
 * @program:	whose objects' functions are looked at
 * @pattern:	names as fnmatch() takes them, @patterns of them
 * @path:	a name for mkstemp(): the file's name afterwards
 *
 * Return: 0; -1 when no function fits or it cannot be written: the reason has been
 * printed, and there is no file.
 */
int select_functions(const struct program *program, const char * const *pattern,
		     size_t patterns, char *path);

#endif /* SIFIVE_TRACE_SELECT_H */
