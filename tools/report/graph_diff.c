// SPDX-License-Identifier: Apache-2.0 OR MIT
/* graph --diff: compares the call trees of two traces, path by path. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "graph.h"
#include "hash.h"
#include "pager.h"
#include "pairs.h"
#include "units.h"

#define COUNT_WIDTH	10
#define CHANGE_WIDTH	9
/* Time, self time, calls, samples, and the counters. */
#define COLUMNS_MAX	(4 + COUNTERS_MAX)

static const char * const side_text[] = { ":before", ":after" };

/*
 * A path in one or both trees. @node: its nodes, or TREE_NONE; @pair: its function; @change: the
 * difference by which paths are sorted.
 */
struct path {
	uint32_t	node[2];
	uint32_t	pair;
	uint32_t	parent;
	uint32_t	depth;
	uint32_t	child;
	uint32_t	next;
	double		change;
};

/* A number of each path. @weight: its weight number in each tree; -1 if the counter is missing. */
struct column {
	struct metric	metric;
	int		weight[2];
	bool		self;
};

/*
 * Both trees. @pair_of: pair by function; @path_of: path by node; @path: the paths, callers before
 * callees.
 */
struct diff {
	struct graph		*graph[2];
	const struct input	*input[2];
	struct output		*out;
	struct pairs		pairs;
	uint32_t		*pair_of[2];
	uint32_t		*path_of[2];
	struct path		*path;
	uint32_t		paths;
	struct hash		hash;
	struct column		column[COLUMNS_MAX];
	unsigned int		columns;
	bool			timed;		/* set if times can be compared */
};

static const struct tree *tree_of(const struct diff *diff, unsigned int side)
{
	return &diff->graph[side]->tree;
}

/* ---- paths --------------------------------------------------------------- */

/* Match the functions of the two traces. Return false if out of memory. */
static bool pair_functions(struct diff *diff)
{
	struct functions *functions;
	struct symbol symbol;
	char name[NAME_SIZE];
	uint32_t f, count[2];
	unsigned int side;
	size_t i;

	diff->pairs.runs = 2;
	for (side = 0; side < 2; side++) {
		functions = analysis_functions(tree_of(diff, side)->analysis);
		count[side] = functions_count(functions);
		for (f = 0; f < count[side]; f++) {
			analysis_name(tree_of(diff, side)->analysis, f, name, sizeof(name));
			memset(&symbol, 0, sizeof(symbol));
			if (f != FUNCTIONS_OTHER)
				symbols_find(diff->input[side]->symbols,
					     functions_address(functions, f), &symbol);
			if (!pairs_add_row(&diff->pairs, side, f, name, &symbol))
				return false;
		}
		pairs_join(&diff->pairs, side);
	}
	for (side = 0; side < 2; side++) {
		diff->pair_of[side] = calloc(count[side], sizeof(*diff->pair_of[side]));
		if (!diff->pair_of[side])
			return false;
		for (i = 0; i < diff->pairs.count; i++)
			if (diff->pairs.pair[i].row[side] != PAIRS_NO_ROW)
				diff->pair_of[side][diff->pairs.pair[i].row[side]] = (uint32_t)i;
	}
	return true;
}

static uint64_t key_of(const void *paths, uint32_t number)
{
	const struct path *path = (const struct path *)paths + number;

	return (uint64_t)path->parent << 32 | path->pair;
}

static void add_path(struct diff *diff, unsigned int side, uint32_t node)
{
	const struct tree_node *n = &tree_of(diff, side)->node[node];
	const uint32_t parent = diff->path_of[side][n->parent];
	const uint32_t pair = diff->pair_of[side][n->function];
	uint32_t *slot = hash_find(&diff->hash, (uint64_t)parent << 32 | pair, key_of, diff->path);

	if (!*slot) {
		diff->path[diff->paths] = (struct path){
			.node = { TREE_NONE, TREE_NONE }, .pair = pair, .parent = parent,
			.depth = n->depth,
		};
		*slot = diff->paths++;
	}
	diff->path[*slot].node[side] = node;
	diff->path_of[side][node] = *slot;
}

