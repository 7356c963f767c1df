/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Helper functions that sifive-trace filter and record use to write filter files. */
#ifndef SIFIVE_TRACE_FILTER_FILE_H
#define SIFIVE_TRACE_FILTER_FILE_H

#include <fnmatch.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/**
 * filter_fits() - return whether a name equals or matches one of the patterns
 *
 * Equality is checked as well, because C++ names contain characters that are special in a pattern.
 */
static inline bool filter_fits(const char * const *pattern, size_t patterns,
			       const char *name)
{
	size_t i;

	for (i = 0; i < patterns; i++)
		if (!strcmp(pattern[i], name) || !fnmatch(pattern[i], name, 0))
			return true;
	return false;
}

/**
 * filter_quote() - return the quotation mark that an object's name needs in a filter file, or ""
 */
static inline const char *filter_quote(const char *object)
{
	return strchr("#><", *object) || strpbrk(object, " \t") ? "\"" : "";
}

#endif /* SIFIVE_TRACE_FILTER_FILE_H */
