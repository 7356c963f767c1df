// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Keeps the tree's nodes in a hash table by caller and function: see tree.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "tree.h"

/* Memory that pruning needs per node, in bytes. */
#define PRUNING_BYTES	(2 * sizeof(uint32_t))

static uint64_t key(uint32_t parent, uint32_t function)
{
	return (uint64_t)parent << 32 | function;
}

static uint64_t key_of(const void *nodes, uint32_t number)
{
	const struct tree_node *node = (const struct tree_node *)nodes + number;

	return key(node->parent, node->function);
}

static uint32_t *find_slot(struct tree *tree, uint32_t parent, uint32_t function)
{
	return hash_find(&tree->costs.hash, key(parent, function), key_of, tree->node);
}

/* The root is not in the hash table, so it needs no slot. */
static void fill_slots(struct tree *tree)
{
	hash_fill(&tree->costs.hash, 1, tree->nodes, key_of, tree->node);
}

static bool resize(struct tree *tree, uint32_t room, unsigned int stride)
{
	struct tree_node *nodes;

	if (costs_bytes(sizeof(*nodes) + PRUNING_BYTES, room, stride) > TREE_BYTES)
		return false;
	nodes = costs_resize(&tree->costs, tree->node, sizeof(*nodes), tree->nodes, room,
			     stride);
	if (!nodes)
		return false;
	tree->node = nodes;
	fill_slots(tree);
	return true;
}

int tree_init(struct tree *tree, bool by_thread)
{
	memset(tree, 0, sizeof(*tree));
	tree->by_thread = by_thread;
	if (!resize(tree, 64, 4)) {
		report("out of memory");
		return -1;
	}
	memset(tree->node, 0, sizeof(*tree->node));
	tree->nodes = 1;
	return 0;
}

void tree_free(struct tree *tree)
{
	free(tree->node);
	costs_free(&tree->costs);
}

/* ---- the lightest subtrees become "(others)" ---------------------------- */

/* For a call without a node, frame->user is the caller's node plus NO_NODE. */
#define NO_NODE		(1ull << 32)

/* Threads and the root are not calls. */
static bool is_call(const struct tree *tree, uint32_t node)
{
	return node != TREE_ROOT &&
	       !(tree->by_thread && tree->node[node].parent == TREE_ROOT);
}

/* Mark the nodes to keep as live: node @keep, the nodes of open calls, and their ancestors. */
static void mark_live(struct tree *tree, uint32_t keep)
{
	struct threads *threads = analysis_threads(tree->analysis);
	const struct analysis_thread *thread;
	unsigned int t, i;
	uint32_t node;

	for (node = 0; node < tree->nodes; node++)
		tree->node[node].live = !is_call(tree, node);
	for (t = 0; t < threads_count(threads); t++) {
		thread = threads_get(threads, t)->state;
		/* The innermost call may not have a node. */
		for (i = 0; thread && i < thread->depth; i++)
			if ((uint32_t)thread->frame[i].user < tree->nodes)
				tree->node[(uint32_t)thread->frame[i].user].live = true;
	}
	tree->node[keep].live = true;
	for (node = tree->nodes - 1; node; node--)
		if (tree->node[node].live)
			tree->node[tree->node[node].parent].live = true;
}

/* Add up the weight of each subtree; callers precede the functions that they call. */
static void weigh_subtrees(struct tree *tree)
{
	uint32_t node;

	for (node = 0; node < tree->nodes; node++)
		tree->weight[node] = tree->node[node].self +
				     tree->node[node].calls +
				     tree->node[node].samples;
	for (node = tree->nodes - 1; node; node--)
		tree->weight[tree->node[node].parent] += tree->weight[node];
}

/*
 * Return the weight that at most a third of the nodes exceed. The weight is determined one byte at
 * a time, beginning with the most significant byte.
 */
static uint64_t least_weight(const struct tree *tree)
{
	uint32_t lower = tree->nodes - tree->nodes / 3, node, byte, count[256];
	uint64_t least = 0, known = 0;
	unsigned int shift = 64;

	while (shift) {
		shift -= 8;
		memset(count, 0, sizeof(count));
		for (node = 0; node < tree->nodes; node++)
			if ((tree->weight[node] & known) == least)
				count[tree->weight[node] >> shift & 0xff]++;
		for (byte = 0; lower >= count[byte]; byte++)
			lower -= count[byte];
		least |= (uint64_t)byte << shift;
		known |= 0xffull << shift;
	}
	return least;
}

static void add_counts(struct tree *tree, uint32_t to, uint32_t from, bool total)
{
	uint64_t *sum = costs_of(&tree->costs, to);
	const uint64_t *add = costs_of(&tree->costs, from);
	unsigned int c;

	for (c = total ? 0 : tree->costs.stride; c < 2 * tree->costs.stride; c++)
		sum[c] += add[c];
}

