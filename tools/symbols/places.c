// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Finds objects by address and time: see places.h. */
#include <stdlib.h>

#include "laps.h"
#include "places.h"

/* Separate addresses are above all user addresses and below the kernel's. */
#define OWN_ADDRESSES	(1ull << 62)
/* Size of the largest object with separate addresses, and the alignment of these addresses. */
#define OBJECT_MAX	(1ull << 48)
#define ALIGNMENT	(1ull << 16)

/* Number of entries in the cache of writers' processes. */
#define CACHE		64

#define NO_PROCESS	SIZE_MAX

/*
 * The process to which a writer belonged between @from and @to, inclusive; @replaced: the process
 * later executed another program
 */
struct writer {
	struct places_writer	of;
	bool			known;
	uint64_t		from, to;
	int64_t			pid;
	size_t			process;
	bool			replaced;
};

/**
 * struct place - an object with separate addresses
 * @meta:	the object in the side-car file
 * @from, @to:	first and last time at which the object was loaded, unwrapped
 * @shift:	separate address minus address in memory, or 0 if not needed
 */
struct place {
	const struct meta_object	*meta;
	uint64_t			from, to;
	uint64_t			shift;
};

/* The first and last times of a thread or process, unwrapped. */
struct span {
	uint64_t	from, to;
};

/**
 * struct places - all objects
 * @place:	all objects, in the order of the side-car file
 * @thread, @process: times of each thread and process, in the order of the side-car file
 * @sorted:	the @count objects with separate addresses, sorted by start
 * @reach:	for each object in @sorted, the highest end among this object and its predecessors
 * @recent:	the object found by the last search
 * @writer:	cache of the processes of writers, by channel or thread
 */
struct places {
	const struct meta	*meta;
	struct place		*place;
	struct span		*thread;
	struct span		*process;
	struct place		**sorted;
	uint64_t		*reach;
	size_t			count;
	struct place		*recent;
	struct writer		writer[CACHE];
};

static bool is_timed(const struct meta_object *object)
{
	return object->from || object->to != UINT64_MAX;
}

/* Return whether an object was mapped only at certain times or only in certain processes. */
static bool is_limited(const struct meta_object *object)
{
	return is_timed(object) || object->ins;
}

static bool overlap(const struct meta_object *a, const struct meta_object *b)
{
	return a->start < b->end && b->start < a->end;
}

