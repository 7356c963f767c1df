/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Parses the option --time: a time range of a trace. */
#ifndef SIFIVE_TRACE_RANGE_H
#define SIFIVE_TRACE_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct range_end - a time, as specified by the user
 * @whole:	number before the decimal point
 * @part:	fraction after the decimal point, in billionths
 * @unit:	nanoseconds per unit, or 0 if no unit was given
 * @percent:	a percentage of the trace's length, not a time
 * @open:	set if no time was given
 */
struct range_end {
	uint64_t	whole;
	uint64_t	part;
	uint64_t	unit;
	bool		percent;
	bool		open;
};

struct range {
	struct range_end	from;
	struct range_end	to;
	bool			set;
};

/**
 * struct range_span - the times of all messages of a trace, in ticks
 * @timed:	a message has a time
 * @first, @last: the earliest and the latest time
 */
struct range_span {
	bool		timed;
	uint64_t	first;
	uint64_t	last;
};

/**
 * struct range_scope - the part of a trace that a range selects
 * @from, @to:	the range, in ticks
 * @inside:	the latest item is in the range
 * @any:	an item was in the range, or the range is the whole trace
 * @span:	times of the items
 */
struct range_scope {
	uint64_t	from;
	uint64_t	to;
	bool		inside;
	bool		any;
	struct range_span span;
};

/** range_parse() - parse "FROM..TO"; return whether it is a range */
bool range_parse(struct range *range, const char *text);

/** range_needs_span() - return whether a range depends on the times of the trace */
bool range_needs_span(const struct range *range);

/**
 * range_ticks() - convert the range to ticks
 * @hz:		ticks per second, or 0 if unknown, in which case numbers without a unit are ticks
 * @span:	times of the trace; used only if range_needs_span()
 * @from, @to:	the result; 0 and UINT64_MAX if the range has no beginning or no end
 *
 * Return: NULL, or the reason that the range is invalid.
 */
const char *range_ticks(const struct range *range, uint64_t hz, const struct range_span *span,
			uint64_t *from, uint64_t *to);

/** range_add() - extend a span to include a time */
static inline void range_add(struct range_span *span, uint64_t time)
{
	span->first = !span->timed || time < span->first ? time : span->first;
	span->last = !span->timed || time > span->last ? time : span->last;
	span->timed = true;
}

/** range_scope() - begin to read a trace from its start */
static inline struct range_scope range_scope(uint64_t from, uint64_t to)
{
	return (struct range_scope){ .from = from, .to = to, .inside = !from,
				     .any = !from && to == UINT64_MAX };
}

/**
 * range_has() - return whether the trace's next item is in the range
 * @known:	whether the item's time is known; if not, the item is treated like the previous item
 * @time:	its time in ticks
 */
static inline bool range_has(struct range_scope *scope, bool known, uint64_t time)
{
	if (known) {
		scope->inside = time >= scope->from && time <= scope->to;
		range_add(&scope->span, time);
	}
	scope->any |= scope->inside;
	return scope->inside;
}

#endif /* SIFIVE_TRACE_RANGE_H */
