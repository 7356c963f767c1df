// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See stubs.h. The RISC-V psABI describes the stubs. */
#include <endian.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "section.h"
#include "stubs.h"

#define STUB_SIZE	16

#define OPCODE(i)	((i) & 0x7f)
#define OPCODE_LOAD	0x03
#define OPCODE_AUIPC	0x17
#define RD(i)		((i) >> 7 & 0x1f)
#define RS1(i)		((i) >> 15 & 0x1f)
#define UPPER(i)	((int64_t)(int32_t)((i) & 0xfffff000))
#define LOWER(i)	((int64_t)((int32_t)(i) >> 20))

/* A slot into which the dynamic linker writes a function's address. */
struct slot {
	uint64_t	address;
	const char	*name;
};

struct slots {
	struct slot	*slot;		/* slots by address */
	size_t		count;
};

static int by_address(const void *a, const void *b)
{
	const struct slot *one = a, *two = b;

	return (one->address > two->address) - (one->address < two->address);
}

static const char *symbol_name(Elf *elf, size_t table, size_t index)
{
	Elf_Scn *scn = elf_getscn(elf, table);
	GElf_Shdr header;
	GElf_Sym symbol;

	if (!scn || !gelf_getshdr(scn, &header) ||
	    !gelf_getsym(elf_getdata(scn, NULL), (int)index, &symbol))
		return NULL;
	return elf_strptr(elf, header.sh_link, symbol.st_name);
}

static void read_slots(struct slots *slots, Elf *elf)
{
	GElf_Shdr header;
	Elf_Scn *scn = section_find(elf, ".rela.plt", &header);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	size_t count = data ? data->d_size / gelf_fsize(elf, ELF_T_RELA, 1, EV_CURRENT) : 0;
	GElf_Rela rela;
	size_t i;

	slots->slot = calloc(count + 1, sizeof(*slots->slot));
	for (i = 0; slots->slot && i < count && gelf_getrela(data, (int)i, &rela); i++) {
		struct slot *slot = &slots->slot[slots->count];

		if (GELF_R_TYPE(rela.r_info) != R_RISCV_JUMP_SLOT)
			continue;
		slot->address = rela.r_offset;
		slot->name = symbol_name(elf, header.sh_link, GELF_R_SYM(rela.r_info));
		slots->count += slot->name && *slot->name;
	}
	if (slots->count)
		qsort(slots->slot, slots->count, sizeof(*slots->slot), by_address);
}

/* Return the slot from which the two instructions at @address load, or NULL. */
static const struct slot *loaded_slot(const struct slots *slots, const uint8_t *code,
				      uint64_t address)
{
	struct slot wanted;
	uint32_t code_word[2];

	memcpy(code_word, code, sizeof(code_word));
	code_word[0] = le32toh(code_word[0]);
	code_word[1] = le32toh(code_word[1]);
	if (OPCODE(code_word[0]) != OPCODE_AUIPC || OPCODE(code_word[1]) != OPCODE_LOAD ||
	    RS1(code_word[1]) != RD(code_word[0]))
		return NULL;
	wanted.address = address + (uint64_t)UPPER(code_word[0]) +
			 (uint64_t)LOWER(code_word[1]);
	return bsearch(&wanted, slots->slot, slots->count, sizeof(wanted), by_address);
}

void stubs_read(Elf *elf, void (*found)(void *context, uint64_t start, uint64_t end,
					const char *name), void *context)
{
	struct slots slots = { 0 };
	const struct slot *slot;
	GElf_Ehdr file;
	GElf_Shdr header;
	Elf_Data *code;
	Elf_Scn *scn;
	size_t at;

	if (!gelf_getehdr(elf, &file) || file.e_machine != EM_RISCV)
		return;
	scn = section_find(elf, ".plt", &header);
	code = scn ? elf_getdata(scn, NULL) : NULL;
	if (code && code->d_buf)
		read_slots(&slots, elf);
	for (at = 0; slots.count && at + 8 <= code->d_size; at += 4) {
		slot = loaded_slot(&slots, (const uint8_t *)code->d_buf + at,
				   header.sh_addr + at);
		if (slot)
			found(context, header.sh_addr + at / STUB_SIZE * STUB_SIZE,
			      header.sh_addr + (at / STUB_SIZE + 1) * STUB_SIZE,
			      slot->name);
	}
	free(slots.slot);
}
