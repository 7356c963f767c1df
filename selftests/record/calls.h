/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * The programs in this directory count their own calls by caller and callee, for comparison with
 * the trace. Each function begins with calls_count(). calls_print() prints a line "calls THREAD
 * CALLER FUNCTION NUMBER" for each pair.
 */
#ifndef CALLS_H
#define CALLS_H

#include <stdio.h>
#include <string.h>

#define CALLS_MAX	64

struct calls {
	const char	*caller;
	const char	*function;
	unsigned long	number;
};

/* Each object has one table for each thread. */
static __thread struct calls calls_table[CALLS_MAX];

__attribute__((no_instrument_function, unused))
static void calls_count(const char *caller, const char *function)
{
	int i;

	for (i = 0; i < CALLS_MAX && calls_table[i].function; i++)
		if (!strcmp(calls_table[i].caller, caller) &&
		    !strcmp(calls_table[i].function, function))
			break;
	if (i == CALLS_MAX)
		return;
	calls_table[i].caller = caller;
	calls_table[i].function = function;
	calls_table[i].number++;
}

__attribute__((no_instrument_function, unused))
static void calls_print(const char *thread)
{
	int i;

	for (i = 0; i < CALLS_MAX && calls_table[i].function; i++)
		printf("calls %s %s %s %lu\n", thread, calls_table[i].caller,
		       calls_table[i].function, calls_table[i].number);
	fflush(stdout);
}

#endif /* CALLS_H */
