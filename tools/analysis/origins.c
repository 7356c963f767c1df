// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Numbers objects or source lines: see origins.h. */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "origins.h"

/* Flag in a frame's user value, above the number of its origin. */
#define OUTERMOST	(1ull << 32)
/* Initial number of entries for open calls. */
#define OPEN_ROOM	64

/* The outermost open call of an origin in a thread: frame @depth, unless the call has ended. */
struct open {
	uint64_t	key;		/* thread's id and origin */
	uint32_t	depth;
	const struct analysis_thread *thread;
};

/* An origin, and the first of its addresses that was found. */
struct numbered {
	struct origin	origin;		/* first, because the tree compares origins */
	uint64_t	address;
};

struct origins {
	struct symbols	*symbols;
	bool		lines;
	struct functions *functions;	/* numbers of addresses */
	struct numbered	**entry;	/* entries by number, from 1 */
	void		*tree;		/* the same entries, for tsearch() */
	struct open	*open;
	uint32_t	opens;
	uint32_t	room;
	struct hash	hash;
};

struct origins *origins_new(struct symbols *symbols, bool lines)
{
	struct origins *origins = calloc(1, sizeof(*origins));

	if (!origins)
		return NULL;
	origins->symbols = symbols;
	origins->lines = lines;
	origins->functions = functions_new();
	origins->entry = calloc(FUNCTIONS_MAX, sizeof(*origins->entry));
	if (!origins->functions || !origins->entry) {
		origins_free(origins);
		return NULL;
	}
	return origins;
}

static void keep(void *entry)
{
	(void)entry;
}

void origins_free(struct origins *origins)
{
	uint32_t i;

	if (!origins)
		return;
	tdestroy(origins->tree, keep);
	for (i = 0; origins->entry && i < FUNCTIONS_MAX; i++)
		free(origins->entry[i]);
	free(origins->entry);
	functions_free(origins->functions);
	free(origins->open);
	free(origins->hash.slot);
	free(origins);
}

/* ---- numbers ------------------------------------------------------------- */

static int compare_text(const char *one, const char *two)
{
	if (one == two)
		return 0;
	if (!one || !two)
		return one ? 1 : -1;
	return strcmp(one, two);
}

static int compare(const void *a, const void *b)
{
	const struct origin *one = a, *two = b;
	int order = one->line != two->line ? (one->line > two->line) - (one->line < two->line) :
		    compare_text(one->file, two->file);

	if (!order)
		order = compare_text(one->path, two->path);
	return order ? order : compare_text(one->object, two->object);
}

static void find_origin(const struct origins *origins, uint64_t address, struct origin *origin)
{
	struct symbol symbol;

	symbols_find(origins->symbols, address, &symbol);
	*origin = (struct origin){
		.object = symbol.object, .path = symbols_path(origins->symbols, address),
	};
	/* A mark that replaces a caller has a name, but is not in any object. */
	if (!symbol.object && !symbol.known && perfrec_is_kernel(address))
		origin->object = "[kernel]";
	if (origins->lines && symbol.file && symbol.line) {
		origin->file = symbol.file;
		origin->line = symbol.line;
	}
}

static __attribute__((noinline)) uint32_t add(struct origins *origins, uint64_t place)
{
	struct numbered *entry = malloc(sizeof(*entry)), **found;
	uint32_t number;

	if (!entry)
		return ORIGINS_OTHER;
	find_origin(origins, place, &entry->origin);
	entry->address = place;
	found = tsearch(entry, &origins->tree, compare);
	if (found && *found != entry) {
		free(entry);
		return functions_add(origins->functions, place, (*found)->address);
	}
	number = found ? functions_add(origins->functions, place, place) : ORIGINS_OTHER;
	if (number == ORIGINS_OTHER) {
		if (found)
			tdelete(entry, &origins->tree, compare);
		free(entry);
		return ORIGINS_OTHER;
	}
	origins->entry[number] = entry;
	return number;
}

uint32_t origins_at(struct origins *origins, uint64_t address)
{
	const uint64_t place = symbols_place(origins->symbols, address);
	const uint32_t number = functions_find(origins->functions, place);

	return number != ORIGINS_OTHER ? number : add(origins, place);
}

/* ---- open calls ---------------------------------------------------------- */

static uint64_t key_of(const void *open, uint32_t number)
{
	return ((const struct open *)open)[number - 1].key;
}

static bool is_open(const struct open *open, uint32_t origin)
{
	return open->depth < open->thread->depth &&
	       open->thread->frame[open->depth].user == (origin | OUTERMOST);
}

/* Drop the entries of calls that have ended, and allocate twice as many entries as remain. */
static bool make_room(struct origins *origins)
{
	struct open *open;
	uint32_t i, kept = 0, room;
	unsigned int bits;
	uint32_t *slot;

	for (i = 0; i < origins->opens; i++)
		if (is_open(&origins->open[i], (uint32_t)origins->open[i].key))
			origins->open[kept++] = origins->open[i];
	origins->opens = kept;
	room = 2 * kept > OPEN_ROOM ? 2 * kept : OPEN_ROOM;
	if (room < origins->room)
		room = origins->room;
	bits = hash_bits(room);
	slot = malloc(sizeof(*slot) << bits);
	open = realloc(origins->open, room * sizeof(*open));
	if (open)
		origins->open = open;
	if (!slot || !open) {
		free(slot);
		if (origins->hash.slot)
			hash_fill(&origins->hash, 1, kept + 1, key_of, origins->open);
		return kept < origins->room;
	}
	free(origins->hash.slot);
	origins->hash = (struct hash){ slot, bits };
	origins->room = room;
	hash_fill(&origins->hash, 1, kept + 1, key_of, origins->open);
	return true;
}

void origins_enter(struct origins *origins, const struct analysis_thread *thread, uint32_t origin)
{
	struct analysis_frame *frame = &thread->frame[thread->depth - 1];
	const uint64_t key = (uint64_t)thread->thread->id << 32 | origin;
	uint32_t *slot;

	frame->user = origin;
	/* If memory runs out, the call does not count as outermost. */
	if (origins->opens == origins->room && !make_room(origins))
		return;
	slot = hash_find(&origins->hash, key, key_of, origins->open);
	if (*slot && is_open(&origins->open[*slot - 1], origin))
		return;
	if (!*slot)
		*slot = ++origins->opens;
	origins->open[*slot - 1] = (struct open){ key, thread->depth - 1, thread };
	frame->user |= OUTERMOST;
}

uint32_t origins_leave(const struct analysis_thread *thread, bool *outermost)
{
	const uint64_t user = thread->frame[thread->depth - 1].user;

	*outermost = user & OUTERMOST;
	return (uint32_t)user;
}

/* ---- names --------------------------------------------------------------- */

const struct origin *origins_get(const struct origins *origins, uint32_t number)
{
	return &origins->entry[number]->origin;
}

void origins_name(const struct origins *origins, uint32_t number, char *text, unsigned int size)
{
	const struct origin *origin;

	if (number == ORIGINS_OTHER) {
		snprintf(text, size, "(others)");
		return;
	}
	origin = origins_get(origins, number);
	if (origin->file)
		snprintf(text, size, "%s:%d", origin->file, origin->line);
	else
		snprintf(text, size, "%s%s", origin->object ? origin->object : "?",
			 origins->lines && origin->object ? ":?" : "");
}
