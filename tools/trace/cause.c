// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Describes the call that triggered a snapshot: see cause.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "text.h"
#include "cause.h"
#include "coverage.h"
#include "units.h"

/* Maximum length of a function's name; longer names are truncated. */
#define NAME_MAX_SHOWN	160

uint64_t cause_time(const struct input *input, uint64_t ticks, uint64_t near)
{
	const uint64_t mask = trace_time_mask(input->trace);
	const uint64_t ahead = (ticks - near) & mask, back = (near - ticks) & mask;

	return back < ahead ? near - back : near + ahead;
}

/*
 * Set @time to the latest time up to @near whose low bits are @ticks; return false if there is
 * none.
 */
static bool find_before(const struct input *input, uint64_t ticks, uint64_t near, uint64_t *time)
{
	const uint64_t back = (near - ticks) & trace_time_mask(input->trace);

	*time = near - back;
	return back <= near;
}

bool cause_gap(const struct input *input, size_t number, uint64_t *begin, uint64_t *end)
{
	const struct meta_coverage *coverage = &input->meta.coverage;
	const struct trace_stats *stats = trace_stats(input->trace);
	uint64_t near = stats->last;
	bool is_last = true;
	size_t i;

	for (i = coverage->listed; i-- > number;) {
		const struct meta_gap *gap = &coverage->gap[i];

		if (!gap->end)
			continue;
		if (is_last)
			near = cause_time(input, gap->end, near);
		is_last = false;
		if ((near > stats->last && near - stats->last > trace_time_mask(input->trace) / 2) ||
		    !find_before(input, gap->end, near, end) ||
		    !find_before(input, gap->begin, *end, begin))
			return false;
		near = *begin;
	}
	return stats->timed && coverage->gap[number].end;
}

bool cause_span(const struct input *input, uint64_t *from, uint64_t *to)
{
	const struct meta_trigger *trigger = &input->meta.trigger;
	const struct trace_stats *stats = trace_stats(input->trace);

	if (!trigger->function || !trigger->timed)
		return false;
	*from = cause_time(input, trigger->from, stats->timed ? stats->last : trigger->from);
	*to = trigger->ended ? cause_time(input, trigger->to, *from) : *from;
	return *to >= *from;
}

const char *cause_why(const struct input *input, char text[CAUSE_SIZE])
{
	const struct meta_trigger *trigger = &input->meta.trigger;
	char name[NAME_MAX_SHOWN + 1], took[UNITS_SIZE], limit[UNITS_SIZE];

	*text = '\0';
	if (!trigger->function)
		return text;
	snprintf(name, sizeof(name), "%s", trigger->function);
	text_clean(name);
	if (trigger->limit_ns)
		snprintf(text, CAUSE_SIZE, "call %" PRIu64 " of %s took %s, longer than %s",
			 trigger->call, name, units_time(took, trigger->took_ns, 1000000000),
			 units_time(limit, trigger->limit_ns, 1000000000));
	else
		snprintf(text, CAUSE_SIZE, "call %" PRIu64 " of %s began", trigger->call,
			 name);
	return text;
}

/*
 * Write a time, marked with ~ as inexact, because it was measured with a clock other than the
 * trace's.
 */
static void put_when(const struct input *input, uint64_t ticks, char *text, size_t size)
{
	if (input->hz)
		snprintf(text, size, "~%.9fs", (double)ticks / (double)input->hz);
	else
		snprintf(text, size, "~%" PRIu64 " ticks", ticks);
}

/*
 * Return whether the call began before the trace, judging by the call's time or, if that is
 * unknown, by the call's duration.
 */
static bool begins_later(const struct input *input)
{
	const struct trace_stats *stats = trace_stats(input->trace);
	uint64_t from, to;

	if (!stats->timed || coverage_of(input) == COVERAGE_ALL)
		return false;
	if (cause_span(input, &from, &to))
		return from < stats->first;
	return input->hz && (double)(stats->last - stats->first) / (double)input->hz * 1e9 <
			    (double)input->meta.trigger.took_ns;
}

const char *cause_text(const struct input *input, char text[CAUSE_SIZE])
{
	const struct meta_trigger *trigger = &input->meta.trigger;
	char begin[UNITS_SIZE + 8], end[UNITS_SIZE + 8];
	size_t used = strlen(cause_why(input, text));
	uint64_t from, to;

	if (used && trigger->tid >= 0)
		used += (size_t)snprintf(text + used, CAUSE_SIZE - used,
					 ", in thread %" PRId64, trigger->tid);
	if (used && cause_span(input, &from, &to)) {
		put_when(input, from, begin, sizeof(begin));
		put_when(input, to, end, sizeof(end));
		used += (size_t)snprintf(text + used, CAUSE_SIZE - used,
					 trigger->ended ? ", from %s to %s" : ", at %s", begin, end);
	}
	if (used && begins_later(input))
		snprintf(text + used, CAUSE_SIZE - used,
			 ", before the beginning of this trace; use a larger -b");
	return text;
}
