/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Packs all calls in a trace for html.c's page, which unpacks only the calls that it draws. Calls
 * of similar length form a class, so the few long calls of a wide view can be found among millions
 * of short calls. A class is stored in chunks, each compressed separately.
 *
 * Memory use does not grow with the number of calls, because chunks are kept in a temporary file.
 */
#ifndef SIFIVE_TRACE_CALLS_H
#define SIFIVE_TRACE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "../output.h"

/* Maximum size of the compressed calls in a page, in bytes; a browser stores them as one string. */
#define CALLS_BYTES_MAX	(256u << 20)
#define CALLS_NO_CALLER	UINT32_MAX

/**
 * struct call - a call, a sample, or a manual record
 * @begin:	time in ticks
 * @length:	length in ticks, or 0 for a point
 * @waited:	ticks of @length in which the thread waited for room; they are not charged to any
 *		function
 * @function:	number of the function
 * @caller:	the caller's number, or CALLS_NO_CALLER
 * @thread:	id of the thread
 * @depth:	number of enclosing calls
 * @point:	set for a sample or a manual record, and if @record is set
 * @record:	enum perfrec_type + 1 for a record among calls from the instruction trace, otherwise
 *		0
 * @inferred:	@begin or @length is inferred
 * @self_inferred: the call's self time is inferred, or includes unknown functions
 * @partial:	some of the call's counts are unknown
 * @outermost:	set if no other call to the same function encloses this one
 */
struct call {
	uint64_t	begin;
	uint64_t	length;
	uint64_t	waited;
	uint32_t	function;
	uint32_t	caller;
	uint32_t	thread;
	uint32_t	depth;
	bool		point;
	uint8_t		record;
	bool		inferred;
	bool		self_inferred;
	bool		partial;
	bool		outermost;
};

struct calls;

/** calls_new() - create an empty collection; return NULL after printing an error */
struct calls *calls_new(void);

/** calls_free() - free the calls; NULL is allowed */
void calls_free(struct calls *calls);

/**
 * calls_add() - add a call
 * @count:	the count of each counter in the call plus 1, or 0 for an unknown count; or NULL
 * @counters:	number of counters
 *
 * A failure is reported by calls_put_index().
 */
void calls_add(struct calls *calls, const struct call *call, const uint64_t *count,
	       unsigned int counters);

/**
 * calls_put_index() - write the index of the chunks; call this only once
 * @first:	the earliest time in the trace; times in the index are relative to it
 *
 * Return: the number of calls that were omitted because CALLS_BYTES_MAX had been reached, or -1
 * after printing an error.
 */
int64_t calls_put_index(struct calls *calls, uint64_t first, struct output *out);

/**
 * calls_put() - write the chunks and the sums of their functions, after calls_put_index()
 *
 * The page can show an overview before the browser has read the chunks. For a selected time range,
 * the page adds up the sums of chunks that are completely within the range, instead of reading
 * their calls.
 *
 * Return: 0, or -1 after printing an error.
 */
int calls_put(struct calls *calls, struct output *out);

#endif /* SIFIVE_TRACE_CALLS_H */
