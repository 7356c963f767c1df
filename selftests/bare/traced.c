// SPDX-License-Identifier: GPL-2.0-only
/* Functions compiled with hooks, which record their entries and exits. */
#include "bare.h"

unsigned int fib(unsigned int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
