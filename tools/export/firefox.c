// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Writes JSON in the Firefox profiler's processed format: separate column tables per thread. A
 * stack is a call path. Each stack has one sample, with the self cost of the innermost function.
 * Each column must have a value for every row of its table.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../command.h"
#include "coverage.h"
#include "export.h"
#include "tracks.h"

/* Versions of the profiler's format, and of the browser's format. */
#define FORMAT_VERSION	48
#define GECKO_VERSION	29

/**
 * struct writer - state of an export
 * @weight:	weight of each node without its callees
 * @stack:	row of each node in its thread's table of stacks
 * @row:	1 + the row of each key_of() in the thread's tables
 * @function:	key of each row
 * @file:	index, by function, of the string with the function's file name
 * @functions:	number of rows in the thread's tables of functions and frames; a function has one
 *		row for each mark
 * @strings:	number of strings of the thread
 * @thread:	the thread's node
 * @at:		sum of the weights of the samples already written
 * @any:	set if the column already has a value
 */
struct writer {
	struct export	*export;
	struct output	*out;
	uint64_t	*weight;
	uint32_t	*stack;
	uint32_t	*row;
	uint32_t	*function;
	uint32_t	*file;
	uint32_t	functions;
	uint32_t	strings;
	uint32_t	thread;
	uint64_t	at;
	bool		any;
};

#define NO_FILE	UINT32_MAX

/* Return a key for the combination of a node's function and its mark. */
static uint32_t key_of(const struct writer *writer, uint32_t node)
{
	return writer->export->tree.node[node].function * EXPORT_MARKS +
	       (uint32_t)export_mark(writer->export, node);
}

static bool is_time(const struct writer *writer)
{
	return export_is_time(writer->export, writer->export->weighed_by) &&
	       writer->export->input.hz;
}

/* ---- columns ------------------------------------------------------------ */

static void begin_column(struct writer *writer, const char *name)
{
	put_format(writer->out, ",\n\"%s\":[", name);
	writer->any = false;
}

static void next_value(struct writer *writer)
{
	if (writer->any)
		put_char(writer->out, ',');
	writer->any = true;
}

static void put_same(struct writer *writer, const char *name, const char *value)
{
	uint32_t i;

	begin_column(writer, name);
	for (i = 0; i < writer->functions; i++) {
		next_value(writer);
		put_string(writer->out, value);
	}
	put_char(writer->out, ']');
}

/* Write a value for each row of functions or frames. */
static void put_rows(struct writer *writer, const char *name,
		     void (*put)(struct writer *writer, uint32_t row))
{
	uint32_t i;

	begin_column(writer, name);
	for (i = 0; i < writer->functions; i++) {
		next_value(writer);
		put(writer, i);
	}
	put_char(writer->out, ']');
}

/* Call @put for each call path of the thread, callers first. */
static void each_path(struct writer *writer,
		      void (*put)(struct writer *writer, uint32_t node))
{
	const struct tree *tree = &writer->export->tree;
	uint32_t end = tree->node[writer->thread].next, node = writer->thread;

	while ((node = tree_next(tree, node, true)) != end)
		put(writer, node);
}

static void put_paths(struct writer *writer, const char *name,
		      void (*put)(struct writer *writer, uint32_t node))
{
	begin_column(writer, name);
	each_path(writer, put);
	put_char(writer->out, ']');
}

/* ---- content of the tables ---------------------------------------------------- */

static void put_row(struct writer *writer, uint32_t row)
{
	put_number(writer->out, row, 0);
}

static void put_file(struct writer *writer, uint32_t row)
{
	if (writer->file[row] == NO_FILE)
		put_string(writer->out, "null");
	else
		put_number(writer->out, writer->file[row], 0);
}

