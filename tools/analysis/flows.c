// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Finds calls in the flow of instructions: see flows.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "track.h"

static void on_run(void *context, const struct flow_place *place, const struct flow_run *run);
static void on_event(void *context, const struct flow_place *place,
		     const struct flow_event *event);
static void on_record(void *context, const struct perfrec_record *record, bool misplaced);

static const struct joined_ops joined_ops = {
	.flow = { .run = on_run, .event = on_event },
	.record = on_record,
};

struct flows *flows_new(struct symbols *symbols, enum meta_calls calls,
			const struct flows_ops *ops, bool counts, void *context)
{
	struct flows *flows = calloc(1, sizeof(*flows));

	if (!flows)
		return NULL;
	flows->symbols = symbols;
	flows->ops = ops;
	flows->counts = counts;
	flows->context = context;
	flows->hash.bits = hash_bits(THREADS_MAX);
	flows->hash.slot = flows->slot;
	flows->code = code_new(symbols, calls);
	if (flows->code)
		flows->joined = joined_new(flows->code, &joined_ops, flows);
	if (!flows->joined) {
		flows_free(flows);
		return NULL;
	}
	return flows;
}

void flows_free(struct flows *flows)
{
	uint32_t i;

	if (!flows)
		return;
	for (i = 0; i < flows->owners; i++)
		free(flows->owner[i].frame);
	for (i = 0; i < NEXUS_SOURCES; i++)
		free(flows->track[i]);
	free(flows->function);
	joined_free(flows->joined);
	code_free(flows->code);
	free(flows);
}

/* ---- records ----------------------------------------------------------- */

static void give(struct flows *flows, struct track *track, const struct flow_place *place,
		 enum perfrec_type type, const struct frame *frame)
{
	struct perfrec_record record = {
		.src = place->src, .channel = THREADS_FLOW_CHANNEL,
		.type = (uint8_t)type, .flags = PERFREC_ADDRESS_KNOWN, .addresses = 2, .header = &track->header,
		.address = { frame->function, frame->site },
		.sent_address = { frame->function, frame->site },
	};
	uint64_t time = 0;

	if (track->lost)
		record.flags |= PERFREC_AFTER_LOSS;
	if (frame->jumped)
		record.flags |= PERFREC_JUMPED;
	if (track->switches)
		record.flags |= PERFREC_LEAVING;
	track->lost = false;
	record.begin.offset = place->offset;
	record.begin.time_known = (uint8_t)flow_time(place, &time);
	record.begin.time = time;
	record.address_end = record.begin;
	flows->ops->call(flows->context, &record);
}

/* Begin a call with the function, addresses and kind of @of. */
static void enter_frame(struct flows *flows, struct track *track, const struct flow_place *place,
			const struct frame *of)
{
	struct owner *owner = track->owner;
	struct frame *grown;

	if (!of->earlier)
		ran_call(flows, track, place, of->function);
	if (owner->depth == owner->room) {
		if (flows->frames >= FRAMES_MAX) {
			flows->left_out.calls++;
			track->lost = true;
			return;
		}
		grown = realloc(owner->frame, (2 * owner->room + 16) * sizeof(*grown));
		if (!grown) {
			flows->no_memory = true;
			return;
		}
		flows->frames += owner->room + 16;
		owner->frame = grown;
		owner->room = 2 * owner->room + 16;
	}
	owner->frame[owner->depth] = *of;
	give(flows, track, place, PERFREC_ENTER, &owner->frame[owner->depth++]);
}

static void enter(struct flows *flows, struct track *track, const struct flow_place *place,
		  uint64_t function, uint64_t back, uint64_t site)
{
	enter_frame(flows, track, place, &(struct frame){
		.function = function, .back = back, .site = site });
}

void flows_leave(struct flows *flows, struct track *track, const struct flow_place *place,
		 uint32_t depth)
{
	struct owner *owner = track->owner;

	while (owner->depth > depth)
		give(flows, track, place, PERFREC_EXIT, &owner->frame[--owner->depth]);
}

/* ---- calls ------------------------------------------------------------- */

