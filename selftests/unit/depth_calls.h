/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Functions with the compiler's hooks, for lib_depth_test. */
#ifndef DEPTH_CALLS_H
#define DEPTH_CALLS_H

#include <stddef.h>

/* Convert a letter to its function, and a function to its letter, or to '?' if it has none. */
void *depth_function(char letter);
char depth_letter(const void *function);

/* These functions call each other as the comments in depth_calls.c describe. */
void walk(unsigned int more);
unsigned int add(unsigned int more);
void grow(unsigned int more);
void outer(void);
void again(unsigned int calls, unsigned int more);
void dispatch(void);
void interrupted(void (*interrupt)(void));

#endif /* DEPTH_CALLS_H */
