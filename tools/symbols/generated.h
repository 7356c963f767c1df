/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Names functions that processes have generated at run time. The names are from the lists that
 * just-in-time compilers write for perf. Each process's functions are assigned separate addresses,
 * which no program can use.
 */
#ifndef SIFIVE_TRACE_GENERATED_H
#define SIFIVE_TRACE_GENERATED_H

#include "meta.h"
#include "places.h"
#include "symbols.h"

struct generated;

/**
 * generated_new() - prepare to read the lists that a side-car file names
 * @meta:	the side-car file, which must outlive the result
 * @generated:	set to the lists, or NULL if there are none
 *
 * Return: 0, or -1 if out of memory.
 */
int generated_new(const struct meta *meta, struct generated **generated);

/** generated_free() - free; NULL is allowed */
void generated_free(struct generated *generated);

/**
 * generated_place() - translate an address in a generated function to its separate address
 * @places:	finds the process
 * @address:	address in memory
 * @time:	the time in ticks, or NULL if unknown
 * @writer:	the writer of the record with the address, or NULL if unknown
 *
 * Return: @address itself if the process is unknown or has listed no function at @address.
 */
uint64_t generated_place(struct generated *generated, struct places *places, uint64_t address,
			 const uint64_t *time, const struct places_writer *writer);

/** generated_find() - describe a separate address; return false for any other address */
bool generated_find(const struct generated *generated, uint64_t place, struct symbol *symbol);

#endif /* SIFIVE_TRACE_GENERATED_H */
