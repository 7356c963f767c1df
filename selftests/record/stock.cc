// SPDX-License-Identifier: Apache-2.0 OR MIT
/* The other source file of the program in objects.cc, for filters by file. */
#include "calls.h"

namespace stock {

static int row(int n)
{
	calls_count("stock::left", "stock::row");
	return n % 4;
}

int left(int n)
{
	int sum = 0;

	calls_count("main", "stock::left");
	for (int i = 0; i < n; i++)
		sum += row(i);
	return sum;
}

__attribute__((no_instrument_function)) void print()
{
	calls_print("objects");
}

} // namespace stock
