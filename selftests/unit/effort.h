/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef EFFORT_H
#define EFFORT_H

#include <stdlib.h>

/* Return an amount of work: @usual, or @full if TRACE_PART is 1, as in "make check-long". */
static inline unsigned int effort(unsigned int usual, unsigned int full)
{
	const char *part = getenv("TRACE_PART");

	return part && atoi(part) == 1 ? full : usual;
}

/* Return the number of traces to generate: @usual, unless TRACES is set. */
static inline unsigned int effort_traces(unsigned int usual)
{
	const char *traces = getenv("TRACES");

	return traces ? (unsigned int)atoi(traces) : usual;
}

#endif
