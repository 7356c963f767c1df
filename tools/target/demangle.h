/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Demangles C++ names with this machine's C++ library. A machine without that library can run only
 * static C++ programs, and shows mangled names.
 */
#ifndef SIFIVE_TRACE_DEMANGLE_H
#define SIFIVE_TRACE_DEMANGLE_H

#include <stdbool.h>

/**
 * demangle() - demangle a symbol, including its types
 * @symbol:	name in a symbol table
 *
 * Return: a string to be freed with free(), or NULL if @symbol is not a C++ name, or if there is
 * no C++ library.
 */
char *demangle(const char *symbol);

/**
 * demangle_cut() - cut the return type and the parameters from a name
 * @name:	result of demangle(); modified
 *
 * Return: a pointer into @name, to the remaining name.
 */
char *demangle_cut(char *name);

/** demangle_possible() - return whether this machine has a C++ library */
bool demangle_possible(void);

#endif /* SIFIVE_TRACE_DEMANGLE_H */
