/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * C++ names as people write them. The C++ library of this machine knows them; where
 * there is none, there are no C++ programs either but static ones.
 */
#ifndef SIFIVE_TRACE_DEMANGLE_H
#define SIFIVE_TRACE_DEMANGLE_H

#include <stdbool.h>

/**
 * demangle() - the name that a symbol stands for, with types
 * @symbol:	as it is in a symbol table
 *
 * Return: for free(); NULL: it is no C++ name, or nobody here can tell.
 */
char *demangle(const char *symbol);

/**
 * demangle_cut() - the same without what the function returns and takes
 * @name:	of demangle(); changed
 *
 * Return: where in @name the rest begins.
 */
char *demangle_cut(char *name);

/** demangle_possible() - whether somebody here can tell */
bool demangle_possible(void);

#endif /* SIFIVE_TRACE_DEMANGLE_H */
