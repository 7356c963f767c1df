/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Numbers the objects or the source lines of a trace's addresses, for rows of a profile. */
#ifndef SIFIVE_TRACE_ORIGINS_H
#define SIFIVE_TRACE_ORIGINS_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols.h"

/* Origins beyond the limit of struct functions are number 0. */
#define ORIGINS_OTHER	0

struct analysis_thread;
struct origins;

/**
 * struct origin - an object, or a line of a source file in an object
 * @object:	name of the object, or NULL if unknown
 * @path:	path of the object, or NULL if unknown
 * @file:	source file as given to the compiler, or NULL for an object or an unknown file
 * @line:	line in @file
 */
struct origin {
	const char	*object;
	const char	*path;
	const char	*file;
	int		line;
};

/**
 * origins_new() - create an empty set
 * @symbols:	symbols for the lookups, which must outlive the set; may be NULL
 * @lines:	number lines, not objects
 *
 * Return: the set, or NULL if out of memory.
 */
struct origins *origins_new(struct symbols *symbols, bool lines);

/** origins_free() - free a set; NULL is allowed */
void origins_free(struct origins *origins);

/**
 * origins_at() - return the number of an instruction's origin
 * @address:	address of the instruction; for a call, its return address minus 1
 */
uint32_t origins_at(struct origins *origins, uint64_t address);

/**
 * origins_enter() - record the origin of the thread's innermost call
 *
 * Uses frame->user.
 */
void origins_enter(struct origins *origins, const struct analysis_thread *thread, uint32_t origin);

/**
 * origins_leave() - return the origin of the thread's innermost call
 * @outermost:	set if no other call of the same origin encloses this call
 */
uint32_t origins_leave(const struct analysis_thread *thread, bool *outermost);

/** origins_get() - return an origin by its number, which must not be ORIGINS_OTHER */
const struct origin *origins_get(const struct origins *origins, uint32_t number);

/** origins_name() - write "OBJECT", "FILE:LINE", or "OBJECT:?" for a line that is unknown */
void origins_name(const struct origins *origins, uint32_t number, char *text, unsigned int size);

#endif /* SIFIVE_TRACE_ORIGINS_H */
