// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Parses the option --time: see range.h. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "range.h"
#include "units.h"

#define SECOND	1000000000u
/* Percentage of the whole trace, in billionths of a percent. */
#define WHOLE	(100ull * SECOND)

static bool is_digit(const char *at)
{
	return *at >= '0' && *at <= '9';
}

/* Return a percentage in billionths of a percent. */
static uint64_t share_of(const struct range_end *time)
{
	return time->whole * SECOND + time->part;
}

/* Parse a time such as "17", "1.25", "20ms" or "10%", or "" for none. */
static bool parse_end(struct range_end *time, const char *at)
{
	uint64_t scale = SECOND;

	*time = (struct range_end){ .open = !*at };
	if (time->open)
		return true;
	if (!is_digit(at))
		return false;
	for (; is_digit(at); at++) {
		if (time->whole >= UINT64_MAX / 10)
			return false;
		time->whole = time->whole * 10 + (uint64_t)(*at - '0');
	}
	if (*at == '.' && at[1])
		for (at++; is_digit(at); at++) {
			scale /= 10;
			time->part += scale * (uint64_t)(*at - '0');
		}
	time->percent = !strcmp(at, "%");
	if (time->percent)
		return time->whole <= 100 && share_of(time) <= WHOLE;
	time->unit = units_unit(at);
	return time->unit || !*at;
}

bool range_parse(struct range *range, const char *text)
{
	char from[64];
	const char *dots = strstr(text, "..");

	if (!dots || dots - text >= (ptrdiff_t)sizeof(from))
		return false;
	snprintf(from, sizeof(from), "%.*s", (int)(dots - text), text);
	range->set = parse_end(&range->from, from) && parse_end(&range->to, dots + 2) &&
		     !(range->from.open && range->to.open);
	return range->set;
}

bool range_needs_span(const struct range *range)
{
	return range->from.percent || range->to.percent;
}

static uint64_t part_of(const struct range_span *span, const struct range_end *time)
{
	return span->first + (uint64_t)((unsigned __int128)(span->last - span->first) *
					share_of(time) / WHOLE);
}

/*
 * Convert a time to ticks, at most UINT64_MAX. On entry, @ticks must be 0 for a beginning, or
 * UINT64_MAX for an end. Return false if the conversion requires the tick rate, but it is unknown.
 */
static bool ticks_of(const struct range_end *time, uint64_t hz, const struct range_span *span,
		     uint64_t *ticks)
{
	const uint64_t unit = time->unit ? time->unit : SECOND;
	unsigned __int128 ns;

	if (time->open)
		return true;
	if (time->percent) {
		/* 0%..100% excludes nothing, not even items without a time. */
		if (share_of(time) != (*ticks ? WHOLE : 0))
			*ticks = part_of(span, time);
		return true;
	}
	if (!hz) {
		*ticks = time->whole;
		return !time->unit && !time->part;
	}
	ns = (unsigned __int128)time->whole * unit + time->part * unit / SECOND;
	if (ns > UINT64_MAX)
		ns = UINT64_MAX;
	ns = ns * hz / SECOND;
	*ticks = ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
	return true;
}

const char *range_ticks(const struct range *range, uint64_t hz, const struct range_span *span,
			uint64_t *from, uint64_t *to)
{
	*from = 0;
	*to = UINT64_MAX;
	if (!range->set)
		return NULL;
	if (range_needs_span(range) && !span->timed)
		return "--time is in percent, but no message of the trace has a time; omit --time";
	if (!ticks_of(&range->from, hz, span, from) || !ticks_of(&range->to, hz, span, to))
		return "--time is in seconds, but the trace's tick rate is unknown; give --ts-hz, or times in ticks";
	return *from <= *to ? NULL : "--time ends before it begins";
}
