// SPDX-License-Identifier: Apache-2.0 OR MIT
/* A function at 0x60000, into which functions are inlined two levels deep. */
#line 5 "/sample/inlined.h"
static inline __attribute__((always_inline)) int deepest(int value)
{
	return value * 12345;
}

static inline __attribute__((always_inline)) int inner(int value)
{
	return deepest(value) ^ 0x1234;
}

#line 20 "/sample/inlined.c"
__attribute__((section("inlined_outer"))) int outer(const int *value)
{
	int sum = *value;

	sum += inner(sum);
	return sum + 3;
}
