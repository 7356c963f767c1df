// SPDX-License-Identifier: Apache-2.0 OR MIT
/* A C program without tracing code, with recursion and calls through pointers. */
#include <errno.h>

#include "calls.h"

static unsigned int ackermann(unsigned int m, unsigned int n, const char *caller)
{
	calls_count(caller, "ackermann");
	if (!m)
		return n + 1;
	if (!n)
		return ackermann(m - 1, 1, "ackermann");
	return ackermann(m - 1, ackermann(m, n - 1, "ackermann"), "ackermann");
}

static unsigned int square(unsigned int n)
{
	calls_count("sum", "square");
	return n * n;
}

static unsigned int cube(unsigned int n)
{
	calls_count("sum", "cube");
	return n * n * n;
}

static unsigned int sum(unsigned int (*function)(unsigned int), unsigned int n)
{
	unsigned int total = 0;

	calls_count("main", "sum");
	while (n)
		total += function(n--);
	return total;
}

/*
 * A program that contains the name of the library's variable must not be mistaken for a program
 * that contains the library.
 */
__attribute__((used)) static const char *mention = "SIFIVE_TRACE_RECORD";

int main(void)
{
	calls_count("-", "main");
	if (ackermann(2, 3, "main") != 9 || sum(square, 10) != 385 ||
	    sum(cube, 5) != 225)
		return 1;
	calls_print(program_invocation_short_name);
	return 7;
}
