/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What the compressed parts of an ELF file would take: some claim any size. */
#ifndef SIFIVE_TRACE_INFLATE_H
#define SIFIVE_TRACE_INFLATE_H

#include <gelf.h>
#include <stdbool.h>

/**
 * struct inflate - which parts of a file inflate too far to be used
 * @symbols:	symbol tables, or the ELF file in .gnu_debugdata
 * @lines:	other sections, which is debug information
 */
struct inflate {
	bool	symbols;
	bool	lines;
};

/** inflate_check() - look at a file's compressed parts */
struct inflate inflate_check(Elf *elf);

#endif /* SIFIVE_TRACE_INFLATE_H */
