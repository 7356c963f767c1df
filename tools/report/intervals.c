// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Finds what ran between two records of a thread: see intervals.h. */
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "intervals.h"

/* Maximum number of functions in the current interval: of one thread, and of all threads. */
#define RUNNING_MAX		4096
#define RUNNING_ALL_MAX		(1u << 18)

/* A function that ran in a thread's current interval. */
struct running {
	uint32_t	function;
	uint64_t	instructions;
	uint64_t	calls;
};

/**
 * struct current - a thread's current interval
 * @begun:	set if its first record is known
 * @from, @time, @time_known: the start of the interval, and the time of its first record
 * @missing:	set if instructions are missing
 * @running:	the @functions functions that have run; @slot is their hash table
 */
struct current {
	bool		begun;
	uint32_t	from;
	uint64_t	time;
	uint8_t		time_known;
	bool		missing;
	struct running	*running;
	uint32_t	functions;
	uint32_t	room;
	struct hash	hash;
};

struct intervals {
	struct current		**current;	/* current intervals by thread */
	unsigned int		threads;
	struct interval		*row;
	uint32_t		rows;
	struct interval_function *function;
	uint32_t		functions;
	uint32_t		running;	/* total @room of all threads */
	struct hash		by_ends;
	struct hash		by_function;
	bool			no_memory;
};

static uint64_t running_key(const void *running, uint32_t number)
{
	return ((const struct running *)running)[number - 1].function;
}

static uint64_t ends(uint32_t from, uint32_t to)
{
	return (uint64_t)from << 32 | to;
}

static uint64_t row_key(const void *rows, uint32_t number)
{
	const struct interval *row = (const struct interval *)rows + number - 1;

	return ends(row->from, row->to);
}

static uint64_t function_key(const void *functions, uint32_t number)
{
	const struct interval_function *function =
		(const struct interval_function *)functions + number - 1;

	return ends(function->interval, function->function);
}

static bool make_hash(struct hash *hash, uint64_t room)
{
	hash->bits = hash_bits(room);
	hash->slot = calloc(1u << hash->bits, sizeof(*hash->slot));
	return hash->slot;
}

struct intervals *intervals_new(void)
{
	struct intervals *intervals = calloc(1, sizeof(*intervals));

	if (!intervals)
		return NULL;
	if (make_hash(&intervals->by_ends, INTERVALS_MAX) &&
	    make_hash(&intervals->by_function, INTERVALS_FUNCTIONS))
		return intervals;
	intervals_free(intervals);
	return NULL;
}

void intervals_free(struct intervals *intervals)
{
	unsigned int i;

	if (!intervals)
		return;
	for (i = 0; i < intervals->threads; i++) {
		if (!intervals->current[i])
			continue;
		free(intervals->current[i]->running);
		free(intervals->current[i]->hash.slot);
		free(intervals->current[i]);
	}
	free(intervals->current);
	free(intervals->row);
	free(intervals->function);
	free(intervals->by_ends.slot);
	free(intervals->by_function.slot);
	free(intervals);
}

bool intervals_failed(const struct intervals *intervals)
{
	return intervals->no_memory;
}

/* Make room for entry @count of an array that grows by doubling; return NULL if out of memory. */
static void *grow(struct intervals *intervals, void *array, uint32_t count, size_t size)
{
	void *grown;

	if (count && (count < 16 || count & (count - 1)))
		return array;
	grown = realloc(array, (count < 16 ? 16 : 2 * (size_t)count) * size);
	intervals->no_memory |= !grown;
	return grown;
}

/* Return the current interval of a thread, or NULL if out of memory. */
static struct current *current_of(struct intervals *intervals,
				  const struct analysis_thread *thread)
{
	const unsigned int id = thread->thread->id;
	struct current **grown;

	if (id >= intervals->threads) {
		grown = realloc(intervals->current, 2 * (id + 1u) * sizeof(*grown));
		if (!grown) {
			intervals->no_memory = true;
			return NULL;
		}
		memset(grown + intervals->threads, 0,
		       (2 * (id + 1u) - intervals->threads) * sizeof(*grown));
		intervals->current = grown;
		intervals->threads = 2 * (id + 1u);
	}
	if (!intervals->current[id])
		intervals->current[id] = calloc(1, sizeof(**grown));
	intervals->no_memory |= !intervals->current[id];
	return intervals->current[id];
}

/* ---- the current interval ---------------------------------------------- */

/* Return false if the thread has no room for another function. */
static bool more_running(struct intervals *intervals, struct current *current)
{
	const uint32_t room = current->room ? 2 * current->room : 16;
	struct running *grown;
	struct hash hash;

	if (room > RUNNING_MAX || intervals->running + room > RUNNING_ALL_MAX)
		return false;
	grown = realloc(current->running, room * sizeof(*grown));
	if (grown)
		current->running = grown;
	if (!grown || !make_hash(&hash, room)) {
		intervals->no_memory = true;
		return false;
	}
	free(current->hash.slot);
	current->hash = hash;
	hash_fill(&current->hash, 1, current->functions + 1, running_key, grown);
	intervals->running += room - current->room;
	current->room = room;
	return true;
}

/*
 * Return the entry of a function, or the entry that all functions beyond the limit share, or NULL
 * if out of memory.
 */
