// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Reads the address ranges in .eh_frame: see frames.h. */
#include <dwarf.h>
#include <stdbool.h>

#include <elfutils/libdw.h>

#include "frames.h"
#include "section.h"

/* Masks for the two parts of a pointer encoding: the pointer's format and its base. */
#define FORMAT_MASK	0x0f
#define BASE_MASK	0xf0

struct frames {
	const unsigned char	*ident;
	Elf_Data		*data;
	uint64_t		address;	/* address of the section */
	bool			wide;		/* addresses are 64 bits wide */
	/* The latest CIE, and the address encoding in its FDEs. */
	Dwarf_Off		cie;
	unsigned int		encoding;
};

/* Return a format's size in bytes, or 0 if its size is not fixed. */
static size_t size_of(const struct frames *frames, unsigned int encoding)
{
	switch (encoding & FORMAT_MASK) {
	case DW_EH_PE_absptr:
		return frames->wide ? 8 : 4;
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return 2;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	default:
		return 0;
	}
}

static uint64_t get(const uint8_t *bytes, size_t size, bool is_signed)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < size; i++)
		value |= (uint64_t)bytes[i] << (8 * i);
	if (is_signed && size < 8 && bytes[size - 1] & 0x80)
		value |= ~0ull << (8 * size);
	return value;
}

/* Return the pointer encoding from a CIE's augmentation data, or DW_EH_PE_omit if unknown. */
static unsigned int encoding_of(const struct frames *frames, const Dwarf_CIE *cie)
{
	const uint8_t *data = cie->augmentation_data;
	const uint8_t *end = data ? data + cie->augmentation_data_size : NULL;
	const char *letter = cie->augmentation;
	size_t size;

	if (*letter++ != 'z')
		return *cie->augmentation ? DW_EH_PE_omit : DW_EH_PE_absptr;
	for (; *letter; letter++) {
		if (*letter == 'S' || *letter == 'B')
			continue;
		if (data >= end)
			return DW_EH_PE_omit;
		if (*letter == 'R')
			return *data;
		size = *letter == 'P' ? size_of(frames, *data) : 0;
		if (*letter != 'L' && !size)
			return DW_EH_PE_omit;
		if (size >= (size_t)(end - data))
			return DW_EH_PE_omit;
		data += 1 + size;
	}
	return DW_EH_PE_absptr;
}

static unsigned int find_encoding(struct frames *frames, Dwarf_Off offset)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (offset == frames->cie)
		return frames->encoding;
	frames->cie = offset;
	frames->encoding = DW_EH_PE_omit;
	if (offset < frames->data->d_size &&
	    !dwarf_next_cfi(frames->ident, frames->data, true, offset, &next, &entry) &&
	    dwarf_cfi_cie_p(&entry))
		frames->encoding = encoding_of(frames, &entry.cie);
	return frames->encoding;
}

/* Return false for an address range that is empty or has an unknown encoding. */
static bool get_range(struct frames *frames, const Dwarf_FDE *fde, uint64_t *start,
		      uint64_t *end)
{
	unsigned int encoding = find_encoding(frames, fde->CIE_pointer);
	unsigned int base = encoding & BASE_MASK;
	size_t size = size_of(frames, encoding);

	if (encoding == DW_EH_PE_omit || !size ||
	    (base != DW_EH_PE_absptr && base != DW_EH_PE_pcrel) ||
	    (size_t)(fde->end - fde->start) < 2 * size)
		return false;
	*start = get(fde->start, size, encoding & DW_EH_PE_signed);
	if (base == DW_EH_PE_pcrel)
		*start += frames->address + (uint64_t)(fde->start -
			  (const uint8_t *)frames->data->d_buf);
	if (!frames->wide)
		*start &= UINT32_MAX;
	*end = *start + get(fde->start + size, size, false);
	return *end > *start;
}

void frames_read(Elf *elf, void (*found)(void *context, uint64_t start, uint64_t end),
		 void *context)
{
	struct frames frames = { .cie = ~(Dwarf_Off)0 };
	Dwarf_Off offset = 0, next;
	Dwarf_CFI_Entry entry;
	uint64_t start, end;
	GElf_Shdr header;
	Elf_Scn *scn = section_find(elf, ".eh_frame", &header);
	int result;

	frames.data = scn ? elf_getdata(scn, NULL) : NULL;
	if (!frames.data || !frames.data->d_buf)
		return;
	frames.ident = (const unsigned char *)elf_getident(elf, NULL);
	frames.wide = frames.ident[EI_CLASS] == ELFCLASS64;
	frames.address = header.sh_addr;
	if (frames.ident[EI_DATA] != ELFDATA2LSB)
		return;
	for (;; offset = next) {
		next = offset;
		result = dwarf_next_cfi(frames.ident, frames.data, true, offset, &next,
					&entry);
		if (!result && !dwarf_cfi_cie_p(&entry) &&
		    get_range(&frames, &entry.fde, &start, &end))
			found(context, start, end);
		if (result > 0 || next <= offset)
			return;
	}
}
