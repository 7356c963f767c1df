// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See inflate.h. */
#include <endian.h>
#include <lzma.h>
#include <stdint.h>
#include <string.h>

#include "inflate.h"
#include "section.h"

/* The inflated size that is always allowed, and the inflated size allowed per byte in the file. */
#define INFLATED_MIN	(32u << 20)
#define INFLATED_RATIO	16
/* Memory limit for an xz decoder, which is more than any compression level needs. */
#define DECODER_BYTES	(80u << 20)

/* A special section name, and this magic before the data, mark the older format. */
#define OLD_NAME	".zdebug"
#define OLD_MAGIC	"ZLIB"

struct sum {
	uint64_t	stored;
	uint64_t	inflated;
};

static void add(struct sum *sum, uint64_t stored, uint64_t inflated)
{
	sum->stored += stored;
	sum->inflated = inflated > UINT64_MAX - sum->inflated ? UINT64_MAX :
							       sum->inflated + inflated;
}

static bool too_far(const struct sum *sum)
{
	return sum->inflated > INFLATED_MIN &&
	       sum->inflated / INFLATED_RATIO > sum->stored;
}

/* Return the inflated size of a section, or 0 if it is not compressed. */
static uint64_t inflated_size(Elf_Scn *scn, const GElf_Shdr *header, const char *name)
{
	GElf_Chdr compressed;
	Elf_Data *data;
	uint64_t size;

	if (header->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(scn, &compressed) ? compressed.ch_size : 0;
	if (!name || strncmp(name, OLD_NAME, strlen(OLD_NAME)))
		return 0;
	data = elf_rawdata(scn, NULL);
	if (!data || !data->d_buf || data->d_size < strlen(OLD_MAGIC) + sizeof(size) ||
	    memcmp(data->d_buf, OLD_MAGIC, strlen(OLD_MAGIC)))
		return 0;
	memcpy(&size, (const char *)data->d_buf + strlen(OLD_MAGIC), sizeof(size));
	return be64toh(size);
}

static bool has_symbols(const GElf_Shdr *header)
{
	return header->sh_type == SHT_SYMTAB || header->sh_type == SHT_DYNSYM ||
	       header->sh_type == SHT_STRTAB || header->sh_type == SHT_SYMTAB_SHNDX;
}

/*
 * Measure .gnu_debugdata. Its format does not contain the inflated size, so the data is inflated
 * and discarded.
 */
static void add_embedded(struct sum *sum, Elf *elf)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	static uint8_t scratch[1 << 16];
	GElf_Shdr header;
	Elf_Scn *scn = section_find(elf, ".gnu_debugdata", &header);
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	lzma_ret result;

	if (!data || !data->d_buf ||
	    lzma_stream_decoder(&stream, DECODER_BYTES, 0) != LZMA_OK)
		return;
	sum->stored += data->d_size;
	stream.next_in = data->d_buf;
	stream.avail_in = data->d_size;
	do {
		stream.next_out = scratch;
		stream.avail_out = sizeof(scratch);
		result = lzma_code(&stream, LZMA_FINISH);
		add(sum, 0, sizeof(scratch) - stream.avail_out);
	} while (result == LZMA_OK && !too_far(sum));
	if (result == LZMA_MEMLIMIT_ERROR)
		sum->inflated = UINT64_MAX;
	lzma_end(&stream);
}

struct inflate inflate_check(Elf *elf)
{
	struct sum symbols = { 0 }, lines = { 0 };
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	size_t names = 0;

	elf_getshdrstrndx(elf, &names);
	while ((scn = elf_nextscn(elf, scn))) {
		uint64_t size = gelf_getshdr(scn, &header) ?
			inflated_size(scn, &header,
				      elf_strptr(elf, names, header.sh_name)) : 0;

		if (size)
			add(has_symbols(&header) ? &symbols : &lines, header.sh_size,
			    size);
	}
	add_embedded(&symbols, elf);
	return (struct inflate){
		.symbols = too_far(&symbols), .lines = too_far(&lines),
	};
}