static __attribute__((noinline)) const struct function *
new_function(struct flows *flows, const struct block *block)
{
	static const struct function none;
	uint32_t room = 2 * (block->id + 1);
	struct function *function;
	struct symbol symbol;

	if (block->id >= flows->room) {
		function = realloc(flows->function, room * sizeof(*function));
		if (!function) {
			flows->no_memory = true;
			return &none;
		}
		memset(function + flows->room, 0, (room - flows->room) * sizeof(*function));
		flows->function = function;
		flows->room = room;
	}
	function = &flows->function[block->id];
	function->tried = true;
	/*
	 * The function can be cached: @place remains valid, and the kernel's addresses never
	 * change.
	 */
	function->known = symbols_find(flows->symbols, block->place, &symbol);
	function->start = function->known ? symbol.start : block->place;
	function->cold = symbol.function && strstr(symbol.function, ".cold");
	function->tracer = symbol.tracer;
	function->thread = symbol.function && !strncmp(symbol.function, "ret_from_fork", 13);
	function->switches = symbol.function && !strcmp(symbol.function, "__switch_to");
	return function;
}

/* The result is valid until the next call for another block. */
static inline const struct function *function_of(struct flows *flows, const struct block *block)
{
	if (block->id < flows->room && flows->function[block->id].tried)
		return &flows->function[block->id];
	return new_function(flows, block);
}

/* Return the depth of the outermost call to search. */
static uint32_t search_from(struct track *track)
{
	const uint32_t depth = track->owner->depth;

	return depth > SEARCHED_MAX ? depth - SEARCHED_MAX : 0;
}

/*
 * Return the number of calls that remain open if all calls within a function's innermost call end,
 * or 0 if the function has no open call.
 */
static uint32_t depth_of(struct track *track, uint64_t function)
{
	const struct owner *owner = track->owner;
	uint32_t depth = owner->depth, from = search_from(track);

	while (depth > from && owner->frame[depth - 1].function != function)
		depth--;
	if (depth > from)
		return depth;
	track->lost |= from != 0;
	return 0;
}

/*
 * Enter a function that was called before the trace began, or whose call is missing. End the open
 * calls here; unless the only open call has returned, this is too early and is counted.
 */
static void begin_anew(struct flows *flows, struct track *track,
		       const struct flow_place *place, uint64_t function)
{
	const struct owner *owner = track->owner;
	const bool broken = owner->depth > 1 || (owner->depth && owner->frame[0].back);

	flows->left_out.stacks += broken && !track->lost;
	flows_leave(flows, track, place, 0);
	track->lost |= broken;
	enter_frame(flows, track, place, &(struct frame){ .function = function, .earlier = true });
}

/*
 * Called when the next instruction is in @function, which may be a caller of the latest function.
 */
static void go_back_to(struct flows *flows, struct track *track,
		       const struct flow_place *place, const struct function *function)
{
	uint32_t depth = depth_of(track, function->start);

	if (depth)
		flows_leave(flows, track, place, depth);
	else
		begin_anew(flows, track, place, function->start);
}

/* If an open call returns to @at, end that call and the calls within it, and return true. */
static bool returns(struct flows *flows, struct track *track, const struct flow_place *place,
		    uint64_t at)
{
	const struct owner *owner = track->owner;
	uint32_t depth = owner->depth, from = search_from(track);

	while (depth > from && owner->frame[depth - 1].back != at)
		depth--;
	if (depth == from) {
		track->lost |= from != 0;
		return false;
	}
	flows_leave(flows, track, place, depth - 1);
	return true;
}

/* End a signal handler, which no instruction called. */
static void leave_handler(struct flows *flows, struct track *track,
			  const struct flow_place *place)
{
	struct owner *owner = track->owner;
	uint32_t depth = owner->depth, from = search_from(track);

	owner->before = NULL;
	owner->from = 0;
	while (depth > from && !owner->frame[depth - 1].handler)
		depth--;
	if (depth == from)
		return;
	owner->before = owner->frame[depth - 1].before;
	owner->from = owner->frame[depth - 1].back;
	flows_leave(flows, track, place, depth - 1);
}

/*
 * Return to a function whose call was not traced. A new thread begins when the kernel's
 * __switch_to() returns to it. The open calls are then those of the thread that called
 * __switch_to(), or of an earlier thread with the new thread's id.
 */