static struct running *running_of(struct intervals *intervals, struct current *current,
				  uint32_t function)
{
	uint32_t *slot;

	/* One entry is reserved for all functions beyond the limit. */
	if (current->functions + 1 >= current->room && !more_running(intervals, current)) {
		if (!current->room)
			return NULL;
		slot = hash_find(&current->hash, function, running_key, current->running);
		if (!*slot)
			function = FUNCTIONS_OTHER;
	}
	slot = hash_find(&current->hash, function, running_key, current->running);
	if (!*slot) {
		current->running[current->functions] = (struct running){ .function = function };
		*slot = ++current->functions;
	}
	return &current->running[*slot - 1];
}

void intervals_ran(struct intervals *intervals, const struct analysis_thread *thread,
		   uint32_t function, uint64_t instructions)
{
	struct current *current = current_of(intervals, thread);
	struct running *running;

	if (!current || !current->begun)
		return;
	running = running_of(intervals, current, function);
	if (!running) {
		current->missing = true;
		return;
	}
	running->instructions += instructions;
	running->calls += !instructions;
}

void intervals_missing(struct intervals *intervals, const struct analysis_thread *thread)
{
	struct current *current = current_of(intervals, thread);

	if (current)
		current->missing = true;
}

/* ---- the rows ---------------------------------------------------------- */

/*
 * Return the row for the intervals between two ends, or the row that all intervals beyond the limit
 * share, or NULL if out of memory.
 */
static struct interval *row_of(struct intervals *intervals, uint32_t from, uint32_t to)
{
	uint32_t *slot = hash_find(&intervals->by_ends, ends(from, to), row_key, intervals->row);
	struct interval *grown;

	if (!*slot && intervals->rows + 1 >= INTERVALS_MAX) {
		from = INTERVALS_OTHERS;
		to = INTERVALS_OTHERS;
		slot = hash_find(&intervals->by_ends, ends(from, to), row_key, intervals->row);
	}
	if (*slot)
		return &intervals->row[*slot - 1];
	grown = grow(intervals, intervals->row, intervals->rows, sizeof(*grown));
	if (!grown)
		return NULL;
	intervals->row = grown;
	grown[intervals->rows] = (struct interval){ .from = from, .to = to };
	*slot = ++intervals->rows;
	return &grown[*slot - 1];
}

/* Add a function of the current interval to a row. */
static void add_function(struct intervals *intervals, uint32_t interval,
			 const struct running *running)
{
	struct interval_function *grown = intervals->function;
	uint32_t function = running->function;
	uint32_t *slot = hash_find(&intervals->by_function, ends(interval, function),
				   function_key, grown);

	/* Reserve one entry per row, for the row's functions beyond the limit. */
	if (!*slot && intervals->functions + INTERVALS_MAX >= INTERVALS_FUNCTIONS) {
		function = FUNCTIONS_OTHER;
		slot = hash_find(&intervals->by_function, ends(interval, function),
				 function_key, grown);
	}
	if (!*slot) {
		grown = grow(intervals, grown, intervals->functions, sizeof(*grown));
		if (!grown)
			return;
		intervals->function = grown;
		grown[intervals->functions] = (struct interval_function){
			.interval = interval, .function = function };
		*slot = ++intervals->functions;
	}
	grown[*slot - 1].instructions += running->instructions;
	grown[*slot - 1].calls += running->calls;
}

static void add_time(struct interval *row, const struct current *current,
		     const struct perfrec_stamp *to)
{
	if (!current->time_known || !to->time_known || to->time < current->time)
		return;
	row->timed++;
	row->ticks += to->time - current->time;
	row->inferred += current->time_known == TIME_INFERRED ||
			 to->time_known == TIME_INFERRED;
}

static void end(struct intervals *intervals, struct current *current,
		const struct analysis_point *point, uint32_t to)
{
	struct interval *row = row_of(intervals, current->from, to);
	uint64_t counted = point->counted;
	uint32_t interval, i;

	if (!row)
		return;
	interval = (uint32_t)(row - intervals->row);
	row->times++;
	row->moved += point->moved;
	row->lost += point->lost;
	/*
	 * A thread executes instructions before its next record, so if no function has run,
	 * instructions are missing.
	 */
	row->missing += current->missing || !current->functions;
	add_time(row, current, &point->record->begin);
	for (; counted; counted &= counted - 1) {
		i = (unsigned int)__builtin_ctzll(counted);
		row->counted[i]++;
		row->count[i] += point->delta[i];
	}
	for (i = 0; i < current->functions; i++) {
		row->instructions += current->running[i].instructions;
		row->calls += current->running[i].calls;
		add_function(intervals, interval, &current->running[i]);
	}
}

void intervals_point(struct intervals *intervals, const struct analysis_thread *thread,
		     const struct analysis_point *point)
{
	const uint32_t to = INTERVALS_END(point->record->type, point->function);
	struct current *current = current_of(intervals, thread);

	if (!current)
		return;
	if (current->begun && !point->first)
		end(intervals, current, point, to);
	current->begun = true;
	current->from = to;
	current->time = point->record->begin.time;
	current->time_known = point->record->begin.time_known;
	current->missing = false;
	current->functions = 0;
	if (current->hash.slot)
		memset(current->hash.slot, 0, sizeof(*current->hash.slot) << current->hash.bits);
}

const struct interval *intervals_rows(const struct intervals *intervals, size_t *count)
{
	*count = intervals->rows;
	return intervals->row;
}

const struct interval_function *intervals_functions(const struct intervals *intervals,
						    size_t *count)
{
	*count = intervals->functions;
	return intervals->function;
}
