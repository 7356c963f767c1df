/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds hot paths: basic blocks that usually execute one after another. They are derived from the
 * execution counts of blocks and branches.
 *
 * Each executed block belongs to exactly one path, which does not leave its function. Of the blocks
 * that are not in a path yet, the one with the most executed instructions starts the next path. The
 * path extends forwards and backwards along the most frequent transition, as long as this
 * transition accounts for at least half of the executions of both blocks that it connects. A path
 * continues after a call, and does not contain the called function.
 */
#ifndef SIFIVE_TRACE_PATHS_H
#define SIFIVE_TRACE_PATHS_H

#include "executed.h"

/**
 * struct paths_block - instructions that were executed one after another
 * @start, @end: addresses, @end exclusive
 * @last:	address of the last instruction
 * @function:	first address of the function; if unknown, the first address of the object or 0
 * @instructions: number of instructions
 * @times:	number of times that the instructions were executed
 * @path:	private: number of the block's path, or 0 if none
 * @kind:	enum flow_kind of the last instruction
 */
struct paths_block {
	uint64_t	start;
	uint64_t	end;
	uint64_t	last;
	uint64_t	function;
	uint64_t	times;
	uint32_t	instructions;
	uint32_t	path;
	uint8_t		kind;
};

/**
 * struct path - one path
 * @block:	indexes of its @blocks blocks, in the order of execution
 * @hottest:	index of the block from which the path was extended
 * @executed:	total number of executions of its instructions
 * @instructions: number of its instructions
 * @again:	number of times that the path's first block followed a block of the path; if not 0,
 *		the path is a loop
 * @entered:	number of times that a loop was entered during the trace
 */
struct path {
	const uint32_t	*block;
	size_t		blocks;
	uint32_t	hottest;
	uint64_t	executed;
	uint64_t	instructions;
	uint64_t	again;
	uint64_t	entered;
};

/**
 * struct paths - all paths
 * @path:	paths, most expensive first
 * @executed:	number of instructions executed
 */
struct paths {
	struct paths_block	*block;
	size_t			blocks;
	struct path		*path;
	size_t			count;
	uint64_t		executed;
	uint32_t		*order;		/* private: the blocks of all paths */
};

/**
 * paths_make() - find the paths in the executed code
 * @paths:	the result, for paths_free() even after an error
 *
 * Return: 0, or -1 if out of memory.
 */
int paths_make(struct paths *paths, const struct executed *executed, struct symbols *symbols);

/** paths_free() - free the result */
void paths_free(struct paths *paths);

#endif /* SIFIVE_TRACE_PATHS_H */