static void leave_unseen(struct flows *flows, struct track *track, const struct flow_place *place,
			 const struct function *to)
{
	if (!to->thread) {
		go_back_to(flows, track, place, to);
		return;
	}
	flows_leave(flows, track, place, 0);
	enter(flows, track, place, to->start, 0, 0);
}

static void on_return(struct flows *flows, struct track *track,
		      const struct flow_place *place, const struct block *block)
{
	track->owner->handled = code_is_trampoline(block);
	if (track->owner->handled)
		leave_handler(flows, track, place);
	else if (!returns(flows, track, place, block->start))
		leave_unseen(flows, track, place, function_of(flows, block));
}

static void enter_handler(struct flows *flows, struct track *track,
			  const struct flow_place *place, uint64_t function,
			  const struct block *before)
{
	struct owner *owner = track->owner;
	const uint64_t from = owner->interrupted;
	const uint32_t depth = owner->depth;

	enter(flows, track, place, function, from, from + 2);
	if (owner->depth > depth) {
		owner->frame[depth].handler = true;
		owner->frame[depth].before = before;
	}
}

/*
 * Return whether the kernel begins a signal handler or a program that the thread executes, instead
 * of returning to where the thread trapped.
 */
static bool begins_handler(struct flows *flows, struct track *track,
			   const struct flow_place *place, const struct block *block,
			   const struct function *to)
{
	struct owner *owner = track->owner;
	uint32_t depth = owner->depth, from = search_from(track);

	if (code_is_kernel(block->start) || block->place != to->start)
		return false;
	/* The innermost call from outside the kernel is the trap. */
	while (depth > from && code_is_kernel(owner->frame[depth - 1].back))
		depth--;
	if (depth == from || !owner->frame[depth - 1].back)
		return false;
	owner->interrupted = owner->frame[depth - 1].back;
	flows_leave(flows, track, place, depth - 1);
	enter_handler(flows, track, place, to->start, NULL);
	return true;
}

/*
 * A trap handler may return to the instruction after an ecall or ebreak, unless a function begins
 * there.
 */
static void on_trap_return(struct flows *flows, struct track *track,
			   const struct flow_place *place, const struct block *block)
{
	const struct function *to;

	if (returns(flows, track, place, block->start))
		return;
	to = function_of(flows, block);
	if (!(to->known && to->start == block->place) &&
	    (returns(flows, track, place, block->start - 4) ||
	     returns(flows, track, place, block->start - 2)))
		return;
	if (!begins_handler(flows, track, place, block, to))
		go_back_to(flows, track, place, to);
}

static void on_jump(struct flows *flows, struct track *track, const struct flow_place *place,
		    const struct block *block)
{
	const struct function *from = function_of(flows, track->last);
	uint64_t start = from->start;
	const struct function *to = function_of(flows, block);
	struct owner *owner = track->owner;
	struct frame top = { 0 };

	if (to->start == start || !to->known || to->cold)
		return;
	if (owner->depth)
		top = owner->frame[owner->depth - 1];
	if (top.function == to->start)
		return;
	if (block->place != to->start) {
		if (depth_of(track, to->start))
			go_back_to(flows, track, place, to);
		return;
	}
	top = (struct frame){
		.function = to->start, .back = top.back, .site = top.site, .jumped = owner->depth,
		.unseen = top.unseen,
	};
	if (owner->depth)
		flows_leave(flows, track, place, owner->depth - 1);
	enter_frame(flows, track, place, &top);
}

static void on_call(struct flows *flows, struct track *track, const struct flow_place *place,
		    const struct block *block)
{
	uint64_t back = block_end(track->last);

	enter(flows, track, place, function_of(flows, block)->start, back, back);
}

static void follow(struct flows *flows, struct track *track, const struct flow_place *place,
		   const struct block *block)
{
	switch (track->last->kind) {
	case FLOW_CALL:
	case FLOW_INDIRECT_CALL:
		on_call(flows, track, place, block);
		break;
	case FLOW_SWAP:
		if (!returns(flows, track, place, block->start))
			on_call(flows, track, place, block);
		break;
	case FLOW_RETURN:
		if (track->switches && function_of(flows, track->last)->switches)
			owners_switched(flows, track, place);
		on_return(flows, track, place, block);
		break;
	case FLOW_TRAP_RETURN:
		on_trap_return(flows, track, place, block);
		break;
	default:
		on_jump(flows, track, place, block);
	}
}

