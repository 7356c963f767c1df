/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Which lines, functions and branches of the source an instruction trace has executed.
 *
 * Lines are those for which the program has code, as in its debug information, with gcov's
 * rules: a function begins at the line with its name, and its closing brace is none.
 */
#ifndef SIFIVE_TRACE_COVERED_H
#define SIFIVE_TRACE_COVERED_H

#include "counts.h"
#include "options.h"

/* Limits of damaged debug information. */
#define COVERED_LINES_MAX	(1u << 22)
#define COVERED_FUNCTION_MAX	(4u << 20)	/* bytes of a function */
#define COVERED_PARTS_MAX	64		/* parts of it */
#define COVERED_FIRST_MAX	16		/* lines of its first instruction */
#define COVERED_BYTES_MAX	(512u << 20)	/* of all */

/**
 * struct covered_sum - parts that were executed, and all of them
 * @lines, @lines_hit: with code
 * @functions, @functions_hit
 * @branches, @branches_hit: ways of conditional branches
 */
struct covered_sum {
	uint64_t	lines, lines_hit;
	uint64_t	functions, functions_hit;
	uint64_t	branches, branches_hit;
};

/**
 * struct covered_file - a source file
 * @path:	absolute, if the folder of the compilation is known
 * @name:	as in the debug information
 */
struct covered_file {
	char			*path;
	char			*name;
	struct covered_sum	sum;
};

/**
 * struct covered_line - a line with code
 * @file:	index
 * @seen:	private: number of the latest function with code of it
 * @times:	how often it was executed
 */
struct covered_line {
	uint32_t	file;
	uint32_t	line;
	uint32_t	seen;
	uint64_t	times;
};

/**
 * struct covered_branch - a conditional branch
 * @order:	its address
 * @reached:	how often it was executed
 * @taken, @next: how often it was taken, and not
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
 * @name:	its name
 * @calls:	how often it began
 * @sum:	its lines and branches
 */
struct covered_function {
	char			*name;
	uint32_t		file;
	uint32_t		line;
	uint64_t		calls;
	struct covered_sum	sum;
};

/**
 * struct covered - the result
 * @file:	by path
 * @line, @branch, @function: by file and line
 * @full:	part of the source had no room
 * @exact:	all counts are exact; if not, they may be too low, and @why is the reason
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
 * covered_make() - find the source of what was executed
 * @covered:	filled, for covered_free(), also after an error
 *
 * Objects of which nothing was executed are left out, and the recorder.
 *
 * Return: 0, or -1 without memory: the error has been printed.
 */
int covered_make(struct covered *covered, const struct counts *counts,
		 const struct input *input);

/**
 * covered_path() - the path of a source file, without "." and ".."
 * @folder:	where it was compiled, NULL if unknown
 *
 * Return: it, for free(), absolute if the folder is; NULL without memory.
 */
char *covered_path(const char *folder, const char *name);

/** covered_free() - free what it holds */
void covered_free(struct covered *covered);

#endif /* SIFIVE_TRACE_COVERED_H */
