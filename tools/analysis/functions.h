/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The functions that a trace names, as small numbers. */
#ifndef SIFIVE_TRACE_FUNCTIONS_H
#define SIFIVE_TRACE_FUNCTIONS_H

#include <stdint.h>

/* A damaged trace names any number: those beyond this are all function 0. */
#define FUNCTIONS_MAX	(1u << 16)
#define FUNCTIONS_OTHER	0

struct functions;

/** functions_new() - no functions but FUNCTIONS_OTHER; NULL without memory */
struct functions *functions_new(void);

/** functions_free() - NULL is fine */
void functions_free(struct functions *functions);

/** functions_find() - the number that an address has, FUNCTIONS_OTHER for none */
uint32_t functions_find(struct functions *functions, uint64_t address);

/**
 * functions_add() - give a number to an address that has none
 * @same:	another address of the same function, which both get the number of;
 *		or @address
 *
 * Return: the number, FUNCTIONS_OTHER where there is no more room.
 */
uint32_t functions_add(struct functions *functions, uint64_t address, uint64_t same);

/** functions_count() - one more than the largest number given */
uint32_t functions_count(const struct functions *functions);

/** functions_address() - first address of function @id; 0 for FUNCTIONS_OTHER */
uint64_t functions_address(const struct functions *functions, uint32_t id);

#endif /* SIFIVE_TRACE_FUNCTIONS_H */
