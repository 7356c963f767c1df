// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Sorts counts by address: see executed.h. */
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "executed.h"
#include "image.h"

/* Length of the longest block in bytes. */
#define BLOCK_BYTES	(CODE_INSTRUCTIONS_MAX * 8)
#define ROOM		256

/* Grow @array, if it is full, for one more element. */
static bool reserve(struct executed *executed, void *array, size_t count, size_t *room,
		    size_t size)
{
	void *list, *grown;
	size_t more = *room ? 2 * *room : ROOM;

	if (count < *room)
		return true;
	memcpy(&list, array, sizeof(list));
	grown = realloc(list, more * size);
	if (!grown) {
		executed->no_memory = true;
		return false;
	}
	memcpy(array, &grown, sizeof(grown));
	*room = more;
	return true;
}

/*
 * One mapping of a file. Adding @shift to an address in this mapping yields the address in the
 * file's first mapping.
 */
struct executed_alias {
	struct image	*image;
	uint64_t	shift;
};

static uint64_t first_bias(struct executed *executed, struct image *image, uint64_t bias)
{
	const char *path = image_path(image);
	size_t i;

	for (i = 0; i < executed->objects; i++)
		if (!strcmp(image_path(executed->object[i].image), path))
			return executed->object[i].bias;
	if (reserve(executed, &executed->object, executed->objects, &executed->object_room,
		    sizeof(*executed->object)))
		executed->object[executed->objects++] =
			(struct executed_object){ .image = image, .bias = bias };
	return bias;
}

uint64_t executed_place(struct executed *executed, uint64_t address)
{
	struct executed_alias *alias;
	struct image *image;
	uint64_t bias = 0;
	size_t i;

	address = symbols_same(executed->symbols, address);
	image = symbols_image(executed->symbols, address, &bias);
	if (!image)
		return address;
	for (i = executed->aliases; i--; )
		if (executed->alias[i].image == image)
			return address + executed->alias[i].shift;
	if (!reserve(executed, &executed->alias, executed->aliases, &executed->alias_room,
		     sizeof(*executed->alias)))
		return address;
	alias = &executed->alias[executed->aliases++];
	alias->image = image;
	alias->shift = first_bias(executed, image, bias) - bias;
	return address + alias->shift;
}

static void add_run(void *context, const struct counts_run *run)
{
	struct executed *executed = context;

	if (reserve(executed, &executed->run, executed->runs, &executed->run_room,
		    sizeof(*executed->run)))
		executed->run[executed->runs++] = (struct executed_run){
			.start = executed_place(executed, run->block->place), .of = *run };
}

static void add_link(void *context, const struct counts_link *link)
{
	const struct block *block = link->block;
	const uint64_t last = block->place + 2 * (uint64_t)(block->halfwords - block->last);
	struct executed *executed = context;

	if (reserve(executed, &executed->from, executed->links, &executed->link_room,
		    sizeof(*executed->from)))
		executed->from[executed->links++] = (struct executed_link){
			.from = executed_place(executed, last),
			.to = executed_place(executed, link->to),
			.next = link->next, .kind = block->kind, .times = link->times };
}

static int by_start(const void *a, const void *b)
{
	const struct executed_run *one = a, *two = b;
	int result = compare_numbers(one->start, two->start);

	if (!result)
		result = compare_numbers(one->of.from, two->of.from);
	return result ? result : compare_numbers(one->of.to, two->of.to);
}

static int by_to(const void *a, const void *b)
{
	const struct executed_link *one = a, *two = b;
	int result = compare_numbers(one->to, two->to);

	return result ? result : compare_numbers(one->from, two->from);
}

static int by_from(const void *a, const void *b)
{
	const struct executed_link *one = a, *two = b;
	int result = compare_numbers(one->from, two->from);

	return result ? result : compare_numbers(one->to, two->to);
}

/* Overlapping blocks end with the same instruction, so their links may be the same. */
static void merge_links(struct executed *executed)
{
	struct executed_link *link = executed->from;
	size_t kept = 0, i;

	for (i = 1; i < executed->links; i++)
		if (link[i].from == link[kept].from && link[i].to == link[kept].to)
			link[kept].times += link[i].times;
		else
			link[++kept] = link[i];
	executed->links = kept + 1;
}

int executed_make(struct executed *executed, const struct counts *counts,
		  struct symbols *symbols)
{
	memset(executed, 0, sizeof(*executed));
	executed->symbols = symbols;
	counts_runs(counts, add_run, executed);
	counts_links(counts, add_link, executed);
	executed->to = malloc((executed->links + 1) * sizeof(*executed->to));
	if (executed->no_memory || !executed->to)
		return -1;
	if (executed->runs)
		qsort(executed->run, executed->runs, sizeof(*executed->run), by_start);
	if (!executed->links)
		return 0;
	qsort(executed->from, executed->links, sizeof(*executed->from), by_from);
	merge_links(executed);
	memcpy(executed->to, executed->from, executed->links * sizeof(*executed->to));
	qsort(executed->to, executed->links, sizeof(*executed->to), by_to);
	return 0;
}

void executed_free(struct executed *executed)
{
	free(executed->run);
	free(executed->to);
	free(executed->from);
	free(executed->object);
	free(executed->alias);
}

/*
 * Return the first of @count entries whose address is at least @address. An entry has @size bytes,
 * and its address is at @offset.
 */
static size_t first_at(const void *array, size_t count, size_t size, size_t offset,
		       uint64_t address)
{
	size_t low = 0, high = count, middle;
	uint64_t at;

	while (low < high) {
		middle = low + (high - low) / 2;
		memcpy(&at, (const char *)array + middle * size + offset, sizeof(at));
		if (at < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t executed_to(const struct executed *executed, uint64_t address)
{
	return first_at(executed->to, executed->links, sizeof(*executed->to),
			offsetof(struct executed_link, to), address);
}

size_t executed_from(const struct executed *executed, uint64_t address)
{
	return first_at(executed->from, executed->links, sizeof(*executed->from),
			offsetof(struct executed_link, from), address);
}

void executed_times(const struct executed *executed, uint64_t start, size_t halfwords,
		    uint64_t *times)
{
	const uint64_t from = start > BLOCK_BYTES ? start - BLOCK_BYTES : 0;
	const struct executed_run *run;
	uint64_t index;
	uint32_t at;
	size_t i;

	i = first_at(executed->run, executed->runs, sizeof(*executed->run),
		     offsetof(struct executed_run, start), from);
	for (; i < executed->runs && executed->run[i].start < start + 2 * halfwords; i++) {
		run = &executed->run[i];
		for (at = run->of.from; at < run->of.to; at += block_length(run->of.block, at)) {
			index = (run->start + 2 * at - start) / 2;
			if (run->start + 2 * at >= start && index < halfwords)
				times[index] += run->of.times;
		}
	}
}
