/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the bare-metal test call in each other. */
#ifndef BARE_H
#define BARE_H

/* From start.S, at each trap; registers[n] is what xn will be. */
void trapped(unsigned long *registers);

/* From start.S. */
int main(void);

/* In traced.c, which is compiled with -finstrument-functions. */
unsigned int fib(unsigned int n);

#endif /* BARE_H */
