/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* What those who write filter files share, with symbols of the one kind or the other. */
#ifndef SIFIVE_TRACE_FILTER_FILE_H
#define SIFIVE_TRACE_FILTER_FILE_H

#include <fnmatch.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/**
 * filter_fits() - whether one of the patterns is the name, or stands for it
 *
 * Names of C++ have characters in them that stand for others in a pattern.
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

/** filter_quote() - what stands around an object's name in a filter file, or "" */
static inline const char *filter_quote(const char *object)
{
	return *object == '#' || strpbrk(object, " \t") ? "\"" : "";
}

#endif /* SIFIVE_TRACE_FILTER_FILE_H */
