// SPDX-License-Identifier: Apache-2.0 OR MIT
/* A position-independent program with two shared objects that call each other. */
#include "calls.h"
#include "shared.h"

#if defined(FIRST)

int first(int n, const char *caller)
{
	calls_count(caller, "first");
	return n > 0 ? second(n - 1, "first") + 1 : 0;
}

__attribute__((no_instrument_function)) void first_print(void)
{
	calls_print("shared");
}

#elif defined(SECOND)

static int helper(int n)
{
	calls_count("second", "helper");
	return n + 1;
}

int second(int n, const char *caller)
{
	calls_count(caller, "second");
	return n > 0 ? helper(first(n - 1, "second")) : 0;
}

__attribute__((no_instrument_function)) void second_print(void)
{
	calls_print("shared");
}

#else

int main(void)
{
	calls_count("-", "main");
	if (first(7, "main") != 7 || second(4, "main") != 4)
		return 1;
	calls_print("shared");
	first_print();
	second_print();
	return 0;
}

#endif
