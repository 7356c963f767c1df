/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Copies an ELF file as if it had been linked for its load address. */
#ifndef SIFIVE_TRACE_MOVE_H
#define SIFIVE_TRACE_MOVE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * move_file() - copy an ELF file, and move the copy to other addresses
 * @from:	program or shared object
 * @to:		the copy, which must not exist
 * @bias:	number to add to the addresses, or 0 for an unchanged copy
 *
 * Changes the headers, sections, symbols, and the addresses of functions and lines in the debug
 * information, but neither the code nor the dynamic linker's data.
 *
 * Return: 0, or -1 after printing an error.
 */
int move_file(const char *from, const char *to, uint64_t bias);

/** move_has_symbols() - return whether an ELF file has a symbol table, that is, is not stripped */
bool move_has_symbols(const char *path);

#endif /* SIFIVE_TRACE_MOVE_H */
