// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Counts instructions and branches: see counts.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counts.h"
#include "hash.h"
#include "steps.h"

/* Width of a halfword's index in a block, in bits; the end of the block has an index, too. */
#define HALFWORD_BITS	12
/* Initial number of entries in a table. */
#define ROOM		256

_Static_assert(CODE_INSTRUCTIONS_MAX * 4 < 1 << HALFWORD_BITS,
	       "HALFWORD_BITS bits hold the index of every halfword in a block");

/**
 * struct tally - counts of a block
 * @whole:	number of times that the whole block was executed
 * @next, @taken: number of times that the next block in memory, or the block at its target,
 *		followed
 */
struct tally {
	uint64_t	whole;
	uint64_t	next;
	uint64_t	taken;
};

/* Number of times that the pair identified by @key occurred. */
struct pair {
	uint64_t	key;
	uint64_t	times;
};

struct pairs {
	struct pair	*pair;
	uint32_t	count;
	uint32_t	most;
	bool		full;
	struct hash	hash;
};

/* How a source's next instruction follows from its latest instruction. */
enum way {
	WAY_RESUMES,		/* continues where its thread stopped */
	WAY_FOLLOWS,
	WAY_TRAPS,		/* a trap handler */
};

struct counts {
	struct code	*code;
	struct flow	*flow;
	bool		no_memory;
	struct tally	*tally;		/* tallies by block */
	uint32_t	room;
	struct pairs	parts;
	struct pairs	links;		/* targets of indirect branches */
	/*
	 * Indirect branches whose target is unknown, because the trace stopped there or continued
	 * elsewhere.
	 */
	uint64_t	stopped;
	uint64_t	unlinked;
	const struct block *last[NEXUS_SOURCES];	/* the block executed to its end, or NULL */
	enum way	way[NEXUS_SOURCES];
	struct steps	*steps;
	struct range_scope scope;
	bool		limited;
	char		lost[COUNTS_WHY_SIZE];
};

/* ---- tables ------------------------------------------------------------ */

static uint64_t key_of(const void *pairs, uint32_t number)
{
	return ((const struct pair *)pairs)[number - 1].key;
}

static bool grow(struct pairs *pairs)
{
	const unsigned int bits = hash_bits(2ull * (pairs->count ? pairs->count : ROOM));
	uint32_t *slot = malloc(sizeof(*slot) << bits);
	struct pair *pair = realloc(pairs->pair, sizeof(*pair) << (bits - 1));

	if (pair)
		pairs->pair = pair;
	if (!slot || !pair) {
		free(slot);
		return false;
	}
	free(pairs->hash.slot);
	pairs->hash.slot = slot;
	pairs->hash.bits = bits;
	hash_fill(&pairs->hash, 1, pairs->count + 1, key_of, pair);
	return true;
}

/* Return false if out of memory. */
static bool add(struct pairs *pairs, uint64_t key, uint64_t times)
{
	uint32_t *slot;

	if ((!pairs->hash.slot || pairs->count == 1u << (pairs->hash.bits - 1)) && !grow(pairs))
		return false;
	slot = hash_find(&pairs->hash, key, key_of, pairs->pair);
	if (!*slot && pairs->count == pairs->most) {
		pairs->full = true;
		return true;
	}
	if (!*slot) {
		pairs->pair[pairs->count] = (struct pair){ .key = key };
		*slot = ++pairs->count;
	}
	pairs->pair[*slot - 1].times += times;
	return true;
}

static void forget(struct pairs *pairs)
{
	free(pairs->pair);
	free(pairs->hash.slot);
}

static __attribute__((noinline)) struct tally *
new_tally(struct counts *counts, const struct block *block)
{
	const uint32_t room = 2 * (block->id + 1);
	struct tally *tally = realloc(counts->tally, room * sizeof(*tally));

	if (!tally) {
		counts->no_memory = true;
		return NULL;
	}
	memset(tally + counts->room, 0, (room - counts->room) * sizeof(*tally));
	counts->tally = tally;
	counts->room = room;
	return &tally[block->id];
}

