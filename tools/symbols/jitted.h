/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Finds the code that a process had generated at an address at a time, in the dumps that its
 * just-in-time compilers have written. An address has the code that was written there last.
 */
#ifndef SIFIVE_TRACE_JITTED_H
#define SIFIVE_TRACE_JITTED_H

#include "jitdump.h"

/* Separate addresses are below this limit. */
#define JITTED_PLACES	(1ull << 44)

/**
 * struct jitted_piece - code at an address
 * @code:	the code, with the time when it was first there
 * @place:	separate address of its start, which differs from those of all other pieces; the same
 *		code that is written at the same address again is the same piece
 */
struct jitted_piece {
	const struct jitdump_code	*code;
	uint64_t			place;
};

/**
 * struct jitted_time - a time, in the clock of the dumps
 * @known:	the time is known; only if jitted_timed() returns true
 * @from, @to:	range that contains the time, if @known is set
 * @since:	ignore code that was written before this time
 */
struct jitted_time {
	bool		known;
	uint64_t	from;
	uint64_t	to;
	uint64_t	since;
};

enum jitted_answer {
	JITTED_NEVER,		/* the dumps have no code at the address */
	JITTED_ABSENT,		/* there was none at that time */
	JITTED_UNSURE,		/* several functions may have been there at that time */
	JITTED_FOUND,
};

struct jitted;

/**
 * jitted_new() - prepare to find the code of @count dumps, which must outlive the result
 *
 * Return: the code; or NULL with errno set, to EOVERFLOW if too many functions overlap.
 */
struct jitted *jitted_new(struct jitdump *const *dump, size_t count);

/** jitted_timed() - return whether the times of all code are in CLOCK_MONOTONIC */
bool jitted_timed(const struct jitted *jitted);

/** jitted_free() - free; NULL is allowed */
void jitted_free(struct jitted *jitted);

/** jitted_find() - find the code at an address; @piece: set if the result is JITTED_FOUND */
enum jitted_answer jitted_find(const struct jitted *jitted, uint64_t address,
			       const struct jitted_time *time, const struct jitted_piece **piece);

/** jitted_at() - return the piece that contains a separate address, or NULL */
const struct jitted_piece *jitted_at(const struct jitted *jitted, uint64_t place);

/**
 * jitted_until() - return the lowest address above @address at which any piece begins or ends
 *
 * Below that address, code that was there at any time was replaced as a whole, or not at all. The
 * address may be within an instruction of a piece that the other one replaced.
 */
uint64_t jitted_until(const struct jitted *jitted, uint64_t address);

#endif /* SIFIVE_TRACE_JITTED_H */
