/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reads ELF files of this machine using only the C library. */
#ifndef SIFIVE_TRACE_ELF_H
#define SIFIVE_TRACE_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_ALL		SIZE_MAX

/* Number of bytes that usually contain the program headers and the build-id. */
#define ELF_BEGINNING	65536

/* Size of a build-id in hexadecimal, with the terminating NUL. */
#define ELF_BUILD_ID_SIZE	65

/**
 * struct elf - a file, copied into memory
 * @bytes, @size: the beginning of the file, or the whole file, and the number of bytes copied
 * @fixed:	set if the file is not position-independent, but is loaded at the addresses in its
 *		headers
 */
struct elf {
	const char	*bytes;
	size_t		size;
	bool		fixed;
};

/**
 * elf_open() - read a file
 * @most:	maximum number of bytes to read, ELF_ALL for all
 *
 * Return: 0; ENOEXEC if it was read but is not a 64-bit RISC-V program; or
 * another errno.
 */
int elf_open(const char *path, size_t most, struct elf *elf);

void elf_close(struct elf *elf);

/** elf_has() - return whether the file contains a NUL-terminated name */
bool elf_has(const struct elf *elf, const char *name);

/** elf_interpreter() - return a file's interpreter, or NULL */
const char *elf_interpreter(const struct elf *elf);

/**
 * elf_bias() - return the load bias: address in memory minus address in the file
 * @address:	address of code in memory
 * @offset:	offset of that code in the file
 */
uint64_t elf_bias(const struct elf *elf, uint64_t address, uint64_t offset);

/** elf_relocates_code() - return whether the loader makes the code writable, to relocate it */
bool elf_relocates_code(const struct elf *elf);

/** elf_build_id() - get a file's build-id in hexadecimal, or "" if it has none */
void elf_build_id(const struct elf *elf, char *text);

/**
 * elf_functions() - call @function for each function of the symbol table
 * @function:	callback for each function
 * @argument:	passed to @function
 *
 * Return: false if there is no symbol table.
 */
bool elf_functions(const struct elf *elf,
		   void (*function)(void *argument, const char *name,
				    uint64_t start, uint64_t size),
		   void *argument);

/**
 * elf_exported() - like elf_functions(), but for exported functions, whose symbols survive
 * stripping
 */
bool elf_exported(const struct elf *elf,
		  void (*function)(void *argument, const char *name,
				   uint64_t start, uint64_t size),
		  void *argument);

/**
 * elf_range() - find the file offset of the code from @start to @end, exclusive
 * @offset:	set to the offset of @start, which may be beyond the bytes that were read
 *
 * Return: false if no segment contains all of it.
 */
bool elf_range(const struct elf *elf, uint64_t start, uint64_t end, uint64_t *offset);

/** elf_offset() - like elf_range(), for one address; the code there must have been read */
bool elf_offset(const struct elf *elf, uint64_t address, uint64_t *offset);

#endif /* SIFIVE_TRACE_ELF_H */
