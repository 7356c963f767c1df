// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls functions before main() and after its return, from the program's first constructor to its
 * last destructor. Prints the number of calls to each function: "calls leaf 8".
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned int calls;

static __attribute__((noinline)) void leaf(void)
{
	calls++;
	asm volatile("");
}

__attribute__((constructor(101))) static void first_constructor(void)
{
	leaf();
}

__attribute__((constructor)) static void constructor(void)
{
	leaf();
}

__attribute__((destructor)) static void destructor(void)
{
	leaf();
}

/* The last destructor: when it prints the numbers of calls, all calls have been counted. */
__attribute__((destructor(101))) static void last_destructor(void)
{
	char text[256];
	int length;

	leaf();
	length = snprintf(text, sizeof(text),
			  "calls leaf %u\ncalls first_constructor 1\n"
			  "calls constructor 1\ncalls destructor 1\n"
			  "calls last_destructor 1\ncalls at_exit 1\ncalls main 1\n",
			  calls);
	if (write(STDOUT_FILENO, text, (size_t)length) != length)
		_exit(1);
}

static void at_exit(void)
{
	leaf();
}

int main(void)
{
	leaf();
	return atexit(at_exit);
}
