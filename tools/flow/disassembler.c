// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Calls LLVM's disassembler: see disassembler.h. The library is large and needed only for text
 * output, so it is loaded on demand instead of being linked.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disassembler.h"

/* Versions of the library to try, beginning with the oldest that supports RV64GC. */
#define VERSION_FIRST	11
#define VERSION_LAST	40
#define TRIPLES		{ "riscv64-unknown-linux-gnu", "riscv32-unknown-linux-gnu" }
#define FEATURES	"+m,+a,+f,+d,+c"
/* First version that supports all of MORE_FEATURES; earlier versions print a warning about them. */
#define VERSION_MORE	14
#define MORE_FEATURES	FEATURES ",+v,+zba,+zbb,+zbc,+zbs,+zfh"
/* Option of LLVMSetDisasmOptions(): print numbers in hexadecimal. */
#define PRINT_HEX	2

/* The required functions of llvm-c/Disassembler.h and llvm-c/Target.h. */
struct library {
	void	(*target_info)(void);
	void	(*target_mc)(void);
	void	(*disassembler)(void);
	void	*(*create)(const char *triple, const char *cpu, const char *features,
			   void *info, int tag, void *operands, void *names);
	int	(*set_options)(void *context, uint64_t options);
	size_t	(*read)(void *context, uint8_t *bytes, uint64_t size, uint64_t address,
			char *text, size_t room);
	void	(*dispose)(void *context);
};

struct disassembler {
	void		*handle;
	unsigned int	version;
	void		*context[2];	/* contexts for RV64 and RV32 code */
	struct library	llvm;
};

static void open_library(struct disassembler *to)
{
	unsigned int version;
	char name[32];

	for (version = VERSION_FIRST; !to->handle && version <= VERSION_LAST; version++) {
		snprintf(name, sizeof(name), "libLLVM-%u.so.1", version);
		to->handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
		snprintf(name, sizeof(name), "libLLVM.so.%u.1", version);
		if (!to->handle)
			to->handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
		to->version = version;
	}
}

static int find(void *handle, const char *name, void *function)
{
	void *symbol = dlsym(handle, name);

	/* ISO C does not allow converting a pointer to an object to a pointer to a function. */
	memcpy(function, &symbol, sizeof(symbol));
	return !symbol;
}

static int find_all(struct disassembler *to)
{
	struct library *llvm = &to->llvm;

	return find(to->handle, "LLVMInitializeRISCVTargetInfo", &llvm->target_info) ||
	       find(to->handle, "LLVMInitializeRISCVTargetMC", &llvm->target_mc) ||
	       find(to->handle, "LLVMInitializeRISCVDisassembler", &llvm->disassembler) ||
	       find(to->handle, "LLVMCreateDisasmCPUFeatures", &llvm->create) ||
	       find(to->handle, "LLVMSetDisasmOptions", &llvm->set_options) ||
	       find(to->handle, "LLVMDisasmInstruction", &llvm->read) ||
	       find(to->handle, "LLVMDisasmDispose", &llvm->dispose);
}

static void set_up(struct disassembler *disassembler)
{
	const char *features = disassembler->version < VERSION_MORE ? FEATURES : MORE_FEATURES;
	static const char * const triples[] = TRIPLES;
	struct library *llvm = &disassembler->llvm;
	unsigned int i;

	llvm->target_info();
	llvm->target_mc();
	llvm->disassembler();
	for (i = 0; i < 2; i++) {
		disassembler->context[i] = llvm->create(triples[i], "", features, NULL, 0, NULL,
							NULL);
		if (disassembler->context[i])
			llvm->set_options(disassembler->context[i], PRINT_HEX);
	}
}

struct disassembler *disassembler_new(void)
{
	struct disassembler *disassembler = calloc(1, sizeof(*disassembler));

	if (!disassembler)
		return NULL;
	open_library(disassembler);
	if (disassembler->handle && !find_all(disassembler))
		set_up(disassembler);
	if (!disassembler->context[0] || !disassembler->context[1]) {
		disassembler_free(disassembler);
		return NULL;
	}
	return disassembler;
}

void disassembler_free(struct disassembler *disassembler)
{
	unsigned int i;

	if (!disassembler)
		return;
	for (i = 0; i < 2; i++)
		if (disassembler->context[i])
			disassembler->llvm.dispose(disassembler->context[i]);
	if (disassembler->handle)
		dlclose(disassembler->handle);
	free(disassembler);
}

/* "\taddi\ta0, a0, 1" becomes "addi a0, a0, 1", and "\tmret\t" becomes "mret". */
static void tidy(char *text)
{
	char *from = text, *to = text;

	while (*from == '\t' || *from == ' ')
		from++;
	for (; *from; from++)
		*to++ = *from < ' ' || *from == 0x7f ? ' ' : *from;
	while (to > text && to[-1] == ' ')
		to--;
	*to = '\0';
}

void disassembler_text(struct disassembler *disassembler, bool rv32, const uint8_t *code,
		       unsigned int halfwords, uint64_t address, char *text, size_t size)
{
	uint8_t copy[8] = { 0 };
	size_t bytes = 2 * halfwords, i;
	int used;

	memcpy(copy, code, bytes);
	if (disassembler &&
	    disassembler->llvm.read(disassembler->context[rv32], copy, bytes, address, text,
				    size)) {
		tidy(text);
		return;
	}
	used = snprintf(text, size, ".insn 0x");
	for (i = bytes; i--; )
		used += snprintf(text + used, size - (size_t)used, "%02x", code[i]);
}
