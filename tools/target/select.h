/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Writes a filter file for the library, from names in a program's symbol tables. */
#ifndef SIFIVE_TRACE_SELECT_H
#define SIFIVE_TRACE_SELECT_H

#include <stddef.h>

#include "../trace/meta_part.h"
#include "program.h"

/**
 * select_functions() - write a filter file
 * @program:	the program, whose objects are searched
 * @pattern:	the @patterns patterns for fnmatch()
 * @path:	a template for mkstemp(), which is replaced by the file's name
 *
 * Return: 0, or -1 after printing an error if no function matches or a write fails; in that
 * case no file is left behind.
 */
int select_functions(const struct program *program, const char * const *pattern,
		     size_t patterns, char *path);

/**
 * select_copy() - make a filter file to which select_part() can add
 * @from:	a filter file with functions, or NULL to record all functions
 * @path:	a template for mkstemp(), which is replaced by the file's name
 *
 * Return: 0, or -1 after printing an error; in that case no file is left behind.
 */
int select_copy(const char *from, char *path);

/**
 * select_part() - add the functions that match @part's from and to, and its depth
 * @program:	the program, whose objects are searched
 * @path:	the filter file
 *
 * Return: 0, or -1 after printing an error if there is no such function or a write fails; in
 * that case the file is removed.
 */
int select_part(const struct program *program, const struct meta_part *part,
		const char *path);

#endif /* SIFIVE_TRACE_SELECT_H */
