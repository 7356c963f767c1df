/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Sorts the counts of struct counts by address. A file that was mapped several times is one object,
 * located where it was first executed.
 */
#ifndef SIFIVE_TRACE_EXECUTED_H
#define SIFIVE_TRACE_EXECUTED_H

#include "counts.h"

/**
 * struct executed_run - instructions of a block, executed one after another
 * @start:	address of the block
 */
struct executed_run {
	uint64_t		start;
	struct counts_run	of;
};

/**
 * struct executed_link - a transition between blocks
 * @from:	address of the first block's last instruction
 * @to:		address of the second block
 * @next:	the second block immediately follows the first
 * @kind:	enum flow_kind of the instruction
 */
struct executed_link {
	uint64_t	from;
	uint64_t	to;
	uint64_t	times;
	bool		next;
	uint8_t		kind;
};

/**
 * struct executed_object - a file whose instructions were executed
 * @image:	the file, as from symbols_image()
 * @bias:	address in memory where the file was first executed, minus address in the file
 */
struct executed_object {
	struct image	*image;
	uint64_t	bias;
};

/**
 * struct executed - counts of a whole trace
 * @run:	runs by address
 * @to:		links by target
 * @from:	links by source
 * @object:	the executed files, each once
 * @alias:	private: all mappings of the files
 */
struct executed {
	struct executed_run	*run;
	size_t			runs, run_room;
	struct executed_link	*to;
	struct executed_link	*from;
	size_t			links, link_room;
	struct executed_object	*object;
	size_t			objects, object_room;
	struct executed_alias	*alias;
	size_t			aliases, alias_room;
	struct symbols		*symbols;
	bool			no_memory;
};

/**
 * executed_make() - sort counts by address
 * @executed:	the result, to be freed with executed_free() even after an error
 *
 * Return: 0, or -1 if out of memory.
 */
int executed_make(struct executed *executed, const struct counts *counts,
		  struct symbols *symbols);

/**
 * executed_place() - convert an address from symbols_place() to the mapping in which its file was
 * first executed
 */
uint64_t executed_place(struct executed *executed, uint64_t place);

/** executed_free() - free the counts */
void executed_free(struct executed *executed);

/**
 * executed_times() - count the executions of instructions
 * @start:	address of the first instruction
 * @halfwords:	total length of the instructions
 * @times:	one counter per halfword; an instruction increments the counter of its first
 *		halfword
 */
void executed_times(const struct executed *executed, uint64_t start, size_t halfwords,
		    uint64_t *times);

/** executed_to() - return the index of the first link in @to whose target is at least @address */
size_t executed_to(const struct executed *executed, uint64_t address);

/**
 * executed_from() - return the index of the first link in @from whose source is at least @address
 */
size_t executed_from(const struct executed *executed, uint64_t address);

#endif /* SIFIVE_TRACE_EXECUTED_H */
