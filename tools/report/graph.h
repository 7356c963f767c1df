/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* The call tree that sifive-trace graph shows, and its comparison with another tree. */
#ifndef SIFIVE_TRACE_GRAPH_H
#define SIFIVE_TRACE_GRAPH_H

#include "options.h"
#include "output.h"
#include "report.h"
#include "tree.h"

/* Maximum indentation, to keep lines readable. */
#define INDENT_MAX	40
#define SHOWN_MAX	8

struct graph {
	struct options	common;
	struct tree	tree;
	struct output	*out;
	struct cli_list	filter;
	const char	*diff;
	struct cli_list	counter;
	int		weight[SHOWN_MAX];
	enum tree_weight usual;		/* weight by which the tree is sorted */
	bool		samples;	/* the trace has samples */
	int		depth;		/* maximum depth; 0: no limit */
	int		least;		/* percentage of the total */
	int		by_thread;	/* --by thread */
	int		json;		/* --format json */
	struct report_rows rows;
};

/** graph_is_unknown() - return whether no call on a path has a time */
static inline bool graph_is_unknown(const struct tree_node *node)
{
	return node->untimed && !node->total;
}

/** graph_certainty() - return a word for the certainty of a path's times */
const char *graph_certainty(const struct tree *tree, uint32_t node);

/** graph_counters() - find the counters of --counter; return an exit code */
int graph_counters(struct graph *graph);

/** graph_finish() - finish the tree, and sort it by weight @usual */
void graph_finish(struct graph *graph, enum tree_weight usual);

/**
 * graph_diff() - compare two trees
 * @before, @after: the trees, not finished yet
 * @input:	their traces
 *
 * Return: an exit code; errors have been printed.
 */
int graph_diff(struct graph *before, struct graph *after, const struct input input[2]);

#endif /* SIFIVE_TRACE_GRAPH_H */
