/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The tree of calls of a trace: who called whom, how often and at what cost. */
#ifndef SIFIVE_TRACE_TREE_H
#define SIFIVE_TRACE_TREE_H

#include "analysis.h"
#include "options.h"

/* Bytes of nodes. Beyond, the lightest subtrees become their caller's "(others)". */
#define TREE_BYTES	(16u << 20)
#define TREE_ROOT	0
#define TREE_NONE	UINT32_MAX

/**
 * struct tree_node - a function as called along one path
 * @function:	its number in the analysis; a thread's id below the root of a
 *		tree by thread
 * @depth:	calls around it; 0 for what no other function called
 * @parent:	node that called it
 * @child:	first that it called, the most expensive first, or TREE_NONE
 * @next:	next that its parent called, or TREE_NONE
 * @untimed:	calls among them have no time
 * @inferred:	calls among them have a time that is likely, not certain
 * @self_inferred: or a time without what they called
 * @calls:	calls that have ended
 * @samples:	samples in it
 * @total:	ticks with what it called
 * @self:	ticks without
 */
struct tree_node {
	uint32_t	function;
	uint32_t	depth;
	uint32_t	parent;
	uint32_t	child;
	uint32_t	next;
	bool		untimed;
	bool		inferred;
	bool		self_inferred;
	bool		live;		/* tree.c's */
	uint64_t	calls;
	uint64_t	samples;
	uint64_t	total;
	uint64_t	self;
};

struct tree {
	struct analysis		*analysis;
	bool			by_thread;
	struct tree_node	*node;		/* node 0 is the root */
	uint32_t		nodes;
	bool			full;		/* some calls are in "(others)" */
	/* The rest is tree.c's. */
	uint32_t		room;
	unsigned int		stride;
	uint64_t		*count;
	uint32_t		*slot;
	unsigned int		slot_bits;
	uint64_t		*weight;
	bool			stuck;
};

/**
 * tree_init() - a tree with nothing but a root
 * @by_thread:	the root's children are threads
 *
 * Return: -1 without memory: that has been reported.
 */
int tree_init(struct tree *tree, bool by_thread);

/** tree_free() - free its nodes */
void tree_free(struct tree *tree);

/*
 * What a consumer of an analysis passes on. tree->analysis must be set before;
 * frame->user is the tree's.
 */
void tree_enter(struct tree *tree, struct analysis_thread *thread);
void tree_leave(struct tree *tree, struct analysis_thread *thread,
		const struct analysis_end *end);
void tree_point(struct tree *tree, struct analysis_thread *thread,
		const struct analysis_step *step);

/* What the weight of a node is. */
enum tree_weight {
	TREE_TIME,
	TREE_CALLS,
	TREE_SAMPLES,
	TREE_COUNTER,	/* and the counter's column is added to this */
};

/** tree_usual() - what the records of a trace tell most about */
enum tree_weight tree_usual(const struct trace_stats *stats);

/** tree_weight() - the weight that a name stands for, -1 for none */
int tree_weight(const struct tree *tree, const char *name);

/** tree_self() - weight of a node without what it called */
uint64_t tree_self(const struct tree *tree, uint32_t node, int weight);

/** tree_finish() - sort children by weight and fill in the tree's links */
void tree_finish(struct tree *tree, int weight);

/**
 * tree_total() - weight of a node with what it called, after tree_finish()
 */
uint64_t tree_total(const struct tree *tree, uint32_t node, int weight);

/** tree_next() - the node behind @node from the root down, or TREE_NONE */
uint32_t tree_next(const struct tree *tree, uint32_t node, bool into);

/** tree_name() - a node's function, or thread, in @size bytes of @text */
void tree_name(const struct tree *tree, uint32_t node, char *text,
	       unsigned int size);

#endif /* SIFIVE_TRACE_TREE_H */
