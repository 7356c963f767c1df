// SPDX-License-Identifier: Apache-2.0 OR MIT
/* sifive-trace graph: shows the call tree with the cost of each path. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "coverage.h"
#include "graph.h"
#include "pager.h"
#include "units.h"

static const struct cli_option graph_options[] = {
	{ .name = "by", .value = "function|thread",
	  .help = "show one tree for all threads (default), or a tree for each thread",
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
	{ .name = "diff", .value = "OTHER",
	  .help = "compare with OTHER, a later trace: show how much more or less each path costs, largest difference first; --meta applies to the first trace",
	  .set = cli_text, .offset = offsetof(struct graph, diff) },
	{ .name = "format", .value = "text|json",
	  .help = "text (default), or JSON for programs, with all digits and all counters",
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
	put_cell(graph->out, !ticks && n->untimed ? "-" :
		 units_mark(text, tree_is_unsure(&graph->tree, node, TREE_TIME, self)), width);
}

static const char *counter_text(const struct graph *graph, const struct input *input,
				uint32_t node, int weight, char *text)
{
	const unsigned int column = (unsigned int)(weight - TREE_COUNTER);
	uint64_t value = tree_total(&graph->tree, node, weight);

	if (column >= analysis_counters(graph->tree.analysis)->times)
		units_count(text, value);
	else if (graph_is_unknown(&graph->tree.node[node]))
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
		put_cell(graph->out, counter_text(graph, input, node, graph->weight[i], text),
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

const char *graph_certainty(const struct tree *tree, uint32_t node)
{
	const int weight = analysis_counters(tree->analysis)->times ? TREE_COUNTER : TREE_TIME;

	return tree->node[node].untimed ? "partial" :
	       tree_is_unsure(tree, node, weight, false) ? "inferred" : "exact";
}

/* Write a node as an object with report's columns and the node's depth. */
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
		put_json_number(graph, input, &total, n->total, graph_is_unknown(n));
		put_json_number(graph, input, &self, n->self, !n->self && n->untimed);
	}
	if (graph->samples)
		put_json_number(graph, input, &samples, n->samples_total, false);
	for (c = 0; c < counters->count; c++) {
		counter.over = counters->name[c];
		counter.time = c < counters->times;
		put_json_number(graph, input, &counter,
				tree_total(&graph->tree, node, TREE_COUNTER + (int)c),
				counter.time && graph_is_unknown(n));
	}
	if (graph->usual == TREE_TIME)
		report_row_word(&graph->rows, "times", graph_certainty(&graph->tree, node));
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
	bool into = true, any = false;
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
		any = true;
		into = wanted(graph, node, top);
		if (into)
			(graph->json ? put_json_node : put_node)
				(graph, input, node, tree->node[node].depth -
						     tree->node[top].depth, name);
	}
	if (!any)
		options_nothing(&graph->common, &graph->filter);
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

int graph_counters(struct graph *graph)
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
	return EXIT_OK;
}

void graph_finish(struct graph *graph, enum tree_weight usual)
{
	const struct tree *tree = &graph->tree;
	unsigned int i;

	graph->usual = usual;
	tree_finish(&graph->tree, (int)usual);
	for (i = 0; i < tree->nodes; i++)
		graph->samples |= tree->node[i].samples > 0;
	if (tree->full)
		report("%s: too many different paths: the lightest are summed up as \"(others)\"",
		       graph->common.path);
}

static int show(struct graph *graph, const struct input *input)
{
	if (graph_counters(graph))
		return EXIT_USAGE;
	graph_finish(graph, tree_usual(trace_stats(input->trace)));
	graph->out = pager_open(graph->common.output);
	if (!graph->out)
		return EXIT_UNREADABLE;
	if (graph->json)
		put_json_tree(graph, input);
	else
		put_text_tree(graph, input);
	return output_close(graph->out) ? EXIT_UNREADABLE : EXIT_OK;
}

/* Read a trace; return an exit code. */
static int read_trace(struct graph *graph, struct input *input)
{
	int result;

	if (tree_init(&graph->tree, graph->by_thread))
		return EXIT_UNREADABLE;
	result = input_open(input, &graph->common);
	if (result)
		return result;
	graph->tree.analysis = analysis_new(&input->meta, input->symbols, &graph_ops, graph);
	if (!graph->tree.analysis)
		return EXIT_UNREADABLE;
	analysis_limit(graph->tree.analysis, input);
	if (analysis_run(graph->tree.analysis, input->trace))
		return EXIT_UNREADABLE;
	result = input_summary(input, INPUT_RECORDS);
	analysis_notes(graph->tree.analysis, input);
	return result;
}

static void close_trace(struct graph *graph, struct input *input)
{
	analysis_free(graph->tree.analysis);
	tree_free(&graph->tree);
	input_close(input);
}

static int run(struct graph *graph)
{
	struct input input = { 0 };
	int result = read_trace(graph, &input), shown;

	if (result <= EXIT_LOSSES) {
		shown = show(graph, &input);
		result = shown ? shown : result;
	}
	close_trace(graph, &input);
	return result;
}

static int run_diff(struct graph *before)
{
	struct graph after = *before;
	struct input input[2] = { 0 };
	int result, ended;

	result = report_other(&after.common, &before->common, before->diff);
	if (result)
		return result;
	result = read_trace(before, &input[0]);
	if (result <= EXIT_LOSSES) {
		ended = read_trace(&after, &input[1]);
		result = ended > result ? ended : result;
	}
	if (result <= EXIT_LOSSES) {
		ended = graph_diff(before, &after, input);
		result = ended ? ended : result;
	}
	close_trace(before, &input[0]);
	close_trace(&after, &input[1]);
	return result;
}

static int command_graph(int argc, char **argv)
{
	struct graph graph = { 0 };
	int result;

	options_init(&graph.common);
	result = options_parse(&graph_command, &graph, &graph.common, OPTIONS_TRACES, argc, argv);
	if (result)
		return result;
	if (graph.diff && graph.by_thread)
		return usage_error("--diff compares paths of all threads: --by thread cannot be combined with it; select a thread with --tid");
	return graph.diff ? run_diff(&graph) : run(&graph);
}

const struct cli_command graph_command = {
	.name = "graph",
	.run = command_graph,
	.summary = "show the call tree with the cost of each path",
	.arguments = "TRACE...|-",
	.help = "Print the call tree: each function below its caller, with the time and number of calls along this path, or its samples." OPTIONS_SEVERAL,
	.groups = graph_groups,
	.status = OPTIONS_STATUS,
	.whole = true,
};
