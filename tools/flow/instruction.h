/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Decodes the effect of RV64GC and RV32GC instructions on the program counter. For instructions
 * that only advance it, only the length matters.
 */
#ifndef SIFIVE_TRACE_INSTRUCTION_H
#define SIFIVE_TRACE_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How an instruction determines the next address. Link registers are x1 and x5, as in the
 * return-address stack hints of the unprivileged specification.
 */
enum flow_kind {
	FLOW_NEXT,		/* the next instruction */
	FLOW_BRANCH,		/* conditional: the target or the next instruction */
	FLOW_JUMP,		/* the target */
	FLOW_CALL,		/* the target; a link register holds the return address */
	FLOW_INDIRECT_JUMP,	/* the trace contains the target */
	FLOW_INDIRECT_CALL,
	FLOW_RETURN,		/* a return to the address in a link register */
	FLOW_SWAP,		/* both a return and a call */
	FLOW_TRAP,		/* ecall, ebreak: an exception follows */
	FLOW_TRAP_RETURN,	/* sret, mret, dret, mnret */
};

/**
 * struct instruction - one instruction
 * @kind:	enum flow_kind
 * @halfwords:	length of the instruction
 * @target:	target of a branch, jump or call
 * @constant:	the value that lui or auipc loads into register @rd
 * @rd:		the register that lui or auipc loads, or 0 for other instructions
 * @rs:		the register that an indirect jump, call or return uses
 * @offset:	the offset that the instruction adds to @rs
 */
struct instruction {
	uint8_t		kind;
	uint8_t		halfwords;
	uint8_t		rd;
	uint8_t		rs;
	int32_t		offset;
	uint64_t	target;
	uint64_t	constant;
};

/**
 * instruction_read() - read the instruction at an address
 * @code:	bytes of the instruction
 * @size:	bytes at @code
 * @address:	address of the instruction
 * @rv32:	the code is RV32
 * @instruction: the result
 *
 * Return: the instruction's length in halfwords, or 0 if it extends beyond @size bytes.
 */
unsigned int instruction_read(const uint8_t *code, size_t size, uint64_t address,
			      bool rv32, struct instruction *instruction);

/** instruction_halfwords() - return an instruction's length, from its first halfword */
static inline unsigned int instruction_halfwords(uint16_t first)
{
	if ((first & 0x03) != 0x03)
		return 1;
	if ((first & 0x1c) != 0x1c)
		return 2;
	return (first & 0x20) == 0 ? 3 : 4;
}

#endif /* SIFIVE_TRACE_INSTRUCTION_H */
