// SPDX-License-Identifier: Apache-2.0 OR MIT
/* One ELF file by elfutils: see image.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>

#include "command.h"
#include "image.h"

/* Symbols looked back over for one that encloses an address. */
#define NESTING_MAX	8

struct image {
	Dwfl			*dwfl;
	Dwfl_Module		*module;
	Dwfl_Callbacks		callbacks;
	char			*debug_path;
	struct image_function	*function;	/* by start, each start once */
	size_t			functions;
	bool			no_lines;
};

/* Bytes that compressed sections may always have, and times their size in the file. */
#define INFLATED_MIN	(32u << 20)
#define INFLATED_RATIO	16

/* What a symbol is worth as a function's name: 0 is none. */
static unsigned int symbol_rank(const GElf_Sym *symbol, const char *name)
{
	unsigned int type = GELF_ST_TYPE(symbol->st_info);
	unsigned int rank = 1;

	/* Labels in assembly have no type; the assembler's own are no names. */
	if (!name || !*name || *name == '$' || !strncmp(name, ".L", 2))
		return 0;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		rank += 3;
	else if (type != STT_NOTYPE)
		return 0;
	if (GELF_ST_BIND(symbol->st_info) == STB_GLOBAL)
		rank += 2;
	else if (GELF_ST_BIND(symbol->st_info) == STB_WEAK)
		rank += 1;
	return rank;
}

static int compare_functions(const void *a, const void *b)
{
	const struct image_function *one = a, *two = b;

	if (one->start != two->start)
		return one->start < two->start ? -1 : 1;
	if (one->rank != two->rank)
		return one->rank > two->rank ? -1 : 1;
	return strcmp(one->name, two->name);
}

/* Fill in symbol @index if it names code. Return false if it does not. */
static bool get_function(Dwfl_Module *module, int index,
			 struct image_function *function)
{
	GElf_Shdr header;
	GElf_Addr bias;
	GElf_Word section;
	GElf_Sym symbol;
	Elf_Scn *scn;
	Elf *elf;

	function->name = dwfl_module_getsym_info(module, index, &symbol,
						 &function->start, &section,
						 &elf, &bias);
	function->rank = symbol_rank(&symbol, function->name);
	scn = function->rank && elf ? elf_getscn(elf, section) : NULL;
	if (!scn || !gelf_getshdr(scn, &header) ||
	    !(header.sh_flags & SHF_EXECINSTR))
		return false;
	function->end = symbol.st_size ? function->start + symbol.st_size :
			header.sh_addr + header.sh_size + bias;
	return true;
}

/*
 * libdwfl looks every symbol over for each address: too slow for traces that
 * name many addresses, so keep the functions sorted.
 */
static bool read_functions(struct image *image)
{
	int count = dwfl_module_getsymtab(image->module), i;
	struct image_function *function;
	size_t kept = 0, n = 0;

	if (count <= 0)
		return true;
	function = calloc((size_t)count, sizeof(*function));
	if (!function)
		return false;
	image->function = function;
	for (i = 0; i < count; i++)
		n += get_function(image->module, i, &function[n]);
	qsort(function, n, sizeof(*function), compare_functions);
	for (i = 0; i < (int)n; i++) {
		if (kept && function[kept - 1].start == function[i].start)
			continue;
		function[kept++] = function[i];
	}
	image->functions = kept;
	return true;
}

/* A regular file: others could make the reader wait for ever. */
static int open_file(const char *path, const char **error)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0) {
		*error = strerror(errno);
		return -1;
	}
	if (fstat(fd, &status) || !S_ISREG(status.st_mode)) {
		*error = "not a file";
		close(fd);
		return -1;
	}
	return fd;
}

/* The size of a section once it is inflated; 0 when it is not compressed. */
static uint64_t inflated_size(Elf_Scn *scn, const GElf_Shdr *header)
{
	GElf_Chdr compressed;

	if (!(header->sh_flags & SHF_COMPRESSED) || !gelf_getchdr(scn, &compressed))
		return 0;
	return compressed.ch_size;
}