/* Return false if out of memory. */
static bool join_paths(struct diff *diff)
{
	const uint32_t most = tree_of(diff, 0)->nodes + tree_of(diff, 1)->nodes;
	unsigned int side;
	uint32_t node;

	diff->hash.bits = hash_bits(most);
	diff->hash.slot = calloc(1ull << diff->hash.bits, sizeof(*diff->hash.slot));
	diff->path = calloc(most, sizeof(*diff->path));
	for (side = 0; side < 2; side++)
		diff->path_of[side] = calloc(tree_of(diff, side)->nodes,
					     sizeof(*diff->path_of[side]));
	if (!diff->hash.slot || !diff->path || !diff->path_of[0] || !diff->path_of[1])
		return false;
	/* Path 0 is the root of both trees. */
	diff->paths = 1;
	for (side = 0; side < 2; side++)
		for (node = TREE_ROOT; (node = tree_next(tree_of(diff, side), node, true)) !=
				       TREE_NONE;)
			add_path(diff, side, node);
	return true;
}

/* ---- numbers ------------------------------------------------------------- */

static uint64_t value(const struct diff *diff, const struct path *path,
		      const struct column *column, unsigned int side)
{
	const struct tree *tree = tree_of(diff, side);
	const uint32_t node = path->node[side];

	if (node == TREE_NONE || column->weight[side] < 0)
		return 0;
	return column->self ? tree_self(tree, node, column->weight[side]) :
			      tree_total(tree, node, column->weight[side]);
}

/* Convert a number to a unit common to both traces, because their ticks may differ. */
static double amount(const struct diff *diff, const struct path *path, const struct column *column,
		     unsigned int side)
{
	const double number = (double)value(diff, path, column, side);
	const uint64_t hz = diff->input[side]->hz;

	return report_is_time(&column->metric) && hz ? number / (double)hz : number;
}

static bool is_unknown(const struct diff *diff, const struct path *path,
		       const struct column *column, unsigned int side)
{
	return column->weight[side] < 0 ||
	       (path->node[side] != TREE_NONE && report_is_time(&column->metric) &&
		graph_is_unknown(&tree_of(diff, side)->node[path->node[side]]));
}

static bool is_unsure(const struct diff *diff, const struct path *path,
		      const struct column *column, unsigned int side)
{
	return path->node[side] != TREE_NONE && column->weight[side] >= 0 &&
	       column->weight[side] != TREE_CALLS && column->weight[side] != TREE_SAMPLES &&
	       tree_is_unsure(tree_of(diff, side), path->node[side], column->weight[side],
			      column->self);
}

static void add_column(struct diff *diff, enum metric_kind kind, const char *name, int weight,
		       bool self)
{
	diff->column[diff->columns++] = (struct column){
		.metric = { .kind = kind, .over = "", .name = name, .width = COUNT_WIDTH },
		.weight = { weight, weight }, .self = self,
	};
}

/* Add a counter that one or both traces have. */
static void add_counter(struct diff *diff, unsigned int side, const char *name)
{
	const struct counters *counters = analysis_counters(tree_of(diff, side)->analysis);
	struct column *column = &diff->column[diff->columns];
	unsigned int c, which;

	for (c = 0; c < diff->columns; c++)
		if (!strcmp(diff->column[c].metric.over, name))
			return;
	if (diff->columns == COLUMNS_MAX)
		return;
	add_column(diff, METRIC_COUNTER_TOTAL, "total", -1, false);
	column->metric.over = name;
	for (c = 0; c < counters->count; c++)
		if (!strcmp(counters->name[c], name))
			column->metric.time = c < counters->times;
	for (which = 0; which < 2; which++) {
		const int weight = tree_weight(tree_of(diff, which), name);

		column->weight[which] = weight < TREE_COUNTER ? -1 : weight;
	}
}

