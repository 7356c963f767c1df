// SPDX-License-Identifier: Apache-2.0 OR MIT
/* sifive-trace graph: shows the call tree with the cost of each path. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "coverage.h"
#include "options.h"
#include "output.h"
#include "report.h"
#include "text.h"
#include "tree.h"
#include "units.h"

/* Maximum indentation, to keep lines readable. */
#define INDENT_MAX	40
#define SHOWN_MAX	8

struct graph {
	struct options	common;
	struct tree	tree;
	struct output	*out;
	struct cli_list	filter;
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

static const struct cli_option graph_options[] = {
	{ .name = "by", .value = "function|thread",
	  .help = "show one tree for all threads (default), or one for each",
	  .set = cli_word, .offset = offsetof(struct graph, by_thread) },
	OPTIONS_DEPTH(struct graph, depth),
	{ .name = "min", .value = "PERCENT",
	  .help = "omit paths that cost less than this share of the total time, or of the samples",
	  .set = cli_number, .offset = offsetof(struct graph, least), .most = 100 },
	OPTIONS_FILTER(struct graph, filter),
	OPTIONS_TID(struct graph, common),
	{ .name = "counter", .value = "NAME",
	  .help = "also show the counts of this counter; may be repeated",
	  .set = cli_append, .offset = offsetof(struct graph, counter),
	  .most = SHOWN_MAX },
	{ .name = "format", .value = "text|json",
	  .help = "text (default), or JSON for programs, with all digits and counters",
	  .set = cli_word, .offset = offsetof(struct graph, json) },
	CLI_AS(json, struct graph, json, true),
	CLI_OUTPUT(struct graph, common.output),
	{ .name = NULL }
};

static const struct cli_group graph_groups[] = {
	{ NULL, graph_options, 0 },
	OPTIONS_CALLS_GROUPS(struct graph, common),
	{ .options = NULL }
};

static void put_duration(struct graph *graph, uint32_t node, bool self, uint64_t hz,
			 size_t width)
{
	const struct tree_node *n = &graph->tree.node[node];
	const uint64_t ticks = self ? n->self : n->total;
	char text[UNITS_SIZE];

	units_time(text, ticks, hz);
	put_right(graph->out, !ticks && n->untimed ? "-" :
		  units_mark(text, tree_is_unsure(&graph->tree, node, TREE_TIME, self)), width);
}

/* Whether no call on the path has a time. */
static bool is_unknown(const struct tree_node *node)
{
	return node->untimed && !node->total;
}

static const char *counter_text(const struct graph *graph, const struct input *input,
				uint32_t node, int weight, char *text)
{
	const unsigned int column = (unsigned int)(weight - TREE_COUNTER);
	uint64_t value = tree_total(&graph->tree, node, weight);

	if (column >= analysis_counters(graph->tree.analysis)->times)
		units_count(text, value);
	else if (is_unknown(&graph->tree.node[node]))
		return "-";
	else
		units_time(text, value, input->hz);
	return units_mark(text, tree_is_unsure(&graph->tree, node, weight, false));
}

static void put_node(struct graph *graph, const struct input *input,
		     uint32_t node, uint32_t indent, const char *name)
{
	const struct tree_node *n = &graph->tree.node[node];
	char text[UNITS_SIZE];
	unsigned int i;

	if (graph->usual == TREE_TIME) {
		put_duration(graph, node, false, input->hz, 11);
		put_duration(graph, node, true, input->hz, 12);
	}
	if (graph->usual != TREE_SAMPLES)
		put_number(graph->out, n->calls, 10);
	if (graph->samples)
		put_number(graph->out, n->samples_total, 10);
	for (i = 0; i < graph->counter.count; i++)
		put_right(graph->out, counter_text(graph, input, node, graph->weight[i], text),
			  2 + (strlen(graph->counter.text[i]) > 10 ?
			       strlen(graph->counter.text[i]) : 10));
	put_spaces(graph->out, 2 + 2 * (size_t)(indent < INDENT_MAX ? indent :
						INDENT_MAX));
	put_text(graph->out, name);
	put_char(graph->out, '\n');
}

static void put_json_number(struct graph *graph, const struct input *input,
			    const struct metric *metric, uint64_t value, bool unknown)
{
	char text[UNITS_SIZE];

	report_row_number(&graph->rows, metric, "", unknown ? "" :
			  report_cell(text, metric, value, input->hz, true));
}

/* Write a node as an object with the columns of report and its depth. */
static void put_json_node(struct graph *graph, const struct input *input, uint32_t node,
			  uint32_t depth, const char *name)
{
	static const struct metric depth_metric = { METRIC_CALLS, .name = "depth" },
		calls = { METRIC_CALLS, .name = "calls" },
		total = { METRIC_TOTAL, .name = "total" },
		self = { METRIC_SELF, .name = "self" },
		samples = { METRIC_SAMPLES, .name = "samples" };
	const struct counters *counters = analysis_counters(graph->tree.analysis);
	const struct tree_node *n = &graph->tree.node[node];
	struct metric counter = { METRIC_COUNTER_TOTAL, .name = "total" };
	unsigned int c;

	report_row_begin(&graph->rows, name);
	put_json_number(graph, input, &depth_metric, depth, false);
	if (graph->usual != TREE_SAMPLES)
		put_json_number(graph, input, &calls, n->calls, false);
	if (graph->usual == TREE_TIME) {
		put_json_number(graph, input, &total, n->total, is_unknown(n));
		put_json_number(graph, input, &self, n->self, !n->self && n->untimed);
	}
	if (graph->samples)
		put_json_number(graph, input, &samples, n->samples_total, false);
	for (c = 0; c < counters->count; c++) {
		counter.over = counters->name[c];
		counter.time = c < counters->times;
		put_json_number(graph, input, &counter,
				tree_total(&graph->tree, node, TREE_COUNTER + (int)c),
				counter.time && is_unknown(n));
	}
	if (graph->usual == TREE_TIME)
		report_row_word(&graph->rows, "times", n->untimed ? "partial" :
				tree_is_unsure(&graph->tree, node, counters->times ?
					       TREE_COUNTER : TREE_TIME, false) ?
				"inferred" : "exact");
	if (counters->count > counters->times)
		report_row_word(&graph->rows, REPORT_COUNTS, n->partial ? "partial" : "exact");
	report_row_end(&graph->rows);
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

static void put_heading(struct graph *graph)
{
	unsigned int i;

	output_bold(graph->out, true);
	if (graph->usual == TREE_TIME) {
		put_right(graph->out, "total", 11);
		put_right(graph->out, "self", 12);
	}
	if (graph->usual != TREE_SAMPLES)
		put_right(graph->out, "calls", 10);
	if (graph->samples)
		put_right(graph->out, "samples", 10);
	for (i = 0; i < graph->counter.count; i++)
		put_right(graph->out, graph->counter.text[i],
			  2 + (strlen(graph->counter.text[i]) > 10 ?
			       strlen(graph->counter.text[i]) : 10));
	put_string(graph->out, "  function");
	output_bold(graph->out, false);
	put_char(graph->out, '\n');
}

static void put_tree(struct graph *graph, const struct input *input)
{
	uint32_t node = TREE_ROOT, top = TREE_NONE;
	const struct tree *tree = &graph->tree;
	bool into = true;
	char name[NAME_SIZE];

	while ((node = tree_next(tree, node, into)) != TREE_NONE) {
		/* The subtree whose root matched the filter has ended. */
		if (top != TREE_NONE &&
		    tree->node[node].depth <= tree->node[top].depth)
			top = TREE_NONE;
		tree_name(tree, node, name, sizeof(name));
		into = true;
		if (top == TREE_NONE && !options_matches(&graph->filter, name))
			continue;
		if (top == TREE_NONE)
			top = node;
		into = wanted(graph, node, top);
		if (into)
			(graph->json ? put_json_node : put_node)
				(graph, input, node, tree->node[node].depth -
						     tree->node[top].depth, name);
	}
}

static void put_json_tree(struct graph *graph, const struct input *input)
{
	graph->rows = (struct report_rows) { .out = graph->out, .json = true };
	report_json_begin(graph->out, "graph", graph->by_thread ? "thread" : "function",
			  input, graph->tree.analysis);
	report_json_rows(graph->out);
	put_tree(graph, input);
	report_json_end(graph->out, input, graph->tree.analysis);
}

static void put_text_tree(struct graph *graph, const struct input *input)
{
	char coverage[COVERAGE_SIZE];

	if (coverage_partial(input))
		put_format(graph->out, "Trace %s.\n", coverage_text(input, coverage));
	put_heading(graph);
	put_tree(graph, input);
}

static void on_enter(void *context, struct analysis_thread *thread)
{
	struct graph *graph = context;

	if (options_thread(&graph->common, thread->thread->tid))
		tree_enter(&graph->tree, thread);
}

static void on_leave(void *context, struct analysis_thread *thread,
		     const struct analysis_end *end)
{
	struct graph *graph = context;

	if (options_thread(&graph->common, thread->thread->tid))
		tree_leave(&graph->tree, thread, end);
}

static void on_point(void *context, struct analysis_thread *thread,
		     const struct analysis_step *step)
{
	struct graph *graph = context;

	if (options_thread(&graph->common, thread->thread->tid))
		tree_point(&graph->tree, thread, step);
}

static void on_uncharge(void *context, uint64_t columns)
{
	struct graph *graph = context;

	tree_uncharge(&graph->tree, columns);
}

static const struct analysis_ops graph_ops = {
	.enter = on_enter, .leave = on_leave, .point = on_point, .uncharge = on_uncharge,
};

static int show(struct graph *graph, const struct input *input)
{
	const struct tree *tree = &graph->tree;
	unsigned int i;

	for (i = 0; i < graph->counter.count; i++) {
		graph->weight[i] = tree_weight(tree, graph->counter.text[i]);
		if (graph->weight[i] < TREE_COUNTER) {
			report("--counter: the trace has no counter \"%s\"",
			       graph->counter.text[i]);
			return EXIT_USAGE;
		}
		/* Use the full name, because the user may have omitted its suffix. */
		graph->counter.text[i] = analysis_counters(tree->analysis)->name[graph->weight[i] -
										TREE_COUNTER];
	}
	graph->usual = tree_usual(trace_stats(input->trace));
	tree_finish(&graph->tree, (int)graph->usual);
	for (i = 0; i < tree->nodes; i++)
		graph->samples |= tree->node[i].samples > 0;
	graph->out = output_open(graph->common.output);
	if (!graph->out)
		return EXIT_UNREADABLE;
	if (graph->json)
		put_json_tree(graph, input);
	else
		put_text_tree(graph, input);
	if (tree->full)
		report("%s: too many different paths: the lightest are summed up as \"(others)\"",
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
		if (graph->tree.analysis)
			analysis_limit(graph->tree.analysis, &input);
		if (!graph->tree.analysis ||
		    analysis_run(graph->tree.analysis, input.trace))
			result = EXIT_UNREADABLE;
	}
	if (!result) {
		result = input_summary(&input, INPUT_RECORDS);
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

static int command_graph(int argc, char **argv)
{
	struct graph graph = { 0 };
	int result;

	options_init(&graph.common);
	result = options_parse(&graph_command, &graph, &graph.common, OPTIONS_TRACES, argc, argv);
	return result ? result : run(&graph);
}

const struct cli_command graph_command = {
	.name = "graph",
	.run = command_graph,
	.summary = "show the call tree, with the cost of each path",
	.arguments = "TRACE...|-",
	.help = "Print the call tree: each function below its caller, with the time and the number of calls along this path, or its samples." OPTIONS_SEVERAL,
	.groups = graph_groups,
	.status = OPTIONS_STATUS,
};
