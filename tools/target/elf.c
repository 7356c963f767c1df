// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See elf.h. Files are untrusted, so each offset is checked before it is used. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf.h"

/* Copy up to @most bytes to memory. In a mapping, bytes could change after they were checked. */
static int take(int fd, size_t most, struct elf *elf)
{
	char *bytes = malloc(most);
	ssize_t got = 1;

	elf->bytes = bytes;
	if (!bytes)
		return ENOMEM;
	while (elf->size < most && got) {
		got = pread(fd, bytes + elf->size, most - elf->size,
			    (off_t)elf->size);
		if (got < 0 && errno != EINTR)
			return errno;
		if (got > 0)
			elf->size += (size_t)got;
	}
	return 0;
}

int elf_open(const char *path, size_t most, struct elf *elf)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const Elf64_Ehdr *header;
	struct stat status;
	int error;

	memset(elf, 0, sizeof(*elf));
	if (fd < 0)
		return errno;
	if (fstat(fd, &status) || !S_ISREG(status.st_mode) || !status.st_size) {
		close(fd);
		return EINVAL;
	}
	if ((uint64_t)status.st_size < most)
		most = (size_t)status.st_size;
	error = take(fd, most, elf);
	close(fd);
	if (error) {
		elf_close(elf);
		return error;
	}
	header = (const void *)elf->bytes;
	if (elf->size < sizeof(*header) ||
	    memcmp(header->e_ident, ELFMAG, SELFMAG) ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 ||
	    header->e_machine != EM_RISCV)
		return ENOEXEC;
	elf->fixed = header->e_type == ET_EXEC;
	return 0;
}

void elf_close(struct elf *elf)
{
	free((void *)(uintptr_t)elf->bytes);
	memset(elf, 0, sizeof(*elf));
}

bool elf_has(const struct elf *elf, const char *name)
{
	return memmem(elf->bytes, elf->size, name, strlen(name) + 1);
}

/*
 * Return the @count elements of @size bytes at @offset, or NULL if not all of them are in the file.
 */
static const void *part(const struct elf *elf, uint64_t offset, uint64_t count,
			size_t size)
{
	if (offset > elf->size || count > (elf->size - offset) / size ||
	    (size > 1 && offset % 8))
		return NULL;
	return elf->bytes + offset;
}

static const Elf64_Phdr *segments(const struct elf *elf, unsigned int *count)
{
	const Elf64_Ehdr *header = (const void *)elf->bytes;

	*count = header->e_phnum;
	if (header->e_phentsize != sizeof(Elf64_Phdr))
		return NULL;
	return part(elf, header->e_phoff, *count, sizeof(Elf64_Phdr));
}

const char *elf_interpreter(const struct elf *elf)
{
	unsigned int count, i;
	const Elf64_Phdr *segment = segments(elf, &count);

	for (i = 0; segment && i < count; i++, segment++)
		if (segment->p_type == PT_INTERP && segment->p_filesz &&
		    segment->p_offset < elf->size &&
		    segment->p_filesz <= elf->size - segment->p_offset &&
		    !elf->bytes[segment->p_offset + segment->p_filesz - 1])
			return elf->bytes + segment->p_offset;
	return NULL;
}

uint64_t elf_bias(const struct elf *elf, uint64_t address, uint64_t offset)
{
	unsigned int count, i;
	const Elf64_Phdr *segment = segments(elf, &count);

	for (i = 0; !elf->fixed && segment && i < count; i++, segment++)
		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X &&
		    offset + segment->p_filesz > segment->p_offset &&
		    offset < segment->p_offset + segment->p_filesz)
			return address - offset + segment->p_offset -
			       segment->p_vaddr;
	return elf->fixed ? 0 : address - offset;
}

bool elf_relocates_code(const struct elf *elf)
{
	unsigned int count, i;
	const Elf64_Phdr *segment = segments(elf, &count);
	const Elf64_Dyn *entry;
	size_t n;

	for (i = 0; segment && i < count; i++, segment++) {
		if (segment->p_type != PT_DYNAMIC || segment->p_offset % sizeof(uint64_t) ||
		    segment->p_offset > elf->size ||
		    segment->p_filesz > elf->size - segment->p_offset)
			continue;
		entry = (const void *)(elf->bytes + segment->p_offset);
		for (n = segment->p_filesz / sizeof(*entry); n && entry->d_tag != DT_NULL;
		     n--, entry++)
			if (entry->d_tag == DT_TEXTREL ||
			    (entry->d_tag == DT_FLAGS && entry->d_un.d_val & DF_TEXTREL))
				return true;
	}
	return false;
}

