// SPDX-License-Identifier: GPL-2.0-only
/* A program for coverage.sh, with statements of all kinds. argv[1] is the number of rounds. */
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair {
	int one, two;
};

static jmp_buf out_of_it;
static volatile sig_atomic_t signals;

static int never(int a)
{
	if (a)
		return 1;
	return a + 2;
}

static int ackermann(int m, int n)
{
	if (!m)
		return n + 1;
	if (!n)
		return ackermann(m - 1, 1);
	return ackermann(m - 1, ackermann(m, n - 1));
}

static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

static void nothing(void)
{
}

static void
loops(int count, int *sum)
{
	int i, j;

	for (i = 0; i < count; i++)
		*sum += i;
	for (i = 0; i < count; *sum ^= i++)
		;
	while (i-- && *sum)
		if (i % 3 == 1)
			continue;
		else if (i == 2)
			break;
	do {
		i++;
		for (j = i; j; j >>= 1)
			*sum += j & 1;
	} while (i < count);
	for (;;) {
		if (i-- < 0)
			return;
		nothing();
	}
}

static int choose(int what)
{
	int result = 0;

	what %= 5;
	if (!what)
		return 3;
	else if (what == 1)
		result = 2;
	else if (what == 4 || what < 0)
		result = -1;
	else
		goto out;
again:
	if (++result < 0)
		goto again;
out:
	return result > 5 ? result
		: -result;
}

static struct pair make_pair(int a)
{
	struct pair pair = {
		.one = a,
		.two = a * 2,
	};

	return pair;
}

static bool conditions(int a, int b)
{
	if (a > b && a < 2 * b &&
	    (b & 1 || a & 2))
		return true;
	return !(a || b) ||
	       a == 7;
}

static void leap(int depth)
{
	if (!depth)
		longjmp(out_of_it, 1);
	if (depth > 0)
		leap(depth - 1);
}

static void on_signal(int number)
{
	signals += number == SIGUSR1;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static int sort(int count)
{
	int numbers[32], i;

	for (i = 0; i < 32; i++)
		numbers[i] = i * 7919 % 101 + count;
	qsort(numbers, 32, sizeof(numbers[0]), compare);
	return numbers[3];
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 3, i, sum = 0;
	int (*indirect)(int) = count > 100 ? never : choose;

	signal(SIGUSR1, on_signal);
	for (i = 0; i < count; i++) {
		loops(i, &sum);
		sum += indirect(i);
		sum += make_pair(i).two;
		sum += conditions(i, count - i);
		if (!setjmp(out_of_it))
			leap(i);
		else
			raise(SIGUSR1);
	}
	sum += ackermann(2, count) + fib(count) + sort(count);
	printf("%d %d\n", sum, (int)signals);
	if (argc > 5)
		never(argc);
	return 0;
}
