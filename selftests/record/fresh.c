// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Touches 300 fresh pages in touch(). The code of touch() is already loaded, so each page causes
 * one page fault, and no other page faults occur.
 */
#include <stdio.h>
#include <sys/mman.h>

#define PAGES	300
#define PAGE	4096

static void touch(volatile char *memory, unsigned int pages)
{
	unsigned int i;

	for (i = 0; i < pages; i++)
		memory[i * PAGE] = 1;
}

int main(void)
{
	char *memory = mmap(NULL, (PAGES + 1) * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return 1;
	madvise(memory, (PAGES + 1) * PAGE, MADV_NOHUGEPAGE);
	*memory = 1;
	touch(memory, 1);
	touch(memory + PAGE, PAGES);
	printf("%p\n", (void *)(memory + PAGE));
	return 0;
}
