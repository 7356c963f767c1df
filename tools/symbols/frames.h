/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reads unwind tables, which also contain the addresses of functions without symbols. */
#ifndef SIFIVE_TRACE_FRAMES_H
#define SIFIVE_TRACE_FRAMES_H

#include <gelf.h>
#include <stdint.h>

/**
 * frames_read() - find all functions in an ELF file's .eh_frame section
 * @elf:	an executable or shared object
 * @found:	called with each function's start and end, exclusive, as addresses in the file. The
 *		calls are in no particular order, and the ranges may overlap
 * @context:	passed to @found
 *
 * Entries that cannot be decoded are skipped.
 */
void frames_read(Elf *elf, void (*found)(void *context, uint64_t start, uint64_t end),
		 void *context);

#endif /* SIFIVE_TRACE_FRAMES_H */
