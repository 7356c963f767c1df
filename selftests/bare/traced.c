// SPDX-License-Identifier: GPL-2.0-only
/* Functions whose entries and exits the compiler's hooks record. */
#include "bare.h"

unsigned int fib(unsigned int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
