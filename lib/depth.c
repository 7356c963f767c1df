// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Open calls up to the limit are stored with their frames. A call left with longjmp() has no exit,
 * but the frame of a later hook shows that the call has been left. Deeper calls are only counted.
 *
 * The entry and exit hooks of a function have the same frame, with two exceptions. After alloca(),
 * the exit's frame is deeper in the stack. If the exit hook is a tail call, which returns to the
 * call site, its frame is further out. An inlined function shares the frame and the call site of
 * the enclosing function.
 */
#include <stddef.h>

#include "depth.h"

PERF_LOCAL void cut(struct perf_open *open, uint32_t count)
{
	open->count = count;
	open->inlined = 0;
	open->deeper = 0;
}

PERF_LOCAL void drop_left(struct perf_open *open, uintptr_t frame)
{
	while (open->count && open->call[open->count - 1].frame < frame &&
	       perf_frame_left(open->call[open->count - 1].frame, frame))
		cut(open, open->count - 1);
}

/*
 * Return whether a call with the same frame as an earlier call shows that the earlier call has been
 * left. If not, the new call is inlined. A pc is in the function that begins closest before that
 * pc.
 */
PERF_LOCAL bool replaces(const struct perf_call *call, const struct perf_call *earlier)
{
	if (call->site != earlier->site)
		return true;
	if (call->function == earlier->function)
		return call->pc == earlier->pc;
	return call->pc - call->function < call->pc - earlier->function;
}

/*
 * Find a call with the hook's function and call site. @side 0: the innermost call in the hook's
 * frame; 1: the innermost call in an outer frame; -1: the outermost call in a deeper frame. Returns
 * its number, or 0 if there is none.
 */
PERF_LOCAL uint32_t find(const struct perf_open *open, const struct perf_call *hook, int side)
{
	uint32_t i, found = 0;

	for (i = open->count; i && (!found || side < 0); i--) {
		const struct perf_call *call = &open->call[i - 1];

		if (call->function == hook->function && call->site == hook->site &&
		    (call->frame > hook->frame) - (call->frame < hook->frame) == side)
			found = i;
	}
	return found;
}

PERF_LOCAL bool shows_entry(struct perf_open *open, const struct perf_call *call, uint32_t limit)
{
	uint32_t i;

	drop_left(open, call->frame);
	for (i = open->count; i && open->call[i - 1].frame == call->frame; i--)
		if (replaces(call, &open->call[i - 1]))
			cut(open, i - 1);
	i = open->count;
	if (i >= limit) {
		if (find(open, call, 0))
			open->inlined++;
		else
			open->deeper++;
		return false;
	}
	/* Until the entry is complete, a signal handler's calls must not end this call. */
	open->call[i].frame = call->frame;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	open->count = i + 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	open->call[i] = *call;
	return true;
}

PERF_LOCAL bool shows_exit(struct perf_open *open, const struct perf_call *exit, uint32_t limit)
{
	uint32_t found;

	if (exit->pc == exit->site) {
		found = find(open, exit, -1);
	} else {
		drop_left(open, exit->frame);
		found = find(open, exit, 0);
		if (found && open->inlined) {
			open->inlined--;
			return false;
		}
	}
	if (!found) {
		drop_left(open, exit->frame);
		if (open->deeper) {
			open->deeper--;
			return false;
		}
		found = find(open, exit, 1);
	}
	if (found)
		cut(open, found - 1);
	/* If no deeper call is open, this call began before the recording. */
	return found || open->count < limit;
}

PERF_INTERNAL void perf_depth_begin(void)
{
	perf_self->open.generation = 0;
}

PERF_INTERNAL bool perf_depth_shows(const struct perf_call *call, uint32_t limit, bool enter)
{
	struct perf_thread *thread = perf_self;

	if (thread->epoch != perf_pool->epoch)
		thread = perf_thread_join();
	/* The record will be counted as lost. */
	if (!thread)
		return true;
	if (thread->open.generation != perf_pool->generation)
		cut(&thread->open, 0);
	thread->open.generation = perf_pool->generation;
	return enter ? shows_entry(&thread->open, call, limit) :
		       shows_exit(&thread->open, call, limit);
}
