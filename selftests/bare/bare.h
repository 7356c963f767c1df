/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations shared by the files of the bare-metal tests. */
#ifndef BARE_H
#define BARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Print a comment with a number, for bare.sh. */
void tell(const char *what, unsigned int value);

/* Called by start.S on hart 0. */
int main(void);

/* Called by start.S on each trap; on return, xn is restored from registers[n]. */
void trapped(unsigned long *registers, unsigned long cause, unsigned long pc);

/* Defined in board.c; the compiler also generates calls to these functions. */
void *memset(void *to, int value, size_t size);
void *memcpy(void *to, const void *from, size_t size);

/* result() prints a test's result; results_end() prints the plan and powers the board off. */
void result(bool ok, const char *what);
void results_end(void);

/* The function that start.S calls on hart 1. start_second() sets it, then wakes hart 1. */
extern void (*volatile second_hart)(void);
void start_second(void (*function)(void));

/* End the tests because of an unexpected trap. */
void bail_out(unsigned long cause, unsigned long pc);

/* Make the runner save the capture. */
void hand_out(const void *buffer, uint32_t bytes, const char *name);

/* Defined in traced.c, which is compiled with -finstrument-functions. */
unsigned int fib(unsigned int n);

#endif /* BARE_H */
