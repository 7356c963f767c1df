/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the bare-metal tests call in each other. */
#ifndef BARE_H
#define BARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Print a comment with a number, for bare.sh. */
void tell(const char *what, unsigned int value);

/* From start.S, on hart 0. */
int main(void);

/* From start.S, at each trap; registers[n] is what xn will be. */
void trapped(unsigned long *registers, unsigned long cause, unsigned long pc);

/* In board.c; the compiler's own calls, too. */
void *memset(void *to, int value, size_t size);
void *memcpy(void *to, const void *from, size_t size);

/* One test's result, and the plan, after which the board ends. */
void result(bool ok, const char *what);
void results_end(void);

/* What hart 1 is to run, for start.S, and a call that wakes it for that. */
extern void (*volatile second_hart)(void);
void start_second(void (*function)(void));

/* A trap that nobody wants: no more tests. */
void bail_out(unsigned long cause, unsigned long pc);

/* Have the runner save what was captured. */
void hand_out(const void *buffer, uint32_t bytes, const char *name);

/* In traced.c, which is compiled with -finstrument-functions. */
unsigned int fib(unsigned int n);

#endif /* BARE_H */
