// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Finds instructions that the kernel or firmware executes: see steps.h. */
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "nexus/nexus.h"
#include "steps.h"

/* Limit for a damaged trace. */
#define THREADS_MAX	4096
/*
 * Maximum number of a thread's open stops; usually there are at most two, one for a signal
 * handler and one in the kernel.
 */
#define STOPS_MAX	8

/**
 * struct stop - where a thread stopped
 * @from:	the block that begins at @address, or NULL if no file contains the code
 * @trap:	set if a trap stopped the thread
 * @unknown:	the stop was counted as unknown
 */
struct stop {
	uint64_t		address;
	const struct block	*from;
	bool			trap;
	bool			unknown;
};

/**
 * struct owner - a thread, or the unnamed thread that runs on a source
 * @id:		thread id, or (1 << 32) + the source if the thread has no name
 * @resumed:	set if the thread has continued at @address on source @src, but its preceding stop
 *		has not been processed
 */
struct owner {
	uint64_t	id;
	uint32_t	stops;
	struct stop	stop[STOPS_MAX];
	bool		resumed;
	uint8_t		src;
	uint64_t	time;
	uint64_t	address;
};

struct steps {
	struct code	*code;
	uint64_t	unknown;
	struct owner	*running[NEXUS_SOURCES];
	struct owner	owner[THREADS_MAX];
	uint32_t	owners;
	uint32_t	slot[2 * THREADS_MAX];
	struct hash	hash;
};

struct steps *steps_new(struct code *code)
{
	struct steps *steps = calloc(1, sizeof(*steps));

	if (!steps)
		return NULL;
	steps->code = code;
	steps->hash.bits = hash_bits(THREADS_MAX);
	steps->hash.slot = steps->slot;
	return steps;
}

void steps_free(struct steps *steps)
{
	free(steps);
}

static uint64_t id_of(const void *owners, uint32_t number)
{
	return ((const struct owner *)owners)[number - 1].id;
}

/* Return NULL if there are too many owners. */
static struct owner *find_owner(struct steps *steps, uint64_t id)
{
	uint32_t *slot = hash_find(&steps->hash, id, id_of, steps->owner);

	if (!*slot && steps->owners + 1 < THREADS_MAX) {
		steps->owner[steps->owners].id = id;
		*slot = ++steps->owners;
	}
	return *slot ? &steps->owner[*slot - 1] : NULL;
}

void steps_owner(struct steps *steps, unsigned int src, uint32_t thread)
{
	steps->running[src] = find_owner(steps, thread ? thread : 1ull << 32 | src);
}

static struct owner *running(struct steps *steps, unsigned int src)
{
	if (!steps->running[src])
		steps_owner(steps, src, 0);
	return steps->running[src];
}

/*
 * Return whether the thread continued on another source that was processed before the thread's stop
 * here. Sources are processed one by one.
 */
static bool went_on(const struct owner *owner, const struct flow_place *place)
{
	return owner->resumed && owner->src != place->src && place->time_known &&
	       place->time < owner->time;
}

static bool is_indirect(const struct block *block)
{
	return block->instructions == 1 && block->kind >= FLOW_INDIRECT_JUMP &&
	       block->kind <= FLOW_SWAP;
}

/* Return whether a block's first instruction leads to an address. */
static bool leads_to(const struct block *block, uint64_t address)
{
	const uint64_t next = block->start + 2 * block_length(block, 0);

	if (block->instructions > 1 || block->kind == FLOW_NEXT || block->kind == FLOW_TRAP)
		return address == next;
	if (block->kind == FLOW_BRANCH && address == next)
		return true;
	return block->kind <= FLOW_CALL && address == block->target;
}

const struct block *steps_stop(struct steps *steps, const struct flow_place *place,
			       uint64_t address, bool trap, uint64_t *to)
{
	const struct block *from = code_block(steps->code, address);
	struct owner *owner = running(steps, place->src);

	if (!owner) {
		steps->unknown++;
		return NULL;
	}
	if (went_on(owner, place) &&
	    (owner->address == address || (from && leads_to(from, owner->address)))) {
		owner->resumed = false;
		*to = owner->address;
		return owner->address == address ? NULL : from;
	}
	if (owner->stops == STOPS_MAX)
		memmove(owner->stop, owner->stop + 1, --owner->stops * sizeof(owner->stop[0]));
	owner->stop[owner->stops++] = (struct stop){
		.address = address, .from = from, .trap = trap };
	return NULL;
}

const struct block *steps_resume(struct steps *steps, const struct flow_place *place,
				 uint64_t address)
{
	struct owner *owner = running(steps, place->src);
	struct stop *top;
	uint32_t i;
	bool late;

	if (!owner)
		return NULL;
	late = went_on(owner, place);
	/* If an earlier stop matches, the handlers of later signals and traps have ended. */
	for (i = owner->stops; i--; ) {
		top = &owner->stop[i];
		if (address != top->address && !(top->from && leads_to(top->from, address)))
			continue;
		owner->stops = i;
		steps->unknown -= top->unknown;
		return address == top->address ? NULL : top->from;
	}
	if (!late) {
		owner->resumed = place->time_known;
		owner->src = place->src;
		owner->time = place->time;
		owner->address = address;
	}
	if (!owner->stops)
		return NULL;
	/* The thread has jumped, or a signal handler has begun. */
	top = &owner->stop[owner->stops - 1];
	if (top->trap && !top->unknown && top->from && is_indirect(top->from)) {
		top->unknown = true;
		steps->unknown++;
	}
	return NULL;
}

uint64_t steps_unknown(const struct steps *steps)
{
	return steps->unknown;
}