/* The result is valid until a tally is added for another block. */
static inline struct tally *tally_of(struct counts *counts, const struct block *block)
{
	return block->id < counts->room ? &counts->tally[block->id] : new_tally(counts, block);
}

/* ---- the flow ---------------------------------------------------------- */

static bool has_target(const struct block *block)
{
	return block->kind == FLOW_BRANCH || block->kind == FLOW_JUMP ||
	       block->kind == FLOW_CALL || block->loaded;
}

/* Determine whether the current place is in the range. */
static inline void locate(struct counts *counts, const struct flow_place *place)
{
	uint64_t time = 0;
	unsigned int known;

	if (!counts->limited)
		return;
	known = flow_time(place, &time);
	range_has(&counts->scope, known != TIME_UNKNOWN, time);
}

/*
 * Return whether the distance of two blocks in memory is that of their places. Otherwise, they are
 * in different objects or generated functions.
 */
static inline bool is_near(const struct block *from, const struct block *to)
{
	return from->place == from->start || to->place - from->place == to->start - from->start;
}

static inline void link_to(struct counts *counts, const struct block *from,
			   const struct block *to, uint64_t times)
{
	struct tally *tally = tally_of(counts, from);

	if (!tally)
		return;
	if (has_target(from) && to->start == from->target && is_near(from, to))
		tally->taken += times;
	else if (to->start == block_end(from) && from->kind <= FLOW_BRANCH && is_near(from, to))
		tally->next += times;
	else if (!add(&counts->links, (uint64_t)from->id << 32 | to->id, times))
		counts->no_memory = true;
}

static void add_part(struct counts *counts, const struct block *block, uint32_t from,
		     uint32_t to, uint64_t times)
{
	const uint64_t key = ((uint64_t)block->id << HALFWORD_BITS | from) << HALFWORD_BITS | to;

	if (!add(&counts->parts, key, times))
		counts->no_memory = true;
}

/* Count an instruction that led to @address, but is not part of the flow. */
static void add_step(struct counts *counts, const struct block *from, uint64_t address)
{
	const struct block *to = code_block(counts->code, address);
	struct tally *tally;

	if (!counts->scope.inside)
		return;
	if (from->instructions > 1) {
		add_part(counts, from, 0, block_length(from, 0), 1);
		return;
	}
	tally = tally_of(counts, from);
	if (!tally)
		return;
	tally->whole++;
	if (to && from->kind != FLOW_TRAP)
		link_to(counts, from, to, 1);
}

/* Called when the flow continues at @address. */
static inline void resume(struct counts *counts, const struct flow_place *place,
			  uint64_t address)
{
	const struct block *step;

	if (counts->way[place->src] != WAY_RESUMES)
		return;
	step = steps_resume(counts->steps, place, address);
	if (step)
		add_step(counts, step, address);
}

static void stop(struct counts *counts, const struct flow_place *place, uint64_t address,
		 bool trap)
{
	const struct block *step;
	uint64_t to;

	/* If the source has executed nothing since it continued, resume() has not been called. */
	resume(counts, place, address);
	step = steps_stop(counts->steps, place, address, trap, &to);
	if (step)
		add_step(counts, step, to);
}

static void on_run(void *context, const struct flow_place *place, const struct flow_run *run)
{
	const struct block *block = run->block, *last;
	struct counts *counts = context;
	struct tally *tally;

	locate(counts, place);
	resume(counts, place, block->start + 2 * (uint64_t)run->from);
	tally = tally_of(counts, block);
	if (!tally)
		return;
	last = counts->last[place->src];
	counts->last[place->src] = run->to == block->halfwords ? block : NULL;
	counts->way[place->src] = run->to == block->halfwords &&
				  block->kind == FLOW_TRAP_RETURN ? WAY_RESUMES : WAY_FOLLOWS;
	/* The branch at the end of a block is in the range if the block is. */
	if (last && !run->from)
		link_to(counts, last, block, 1);
	if (!counts->scope.inside) {
		counts->last[place->src] = NULL;
		return;
	}
	if (!run->from && run->to == block->halfwords) {
		tally->whole += run->times;
		if (run->times > 1)
			link_to(counts, block, block, run->times - 1);
		return;
	}
	add_part(counts, block, run->from, run->to, run->times);
}

