/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Numbers the functions of a trace. */
#ifndef SIFIVE_TRACE_FUNCTIONS_H
#define SIFIVE_TRACE_FUNCTIONS_H

#include <stdint.h>

/* A damaged trace may contain any number of functions; all beyond the limit are function 0. */
#define FUNCTIONS_MAX	(1u << 16)
#define FUNCTIONS_OTHER	0

struct functions;

/**
 * functions_new() - create a set that contains only FUNCTIONS_OTHER; return NULL if out of memory
 */
struct functions *functions_new(void);

/** functions_free() - free a set; NULL is allowed */
void functions_free(struct functions *functions);

/** functions_find() - return the number of an address, or FUNCTIONS_OTHER if it has none */
uint32_t functions_find(struct functions *functions, uint64_t address);

/**
 * functions_add() - number a new address
 * @same:	address that identifies the function: @address receives the same number; may be
 *		@address itself
 *
 * Return: the number, or FUNCTIONS_OTHER if there are too many.
 */
uint32_t functions_add(struct functions *functions, uint64_t address, uint64_t same);

/** functions_count() - return the highest number plus one */
uint32_t functions_count(const struct functions *functions);

/**
 * functions_address() - return the first address of function @id, or 0 if it has none, as for
 * FUNCTIONS_OTHER
 */
uint64_t functions_address(const struct functions *functions, uint32_t id);

#endif /* SIFIVE_TRACE_FUNCTIONS_H */
