// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <stdbool.h>
#include <stddef.h>

#include "depth.h"
#include "filter.h"
#include "part.h"
#include "room.h"

static perf_writer *volatile filtered;

PERF_LOCAL void write_filtered(uintptr_t function, uintptr_t site, uint32_t kind)
{
	if (perf_filter_has(function, PERF_FILTER_RECORD))
		filtered(function, site, kind);
}

/*
 * The calling thread's part (see part.h), if PERF_FILTER_FROM is set. @frame and @site describe the
 * call that began the part; @frame is 0 if no part has begun. @depth: number of open calls to the
 * function; @same: number of open calls with this frame and site, which inlined calls share; @cut:
 * whether the latest part ended while calls were open; @epoch: the session's epoch.
 */
static __thread struct {
	uintptr_t frame;
	uintptr_t site;
	uint32_t depth;
	uint32_t same;
	uint32_t epoch;
	bool cut;
} part PERF_THREAD_MODEL;

/* Value of @frame for a part that only PERF_FILTER_TO ends. No exit has this frame. */
#define NO_FRAME	UINTPTR_MAX

PERF_LOCAL void end_part(bool cut)
{
	part.frame = 0;
	part.depth = 0;
	part.same = 0;
	part.cut = cut;
}

/* Called when a part begins: end the latest part's calls whose exits were not recorded. */
PERF_LOCAL void begin_after(struct perf_thread *thread)
{
	/* If this is a signal handler, the interrupted calls continue. */
	if (!part.cut || thread->epoch != perf_pool->epoch || perf_gate_closed(thread))
		return;
	thread->begun = 0;
	perf_room_renew(thread);
	thread->cpu = PERF_CPU_NOBODY;
}

/* Start the thread's part if the call begins a part. Returns whether the call ends the part. */
PERF_LOCAL bool follow_call(uintptr_t function, uintptr_t site, uintptr_t frame, bool from,
			    bool to)
{
	if (from && !part.frame) {
		begin_after(perf_self);
		perf_depth_begin();
		end_part(false);
		part.site = site;
		/* Until the new part is set up, a signal handler's calls must not end it. */
		part.depth = 1;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		part.frame = to ? NO_FRAME : frame;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		part.depth = 1;
		part.same = 1;
	} else if (from) {
		part.depth++;
		part.same += frame == part.frame && site == part.site;
	}
	return to && part.frame && perf_filter_has(function, PERF_FILTER_TO);
}

/*
 * Return whether an exit from the function ends the part's first call. @depth includes calls that
 * were left with longjmp(). Recursive calls have different call sites unless they are inlined.
 */
PERF_LOCAL bool follow_exit(uintptr_t site, uintptr_t frame)
{
	part.same -= part.same && frame == part.frame && site == part.site;
	part.depth -= !!part.depth;
	return !part.depth || (!part.same && site == part.site && frame == part.frame);
}

/* Return whether the entry or exit is in the thread's part. Sets @last if it ends the part. */
PERF_LOCAL bool follow(const struct perf_call *call, bool enter, bool from, bool to, bool *last)
{
	const uintptr_t frame = call->frame;

	if (part.epoch != perf_pool->epoch) {
		end_part(false);
		part.epoch = perf_pool->epoch;
	}
	if (part.frame && frame > part.frame && perf_frame_left(part.frame, frame)) {
		/* The hook of an exit can be a tail call, which has the caller's frame. */
		if (!enter && from && call->site == part.site)
			*last = true;
		else	/* The function was left with longjmp(), for example. */
			end_part(true);
	}
	if (enter)
		*last = follow_call(call->function, call->site, frame, from, to);
	else if (from && !to && part.frame)
		*last |= follow_exit(call->site, frame);
	return part.frame;
}

PERF_LOCAL void write_part(uintptr_t function, uintptr_t site, uint32_t kind)
{
	const struct perf_call call = {
		(uintptr_t)__builtin_frame_address(0), function, site,
		(uintptr_t)__builtin_return_address(0),
	};
	const unsigned int sets = perf_filter_on();
	const bool parts = sets & 1u << PERF_FILTER_FROM, enter = kind == PERF_RECORD_ENTER;
	const uint32_t depth = perf_filter_depth();
	bool last = false, shown;

	if (parts && !follow(&call, enter, perf_filter_has(function, PERF_FILTER_FROM),
			     sets & 1u << PERF_FILTER_TO, &last))
		return;
	shown = !depth || perf_depth_shows(&call, depth, enter);
	if (sets & 1u << PERF_FILTER_RECORD && !perf_filter_has(function, PERF_FILTER_RECORD))
		shown = false;
	/* The entry that ends the part is always written, to show when the part ends. */
	if (shown || (last && enter))
		filtered(function, site, kind);
	if (last)
		end_part(enter || part.depth);
}

PERF_INTERNAL perf_writer *perf_part_hook(perf_writer *writer)
{
	const unsigned int sets = perf_filter_on();

	filtered = writer;
	if (sets & 1u << PERF_FILTER_FROM || perf_filter_depth())
		return write_part;
	return sets ? write_filtered : writer;
}

PERF_INTERNAL void perf_part_forget(void)
{
	end_part(false);
}
