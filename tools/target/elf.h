/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What can be seen in an ELF file of this machine with nothing but the C library. */
#ifndef SIFIVE_TRACE_ELF_H
#define SIFIVE_TRACE_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_ALL		SIZE_MAX

/* Where its segments and build-id are, usually. */
#define ELF_BEGINNING	65536

/* Hexadecimal digits of a build-id, with the final 0. */
#define ELF_BUILD_ID_SIZE	65

/**
 * struct elf - a copy of a file in memory
 * @bytes, @size: what was asked for of it
 * @fixed:	its addresses are those in memory
 */
struct elf {
	const char	*bytes;
	size_t		size;
	bool		fixed;
};

/**
 * elf_open() - read a file
 * @most:	so many of its bytes, ELF_ALL for all
 *
 * Return: 0; ENOEXEC: it is no RISC-V program of 64 bits, but read; another
 * errno.
 */
int elf_open(const char *path, size_t most, struct elf *elf);

void elf_close(struct elf *elf);

/** elf_has() - whether a name, with its final 0, is anywhere in it */
bool elf_has(const struct elf *elf, const char *name);

/** elf_interpreter() - the file that loads it, NULL for none */
const char *elf_interpreter(const struct elf *elf);

/**
 * elf_bias() - what to subtract of addresses for those in the file
 * @address:	of code in memory
 * @offset:	where that is in the file
 */
uint64_t elf_bias(const struct elf *elf, uint64_t address, uint64_t offset);

/** elf_build_id() - its build-id in hexadecimal, empty when it has none */
void elf_build_id(const struct elf *elf, char *text);

/**
 * elf_functions() - go through the functions of the symbol table
 * @function:	called with each
 * @argument:	for it
 *
 * Return: false when there is no symbol table: it was stripped.
 */
bool elf_functions(const struct elf *elf,
		   void (*function)(void *argument, const char *name,
				    uint64_t start, uint64_t size),
		   void *argument);

#endif /* SIFIVE_TRACE_ELF_H */
