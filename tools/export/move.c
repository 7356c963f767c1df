// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Moves the addresses in an ELF file: see move.h. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "move.h"

/* Maximum nesting of DIEs; deeper nesting indicates damage. */
#define DEPTH_MAX	256

/**
 * struct move - a file being moved
 * @bytes:	size of an address
 */
struct move {
	Elf		*elf;
	uint64_t	bias;
	unsigned int	bytes;
	bool		compressed;
};

/* The rest of a section, or of a unit in a section. */
struct cursor {
	uint8_t		*at;
	uint8_t		*end;
};

/* Read a little-endian number, as RISC-V files contain; return 0 at the end. */
static uint64_t take(struct cursor *cursor, size_t bytes)
{
	uint64_t value = 0;
	size_t i;

	if (bytes > (size_t)(cursor->end - cursor->at)) {
		cursor->at = cursor->end;
		return 0;
	}
	for (i = 0; i < bytes && i < sizeof(value); i++)
		value |= (uint64_t)cursor->at[i] << (8 * i);
	cursor->at += bytes;
	return value;
}

static void take_leb128(struct cursor *cursor)
{
	while (take(cursor, 1) & 0x80)
		;
}

static void add(const struct move *move, uint8_t *address)
{
	uint64_t sum = move->bias;
	unsigned int i;

	for (i = 0; i < move->bytes; i++, sum >>= 8) {
		sum += address[i];
		address[i] = (uint8_t)sum;
	}
}

static void move_address(const struct move *move, struct cursor *cursor)
{
	if (move->bytes <= (size_t)(cursor->end - cursor->at))
		add(move, cursor->at);
	take(cursor, move->bytes);
}

/*
 * Set @unit to the contents of a debug section's next unit, after the unit's length; set @offset to
 * the size of an offset in the unit. Return false after the last unit.
 */
static bool take_unit(struct cursor *section, struct cursor *unit,
		      unsigned int *offset)
{
	uint64_t length = take(section, 4);

	*offset = length == 0xffffffff ? 8 : 4;
	if (*offset == 8)
		length = take(section, 8);
	if (!length || length > (uint64_t)(section->end - section->at))
		return false;
	unit->at = section->at;
	unit->end = section->at + length;
	section->at = unit->end;
	return true;
}

/* Move the address in the extended opcode at @program, if the opcode has one. */
static void move_extended(const struct move *move, struct cursor *program)
{
	uint64_t length = 0;
	unsigned int shift = 0;
	struct cursor operation;
	uint8_t byte;

	do {
		byte = (uint8_t)take(program, 1);
		length |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
		shift += 7;
	} while (byte & 0x80);
	operation = *program;
	if (length < (uint64_t)(program->end - program->at))
		operation.end = program->at + length;
	program->at = operation.end;
	if (take(&operation, 1) == DW_LNE_set_address)
		move_address(move, &operation);
}

static void move_lines(const struct move *move, struct cursor *unit,
		       unsigned int offset)
{
	uint8_t operands[256] = { 0 };
	unsigned int version = (unsigned int)take(unit, 2), base, opcode, i;
	struct cursor program;
	uint64_t header;

	if (version >= 5)
		take(unit, 2);
	header = take(unit, offset);
	if (header > (uint64_t)(unit->end - unit->at))
		return;
	program.at = unit->at + header;
	program.end = unit->end;
	/* Skip to opcode_base, then to the operand counts. */
	take(unit, version >= 4 ? 5 : 4);
	base = (unsigned int)take(unit, 1);
	for (i = 1; i < base; i++)
		operands[i] = (uint8_t)take(unit, 1);

	while (program.at < program.end) {
		opcode = (unsigned int)take(&program, 1);
		if (!opcode)
			move_extended(move, &program);
		else if (opcode == DW_LNS_fixed_advance_pc && opcode < base)
			take(&program, 2);
		else
			for (i = 0; opcode < base && i < operands[opcode]; i++)
				take_leb128(&program);
	}
}

/* Move the addresses in pairs of address and length. The header is padded to a pair's size. */
static void move_aranges(const struct move *move, struct cursor *unit,
			 unsigned int offset)
{
	unsigned int header = 2 + offset + 2 + (offset == 8 ? 12 : 4);

	take(unit, 2 + offset + 2);
	take(unit, -header & (2 * move->bytes - 1));
	while (unit->at < unit->end) {
		struct cursor address = *unit;

		take(unit, move->bytes);
		if (take(unit, move->bytes))
			move_address(move, &address);
	}
}

