// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Keeps the open calls of each thread: see calls.h. */
#include <string.h>

#include "calls.h"

/* Maximum number of frames to search for an exit record's call site. */
#define SITE_SEARCH_MAX	64
/* Number of frames that each call adds to the budget for finding callers' frames. */
#define SEARCH_EACH	64

/*
 * at_begin() returns the counter values at the start of frame @i; of_inner() returns the counts of
 * the functions that the frame called.
 */
static uint64_t *at_begin(const struct analysis_thread *thread, unsigned int i)
{
	return costs_of(&thread->costs, i);
}

static uint64_t *of_inner(const struct analysis_thread *thread, unsigned int i)
{
	return at_begin(thread, i) + thread->costs.stride;
}

static uint64_t function_of(const void *frames, uint32_t number)
{
	return ((const struct analysis_frame *)frames)[number - 1].function;
}

/*
 * Return the slot of the function's outermost call, or a free slot for it. A slot contains the
 * index of the call's frame, plus 1. Calls end in the reverse order of their start, so an entry
 * that was displaced past a slot is removed before that slot is freed.
 */
static uint32_t *find_call(const struct analysis_thread *thread, uint32_t function)
{
	return hash_find(&thread->costs.hash, function, function_of, thread->frame);
}

/* Allocate memory for @room frames with @stride counters. */
static bool resize(struct analysis *analysis, struct analysis_thread *thread,
		   unsigned int room, unsigned int stride)
{
	size_t old = costs_bytes(sizeof(*thread->frame), thread->costs.room,
				 thread->costs.stride);
	size_t new = costs_bytes(sizeof(*thread->frame), room, stride);
	struct analysis_frame *frame;
	unsigned int i;

	if (analysis->frame_bytes - old + new > ANALYSIS_FRAME_BYTES)
		return false;
	frame = costs_resize(&thread->costs, thread->frame, sizeof(*frame), thread->depth,
			     room, stride);
	if (!frame)
		return false;
	thread->frame = frame;
	for (i = 0; i < thread->depth; i++)
		if (frame[i].outermost)
			*find_call(thread, frame[i].function) = i + 1;
	analysis->frame_bytes += new - old;
	return true;
}

static bool make_room(struct analysis *analysis, struct analysis_thread *thread)
{
	unsigned int stride = thread->costs.stride, room = thread->costs.room;

	if (stride < analysis->counters.count)
		stride = (analysis->counters.count + 3) & ~3u;
	if (thread->depth == room)
		room = room ? 2 * room : 16;
	if (stride == thread->costs.stride && room == thread->costs.room)
		return true;
	return resize(analysis, thread, room, stride);
}

/* Return whether a program or a thread starts in this function, so that it is called only once. */
static bool starts(struct analysis *analysis, const struct analysis_frame *frame)
{
	const uint64_t caller = symbols_caller(analysis->symbols, frame->call_site);
	struct symbol symbol;

	if (symbols_find(analysis->symbols,
			 functions_address(analysis->functions, frame->function), &symbol) &&
	    symbol.function &&
	    (!strcmp(symbol.function, "main") || !strcmp(symbol.function, "_start")))
		return true;
	return caller && symbols_find(analysis->symbols, caller, &symbol) && symbol.function &&
	       !strcmp(symbol.function, "start_thread");
}

static __attribute__((noinline, cold))
void doubt(struct analysis *analysis, const struct analysis_thread *thread,
	   struct analysis_frame *frame, struct analysis_end *end)
{
	unsigned int doubts;

