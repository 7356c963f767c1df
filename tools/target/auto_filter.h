/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* record --auto-filter: makes a filter from the trace of a dry run. */
#ifndef SIFIVE_TRACE_AUTO_FILTER_H
#define SIFIVE_TRACE_AUTO_FILTER_H

#include "recording.h"

/** auto_filter_check() - return EXIT_OK, or EXIT_USAGE if this build cannot read traces */
int auto_filter_check(void);

/**
 * auto_filter() - record the program to a temporary trace, and make a filter from that trace
 * @r:		settings of the actual recording, which are not changed
 * @record:	records the program; returns the exit status
 * @path:	a template for mkstemp(); set to the filter's name, or to "" if no function is
 *		excluded
 * @left_out:	set to the number of excluded functions
 *
 * Return: 0, or the exit status if the program must not be recorded; in that case no filter
 * is left behind.
 */
int auto_filter(struct recording *r, int (*record)(struct recording *r), char *path,
		size_t *left_out);

#endif /* SIFIVE_TRACE_AUTO_FILTER_H */