static void move_rnglists(const struct move *move, struct cursor *unit,
			  unsigned int offset)
{
	uint64_t offsets;

	take(unit, 4);
	offsets = take(unit, 4);
	if (offsets > (uint64_t)(unit->end - unit->at) / offset)
		return;
	unit->at += offsets * offset;
	while (unit->at < unit->end) {
		switch (take(unit, 1)) {
		case DW_RLE_startx_endx:
		case DW_RLE_startx_length:
		case DW_RLE_offset_pair:
			take_leb128(unit);
			take_leb128(unit);
			break;
		case DW_RLE_base_addressx:
			take_leb128(unit);
			break;
		case DW_RLE_base_address:
			move_address(move, unit);
			break;
		case DW_RLE_start_end:
			move_address(move, unit);
			move_address(move, unit);
			break;
		case DW_RLE_start_length:
			move_address(move, unit);
			take_leb128(unit);
			break;
		}
	}
}

static void move_addresses(const struct move *move, struct cursor *unit,
			   unsigned int offset)
{
	(void)offset;
	take(unit, 4);
	while (unit->at < unit->end)
		move_address(move, unit);
}

/*
 * The debug sections that consist of units, with the functions that move the addresses in a unit.
 */
static const struct {
	const char	*name;
	void		(*move)(const struct move *move, struct cursor *unit,
				unsigned int offset);
} debug_section[] = {
	{ ".debug_line", move_lines },
	{ ".debug_aranges", move_aranges },
	{ ".debug_rnglists", move_rnglists },
	{ ".debug_addr", move_addresses },
};

static void move_debug_section(const struct move *move, Elf_Scn *scn,
			       const char *name)
{
	struct cursor section, unit;
	unsigned int offset;
	Elf_Data *data;
	size_t i;

	for (i = 0; i < sizeof(debug_section) / sizeof(debug_section[0]); i++) {
		if (strcmp(name, debug_section[i].name))
			continue;
		data = elf_getdata(scn, NULL);
		if (!data || !data->d_buf)
			return;
		section.at = data->d_buf;
		section.end = section.at + data->d_size;
		while (take_unit(&section, &unit, &offset))
			debug_section[i].move(move, &unit, offset);
		elf_flagdata(data, ELF_C_SET, ELF_F_DIRTY);
	}
}

static int move_attribute(Dwarf_Attribute *attribute, void *context)
{
	if (dwarf_whatform(attribute) == DW_FORM_addr)
		add(context, attribute->valp);
	return DWARF_CB_OK;
}

/* Move the addresses in @die, its siblings, and all their children. */
static void move_entries(struct move *move, Dwarf_Die *die, unsigned int depth)
{
	Dwarf_Die child;

	do {
		dwarf_getattrs(die, move_attribute, move, 0);
		if (depth < DEPTH_MAX && !dwarf_child(die, &child))
			move_entries(move, &child, depth + 1);
	} while (!dwarf_siblingof(die, die));
}

/* Move only addresses of functions and units. DWARF 4 ranges are relative to these. */
static void move_info(struct move *move, Elf_Scn *info)
{
	Dwarf *dwarf = dwarf_begin_elf(move->elf, DWARF_C_READ, NULL);
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while (dwarf && !dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL))
		if (die.addr)
			move_entries(move, &die, 0);
	dwarf_end(dwarf);
	elf_flagdata(elf_getdata(info, NULL), ELF_C_SET, ELF_F_DIRTY);
}

static bool in_section(const GElf_Sym *symbol)
{
	return GELF_ST_TYPE(symbol->st_info) != STT_TLS &&
	       symbol->st_shndx != SHN_UNDEF &&
	       (symbol->st_shndx < SHN_LORESERVE || symbol->st_shndx == SHN_XINDEX);
}

static void move_symbols(const struct move *move, Elf_Scn *scn)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym symbol;
	int i;

	for (i = 0; data && gelf_getsym(data, i, &symbol); i++) {
		if (!in_section(&symbol))
			continue;
		symbol.st_value += move->bias;
		gelf_update_sym(data, i, &symbol);
	}
}