/* Search a note segment for a build-id. */
static bool find_build_id(const char *note, uint64_t size, char *text)
{
	const Elf64_Nhdr *header;
	uint64_t name, data;
	unsigned int i;

	while (size >= sizeof(*header)) {
		header = (const void *)note;
		name = ((uint64_t)header->n_namesz + 3) & ~3ull;
		data = ((uint64_t)header->n_descsz + 3) & ~3ull;
		size -= sizeof(*header);
		note += sizeof(*header);
		if (name > size || data > size - name)
			return false;
		if (header->n_type == NT_GNU_BUILD_ID && name == 4 &&
		    !memcmp(note, "GNU", 4) &&
		    header->n_descsz < ELF_BUILD_ID_SIZE / 2) {
			for (i = 0; i < header->n_descsz; i++)
				sprintf(text + 2 * i, "%02x",
					(unsigned char)note[4 + i]);
			return true;
		}
		note += name + data;
		size -= name + data;
	}
	return false;
}

void elf_build_id(const struct elf *elf, char *text)
{
	unsigned int count, i;
	const Elf64_Phdr *segment = segments(elf, &count);
	const char *note;

	*text = '\0';
	for (i = 0; segment && i < count; i++, segment++) {
		if (segment->p_type != PT_NOTE)
			continue;
		note = part(elf, segment->p_offset, segment->p_filesz, 1);
		if (note && segment->p_offset % 4 == 0 &&
		    find_build_id(note, segment->p_filesz, text))
			return;
	}
}

/* Call @function for each function in the first symbol table of this type. */
static bool each_function(const struct elf *elf, uint32_t type,
			  void (*function)(void *argument, const char *name,
					   uint64_t start, uint64_t size),
			  void *argument)
{
	const Elf64_Ehdr *header = (const void *)elf->bytes;
	const Elf64_Shdr *section = NULL, *names, *table;
	const Elf64_Sym *symbol;
	const char *text;
	uint64_t i, n;

	if (header->e_shentsize == sizeof(*section))
		section = part(elf, header->e_shoff, header->e_shnum,
			       sizeof(*section));
	for (i = 0; section && i < header->e_shnum; i++)
		if (section[i].sh_type == type)
			break;
	if (!section || i == header->e_shnum ||
	    section[i].sh_link >= header->e_shnum)
		return false;
	table = &section[i];
	names = &section[table->sh_link];
	n = table->sh_size / sizeof(*symbol);
	symbol = part(elf, table->sh_offset, n, sizeof(*symbol));
	text = part(elf, names->sh_offset, names->sh_size, 1);
	if (!symbol || !text || !names->sh_size || text[names->sh_size - 1])
		return false;
	for (i = 0; i < n; i++, symbol++)
		if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
		    symbol->st_shndx != SHN_UNDEF && symbol->st_size &&
		    symbol->st_name < names->sh_size)
			function(argument, text + symbol->st_name,
				 symbol->st_value, symbol->st_size);
	return true;
}

bool elf_functions(const struct elf *elf,
		   void (*function)(void *argument, const char *name,
				    uint64_t start, uint64_t size),
		   void *argument)
{
	return each_function(elf, SHT_SYMTAB, function, argument);
}

bool elf_exported(const struct elf *elf,
		  void (*function)(void *argument, const char *name,
				   uint64_t start, uint64_t size),
		  void *argument)
{
	return each_function(elf, SHT_DYNSYM, function, argument);
}

bool elf_range(const struct elf *elf, uint64_t start, uint64_t end, uint64_t *offset)
{
	unsigned int count, i;
	const Elf64_Phdr *segment = segments(elf, &count);

	for (i = 0; segment && i < count; i++, segment++) {
		*offset = start - segment->p_vaddr;
		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) ||
		    *offset >= segment->p_filesz || end - start > segment->p_filesz - *offset)
			continue;
		*offset += segment->p_offset;
		return true;
	}
	return false;
}

bool elf_offset(const struct elf *elf, uint64_t address, uint64_t *offset)
{
	return elf_range(elf, address, address + 1, offset) && *offset < elf->size;
}
