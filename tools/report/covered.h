/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Uses instruction trace to count the executions of source lines, functions and branches.
 *
 * The lines are those that have code according to the program's debug information. gcov's rules
 * apply: a function begins at the line with its name, and its closing brace is not counted.
 */
#ifndef SIFIVE_TRACE_COVERED_H
#define SIFIVE_TRACE_COVERED_H

#include "counts.h"
#include "options.h"

/* Limits for damaged debug information. */
#define COVERED_LINES_MAX	(1u << 22)
#define COVERED_FUNCTION_MAX	(4u << 20)	/* bytes of a function */
#define COVERED_PARTS_MAX	64		/* parts of a function */
#define COVERED_FIRST_MAX	16		/* lines of a function's first instruction */
#define COVERED_BYTES_MAX	(512u << 20)	/* bytes of all functions */

/**
 * struct covered_sum - numbers of all items and of executed (_hit) items
 * @lines, @lines_hit: lines with code
 * @functions, @functions_hit: functions of the source
 * @branches, @branches_hit: directions of conditional branches
 */
struct covered_sum {
	uint64_t	lines, lines_hit;
	uint64_t	functions, functions_hit;
	uint64_t	branches, branches_hit;
};

/**
 * struct covered_file - a source file
 * @path:	path of the file; absolute if the compilation directory is known
 * @name:	the file's name in the debug information
 */
struct covered_file {
	char			*path;
	char			*name;
	struct covered_sum	sum;
};

/**
 * struct covered_line - a line with code
 * @file:	index of the file
 * @seen:	private: number of the latest function with code on this line
 * @times:	number of times that the line was executed
 */
struct covered_line {
	uint32_t	file;
	uint32_t	line;
	uint32_t	seen;
	uint64_t	times;
};

/**
 * struct covered_branch - a conditional branch
 * @order:	address of the branch, for sorting
 * @reached:	number of times that the branch was executed
 * @taken, @next: number of times that the branch was taken, and not taken
 */
struct covered_branch {
	uint32_t	file;
	uint32_t	line;
	uint64_t	order;
	uint64_t	reached;
	uint64_t	taken;
	uint64_t	next;
};

/**
 * struct covered_function - a function of the source
 * @name:	name of the function
 * @calls:	number of calls
 * @sum:	sum over its lines and branches
 */
struct covered_function {
	char			*name;
	uint32_t		file;
	uint32_t		line;
	uint64_t		calls;
	struct covered_sum	sum;
};

/**
 * struct covered - the coverage of all source files
 * @file:	files by path
 * @line, @branch, @function: lines, branches and functions, by file and line
 * @full:	set if part of the source exceeded a limit
 * @exact:	set if all counts are exact; otherwise, they may be too low for the reason in @why
 */
struct covered {
	struct covered_file	*file;
	size_t			files;
	struct covered_line	*line;
	size_t			lines;
	struct covered_branch	*branch;
	size_t			branches;
	struct covered_function	*function;
	size_t			functions;
	struct covered_sum	sum;
	bool			full;
	bool			exact;
	char			why[COUNTS_WHY_SIZE];
};

/**
 * covered_make() - find the source of the executed code
 * @covered:	the result, for covered_free() even after an error
 *
 * Objects without executed code, and the recorder, are omitted.
 *
 * Return: 0, or -1 after printing an error if out of memory.
 */
int covered_make(struct covered *covered, const struct counts *counts,
		 const struct input *input);

/**
 * covered_path() - return the path of a source file, without "." and ".."
 * @dir:	directory in which it was compiled, or NULL if unknown
 *
 * Return: the path, absolute if the directory is, to be freed with free(); or NULL if out of
 * memory.
 */
char *covered_path(const char *dir, const char *name);

/** covered_free() - free the result */
void covered_free(struct covered *covered);

#endif /* SIFIVE_TRACE_COVERED_H */
