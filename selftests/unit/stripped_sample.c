// SPDX-License-Identifier: Apache-2.0 OR MIT
/* A stripped shared object: one function keeps its name, and another has none. */
int outside(int value);
int shown(int value);

static __attribute__((noinline)) int hidden(int value)
{
	return outside(value) + 1;
}

int shown(int value)
{
	return hidden(value) + outside(value + 1);
}
