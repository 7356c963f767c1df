// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See paths.h. */
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "paths.h"

#define NONE	UINT32_MAX

/* ---- blocks ------------------------------------------------------------ */

/*
 * An address at which blocks begin or end. @begin: executions of runs that begin at this address,
 * minus executions of runs that end there.
 */
struct cut {
	uint64_t	address;
	uint64_t	begin;
	const struct executed_run *run;		/* a run that begins at @address */
};

static int by_address(const void *a, const void *b)
{
	const struct cut *one = a, *two = b;

	return compare_numbers(one->address, two->address);
}

static uint64_t run_end(const struct executed_run *run)
{
	return run->start + 2 * (uint64_t)run->of.to;
}

/* Return the number of cuts; several cuts may have the same address. */
static size_t make_cuts(const struct executed *executed, struct cut *cut)
{
	const struct executed_run *run;
	size_t count = 0, i;

	for (i = 0; i < executed->runs; i++) {
		run = &executed->run[i];
		/* In a damaged file, a run may extend beyond the end of the address space. */
		if (run_end(run) < run->start)
			continue;
		cut[count++] = (struct cut){
			.address = run->start + 2 * (uint64_t)run->of.from,
			.begin = run->of.times, .run = run };
		cut[count++] = (struct cut){ .address = run_end(run), .begin = -run->of.times };
	}
	for (i = 0; i < executed->links; i++)
		cut[count++] = (struct cut){ .address = executed->from[i].to };
	if (count)
		qsort(cut, count, sizeof(*cut), by_address);
	return count;
}

/* Find the instructions of a block within @run. */
static void read_block(struct paths_block *block, const struct executed_run *run)
{
	uint32_t at = (uint32_t)((block->start - run->start) / 2);
	struct instruction last = { .kind = FLOW_NEXT };
	uint32_t length;

	while (at < run->of.to && run->start + 2 * (uint64_t)at < block->end) {
		length = block_length(run->of.block, at);
		block->last = run->start + 2 * (uint64_t)at;
		block->instructions++;
		if (at + length == run->of.block->halfwords)
			last.kind = run->of.block->kind;
		at += length;
	}
	block->kind = last.kind;
}

static uint64_t function_of(struct symbols *symbols, uint64_t address)
{
	struct symbol symbol;

	return symbols_find(symbols, address, &symbol) ? symbol.start :
	       symbol.object ? address - symbol.offset : 0;
}

/* All code between two cuts was executed the same number of times. */
static void make_blocks(struct paths *paths, const struct cut *cut, size_t cuts,
			struct symbols *symbols)
{
	const struct executed_run *furthest = NULL;
	struct paths_block *block;
	uint64_t times = 0;
	size_t i;

	for (i = 0; i < cuts; i++) {
		times += cut[i].begin;
		if (cut[i].run && (!furthest || run_end(cut[i].run) > run_end(furthest)))
			furthest = cut[i].run;
		if (i + 1 == cuts || cut[i + 1].address == cut[i].address || !times)
			continue;
		block = &paths->block[paths->blocks++];
		*block = (struct paths_block){
			.start = cut[i].address, .end = cut[i + 1].address, .times = times,
			.function = function_of(symbols, cut[i].address),
		};
		read_block(block, furthest);
		paths->executed += times * block->instructions;
	}
}

/* ---- transitions between blocks ------------------------------------------------- */

