// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Follows a source's path through the code: see walk.h. */
#include <string.h>

#include "walk.h"

/*
 * Generous limits for the counts in a message: an encoder's instruction counter has at most 22
 * bits, and its repeat counter at most 18.
 */
#define ICNT_MAX	(1ull << 24)
#define REPEATS_MAX	(1ull << 22)
/*
 * Maximum number of halfwords of a repeated branch, so that a few damaged bytes do not take hours
 * to decode.
 */
#define REPEATED_MAX	(1ull << 28)
/* Maximum number of bytes from an emulated instruction to the instruction returned to. */
#define TRAP_BYTES	4
/* Maximum number of blocks without a branch while the number of instructions is unknown. */
#define BLIND_MAX	(1u << 16)

/* SYNC codes at which the flow begins, regardless of any flow before the message. */
#define SYNC_RESET	1
#define SYNC_DEBUG	3
#define SYNC_ENABLE	5
#define SYNC_OVERRUN	7
#define SYNC_POWER	9

#define HIST_EMPTY	1

/* Result of a step. */
enum step {
	STEP_DONE,
	STEP_AWAY,		/* the state has become WALK_AWAY */
	STEP_WRONG,		/* a contradiction */
};

static bool is_start(unsigned int sync)
{
	return sync == SYNC_RESET || sync == SYNC_DEBUG || sync == SYNC_ENABLE ||
	       sync == SYNC_OVERRUN || sync == SYNC_POWER;
}

static bool is_sync(unsigned int tcode)
{
	return tcode == NEXUS_PROG_TRACE_SYNC || tcode == NEXUS_DIRECT_BRANCH_SYNC ||
	       tcode == NEXUS_INDIRECT_BRANCH_SYNC || tcode == NEXUS_INDIRECT_HISTORY_SYNC;
}

static void event(struct walk *walk, bool show, enum flow_what what, unsigned int reason,
		  bool known, uint64_t address)
{
	struct flow_event event = {
		.what = what, .reason = (uint8_t)reason, .known = known, .address = address,
	};

	if (show)
		walk->show_event(walk->flow, &walk->place, &event);
}

static inline void run(struct walk *walk, bool show, uint32_t to, uint64_t times)
{
	struct flow_run run = {
		.block = walk->block, .from = walk->into, .to = to, .times = times,
	};
	uint64_t halfwords = (to - walk->into) * times;

	if (show && to > walk->into) {
		if (walk->show_run)
			walk->show_run(walk->consumer, &walk->place, &run);
		walk->instructions += times * (code_instructions(run.block, to) -
					       code_instructions(run.block, run.from));
	}
	walk->place.done += halfwords;
	walk->balance -= (int64_t)halfwords;
	walk->into = to;
}

static void push(struct walk *walk, uint64_t address)
{
	walk->called[walk->top] = address;
	walk->top = walk->top == FLOW_STACK ? 0 : walk->top + 1;
	walk->calls += walk->calls < FLOW_STACK;
}

static uint64_t pop(struct walk *walk)
{
	walk->top = walk->top ? walk->top - 1 : FLOW_STACK;
	walk->calls--;
	return walk->called[walk->top];
}

static enum step go_away(struct walk *walk, bool show, enum flow_gap why, bool known,
			 uint64_t address)
{
	bool goes_on = walk->state == WALK_AWAY && walk->away == why;

	walk->state = WALK_AWAY;
	walk->away = why;
	walk->balance = 0;
	if (!goes_on)
		event(walk, show, FLOW_LOST, why, known, address);
	return STEP_AWAY;
}

/* Called when the source enters code that was not requested. Its address is not shown. */
static enum step leave_out(struct walk *walk, bool show, uint64_t address)
{
	walk->firmware = !code_is_kernel(address);
	if (walk->state != WALK_AWAY || walk->away != FLOW_GAP_LEFT_OUT)
		walk->unknown = walk->state == WALK_AWAY;
	return go_away(walk, show, FLOW_GAP_LEFT_OUT, false, 0);
}

