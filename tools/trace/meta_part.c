// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <inttypes.h>

#include "../output.h"
#include "meta_part.h"

/* Write @text as member @key, unless it is NULL; return the text before the next member. */
static const char *string_member(const char *between, const char *key, const char *text,
				 struct output *out)
{
	if (!text)
		return between;
	put_format(out, "%s\"%s\":", between, key);
	put_json(out, text);
	return ",";
}

/* Like string_member(), but for a number, which is omitted if it is 0. */
static const char *number_member(const char *between, const char *key, uint64_t number,
				 struct output *out)
{
	if (!number)
		return between;
	put_format(out, "%s\"%s\":%" PRIu64, between, key, number);
	return ",";
}

void meta_part_json(const struct meta_part *part, const char *between, struct output *out)
{
	size_t i;

	between = string_member(between, "from", part->from, out);
	between = string_member(between, "to", part->from ? part->to : NULL, out);
	between = number_member(between, "depth", part->depth, out);
	if (part->functions) {
		put_format(out, "%s\"functions\":[", between);
		for (i = 0; i < part->functions; i++) {
			put_string(out, i ? "," : "");
			put_json(out, part->function[i]);
		}
		put_char(out, ']');
		between = ",";
	}
	between = string_member(between, "filter", part->filter, out);
	between = number_member(between, "left_out", part->left_out, out);
	number_member(between, "threshold_ns", part->threshold, out);
}
