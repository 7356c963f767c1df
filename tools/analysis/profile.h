/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Adds up each function's costs over a whole trace: the rows of a report. */
#ifndef SIFIVE_TRACE_PROFILE_H
#define SIFIVE_TRACE_PROFILE_H

#include "analysis.h"
#include "costs.h"
#include "options.h"
#include "origins.h"
#include "spread.h"

/* Memory limit for the rows; in a damaged trace, functions beyond it share one row. */
#define PROFILE_BYTES	(12u << 20)

enum profile_by {
	PROFILE_BY_FUNCTION,
	PROFILE_BY_OBJECT,
	PROFILE_BY_LINE,
	PROFILE_BY_THREAD,
	PROFILE_BY_PROCESS,
	PROFILE_BY_HART,
};

/**
 * struct profile_row - a function, an object or a source line, or a function in one thread, in one
 * process or on one hart
 * @function:	number of the function in the analysis, or of the object or line in @origins
 * @group:	thread's id, or source, or 0
 * @calls:	calls that have ended
 * @untimed:	calls without a time
 * @inferred:	calls with an inferred time
 * @self_inferred: calls whose self time is inferred
 * @partial:	calls during which some counts are unknown
 * @samples:	samples in the function, excluding callees
 * @samples_total: samples in the function and its callees, if samples have callers
 * @points:	manual records in the function
 * @total:	ticks in the function's outermost calls
 * @self:	ticks in the function, excluding callees
 */
struct profile_row {
	uint32_t	function;
	uint32_t	group;
	uint64_t	calls;
	uint64_t	untimed;
	uint64_t	inferred;
	uint64_t	self_inferred;
	uint64_t	partial;
	uint64_t	samples;
	uint64_t	samples_total;
	uint64_t	points;
	uint64_t	total;
	uint64_t	self;
	uint64_t	seen;		/* Private to profile.c. */
};

struct profile;

/**
 * struct profile_live - callback that shows a profile while its trace is being read
 * @show:	callback to show @profile, which contains everything that has been read; returns
 *		whether to stop reading
 * @again:	callback at the end of the trace; returns whether the caller will read the trace again,
 *		so that no summary is needed
 * @least:	minimum time between two calls of @show, in ms
 */
struct profile_live {
	bool	(*show)(void *context, const struct profile *profile);
	bool	(*again)(void *context);
	void	*context;
	int64_t	least;
};

struct profile {
	struct input		input;
	struct analysis		*analysis;
	enum profile_by		by;
	struct origins		*origins;	/* objects or lines, or NULL */
	unsigned int		counters;	/* counters with costs in rows */
	struct profile_row	*row;
	size_t			rows;
	struct spreads		spreads;	/* spreads of all calls, by row */
	bool			spread;		/* set if @spreads are computed */
	bool			no_memory;
	/* Private to profile.c. */
	uint64_t		points;
	struct costs		costs;
	const struct profile_live *live;
	int64_t			shown;		/* time at which @live was last called, in ms */
	bool			stopped;
};

/**
 * profile_read() - compute the profile of a trace
 * @profile:	the result, to be freed with profile_free() even after an error
 * @options:	path of the trace, and how to read it
 * @spread:	whether to also compute the spread of call times
 * @live:	called when a pipe pauses, and about once a second otherwise; or
 *		NULL
 *
 * Return: an exit code; errors have been printed.
 */
int profile_read(struct profile *profile, const struct options *options,
		 enum profile_by by, bool spread, const struct profile_live *live);

/** profile_free() - close the trace and free the profile */
void profile_free(struct profile *profile);

/** profile_total() - return the count of counter @column in a row's outermost calls */
uint64_t profile_total(const struct profile *profile, size_t row,
		       unsigned int column);

/** profile_self() - like profile_total(), but for all of the row's calls, excluding callees */
uint64_t profile_self(const struct profile *profile, size_t row,
		      unsigned int column);

/**
 * profile_name() - write a row's function, object or line as text to @text, which holds @size bytes
 */
void profile_name(const struct profile *profile, size_t row, char *text,
		  unsigned int size);

/** profile_what() - return the kind of the rows: "function", "object" or "line" */
const char *profile_what(const struct profile *profile);

/**
 * profile_symbol() - find the symbol of a row's function; strings are valid until profile_free()
 *
 * For an object or a line, the symbol's file is the object's path.
 */
void profile_symbol(const struct profile *profile, size_t row, struct symbol *symbol);

/** profile_group() - write a row's group as text */
void profile_group(const struct profile *profile, uint32_t group, char *text,
		   unsigned int size);

#endif /* SIFIVE_TRACE_PROFILE_H */