/*
 * Called when the source enters the page where the kernel executes probed instructions. The page is
 * omitted, like the kernel's code.
 */
static enum step go_to_probe(struct walk *walk, bool show)
{
	if (walk->state == WALK_AWAY &&
	    (walk->away == FLOW_GAP_LEFT_OUT || walk->away == FLOW_GAP_KERNEL))
		return STEP_AWAY;
	walk->firmware = false;
	walk->unknown = walk->state == WALK_AWAY;
	return go_away(walk, show, FLOW_GAP_LEFT_OUT, false, 0);
}

static enum step go_without_code(struct walk *walk, bool show, uint64_t address)
{
	const enum meta_calls calls = code_calls(walk->code);
	const bool kernel = code_is_kernel(address);

	if (code_is_probes(walk->code, address))
		return go_to_probe(walk, show);
	if (calls != META_CALLS_ALL && kernel != (calls == META_CALLS_KERNEL))
		return leave_out(walk, show, address);
	/*
	 * The source remains in the firmware: it trapped in a file's code, and has not returned to
	 * any file's code since.
	 */
	if (walk->state == WALK_AWAY && walk->away == FLOW_GAP_LEFT_OUT && walk->firmware &&
	    !walk->unknown)
		return STEP_AWAY;
	/* After a loss, @address may be in the firmware, whose address range is unknown. */
	return go_away(walk, show, kernel ? FLOW_GAP_KERNEL : FLOW_GAP_NO_CODE,
		       calls == META_CALLS_ALL || walk->state == WALK_ON, address);
}

static inline enum step go_to(struct walk *walk, bool show, struct block *block,
			      uint64_t address)
{
	walk->block = block;
	walk->into = 0;
	if (__builtin_expect(!block, false))
		return go_without_code(walk, show, address);
	return STEP_DONE;
}

static enum step go_to_address(struct walk *walk, bool show, uint64_t address)
{
	return go_to(walk, show, code_block(walk->code, address), address);
}

static bool is_trampoline(uint64_t trampoline, uint64_t address)
{
	return trampoline && address - trampoline < CODE_TRAMPOLINE;
}

/*
 * Prepare for the kernel's return to user mode. The kernel returns to the trapped code, or starts a
 * signal handler, which returns to the trampoline although the trampoline has not called it. After
 * the trampoline, the kernel returns to the interrupted code. If the trampoline's address is
 * unknown, either case is possible, so all calls are discarded.
 */
static void expect_return(struct walk *walk, uint64_t address)
{
	uint64_t trampoline;

	if (!walk->trapped || address - walk->from <= TRAP_BYTES)
		return;
	trampoline = code_trampoline(walk->code);
	if (!trampoline)
		walk->calls = 0;
	else if (!is_trampoline(trampoline, walk->from))
		push(walk, trampoline);
}

/*
 * Called when unknown code has returned to @address. Discard calls up to the call that returns to
 * that address, or all calls.
 */
static void forget_calls(struct walk *walk, uint64_t address)
{
	while (walk->calls && pop(walk) != address)
		;
}

/*
 * Enter known code, either at the start of the flow or from unknown code, which may have contained
 * calls and returns.
 */
static enum step arrive(struct walk *walk, bool show, uint64_t address)
{
	const bool away = walk->state == WALK_AWAY;
	enum step step = go_to_address(walk, show, address);

	if (step != STEP_DONE)
		return step;
	walk->state = WALK_ON;
	if (!away)
		return step;
	if ((walk->away != FLOW_GAP_LEFT_OUT && walk->away != FLOW_GAP_KERNEL) || walk->unknown)
		forget_calls(walk, address);
	else if (!code_is_kernel(address))
		expect_return(walk, address);
	walk->trapped = false;
	walk->unknown = false;
	walk->unpaired = true;
	return step;
}

/* Enter a trap handler, which is never in user mode. */
static enum step go_to_trap(struct walk *walk, bool show, uint64_t address)
{
	if (code_calls(walk->code) == META_CALLS_USER)
		return leave_out(walk, show, address);
	return arrive(walk, show, address);
}