/* Text has graph's columns; JSON also has all counters. */
static void choose_columns(struct diff *diff)
{
	const bool json = diff->graph[0]->json;
	const struct counters *counters;
	unsigned int side, c;

	if (diff->graph[0]->usual == TREE_TIME) {
		add_column(diff, METRIC_TOTAL, "total", TREE_TIME, false);
		if (json)
			add_column(diff, METRIC_SELF, "self", TREE_TIME, true);
	}
	if (diff->graph[0]->usual != TREE_SAMPLES)
		add_column(diff, METRIC_CALLS, "calls", TREE_CALLS, false);
	if (diff->graph[0]->samples || diff->graph[1]->samples)
		add_column(diff, METRIC_SAMPLES, "samples", TREE_SAMPLES, false);
	for (c = 0; !json && c < diff->graph[0]->counter.count; c++)
		add_counter(diff, 0, diff->graph[0]->counter.text[c]);
	for (side = 0; json && side < 2; side++) {
		counters = analysis_counters(tree_of(diff, side)->analysis);
		for (c = 0; c < counters->count; c++)
			add_counter(diff, side, counters->name[c]);
	}
}

/* ---- order --------------------------------------------------------------- */

struct order {
	double		change;
	uint32_t	path;
};

static int by_change(const void *a, const void *b)
{
	const struct order *one = a, *two = b;

	if (one->change != two->change)
		return one->change < two->change ? -1 : 1;
	return (one->path < two->path) - (one->path > two->path);
}

/* Link the paths, largest difference first. Return false if out of memory. */
static bool sort_paths(struct diff *diff)
{
	const struct column usual = {
		.metric = { .kind = diff->graph[0]->usual == TREE_TIME ? METRIC_TOTAL :
								       METRIC_CALLS },
		.weight = { (int)diff->graph[0]->usual, (int)diff->graph[0]->usual },
	};
	struct order *order = calloc(diff->paths, sizeof(*order));
	uint32_t i;

	if (!order)
		return false;
	for (i = 0; i < diff->paths; i++) {
		struct path *path = &diff->path[i];
		const double change = amount(diff, path, &usual, 1) - amount(diff, path, &usual, 0);

		path->child = TREE_NONE;
		path->next = TREE_NONE;
		order[i] = (struct order){ change < 0 ? -change : change, i };
	}
	qsort(order + 1, diff->paths - 1, sizeof(*order), by_change);
	/*
	 * Each path is inserted before its siblings, so insert the path with the largest difference
	 * last.
	 */
	for (i = 1; i < diff->paths; i++) {
		struct path *path = &diff->path[order[i].path];

		path->next = diff->path[path->parent].child;
		diff->path[path->parent].child = order[i].path;
	}
	free(order);
	return true;
}

static uint32_t next_path(const struct diff *diff, uint32_t path, bool into)
{
	if (into && diff->path[path].child != TREE_NONE)
		return diff->path[path].child;
	while (path && diff->path[path].next == TREE_NONE)
		path = diff->path[path].parent;
	return path ? diff->path[path].next : TREE_NONE;
}

/* ---- output -------------------------------------------------------------- */

static void put_number_of(const struct diff *diff, const struct path *path,
			  const struct column *column, unsigned int side)
{
	char text[UNITS_SIZE] = "-";

	if (path->node[side] != TREE_NONE && !is_unknown(diff, path, column, side)) {
		report_cell(text, &column->metric, value(diff, path, column, side),
			    diff->input[side]->hz, false);
		units_mark(text, is_unsure(diff, path, column, side));
	}
	put_cell(diff->out, text, column->metric.width + 1);
}

/* Return the word to write instead of a percentage, or NULL. */
static const char *change_word(const struct diff *diff, const struct path *path,
			       const struct column *column)
{
	if (path->node[0] == TREE_NONE)
		return "new";
	if (path->node[1] == TREE_NONE)
		return "gone";
	if (column->weight[0] < 0 || column->weight[1] < 0)
		return "-";
	if ((report_is_time(&column->metric) && !diff->timed) ||
	    is_unknown(diff, path, column, 0) || is_unknown(diff, path, column, 1))
		return "?";
	return NULL;
}