	/*
	 * The caller shown may not be the real caller, so this call may have ended at another time.
	 */
	if (frame->doubts & ANALYSIS_PATH_INFERRED && end->why == ANALYSIS_UNWOUND)
		frame->doubts |= ANALYSIS_RECORDS_LOST;
	doubts = frame->doubts & ~(ANALYSIS_COUNTS_UNKNOWN | ANALYSIS_PATH_INFERRED);
	/* This can only be the thread's first call, so it was open throughout the loss. */
	if (doubts & ANALYSIS_RECORDS_LOST && frame == thread->frame && !thread->returned &&
	    (end->why == ANALYSIS_CUT || starts(analysis, frame)))
		doubts &= ~ANALYSIS_RECORDS_LOST;
	end->inferred |= (doubts & (ANALYSIS_WAIT_UNKNOWN | ANALYSIS_RECORDS_LOST)) != 0;
	end->self_inferred |= end->inferred || doubts;
	end->inferred &= end->timed;
	end->self_inferred &= end->timed;
}

static __attribute__((noinline, cold))
void clear_negative(uint64_t *count, unsigned int columns)
{
	unsigned int c;

	for (c = 0; c < columns; c++)
		if ((int64_t)count[c] < 0)
			count[c] = 0;
}

/* End the innermost call. */
static void leave(struct analysis *analysis, struct analysis_thread *thread,
		  enum analysis_why why)
{
	unsigned int depth = thread->depth - 1, c;
	struct analysis_frame *frame = &thread->frame[depth];
	uint64_t total[COUNTERS_MAX], self[COUNTERS_MAX];
	uint64_t *begin = at_begin(thread, depth);
	uint64_t *inner = of_inner(thread, depth), *callers;
	uint64_t elapsed = thread->now - frame->enter;
	bool brief;
	struct analysis_end end = {
		.why = why,
		.timed = frame->timed && thread->timed,
		.count = total,
		.count_self = self,
	};

	if (end.timed) {
		end.total = elapsed;
		end.self = elapsed - frame->inner;
		end.inferred = frame->inferred || thread->inferred;
		end.self_inferred = end.inferred;
	}
	if (__builtin_expect(frame->doubts, 0))
		doubt(analysis, thread, frame, &end);
	/* A call of unknown length is shown, because its length may exceed the threshold. */
	brief = end.timed && elapsed < analysis->shortest;
	for (c = 0; c < thread->costs.stride; c++) {
		total[c] = thread->sum[c] - begin[c];
		self[c] = total[c] - inner[c];
	}
	for (; c < analysis->counters.count; c++) {
		total[c] = 0;
		self[c] = 0;
	}
	if (depth) {
		thread->frame[depth - 1].inner += brief ? frame->inner : elapsed;
		if (__builtin_expect(end.self_inferred || !end.timed, 0))
			thread->frame[depth - 1].doubts |= ANALYSIS_INNER_INFERRED;
		callers = of_inner(thread, depth - 1);
		for (c = 0; c < thread->costs.stride; c++)
			callers[c] += brief ? inner[c] : total[c];
	} else {
		thread->returned = true;
	}
	if (__builtin_expect(analysis->went_back, false)) {
		clear_negative(total, analysis->counters.count);
		clear_negative(self, analysis->counters.count);
	}
	if (frame->outermost)
		*find_call(thread, frame->function) = 0;
	if (__builtin_expect(brief, false)) {
		analysis->stats.brief++;
		thread->depth--;
		return;
	}
	analysis->stats.calls++;
	analysis->stats.untimed += !end.timed;
	analysis->stats.inferred += end.inferred;
	analysis->stats.unplaced += (frame->doubts & ANALYSIS_PATH_INFERRED) != 0;
	if (why == ANALYSIS_UNWOUND)
		analysis->stats.unwound++;
	else if (why == ANALYSIS_CUT)
		analysis->stats.cut++;
	if (analysis->ops->leave)
		analysis->ops->leave(analysis->context, thread, &end);
	thread->depth--;
}

/* Return the first frame, starting at @keep, that was called from another call site. */
static unsigned int skip_site(struct analysis_thread *thread, unsigned int keep,
			      uint64_t call_site)
{
	while (keep < thread->depth && thread->search &&
	       thread->frame[keep].call_site == call_site) {
		thread->search--;
		keep++;
	}
	return keep;
}

