/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * Builds a trace's call tree. The node of a call path contains the number of calls and their cost.
 */
#ifndef SIFIVE_TRACE_TREE_H
#define SIFIVE_TRACE_TREE_H

#include "analysis.h"
#include "costs.h"
#include "options.h"

/* Memory limit for the nodes. Beyond it, the lightest subtrees become "(others)". */
#define TREE_BYTES	(16u << 20)
#define TREE_ROOT	0
#define TREE_NONE	UINT32_MAX

/**
 * struct tree_node - a function with a call path
 * @function:	number of the function in the analysis; for a child of the root of a tree by thread,
 *		the thread's id
 * @depth:	number of enclosing calls, or 0 for a function without a caller
 * @parent:	node of the caller
 * @child:	most expensive callee, or TREE_NONE
 * @next:	next callee of @parent, or TREE_NONE
 * @untimed:	set if some calls have no time
 * @inferred:	set if some calls have an inferred time
 * @self_inferred: set if some calls have an inferred self time
 * @partial:	set if some counts of some calls are unknown
 * @calls:	calls that have ended
 * @samples:	samples in the function, excluding callees
 * @samples_total: samples including callees, after tree_finish()
 * @total:	time in ticks, including callees
 * @self:	time in ticks, excluding callees
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
	bool		partial;
	bool		live;		/* This and @shown are private to tree.c. */
	bool		shown;
	uint64_t	calls;
	uint64_t	samples;
	uint64_t	samples_total;
	uint64_t	total;
	uint64_t	self;
};

struct tree {
	struct analysis		*analysis;
	bool			by_thread;
	struct tree_node	*node;		/* node 0 is the root */
	uint32_t		nodes;
	bool			full;		/* some calls have been moved to "(others)" */
	/* The following members are private to tree.c. */
	struct costs		costs;
	uint64_t		*weight;
	bool			stuck;
};

/**
 * tree_init() - create an empty tree
 * @by_thread:	the root's children are threads
 *
 * Return: -1 if out of memory; the error has been reported.
 */
int tree_init(struct tree *tree, bool by_thread);

/** tree_free() - free the nodes */
void tree_free(struct tree *tree);

/*
 * Callbacks for the consumer of an analysis. tree->analysis must be set before they run; the
 * tree uses frame->user.
 */
void tree_enter(struct tree *tree, struct analysis_thread *thread);
void tree_leave(struct tree *tree, struct analysis_thread *thread,
		const struct analysis_end *end);
void tree_uncharge(struct tree *tree, uint64_t columns);
void tree_point(struct tree *tree, struct analysis_thread *thread,
		const struct analysis_step *step);

/* Meaning of a node's weight. */
enum tree_weight {
	TREE_TIME,
	TREE_CALLS,
	TREE_SAMPLES,
	TREE_COUNTER,	/* plus the column of the counter */
};

/** tree_usual() - return the default weight for a trace */
enum tree_weight tree_usual(const struct trace_stats *stats);

/** tree_weight() - return a weight by its name, or -1 */
int tree_weight(const struct tree *tree, const char *name);

/** tree_self() - return the weight of a node, excluding callees */
uint64_t tree_self(const struct tree *tree, uint32_t node, int weight);

/** tree_finish() - sort children by weight and fill in the tree's links */
void tree_finish(struct tree *tree, int weight);

/** tree_total() - return the weight of a node, including callees, after tree_finish() */
uint64_t tree_total(const struct tree *tree, uint32_t node, int weight);

/**
 * tree_is_unsure() - return whether a node's time, its time on or off the CPU, or its count is
 * inexact
 * @weight:	TREE_TIME, or the weight of a counter, or of a time on or off the CPU
 * @self:	exclude callees; if false, tree_finish() must have been called
 */
bool tree_is_unsure(const struct tree *tree, uint32_t node, int weight, bool self);

/** tree_next() - return the node after @node in depth-first order, or TREE_NONE */
uint32_t tree_next(const struct tree *tree, uint32_t node, bool into);

/** tree_name() - write a node's function or thread to @text, which holds @size bytes */
void tree_name(const struct tree *tree, uint32_t node, char *text,
	       unsigned int size);

#endif /* SIFIVE_TRACE_TREE_H */
