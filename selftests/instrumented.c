// SPDX-License-Identifier: GPL-2.0-only
/* Built with -finstrument-functions. */
#include <signal.h>
#include <stddef.h>

#include "instrumented.h"

unsigned int calls_before_main;

unsigned int calls_fib(unsigned int n)
{
	return n < 2 ? n : calls_fib(n - 1) + calls_fib(n - 2);
}

__attribute__((no_instrument_function)) unsigned int calls_of_fib(unsigned int n)
{
	return n < 2 ? 1 : 1 + calls_of_fib(n - 1) + calls_of_fib(n - 2);
}

void calls_leaf(void)
{
	asm volatile("");
}

void calls_loop(unsigned int turns)
{
	while (turns--)
		calls_leaf();
}

static __attribute__((noinline)) void deeper(jmp_buf to, unsigned int depth)
{
	calls_jump(to, depth - 1);
}

void calls_jump(jmp_buf to, unsigned int depth)
{
	if (depth)
		deeper(to, depth);
	longjmp(to, 1);
}

unsigned int calls_deeper(const void *above, uint64_t *calls)
{
	volatile char place[64];

	place[0] = above != calls;
	return ++*calls ? calls_deeper(place[0] ? above : NULL, calls) + place[0] : 0;
}

void calls_raise(unsigned int number)
{
	raise((int)number);
}

void calls_handler(int number)
{
	calls_leaf();
}

/* Runs first: 101 is the lowest priority number that a program's constructor can have. */
__attribute__((constructor(101))) static void construct(void)
{
	calls_leaf();
	calls_before_main += 2;
}