static inline enum step go_next(struct walk *walk, bool show)
{
	struct block *block = walk->block;

	return go_to(walk, show, code_next(walk->code, block), block_end(block));
}

static inline enum step go_taken(struct walk *walk, bool show)
{
	struct block *block = walk->block;

	return go_to(walk, show, code_taken(walk->code, block), block->target);
}

static enum step go_back(struct walk *walk, bool show, bool call)
{
	uint64_t to, back = block_end(walk->block);

	if (!walk->calls)
		return walk->unpaired ? go_away(walk, show, FLOW_GAP_NO_RETURN, false, 0) :
					STEP_WRONG;
	to = pop(walk);
	if (call)
		push(walk, back);
	return go_to_address(walk, show, to);
}

/* Walk from the end of a block to the next block, which the code, not a message, must determine. */
static inline enum step infer(struct walk *walk, bool show)
{
	struct block *block = walk->block;

	switch (block->kind) {
	case FLOW_NEXT:
		return go_next(walk, show);
	case FLOW_JUMP:
		return go_taken(walk, show);
	case FLOW_CALL:
		push(walk, block_end(block));
		return go_taken(walk, show);
	case FLOW_BRANCH:
		if (walk->mode == FLOW_HTM)
			return STEP_WRONG;
		return go_next(walk, show);
	case FLOW_RETURN:
	case FLOW_SWAP:
		return go_back(walk, show, block->kind == FLOW_SWAP);
	case FLOW_INDIRECT_CALL:
	case FLOW_INDIRECT_JUMP:
		if (!block->loaded)
			return STEP_WRONG;
		if (block->kind == FLOW_INDIRECT_CALL)
			push(walk, block_end(block));
		return go_taken(walk, show);
	default:
		return STEP_WRONG;
	}
}

/* Return whether the address to which the latest instruction led can be found only in a message. */
static bool is_explicit(const struct walk *walk)
{
	unsigned int kind = walk->block->kind;

	return walk->into == walk->block->halfwords &&
	       (kind == FLOW_INDIRECT_CALL || kind == FLOW_INDIRECT_JUMP ||
		kind == FLOW_RETURN || kind == FLOW_SWAP || kind == FLOW_TRAP_RETURN);
}

/* Walk from the end of a block to the address in a message. */
static enum step go_reported(struct walk *walk, bool show, uint64_t address)
{
	uint64_t back = block_end(walk->block);
	unsigned int kind = walk->block->kind;

	if ((kind == FLOW_RETURN || kind == FLOW_SWAP) && walk->calls)
		pop(walk);
	if (kind == FLOW_INDIRECT_CALL || kind == FLOW_SWAP)
		push(walk, back);
	return go_to_address(walk, show, address);
}

/*
 * Walk past the next conditional branch, with outcome @taken. If a block repeats itself, walk it
 * *@times times. Subtract the number of branches walked from *@times.
 */
static inline enum step branch(struct walk *walk, bool show, bool taken, uint64_t *times)
{
	unsigned int blind = 0;
	struct block *block;
	enum step step;

	for (;;) {
		block = walk->block;
		if (walk->into < block->halfwords && block->kind == FLOW_BRANCH &&
		    !walk->into && *times > 1 && taken && block->way[1] == block) {
			run(walk, show, block->halfwords, *times);
			*times = 0;
			walk->into = 0;
			return STEP_DONE;
		}
		run(walk, show, block->halfwords, 1);
		if (block->kind == FLOW_BRANCH)
			break;
		step = blind++ > BLIND_MAX ? STEP_WRONG : infer(walk, show);
		if (step != STEP_DONE)
			return step;
	}
	--*times;
	if (walk->balance < -(int64_t)ICNT_MAX)
		return STEP_WRONG;
	/* Outcomes are unpredictable, so do not select the next block by a conditional branch. */
	block = walk->block->way[taken];
	if (__builtin_expect(!block, false))
		return taken ? go_taken(walk, show) : go_next(walk, show);
	walk->block = block;
	walk->into = 0;
	return STEP_DONE;
}

