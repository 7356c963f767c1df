// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Functions compiled with -O2 -finstrument-functions, in which the call to the exit hook is a tail
 * call if the function returns nothing. See depth_calls.h.
 */
#include <alloca.h>
#include <setjmp.h>

#include "depth_calls.h"

#define KEPT	__attribute__((noipa))

static volatile unsigned int sum;
static jmp_buf back;

KEPT static void leaf(unsigned int n)
{
	sum += n;
}

/* Recurse @more levels deeper. */
KEPT void walk(unsigned int more)
{
	leaf(more);
	if (more)
		walk(more - 1);
	leaf(more);
}

KEPT unsigned int add(unsigned int more)
{
	unsigned int rest = more ? add(more - 1) : 0;

	leaf(more);
	return rest + more;
}

/* Enlarge the frame, so that the exit hook is called deeper in the stack than the entry hook. */
KEPT void grow(unsigned int more)
{
	volatile char *memory = alloca(1000 + more);

	*memory = 0;
	leaf(more);
	if (more)
		grow(more - 1);
	leaf(*memory);
}

static inline __attribute__((always_inline)) void inner(unsigned int n)
{
	leaf(n);
}

/* Call inner(), which is inlined, twice. */
KEPT void outer(void)
{
	inner(1);
	walk(0);
	inner(2);
}

static unsigned int (*volatile jump_again)(unsigned int more);

/* Jump out of all calls from the innermost one, without returning. */
KEPT static unsigned int jump(unsigned int more)
{
	if (more)
		return jump_again(more - 1) + 1;
	longjmp(back, 1);
}

/* Call jump() several times from one place; it jumps back into this function. */
KEPT void again(unsigned int calls, unsigned int more)
{
	volatile unsigned int i;

	jump_again = jump;
	for (i = 0; i < calls; i++)
		if (!setjmp(back))
			sum += jump(more);
	leaf(1);
}

KEPT static void first(void)
{
	leaf(1);
	longjmp(back, 1);
}

KEPT static void second(void)
{
	leaf(2);
	longjmp(back, 1);
}

KEPT static void third(void)
{
	leaf(3);
	longjmp(back, 1);
}

/* Call several functions from one place; none of them returns. */
KEPT void dispatch(void)
{
	static void (*const volatile to[])(void) = { first, second, third, first, third };
	volatile unsigned int i;

	for (i = 0; i < sizeof(to) / sizeof(to[0]); i++)
		if (!setjmp(back))
			to[i]();
}

KEPT void interrupted(void (*interrupt)(void))
{
	leaf(1);
	interrupt();
	leaf(1);
}

static const struct {
	char letter;
	void *function;
} functions[] = {
	{ 'l', leaf }, { 'w', walk }, { 'a', add }, { 'g', grow }, { 'i', inner }, { 'o', outer },
	{ 'j', jump }, { 'A', again }, { '1', first }, { '2', second }, { '3', third },
	{ 'd', dispatch }, { 'I', interrupted },
};

#define COUNT	(sizeof(functions) / sizeof(functions[0]))

__attribute__((no_instrument_function)) void *depth_function(char letter)
{
	size_t i;

	for (i = 0; i < COUNT; i++)
		if (functions[i].letter == letter)
			return functions[i].function;
	return NULL;
}

__attribute__((no_instrument_function)) char depth_letter(const void *function)
{
	size_t i;

	for (i = 0; i < COUNT; i++)
		if (functions[i].function == function)
			return functions[i].letter;
	return '?';
}
