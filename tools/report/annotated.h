/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Adds up each instruction's costs (executions, samples, and calls from it), grouped by function.
 */
#ifndef SIFIVE_TRACE_ANNOTATED_H
#define SIFIVE_TRACE_ANNOTATED_H

#include "analysis.h"
#include "counts.h"
#include "hash.h"
#include "instruction.h"
#include "options.h"

/*
 * Maximum number of addresses from records, which may be damaged, and maximum number of all
 * addresses.
 */
#define ANNOTATED_RECORDED_MAX	(1u << 17)
#define ANNOTATED_SITES_MAX	(1u << 22)

#define ANNOTATED_NAME_SIZE	512

/**
 * struct annotated_cost - the cost of one or more instructions
 * @executed:	number of executions
 * @taken, @next: number of times that a branch was taken, and not taken
 * @samples:	number of samples
 * @calls:	completed calls from these instructions; tail calls are not counted, because each is
 *		part of another call
 * @nested:	timed calls that are within another call to the same function
 * @timed:	calls whose time is included in @time, and tail calls within them
 * @untimed:	calls and tail calls without a time
 * @inferred:	calls and tail calls with an inferred time
 * @time:	ticks in the @timed calls; the @nested calls add nothing to it
 */
struct annotated_cost {
	uint64_t	executed;
	uint64_t	taken;
	uint64_t	next;
	uint64_t	samples;
	uint64_t	calls;
	uint64_t	nested;
	uint64_t	timed;
	uint64_t	untimed;
	uint64_t	inferred;
	uint64_t	time;
};

/** annotated_add() - add the cost @more to @sum */
void annotated_add(struct annotated_cost *sum, const struct annotated_cost *more);

/** annotated_is_timed() - return whether @time is known: at least one timed call is not nested */
static inline bool annotated_is_timed(const struct annotated_cost *cost)
{
	return cost->timed;
}

/**
 * struct annotated_site - an address with a cost
 * @place:	address of an instruction; or, if odd, an address within a calling instruction,
 *		usually the byte before the return address
 * @followed:	instruction trace shows a call from this site
 */
struct annotated_site {
	uint64_t		place;
	bool			followed;
	struct annotated_cost	cost;
};

/**
 * struct annotated_entry - a site of a function
 * @place:	like @place of struct annotated_site, but converted by executed_place()
 * @site:	index of the site
 * @start:	address of the function's first instruction, if @known is set
 * @object:	the object's name, or NULL if no file contains the address
 * @vague:	set if the call is at an unknown address in the function, because the record
 *		identifies only the function
 */
struct annotated_entry {
	uint64_t	place;
	uint64_t	start;
	const char	*object;
	uint32_t	site;
	bool		known;
	bool		vague;
};

/**
 * struct annotated_function - a function with costs, or the addresses in an object that are outside
 * all functions
 * @name:	name of the function, or of the object
 * @known:	set for a function; it begins at @start
 * @object, @file, @line: location of the function; NULL and 0 if unknown
 * @entry:	sites of the function: vague sites first, then all other sites by place
 * @sum:	sum of the sites' costs
 */
struct annotated_function {
	char				*name;
	bool				known;
	uint64_t			start;
	const char			*object;
	const char			*file;
	int				line;
	const struct annotated_entry	*entry;
	size_t				entries;
	struct annotated_cost		sum;
};

/**
 * struct annotated - the costs of all functions
 * @function:	functions with costs, hottest first
 * @sum:	sum of the costs of all functions
 * @flow:	set if the trace has instruction trace, in which case executions are counted
 * @exact:	set if the numbers of executions are exact; otherwise, they may be too low for the
 *		reason in @why
 * @nowhere:	calls whose call site is unknown
 * @jumps:	tail calls
 * @left_out:	costs at addresses beyond the limit
 */
struct annotated {
	struct input			input;
	struct analysis			*analysis;
	struct counts			*counts;
	struct annotated_function	*function;
	size_t				functions;
	struct annotated_cost		sum;
	bool				flow;
	bool				exact;
	char				why[COUNTS_WHY_SIZE];
	uint64_t			nowhere;
	uint64_t			jumps;
	struct annotated_cost		left_out;
	/* Private to annotated.c. */
	struct annotated_site		*site;
	size_t				sites, room, most;
	struct hash			hash;
	struct annotated_entry		*entry;
	bool				no_memory;
	bool				following;	/* records from instruction trace */
	bool				jumped;		/* a tail call is beginning */
};

/**
 * annotated_read() - read a trace
 * @annotated:	the result, for annotated_free() even after an error
 *
 * Return: an exit code; errors have been printed.
 */
int annotated_read(struct annotated *annotated, const struct options *options);

/** annotated_free() - close the trace and free the result */
void annotated_free(struct annotated *annotated);

/* What a row describes. */
enum annotated_kind {
	ANNOTATED_INSTRUCTION,
	ANNOTATED_CALL,		/* a call of which only the return address is known */
	ANNOTATED_VAGUE,	/* calls from unknown addresses in the function */
	ANNOTATED_STRAY,	/* no instruction of the function begins there */
};

/**
 * struct annotated_row - a row: an instruction of a function, or another address with a cost
 * @kind:	enum annotated_kind
 * @place:	address of the instruction, or return address of a call
 * @address:	like @place, but in the file, or in memory if there is no file
 * @code:	the instruction's bytes, or NULL if no file contains them
 * @rv32:	set for an RV32 instruction
 * @of:		the decoded instruction
 */
struct annotated_row {
	enum annotated_kind	kind;
	uint64_t		place;
	uint64_t		address;
	const uint8_t		*code;
	bool			rv32;
	struct instruction	of;
	struct annotated_cost	cost;
};

/**
 * annotated_rows() - call @each for all instructions of a function, and for its other addresses
 *
 * The rows' costs add up to the function's. Without code, only addresses with costs have rows.
 */
void annotated_rows(struct annotated *annotated, const struct annotated_function *function,
		    void (*each)(void *context, const struct annotated_row *row), void *context);

/** annotated_has_code() - return whether a file contains the function's code */
bool annotated_has_code(struct annotated *annotated, const struct annotated_function *function);

#endif /* SIFIVE_TRACE_ANNOTATED_H */