/* Called when the flow ends at @address, to which the latest block led. */
static void end_at(struct counts *counts, const struct block *last, uint64_t address)
{
	const struct block *to = code_block(counts->code, address);

	if (to)
		link_to(counts, last, to, 1);
}

static void on_event(void *context, const struct flow_place *place,
		     const struct flow_event *event)
{
	struct counts *counts = context;
	const struct block *last = counts->last[place->src];

	locate(counts, place);
	if (event->what == FLOW_CONTEXT || event->what == FLOW_SWITCHES) {
		steps_owner(counts->steps, place->src,
			    (uint32_t)NEXUS_PROCESS_CONTEXT(event->address));
		return;
	}
	if ((event->what == FLOW_EXCEPTION || event->what == FLOW_STOPS) && event->known)
		stop(counts, place, event->address, event->what == FLOW_EXCEPTION);
	counts->way[place->src] = event->what == FLOW_EXCEPTION ? WAY_TRAPS : WAY_RESUMES;
	if (event->what == FLOW_STARTS) {
		counts->unlinked += counts->stopped;
		counts->stopped = 0;
	}
	counts->last[place->src] = NULL;
	if (!last || last->kind == FLOW_TRAP)
		return;
	if ((event->what == FLOW_EXCEPTION || event->what == FLOW_STOPS) && event->known)
		end_at(counts, last, event->address);
	else if (event->what == FLOW_STOPS && last->kind >= FLOW_INDIRECT_JUMP)
		counts->stopped++;
}

static const struct flow_ops flow_ops = { .run = on_run, .event = on_event };

int counts_message(struct counts *counts, const struct nexus_message *message)
{
	if (flow_message(counts->flow, message) || counts->no_memory)
		return -ENOMEM;
	return 0;
}

void counts_damaged(struct counts *counts, const struct nexus_message *gap)
{
	flow_damaged(counts->flow, gap);
}

int counts_flush(struct counts *counts)
{
	flow_flush(counts->flow);
	return counts->no_memory ? -ENOMEM : 0;
}

const struct flow_stats *counts_stats(const struct counts *counts)
{
	return flow_stats(counts->flow);
}

/* ---- start and end ----------------------------------------------------- */

struct counts *counts_new(struct symbols *symbols, enum meta_calls calls)
{
	struct counts *counts = calloc(1, sizeof(*counts));

	if (!counts)
		return NULL;
	counts_limit(counts, 0, UINT64_MAX);
	counts->parts.most = COUNTS_PARTS_MAX;
	counts->links.most = COUNTS_LINKS_MAX;
	counts->code = code_new(symbols, calls);
	if (counts->code)
		counts->flow = flow_new(counts->code, &flow_ops, counts);
	if (counts->flow)
		counts->steps = steps_new(counts->code);
	if (counts->steps)
		return counts;
	counts_free(counts);
	return NULL;
}

void counts_limit(struct counts *counts, uint64_t from, uint64_t to)
{
	counts->scope = range_scope(from, to);
	counts->limited = from || to != UINT64_MAX;
}

const struct range_scope *counts_scope(const struct counts *counts)
{
	return &counts->scope;
}

void counts_lost(struct counts *counts, const char *why)
{
	snprintf(counts->lost, sizeof(counts->lost), "%s", why);
}

void counts_free(struct counts *counts)
{
	if (!counts)
		return;
	free(counts->tally);
	forget(&counts->parts);
	forget(&counts->links);
	steps_free(counts->steps);
	flow_free(counts->flow);
	code_free(counts->code);
	free(counts);
}

