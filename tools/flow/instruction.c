// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Decodes RISC-V instructions that change the program counter: see instruction.h. */
#include "instruction.h"

#define OPCODE(word)	((word) & 0x7f)
#define RD(word)	((word) >> 7 & 0x1f)
#define RS1(word)	((word) >> 15 & 0x1f)
#define FUNCT3(word)	((word) >> 12 & 7)

#define OP_AUIPC	0x17
#define OP_LUI		0x37
#define OP_BRANCH	0x63
#define OP_JALR		0x67
#define OP_JAL		0x6f

#define ECALL		0x00000073
#define EBREAK		0x00100073
#define SRET		0x10200073
#define MRET		0x30200073
#define MNRET		0x70200073
#define DRET		0x7b200073

#define C_EBREAK	0x9002

/* Return bits @high to @low of @word, shifted to bit @to. */
static inline uint32_t bits(uint32_t word, unsigned int high, unsigned int low,
			    unsigned int to)
{
	return (word >> low & ((2u << (high - low)) - 1)) << to;
}

static inline int32_t extend(uint32_t value, unsigned int width)
{
	return (int32_t)(value << (32 - width)) >> (32 - width);
}

static bool is_link(unsigned int reg)
{
	return reg == 1 || reg == 5;
}

static void direct(struct instruction *instruction, enum flow_kind kind, uint64_t address,
		   int32_t offset)
{
	instruction->kind = kind;
	instruction->target = address + (uint64_t)(int64_t)offset;
}

static void indirect(struct instruction *instruction, unsigned int rd, unsigned int rs,
		     int32_t offset)
{
	if (is_link(rd))
		instruction->kind = is_link(rs) && rd != rs ? FLOW_SWAP :
							      FLOW_INDIRECT_CALL;
	else
		instruction->kind = is_link(rs) ? FLOW_RETURN : FLOW_INDIRECT_JUMP;
	instruction->rs = (uint8_t)rs;
	instruction->offset = offset;
}

static void read_compressed(uint32_t word, uint64_t address, bool rv32,
			    struct instruction *to)
{
	unsigned int reg = RD(word);

	switch (word & 0xe003) {
	case 0x2001:	/* c.jal; in RV64 it is c.addiw */
		if (!rv32)
			break;
		/* Fall through. */
	case 0xa001:	/* c.j */
		direct(to, word & 0x8000 ? FLOW_JUMP : FLOW_CALL, address,
		       extend(bits(word, 12, 12, 11) | bits(word, 11, 11, 4) |
			      bits(word, 10, 9, 8) | bits(word, 8, 8, 10) |
			      bits(word, 7, 7, 6) | bits(word, 6, 6, 7) |
			      bits(word, 5, 3, 1) | bits(word, 2, 2, 5), 12));
		break;
	case 0xc001:	/* c.beqz */
	case 0xe001:	/* c.bnez */
		direct(to, FLOW_BRANCH, address,
		       extend(bits(word, 12, 12, 8) | bits(word, 11, 10, 3) |
			      bits(word, 6, 5, 6) | bits(word, 4, 3, 1) |
			      bits(word, 2, 2, 5), 9));
		break;
	case 0x6001:	/* c.lui, except c.addi16sp and reserved encodings */
		if (reg && reg != 2 && (word & 0x107c)) {
			to->rd = (uint8_t)reg;
			to->constant = (uint64_t)(int64_t)
				extend(bits(word, 12, 12, 17) | bits(word, 6, 2, 12), 18);
		}
		break;
	case 0x8002:	/* c.jr, c.jalr, c.ebreak, but not c.mv or c.add, which have rs2 */
		if (word == C_EBREAK)
			to->kind = FLOW_TRAP;
		else if (reg && !(word & 0x7c))
			indirect(to, word & 0x1000 ? 1 : 0, reg, 0);
		break;
	}
}

static void read_word(uint32_t word, uint64_t address, struct instruction *to)
{
	switch (OPCODE(word)) {
	case OP_AUIPC:
	case OP_LUI:
		to->rd = RD(word);
		to->constant = (uint64_t)(int64_t)(int32_t)(word & 0xfffff000);
		if (OPCODE(word) == OP_AUIPC)
			to->constant += address;
		break;
	case OP_BRANCH:
		/* Conditions 2 and 3 are not defined. */
		if (FUNCT3(word) >> 1 != 1)
			direct(to, FLOW_BRANCH, address,
			       extend(bits(word, 31, 31, 12) | bits(word, 30, 25, 5) |
				      bits(word, 11, 8, 1) | bits(word, 7, 7, 11), 13));
		break;
	case OP_JAL:
		direct(to, is_link(RD(word)) ? FLOW_CALL : FLOW_JUMP, address,
		       extend(bits(word, 31, 31, 20) | bits(word, 30, 21, 1) |
			      bits(word, 20, 20, 11) | bits(word, 19, 12, 12), 21));
		break;
	case OP_JALR:
		if (!FUNCT3(word))
			indirect(to, RD(word), RS1(word), extend(word >> 20, 12));
		break;
	default:
		if (word == ECALL || word == EBREAK)
			to->kind = FLOW_TRAP;
		else if (word == SRET || word == MRET || word == MNRET || word == DRET)
			to->kind = FLOW_TRAP_RETURN;
	}
}

unsigned int instruction_read(const uint8_t *code, size_t size, uint64_t address,
			      bool rv32, struct instruction *instruction)
{
	unsigned int halfwords;
	uint32_t word;

	if (size < 2)
		return 0;
	word = code[0] | (uint32_t)code[1] << 8;
	halfwords = instruction_halfwords((uint16_t)word);
	if (size < 2 * halfwords)
		return 0;
	*instruction = (struct instruction){ .kind = FLOW_NEXT,
					     .halfwords = (uint8_t)halfwords };
	if (halfwords == 1) {
		read_compressed(word, address, rv32, instruction);
	} else if (halfwords == 2) {
		word |= (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
		read_word(word, address, instruction);
	}
	if (rv32) {
		instruction->target = (uint32_t)instruction->target;
		instruction->constant = (uint32_t)instruction->constant;
	}
	return halfwords;
}
