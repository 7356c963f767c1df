// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Treats arbitrary bytes as an ELF file, and reads its unwind tables, stubs and compressed
 * sections.
 */
#include <stdlib.h>
#include <string.h>

#include "frames.h"
#include "inflate.h"
#include "stubs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_frame(void *context, uint64_t start, uint64_t end)
{
	if (start >= end)
		abort();
	++*(size_t *)context;
}

static void on_stub(void *context, uint64_t start, uint64_t end, const char *name)
{
	if (end - start != 16 || !strlen(name))
		abort();
	++*(size_t *)context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t frames = 0, stubs = 0;
	char *copy = malloc(size + 1);
	Elf *elf;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	elf_version(EV_CURRENT);
	elf = elf_memory(copy, size);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		inflate_check(elf);
		frames_read(elf, on_frame, &frames);
		stubs_read(elf, on_stub, &stubs);
		/*
		 * The file's size limits the number of frame entries and stubs, each of which
		 * occupies several bytes.
		 */
		if (frames > size / 12 || stubs > size / 4)
			abort();
	}
	elf_end(elf);
	free(copy);
	return 0;
}
