/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * An interval is the time from one record of a thread to the thread's next record, in a trace that
 * also has instruction trace. All intervals between the same two places in the code form one row. A
 * row has counts from the records and, from the flow, the instructions and calls of each function.
 * Counts are not divided among functions.
 */
#ifndef SIFIVE_TRACE_INTERVALS_H
#define SIFIVE_TRACE_INTERVALS_H

#include "analysis.h"

/*
 * Maximum number of rows, and of functions in all rows. Intervals beyond the first limit share one
 * row; a row's functions beyond the second limit share one entry.
 */
#define INTERVALS_MAX		4096
#define INTERVALS_FUNCTIONS	65536

/*
 * One end of an interval: a place in the code, given by enum perfrec_type and a function's number.
 */
#define INTERVALS_END(type, function)	((uint32_t)(type) << 30 | (function))
#define INTERVALS_TYPE(end)		((end) >> 30)
#define INTERVALS_FUNCTION(end)		((end) & ((1u << 30) - 1))
/* The row for all intervals beyond the limit. */
#define INTERVALS_OTHERS		UINT32_MAX

/**
 * struct interval - a row
 * @from, @to:	ends of the intervals
 * @times:	number of intervals
 * @timed:	number of intervals whose length is known
 * @inferred:	number of the timed intervals whose length is inferred
 * @ticks:	total length of the timed intervals
 * @moved:	number of intervals in which the thread changed harts
 * @lost:	number of intervals in which records may be missing
 * @missing:	number of intervals in which instructions are missing, so @instructions and @calls
 *		are too low
 * @instructions: number of instructions executed
 * @calls:	number of functions called
 * @counted:	number of intervals with a known count, by column
 * @count:	sums of these known counts, by column
 */
struct interval {
	uint32_t	from;
	uint32_t	to;
	uint64_t	times;
	uint64_t	timed;
	uint64_t	inferred;
	uint64_t	ticks;
	uint64_t	moved;
	uint64_t	lost;
	uint64_t	missing;
	uint64_t	instructions;
	uint64_t	calls;
	uint64_t	counted[COUNTERS_MAX];
	uint64_t	count[COUNTERS_MAX];
};

/**
 * struct interval_function - a function that ran during the intervals of a row
 * @interval:	index of the row
 * @function:	number of the function
 */
struct interval_function {
	uint32_t	interval;
	uint32_t	function;
	uint64_t	instructions;
	uint64_t	calls;
};

struct intervals;

/** intervals_new() - create an empty set of intervals; return NULL if out of memory */
struct intervals *intervals_new(void);

/** intervals_free() - free the intervals; NULL is allowed */
void intervals_free(struct intervals *intervals);

/** intervals_failed() - return whether memory ran out */
bool intervals_failed(const struct intervals *intervals);

/* Called from the callbacks of struct analysis_ops with the same names. */
void intervals_point(struct intervals *intervals, const struct analysis_thread *thread,
		     const struct analysis_point *point);
void intervals_ran(struct intervals *intervals, const struct analysis_thread *thread,
		   uint32_t function, uint64_t instructions);
void intervals_missing(struct intervals *intervals, const struct analysis_thread *thread);

/** intervals_rows() - return the rows; set *@count to their number */
const struct interval *intervals_rows(const struct intervals *intervals, size_t *count);

/** intervals_functions() - return the functions of all rows; set *@count to their number */
const struct interval_function *intervals_functions(const struct intervals *intervals,
						    size_t *count);

#endif /* SIFIVE_TRACE_INTERVALS_H */
