/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The code that a trace ran, from the ELF files of its objects, as blocks: each is read
 * once, when the flow first comes to it.
 */
#ifndef SIFIVE_TRACE_CODE_H
#define SIFIVE_TRACE_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "instruction.h"
#include "symbols.h"

/* Limits: of a block's instructions, of all blocks, and of the code of all files. */
#define CODE_INSTRUCTIONS_MAX	512
#define CODE_BLOCKS_MAX		(1u << 20)
#define CODE_BYTES_MAX		(256ull << 20)

/**
 * struct block - instructions that run one after another
 * @start:	address of the first one
 * @code:	its bytes
 * @target:	of the last one, if it is direct or @loaded
 * @halfwords:	length of all of them
 * @instructions: number of them
 * @last:	length of the last one, in halfwords
 * @kind:	enum flow_kind of the last one; FLOW_NEXT: the block ends for its length, or
 *		where the code does
 * @loaded:	the instruction before it loads the register of an indirect jump
 * @rv32:	it is code of a 32-bit processor
 * @id:		number of the block, from 0
 * @place:	@start as of symbols_place()
 * @way:	blocks after it and at @target, once they were needed; index: it was taken
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

/** block_end() - the address after a block */
static inline uint64_t block_end(const struct block *block)
{
	return block->start + 2 * block->halfwords;
}

/** block_length() - halfwords of the instruction that begins at @at halfwords of a block */
static inline unsigned int block_length(const struct block *block, unsigned int at)
{
	return instruction_halfwords((uint16_t)(block->code[2 * at] |
						block->code[2 * at + 1] << 8));
}

struct code;

/**
 * code_new() - the code of a trace
 * @symbols:	its objects, must outlive the code; NULL: there is none
 * @calls:	whose code: enum meta_calls; that of others is not read
 *
 * Return: the code, for code_free(); NULL without memory.
 */
struct code *code_new(struct symbols *symbols, enum meta_calls calls);

/** code_free() - NULL is fine */
void code_free(struct code *code);

/**
 * code_when() - set the time of further lookups, which is that of the symbols before
 * @known:	false: the time is unknown
 * @time:	in ticks
 *
 * What a consumer does with the symbols between two lookups does not change it.
 */
void code_when(struct code *code, bool known, uint64_t time);

/**
 * code_block() - the block at an address, at the time of code_when()
 *
 * Return: the block, which lasts as long as the code; NULL if no file has code there.
 */
struct block *code_block(struct code *code, uint64_t address);

/**
 * code_bytes() - the code from an address on
 * @place:	the address, as of symbols_place()
 * @size:	set: bytes of it
 * @rv32:	set: it is code of a 32-bit processor
 *
 * Return: the bytes, which last as long as the code; NULL if no file has them.
 */
const uint8_t *code_bytes(struct code *code, uint64_t place, uint64_t *size, bool *rv32);

/** code_is_kernel() - the upper half of all addresses is the kernel's */
static inline bool code_is_kernel(uint64_t address)
{
	return address >> 63;
}

/** code_is_probes() - whether the kernel's probes have instructions executed at an address */
bool code_is_probes(const struct code *code, uint64_t address);

/* Bytes of the instructions that end a signal's handler. */
#define CODE_TRAMPOLINE		8

/**
 * code_trampoline() - where handlers of signals return to
 *
 * Return: its address in the vdso, 0: unknown.
 */
uint64_t code_trampoline(struct code *code);

/** code_is_trampoline() - whether a block is where handlers of signals return to */
bool code_is_trampoline(const struct block *block);

/** code_calls() - whose code: enum meta_calls */
enum meta_calls code_calls(const struct code *code);

/** code_next() - the block after @block, or NULL */
static inline struct block *code_next(struct code *code, struct block *block);

/** code_taken() - the block at its target, or NULL */
static inline struct block *code_taken(struct code *code, struct block *block);

/** code_instructions() - those that begin in the first @halfwords of a block */
static inline unsigned int code_instructions(const struct block *block, unsigned int halfwords)
{
	unsigned int at = 0, count = 0;

	if (halfwords == block->halfwords)
		return block->instructions;
	for (; at < halfwords; count++)
		at += block_length(block, at);
	return count;
}

/** code_is_boundary() - whether no instruction of a block crosses its @halfwords */
bool code_is_boundary(const struct block *block, unsigned int halfwords);

/** code_blocks() - number of blocks so far */
uint32_t code_blocks(const struct code *code);

/** code_get() - block number @id */
struct block *code_get(const struct code *code, uint32_t id);

/** code_full() - whether blocks are missing for want of room or memory */
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
