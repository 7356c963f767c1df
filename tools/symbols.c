// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Symbols by elfutils. Names of C++ functions are left as they are mangled. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwfl.h>

#include "command.h"
#include "symbols.h"

/*
 * Answers kept. A trace names the same few addresses again and again, but a
 * damaged one names any number of others: an answer gives way to the next
 * that hashes to its place.
 */
#define CACHE_BITS	14
/* Symbols looked back over for one that encloses an address. */
#define NESTING_MAX	8

struct answer {
	bool		valid;
	uint64_t	address;
	struct symbol	symbol;
};

struct function {
	uint64_t	start;
	uint64_t	end;		/* first address behind it */
	const char	*name;
	unsigned int	rank;		/* of names of one address the best */
};

struct symbols {
	Dwfl		*dwfl;
	Dwfl_Module	*module;
	struct function	*function;	/* by start, each start once */
	size_t		functions;
	struct answer	cache[1 << CACHE_BITS];
};

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

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
	const struct function *one = a, *two = b;

	if (one->start != two->start)
		return one->start < two->start ? -1 : 1;
	if (one->rank != two->rank)
		return one->rank > two->rank ? -1 : 1;
	return strcmp(one->name, two->name);
}

/* Fill in symbol @index if it names code. Return false if it does not. */
static bool get_function(Dwfl_Module *module, int index,
			 struct function *function)
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
static bool read_functions(struct symbols *symbols)
{
	int count = dwfl_module_getsymtab(symbols->module), i;
	struct function *function;
	size_t kept = 0, n = 0;

	if (count <= 0)
		return true;
	function = calloc((size_t)count, sizeof(*function));
	if (!function)
		return false;
	symbols->function = function;
	for (i = 0; i < count; i++)
		n += get_function(symbols->module, i, &function[n]);
	qsort(function, n, sizeof(*function), compare_functions);
	for (i = 0; i < (int)n; i++) {
		if (kept && function[kept - 1].start == function[i].start)
			continue;
		function[kept++] = function[i];
	}
	symbols->functions = kept;
	return true;
}

struct symbols *symbols_open(const char *path)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));
	int fd;

	if (!symbols) {
		report("%s: out of memory", path);
		return NULL;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		report("%s: cannot open: %s", path, strerror(errno));
		free(symbols);
		return NULL;
	}
	symbols->dwfl = dwfl_begin(&callbacks);
	/* Base 0 and the file's own addresses: as the program's trace has them. */
	if (symbols->dwfl)
		symbols->module = dwfl_report_elf(symbols->dwfl, path, path, fd,
						  0, true);
	if (!symbols->module)
		close(fd);
	if (!symbols->module || dwfl_report_end(symbols->dwfl, NULL, NULL)) {
		report("%s: no ELF program: %s (give -e the program that was traced)",
		       path, dwfl_errmsg(-1));
		symbols_close(symbols);
		return NULL;
	}
	if (!read_functions(symbols)) {
		report("%s: out of memory", path);
		symbols_close(symbols);
		return NULL;
	}
	if (!symbols->functions)
		report("%s: no symbols in it (stripped?): addresses stay numbers",
		       path);
	return symbols;
}

void symbols_close(struct symbols *symbols)
{
	if (!symbols)
		return;
	dwfl_end(symbols->dwfl);
	free(symbols->function);
	free(symbols);
}

/*
 * The function that @address is in: the last that starts before, or one that
 * encloses it (a label within a function is a symbol too).
 */
static const struct function *find_function(const struct symbols *symbols,
					    uint64_t address)
{
	size_t low = 0, high = symbols->functions, tries = NESTING_MAX;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->function[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low && tries; low--, tries--)
		if (address < symbols->function[low - 1].end)
			return &symbols->function[low - 1];
	return NULL;
}

static void look_up(struct symbols *symbols, uint64_t address,
		    struct symbol *symbol)
{
	const struct function *function = find_function(symbols, address);
	Dwfl_Line *line;

	memset(symbol, 0, sizeof(*symbol));
	if (!function)
		return;
	symbol->function = function->name;
	symbol->start = function->start;
	line = dwfl_module_getsrc(symbols->module, address);
	if (line)
		symbol->file = dwfl_lineinfo(line, NULL, &symbol->line, NULL,
					     NULL, NULL);
}

bool symbols_find(struct symbols *symbols, uint64_t address,
		  struct symbol *symbol)
{
	struct answer *answer;

	if (!symbols) {
		memset(symbol, 0, sizeof(*symbol));
		return false;
	}
	answer = &symbols->cache[address * 0x9e3779b97f4a7c15ull >>
				 (64 - CACHE_BITS)];
	if (!answer->valid || answer->address != address) {
		look_up(symbols, address, &answer->symbol);
		answer->address = address;
		answer->valid = true;
	}
	*symbol = answer->symbol;
	return symbol->function;
}