static void put_change(const struct diff *diff, const struct path *path,
		       const struct column *column)
{
	const double before = amount(diff, path, column, 0), after = amount(diff, path, column, 1);
	const char *word = change_word(diff, path, column);
	char text[UNITS_SIZE];

	if (before == after)
		strcpy(text, "=");
	else if (before <= 0)
		strcpy(text, "new");
	else
		snprintf(text, sizeof(text), "%+.1f%%", 100 * (after / before - 1));
	units_mark(text, is_unsure(diff, path, column, 0) || is_unsure(diff, path, column, 1));
	put_cell(diff->out, word ? word : text, CHANGE_WIDTH);
}

static void put_heading(const struct diff *diff)
{
	unsigned int c;

	output_bold(diff->out, true);
	for (c = 0; c < diff->columns; c++) {
		const struct metric *metric = &diff->column[c].metric;

		put_right(diff->out, *metric->over ? metric->over : metric->name,
			  2 * (metric->width + 1) + CHANGE_WIDTH);
	}
	put_char(diff->out, '\n');
	for (c = 0; c < diff->columns; c++) {
		put_right(diff->out, "before", diff->column[c].metric.width + 1);
		put_right(diff->out, "after", diff->column[c].metric.width + 1);
		put_right(diff->out, "change", CHANGE_WIDTH);
	}
	put_string(diff->out, "  function");
	output_bold(diff->out, false);
	put_char(diff->out, '\n');
}

static void put_path(const struct diff *diff, const struct path *path, uint32_t indent)
{
	unsigned int c, side;

	for (c = 0; c < diff->columns; c++) {
		for (side = 0; side < 2; side++)
			put_number_of(diff, path, &diff->column[c], side);
		put_change(diff, path, &diff->column[c]);
	}
	put_spaces(diff->out, 2 + 2 * (size_t)(indent < INDENT_MAX ? indent : INDENT_MAX));
	put_text(diff->out, diff->pairs.pair[path->pair].name);
	put_char(diff->out, '\n');
}

static void put_json_words(const struct diff *diff, struct report_rows *rows,
			   const struct path *path)
{
	const struct counters *counters;
	char column[REPORT_COLUMN_SIZE];
	unsigned int side;

	for (side = 0; side < 2 && diff->graph[0]->usual == TREE_TIME; side++) {
		snprintf(column, sizeof(column), "times%s", side_text[side]);
		/* A path that is missing from a trace has an exact time of 0 there. */
		report_row_word(rows, column, path->node[side] == TREE_NONE ? "exact" :
				graph_certainty(tree_of(diff, side), path->node[side]));
	}
	for (side = 0; side < 2; side++) {
		counters = analysis_counters(tree_of(diff, side)->analysis);
		if (counters->count == counters->times)
			continue;
		snprintf(column, sizeof(column), REPORT_COUNTS "%s", side_text[side]);
		report_row_word(rows, column, path->node[side] != TREE_NONE &&
				tree_of(diff, side)->node[path->node[side]].partial ?
				"partial" : "exact");
	}
}

static void put_json_path(const struct diff *diff, struct report_rows *rows,
			  const struct path *path, uint32_t depth)
{
	static const struct metric depth_metric = { METRIC_CALLS, .name = "depth" };
	const struct column *column;
	char text[UNITS_SIZE];
	unsigned int side, c;

	report_row_begin(rows, diff->pairs.pair[path->pair].name);
	report_row_number(rows, &depth_metric, "",
			  report_cell(text, &depth_metric, depth, 0, true));
	report_row_word(rows, "in", path->node[0] == TREE_NONE ? "after" :
			path->node[1] == TREE_NONE ? "before" : "both");
	for (c = 0; c < diff->columns; c++)
		for (side = 0; side < 2; side++) {
			column = &diff->column[c];
			report_cell(text, &column->metric, value(diff, path, column, side),
				    diff->input[side]->hz, true);
			report_row_number(rows, &column->metric, side_text[side],
					  is_unknown(diff, path, column, side) ? "" : text);
		}
	put_json_words(diff, rows, path);
	report_row_end(rows);
}

