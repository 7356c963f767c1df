/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Reads the procedure linkage table, whose stubs jump to functions in other objects. */
#ifndef SIFIVE_TRACE_STUBS_H
#define SIFIVE_TRACE_STUBS_H

#include <gelf.h>
#include <stdint.h>

/**
 * stubs_read() - find all stubs of a RISC-V executable or shared object
 * @found:	called with each stub's start and end, exclusive, and the name of the function that
 *		the stub jumps to; the name is valid until @elf is closed
 * @context:	passed to @found
 *
 * A stub is recognised by its instructions: they load the function's address from a
 * slot with a relocation for that function.
 */
void stubs_read(Elf *elf, void (*found)(void *context, uint64_t start, uint64_t end,
					const char *name), void *context);

#endif /* SIFIVE_TRACE_STUBS_H */