static void find_symbol(struct writer *writer, uint32_t row, struct symbol *symbol)
{
	struct analysis *analysis = writer->export->analysis;
	const uint32_t function = writer->function[row] / EXPORT_MARKS;

	*symbol = (struct symbol){ 0 };
	if (function != FUNCTIONS_OTHER)
		symbols_find(writer->export->input.symbols,
			     functions_address(analysis_functions(analysis), function), symbol);
}

static void put_line(struct writer *writer, uint32_t row)
{
	struct symbol symbol;

	find_symbol(writer, row, &symbol);
	if (symbol.line > 0)
		put_number(writer->out, (uint64_t)symbol.line, 0);
	else
		put_string(writer->out, "null");
}

static void put_prefix(struct writer *writer, uint32_t node)
{
	uint32_t parent = writer->export->tree.node[node].parent;

	next_value(writer);
	if (parent == writer->thread)
		put_string(writer->out, "null");
	else
		put_number(writer->out, writer->stack[parent], 0);
}

static void put_frame(struct writer *writer, uint32_t node)
{
	next_value(writer);
	put_number(writer->out, writer->row[key_of(writer, node)] - 1, 0);
}

static void put_zero(struct writer *writer, uint32_t node)
{
	(void)node;
	next_value(writer);
	put_char(writer->out, '0');
}

static void put_stack(struct writer *writer, uint32_t node)
{
	if (!writer->weight[node])
		return;
	next_value(writer);
	put_number(writer->out, writer->stack[node], 0);
}

/* Write milliseconds, or a count. */
static void put_amount(struct writer *writer, uint64_t amount)
{
	if (is_time(writer))
		put_format(writer->out, "%" PRIu64 ".%06" PRIu64, amount / 1000000,
			   amount % 1000000);
	else
		put_number(writer->out, amount, 0);
}

static void put_at(struct writer *writer, uint32_t node)
{
	if (!writer->weight[node])
		return;
	next_value(writer);
	put_amount(writer, writer->at);
	writer->at += writer->weight[node];
}

static void put_weight(struct writer *writer, uint32_t node)
{
	if (!writer->weight[node])
		return;
	next_value(writer);
	put_amount(writer, writer->weight[node]);
}

/* ---- a thread ----------------------------------------------------------- */

/*
 * Add a path's row to the stack table. If the other tables have no row for the path's function yet,
 * add one.
 */
static void add_path(struct writer *writer, uint32_t node)
{
	const uint32_t key = key_of(writer, node);

	/* While stacks are being added, @at is the number of stacks so far. */
	writer->stack[node] = (uint32_t)writer->at++;
	if (writer->row[key])
		return;
	writer->function[writer->functions++] = key;
	writer->row[key] = writer->functions;
}

static void put_strings(struct writer *writer)
{
	char name[EXPORT_MARKED_SIZE];
	const char *last = NULL;
	struct symbol symbol;
	uint32_t i;

	begin_column(writer, "stringArray");
	for (i = 0; i < writer->functions; i++) {
		next_value(writer);
		export_marked_name(writer->export, writer->function[i] / EXPORT_MARKS,
				   writer->function[i] % EXPORT_MARKS, name);
		put_json(writer->out, name);
	}
	writer->strings = writer->functions;
	for (i = 0; i < writer->functions; i++) {
		find_symbol(writer, i, &symbol);
		writer->file[i] = symbol.file ? writer->strings - (symbol.file == last) :
						NO_FILE;
		if (!symbol.file || symbol.file == last)
			continue;
		next_value(writer);
		put_json(writer->out, symbol.file);
		writer->strings++;
		last = symbol.file;
	}
	put_char(writer->out, ']');
}

static void begin_table(struct writer *writer, const char *name, uint64_t length)
{
	put_format(writer->out, ",\n\"%s\":{\"length\":%" PRIu64, name, length);
}

