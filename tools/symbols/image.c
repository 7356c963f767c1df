// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Reads one ELF file with elfutils: see image.h. */
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
#include "frames.h"
#include "image.h"
#include "inflate.h"
#include "stubs.h"

/*
 * A program that contains this internal function of the tracing library is linked with the library.
 */
#define TRACER_FUNCTION	"perf_hook_enter"

/* Maximum number of preceding symbols among which to search for one that contains an address. */
#define NESTING_MAX	8

struct image {
	Dwfl			*dwfl;
	Dwfl_Module		*module;
	Dwfl_Callbacks		callbacks;
	char			*debug_path;
	struct image_function	*function;	/* sorted by start, one for each start */
	size_t			functions;
	size_t			room;
	/* The range of the executable segments. */
	uint64_t		code;
	uint64_t		code_end;
	struct inflate		too_far;
	bool			has_tracer;
	bool			no_memory;
};

/* Return a symbol's rank as a function name, or 0 if the symbol is unusable. */
static unsigned int symbol_rank(const GElf_Sym *symbol, const char *name)
{
	unsigned int type = GELF_ST_TYPE(symbol->st_info);
	unsigned int rank = IMAGE_STUB + 1;

	/* Labels in assembly have no type; the assembler's local labels are not names. */
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
	if (one->end != two->end)
		return one->end < two->end ? -1 : 1;
	return one->name && two->name ? strcmp(one->name, two->name) : 0;
}

/* Fill in the function that symbol @index names; return false if the symbol does not name code. */
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
	function->sized = symbol.st_size;
	function->end = symbol.st_size ? function->start + symbol.st_size :
			header.sh_addr + header.sh_size + bias;
	return true;
}

static void add_function(struct image *image, const struct image_function *function)
{
	size_t room = image->room ? 2 * image->room : 256;
	struct image_function *more;

	if (image->functions == image->room) {
		more = realloc(image->function, room * sizeof(*more));
		image->no_memory |= !more;
		if (!more)
			return;
		image->function = more;
		image->room = room;
	}
	image->function[image->functions++] = *function;
}

static void add_frame(void *context, uint64_t start, uint64_t end)
{
	struct image_function function = {
		.start = start, .end = end, .sized = true, .rank = IMAGE_FRAME,
	};
	struct image *image = context;

	if (start >= image->code && end <= image->code_end)
		add_function(image, &function);
}

static void add_stub(void *context, uint64_t start, uint64_t end, const char *name)
{
	struct image_function function = {
		.start = start, .end = end, .name = name, .sized = true,
		.rank = IMAGE_STUB,
	};

	add_function(context, &function);
}

static void read_symbols(struct image *image)
{
	int count = dwfl_module_getsymtab(image->module), i;
	struct image_function function;

	for (i = 0; i < count && !image->no_memory; i++) {
		function = (struct image_function){ 0 };
		if (!get_function(image->module, i, &function))
			continue;
		image->has_tracer |= !strcmp(function.name, TRACER_FUNCTION);
		add_function(image, &function);
	}
}

static void find_code(struct image *image, Elf *elf)
{
	GElf_Phdr header;
	size_t count, i;

	image->code = UINT64_MAX;
	if (elf_getphdrnum(elf, &count))
		return;
	for (i = 0; i < count && gelf_getphdr(elf, (int)i, &header); i++) {
		uint64_t end = header.p_vaddr + header.p_memsz;

		if (header.p_type != PT_LOAD || !(header.p_flags & PF_X))
			continue;
		if (header.p_vaddr < image->code)
			image->code = header.p_vaddr;
		if (end > image->code_end)
			image->code_end = end;
	}
}

/*
 * Keep the first entry for each start address, and drop unwind entries within
 * named functions.
 */
static void keep_best(struct image *image)
{
	struct image_function *function = image->function;
	size_t kept = 0, i;
	uint64_t named = 0;

	for (i = 0; i < image->functions; i++) {
		const struct image_function *one = &function[i];

		if (kept && function[kept - 1].start == one->start) {
			if (!function[kept - 1].sized && one->sized)
				function[kept - 1].end = one->end;
			function[kept - 1].sized |= one->sized;
			continue;
		}
		if (one->rank == IMAGE_FRAME && one->start < named)
			continue;
		function[kept++] = *one;
		if (one->rank != IMAGE_FRAME && one->sized && one->end > named)
			named = one->end;
	}
	image->functions = kept;
}

/*
 * Sort the functions, because libdwfl searches all symbols for each address, which is too slow for
 * traces with many addresses.
 */
static void read_functions(struct image *image)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(image->module, &bias);

	if (!image->too_far.symbols)
		read_symbols(image);
	if (elf) {
		find_code(image, elf);
		frames_read(elf, add_frame, image);
		stubs_read(elf, add_stub, image);
	}
	if (image->functions)
		qsort(image->function, image->functions, sizeof(*image->function),
		      compare_functions);
	keep_best(image);
}

/*
 * Called before libdwfl opens the file, because libdwfl would inflate any compressed file
 * completely to look for an ELF file in it.
 */