/* Return whether another object had the same addresses, at another time or in another process. */
static bool is_shared(const struct meta *meta, size_t i)
{
	const struct meta_object *object = &meta->object[i];
	size_t j;

	if (!is_limited(object) || object->end - object->start > OBJECT_MAX)
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

/*
 * The objects from one process are in the order of loading. Those from several processes are only
 * roughly in that order.
 */
static void set_times(struct places *places, uint64_t lap)
{
	struct laps objects = { .lap = lap, .slack = places->meta->processes ? lap / 2 : 0 };
	struct laps threads = { .lap = lap, .slack = lap / 2 }, processes = threads;
	const struct meta *meta = places->meta;
	size_t i;

	for (i = 0; i < meta->objects; i++) {
		places->place[i].from = meta->object[i].from;
		places->place[i].to = meta->object[i].to;
		laps_unwrap(&objects, &places->place[i].from, &places->place[i].to);
	}
	for (i = 0; i < meta->threads; i++) {
		places->thread[i] = (struct span){ meta->thread[i].from, meta->thread[i].to };
		laps_unwrap(&threads, &places->thread[i].from, &places->thread[i].to);
	}
	for (i = 0; i < meta->processes; i++) {
		places->process[i] = (struct span){ meta->process[i].from, meta->process[i].to };
		laps_unwrap(&processes, &places->process[i].from, &places->process[i].to);
	}
}

static void fill(struct places *places)
{
	uint64_t next = OWN_ADDRESSES;
	size_t i;

	for (i = 0; i < places->meta->objects; i++) {
		struct place *place = &places->place[i];

		place->meta = &places->meta->object[i];
		if (!is_shared(places->meta, i) && !(places->meta->lists && is_limited(place->meta)))
			continue;
		place->shift = next - place->meta->start;
		/* Keep @next aligned, so addresses keep their offset within a page. */
		next += (place->meta->end - place->meta->start + ALIGNMENT) & -ALIGNMENT;
	}
	set_times(places, 0);
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
	if (!any_shared(meta) && !meta->lists)
		return 0;
	made = calloc(1, sizeof(*made));
	if (!made)
		return -1;
	made->meta = meta;
	made->place = calloc(meta->objects + 1, sizeof(*made->place));
	made->thread = calloc(meta->threads + 1, sizeof(*made->thread));
	made->process = calloc(meta->processes + 1, sizeof(*made->process));
	made->sorted = calloc(meta->objects + 1, sizeof(*made->sorted));
	made->reach = calloc(meta->objects + 1, sizeof(*made->reach));
	if (!made->place || !made->thread || !made->process || !made->sorted || !made->reach) {
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
	free(places->thread);
	free(places->process);
	free(places->sorted);
	free(places->reach);
	free(places);
}

void places_wrap(struct places *places, uint64_t ts_mask)
{
	if (places && ts_mask != UINT64_MAX)
		set_times(places, ts_mask + 1);
}

uint64_t places_shift(const struct places *places, size_t object)
{
	return places ? places->place[object].shift : 0;
}

/* ---- processes -------------------------------------------------------------- */

static bool is_one(const struct places_writer *a, const struct places_writer *b)
{
	return a->named == b->named && (a->named ? a->thread == b->thread :
						   a->channel == b->channel);
}

static bool is_within(uint64_t time, uint64_t from, uint64_t to)
{
	return time >= from && time <= to;
}

/*
 * Return the id of a writer's process, or -1 if unknown, and narrow the time range in which the id
 * is valid.
 */
static int64_t find_pid(const struct places *places, uint64_t time, struct writer *writer)
{
	const struct meta *meta = places->meta;
	const struct span *found = NULL;
	size_t i;

	for (i = 0; i < meta->threads; i++) {
		const struct meta_thread *thread = &meta->thread[i];
		const struct span *span = &places->thread[i];

		if (writer->of.named ? thread->tid != writer->of.thread :
		    thread->named || thread->channel != (int)writer->of.channel)
			continue;
		if (is_within(time, span->from, span->to) &&
		    (!found || span->from >= found->from))
			found = span;
		else if (span->from > time && span->from <= writer->to)
			writer->to = span->from - 1;
		else if (span->to < time && span->to >= writer->from)
			writer->from = span->to + 1;
	}
	if (!found)
		return writer->of.named ? (int64_t)writer->of.thread : -1;
	writer->from = found->from;
	if (found->to < writer->to)
		writer->to = found->to;
	return meta->thread[found - places->thread].pid;
}

/* Find the entry for the program that the writer's process was executing at a time. */
static void find_process(const struct places *places, uint64_t time, struct writer *writer)
{
	const struct meta *meta = places->meta;
	size_t i;

	writer->pid = find_pid(places, time, writer);
	for (i = 0; writer->pid >= 0 && i < meta->processes; i++) {
		const struct span *process = &places->process[i];

		if (meta->process[i].pid != writer->pid)
			continue;
		writer->replaced = writer->process != NO_PROCESS;
		/* A process can write records shortly before it saves its start time. */
		if (process->from <= time || writer->process == NO_PROCESS) {
			writer->process = i;
			writer->replaced = false;
			if (process->from <= time && process->from > writer->from)
				writer->from = process->from;
		} else if (process->from <= writer->to) {
			writer->to = process->from - 1;
		}
	}
}

/* Return a writer's process, from the cache if possible. */
static const struct writer *find_writer(struct places *places, uint64_t time,
					const struct places_writer *of)
{
	struct writer *writer = &places->writer[(of->named ? of->thread : of->channel) % CACHE];

	if (!writer->known || !is_one(&writer->of, of) ||
	    !is_within(time, writer->from, writer->to)) {
		*writer = (struct writer){
			.of = *of, .known = true, .to = UINT64_MAX, .process = NO_PROCESS,
		};
		find_process(places, time, writer);
	}
	return writer;
}

/* Return the index of a writer's process, or NO_PROCESS if unknown. */
static size_t process_of(struct places *places, uint64_t time, const struct places_writer *of)
{
	return of && places->meta->processes ? find_writer(places, time, of)->process : NO_PROCESS;
}

int64_t places_process(struct places *places, const uint64_t *time,
		       const struct places_writer *of, bool *replaced)
{
	const struct writer *writer = time && of ? find_writer(places, *time, of) : NULL;

	*replaced = writer && writer->replaced;
	if (!writer || (places->meta->processes && writer->process == NO_PROCESS))
		return -1;
	return writer->pid;
}

bool places_program(const struct places *places, int64_t pid, uint64_t time, uint64_t *since)
{
	bool known = false, runs = false;
	size_t i;

	*since = 0;
	for (i = 0; i < places->meta->processes; i++) {
		const struct span *process = &places->process[i];

		if (places->meta->process[i].pid != pid)
			continue;
		if (known && process->from <= time)
			*since = process->from;
		if (!known || process->from <= time)
			runs = process->to >= time;
		known = true;
	}
	return runs || !known;
}

static bool has_process(const struct meta *meta, const struct meta_object *object,
			size_t process)
{
	size_t i;

	for (i = 0; i < object->ins; i++)
		if (meta->in[object->in + i] == process)
			return true;
	return !object->ins;
}

static bool was_there(const struct meta *meta, const struct place *place, uint64_t address,
		      uint64_t time, size_t process)
{
	return address >= place->meta->start && address < place->meta->end &&
	       is_within(time, place->from, place->to) &&
	       (process == NO_PROCESS || has_process(meta, place->meta, process));
}

/* Return the number of sorted objects that begin at or before @address. */
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

uint64_t places_find(struct places *places, uint64_t address, const uint64_t *time,
		     const struct places_writer *writer)
{
	struct place *found = NULL;
	size_t i, process;

	if (!places || !places->count || !time)
		return address;
	process = process_of(places, *time, writer);
	if ((process != NO_PROCESS || !places->meta->processes) &&
	    was_there(places->meta, places->recent, address, *time, process))
		return address + places->recent->shift;
	for (i = begun(places, address); i-- && places->reach[i] > address;) {
		if (!was_there(places->meta, places->sorted[i], address, *time, process))
			continue;
		/*
		 * If the process is unknown and several objects match, the object is also unknown.
		 */
		if (found && process == NO_PROCESS && places->meta->processes)
			return address;
		found = places->sorted[i];
		if (process != NO_PROCESS || !places->meta->processes)
			break;
	}
	if (!found)
		return address;
	places->recent = found;
	return address + found->shift;
}
