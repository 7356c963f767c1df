/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Writes the filter of sifive-trace filter --from-trace. */
#ifndef SIFIVE_TRACE_FILTER_H
#define SIFIVE_TRACE_FILTER_H

#include <stddef.h>

#include "options.h"

/**
 * filter_from_trace() - exclude functions that write many records but take little time
 * @options:	the trace, and how to read it
 * @percent:	maximum share of all time that these functions take together
 * @what:	the trace's name for the printed list; NULL to print only errors
 * @files:	the program and shared objects, @count in all; other files with calls in the trace
 *		are added
 * @output:	file for the filter, which is not written if no function is excluded
 * @left_out:	set to the number of excluded functions
 *
 * Return: an exit code; errors have been printed.
 */
int filter_from_trace(const struct options *options, double percent, const char *what,
		      char *const *files, size_t count, const char *output, size_t *left_out);

#endif /* SIFIVE_TRACE_FILTER_H */