/*
 * Close calls that ended without a record, for example by longjmp(). If the new function's caller
 * is not the innermost function, the calls within the caller have ended. Calls with the caller's
 * call site remain open, because their functions are inlined into the caller. Calls with the new
 * function's call site also remain open, because their functions may contain the new function
 * inline.
 */
static void leave_abandoned(struct analysis *analysis,
			    struct analysis_thread *thread, uint32_t function,
			    uint64_t call_site)
{
	const struct analysis_frame *frame = thread->frame;
	unsigned int keep = thread->depth;
	uint64_t address;
	uint32_t caller;

	thread->search += SEARCH_EACH;
	if (!keep || frame[keep - 1].call_site == call_site)
		return;
	address = symbols_caller(analysis->symbols, call_site);
	caller = address ? functions_find(analysis->functions, address) :
			   FUNCTIONS_OTHER;
	if (caller == FUNCTIONS_OTHER || !*find_call(thread, caller))
		return;
	for (; frame[keep - 1].function != caller; keep--)
		if (!thread->search--) {
			thread->search = 0;
			return;
		}
	keep = skip_site(thread, keep, frame[keep - 1].call_site);
	if (keep < thread->depth && frame[keep].function != function)
		keep = skip_site(thread, keep, call_site);
	while (thread->depth > keep)
		leave(analysis, thread, ANALYSIS_UNWOUND);
}

/* Begin the call in the next frame. */
static void begin(struct analysis *analysis, struct analysis_thread *thread, uint8_t doubts)
{
	struct analysis_frame *frame = &thread->frame[thread->depth];

	memcpy(at_begin(thread, thread->depth), thread->sum,
	       thread->costs.stride * sizeof(uint64_t));
	memset(of_inner(thread, thread->depth), 0,
	       thread->costs.stride * sizeof(uint64_t));
	thread->depth++;
	frame->timed = thread->timed;
	frame->inferred = thread->inferred;
	frame->doubts = doubts;
	frame->enter = thread->now;
	frame->inner = 0;
	frame->waited = 0;
	frame->user = 0;
	if (analysis->ops->enter)
		analysis->ops->enter(analysis->context, thread);
}

/* Omit a call that is nested too deeply. */
static __attribute__((noinline)) void omit(struct analysis *analysis, struct analysis_thread *thread)
{
	thread->too_deep++;
	analysis->stats.too_deep++;
	if (thread->depth)
		thread->frame[thread->depth - 1].doubts |= ANALYSIS_CALLS_OMITTED;
}

void calls_enter(struct analysis *analysis, struct analysis_thread *thread,
		 const struct perfrec_record *record, uint32_t function)
{
	struct analysis_frame *frame;
	uint32_t *outermost;

	if (__builtin_expect(!thread->frame, false))
		counting_own(analysis, analysis->stream[record->src][record->channel]);
	/* Calls generated from instruction trace always have exit records. */
	if (!thread->too_deep && record->channel != THREADS_FLOW_CHANNEL)
		leave_abandoned(analysis, thread, function, record->address[1]);
	if (thread->too_deep || !make_room(analysis, thread)) {
		omit(analysis, thread);
		return;
	}
	outermost = find_call(thread, function);
	frame = &thread->frame[thread->depth];
	frame->outermost = !*outermost;
	if (frame->outermost)
		*outermost = thread->depth + 1;
	else
		analysis->recursive[function / 8] |= (uint8_t)(1 << function % 8);
	frame->function = function;
	frame->call_site = record->address[1];
	begin(analysis, thread, thread->doubts);
}

void calls_wait(struct analysis_thread *thread, uint64_t ticks, bool unknown)
{
	unsigned int i;

	for (i = 0; i < thread->depth; i++) {
		thread->frame[i].enter += ticks;
		thread->frame[i].waited += ticks;
	}
	if (unknown && thread->depth)
		thread->frame[thread->depth - 1].inner -= ticks;
}

