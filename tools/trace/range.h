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

/**
 * struct range_scope - the part of a trace that a range selects
 * @from, @to:	the range, in ticks
 * @inside:	the latest item is in the range
 * @any:	an item was in the range, which is also set if the range is the whole trace
 * @timed:	an item had a time
 * @first, @last: earliest and latest time of an item
 */
struct range_scope {
	uint64_t	from;
	uint64_t	to;
	bool		inside;
	bool		any;
	bool		timed;
	uint64_t	first;
	uint64_t	last;
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

/** range_scope() - begin to read a trace from its start */
static inline struct range_scope range_scope(uint64_t from, uint64_t to)
{
	return (struct range_scope){ .from = from, .to = to, .inside = !from,
				     .any = !from && to == UINT64_MAX };
}

/**
 * range_has() - whether the trace's next item is in the range
 * @known:	whether its time is known; if not, it belongs to the item before it
 * @time:	its time in ticks
 */
static inline bool range_has(struct range_scope *scope, bool known, uint64_t time)
{
	if (known) {
		scope->inside = time >= scope->from && time <= scope->to;
		scope->first = !scope->timed || time < scope->first ? time : scope->first;
		scope->last = !scope->timed || time > scope->last ? time : scope->last;
		scope->timed = true;
	}
	scope->any |= scope->inside;
	return scope->inside;
}

#endif /* SIFIVE_TRACE_RANGE_H */
