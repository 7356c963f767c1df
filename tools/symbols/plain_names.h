/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Demangles the names of C++ functions, each once. */
#ifndef SIFIVE_TRACE_PLAIN_NAMES_H
#define SIFIVE_TRACE_PLAIN_NAMES_H

#include <stdbool.h>

#include "symbols.h"

#define PLAIN_NAMES_BITS	12

struct plain_name;

/**
 * struct plain_names - the names found so far; none if zeroed
 * @demangle:	how to show names
 * @name:	lists of names, by hash
 */
struct plain_names {
	enum demangle		demangle;
	struct plain_name	*name[1 << PLAIN_NAMES_BITS];
};

/** plain_names_free() - free the names */
void plain_names_free(struct plain_names *names);

/**
 * plain_names_find() - return the name to show for a function
 * @mangled:	the name in the file, which must outlive @names
 * @stub:	set for a stub in the procedure linkage table
 *
 * Return: the name, valid until plain_names_free(); @mangled if out of memory.
 */
const char *plain_names_find(struct plain_names *names, const char *mangled, bool stub);

#endif /* SIFIVE_TRACE_PLAIN_NAMES_H */