static bool is_program(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, SELFMAG, 0) == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG);
}

bool image_is_program(const char *path)
{
	struct stat status;
	bool program;
	int fd;

	if (stat(path, &status) || !S_ISREG(status.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	program = is_program(fd);
	close(fd);
	return program;
}

/* Open only regular files, because opening other files could block forever. */
static int open_file(const char *path, const char **error)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0) {
		*error = strerror(errno);
		return -1;
	}
	if (fstat(fd, &status) || !S_ISREG(status.st_mode))
		*error = "not a regular file";
	else if (!is_program(fd))
		*error = "not an ELF file";
	else
		return fd;
	close(fd);
	return -1;
}

/* Check the sizes first, because libdwfl inflates sections completely, regardless of their size. */
static void check_sizes(struct image *image, const char *path)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(image->module, &bias);

	if (elf)
		image->too_far = inflate_check(elf);
	if (image->too_far.lines)
		report("%s: no line numbers: its compressed debug information is too large",
		       path);
	if (image->too_far.symbols)
		report("%s: no symbols: its compressed symbol table is too large",
		       path);
}

/* Return whether a file, found by its name or build-id, is usable as separate debug information. */
static bool is_usable(int fd, const char *path)
{
	struct inflate too_far = { 0 };
	Elf *elf;

	if (!is_program(fd))
		return false;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf)
		too_far = inflate_check(elf);
	elf_end(elf);
	if (!too_far.lines && !too_far.symbols)
		return true;
	report("%s: debug information not used: it is too large when inflated", path);
	return false;
}

/*
 * Search with a copy of the module, because libdwfl attaches the files that it opens to the module,
 * even those that it cannot use.
 */
static int find_debug(Dwfl_Module *module, void **data, const char *name,
		      Dwarf_Addr base, const char *file, const char *link,
		      GElf_Word sum, char **found)
{
	struct image *image = *data;
	Dwfl *search = dwfl_begin(&image->callbacks);
	int fd = -1;

	/*
	 * Ignore a debug link with a path: it should name only a file in the searched directories.
	 */
	if (link && strchr(link, '/'))
		link = NULL;
	module = search ? dwfl_report_elf(search, name, file, -1, base, true) : NULL;
	if (module)
		fd = dwfl_standard_find_debuginfo(module, data, name, base, file, link,
						  sum, found);
	dwfl_end(search);
	if (fd < 0 || is_usable(fd, *found ? *found : file))
		return fd;
	close(fd);
	free(*found);
	*found = NULL;
	return -1;
}

struct image *image_open(const char *path, const char *debug,
			 const char **error)
{
	struct image *image;
	int fd = open_file(path, error);
	void **data;

	if (fd < 0)
		return NULL;
	image = calloc(1, sizeof(*image));
	if (!image) {
		close(fd);
		*error = "out of memory";
		return NULL;
	}
	image->callbacks.find_elf = dwfl_build_id_find_elf;
	image->callbacks.find_debuginfo = find_debug;
	image->callbacks.section_address = dwfl_offline_section_address;
	if (debug) {
		image->debug_path = (char *)debug;
		image->callbacks.debuginfo_path = &image->debug_path;
	}
	image->dwfl = dwfl_begin(&image->callbacks);
	/* With base 0, addresses equal those in the file. */
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
	dwfl_module_info(image->module, &data, NULL, NULL, NULL, NULL, NULL, NULL);
	*data = image;
	check_sizes(image, path);
	read_functions(image);
	if (image->no_memory) {
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

struct Dwfl_Module *image_module(const struct image *image)
{
	return image->module;
}

bool image_is_wide(const struct image *image)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(image->module, &bias);

	return !elf || gelf_getclass(elf) == ELFCLASS64;
}

bool image_has_tracer(const struct image *image)
{
	return image->has_tracer;
}

const char *image_path(const struct image *image)
{
	return dwfl_module_info(image->module, NULL, NULL, NULL, NULL, NULL, NULL,
				NULL);
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

bool image_code(const struct image *image, uint64_t *first, uint64_t *last)
{
	if (image->code >= image->code_end)
		return false;
	*first = image->code;
	*last = image->code_end - 1;
	return true;
}

const struct image_function *image_each(const struct image *image, size_t *index)
{
	while (*index < image->functions) {
		const struct image_function *function = &image->function[(*index)++];

		if (function->rank > IMAGE_STUB)
			return function;
	}
	return NULL;
}

/*
 * Find the last function that contains the address, not the last symbol that starts before the
 * address, because a label within a function is also a symbol.
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
	Dwfl_Line *found = image->too_far.lines ? NULL :
			   dwfl_module_getsrc(image->module, address);

	if (!found)
		return NULL;
	return dwfl_lineinfo(found, NULL, line, NULL, NULL, NULL);
}

struct Dwfl_Module *image_lines_module(struct image *image)
{
	return image->too_far.lines ? NULL : image->module;
}

bool image_is_foreign(const char *path)
{
	/* Up to e_version, the layout is the same for RV32 and RV64. */
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
