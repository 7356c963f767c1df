/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Finds functions that write many records to a trace but take little time. */
#ifndef SIFIVE_TRACE_FREQUENT_H
#define SIFIVE_TRACE_FREQUENT_H

#include "profile.h"

/**
 * struct frequent - functions that write many records to a trace but take little time
 * @profile:	profile of the trace
 * @row:	rows of the profile, shortest average call first
 * @rows:	number of rows of frequent functions
 * @unnamed:	number of functions that would be included if they had a file and a symbol
 * @calls, @self: number of calls and self time of the whole trace
 * @out_calls, @out_self: number of calls and self time of these functions
 */
struct frequent {
	struct profile	profile;
	uint32_t	*row;
	size_t		rows;
	size_t		unnamed;
	uint64_t	calls;
	uint64_t	self;
	uint64_t	out_calls;
	uint64_t	out_self;
};

/**
 * frequent_read() - find the frequent functions of a trace
 * @frequent:	the result; call frequent_free() even after an error
 * @options:	path of the trace, and how to read it
 * @percent:	maximum share of all self time that these functions take together
 *
 * Each of them has a greater share of the calls than of the time, at least a thousandth of the
 * calls, and a known time for each call.
 *
 * Return: an exit code; errors have been printed.
 */
int frequent_read(struct frequent *frequent, const struct options *options, double percent);

/** frequent_free() - close the trace */
void frequent_free(struct frequent *frequent);

/**
 * frequent_has() - return whether a function is among the frequent functions
 * @object:	name of the function's file
 * @start, @end: the function's addresses in the file
 */
bool frequent_has(const struct frequent *frequent, const char *object, uint64_t start,
		  uint64_t end);

/** frequent_calls() - return whether the trace contains calls in a file with this name */
bool frequent_calls(const struct frequent *frequent, const char *object);

/**
 * frequent_report() - print the frequent functions, with their shares of calls and time
 * @what:	name of the trace in messages
 */
void frequent_report(const struct frequent *frequent, const char *what);

#endif /* SIFIVE_TRACE_FREQUENT_H */
