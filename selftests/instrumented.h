/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions with a record at entry and exit, for calls_test.c. Each says how many
 * calls it makes, itself among them.
 */
#ifndef INSTRUMENTED_H
#define INSTRUMENTED_H

#include <setjmp.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 0, 1, 1, 2 … */
unsigned int calls_fib(unsigned int n);
unsigned int calls_of_fib(unsigned int n);

/* One call, and nothing is done in it. */
void calls_leaf(void);
/* One call, in which leaf is called @turns times. */
void calls_loop(unsigned int turns);

/* Jumps from @depth calls of itself to where @to was set: 2 * depth + 1 calls. */
void calls_jump(jmp_buf to, unsigned int depth);

/*
 * Throws an exception from @depth calls below, which is caught here: depth + 2
 * calls, and as many exits.
 */
unsigned int calls_throw(unsigned int depth);

/* One call, in which the thread sends itself a signal. */
void calls_raise(unsigned int number);

/* A signal's handler: two calls. */
void calls_handler(int number);

/* Calls that were made before main() by constructors in C and C++. */
extern unsigned int calls_before_main;

#ifdef __cplusplus
}
#endif

#endif /* INSTRUMENTED_H */
