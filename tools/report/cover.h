/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Declares the formats that sifive-trace coverage writes. */
#ifndef SIFIVE_TRACE_COVER_H
#define SIFIVE_TRACE_COVER_H

#include "../output.h"
#include "covered.h"
#include "paths.h"

/** cover_put_lcov() - write the coverage as lcov's tracefile */
void cover_put_lcov(struct output *out, const struct covered *covered,
		    const struct input *input);

#define COVER_PERCENT_WIDTH	7

/** cover_put_count() - write a count; unless @exact is set, mark it as possibly too low */
void cover_put_count(struct output *out, uint64_t count, size_t width, bool exact);

/** cover_put_percent() - write @hit as a percentage of @all, or "-" if @all is 0 */
void cover_put_percent(struct output *out, uint64_t hit, uint64_t all);

/**
 * cover_put_paths() - write a table of paths
 * @symbols:	symbols of the trace
 * @top:	maximum number of rows
 * @exact:	set if the counts are exact; otherwise, they may be too low
 */
void cover_put_paths(struct output *out, const struct paths *paths, struct symbols *symbols,
		     size_t top, bool exact);

#endif /* SIFIVE_TRACE_COVER_H */
