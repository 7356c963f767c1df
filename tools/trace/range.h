/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Parses the option --time: a time range of a trace. */
#ifndef SIFIVE_TRACE_RANGE_H
#define SIFIVE_TRACE_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct range_end - a time as the user gave it
 * @whole:	number before the decimal point
 * @part:	fraction after the decimal point, in billionths
 * @unit:	nanoseconds per unit, or 0 if none was given
 * @open:	set if no time was given
 */
struct range_end {
	uint64_t	whole;
	uint64_t	part;
	uint64_t	unit;
	bool		open;
};

struct range {
	struct range_end	from;
	struct range_end	to;
	bool			set;
};

/** range_parse() - parse "FROM..TO"; return whether it is a range */
bool range_parse(struct range *range, const char *text);

/**
 * range_ticks() - convert the range to ticks
 * @hz:		ticks per second, or 0 if unknown; then numbers without a unit are ticks
 * @from, @to:	the result; all times if no range was given
 *
 * Return: NULL, or why the range is invalid.
 */
const char *range_ticks(const struct range *range, uint64_t hz, uint64_t *from, uint64_t *to);

#endif /* SIFIVE_TRACE_RANGE_H */
