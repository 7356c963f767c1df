// SPDX-License-Identifier: GPL-2.0-only
/* An instrumented object that is opened and closed while tracing is on. */
#ifdef ONE
#define LEAF	one_leaf
#define CALLS	one_calls
#else
#define LEAF	two_leaf
#define CALLS	two_calls
#endif

__attribute__((noinline)) unsigned int LEAF(unsigned int n)
{
	return n;
}

/* Return the number of calls to this function, including the current one. */
unsigned int CALLS(unsigned int n)
{
	unsigned int i, sum = 0;

	for (i = 0; i < n; i++)
		sum += LEAF(1);
	return sum + 1;
}
