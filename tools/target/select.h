/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Writes a filter file for the library, from names in a program's symbol tables. */
#ifndef SIFIVE_TRACE_SELECT_H
#define SIFIVE_TRACE_SELECT_H

#include <stdbool.h>
#include <stddef.h>

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
 * @from:	a filter file with functions, or NULL to record all
 * @path:	a template for mkstemp(), which is replaced by the file's name
 *
 * Return: 0, or -1 after printing an error; in that case no file is left behind.
 */
int select_copy(const char *from, char *path);

/**
 * struct select_part - which calls of each thread are recorded; all, if every member is 0
 * @from:	fnmatch() pattern of the functions whose calls begin recording; NULL for all
 *		calls
 * @to:		fnmatch() pattern of the functions whose calls end it; NULL if the return of
 *		the first call ends it
 * @depth:	number of outermost nested calls that are recorded; 0 for all
 * @pattern:	the @patterns patterns of the functions that are recorded; 0 for all
 * @filter:	the file that selects calls; NULL for all
 * @left_out:	number of functions that --auto-filter has excluded
 */
struct select_part {
	const char	*from;
	const char	*to;
	int		depth;
	const char * const *pattern;
	size_t		patterns;
	const char	*filter;
	size_t		left_out;
};

/** select_is_part() - whether some calls are not recorded */
static inline bool select_is_part(const struct select_part *part)
{
	return part->from || part->depth || part->patterns || part->filter || part->left_out;
}

/**
 * select_part() - add the functions of @from and @to, and the depth
 * @program:	the program, whose objects are searched
 * @path:	the filter file
 *
 * Return: 0, or -1 after printing an error if there is no such function or a write fails; in
 * that case the file is removed.
 */
int select_part(const struct program *program, const struct select_part *part,
		const char *path);

#endif /* SIFIVE_TRACE_SELECT_H */