/* Return whether a thread that stopped at the end of a block can continue at @at. */
static bool leads_to(const struct block *last, uint64_t at, bool function_start)
{
	switch (last->kind) {
	case FLOW_CALL:
	case FLOW_JUMP:
		return at == last->target;
	case FLOW_BRANCH:
		return at == last->target || at == block_end(last);
	case FLOW_INDIRECT_CALL:
		return function_start;
	default:
		return false;
	}
}

/*
 * Return whether the instruction at @at can follow a block's first instruction, which must not be a
 * call. An indirect jump's target is unknown, so it can be any function's first instruction
 * (@begins), as in a tail call.
 */
static bool first_leads_to(const struct block *block, uint64_t at, bool begins)
{
	return at == block->start + 2 * block_length(block, 0) ||
	       (block->instructions == 1 && at == block->target &&
		(block->kind == FLOW_JUMP || block->kind == FLOW_BRANCH)) ||
	       (block->instructions == 1 && block->kind == FLOW_INDIRECT_JUMP && begins);
}

/*
 * Return whether the kernel has executed the instruction at which it interrupted the thread: a
 * system call, or an instruction replaced by a probe.
 */
static bool step(struct flows *flows, struct track *track, const struct flow_place *place,
		 const struct block *block, uint64_t at, bool begins)
{
	struct owner *owner = track->owner;
	const struct block *last = owner->last, *from = owner->interrupted ?
				   code_block(flows->code, owner->interrupted) : NULL;
	bool is_return;

	if (!from || at == from->start)
		return false;
	is_return = from->instructions == 1 && from->kind == FLOW_RETURN;
	if (is_return ? !returns(flows, track, place, at) : !first_leads_to(from, at, begins))
		return false;
	if (is_return)
		return true;
	track->last = last;
	if (last)
		follow(flows, track, place, from);
	track->last = from;
	if (from->instructions == 1 && block->start == at &&
	    (from->kind == FLOW_JUMP || from->kind == FLOW_INDIRECT_JUMP))
		on_jump(flows, track, place, block);
	return true;
}

/* Called when the source continues, perhaps in a signal handler. */
static void resume(struct flows *flows, struct track *track, const struct flow_place *place,
		   const struct block *block, uint64_t at)
{
	const struct function *function = function_of(flows, block);
	const bool begins = block->place + (at - block->start) == function->start;
	const bool stepped = step(flows, track, place, block, at, begins);
	struct owner *owner = track->owner;
	uint64_t from = owner->interrupted;
	const struct block *last = owner->last;
	const bool unseen = owner->unseen, same = from && at == from;

	owner->last = NULL;
	owner->unseen = false;
	if (stepped) {
		/* step() has already updated the open calls. */
	} else if (last && ((same && at == block->start) || leads_to(last, at, begins))) {
		track->last = last;
		follow(flows, track, place, block);
	} else if (same) {
		/* The thread continues where it stopped, so the open calls do not change. */
	} else if (last && last->kind == FLOW_RETURN && returns(flows, track, place, at)) {
		/* The call has ended. */
	} else if (owner->depth && from && begins &&
	    owner->frame[owner->depth - 1].function != function->start) {
		enter_handler(flows, track, place, function->start, last);
	} else if (owner->depth && unseen && begins) {
		enter_frame(flows, track, place, &(struct frame){
			.function = function->start, .unseen = true });
	} else {
		go_back_to(flows, track, place, function);
	}
	owner->interrupted = 0;
}

/*
 * Called when the generated writer ends. Unless it returns to its caller or jumps to the library,
 * instructions are missing.
 */
static void end_writer(struct flows *flows, struct track *track, const struct flow_place *place,
		       const struct block *block, uint64_t at)
{
	struct owner *owner = track->owner;

	owner->writes = false;
	if (!function_of(flows, block)->tracer &&
	    !(owner->depth && owner->frame[owner->depth - 1].back == at))
		ran_missing(flows, track, place);
}

