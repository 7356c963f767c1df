/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Reads the code executed in a trace from the ELF files of the trace's objects, and from the dumps
 * of just-in-time compilers, and divides it into blocks. Each block is read once, when the flow
 * first reaches it.
 */
#ifndef SIFIVE_TRACE_CODE_H
#define SIFIVE_TRACE_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "instruction.h"
#include "symbols.h"

/* Limits: instructions per block, number of blocks, and total bytes of code. */
#define CODE_INSTRUCTIONS_MAX	512
#define CODE_BLOCKS_MAX		(1u << 20)
#define CODE_BYTES_MAX		(256ull << 20)

/**
 * struct block - instructions that are executed one after another
 * @start:	address of the first instruction
 * @code:	bytes of the instructions
 * @target:	target of the last instruction, if the target is direct or @loaded
 * @halfwords:	length of all instructions
 * @instructions: number of instructions
 * @last:	length of the last instruction, in halfwords
 * @kind:	enum flow_kind of the last instruction; FLOW_NEXT if the block ends at the length
 *		limit, or at the end of the code
 * @loaded:	the last instruction is an indirect jump, and the previous instruction loads the
 *		jump's register
 * @rv32:	set for RV32 code
 * @id:		number of the block, starting at 0
 * @place:	@start as from symbols_place()
 * @way:	the next block in memory and the block at @target, each set on first use; indexed by
 *		whether the branch was taken
 */
struct block {
	uint64_t	start;
	uint64_t	target;
	const uint8_t	*code;
	struct block	*way[2];
	uint32_t	id;
	uint16_t	halfwords;
	uint16_t	instructions;
	uint8_t		last;
	uint8_t		kind;
	bool		loaded;
	bool		rv32;
	uint64_t	place;
};

/** block_end() - return the address after a block */
static inline uint64_t block_end(const struct block *block)
{
	return block->start + 2 * block->halfwords;
}

/** block_length() - return the length, in halfwords, of a block's instruction at halfword @at */
static inline unsigned int block_length(const struct block *block, unsigned int at)
{
	return instruction_halfwords((uint16_t)(block->code[2 * at] |
						block->code[2 * at + 1] << 8));
}

struct code;

/**
 * code_new() - create the code of a trace
 * @symbols:	objects of the trace, which must outlive the code, or NULL if there are none
 * @calls:	the instructions to read: enum meta_calls
 *
 * Return: the code, to be freed with code_free(), or NULL if out of memory.
 */
struct code *code_new(struct symbols *symbols, enum meta_calls calls);

/** code_free() - free the code; NULL is allowed */
void code_free(struct code *code);

/**
 * code_when() - set the time of later lookups; initially, it is the symbols' time
 * @known:	whether the time is known
 * @time:	time in ticks
 *
 * If a consumer uses the symbols between two lookups, this time does not change.
 */
void code_when(struct code *code, bool known, uint64_t time);

/**
 * code_block() - find the block at an address, at the time of code_when()
 *
 * Return: the block, valid until code_free(), or NULL if no file has code there.
 */
struct block *code_block(struct code *code, uint64_t address);

/**
 * code_bytes() - return the code that begins at an address
 * @place:	the address, as from symbols_place()
 * @size:	set to the number of bytes; for generated code, see symbols_code()
 * @rv32:	set to whether the code is RV32
 *
 * Return: the bytes, valid until code_free(), or NULL if no file contains them.
 */
const uint8_t *code_bytes(struct code *code, uint64_t place, uint64_t *size, bool *rv32);

/**
 * code_is_kernel() - return whether an address is in the kernel's half of the address space, the
 * upper half
 */
static inline bool code_is_kernel(uint64_t address)
{
	return address >> 63;
}

/** code_is_probes() - return whether the kernel executes probed instructions at an address */
bool code_is_probes(const struct code *code, uint64_t address);

/* Size of the code to which a signal handler returns, in bytes. */
#define CODE_TRAMPOLINE		8

/**
 * code_trampoline() - find the code to which signal handlers return
 *
 * Return: its address in the vdso, or 0 if unknown.
 */
uint64_t code_trampoline(struct code *code);

/** code_is_trampoline() - return whether a block is the code to which signal handlers return */
bool code_is_trampoline(const struct block *block);

/** code_calls() - return the kind of instructions that are read: enum meta_calls */
enum meta_calls code_calls(const struct code *code);

/** code_next() - return the block after @block, or NULL */
static inline struct block *code_next(struct code *code, struct block *block);

/** code_taken() - return the block at a block's target, or NULL */
static inline struct block *code_taken(struct code *code, struct block *block);

/** code_instructions() - return the number of instructions in @halfwords from a block's start */
static inline unsigned int code_instructions(const struct block *block, unsigned int halfwords)
{
	unsigned int at = 0, count = 0;

	if (halfwords == block->halfwords)
		return block->instructions;
	for (; at < halfwords; count++)
		at += block_length(block, at);
	return count;
}

/** code_is_boundary() - return whether an instruction ends @halfwords after a block's start */
bool code_is_boundary(const struct block *block, unsigned int halfwords);

/** code_blocks() - return the number of blocks that have been read */
uint32_t code_blocks(const struct code *code);

/** code_get() - return block number @id */
struct block *code_get(const struct code *code, uint32_t id);

/** code_full() - return whether blocks are missing because of the limit or a lack of memory */
bool code_full(const struct code *code);

struct block *code_find(struct code *code, uint64_t address, struct block **link);

static inline struct block *code_next(struct code *code, struct block *block)
{
	return block->way[0] ? block->way[0] :
	       code_find(code, block_end(block), &block->way[0]);
}

static inline struct block *code_taken(struct code *code, struct block *block)
{
	return block->way[1] ? block->way[1] :
	       code_find(code, block->target, &block->way[1]);
}

#endif /* SIFIVE_TRACE_CODE_H */
