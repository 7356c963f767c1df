// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Writes JSON for speedscope: a profile for each thread. Each call path opens and closes once, so
 * the file's size depends on the number of paths, not on the number or depth of calls.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../command.h"
#include "coverage.h"
#include "export.h"

/*
 * @width:	weight of each node with its callees
 * @marked:	for each function and mark, the number of the frame with a marked name, or 0
 * @at:		sum of the weights before the current position in the thread
 */
struct writer {
	struct export	*export;
	uint64_t	*width;
	uint32_t	*marked;
	uint64_t	at;
	bool		any;		/* set if the thread already has an event */
};

static void measure(struct writer *writer)
{
	const struct tree *tree = &writer->export->tree;
	uint32_t i;

	/* Visit callees before callers: a node's number is greater than its caller's. */
	for (i = tree->nodes - 1; i; i--) {
		writer->width[i] += tree_self(tree, i, writer->export->weighed_by);
		writer->width[tree->node[i].parent] += writer->width[i];
	}
}

/* Round positions rather than weights, so that the total is exact. */
static uint64_t position(const struct export *export, uint64_t weight)
{
	if (!export_is_time(export, export->weighed_by) || !export->input.hz)
		return weight;
	return export_nanoseconds(export, weight);
}

static uint32_t *marked_frame(const struct writer *writer, uint32_t node)
{
	return &writer->marked[writer->export->tree.node[node].function * EXPORT_MARKS +
			       (uint32_t)export_mark(writer->export, node)];
}

static void put_event(struct writer *writer, char type, uint32_t node)
{
	const uint32_t marked = *marked_frame(writer, node);
	struct output *out = writer->export->out;

	if (writer->any)
		put_char(out, ',');
	writer->any = true;
	put_format(out, "\n{\"type\":\"%c\",\"frame\":%u,\"at\":", type,
		   marked ? marked : writer->export->tree.node[node].function);
	put_number(out, position(writer->export, writer->at), 0);
	put_char(out, '}');
}

/* Close paths from *@open outwards, until @node is the innermost open path. */
static void close_paths(struct writer *writer, uint32_t *open, uint32_t node)
{
	for (; *open != node; *open = writer->export->tree.node[*open].parent)
		put_event(writer, 'C', *open);
}

static void put_events(struct writer *writer, uint32_t thread)
{
	const struct tree *tree = &writer->export->tree;
	uint32_t end = tree->node[thread].next, open = thread, node = thread;

	writer->any = false;
	writer->at = tree_self(tree, thread, writer->export->weighed_by);
	while ((node = tree_next(tree, node, writer->width[node] != 0)) != end) {
		if (!writer->width[node])
			continue;
		close_paths(writer, &open, tree->node[node].parent);
		put_event(writer, 'O', node);
		writer->at += tree_self(tree, node, writer->export->weighed_by);
		open = node;
	}
	close_paths(writer, &open, thread);
}

static void put_profiles(struct writer *writer)
{
	struct export *export = writer->export;
	const struct tree *tree = &export->tree;
	bool time = export_is_time(export, export->weighed_by) && export->input.hz;
	uint32_t thread = tree->node[TREE_ROOT].child;
	char name[EXPORT_NAME_SIZE];
	const char *separator = "";

	for (; thread != TREE_NONE; thread = tree->node[thread].next) {
		if (!writer->width[thread])
			continue;
		tree_name(tree, thread, name, sizeof(name));
		put_format(export->out, "%s{\"type\":\"evented\",\"name\":", separator);
		put_json(export->out, name);
		put_format(export->out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":",
			   time ? "nanoseconds" : "none");
		put_number(export->out, position(export, writer->width[thread]), 0);
		put_string(export->out, ",\"events\":[");
		put_events(writer, thread);
		put_string(export->out, "]}");
		separator = ",\n";
	}
}

static void put_frame(struct export *export, uint32_t number, uint32_t function,
		      enum export_mark mark)
{
	char name[EXPORT_MARKED_SIZE];

	export_marked_name(export, function, mark, name);
	put_string(export->out, number ? ",\n{\"name\":" : "{\"name\":");
	put_json(export->out, name);
	put_char(export->out, '}');
}

/* Each function's frame has the function's number. Frames with marked names follow. */
static void put_frames(struct writer *writer)
{
	struct export *export = writer->export;
	uint32_t count = functions_count(analysis_functions(export->analysis)), i, *frame;

	for (i = 0; i < count; i++)
		put_frame(export, i, i, EXPORT_EXACT);
	for (i = 1; i < export->tree.nodes; i++) {
		/* A thread's node contains the thread's id instead of a function's number. */
		if (export->tree.node[i].parent == TREE_ROOT || !writer->width[i])
			continue;
		frame = marked_frame(writer, i);
		if (*frame || export_mark(export, i) == EXPORT_EXACT)
			continue;
		put_frame(export, count, export->tree.node[i].function, export_mark(export, i));
		*frame = count++;
	}
}

static void put_title(struct export *export)
{
	char coverage[COVERAGE_SIZE], title[EXPORT_NAME_SIZE + COVERAGE_SIZE];
	const char *name = export->input.meta.exe ? export->input.meta.exe :
						    export->common.path;

	coverage_text(&export->input, coverage);
	snprintf(title, sizeof(title), "%.*s: %s%s%s", EXPORT_NAME_SIZE / 2, name,
		 export_weight_name(export, export->weighed_by),
		 *coverage ? "; " : "", coverage);
	put_json(export->out, title);
}

static int speedscope_end(struct export *export)
{
	struct writer writer = { .export = export };
	struct output *out = export->out;

	writer.width = calloc(export->tree.nodes, sizeof(*writer.width));
	writer.marked = calloc(functions_count(analysis_functions(export->analysis)),
			       EXPORT_MARKS * sizeof(*writer.marked));
	if (!writer.width || !writer.marked) {
		report("out of memory");
		free(writer.width);
		free(writer.marked);
		return -1;
	}
	tree_finish(&export->tree, export->weighed_by);
	measure(&writer);
	put_string(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
		   "\"exporter\":\"sifive-trace " VERSION
		   "\",\n\"name\":");
	put_title(export);
	put_string(out, ",\n\"coverage\":{");
	coverage_json(&export->input, out);
	put_string(out, "},\n\"shared\":{\"frames\":[\n");
	put_frames(&writer);
	put_string(out, "]},\n\"profiles\":[\n");
	put_profiles(&writer);
	put_string(out, "]}\n");
	free(writer.width);
	free(writer.marked);
	return 0;
}

const struct exporter export_speedscope = {
	.name = "speedscope",
	.help = "JSON for speedscope: a profile of each thread's calls",
	.of_tree = true,
	.ops = &export_tree_ops,
	.end = speedscope_end,
};