struct code *counts_code(const struct counts *counts)
{
	return counts->code;
}

bool counts_full(const struct counts *counts)
{
	return flow_stats(counts->flow)->full || counts->parts.full || counts->links.full;
}

bool counts_exact(const struct counts *counts, char why[COUNTS_WHY_SIZE])
{
	const struct flow_stats *stats = flow_stats(counts->flow);
	const bool program = code_calls(counts->code) == META_CALLS_USER;
	const uint64_t unknown = steps_unknown(counts->steps);
	unsigned int i, most = FLOW_GAP_NONE;
	uint64_t gaps = 0;

	for (i = 0; i < FLOW_GAPS; i++) {
		if (i == FLOW_GAP_LEFT_OUT || (i == FLOW_GAP_KERNEL && program))
			continue;
		gaps += stats->gaps[i];
		if (stats->gaps[i] > stats->gaps[most] || most == FLOW_GAP_NONE)
			most = i;
	}
	if (gaps)
		snprintf(why, COUNTS_WHY_SIZE, "instructions are missing in %" PRIu64 " place%s (%s%s)", gaps,
			 gaps == 1 ? "" : "s", stats->gaps[most] == gaps ? "" : "most: ",
			 flow_gap_name(most));
	else if (*counts->lost)
		snprintf(why, COUNTS_WHY_SIZE, "%s", counts->lost);
	else if (counts_full(counts))
		snprintf(why, COUNTS_WHY_SIZE, "too much code: part of the code was not counted");
	else if (counts->unlinked)
		snprintf(why, COUNTS_WHY_SIZE, "the trace stops after %" PRIu64 " indirect branch%s whose target is unknown",
			 counts->unlinked, counts->unlinked == 1 ? "" : "es");
	else if (unknown)
		snprintf(why, COUNTS_WHY_SIZE, "the kernel may have executed %" PRIu64 " indirect branch%s at which the program trapped",
			 unknown, unknown == 1 ? "" : "es");
	else
		return true;
	return false;
}

/* ---- results ----------------------------------------------------------- */

void counts_runs(const struct counts *counts,
		 void (*each)(void *context, const struct counts_run *run), void *context)
{
	const uint32_t mask = (1u << HALFWORD_BITS) - 1;
	const struct pair *pair;
	uint32_t i;

	for (i = 0; i < counts->room && i < code_blocks(counts->code); i++) {
		const struct block *block = code_get(counts->code, i);

		if (counts->tally[i].whole)
			each(context, &(struct counts_run){
				.block = block, .to = block->halfwords,
				.times = counts->tally[i].whole });
	}
	for (i = 0; i < counts->parts.count; i++) {
		pair = &counts->parts.pair[i];
		each(context, &(struct counts_run){
			.block = code_get(counts->code, (uint32_t)(pair->key >> 2 * HALFWORD_BITS)),
			.from = (uint32_t)(pair->key >> HALFWORD_BITS) & mask,
			.to = (uint32_t)pair->key & mask, .times = pair->times });
	}
}

void counts_links(const struct counts *counts,
		  void (*each)(void *context, const struct counts_link *link), void *context)
{
	const struct block *block;
	const struct pair *pair;
	uint32_t i;

	for (i = 0; i < counts->room && i < code_blocks(counts->code); i++) {
		const struct tally *tally = &counts->tally[i];

		block = code_get(counts->code, i);
		if (tally->next)
			each(context, &(struct counts_link){
				.block = block, .next = true, .times = tally->next,
				.to = block->place + block_end(block) - block->start });
		if (tally->taken)
			each(context, &(struct counts_link){
				.block = block, .times = tally->taken,
				.to = block->place + block->target - block->start });
	}
	for (i = 0; i < counts->links.count; i++) {
		pair = &counts->links.pair[i];
		each(context, &(struct counts_link){
			.block = code_get(counts->code, (uint32_t)(pair->key >> 32)),
			.to = code_get(counts->code, (uint32_t)pair->key)->place,
			.times = pair->times });
	}
}
