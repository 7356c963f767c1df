/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Functions that make many records in a trace but take little time. */
#ifndef SIFIVE_TRACE_FREQUENT_H
#define SIFIVE_TRACE_FREQUENT_H

#include "profile.h"

/**
 * struct frequent - functions of a trace that make many records but take little time
 * @profile:	of the trace
 * @row:	rows of the profile, shortest average call first
 * @rows:	how many of the rows are functions of this kind
 * @unnamed:	functions that would be included, but have no file or symbol
 * @calls, @self: of the whole trace
 * @out_calls, @out_self: of these functions
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
 * frequent_read() - find these functions
 * @frequent:	the result, for frequent_free() even after an error
 * @options:	how to open and read the trace
 * @percent:	maximum share of all self time that they take together
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
 * frequent_has() - whether a function is among the frequent functions
 * @object:	name of its file
 * @start, @end: addresses in the file
 */
bool frequent_has(const struct frequent *frequent, const char *object, uint64_t start,
		  uint64_t end);

/** frequent_calls() - whether the trace contains calls in a file with this name */
bool frequent_calls(const struct frequent *frequent, const char *object);

/**
 * frequent_report() - print these functions, each with its share of the calls and of the time
 * @what:	name for the trace
 */
void frequent_report(const struct frequent *frequent, const char *what);

#endif /* SIFIVE_TRACE_FREQUENT_H */
