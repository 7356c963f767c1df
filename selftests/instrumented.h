/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions with entry and exit records, for calls_test.c. A function that returns a number returns
 * its number of calls, including its own.
 */
#ifndef INSTRUMENTED_H
#define INSTRUMENTED_H

#include <setjmp.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 0, 1, 1, 2 … */
unsigned int calls_fib(unsigned int n);
unsigned int calls_of_fib(unsigned int n);

/* One call with an empty body. */
void calls_leaf(void);
/* One call, which calls leaf @turns times. */
void calls_loop(unsigned int turns);

/* Recurse @depth levels deep, then jump to @to: 2 * @depth + 1 calls. */
void calls_jump(jmp_buf to, unsigned int depth);

/* Recurse until the stack overflows, and count the calls in @calls. */
unsigned int calls_deeper(const void *above, uint64_t *calls);

/*
 * Throw an exception @depth calls deep, and catch it in the outermost call: @depth + 2 calls, and
 * the same number of exits.
 */
unsigned int calls_throw(unsigned int depth);

/* One call, during which the thread raises a signal. */
void calls_raise(unsigned int number);

/* A signal handler: two calls. */
void calls_handler(int number);

/* Calls made before main() by constructors in C and C++. */
extern unsigned int calls_before_main;

#ifdef __cplusplus
}
#endif

#endif /* INSTRUMENTED_H */
