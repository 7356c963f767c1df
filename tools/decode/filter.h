/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The filter that sifive-trace filter --from-trace makes. */
#ifndef SIFIVE_TRACE_FILTER_H
#define SIFIVE_TRACE_FILTER_H

#include <stddef.h>

#include "options.h"

/**
 * filter_from_trace() - leave out functions that make many records and take little time
 * @options:	the trace, and how to read it
 * @percent:	the most of all time that these functions take together
 * @what:	print them, and call the trace so; NULL: print only errors
 * @files:	the program and shared objects, @count of them; those that the trace has calls
 *		in are added
 * @output:	file for the filter, which is not written if no function is left out
 * @left_out:	set to how many are
 *
 * Return: an exit code; errors have been printed.
 */
int filter_from_trace(const struct options *options, double percent, const char *what,
		      char *const *files, size_t count, const char *output, size_t *left_out);

#endif /* SIFIVE_TRACE_FILTER_H */
