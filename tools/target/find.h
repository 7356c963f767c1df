/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds a function in the files of a program. */
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
 * @path:	its file
 * @offset:	offsets in the file: of the first instruction, and of those that return, or
 *		jump to another function or to an unknown address
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
 * @name:	as in the symbol table, or a C++ name with or without parameters
 * @exits:	also find where it ends
 * @option:	the user's option, for error messages
 * @found:	the result; the path is valid as long as @program
 *
 * Return: 0, or -1 after printing an error if there is no such function, or more than one.
 */
int find_function(const struct program *program, const char *name, bool exits,
		  const char *option, struct found *found);

#endif /* SIFIVE_TRACE_FIND_H */
