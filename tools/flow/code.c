// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Reads code from ELF files, and divides it into blocks: see code.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gelf.h>

#include "code.h"
#include "command.h"
#include "hash.h"

/*
 * Number of blocks to allocate at a time. Blocks are never moved, so pointers to them remain valid.
 */
#define CHUNK_BITS	10
#define CHUNK		(1u << CHUNK_BITS)

/* A range of a file's code in memory: @bytes bytes that begin at the file's address @start. */
struct segment {
	uint64_t	start;
	uint64_t	bytes;
	uint8_t		*code;
};

/* A file. If it could not be read, the error has been reported, and it has no segments. */
struct file {
	struct file	*next;
	char		*path;
	struct segment	*segment;
	size_t		segments;
	bool		rv32;
};

struct code {
	struct symbols	*symbols;
	bool		timed;		/* code_when() has set a time */
	bool		time_known;
	uint64_t	time;
	enum meta_calls	calls;
	uint64_t	trampoline;
	bool		tried;		/* the trampoline has been searched for */
	struct file	*files;
	uint64_t	bytes;
	bool		full;
	struct hash	hash;
	struct block	**chunk;
	uint32_t	blocks;
	uint32_t	room;		/* chunks */
};

struct code *code_new(struct symbols *symbols, enum meta_calls calls)
{
	struct code *code = calloc(1, sizeof(*code));

	if (!code)
		return NULL;
	code->symbols = symbols;
	code->calls = calls;
	code->hash.bits = hash_bits(CHUNK);
	code->hash.slot = calloc(1u << code->hash.bits, sizeof(*code->hash.slot));
	if (!code->hash.slot) {
		free(code);
		return NULL;
	}
	return code;
}

void code_free(struct code *code)
{
	struct file *file, *next;
	size_t i;

	if (!code)
		return;
	for (file = code->files; file; file = next) {
		next = file->next;
		for (i = 0; i < file->segments; i++)
			free(file->segment[i].code);
		free(file->segment);
		free(file->path);
		free(file);
	}
	for (i = 0; i < code->room; i++)
		free(code->chunk[i]);
	free(code->chunk);
	free(code->hash.slot);
	free(code);
}

/* ---- files ------------------------------------------------------------- */

/* A file that contains only debug information has section headers for the code, but no code. */
static bool has_code(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	bool without = false;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &header) || !(header.sh_flags & SHF_EXECINSTR))
			continue;
		if (header.sh_type == SHT_PROGBITS)
			return true;
		without |= header.sh_type == SHT_NOBITS;
	}
	return !without;
}