/* Walk @times branches with the same outcome. */
static enum step same_branches(struct walk *walk, bool show, bool taken, uint64_t times)
{
	enum step step = STEP_DONE;

	while (times && step == STEP_DONE)
		step = branch(walk, show, taken, &times);
	return step;
}

/* Walk the outcomes in a history: the bits below its highest set bit, from high to low. */
static enum step history(struct walk *walk, bool show, uint64_t hist, uint64_t times)
{
	unsigned int bits = 63 - (unsigned int)__builtin_clzll(hist), at;
	enum step step = STEP_DONE;
	uint64_t one;

	if (bits == 1)
		return same_branches(walk, show, hist & 1, times);
	for (; times && step == STEP_DONE; times--)
		for (at = bits; at-- && step == STEP_DONE; ) {
			one = 1;
			step = branch(walk, show, hist >> at & 1, &one);
		}
	return step;
}

/*
 * If the block is an endless loop, walk all but the last of the announced repetitions in one step.
 */
static inline void idle(struct walk *walk, bool show)
{
	struct block *block = walk->block;
	uint64_t times;

	if (block->kind != FLOW_JUMP || block->way[1] != block || walk->into)
		return;
	times = (uint64_t)walk->balance / block->halfwords;
	if (times < 2)
		return;
	run(walk, show, block->halfwords, times - 1);
	walk->into = 0;
}

/* Walk only the instructions that messages have announced. */
static enum step count(struct walk *walk, bool show)
{
	enum step step;
	uint32_t left;

	while (walk->balance > 0) {
		if (walk->into == walk->block->halfwords) {
			step = infer(walk, show);
			if (step != STEP_DONE)
				return step;
			continue;
		}
		idle(walk, show);
		left = walk->block->halfwords - walk->into;
		if (walk->balance < left) {
			left = (uint32_t)walk->balance;
			if (!code_is_boundary(walk->block, walk->into + left))
				return STEP_WRONG;
		}
		run(walk, show, walk->into + left, 1);
	}
	return walk->balance < 0 ? STEP_WRONG : STEP_DONE;
}

/* Walk up to a message's event. */
static enum step approach(struct walk *walk, bool show, const struct walk_message *message)
{
	enum step step = STEP_DONE;

	walk->balance += (int64_t)message->icnt;
	if (message->hist > HIST_EMPTY)
		step = history(walk, show, message->hist, 1);
	return step == STEP_DONE ? count(walk, show) : step;
}

/*
 * Set @address to the source's address. Return false at the end of a block whose successor is
 * unknown.
 */
static bool is_at(const struct walk *walk, uint64_t *address)
{
	*address = walk->block->start + 2 * walk->into;
	return walk->into < walk->block->halfwords;
}

/* Walk from the end of a block to the next block, if the code determines which block follows. */
static enum step settle(struct walk *walk, bool show)
{
	if (walk->into < walk->block->halfwords)
		return STEP_DONE;
	return infer(walk, show);
}

static enum step exception(struct walk *walk, bool show, const struct walk_message *message,
			   uint64_t address)
{
	enum step step = STEP_DONE;
	uint64_t from;

	/* ecall and ebreak cause exceptions themselves, so their successors do not matter. */
	if (walk->block->kind != FLOW_TRAP)
		step = settle(walk, show);
	if (step == STEP_WRONG)
		return step;
	if (step == STEP_DONE) {
		is_at(walk, &from);
		event(walk, show, FLOW_EXCEPTION, message->btype, true, from);
		walk->trapped = !code_is_kernel(from);
		walk->from = from;
	}
	return go_to_trap(walk, show, address);
}

/* ---- messages ---------------------------------------------------------- */