/*
 * Return whether code that is not in any file is the generated writer. A thread that was switched
 * out in the writer continues in it, at an unknown address.
 */
static bool is_writer(struct flows *flows, const struct owner *owner,
		      const struct flow_event *event)
{
	struct symbol symbol;

	if (event->reason != FLOW_GAP_NO_CODE)
		return false;
	if (!event->known)
		return owner->writes;
	return symbols_find(flows->symbols, event->address, &symbol) && symbol.generated;
}

/* Called when the thread continues in code that is not in any file, such as generated code. */
static void on_unseen(struct flows *flows, struct track *track, const struct flow_place *place,
		      const struct flow_event *event)
{
	struct owner *owner = track->owner;
	const uint32_t depth = owner->depth;

	owner->unseen = true;
	/* The thread continues where it was interrupted, so no signal handler is running. */
	if (event->known && event->address == owner->interrupted)
		owner->interrupted = 0;
	if (track->resume || !track->last || track->last->kind != FLOW_RETURN)
		return;
	if (!(event->known && returns(flows, track, place, event->address)) && depth &&
	    owner->frame[depth - 1].unseen)
		flows_leave(flows, track, place, depth - 1);
}

static void on_lost(struct flows *flows, struct track *track, const struct flow_place *place,
		    const struct flow_event *event)
{
	if (event->reason == FLOW_GAP_NO_CODE)
		on_unseen(flows, track, place, event);
	if (!flows->counts)
		return;
	if (is_writer(flows, track->owner, event))
		track->owner->writes = true;
	else if (event->reason != FLOW_GAP_LEFT_OUT)
		track->gap = true;
	if (track->gap)
		ran_missing(flows, track, place);
}

/*
 * A trap occurred at @at. The call, jump or return to @at has taken effect, although no instruction
 * has been executed there.
 */
static void finish(struct flows *flows, struct track *track, const struct flow_place *place,
		   uint64_t at)
{
	const struct block *block = NULL;

	/* An ecall or ebreak leads to the trap handler itself. */
	if (track->last && track->last->kind != FLOW_TRAP)
		block = code_block(flows->code, at);
	if (block)
		follow(flows, track, place, block);
}

/* Called when the source continues at @at, perhaps without executing the instruction there. */
static void reach(struct flows *flows, struct track *track, const struct flow_place *place,
		  const struct block *block, uint64_t at)
{
	uint64_t from;

	/* Without symbols, the return of __switch_to() is not recognised. */
	if (__builtin_expect(track->switches, false) &&
	    (!code_is_kernel(at) || !function_of(flows, block)->known))
		owners_skipped(flows, track);
	if (__builtin_expect(track->owner->writes, false))
		end_writer(flows, track, place, block, at);
	if (track->trapped) {
		from = track->owner->interrupted;
		finish(flows, track, place, from);
		enter(flows, track, place, function_of(flows, block)->start, from, from + 2);
		track->trapped = false;
		track->owner->last = NULL;
	} else if (track->resume) {
		resume(flows, track, place, block, at);
	} else if (track->last && at == block->start) {
		follow(flows, track, place, block);
	}
	track->resume = false;
	track->away = false;
}

static void on_run(void *context, const struct flow_place *place, const struct flow_run *run)
{
	struct flows *flows = context;
	struct track *track = owners_track(flows, place->src);
	const struct block *block = run->block;

	if (!track || track->owner == &flows->unknown)
		return;
	reach(flows, track, place, block, block->start + 2 * run->from);
	track->gap = false;
	track->last = run->to == block->halfwords ? block : NULL;
	if (flows->counts)
		ran_run(flows, track, place, run, function_of(flows, block)->start);
}

static void on_trap(struct flows *flows, struct track *track, const struct flow_place *place,
		    uint64_t at)
{
	const bool begins = track->resume || track->trapped;
	struct owner *owner = track->owner;
	const struct block *block;

	if (owner == &flows->unknown)
		return;
	block = begins || owner->handled ? code_block(flows->code, at) : NULL;
	/*
	 * The thread or a trap handler continued here, and was interrupted before it executed an
	 * instruction.
	 */
	if (begins) {
		if (block)
			reach(flows, track, place, block, at);
		track->last = NULL;
	}
	track->trapped = true;
	owner->interrupted = at;
	/* If the latest block ended with a call, the callee's code appears only after the trap. */
	owner->last = track->last;
	if (!owner->handled || !block || block->kind != FLOW_TRAP || block->instructions != 1)
		return;
	/* The kernel returns to the code that the signal handler interrupted. */
	owner->interrupted = owner->from;
	owner->last = owner->before;
	owner->handled = false;
}