/* Return the block that contains an address, or NONE. */
static uint32_t find_block(const struct paths *paths, uint64_t address)
{
	size_t low = 0, high = paths->blocks, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (paths->block[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < paths->blocks && paths->block[low].start <= address ? (uint32_t)low : NONE;
}

/*
 * Return how often @to follows @from without a branch: after a call, or within a single run.
 */
static uint64_t plain_times(const struct paths_block *from, const struct paths_block *to)
{
	if (from->end != to->start || (from->kind != FLOW_NEXT && from->kind != FLOW_CALL &&
	    from->kind != FLOW_INDIRECT_CALL && from->kind != FLOW_TRAP))
		return 0;
	return from->times < to->times ? from->times : to->times;
}

/*
 * Return whether a transition stays within a call to a function. Calls and returns do not, even if
 * they lead to the same function.
 */
static bool is_inside(const struct executed_link *link)
{
	return link->kind == FLOW_BRANCH || link->kind == FLOW_JUMP ||
	       link->kind == FLOW_INDIRECT_JUMP;
}

/* A transition from or to a block: the other block, and how often the transition occurred. */
struct way {
	uint32_t	other;
	uint64_t	times;
};

static void choose(const struct paths *paths, struct way *best, uint32_t block, uint32_t other,
		   uint64_t times)
{
	if (other != NONE && times > best->times &&
	    paths->block[other].function == paths->block[block].function)
		*best = (struct way){ other, times };
}

static struct way way_on(const struct paths *paths, const struct executed *executed,
			 uint32_t number)
{
	const struct paths_block *block = &paths->block[number];
	struct way best = { NONE, 0 };
	size_t i = executed_from(executed, block->last);

	for (; i < executed->links && executed->from[i].from == block->last; i++)
		if (is_inside(&executed->from[i]))
			choose(paths, &best, number, find_block(paths, executed->from[i].to),
			       executed->from[i].times);
	if (number + 1 < paths->blocks)
		choose(paths, &best, number, number + 1,
		       plain_times(block, block + 1));
	return best;
}

static struct way way_back(const struct paths *paths, const struct executed *executed,
			   uint32_t number)
{
	const struct paths_block *block = &paths->block[number];
	struct way best = { NONE, 0 };
	size_t i = executed_to(executed, block->start);
	uint32_t other;

	for (; i < executed->links && executed->to[i].to == block->start; i++) {
		other = find_block(paths, executed->to[i].from);
		if (is_inside(&executed->to[i]) && other != NONE &&
		    paths->block[other].last == executed->to[i].from)
			choose(paths, &best, number, other, executed->to[i].times);
	}
	if (number)
		choose(paths, &best, number, number - 1,
		       plain_times(block - 1, block));
	return best;
}

/* Return how often @to follows @from. */
static uint64_t times_between(const struct paths *paths, const struct executed *executed,
			      uint32_t from, uint32_t to)
{
	const struct paths_block *one = &paths->block[from], *two = &paths->block[to];
	size_t i = executed_from(executed, one->last);

	for (; i < executed->links && executed->from[i].from == one->last; i++)
		if (is_inside(&executed->from[i]) && executed->from[i].to == two->start)
			return executed->from[i].times;
	return plain_times(one, two);
}

/* ---- paths ------------------------------------------------------------- */

struct maker {
	struct paths		*paths;
	const struct executed	*executed;
	uint32_t		*behind;	/* by block: the next block in its path */
};

/*
 * Return whether a path continues with a block: the block is not in a path yet, and the transition
 * accounts for at least half of the executions of each of the two blocks.
 */
static bool is_mostly(const struct paths *paths, uint32_t block, const struct way *way)
{
	const struct paths_block *other;

	if (way->other == NONE)
		return false;
	other = &paths->block[way->other];
	return !other->path && 2 * way->times >= paths->block[block].times &&
	       2 * way->times >= other->times;
}

static uint64_t cost_of(const struct paths_block *block)
{
	return block->times * block->instructions;
}

static void add_block(struct paths *paths, struct path *path, uint32_t number, uint32_t *at)
{
	const struct paths_block *block = &paths->block[number];

	*at = number;
	path->blocks++;
	path->executed += cost_of(block);
	path->instructions += block->instructions;
}

/*
 * Return a loop's first block: the target of its backward branch, which need not be the hottest
 * block.
 */
static uint32_t turn(struct maker *maker, uint32_t first)
{
	const struct paths *paths = maker->paths;
	uint32_t last = first, lowest = first, before = NONE, next;
	uint64_t times;

	for (next = maker->behind[first]; next != NONE; next = maker->behind[next]) {
		if (next < lowest) {
			lowest = next;
			before = last;
		}
		last = next;
	}
	times = times_between(paths, maker->executed, last, first);
	if (before == NONE || 2 * times < paths->block[last].times ||
	    2 * times < paths->block[first].times)
		return first;
	maker->behind[last] = first;
	maker->behind[before] = NONE;
	return lowest;
}

static uint64_t less(uint64_t one, uint64_t two)
{
	return one > two ? one - two : 0;
}

/*
 * Count the entries into a loop: the executions of its first block that did not follow a block of
 * the loop, or the exits from the loop if these are more numerous, because each entry has an exit.
 * A loop that tests its condition first is entered by a jump to the condition, past the path's
 * first block. Only its exits can be counted.
 */
static void count_entries(const struct maker *maker, struct path *path)
{
	const struct paths_block *block = maker->paths->block;
	uint64_t times, left = 0;
	size_t i;

	for (i = 0; i < path->blocks; i++) {
		times = times_between(maker->paths, maker->executed, path->block[i],
				      path->block[0]);
		path->again += times;
		if (times)
			left = less(block[path->block[i]].times, times);
	}
	path->entered = less(block[path->block[0]].times, path->again);
	if (path->entered < left)
		path->entered = left;
}

/* Append the blocks of the path through a block to @order. */
static void make_path(struct maker *maker, uint32_t hottest, uint32_t *order)
{
	struct paths *paths = maker->paths;
	struct path *path = &paths->path[paths->count++];
	uint32_t first = hottest, block;
	struct way way;

	*path = (struct path){ .block = order, .hottest = hottest };
	paths->block[hottest].path = (uint32_t)paths->count;
	for (block = hottest;; block = way.other) {
		way = way_on(paths, maker->executed, block);
		maker->behind[block] = NONE;
		if (!is_mostly(paths, block, &way))
			break;
		maker->behind[block] = way.other;
		paths->block[way.other].path = (uint32_t)paths->count;
	}
	for (;; first = way.other) {
		way = way_back(paths, maker->executed, first);
		if (!is_mostly(paths, first, &way))
			break;
		maker->behind[way.other] = first;
		paths->block[way.other].path = (uint32_t)paths->count;
	}
	first = turn(maker, first);
	for (block = first; block != NONE; block = maker->behind[block])
		add_block(paths, path, block, order++);
	count_entries(maker, path);
}

/* A block at which a path may begin. */
struct seed {
	uint64_t	cost;
	uint32_t	block;
};

static int by_cost(const void *a, const void *b)
{
	const struct seed *one = a, *two = b;
	const int result = compare_numbers(two->cost, one->cost);

	return result ? result : compare_numbers(one->block, two->block);
}

static int by_executed(const void *a, const void *b)
{
	const struct path *one = a, *two = b;
	const int result = compare_numbers(two->executed, one->executed);

	return result ? result : compare_numbers(one->hottest, two->hottest);
}

static void make_paths(struct maker *maker, struct seed *seed)
{
	struct paths *paths = maker->paths;
	uint32_t *order = paths->order;
	size_t i;

	for (i = 0; i < paths->blocks; i++)
		seed[i] = (struct seed){ cost_of(&paths->block[i]), (uint32_t)i };
	if (paths->blocks)
		qsort(seed, paths->blocks, sizeof(*seed), by_cost);
	for (i = 0; i < paths->blocks; i++) {
		if (paths->block[seed[i].block].path)
			continue;
		make_path(maker, seed[i].block, order);
		order += paths->path[paths->count - 1].blocks;
	}
	if (paths->count)
		qsort(paths->path, paths->count, sizeof(*paths->path), by_executed);
}

int paths_make(struct paths *paths, const struct executed *executed, struct symbols *symbols)
{
	const size_t most = 2 * executed->runs + executed->links + 1;
	struct cut *cut = malloc(most * sizeof(*cut));
	struct maker maker = { paths, executed, NULL };
	struct seed *seed = NULL;
	int result = -1;

	memset(paths, 0, sizeof(*paths));
	paths->block = malloc(most * sizeof(*paths->block));
	if (cut && paths->block) {
		make_blocks(paths, cut, make_cuts(executed, cut), symbols);
		paths->path = malloc((paths->blocks + 1) * sizeof(*paths->path));
		paths->order = malloc((paths->blocks + 1) * sizeof(*paths->order));
		maker.behind = malloc((paths->blocks + 1) * sizeof(*maker.behind));
		seed = malloc((paths->blocks + 1) * sizeof(*seed));
	}
	if (paths->path && paths->order && maker.behind && seed) {
		make_paths(&maker, seed);
		result = 0;
	}
	free(cut);
	free(maker.behind);
	free(seed);
	return result;
}

void paths_free(struct paths *paths)
{
	free(paths->block);
	free(paths->path);
	free(paths->order);
}
