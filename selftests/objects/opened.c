// SPDX-License-Identifier: GPL-2.0-only
/* An instrumented object, which is opened and closed while tracing is on. */
#define PASTE(name, suffix)	name##suffix
#define SUFFIXED(name, suffix)	PASTE(name, suffix)

unsigned int SUFFIXED(NAME, _leaf)(unsigned int n);
unsigned int SUFFIXED(NAME, _calls)(unsigned int n);

__attribute__((noinline)) unsigned int SUFFIXED(NAME, _leaf)(unsigned int n)
{
	return n;
}

/* How many calls it makes, itself among them. */
unsigned int SUFFIXED(NAME, _calls)(unsigned int n)
{
	unsigned int i, sum = 0;

	for (i = 0; i < n; i++)
		sum += SUFFIXED(NAME, _leaf)(1);
	return sum + 1;
}
