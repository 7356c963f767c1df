// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Selects a time range: see limit.h. */
#include "limit.h"

/* Shows nothing. */
static const struct analysis_ops nothing;

void analysis_limit(struct analysis *analysis, const struct input *input)
{
	analysis->from = input->from;
	analysis->to = input->to;
	analysis->limited = input->limited;
	analysis->by_records = input->options->calls == OPTIONS_CALLS_RECORDS;
	analysis->shortest = input->shortest;
	analysis->joins = input->meta.flow && !analysis->by_records;
}

static void mute(struct analysis *analysis)
{
	if (analysis->ops == &nothing)
		return;
	analysis->counted = analysis->stats;
	analysis->ops = &nothing;
}

static void unmute(struct analysis *analysis)
{
	if (analysis->ops != &nothing)
		return;
	analysis->ops = analysis->wanted;
	analysis->stats = analysis->counted;
}

/* Exclude these calls from stats.cut: the user's time range ended them, not the trace. */
static void cut(struct analysis *analysis, struct analysis_thread *thread)
{
	const uint64_t calls = analysis->stats.cut;

	calls_end(analysis, thread);
	analysis->stats.cut = calls;
}

bool limit_before(struct analysis *analysis, struct analysis_thread *thread,
		  const struct perfrec_record *record)
{
	const bool behind = record->begin.time_known && record->begin.time > analysis->to;

	if (thread->place == ANALYSIS_BEFORE && !behind) {
		mute(analysis);
		return true;
	}
	unmute(analysis);
	if (behind) {
		if (thread->place == ANALYSIS_INSIDE)
			cut(analysis, thread);
		thread->place = ANALYSIS_AFTER;
	}
	return thread->place != ANALYSIS_AFTER;
}

bool limit_timed(struct analysis *analysis, struct analysis_thread *thread)
{
	/* A record without a time is not the thread's first record in the time range. */
	const bool begins = thread->place == ANALYSIS_BEFORE && thread->timed &&
			    thread->now >= analysis->from;

	if (begins) {
		unmute(analysis);
		thread->place = ANALYSIS_INSIDE;
		calls_restart(analysis, thread);
	}
	analysis->stats.inside += thread->place == ANALYSIS_INSIDE;
	return begins;
}

void limit_end(struct analysis *analysis, struct analysis_thread *thread)
{
	if (analysis->limited && thread->place != ANALYSIS_INSIDE)
		mute(analysis);
	else
		unmute(analysis);
	calls_end(analysis, thread);
	unmute(analysis);
}