static void set_mode(struct walk *walk, const struct walk_message *message)
{
	switch (message->tcode) {
	case NEXUS_DIRECT_BRANCH:
	case NEXUS_DIRECT_BRANCH_SYNC:
		walk->mode = FLOW_BTM;
		break;
	case NEXUS_INDIRECT_HISTORY:
	case NEXUS_INDIRECT_HISTORY_SYNC:
		walk->mode = FLOW_HTM;
		break;
	case NEXUS_RESOURCE_FULL:
	case NEXUS_CORRELATION:
		if (message->hist)
			walk->mode = FLOW_HTM;
		break;
	}
}

static enum step taken_branch(struct walk *walk, bool show,
			      const struct walk_message *message)
{
	enum step step = approach(walk, show, message);

	if (step != STEP_DONE)
		return step;
	if (walk->into < walk->block->halfwords || walk->block->kind != FLOW_BRANCH)
		return STEP_WRONG;
	return go_taken(walk, show);
}

static enum step to_address(struct walk *walk, bool show,
			    const struct walk_message *message, uint64_t address)
{
	enum step step = STEP_AWAY;

	if (walk->state != WALK_AWAY)
		step = approach(walk, show, message);
	if (step == STEP_AWAY)
		return message->btype ? go_to_trap(walk, show, address) :
					arrive(walk, show, address);
	if (step != STEP_DONE)
		return step;
	if (message->btype)
		return exception(walk, show, message, address);
	return is_explicit(walk) ? go_reported(walk, show, address) : STEP_WRONG;
}

static enum step indirect(struct walk *walk, bool show, const struct walk_message *message)
{
	walk->reference ^= message->address;
	return to_address(walk, show, message, walk->reference);
}

/* A repeated message has the same target, so the reference does not change. */
static enum step again(struct walk *walk, bool show, const struct walk_message *message)
{
	enum step step = STEP_DONE;
	uint64_t times = message->repeat;

	if (!walk->branch.tcode || times * (walk->branch.icnt + 1) > REPEATED_MAX)
		return STEP_WRONG;
	while (times-- && step != STEP_WRONG) {
		if (walk->branch.tcode != NEXUS_DIRECT_BRANCH)
			step = to_address(walk, show, &walk->branch, walk->reference);
		else if (walk->state == WALK_ON)
			step = taken_branch(walk, show, &walk->branch);
		else
			break;
		if (walk->state == WALK_AWAY)
			break;
	}
	return step;
}

static enum step resource(struct walk *walk, bool show, const struct walk_message *message)
{
	if (walk->state == WALK_AWAY)
		return STEP_AWAY;
	walk->balance += (int64_t)message->icnt;
	if (message->hist <= HIST_EMPTY)
		return STEP_DONE;
	return history(walk, show, message->hist, message->repeat);
}

static enum step correlation(struct walk *walk, bool show,
			     const struct walk_message *message)
{
	enum step step = walk->state == WALK_ON ? approach(walk, show, message) : STEP_AWAY;
	uint64_t address = 0;
	bool known = false;

	if (step == STEP_WRONG)
		return step;
	if (step == STEP_DONE) {
		/* No later message contains an indirect jump's target. */
		known = is_at(walk, &address);
		if (!known && walk->block->kind < FLOW_INDIRECT_JUMP &&
		    settle(walk, show) == STEP_DONE)
			known = is_at(walk, &address);
	}
	walk->state = WALK_OFF;
	event(walk, show, FLOW_STOPS, message->reason, known, address);
	return STEP_DONE;
}

/* Check the address of a Sync message if the source's flow is known. */
static enum step agree(struct walk *walk, bool show, const struct walk_message *message)
{
	bool branched = message->tcode == NEXUS_DIRECT_BRANCH_SYNC;
	enum step step = approach(walk, show, message);
	uint64_t at;

	if (step != STEP_DONE)
		return step;
	if (message->btype)
		return exception(walk, show, message, message->address);
	if (is_explicit(walk))
		return go_reported(walk, show, message->address);
	if (branched && walk->into == walk->block->halfwords &&
	    walk->block->kind == FLOW_BRANCH && walk->block->target == message->address)
		return go_taken(walk, show);
	step = settle(walk, show);
	if (step != STEP_DONE)
		return step;
	is_at(walk, &at);
	return at == message->address ? STEP_DONE : STEP_WRONG;
}