/* elfutils inflates a section as a whole, whatever size it claims. */
static bool inflates_too_far(const struct image *image)
{
	uint64_t inflated = 0, stored = 0;
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(image->module, &bias);

	while (elf && (scn = elf_nextscn(elf, scn))) {
		uint64_t size = gelf_getshdr(scn, &header) ?
				inflated_size(scn, &header) : 0;

		stored += size ? header.sh_size : 0;
		inflated = size > UINT64_MAX - inflated ? UINT64_MAX :
							  inflated + size;
	}
	return inflated > INFLATED_MIN && inflated / INFLATED_RATIO > stored;
}

struct image *image_open(const char *path, const char *debug,
			 const char **error)
{
	struct image *image;
	int fd = open_file(path, error);

	if (fd < 0)
		return NULL;
	image = calloc(1, sizeof(*image));
	if (!image) {
		close(fd);
		*error = "out of memory";
		return NULL;
	}
	image->callbacks.find_elf = dwfl_build_id_find_elf;
	image->callbacks.find_debuginfo = dwfl_standard_find_debuginfo;
	image->callbacks.section_address = dwfl_offline_section_address;
	if (debug) {
		image->debug_path = (char *)debug;
		image->callbacks.debuginfo_path = &image->debug_path;
	}
	image->dwfl = dwfl_begin(&image->callbacks);
	/* Base 0 and the file's own addresses. */
	if (image->dwfl)
		image->module = dwfl_report_elf(image->dwfl, path, path, fd, 0,
						true);
	if (!image->module)
		close(fd);
	if (!image->module || dwfl_report_end(image->dwfl, NULL, NULL)) {
		*error = dwfl_errmsg(-1);
		image_close(image);
		return NULL;
	}
	image->no_lines = inflates_too_far(image);
	if (image->no_lines)
		report("%s: no line numbers: its compressed debug information inflates too far",
		       path);
	if (!read_functions(image)) {
		*error = "out of memory";
		image_close(image);
		return NULL;
	}
	return image;
}

void image_close(struct image *image)
{
	if (!image)
		return;
	dwfl_end(image->dwfl);
	free(image->function);
	free(image);
}

bool image_range(const struct image *image, uint64_t *first, uint64_t *last)
{
	size_t i;

	if (!image->functions)
		return false;
	*first = image->function[0].start;
	*last = *first;
	for (i = 0; i < image->functions; i++)
		if (image->function[i].end - 1 > *last)
			*last = image->function[i].end - 1;
	return true;
}

const struct image_function *image_each(const struct image *image, size_t index)
{
	return index < image->functions ? &image->function[index] : NULL;
}

/*
 * The last that starts before the address, or one that encloses it (a label
 * within a function is a symbol too).
 */
const struct image_function *image_function(const struct image *image,
					    uint64_t address)
{
	size_t low = 0, high = image->functions, tries = NESTING_MAX;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (image->function[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low && tries; low--, tries--)
		if (address < image->function[low - 1].end)
			return &image->function[low - 1];
	return NULL;
}

const char *image_line(struct image *image, uint64_t address, int *line)
{
	Dwfl_Line *found = image->no_lines ? NULL :
			   dwfl_module_getsrc(image->module, address);

	if (!found)
		return NULL;
	return dwfl_lineinfo(found, NULL, line, NULL, NULL, NULL);
}

bool image_is_foreign(const char *path)
{
	/* So far 32 and 64 bits have the same layout. */
	Elf32_Ehdr header = { .e_machine = EM_RISCV };
	FILE *file = fopen(path, "rb");

	if (file && fread(&header, offsetof(Elf32_Ehdr, e_version), 1, file) != 1)
		header.e_machine = EM_RISCV;
	if (file)
		fclose(file);
	return le16toh(header.e_machine) != EM_RISCV;
}

bool image_build_id(const char *path, char *text)
{
	const unsigned char *id;
	const char *error;
	int fd = open_file(path, &error);
	const void *note;
	ssize_t length, i;
	Elf *elf;

	*text = '\0';
	if (fd < 0)
		return false;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		close(fd);
		return false;
	}
	length = dwelf_elf_gnu_build_id(elf, &note);
	id = note;
	for (i = 0; i < length && 2 * i + 2 < IMAGE_BUILD_ID_SIZE; i++)
		sprintf(text + 2 * i, "%02x", id[i]);
	elf_end(elf);
	close(fd);
	return true;
}
