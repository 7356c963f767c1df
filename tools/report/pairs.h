/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds the same functions in several traces, for --diff. */
#ifndef SIFIVE_TRACE_PAIRS_H
#define SIFIVE_TRACE_PAIRS_H

#include "report.h"

/* Represents the row of a function that is not in the trace. */
#define PAIRS_NO_ROW	((size_t)-1)

/*
 * A function in one or more traces, with its row in each trace. @offset: offset in its object's
 * file; @common: set if that object has functions in the traces being joined; @confidence:
 * confidence that the function's runs differ, or -1 if unknown or if there are not several runs.
 */
struct pair {
	char		*name;
	const char	*object;
	const char	*file;
	uint64_t	offset;
	bool		common;
	size_t		*row;
	double		key;
	double		confidence;
	bool		named;
};

/**
 * struct pairs - the functions of all traces
 * @pair:	the @count functions, with memory for @room
 * @runs:	number of traces
 */
struct pairs {
	struct pair	*pair;
	size_t		count;
	size_t		room;
	unsigned int	runs;
};

/**
 * pairs_add() - add the functions of a trace that --filter does not exclude
 * @run:	number of the trace; traces are added in order
 *
 * Different functions may have the same name. Functions with equal names are matched first if they
 * are at the same offset, then if they are in the same source file, then in the same object, and
 * last in a renamed object.
 *
 * Return: false if out of memory.
 */
bool pairs_add(struct pairs *pairs, const struct report_options *options,
	       const struct profile *profile, unsigned int run);

/**
 * pairs_add_row() - add a function of a trace; after the trace's last function, call pairs_join()
 * @run:	number of the trace
 * @row:	number of the function in the trace
 * @symbol:	the function, whose strings must outlive the pairs
 *
 * Return: false if out of memory.
 */
bool pairs_add_row(struct pairs *pairs, unsigned int run, size_t row, const char *name,
		   const struct symbol *symbol);

/** pairs_join() - join the functions of a trace with those of earlier traces: see pairs_add() */
void pairs_join(struct pairs *pairs, unsigned int run);

/** pairs_by_name() - compare the names of two struct pair, for qsort() */
int pairs_by_name(const void *a, const void *b);

/** pairs_free() - free all functions */
void pairs_free(struct pairs *pairs);

#endif /* SIFIVE_TRACE_PAIRS_H */
