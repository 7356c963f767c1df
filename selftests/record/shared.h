/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Declarations shared by the program and the shared objects of shared.c. */
#ifndef SHARED_H
#define SHARED_H

int first(int n, const char *caller);
int second(int n, const char *caller);
void first_print(void);
void second_print(void);

#endif /* SHARED_H */
