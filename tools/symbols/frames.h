/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Unwind tables: where functions without a symbol begin and end. */
#ifndef SIFIVE_TRACE_FRAMES_H
#define SIFIVE_TRACE_FRAMES_H

#include <gelf.h>
#include <stdint.h>

/**
 * frames_read() - all functions of an ELF file's .eh_frame section
 * @elf:	an executable or shared object
 * @found:	gets each function's first address and the one behind it, in the
 *		file's own addresses and in no order; they may overlap
 * @context:	for @found
 *
 * Entries that cannot be decoded are left out.
 */
void frames_read(Elf *elf, void (*found)(void *context, uint64_t start, uint64_t end),
		 void *context);

#endif /* SIFIVE_TRACE_FRAMES_H */
