// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See section.h. */
#include <string.h>

#include "section.h"

Elf_Scn *section_find(Elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *scn = NULL;
	const char *found;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		found = gelf_getshdr(scn, header) ?
			elf_strptr(elf, names, header->sh_name) : NULL;
		if (found && !strcmp(found, name) && header->sh_type != SHT_NOBITS &&
		    !(header->sh_flags & SHF_COMPRESSED))
			return scn;
	}
	return NULL;
}
