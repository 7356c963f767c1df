/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* From an address to the function, file and line it belongs to. */
#ifndef SIFIVE_TRACE_SYMBOLS_H
#define SIFIVE_TRACE_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct symbols;

/**
 * struct symbol - what an address belongs to
 * @function:	name as in the symbol table, NULL when there is none
 * @start:	address of the function's first instruction
 * @file:	source file as the compiler was given it, NULL when unknown
 * @line:	line in it, 0 when unknown
 *
 * The strings last until symbols_close().
 */
struct symbol {
	const char	*function;
	uint64_t	start;
	const char	*file;
	int		line;
};

/**
 * symbols_open() - read a program's symbols
 * @path:	ELF file of any machine; addresses are taken as they are in it
 *
 * Return: the symbols, or NULL when it is no readable ELF file: the reason has
 * been printed.
 */
struct symbols *symbols_open(const char *path);

/** symbols_close() - free symbols; NULL is fine */
void symbols_close(struct symbols *symbols);

/**
 * symbols_find() - look an address up
 * @symbols:	from symbols_open(), or NULL: nothing is found
 * @address:	any value
 * @symbol:	filled, also when nothing is found
 *
 * Recent answers are kept: looking the same addresses up again is cheap.
 *
 * Return: whether the address lies in a function.
 */
bool symbols_find(struct symbols *symbols, uint64_t address,
		  struct symbol *symbol);

#endif /* SIFIVE_TRACE_SYMBOLS_H */
