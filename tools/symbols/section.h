/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds a section of an ELF file by name. */
#ifndef SIFIVE_TRACE_SECTION_H
#define SIFIVE_TRACE_SECTION_H

#include <gelf.h>

/**
 * section_find() - find the first section with this name that has data in the file
 * @header:	set to the header of the section
 *
 * Return: the section, or NULL if there is none or it is compressed.
 */
Elf_Scn *section_find(Elf *elf, const char *name, GElf_Shdr *header);

#endif /* SIFIVE_TRACE_SECTION_H */
