/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds a function in a program's files. */
#ifndef SIFIVE_TRACE_FIND_H
#define SIFIVE_TRACE_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program.h"

/* Maximum number of instructions that leave a function. */
#define FIND_EXITS_MAX	64

/**
 * struct found - a function
 * @path:	path of the function's file
 * @offset:	file offsets of the first instruction, and of the instructions that return, or jump
 *		to another function or to an unknown address
 * @offsets:	number of offsets
 */
struct found {
	const char	*path;
	uint64_t	offset[1 + FIND_EXITS_MAX];
	size_t		offsets;
};

/**
 * find_function() - find a function that can be probed
 * @program:	the program; it is searched before its shared objects
 * @name:	name in the symbol table, or a C++ name with or without parameters
 * @exits:	set to also find where the function ends
 * @option:	the user's option, for error messages
 * @found:	the result; the path is valid as long as @program is unchanged
 *
 * Return: 0; 1 after printing a message if there is no such function, but the program may later
 * load an object with such a function; or -1 after printing an error if there is no such function,
 * or more than one.
 */
int find_function(const struct program *program, const char *name, bool exits,
		  const char *option, struct found *found);

/**
 * find_later() - find a function in a newly loaded file, after find_function() did not find it
 * @program:	the program; the files that find_function() has searched are skipped to save time
 * @path:	path of the file; @found will point to it
 *
 * Return: 0; 1 if the file has no such function; or -1 after printing an error if the file has
 * several such functions, or the function cannot be probed.
 */
int find_later(const struct program *program, const char *path, const char *name, bool exits,
	       const char *option, struct found *found);

#endif /* SIFIVE_TRACE_FIND_H */
