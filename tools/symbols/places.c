// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Objects by address and time: see places.h. */
#include <stdlib.h>

#include "places.h"

/* Above all addresses of programs, below those of the kernel. */
#define OWN_ADDRESSES	(1ull << 62)
/* The range of one object, and of all of them. */
#define OBJECT_MAX	(1ull << 48)
#define ALIGNMENT	(1ull << 16)

/**
 * struct place - an object with addresses of its own
 * @meta:	the object in the side-car file
 * @from, @to:	when it was loaded, unwrapped, inclusive
 * @shift:	own address minus address in memory; 0: not needed
 */
struct place {
	const struct meta_object	*meta;
	uint64_t			from, to;
	uint64_t			shift;
};

/**
 * struct places - all objects
 * @place:	in the order of the side-car file
 * @sorted:	those with addresses of their own, @count of them, sorted by start
 * @reach:	the highest end of the objects up to this one
 * @recent:	the last one found
 */
struct places {
	const struct meta	*meta;
	struct place		*place;
	struct place		**sorted;
	uint64_t		*reach;
	size_t			count;
	struct place		*recent;
};

static bool is_timed(const struct meta_object *object)
{
	return object->from || object->to != UINT64_MAX;
}

static bool overlap(const struct meta_object *a, const struct meta_object *b)
{
	return a->start < b->end && b->start < a->end;
}

/* Whether another object had its addresses, apparently at another time. */
static bool is_shared(const struct meta *meta, size_t i)
{
	const struct meta_object *object = &meta->object[i];
	size_t j;

	if (!is_timed(object) || object->end - object->start > OBJECT_MAX)
		return false;
	for (j = 0; j < meta->objects; j++)
		if (j != i && overlap(object, &meta->object[j]))
			return true;
	return false;
}

static int by_start(const void *a, const void *b)
{
	const struct place *const *one = a, *const *two = b;
	const uint64_t start = (*one)->meta->start, other = (*two)->meta->start;

	return (start > other) - (start < other);
}

static void sort(struct places *places)
{
	uint64_t reach = 0;
	size_t i;

	for (i = 0; i < places->meta->objects; i++)
		if (places->place[i].shift)
			places->sorted[places->count++] = &places->place[i];
	qsort(places->sorted, places->count, sizeof(*places->sorted), by_start);
	for (i = 0; i < places->count; i++) {
		if (reach < places->sorted[i]->meta->end)
			reach = places->sorted[i]->meta->end;
		places->reach[i] = reach;
	}
	places->recent = places->sorted[0];
}

static void fill(struct places *places)
{
	uint64_t next = OWN_ADDRESSES;
	size_t i;

	for (i = 0; i < places->meta->objects; i++) {
		struct place *place = &places->place[i];

		place->meta = &places->meta->object[i];
		place->from = place->meta->from;
		place->to = place->meta->to;
		if (!is_shared(places->meta, i))
			continue;
		place->shift = next - place->meta->start;
		/* Page-aligned, as in the file. */
		next += (place->meta->end - place->meta->start + ALIGNMENT) & -ALIGNMENT;
	}
	sort(places);
}

static bool any_shared(const struct meta *meta)
{
	size_t i;

	for (i = 0; i < meta->objects; i++)
		if (is_shared(meta, i))
			return true;
	return false;
}

int places_new(const struct meta *meta, struct places **places)
{
	struct places *made;

	*places = NULL;
	if (!any_shared(meta))
		return 0;
	made = calloc(1, sizeof(*made));
	if (!made)
		return -1;
	made->meta = meta;
	made->place = calloc(meta->objects, sizeof(*made->place));
	made->sorted = calloc(meta->objects, sizeof(*made->sorted));
	made->reach = calloc(meta->objects, sizeof(*made->reach));
	if (!made->place || !made->sorted || !made->reach) {
		places_free(made);
		return -1;
	}
	fill(made);
	*places = made;
	return 0;
}

void places_free(struct places *places)
{
	if (!places)
		return;
	free(places->place);
	free(places->sorted);
	free(places->reach);
	free(places);
}

/* Objects are in the order of loading: a time below the previous one has wrapped. */
void places_wrap(struct places *places, uint64_t ts_mask)
{
	uint64_t laps = 0, before = 0;
	size_t i;

	if (!places || ts_mask == UINT64_MAX)
		return;
	for (i = 0; i < places->meta->objects; i++) {
		const struct meta_object *meta = places->place[i].meta;

		if (meta->from < before)
			laps += ts_mask + 1;
		before = meta->from;
		places->place[i].from = meta->from + laps;
		if (meta->to == UINT64_MAX)
			continue;
		places->place[i].to = meta->to + laps;
		if (meta->to < meta->from)
			places->place[i].to += ts_mask + 1;
	}
}

uint64_t places_shift(const struct places *places, size_t object)
{
	return places ? places->place[object].shift : 0;
}

static bool was_there(const struct place *place, uint64_t address, uint64_t time)
{
	return address >= place->meta->start && address < place->meta->end &&
	       time >= place->from && time <= place->to;
}

/* Number of sorted objects that begin at or before @address. */
static size_t begun(const struct places *places, uint64_t address)
{
	size_t low = 0, high = places->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (places->sorted[middle]->meta->start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t places_find(struct places *places, uint64_t address, const uint64_t *time)
{
	size_t i;

	if (!places || !time)
		return address;
	if (was_there(places->recent, address, *time))
		return address + places->recent->shift;
	for (i = begun(places, address); i-- && places->reach[i] > address;) {
		if (!was_there(places->sorted[i], address, *time))
			continue;
		places->recent = places->sorted[i];
		return address + places->recent->shift;
	}
	return address;
}
