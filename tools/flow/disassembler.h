/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Formats instructions as text, using LLVM's library if it is installed. */
#ifndef SIFIVE_TRACE_DISASSEMBLER_H
#define SIFIVE_TRACE_DISASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disassembler;

/**
 * disassembler_new() - load the library
 *
 * Return: the disassembler, or NULL if no library was found, or if it does not support RISC-V.
 */
struct disassembler *disassembler_new(void);

/** disassembler_free() - free a disassembler; NULL is allowed */
void disassembler_free(struct disassembler *disassembler);

/**
 * disassembler_text() - convert one instruction to text
 * @disassembler: the disassembler; if NULL, the text is the instruction's encoding
 * @rv32:	whether the instruction is RV32
 * @code:	bytes of the instruction
 * @halfwords:	length of the instruction
 * @address:	address of the instruction
 * @text:	set to the text, NUL-terminated and without control characters
 * @size:	bytes at @text
 */
void disassembler_text(struct disassembler *disassembler, bool rv32, const uint8_t *code,
		       unsigned int halfwords, uint64_t address, char *text, size_t size);

/* The note to print if no library was found. */
#define DISASSEMBLER_MISSING	"instructions are shown as numbers: the library libLLVM was not found (Debian: libllvm14 or newer)"

#endif /* SIFIVE_TRACE_DISASSEMBLER_H */
