// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Optimised, with hooks: the exit hook of a void function is a tail call. With an argument, makes
 * calls that end with longjmp().
 */
#include <setjmp.h>

#define KEPT	__attribute__((noipa))

static volatile unsigned int sum;
static jmp_buf back;

KEPT static void leaf(unsigned int n)
{
	sum += n;
}

KEPT static void handle(unsigned int n)
{
	leaf(n);
	leaf(n + 1);
}

KEPT static void walk(unsigned int depth)
{
	leaf(depth);
	if (depth)
		walk(depth - 1);
	leaf(depth);
}

KEPT static unsigned int leave(unsigned int more)
{
	unsigned int left = more ? leave(more - 1) : 0;

	if (!more)
		longjmp(back, 1);
	return left + 1;
}

KEPT static int jumps(void)
{
	volatile unsigned int i;

	for (i = 0; i < 9; i++)
		if (!setjmp(back))
			sum += leave(3);
	leaf(i);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int i;

	(void)argv;
	if (argc > 1)
		return jumps();
	for (i = 0; i < 5; i++) {
		leaf(i);
		handle(i);
		leaf(i);
	}
	walk(3);
	leaf(i);
	walk(2);
	return 3;
}