/* Add a node's costs to its caller or, if @beside is set, to a sibling. */
static void fold(struct tree *tree, uint32_t to, uint32_t from, bool beside)
{
	struct tree_node *sum = &tree->node[to];
	const struct tree_node *node = &tree->node[from];

	sum->calls += node->calls;
	sum->samples += node->samples;
	sum->self += node->self;
	sum->untimed |= node->untimed;
	sum->inferred |= node->inferred;
	sum->self_inferred |= node->self_inferred;
	sum->partial |= node->partial;
	if (beside)
		sum->total += node->total;
	add_counts(tree, to, from, beside);
}

/**
 * struct pruning - which nodes to keep
 * @least:	nodes of at most this weight are merged, unless they are live
 * @map:	the new index of a node, or TREE_NONE
 * @others:	the child "(others)" of each node
 */
struct pruning {
	struct tree	*tree;
	uint64_t	least;
	uint32_t	*map;
	uint32_t	*others;
};

static bool is_light(const struct pruning *pruning, uint32_t node)
{
	return !pruning->tree->node[node].live &&
	       pruning->tree->weight[node] <= pruning->least;
}

/* Merge the light subtrees of each node into the first one, "(others)". */
static void fold_light(struct pruning *pruning)
{
	struct tree *tree = pruning->tree;
	uint32_t *others = pruning->others, node, parent;

	for (node = tree->nodes - 1; node; node--) {
		parent = tree->node[node].parent;
		if (is_light(pruning, node) && is_light(pruning, parent)) {
			fold(tree, parent, node, false);
			pruning->map[node] = TREE_NONE;
		} else if (!is_light(pruning, node) && is_call(tree, node) &&
			   tree->node[node].function == FUNCTIONS_OTHER) {
			others[parent] = node;
		}
	}
	for (node = 1; node < tree->nodes; node++) {
		parent = tree->node[node].parent;
		if (pruning->map[node] == TREE_NONE || !is_light(pruning, node))
			continue;
		if (others[parent]) {
			fold(tree, others[parent], node, true);
			pruning->map[node] = TREE_NONE;
		} else {
			others[parent] = node;
			tree->node[node].function = FUNCTIONS_OTHER;
		}
	}
}

/* Close the gaps; callers continue to precede the functions that they call. */
static void compact(struct pruning *pruning)
{
	struct tree *tree = pruning->tree;
	uint32_t node, kept = 1;

	for (node = 1; node < tree->nodes; node++) {
		if (pruning->map[node] == TREE_NONE)
			continue;
		pruning->map[node] = kept;
		tree->node[kept] = tree->node[node];
		tree->node[kept].parent = pruning->map[tree->node[node].parent];
		memmove(costs_of(&tree->costs, kept),
			costs_of(&tree->costs, node),
			2 * tree->costs.stride * sizeof(*tree->costs.count));
		kept++;
	}
	memset(costs_of(&tree->costs, kept), 0,
	       (tree->nodes - kept) * 2 * tree->costs.stride * sizeof(*tree->costs.count));
	tree->nodes = kept;
	fill_slots(tree);
}

static void move_frames(const struct pruning *pruning)
{
	struct threads *threads = analysis_threads(pruning->tree->analysis);
	const struct analysis_thread *thread;
	unsigned int t, i;
	uint64_t *user;

	for (t = 0; t < threads_count(threads); t++) {
		thread = threads_get(threads, t)->state;
		for (i = 0; thread && i < thread->depth; i++) {
			user = &thread->frame[i].user;
			*user = (*user & NO_NODE) | pruning->map[(uint32_t)*user];
		}
	}
}

/* Free nodes other than @keep, and return the new index of @keep. */
static uint32_t prune(struct tree *tree, uint32_t keep)
{
	struct pruning pruning = { .tree = tree };

	tree->full = true;
	if (tree->stuck)
		return keep;
	tree->weight = calloc(tree->nodes, sizeof(*tree->weight));
	pruning.map = calloc(tree->nodes, sizeof(*pruning.map));
	pruning.others = calloc(tree->nodes, sizeof(*pruning.others));
	if (tree->weight && pruning.map && pruning.others) {
		mark_live(tree, keep);
		weigh_subtrees(tree);
		pruning.least = least_weight(tree);
		fold_light(&pruning);
		compact(&pruning);
		move_frames(&pruning);
		keep = pruning.map[keep];
	}
	/* Most remaining nodes are open calls, so pruning again would not free any memory. */
	tree->stuck = tree->nodes > tree->costs.room / 4 * 3;
	free(tree->weight);
	free(pruning.map);
	free(pruning.others);
	return keep;
}

/* ---- calls ------------------------------------------------------------- */