static void on_context(struct flows *flows, struct track *track, const struct flow_place *place,
		       const struct flow_event *event)
{
	const uint64_t tid = NEXUS_PROCESS_CONTEXT(event->address);

	if (event->what == FLOW_CONTEXT)
		owners_context(flows, track, place, tid);
	else
		owners_next(flows, track, tid);
	/* Instructions are also missing from the thread that continues here. */
	if (track->gap)
		ran_missing(flows, track, place);
}

static void on_event(void *context, const struct flow_place *place,
		     const struct flow_event *event)
{
	struct flows *flows = context;
	struct track *track = owners_track(flows, place->src);

	if (!track)
		return;
	/* The thread may continue on another source. */
	ran_until(flows, track, place);
	track->gap &= event->what != FLOW_STARTS;
	switch (event->what) {
	case FLOW_CONTEXT:
	case FLOW_SWITCHES:
		on_context(flows, track, place, event);
		break;
	case FLOW_EXCEPTION:
		on_trap(flows, track, place, event->address);
		break;
	case FLOW_LOST:
		owners_lost(flows, track, event);
		on_lost(flows, track, place, event);
		/*
		 * Code that is not in any file may belong to a trap handler, which does not change
		 * the open calls.
		 */
		track->lost |= event->reason != FLOW_GAP_NO_CODE &&
			       event->reason != FLOW_GAP_KERNEL &&
			       event->reason != FLOW_GAP_LEFT_OUT;
		/* The thread returns to user mode, so no kernel call is open. */
		if (event->reason == FLOW_GAP_LEFT_OUT && !track->trapped &&
		    code_calls(flows->code) == META_CALLS_KERNEL)
			flows_leave(flows, track, place, 0);
		track->resume = true;
		track->trapped = false;
		break;
	case FLOW_STOPS:
		if (!track->resume)
			track->owner->last = track->last;
		/* Fall through. */
	default:
		owners_skipped(flows, track);
		track->away = false;
		track->resume = true;
		track->trapped = false;
	}
}

/* Instructions executed before the record may be counted after it, or vice versa. */
static void doubt(struct flows *flows, const struct perfrec_record *record)
{
	if (flows->counts)
		flows->ops->missing(flows->context, record);
}

static void on_record(void *context, const struct perfrec_record *record, bool misplaced)
{
	struct flows *flows = context;
	struct track *track = flows->track[record->src];
	const struct flow_place place = {
		.src = record->src, .offset = record->begin.offset,
		.time = record->begin.time, .time_known = record->begin.time_known,
	};

	if (track)
		ran_until(flows, track, &place);
	if (misplaced)
		doubt(flows, record);
	flows->ops->record(flows->context, record);
	if (misplaced)
		doubt(flows, record);
	flows->left_out.places += misplaced;
	/* The gap continues after the record. */
	if (track && track->gap)
		ran_missing(flows, track, &place);
}

/* ---- messages ---------------------------------------------------------- */

int flows_message(struct flows *flows, const struct nexus_message *message)
{
	if (joined_message(flows->joined, message) || flows->no_memory)
		return -ENOMEM;
	return 0;
}

int flows_record(struct flows *flows, const struct perfrec_record *record)
{
	return joined_record(flows->joined, record);
}

void flows_damaged(struct flows *flows, const struct nexus_message *gap)
{
	if (flows)
		joined_damaged(flows->joined, gap);
}

int flows_flush(struct flows *flows)
{
	if (!flows)
		return 0;
	if (joined_flush(flows->joined))
		return -ENOMEM;
	return flows->no_memory ? -ENOMEM : 0;
}

const struct flows_left_out *flows_left_out(const struct flows *flows)
{
	return &flows->left_out;
}

const struct flow_stats *flows_stats(const struct flows *flows)
{
	return joined_stats(flows->joined);
}
