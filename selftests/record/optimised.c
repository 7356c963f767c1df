// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Optimised, with hooks: the exit hook of a void function is a tail call. */
#define KEPT	__attribute__((noipa))

static volatile unsigned int sum;

KEPT static void leaf(unsigned int n)
{
	sum += n;
}

KEPT static void handle(unsigned int n)
{
	leaf(n);
	leaf(n + 1);
}

KEPT static void walk(unsigned int depth)
{
	leaf(depth);
	if (depth)
		walk(depth - 1);
	leaf(depth);
}

int main(void)
{
	unsigned int i;

	for (i = 0; i < 5; i++) {
		leaf(i);
		handle(i);
		leaf(i);
	}
	walk(3);
	leaf(i);
	walk(2);
	return 3;
}
