/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Limits the inflated size of an ELF file's compressed sections, which may claim any size. */
#ifndef SIFIVE_TRACE_INFLATE_H
#define SIFIVE_TRACE_INFLATE_H

#include <gelf.h>
#include <stdbool.h>

/**
 * struct inflate - which sections of a file are too large when inflated
 * @symbols:	symbol tables, or the ELF file in .gnu_debugdata, are too large
 * @lines:	debug information is too large
 */
struct inflate {
	bool	symbols;
	bool	lines;
};

/** inflate_check() - check a file's compressed sections */
struct inflate inflate_check(Elf *elf);

#endif /* SIFIVE_TRACE_INFLATE_H */