/* Return the node, or @parent plus NO_NODE if no node is free. */
static uint64_t child(struct tree *tree, uint32_t parent, uint32_t function)
{
	unsigned int wanted = analysis_counters(tree->analysis)->count;
	struct tree_node *node;
	uint32_t *slot;

	if (wanted > tree->costs.stride)
		tree->full |= !resize(tree, tree->costs.room, (wanted + 3) & ~3u);
	slot = find_slot(tree, parent, function);
	if (*slot)
		return *slot;
	if (tree->nodes == tree->costs.room) {
		if (!resize(tree, 2 * tree->costs.room, tree->costs.stride))
			parent = prune(tree, parent);
		if (tree->nodes == tree->costs.room)
			return parent | NO_NODE;
		slot = find_slot(tree, parent, function);
	}
	node = &tree->node[tree->nodes];
	memset(node, 0, sizeof(*node));
	node->function = function;
	node->parent = parent;
	node->depth = parent == TREE_ROOT ? 0 : tree->node[parent].depth + 1;
	*slot = tree->nodes;
	return tree->nodes++;
}

static uint32_t around(struct tree *tree, const struct analysis_thread *thread,
		       unsigned int depth)
{
	if (depth)
		return (uint32_t)thread->frame[depth - 1].user;
	if (tree->by_thread)
		return (uint32_t)child(tree, TREE_ROOT, thread->thread->id);
	return TREE_ROOT;
}

void tree_enter(struct tree *tree, struct analysis_thread *thread)
{
	struct analysis_frame *frame = &thread->frame[thread->depth - 1];

	frame->user = child(tree, around(tree, thread, thread->depth - 1),
			    frame->function);
}

void tree_leave(struct tree *tree, struct analysis_thread *thread,
		const struct analysis_end *end)
{
	struct analysis_frame *frame = &thread->frame[thread->depth - 1];
	struct tree_node *node = &tree->node[(uint32_t)frame->user];
	uint64_t *total = costs_of(&tree->costs, (uint32_t)frame->user);
	bool own = !(frame->user & NO_NODE);
	unsigned int c, counters = analysis_counters(tree->analysis)->count;

	node->calls += own;
	node->untimed |= !end->timed;
	node->inferred |= end->inferred;
	node->self_inferred |= end->self_inferred;
	node->partial |= analysis_partial(frame);
	if (own)
		node->total += end->total;
	node->self += end->self;
	for (c = 0; c < counters && c < tree->costs.stride; c++) {
		if (own)
			total[c] += end->count[c];
		total[tree->costs.stride + c] += end->count_self[c];
	}
}

void tree_point(struct tree *tree, struct analysis_thread *thread,
		const struct analysis_step *step)
{
	const bool sample = step->record->type == PERFREC_ISR;
	unsigned int left = step->callers;
	uint64_t node;

	if (!sample && thread->depth)
		return;
	node = around(tree, thread, thread->depth);
	if (!thread->depth) {
		do {
			node = child(tree, (uint32_t)node, left ? step->caller[left - 1] :
								  step->function);
			if (node & NO_NODE)
				break;
			costs_add(&tree->costs, (uint32_t)node, false, step->charged,
				  step->delta);
		} while (left--);
		costs_add(&tree->costs, (uint32_t)node, true, step->charged, step->delta);
	}
	tree->node[(uint32_t)node].samples += sample;
}

void tree_uncharge(struct tree *tree, uint64_t columns)
{
	costs_clear(&tree->costs, tree->nodes, columns);
}

enum tree_weight tree_usual(const struct trace_stats *stats)
{
	if (!stats->records[PERFREC_ENTER])
		return TREE_SAMPLES;
	return stats->timed ? TREE_TIME : TREE_CALLS;
}

int tree_weight(const struct tree *tree, const char *name)
{
	const struct counters *counters = analysis_counters(tree->analysis);
	static const char * const names[] = {
		[TREE_TIME] = "time", [TREE_CALLS] = "calls",
		[TREE_SAMPLES] = "samples",
	};
	unsigned int c;

	for (c = 0; c < 3; c++)
		if (!strcmp(name, names[c]))
			return (int)c;
	for (c = 0; c < counters->count; c++)
		if (counters_is(counters->name[c], name, strlen(name)))
			return TREE_COUNTER + (int)c;
	return -1;
}

/* @time, @samples and the counts from index @from on all include callees, or all exclude them. */
static uint64_t weigh(const struct tree *tree, uint32_t node, int weight,
		      uint64_t time, uint64_t samples, size_t from)
{
	if (weight == TREE_TIME)
		return time;
	if (weight == TREE_SAMPLES)
		return samples;
	if (weight == TREE_CALLS)
		return tree->node[node].calls;
	if (weight - TREE_COUNTER >= (int)tree->costs.stride)
		return 0;
	return costs_of(&tree->costs, node)[from + (size_t)(weight - TREE_COUNTER)];
}

