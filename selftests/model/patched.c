// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests that a hart executes new code after fence.i. Kernels that patch their text at run time rely
 * on this behaviour. Hart 0 repeatedly rewrites a function, and hart 1 calls it. The page also
 * contains code that does not change, as in a kernel.
 */
#include <stdatomic.h>

#define SECOND
#include "guest.h"

#define WRITES		20000
#define IMMEDIATES	2048

#define RET		0x00008067

/* li a0, 0; ret; and another function: ret */
static uint32_t code[3] __attribute__((aligned(4096))) = { 0x00000513, RET, RET };
static atomic_uint written, called, stale;

/* Writing this value ends the calls. */
void second(void)
{
	unsigned int number, value;

	((void (*)(void))(code + 2))();
	do {
		number = atomic_load(&written);
		__asm__ volatile("fence.i" ::: "memory");
		value = ((unsigned int (*)(void))code)();
		/*
		 * A later value is also correct, because hart 0 may have written it in the
		 * meantime.
		 */
		if ((value - number) % IMMEDIATES >= IMMEDIATES / 2)
			atomic_fetch_add(&stale, 1);
		atomic_store(&called, number);
	} while (number < WRITES);
}

static void code_is_new_after_fence(void)
{
	unsigned int number;

	for (number = 1; number <= WRITES; number++) {
		*(volatile uint32_t *)code = 0x00000513 | number % IMMEDIATES << 20;
		atomic_store(&written, number);
		while (atomic_load(&called) < number)
			;
	}
	result(!atomic_load(&stale), "a hart executes new code after fence.i");
}

void guest(void)
{
	code_is_new_after_fence();
	end();
}
