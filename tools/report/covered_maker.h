/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Defines the state that covered.c shares with covered_function.c and covered_order.c. */
#ifndef SIFIVE_TRACE_COVERED_MAKER_H
#define SIFIVE_TRACE_COVERED_MAKER_H

#include "covered.h"
#include "executed.h"
#include "hash.h"
#include "lines.h"

/**
 * struct instruction_at - an instruction of a function
 * @line:	1 + the index of the instruction's line, or 0 if none
 * @column:	column in the source line
 * @kind:	enum flow_kind
 * @block:	index of the first halfword of the instruction's basic block
 * @begins:	set if an instruction begins at this halfword
 * @leads:	set if a basic block begins at this halfword
 * @first:	set if a part of the function begins at this halfword
 * @nop:	set if the instruction does nothing
 */
struct instruction_at {
	uint32_t	line;
	uint32_t	column;
	uint8_t		kind;
	uint32_t	block;
	bool		begins;
	bool		leads;
	bool		first;
	bool		nop;
};

/**
 * struct covered_part - contiguous instructions of a function
 * @of:		address range of the part; the function begins in the first part
 * @start:	address of the part
 * @at, @halfwords: index of the part's first halfword in the function, and number of halfwords
 * @code, @rv32: bytes from code_bytes()
 */
struct covered_part {
	const struct lines_function	*of;
	uint64_t			start;
	size_t				at;
	size_t				halfwords;
	const uint8_t			*code;
	bool				rv32;
};

/*
 * struct covered_pair - @key: a basic block and one of its lines; @at: the line's first
 * instruction there
 */
struct covered_pair {
	uint64_t	key;
	uint32_t	at;
};

/**
 * struct maker - state of the computation
 * @no_memory:	set if memory has run out
 * @files, @lines: hash tables of the result's files and lines
 * @first, @functions: first instructions of processed functions and parts, and their hash table
 * @bytes:	total size of all functions in bytes
 * @bias:	bias of the current object: difference between addresses in memory and in the file
 * @unit:	the current compilation unit
 * @latest, @latest_file: name of the source file that was looked up last, as in the debug
 *		information, and its index
 * @part:	the @parts parts of the current function
 * @at, @times, @halfwords: instructions of the function by halfword, how often each was executed,
 *		and the number of halfwords
 * @name:	1 + the index of the line with the function's name, or 0 if unknown
 * @first_line:	1 + the index of each line of the function's first instruction: the line with the
 *		function's name, and lines of statements without code
 * @brace:	the function's first row, which belongs to its opening brace
 * @pair:	pairs of a basic block and one of its lines
 */
struct maker {
	struct covered	*covered;
	struct symbols	*symbols;
	struct code	*code;
	struct executed	executed;
	bool		no_memory;
	size_t		file_room, line_room, branch_room, function_room;
	struct hash	files, lines, functions;
	uint64_t	*first;
	size_t		starts, start_room;
	uint64_t	bytes;
	uint64_t	bias;
	const struct lines_unit *unit;
	const char	*latest;
	uint32_t	latest_file;
	struct instruction_at *at;
	uint64_t	*times;
	size_t		at_room;
	struct covered_part part[COVERED_PARTS_MAX];
	size_t		parts;
	size_t		halfwords;
	uint32_t	name;
	uint32_t	first_line[COVERED_FIRST_MAX];
	unsigned int	first_lines;
	const struct lines_row *brace;
	struct covered_pair *pair;
	size_t		pairs, pair_room;
};

/**
 * covered_reserve() - make room for one more entry
 * @array:	address of a pointer to entries of @size bytes
 *
 * Return: false if out of memory.
 */
bool covered_reserve(struct maker *maker, void *array, size_t count, size_t *room, size_t size);

/** covered_find_file() - return the index of a file of the current unit */
uint32_t covered_find_file(struct maker *maker, const char *name);

/** covered_find_line() - return 1 + the index of a line, or 0 if there is no room */
uint32_t covered_find_line(struct maker *maker, const char *name, uint32_t line);

/**
 * covered_is_new() - return whether a function has not been processed before
 * @start:	address of the function's first instruction
 *
 * Several units may describe an inline function, but the linker keeps only one copy of it.
 */
bool covered_is_new(struct maker *maker, uint64_t start);

/**
 * covered_function() - add the executed code of a function of the current unit
 * @parts:	parts of the function, starting at @function
 */
void covered_function(struct maker *maker, const struct lines_function *function, size_t parts);

/** covered_order() - sort the result and compute its sums; return false if out of memory */
bool covered_order(struct covered *covered);

#endif /* SIFIVE_TRACE_COVERED_MAKER_H */