/*
 * Return whether a path's cost in one of the traces reaches the threshold, and its depth is within
 * the limit.
 */
static bool is_shown(const struct diff *diff, const struct path *path, uint32_t depth)
{
	const struct graph *graph = diff->graph[0];
	unsigned int side;

	if (graph->depth && depth >= (uint32_t)graph->depth)
		return false;
	for (side = 0; side < 2; side++) {
		const int weight = (int)diff->graph[side]->usual;
		const double whole = (double)tree_total(tree_of(diff, side), TREE_ROOT, weight);

		if (path->node[side] != TREE_NONE &&
		    (double)tree_total(tree_of(diff, side), path->node[side], weight) * 100 >=
		    whole * graph->least)
			return true;
	}
	return false;
}

static void put_paths(const struct diff *diff, struct report_rows *rows)
{
	uint32_t at = 0, top = TREE_NONE, depth;
	bool into = true, any = false;

	while ((at = next_path(diff, at, into)) != TREE_NONE) {
		const struct path *path = &diff->path[at];

		/* The subtree whose root matched the filter has ended. */
		if (top != TREE_NONE && path->depth <= diff->path[top].depth)
			top = TREE_NONE;
		into = true;
		if (top == TREE_NONE && !options_matches(&diff->graph[0]->filter,
							 diff->pairs.pair[path->pair].name))
			continue;
		if (top == TREE_NONE)
			top = at;
		any = true;
		depth = path->depth - diff->path[top].depth;
		into = is_shown(diff, path, depth);
		if (into && rows)
			put_json_path(diff, rows, path, depth);
		else if (into)
			put_path(diff, path, depth);
	}
	if (!any)
		options_nothing(&diff->graph[0]->common, &diff->graph[0]->filter);
}

static void put_json_paths(const struct diff *diff)
{
	struct report_rows rows = { .out = diff->out, .json = true };

	report_json_begin(diff->out, "graph", "function", diff->input[0],
			  tree_of(diff, 0)->analysis);
	report_json_more(diff->out, diff->input[1], tree_of(diff, 1)->analysis);
	report_json_rows(diff->out);
	put_paths(diff, &rows);
	report_json_end(diff->out, NULL, NULL);
}

static int show(struct diff *diff)
{
	const bool json = diff->graph[0]->json;

	diff->out = pager_open(diff->graph[0]->common.output);
	if (!diff->out)
		return EXIT_UNREADABLE;
	diff->timed = report_compares_times(diff->input, 2);
	report_tell_coverage(diff->input, 2, json ? NULL : diff->out);
	choose_columns(diff);
	if (!pair_functions(diff) || !join_paths(diff) || !sort_paths(diff)) {
		report("out of memory");
		output_close(diff->out);
		return EXIT_UNREADABLE;
	}
	if (json) {
		put_json_paths(diff);
	} else {
		put_heading(diff);
		put_paths(diff, NULL);
	}
	return output_close(diff->out) ? EXIT_UNREADABLE : EXIT_OK;
}

int graph_diff(struct graph *before, struct graph *after, const struct input input[2])
{
	struct diff diff = {
		.graph = { before, after }, .input = { &input[0], &input[1] },
	};
	const enum tree_weight one = tree_usual(trace_stats(input[0].trace));
	const enum tree_weight two = tree_usual(trace_stats(input[1].trace));
	unsigned int side;
	int result;

	if (graph_counters(before) || graph_counters(after))
		return EXIT_USAGE;
	/* Compare numbers that both traces have. */
	for (side = 0; side < 2; side++)
		graph_finish(diff.graph[side], one > two ? one : two);
	if (before->usual == TREE_SAMPLES && before->samples != after->samples) {
		report("%s has no samples, and the other trace has no calls: the traces have nothing in common to compare",
		       (before->samples ? after : before)->common.path);
		return EXIT_USAGE;
	}
	result = show(&diff);
	for (side = 0; side < 2; side++) {
		free(diff.pair_of[side]);
		free(diff.path_of[side]);
	}
	free(diff.path);
	free(diff.hash.slot);
	pairs_free(&diff.pairs);
	return result;
}