static enum step sync(struct walk *walk, bool show, const struct walk_message *message)
{
	bool start = is_start(message->reason) || walk->state < WALK_AWAY;
	enum step step = STEP_DONE;
	struct block *block;
	uint32_t into;

	if (walk->state == WALK_ON && message->reason == SYNC_OVERRUN)
		event(walk, show, FLOW_LOST, FLOW_GAP_OVERFLOW, false, 0);
	else if (walk->state == WALK_ON && is_start(message->reason))
		step = approach(walk, show, message);
	else if (walk->state == WALK_ON)
		step = agree(walk, show, message);
	if (step == STEP_WRONG)
		return step;
	block = walk->block;
	into = walk->into;
	walk->calls = 0;
	walk->trapped &= !start;
	walk->unpaired = false;
	walk->balance = 0;
	walk->reference = message->address;
	if (start)
		event(walk, show, FLOW_STARTS, message->reason, false, 0);
	/* Do not split the current block if the flow continues in it. */
	if (!start && step == STEP_DONE && walk->state == WALK_ON &&
	    block->start + 2 * into == message->address)
		return STEP_DONE;
	if (step == STEP_AWAY && !code_block(walk->code, message->address))
		return STEP_AWAY;
	step = message->btype ? go_to_trap(walk, show, message->address) :
				arrive(walk, show, message->address);
	/* The encoder's call stack is also empty here, so no call is missing. */
	if (step == STEP_DONE)
		walk->unpaired = false;
	return step;
}

static enum step take(struct walk *walk, bool show, const struct walk_message *message)
{
	switch (message->tcode) {
	case NEXUS_DIRECT_BRANCH:
		return walk->state == WALK_AWAY ? STEP_AWAY :
						  taken_branch(walk, show, message);
	case NEXUS_INDIRECT_BRANCH:
	case NEXUS_INDIRECT_HISTORY:
		return indirect(walk, show, message);
	case NEXUS_RESOURCE_FULL:
		return resource(walk, show, message);
	case NEXUS_REPEAT_BRANCH:
		return again(walk, show, message);
	case NEXUS_CORRELATION:
		return correlation(walk, show, message);
	default:
		return sync(walk, show, message);
	}
}

void walk_lose(struct walk *walk)
{
	walk->state = WALK_LOST;
	walk->balance = 0;
	walk->calls = 0;
	walk->branch.tcode = 0;
}

static inline __attribute__((always_inline))
enum walk_result walk_message(struct walk *walk, bool show, struct walk_message *message)
{
	enum step step;

	walk->place.offset = message->offset;
	walk->place.before = walk->place.time;
	walk->place.known = walk->place.time_known;
	walk->place.time = message->time;
	walk->place.time_known = message->time_known;
	walk->place.done = 0;
	if (message->icnt > ICNT_MAX || message->repeat > REPEATS_MAX) {
		walk_lose(walk);
		return WALK_CONTRADICTION;
	}
	code_when(walk->code, message->time_known, message->time);
	set_mode(walk, message);
	step = take(walk, show, message);
	if (step == STEP_WRONG) {
		walk_lose(walk);
		return WALK_CONTRADICTION;
	}
	if (message->tcode == NEXUS_DIRECT_BRANCH || message->tcode == NEXUS_INDIRECT_BRANCH ||
	    message->tcode == NEXUS_INDIRECT_HISTORY)
		walk->branch = *message;
	return is_sync(message->tcode) ? WALK_CONFIRMED : WALK_FINE;
}

enum walk_result walk_check(struct walk *walk, struct walk_message *message)
{
	enum walk_result result = walk_message(walk, false, message);

	message->halfwords = walk->place.done;
	return result;
}

enum walk_result walk_show(struct walk *walk, struct walk_message *message)
{
	walk->place.halfwords = message->halfwords;
	return walk_message(walk, true, message);
}
