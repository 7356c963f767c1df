/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Describes the calls that a recording contains, for the recorder and for readers. */
#ifndef SIFIVE_TRACE_META_PART_H
#define SIFIVE_TRACE_META_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output;

/**
 * struct meta_part - the user's selection of the calls to record in each thread; if all members are
 *		0, all calls are recorded
 * @from:	fnmatch() pattern of the functions whose calls begin recording, or NULL for all
 *		calls
 * @to:		fnmatch() pattern of the functions whose calls end recording, or NULL to end at the
 *		return from the call that began recording
 * @depth:	depth up to which nested calls are recorded, or 0 for no limit
 * @function:	the @functions patterns of the functions that are recorded; if @functions is 0, all
 *		functions are recorded
 * @filter:	name of the file that selects functions, or NULL for all functions
 * @left_out:	number of functions that --auto-filter has excluded
 * @threshold:	duration in nanoseconds; readers leave out shorter calls
 */
struct meta_part {
	const char	*from;
	const char	*to;
	uint64_t	depth;
	const char	**function;
	size_t		functions;
	const char	*filter;
	uint64_t	left_out;
	uint64_t	threshold;
};

/** meta_part_is_cut() - return whether some calls are not recorded */
static inline bool meta_part_is_cut(const struct meta_part *part)
{
	return part->from || part->depth || part->functions || part->filter || part->left_out;
}

/** meta_part_is_set() - return whether some calls are not recorded, or not shown */
static inline bool meta_part_is_set(const struct meta_part *part)
{
	return meta_part_is_cut(part) || part->threshold;
}

/**
 * meta_part_json() - write the members of a JSON object that describe the selection
 * @between:	text before the first member: "" or ","
 */
void meta_part_json(const struct meta_part *part, const char *between, struct output *out);

#endif /* SIFIVE_TRACE_META_PART_H */
