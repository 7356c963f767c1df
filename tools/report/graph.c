// SPDX-License-Identifier: Apache-2.0 OR MIT
/* sifive-trace graph: the tree of calls, with what each branch cost. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "options.h"
#include "output.h"
#include "tree.h"
#include "units.h"

#define NAME_SIZE	512
/* Deeper calls are no longer indented further: lines stay readable. */
#define INDENT_MAX	40
#define SHOWN_MAX	8

struct graph {
	struct options	common;
	struct tree	tree;
	struct output	*out;
	const char	*output;
	const char	*filter;
	const char	*counter[SHOWN_MAX];
	int		weight[SHOWN_MAX];
	unsigned int	counters;
	enum tree_weight usual;		/* what is sorted by, and shown */
	bool		samples;	/* there are some */
	int		depth;		/* 0: all */
	int		least;		/* percent of the whole */
	bool		by_thread;
};

enum own_option {
	OPTION_BY = OPTION_OWN,
	OPTION_DEPTH,
	OPTION_LEAST,
	OPTION_FILTER,
	OPTION_COUNTER,
};

static const struct option long_options[] = {
	COMMON_LONG,
	{ "by",		required_argument, NULL, OPTION_BY },
	{ "depth",	required_argument, NULL, OPTION_DEPTH },
	{ "min",	required_argument, NULL, OPTION_LEAST },
	{ "filter",	required_argument, NULL, OPTION_FILTER },
	{ "counter",	required_argument, NULL, OPTION_COUNTER },
	{ "output",	required_argument, NULL, 'o' },
	{ NULL, 0, NULL, 0 }
};

static void help(void)
{
	puts("usage: sifive-trace graph [OPTION]... TRACE|-\n"
	     "\n"
	     "Print the tree of calls: each function below the one that called it, with the\n"
	     "time and the number of calls along this path; or its samples.\n"
	     "\n"
	     "      --by function|thread\n"
	     "                        one tree (default), or one for each thread\n"
	     "      --depth N         no deeper than N calls\n"
	     "      --min PERCENT     leave out what costs less of the whole time, or of\n"
	     "                        the samples\n"
	     "      --filter PATTERN  only trees that begin with functions of this name; * and\n"
	     "                        ? stand for others\n"
	     "      --counter NAME    show what this counter counted too; may be repeated\n"
	     "  -o, --output FILE     file to write to");
	puts(options_help);
}

static int parse_option(struct graph *graph, int option)
{
	switch (option) {
	case OPTION_BY:
		if (strcmp(optarg, "function") && strcmp(optarg, "thread"))
			return usage_error("--by is function or thread, not \"%s\"",
					   optarg);
		graph->by_thread = !strcmp(optarg, "thread");
		return EXIT_OK;
	case OPTION_DEPTH:
		if (!parse_number(optarg, 1, 1000000, &graph->depth))
			return usage_error("--depth takes a number of calls, not \"%s\"",
					   optarg);
		return EXIT_OK;
	case OPTION_LEAST:
		if (!parse_number(optarg, 0, 100, &graph->least))
			return usage_error("--min takes 0 to 100 percent, not \"%s\"",
					   optarg);
		return EXIT_OK;
	case OPTION_FILTER:
		graph->filter = optarg;
		return EXIT_OK;
	case OPTION_COUNTER:
		if (graph->counters == SHOWN_MAX)
			return usage_error("--counter can be given %d times",
					   SHOWN_MAX);
		graph->counter[graph->counters++] = optarg;
		return EXIT_OK;
	case 'o':
		graph->output = optarg;
		return EXIT_OK;
	default:
		return options_parse(&graph->common, "graph", option);
	}
}

static void put_duration(struct graph *graph, const struct tree_node *node,
			 bool inferred, uint64_t ticks, uint64_t hz, size_t width)
{
	char text[UNITS_SIZE];

	units_time(text, ticks, hz);
	put_right(graph->out, !ticks && node->untimed ? "-" :
		  units_mark(text, node->untimed || inferred), width);
}

static void put_node(struct graph *graph, const struct input *input,
		     uint32_t node, uint32_t indent, const char *name)
{
	const struct tree_node *n = &graph->tree.node[node];
	char text[UNITS_SIZE];
	unsigned int i;

	if (graph->usual == TREE_TIME) {
		put_duration(graph, n, n->inferred, n->total, input->hz, 11);
		put_duration(graph, n, n->self_inferred, n->self, input->hz, 12);
	}
	if (graph->usual != TREE_SAMPLES)
		put_number(graph->out, n->calls, 10);
	if (graph->samples)
		put_number(graph->out, n->samples, 10);
	for (i = 0; i < graph->counters; i++)
		put_right(graph->out,
			  units_count(text, tree_total(&graph->tree, node,
						       graph->weight[i])),
			  2 + (strlen(graph->counter[i]) > 10 ?
			       strlen(graph->counter[i]) : 10));
	put_spaces(graph->out, 2 + 2 * (size_t)(indent < INDENT_MAX ? indent :
						INDENT_MAX));
	put_text(graph->out, name);
	put_char(graph->out, '\n');
}