uint64_t tree_self(const struct tree *tree, uint32_t node, int weight)
{
	return weigh(tree, node, weight, tree->node[node].self, tree->node[node].samples,
		     tree->costs.stride);
}

uint64_t tree_total(const struct tree *tree, uint32_t node, int weight)
{
	return weigh(tree, node, weight, tree->node[node].total, tree->node[node].samples_total,
		     0);
}

bool tree_is_unsure(const struct tree *tree, uint32_t node, int weight, bool self)
{
	const int unknown = TREE_COUNTER + COUNTERS_UNKNOWN_CPU;
	const struct tree_node *n = &tree->node[node];

	if (weight >= TREE_COUNTER + (int)analysis_counters(tree->analysis)->times)
		return n->partial;
	if (n->untimed || (self ? n->self_inferred : n->inferred))
		return true;
	return weight != TREE_TIME &&
	       (analysis_doubts_oncpu(tree->analysis) ||
		(self ? tree_self(tree, node, unknown) : tree_total(tree, node, unknown)));
}

/* Global variables, because qsort() passes no context to the comparison. */
static const struct tree *sorted_tree;
static int sorted_weight;

static int by_weight(const void *a, const void *b)
{
	uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;
	uint64_t first = tree_total(sorted_tree, one, sorted_weight);
	uint64_t second = tree_total(sorted_tree, two, sorted_weight);

	if (first != second)
		return first < second ? -1 : 1;
	return (one < two) - (one > two);
}

/* Return whether a node has costs; a node may have none if all its calls are left out. */
static bool has_costs(const struct tree *tree, uint32_t node)
{
	const struct tree_node *n = &tree->node[node];
	const uint64_t *cost = costs_of(&tree->costs, node);
	unsigned int c;

	if (!analysis_stats(tree->analysis)->brief)
		return true;
	for (c = 0; c < 2 * tree->costs.stride; c++)
		if (cost[c])
			return true;
	return n->calls || n->samples_total || n->total || n->self;
}

void tree_finish(struct tree *tree, int weight)
{
	uint32_t *order = calloc(tree->nodes, sizeof(*order));
	uint32_t i;

	for (i = 0; i < tree->nodes; i++) {
		tree->node[i].child = TREE_NONE;
		tree->node[i].next = TREE_NONE;
	}
	/* The costs of the root and of each thread are the sums of their children's costs. */
	for (i = tree->nodes - 1; i; i--) {
		struct tree_node *parent = &tree->node[tree->node[i].parent];
		uint64_t *from = costs_of(&tree->costs, i);
		uint64_t *to = costs_of(&tree->costs, tree->node[i].parent);
		unsigned int c;

		tree->node[i].samples_total += tree->node[i].samples;
		parent->samples_total += tree->node[i].samples_total;
		tree->node[i].shown |= has_costs(tree, i);
		parent->shown |= tree->node[i].shown;
		if (tree->node[i].parent != TREE_ROOT &&
		    !(tree->by_thread && tree->node[i].depth == 1))
			continue;
		parent->total += tree->node[i].total;
		parent->inferred |= tree->node[i].inferred || tree->node[i].untimed;
		parent->partial |= tree->node[i].partial;
		for (c = 0; c < tree->costs.stride; c++)
			to[c] += from[c];
	}
	tree->node[TREE_ROOT].samples_total += tree->node[TREE_ROOT].samples;
	for (i = 1; order && i < tree->nodes; i++)
		order[i] = i;
	sorted_tree = tree;
	sorted_weight = weight;
	if (order && tree->nodes > 1)
		qsort(order + 1, tree->nodes - 1, sizeof(*order), by_weight);
	/* Each node is inserted before its siblings, so the heaviest must be inserted last. */
	for (i = 1; i < tree->nodes; i++) {
		uint32_t at = order ? order[i] : i;
		struct tree_node *parent = &tree->node[tree->node[at].parent];

		if (!tree->node[at].shown)
			continue;
		tree->node[at].next = parent->child;
		parent->child = at;
	}
	free(order);
}

uint32_t tree_next(const struct tree *tree, uint32_t node, bool into)
{
	if (into && tree->node[node].child != TREE_NONE)
		return tree->node[node].child;
	while (node != TREE_ROOT && tree->node[node].next == TREE_NONE)
		node = tree->node[node].parent;
	return node == TREE_ROOT ? TREE_NONE : tree->node[node].next;
}

void tree_name(const struct tree *tree, uint32_t node, char *text,
	       unsigned int size)
{
	if (node == TREE_ROOT)
		snprintf(text, size, "all");
	else if (tree->by_thread && tree->node[node].parent == TREE_ROOT)
		snprintf(text, size, "%s",
			 threads_get(analysis_threads(tree->analysis),
				     tree->node[node].function)->label);
	else
		analysis_name(tree->analysis, tree->node[node].function, text,
			      size);
}
