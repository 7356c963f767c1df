// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Replaces its own code in memory: changes a function while its page is writable, and maps other
 * memory over another function. The new code executes as many halfwords as the old code before it
 * returns, so no message contradicts the old code.
 */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE	4096
#define CALLS	3

/* c.j 6; ret; seven times c.nop; c.j -16, which leads to ret */
static const uint16_t other[] = { 0xa019, 0x8082, 1, 1, 1, 1, 1, 1, 1, 0xbfc5 };

/* A function with a page of its own, and 8 instructions of 2 bytes before it returns. */
#define OWN_PAGE	__attribute__((naked, noinline, aligned(PAGE)))
#define NOPS		__asm__(".rept 8\n c.nop\n .endr\n ret\n .balign 4096")

OWN_PAGE static void changed(void)
{
	NOPS;
}

OWN_PAGE static void covered(void)
{
	NOPS;
}

__attribute__((noinline)) static void call(void (*function)(void), int times)
{
	while (times--)
		function();
}

static int put(void (*function)(void))
{
	void *page = (void *)function;

	memcpy(page, other, sizeof(other));
	__builtin___clear_cache(page, (char *)page + PAGE);
	return mprotect(page, PAGE, PROT_READ | PROT_EXEC);
}

int main(void)
{
	void *page = (void *)covered;

	call(changed, CALLS);
	call(covered, CALLS);
	if (mprotect((void *)changed, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) || put(changed))
		return 1;
	call(changed, CALLS);
	if (mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) != page || put(covered))
		return 2;
	call(covered, CALLS);
	return 0;
}