static void move_headers(const struct move *move)
{
	GElf_Ehdr header;
	GElf_Phdr segment;
	int i;

	gelf_getehdr(move->elf, &header);
	header.e_entry += header.e_entry ? move->bias : 0;
	gelf_update_ehdr(move->elf, &header);
	for (i = 0; gelf_getphdr(move->elf, i, &segment); i++) {
		if (!segment.p_memsz)
			continue;
		segment.p_vaddr += move->bias;
		segment.p_paddr += move->bias;
		gelf_update_phdr(move->elf, i, &segment);
	}
}

static void move_section(struct move *move, Elf_Scn *scn, const char *name,
			 Elf_Scn **info)
{
	GElf_Shdr header;

	gelf_getshdr(scn, &header);
	if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
		move_symbols(move, scn);
	if (header.sh_flags & SHF_ALLOC) {
		header.sh_addr += move->bias;
		gelf_update_shdr(scn, &header);
	} else if (!strncmp(name, ".debug_", 7) && header.sh_flags & SHF_COMPRESSED) {
		move->compressed = true;
	} else if (!strcmp(name, ".debug_info")) {
		*info = scn;
	} else {
		move_debug_section(move, scn, name);
	}
}

/* Return false if a write fails. */
static bool move_all(struct move *move)
{
	Elf_Scn *scn = NULL, *info = NULL;
	GElf_Shdr header;
	const char *name;
	size_t names;

	if (elf_getshdrstrndx(move->elf, &names))
		return false;
	/* Keep the file offsets of all data. */
	elf_flagelf(move->elf, ELF_C_SET, ELF_F_LAYOUT);
	move->bytes = gelf_getclass(move->elf) == ELFCLASS32 ? 4 : 8;
	move_headers(move);
	while ((scn = elf_nextscn(move->elf, scn))) {
		name = gelf_getshdr(scn, &header) ?
		       elf_strptr(move->elf, names, header.sh_name) : NULL;
		if (name)
			move_section(move, scn, name, &info);
	}
	if (info && !move->compressed)
		move_info(move, info);
	return elf_update(move->elf, ELF_C_WRITE) >= 0;
}

/* Return a descriptor of the copy, or -1. */
static int copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out;
	uint8_t buffer[1 << 16];
	const char *wrong = from;
	ssize_t count = -1;

	out = in < 0 ? -1 : open(to, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (out >= 0) {
		while ((count = read(in, buffer, sizeof(buffer))) > 0) {
			if (write(out, buffer, (size_t)count) == count)
				continue;
			wrong = to;
			count = -1;
			break;
		}
	} else if (in >= 0) {
		wrong = to;
	}
	if (count)
		report("%s: cannot copy: %s", wrong, strerror(errno));
	if (in >= 0)
		close(in);
	if (count && out >= 0)
		close(out);
	return count ? -1 : out;
}

int move_file(const char *from, const char *to, uint64_t bias)
{
	struct move move = { .bias = bias };
	int fd = copy_file(from, to);
	bool fine = true;

	if (fd < 0)
		return -1;
	if (bias) {
		elf_version(EV_CURRENT);
		move.elf = elf_begin(fd, ELF_C_RDWR, NULL);
		fine = elf_kind(move.elf) == ELF_K_ELF && move_all(&move);
		if (!fine)
			report("%s: cannot relocate its addresses: %s", from,
			       elf_kind(move.elf) == ELF_K_ELF ? elf_errmsg(-1) :
								 "no ELF file");
		if (move.compressed)
			report("%s: no line numbers: its debug information is compressed (objcopy --decompress-debug-sections)",
			       from);
		elf_end(move.elf);
	}
	if (close(fd) && fine) {
		report("%s: cannot write: %s", to, strerror(errno));
		fine = false;
	}
	return fine ? 0 : -1;
}

bool move_has_symbols(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf_Scn *scn = NULL;
	bool found = false;
	GElf_Shdr header;
	Elf *elf;

	if (fd < 0)
		return false;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	while (!found && (scn = elf_nextscn(elf, scn)))
		found = gelf_getshdr(scn, &header) && header.sh_type == SHT_SYMTAB;
	elf_end(elf);
	close(fd);
	return found;
}