static void put_functions(struct writer *writer)
{
	begin_table(writer, "funcTable", writer->functions);
	put_rows(writer, "name", put_row);
	put_same(writer, "isJS", "false");
	put_same(writer, "relevantForJS", "false");
	put_same(writer, "resource", "-1");
	put_rows(writer, "fileName", put_file);
	put_rows(writer, "lineNumber", put_line);
	put_same(writer, "columnNumber", "null");
	put_char(writer->out, '}');
	begin_table(writer, "frameTable", writer->functions);
	put_same(writer, "address", "-1");
	put_same(writer, "inlineDepth", "0");
	put_same(writer, "category", "0");
	put_same(writer, "subcategory", "0");
	put_rows(writer, "func", put_row);
	put_same(writer, "nativeSymbol", "null");
	put_same(writer, "innerWindowID", "0");
	put_same(writer, "implementation", "null");
	put_rows(writer, "line", put_line);
	put_same(writer, "column", "null");
	put_char(writer->out, '}');
}

static void put_samples(struct writer *writer, uint64_t stacks)
{
	const struct tree *tree = &writer->export->tree;
	uint32_t end = tree->node[writer->thread].next, node = writer->thread;
	uint64_t samples = 0;

	begin_table(writer, "stackTable", stacks);
	put_paths(writer, "prefix", put_prefix);
	put_paths(writer, "frame", put_frame);
	put_paths(writer, "category", put_zero);
	put_paths(writer, "subcategory", put_zero);
	put_char(writer->out, '}');
	while ((node = tree_next(tree, node, true)) != end)
		samples += writer->weight[node] != 0;
	begin_table(writer, "samples", samples);
	put_format(writer->out, ",\"weightType\":\"%s\"",
		   is_time(writer) ? "tracing-ms" : "samples");
	put_paths(writer, "stack", put_stack);
	writer->at = 0;
	put_paths(writer, "time", put_at);
	put_paths(writer, "weight", put_weight);
	put_char(writer->out, '}');
}

/* Write the empty tables that viewers expect. */
static void put_empty(struct writer *writer)
{
	put_string(writer->out, ",\n\"markers\":{\"length\":0,\"category\":[],\"data\":[],\"endTime\":[],\"name\":[],\"phase\":[],\"startTime\":[]},\n"
		   "\"nativeSymbols\":{\"length\":0,\"address\":[],\"functionSize\":[],\"libIndex\":[],\"name\":[]},\n"
		   "\"resourceTable\":{\"length\":0,\"lib\":[],\"name\":[],\"host\":[],\"type\":[]},\n"
		   "\"pausedRanges\":[]");
}

static void put_thread(struct writer *writer)
{
	const struct export *export = writer->export;
	const struct thread *thread = threads_get(analysis_threads(export->analysis),
		export->tree.node[writer->thread].function);
	const int64_t pid = tracks_pid(thread), tid = tracks_tid(thread);
	uint64_t stacks;
	uint32_t i;

	put_string(writer->out, "{\"name\":");
	put_json(writer->out, thread->label);
	put_string(writer->out, ",\"processName\":");
	put_json(writer->out, tracks_process(&export->input.meta, thread));
	put_format(writer->out, ",\"processType\":\"default\",\"pid\":\"%" PRId64
		   "\",\"tid\":%" PRId64 ",\"isMainThread\":%s,\"registerTime\":0,\"unregisterTime\":null,\"processStartupTime\":0,\"processShutdownTime\":null",
		   pid, tid, pid == tid ? "true" : "false");
	writer->functions = 0;
	writer->at = 0;
	each_path(writer, add_path);
	stacks = writer->at;
	put_strings(writer);
	put_functions(writer);
	put_samples(writer, stacks);
	put_empty(writer);
	put_char(writer->out, '}');
	for (i = 0; i < writer->functions; i++)
		writer->row[writer->function[i]] = 0;
}

/* ---- the profile --------------------------------------------------------- */