static bool read_segment(struct code *code, struct file *file, int fd,
			 const GElf_Phdr *header, uint64_t file_bytes)
{
	struct segment *segment = &file->segment[file->segments];
	uint64_t bytes = header->p_filesz, done = 0;
	ssize_t got;

	if (header->p_offset > file_bytes || bytes > file_bytes - header->p_offset)
		bytes = header->p_offset > file_bytes ? 0 :
			file_bytes - header->p_offset;
	if (bytes > CODE_BYTES_MAX - code->bytes)
		return false;
	segment->code = bytes ? malloc(bytes) : NULL;
	if (!segment->code)
		return !bytes;
	while (done < bytes) {
		got = pread(fd, segment->code + done, bytes - done,
			    (off_t)(header->p_offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (uint64_t)got;
	}
	segment->start = header->p_vaddr;
	segment->bytes = done;
	code->bytes += bytes;
	file->segments++;
	return true;
}

static void read_file(struct code *code, struct file *file, int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	struct stat status;
	GElf_Phdr header;
	size_t count, i;

	if (fstat(fd, &status) || !elf || elf_kind(elf) != ELF_K_ELF ||
	    elf_getphdrnum(elf, &count) || !has_code(elf)) {
		report("%s: contains no code: the flow in this file is missing", file->path);
		elf_end(elf);
		return;
	}
	file->rv32 = gelf_getclass(elf) == ELFCLASS32;
	/* Ordinary files have a few program headers; a damaged file may have many. */
	if (count > 4096)
		count = 4096;
	file->segment = calloc(count, sizeof(*file->segment));
	for (i = 0; file->segment && i < count && gelf_getphdr(elf, (int)i, &header); i++) {
		if (header.p_type != PT_LOAD || !(header.p_flags & PF_X))
			continue;
		if (!read_segment(code, file, fd, &header, (uint64_t)status.st_size)) {
			report("%s: part of the code is missing: too much code", file->path);
			break;
		}
	}
	elf_end(elf);
}

static struct file *open_file(struct code *code, const char *path)
{
	struct file *file = calloc(1, sizeof(*file));
	int fd;

	if (!file)
		return NULL;
	file->path = strdup(path);
	if (!file->path) {
		free(file);
		return NULL;
	}
	file->next = code->files;
	code->files = file;
	elf_version(EV_CURRENT);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		report("%s: cannot read the code: %s", path, strerror(errno));
		return file;
	}
	read_file(code, file, fd);
	close(fd);
	return file;
}

static const uint8_t *file_bytes(struct code *code, uint64_t place, uint64_t *bytes, bool *rv32)
{
	struct symbols_object object;
	struct file *file;
	size_t i;

	if (!symbols_object(code->symbols, place, &object))
		return NULL;
	for (file = code->files; file && strcmp(file->path, object.path); )
		file = file->next;
	if (!file)
		file = open_file(code, object.path);
	for (i = 0; file && i < file->segments; i++) {
		const struct segment *segment = &file->segment[i];
		uint64_t offset = place - object.bias - segment->start;

		if (offset >= segment->bytes)
			continue;
		*bytes = segment->bytes - offset;
		*rv32 = file->rv32;
		return segment->code + offset;
	}
	return NULL;
}

const uint8_t *code_bytes(struct code *code, uint64_t place, uint64_t *bytes, bool *rv32)
{
	const uint8_t *generated = symbols_code(code->symbols, place, bytes);

	*rv32 = false;
	return generated ? generated : file_bytes(code, place, bytes, rv32);
}

/* Linux: li a7, __NR_rt_sigreturn; ecall. */
static const uint8_t trampoline[CODE_TRAMPOLINE] = {
	0x93, 0x08, 0xb0, 0x08, 0x73, 0x00, 0x00, 0x00,
};

bool code_is_trampoline(const struct block *block)
{
	return 2 * block->halfwords >= sizeof(trampoline) &&
	       !memcmp(block->code, trampoline, sizeof(trampoline));
}

static uint64_t find_trampoline(struct code *code)
{
	struct symbols_object object;
	const uint8_t *bytes, *found;
	uint64_t start, left;
	bool rv32;

	if (!symbols_named(code->symbols, META_VDSO, &start, &object))
		return 0;
	bytes = code_bytes(code, start, &left, &rv32);
	found = bytes ? memmem(bytes, left, trampoline, sizeof(trampoline)) : NULL;
	return found ? start + (uint64_t)(found - bytes) : 0;
}

uint64_t code_trampoline(struct code *code)
{
	if (!code->tried)
		code->trampoline = find_trampoline(code);
	code->tried = true;
	return code->trampoline;
}

/* ---- blocks ------------------------------------------------------------ */

struct block *code_get(const struct code *code, uint32_t id)
{
	return &code->chunk[id >> CHUNK_BITS][id & (CHUNK - 1)];
}

uint32_t code_blocks(const struct code *code)
{
	return code->blocks;
}

enum meta_calls code_calls(const struct code *code)
{
	return code->calls;
}

bool code_full(const struct code *code)
{
	return code->full;
}

static uint64_t place_of(const void *code, uint32_t number)
{
	return code_get(code, number - 1)->place;
}

/* Allocate memory for one more block, if necessary. */
static bool make_room(struct code *code)
{
	struct block **chunks;
	struct hash hash;

	if (code->blocks == CODE_BLOCKS_MAX)
		return false;
	if (code->blocks == code->room << CHUNK_BITS) {
		chunks = realloc(code->chunk, (code->room + 1) * sizeof(*chunks));
		if (!chunks)
			return false;
		code->chunk = chunks;
		chunks[code->room] = calloc(CHUNK, sizeof(**chunks));
		if (!chunks[code->room])
			return false;
		code->room++;
	}
	if (2 * (code->blocks + 1) <= 1u << code->hash.bits)
		return true;
	hash.bits = code->hash.bits + 1;
	hash.slot = malloc(sizeof(*hash.slot) << hash.bits);
	if (!hash.slot)
		return false;
	hash_fill(&hash, 1, code->blocks + 1, place_of, code);
	free(code->hash.slot);
	code->hash = hash;
	return true;
}

/* Read instructions up to the first whose successor need not be the next one in memory. */
static bool read_block(struct block *block, const uint8_t *bytes, uint64_t size)
{
	struct instruction one = { .kind = FLOW_NEXT }, before;
	uint64_t address = block->start;
	size_t left;

	do {
		left = size > 8 ? 8 : (size_t)size;
		before = one;
		if (!instruction_read(bytes, left, address, block->rv32, &one))
			break;
		bytes += 2 * one.halfwords;
		size -= 2 * one.halfwords;
		address += 2 * one.halfwords;
		block->halfwords += one.halfwords;
		block->last = one.halfwords;
		block->kind = one.kind;
		block->target = one.target;
		block->instructions++;
	} while (one.kind == FLOW_NEXT && block->instructions < CODE_INSTRUCTIONS_MAX);

	if (block->instructions > 1 && before.rd && before.rd == one.rs &&
	    (one.kind == FLOW_INDIRECT_JUMP || one.kind == FLOW_INDIRECT_CALL ||
	     one.kind == FLOW_RETURN || one.kind == FLOW_SWAP)) {
		block->loaded = true;
		block->target = (before.constant + (uint64_t)(int64_t)one.offset) & ~1ull;
		if (block->rv32)
			block->target = (uint32_t)block->target;
	}
	return block->instructions;
}

void code_when(struct code *code, bool known, uint64_t time)
{
	code->timed = true;
	code->time_known = known;
	code->time = time;
}

static uint64_t find_place(const struct code *code, uint64_t address)
{
	if (!code->timed)
		return symbols_place(code->symbols, address);
	return symbols_place_at(code->symbols, address, code->time_known ? &code->time : NULL);
}

bool code_is_probes(const struct code *code, uint64_t address)
{
	return symbols_probed(code->symbols, find_place(code, address));
}

/* Return whether an address is in code that was not requested. */
static bool is_others(const struct code *code, uint64_t address)
{
	return code->calls != META_CALLS_ALL &&
	       code_is_kernel(address) != (code->calls == META_CALLS_KERNEL);
}

struct block *code_block(struct code *code, uint64_t address)
{
	uint64_t place = find_place(code, address), size;
	uint32_t *slot = hash_find(&code->hash, place, place_of, code);
	const uint8_t *bytes;
	struct block *block;
	bool rv32;

	if (*slot)
		return code_get(code, *slot - 1);
	bytes = address & 1 || is_others(code, address) ? NULL :
		code_bytes(code, place, &size, &rv32);
	if (!bytes)
		return NULL;
	if (!make_room(code)) {
		code->full = true;
		return NULL;
	}
	block = code_get(code, code->blocks);
	*block = (struct block){
		.start = address, .place = place, .code = bytes, .id = code->blocks,
	};
	block->rv32 = rv32;
	if (!read_block(block, bytes, size))
		return NULL;
	*hash_find(&code->hash, place, place_of, code) = ++code->blocks;
	return block;
}

/*
 * If several objects had this address, or if its code was generated, the block depends on the time,
 * so it is looked up on each use instead of being linked.
 */
struct block *code_find(struct code *code, uint64_t address, struct block **link)
{
	struct block *block = code_block(code, address);

	if (block && block->place == block->start)
		*link = block;
	return block;
}

bool code_is_boundary(const struct block *block, unsigned int halfwords)
{
	unsigned int at = 0;

	while (at < halfwords)
		at += block_length(block, at);
	return at == halfwords;
}
