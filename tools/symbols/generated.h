/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds functions that processes have generated at run time, in the files that just-in-time
 * compilers write for perf: dumps with the code and its times (jitdump.h), and lists of names
 * (perf_map.h), which are used where no dump of the process has code. Each process's functions are
 * assigned separate addresses, which no program can use.
 */
#ifndef SIFIVE_TRACE_GENERATED_H
#define SIFIVE_TRACE_GENERATED_H

#include "meta.h"
#include "places.h"
#include "symbols.h"

struct generated;

/**
 * generated_new() - prepare to read the files that a side-car file names
 * @meta:	the side-car file, which must outlive the result
 * @generated:	set to the files, or NULL if there are none
 *
 * Return: 0, or -1 if out of memory.
 */
int generated_new(const struct meta *meta, struct generated **generated);

/** generated_free() - free; NULL is allowed */
void generated_free(struct generated *generated);

/**
 * generated_clock() - set the trace's clock, before any search
 * @generated:	may be NULL
 * @hz:		ticks per second, or 0 if unknown
 * @ts_mask:	maximum timestamp
 */
void generated_clock(struct generated *generated, uint64_t hz, uint64_t ts_mask);

/** generated_has_code() - return whether there are dumps with code; NULL is allowed */
bool generated_has_code(const struct generated *generated);

/**
 * generated_place() - translate an address to the separate address of the process's function there
 * @places:	finds the process
 * @address:	address in memory
 * @time:	the time in ticks, or NULL if unknown
 * @writer:	the writer of the record with the address, or NULL if unknown
 *
 * Return: @address itself if the process is unknown or has no known function there.
 */
uint64_t generated_place(struct generated *generated, struct places *places, uint64_t address,
			 const uint64_t *time, const struct places_writer *writer);

/**
 * generated_place_any() - like generated_place(), but only for code in dumps, of any process
 *
 * Return: @address itself if several processes have different code there.
 */
uint64_t generated_place_any(struct generated *generated, const struct places *places,
			     uint64_t address, const uint64_t *time);

/** generated_find() - describe a separate address; return false for any other address */
bool generated_find(const struct generated *generated, uint64_t place, struct symbol *symbol);

/** generated_code() - return the code at a separate address, or NULL: see symbols_code() */
const uint8_t *generated_code(const struct generated *generated, uint64_t place, uint64_t *size);

#endif /* SIFIVE_TRACE_GENERATED_H */