static bool wanted(const struct graph *graph, uint32_t node, uint32_t top)
{
	const struct tree_node *n = &graph->tree.node[node];
	uint64_t whole = tree_total(&graph->tree, TREE_ROOT, (int)graph->usual);
	uint64_t part = tree_total(&graph->tree, node, (int)graph->usual);

	if (graph->depth && n->depth - graph->tree.node[top].depth >=
			    (uint32_t)graph->depth)
		return false;
	return !graph->least ||
	       (double)part * 100 >= (double)whole * graph->least;
}

static void put_tree(struct graph *graph, const struct input *input)
{
	uint32_t node = TREE_ROOT, top = TREE_NONE;
	const struct tree *tree = &graph->tree;
	bool into = true;
	char name[NAME_SIZE];
	unsigned int i;

	if (graph->usual == TREE_TIME) {
		put_right(graph->out, "total", 11);
		put_right(graph->out, "self", 12);
	}
	if (graph->usual != TREE_SAMPLES)
		put_right(graph->out, "calls", 10);
	if (graph->samples)
		put_right(graph->out, "samples", 10);
	for (i = 0; i < graph->counters; i++)
		put_right(graph->out, graph->counter[i],
			  2 + (strlen(graph->counter[i]) > 10 ?
			       strlen(graph->counter[i]) : 10));
	put_string(graph->out, "  function\n");

	while ((node = tree_next(tree, node, into)) != TREE_NONE) {
		/* Out of the tree that the filter let through. */
		if (top != TREE_NONE &&
		    tree->node[node].depth <= tree->node[top].depth)
			top = TREE_NONE;
		tree_name(tree, node, name, sizeof(name));
		into = true;
		if (top == TREE_NONE && graph->filter &&
		    fnmatch(graph->filter, name, 0))
			continue;
		if (top == TREE_NONE)
			top = node;
		into = wanted(graph, node, top);
		if (into)
			put_node(graph, input, node, tree->node[node].depth -
				 tree->node[top].depth, name);
	}
}

static void on_enter(void *context, struct analysis_thread *thread)
{
	struct graph *graph = context;

	tree_enter(&graph->tree, thread);
}

static void on_leave(void *context, struct analysis_thread *thread,
		     const struct analysis_end *end)
{
	struct graph *graph = context;

	tree_leave(&graph->tree, thread, end);
}

static void on_point(void *context, struct analysis_thread *thread,
		     const struct analysis_step *step)
{
	struct graph *graph = context;

	tree_point(&graph->tree, thread, step);
}

static const struct analysis_ops graph_ops = {
	.enter = on_enter, .leave = on_leave, .point = on_point,
};

static int show(struct graph *graph, const struct input *input)
{
	const struct tree *tree = &graph->tree;
	unsigned int i;

	for (i = 0; i < graph->counters; i++) {
		graph->weight[i] = tree_weight(tree, graph->counter[i]);
		if (graph->weight[i] < TREE_COUNTER) {
			report("--counter: the trace has no counter \"%s\"",
			       graph->counter[i]);
			return EXIT_USAGE;
		}
	}
	graph->usual = tree_usual(trace_stats(input->trace));
	tree_finish(&graph->tree, (int)graph->usual);
	for (i = 0; i < tree->nodes; i++)
		graph->samples |= tree->node[i].samples > 0;
	graph->out = output_open(graph->output);
	if (!graph->out)
		return EXIT_UNREADABLE;
	put_tree(graph, input);
	if (tree->full)
		report("%s: too many different paths: the lightest are their callers' \"(others)\"",
		       graph->common.path);
	return output_close(graph->out) ? EXIT_UNREADABLE : EXIT_OK;
}

static int run(struct graph *graph)
{
	struct input input;
	int result, shown;

	if (tree_init(&graph->tree, graph->by_thread))
		return EXIT_UNREADABLE;
	result = input_open(&input, &graph->common);
	if (!result) {
		graph->tree.analysis = analysis_new(&input.meta, input.symbols,
						    &graph_ops, graph);
		if (!graph->tree.analysis ||
		    analysis_run(graph->tree.analysis, input.trace))
			result = EXIT_UNREADABLE;
	}
	if (!result) {
		result = input_summary(&input, false);
		analysis_notes(graph->tree.analysis, &input);
	}
	if (result <= EXIT_LOSSES) {
		shown = show(graph, &input);
		result = shown ? shown : result;
	}
	analysis_free(graph->tree.analysis);
	tree_free(&graph->tree);
	input_close(&input);
	return result;
}

int command_graph(int argc, char **argv)
{
	struct graph graph = { 0 };
	int option, result = EXIT_OK;

	options_init(&graph.common);
	while (!result && (option = getopt_long(argc, argv, COMMON_SHORT "o:",
						long_options, NULL)) != -1)
		result = parse_option(&graph, option);
	if (!result)
		result = options_trace(&graph.common, argc, argv);
	if (!result)
		result = options_output(&graph.common, graph.output);
	if (result)
		return result;
	if (graph.common.help) {
		help();
		return EXIT_OK;
	}
	return run(&graph);
}
