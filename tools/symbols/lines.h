/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reads all lines and functions in a file's debug information, unit by unit. */
#ifndef SIFIVE_TRACE_LINES_H
#define SIFIVE_TRACE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image;

/**
 * struct lines_row - code of a source line
 * @start, @end: addresses in the file, @end exclusive
 * @file:	source file, as in the debug information
 * @line:	line number, not 0
 * @statement:	a statement begins here
 * @first_line, @first_column: line and column of the first row at the same address; that row may
 *		have no code
 * @column:	0 if unknown
 */
struct lines_row {
	uint64_t	start;
	uint64_t	end;
	const char	*file;
	uint32_t	line;
	uint32_t	column;
	bool		statement;
	uint32_t	first_line;
	uint32_t	first_column;
};

/**
 * struct lines_function - a function, or a part of a function that the compiler placed elsewhere
 * @start, @end: addresses in the file, @end exclusive
 * @file, @line: place of its declaration; NULL and 0 if unknown
 * @part:	set for a part placed elsewhere, which follows its function in the array
 * @label:	index of the first label of the function and its parts
 * @labels:	number of labels
 */
struct lines_function {
	uint64_t	start;
	uint64_t	end;
	const char	*file;
	uint32_t	line;
	bool		part;
	uint32_t	label;
	uint32_t	labels;
};

/* struct lines_label - a label of the source, at an address in the file */
struct lines_label {
	uint64_t	address;
	const char	*file;
	uint32_t	line;
};

/**
 * struct lines_unit - a compilation unit
 * @dir:	directory in which the unit was compiled, or NULL if unknown
 * @gcc:	set if GCC compiled the unit
 * @row:	the @rows rows of the unit, by address, without overlap
 * @mark:	@marks rows of statements without code, by address
 */
struct lines_unit {
	const char			*dir;
	bool				gcc;
	const struct lines_row		*row;
	size_t				rows;
	const struct lines_row		*mark;
	size_t				marks;
	const struct lines_function	*function;
	size_t				functions;
	const struct lines_label	*label;
	size_t				labels;
};

/**
 * image_units() - call @each for each unit of a file
 * @each:	returns whether to continue; the strings are valid until image_close()
 *
 * Return: the number of units with lines, or -1 if out of memory.
 */
int image_units(struct image *image, bool (*each)(void *context, const struct lines_unit *unit),
		void *context);

#endif /* SIFIVE_TRACE_LINES_H */