void calls_wait_unknown(struct analysis_thread *thread)
{
	unsigned int i;

	for (i = 0; i < thread->depth; i++)
		thread->frame[i].doubts |= ANALYSIS_WAIT_UNKNOWN;
}

static void doubt_all(struct analysis_thread *thread, uint8_t flag)
{
	unsigned int i = thread->depth;

	/* If a call is marked, so are all calls that enclose it. */
	while (i && !(thread->frame[i - 1].doubts & flag))
		thread->frame[--i].doubts |= flag;
}

void calls_doubt(struct analysis_thread *thread)
{
	doubt_all(thread, ANALYSIS_RECORDS_LOST);
	thread->doubts = ANALYSIS_PATH_INFERRED;
}

void calls_uncounted(struct analysis_thread *thread)
{
	doubt_all(thread, ANALYSIS_COUNTS_UNKNOWN);
}

void calls_restart(struct analysis *analysis, struct analysis_thread *thread)
{
	const unsigned int depth = thread->depth;

	thread->depth = 0;
	while (thread->depth < depth)
		begin(analysis, thread,
		      thread->frame[thread->depth].doubts & ANALYSIS_PATH_INFERRED);
	/* Omitted calls within the innermost call remain open. */
	if (thread->too_deep && depth) {
		thread->frame[depth - 1].doubts |= ANALYSIS_CALLS_OMITTED;
		analysis->stats.too_deep += thread->too_deep;
	}
}

void calls_end(struct analysis *analysis, struct analysis_thread *thread)
{
	while (thread->depth)
		leave(analysis, thread, ANALYSIS_CUT);
	thread->too_deep = 0;
}

void calls_cut(struct analysis *analysis, struct analysis_thread *thread)
{
	calls_doubt(thread);
	/* The lost records may have ended even the thread's first call. */
	thread->returned = true;
	calls_end(analysis, thread);
}

/*
 * Return the number of calls that an exit record ends: all calls up to the function's innermost
 * call from this call site or, failing that, from any site. Return 0 if there is no such call.
 */
static unsigned int ends(const struct analysis_thread *thread,
			 const struct perfrec_record *record, uint32_t function)
{
	unsigned int i, found = 0;

	if (!thread->depth || !*find_call(thread, function))
		return 0;
	for (i = 1; i <= thread->depth; i++) {
		const struct analysis_frame *frame =
			&thread->frame[thread->depth - i];

		if (found && i - found > SITE_SEARCH_MAX)
			break;
		if (frame->function != function)
			continue;
		if (frame->call_site == record->address[1])
			return i;
		if (!found)
			found = i;
	}
	return found;
}

/*
 * Called when a call that was open during a loss ends. Unless its function is recursive, this shows
 * that the calls that enclose it are still open.
 */
static __attribute__((noinline, cold))
void confirm(const struct analysis *analysis, struct analysis_thread *thread,
	     const struct analysis_frame *frame)
{
	if (frame->doubts & ANALYSIS_RECORDS_LOST && frame->function != FUNCTIONS_OTHER &&
	    !(analysis->recursive[frame->function / 8] >> frame->function % 8 & 1))
		thread->doubts = frame->doubts & ANALYSIS_PATH_INFERRED;
}

void calls_exit(struct analysis *analysis, struct analysis_thread *thread,
		const struct perfrec_record *record, uint32_t function)
{
	unsigned int count;

	if (thread->too_deep) {
		thread->too_deep--;
		return;
	}
	count = ends(thread, record, function);
	if (!count) {
		analysis->stats.strays++;
		return;
	}
	while (--count)
		leave(analysis, thread, ANALYSIS_UNWOUND);
	if (__builtin_expect(thread->doubts, 0))
		confirm(analysis, thread, &thread->frame[thread->depth - 1]);
	leave(analysis, thread, ANALYSIS_EXIT);
}