/* Write the origin of the profile and its missing data; the profiler shows both. */
static void put_meta(struct writer *writer)
{
	const struct input *input = &writer->export->input;
	char coverage[COVERAGE_SIZE];

	put_format(writer->out, "{\"meta\":{\"version\":%d,\"preprocessedProfileVersion\":%d,"
		   "\"product\":\"sifive-trace\",\"importedFrom\":\"sifive-trace " VERSION
		   "\",\"interval\":1,\"startTime\":0,\"processType\":0,\"stackwalk\":1,\"debug\":false,"
		   "\"symbolicated\":true,\"usesOnlyOneStackType\":true,\"doesNotUseFrameImplementation\":true,"
		   "\"sourceCodeIsNotOnSearchfox\":true,\n\"extensions\":{\"length\":0,\"baseURL\":[],\"id\":[],\"name\":[]},"
		   "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},"
		   "\"categories\":[{\"name\":\"Calls\",\"color\":\"blue\",\"subcategories\":[\"Other\"]}],"
		   "\"markerSchema\":[],\n\"extra\":[{\"label\":\"Trace\",\"entries\":[{\"label\":\"Weight\",\"format\":\"string\",\"value\":",
		   GECKO_VERSION, FORMAT_VERSION);
	put_json(writer->out, export_weight_name(writer->export, writer->export->weighed_by));
	if (*coverage_text(input, coverage)) {
		put_string(writer->out, "},{\"label\":\"Coverage\",\"format\":\"string\",\"value\":");
		put_json(writer->out, coverage);
	}
	put_string(writer->out, "}]}]},\n\"coverage\":{");
	coverage_json(input, writer->out);
	put_string(writer->out, "},\n\"libs\":[],\"pages\":[],\"threads\":[\n");
}

static void put_profile(struct writer *writer)
{
	struct tree *tree = &writer->export->tree;

	put_meta(writer);
	for (writer->thread = tree->node[TREE_ROOT].child; writer->thread != TREE_NONE;
	     writer->thread = tree->node[writer->thread].next) {
		if (writer->thread != tree->node[TREE_ROOT].child)
			put_string(writer->out, ",\n");
		put_thread(writer);
	}
	put_string(writer->out, "\n]}\n");
}

/* Return -1 if out of memory. */
static int weigh(struct writer *writer)
{
	const struct tree *tree = &writer->export->tree;
	uint64_t *ticks = calloc(functions_count(analysis_functions(writer->export->analysis)),
				 sizeof(*ticks));
	uint32_t i;

	for (i = 1; ticks && i < tree->nodes; i++)
		if (tree->node[i].parent != TREE_ROOT)
			writer->weight[i] = is_time(writer) ?
				export_own_time(writer->export, &ticks[tree->node[i].function],
						tree_self(tree, i, writer->export->weighed_by)) :
				tree_self(tree, i, writer->export->weighed_by);
	free(ticks);
	return ticks ? 0 : -1;
}

static int firefox_end(struct export *export)
{
	uint32_t functions = functions_count(analysis_functions(export->analysis)) * EXPORT_MARKS;
	struct writer writer = { .export = export, .out = export->out };
	int result = -1;

	writer.weight = calloc(export->tree.nodes, sizeof(*writer.weight));
	writer.stack = calloc(export->tree.nodes, sizeof(*writer.stack));
	writer.row = calloc(functions, sizeof(*writer.row));
	writer.function = calloc(functions, sizeof(*writer.function));
	writer.file = calloc(functions, sizeof(*writer.file));
	tree_finish(&export->tree, export->weighed_by);
	if (writer.weight && writer.stack && writer.row && writer.function && writer.file &&
	    !weigh(&writer)) {
		put_profile(&writer);
		result = 0;
	} else {
		report("out of memory");
	}
	free(writer.weight);
	free(writer.stack);
	free(writer.row);
	free(writer.function);
	free(writer.file);
	return result;
}

const struct exporter export_firefox = {
	.name = "firefox",
	.help = "JSON for profiler.firefox.com: call tree and flame graph of each thread",
	.of_tree = true,
	.ops = &export_tree_ops,
	.end = firefox_end,
};
