// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Writes a flame graph as one SVG file: each path of calls is a box, as wide as the path's weight,
 * on top of the caller's box. The embedded flame.js zooms and searches.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "../command.h"
#include "../units.h"
#include "coverage.h"
#include "export.h"

#define PAGE_WIDTH	1200
#define ROW		18
#define TOP		70
#define BOTTOM		30
#define MARGIN		10
/*
 * Maximum number of boxes, so that a browser opens the file in under a second. If there are more,
 * the narrowest boxes are omitted.
 */
#define BOXES_MAX	1500
#define DEPTH_MAX	1000

struct layout {
	const struct tree	*tree;
	int			weight;
	uint64_t		*width;		/* width of each node, including its callees */
	uint64_t		*left;
	bool			*unsure;	/* set for nodes with a partly inexact width */
	uint64_t		least;		/* minimum width of a box */
	uint32_t		omitted;	/* boxes beyond BOXES_MAX */
	uint32_t		depth;
};

static void lay_out(const struct export *export, struct layout *layout)
{
	const struct tree *tree = layout->tree;
	uint32_t i, node;

	for (i = 1; i < tree->nodes; i++) {
		layout->width[i] = tree_self(tree, i, layout->weight);
		layout->unsure[i] = export_is_unsure(export, i, layout->weight);
	}
	/* Visit callees before callers: a node's number is greater than its caller's. */
	for (i = tree->nodes - 1; i; i--) {
		layout->width[tree->node[i].parent] += layout->width[i];
		layout->unsure[tree->node[i].parent] |= layout->unsure[i];
	}
	layout->left[TREE_ROOT] = 0;
	for (node = TREE_ROOT; node != TREE_NONE;
	     node = tree_next(tree, node, true)) {
		uint64_t left = layout->left[node];

		for (i = tree->node[node].child; i != TREE_NONE;
		     i = tree->node[i].next) {
			layout->left[i] = left;
			left += layout->width[i];
		}
	}
}

/* Return a node's level: 0 for the root, which is at the bottom of the page. */
static uint32_t level(const struct tree *tree, uint32_t node)
{
	return node == TREE_ROOT ? 0 : tree->node[node].depth + 1;
}

static bool shown(const struct layout *layout, uint32_t node)
{
	return layout->width[node] && layout->width[node] >= layout->least &&
	       level(layout->tree, node) < DEPTH_MAX;
}

static void choose_least(struct layout *layout)
{
	uint32_t i, count = BOXES_MAX + 1, most = 0;

	layout->least = layout->width[TREE_ROOT] / 1000000;
	while (count > BOXES_MAX) {
		count = 0;
		layout->depth = 0;
		for (i = 0; i < layout->tree->nodes; i++) {
			if (!shown(layout, i))
				continue;
			count++;
			if (level(layout->tree, i) > layout->depth)
				layout->depth = level(layout->tree, i);
		}
		if (count > most)
			most = count;
		if (count > BOXES_MAX)
			layout->least = 2 * layout->least + 1;
	}
	layout->omitted = most - count;
}

/* Write a colour between yellow and red; equal names have the same colour. */
static void put_colour(struct output *out, const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	put_format(out, "rgb(%u,%u,%u)", 205 + hash % 50, 80 + hash / 50 % 130,
		   hash / 6500 % 55);
}

static void put_weight(struct export *export, const struct layout *layout,
		       uint64_t weight, bool uncertain)
{
	bool time = export_is_time(export, layout->weight);
	char text[UNITS_SIZE];

	if (uncertain)
		put_char(export->out, '~');
	if (time)
		put_string(export->out, units_time(text, weight, export->input.hz));
	else
		put_string(export->out, units_count(text, weight));
	if (!time || !export->input.hz) {
		put_char(export->out, ' ');
		put_xml(export->out, time ? "ticks" :
			export_weight_name(export, layout->weight));
	}
}

static void put_box(struct export *export, const struct layout *layout,
		    uint32_t node, unsigned int height)
{
	double whole = (double)layout->width[TREE_ROOT];
	double left = (double)layout->left[node] / whole;
	double width = (double)layout->width[node] / whole;
	unsigned int y = height - BOTTOM - ROW * (level(layout->tree, node) + 1);
	struct output *out = export->out;
	char name[EXPORT_NAME_SIZE];

	tree_name(layout->tree, node, name, sizeof(name));
	put_format(out, "<g class=\"b\" data-l=\"%.9f\" data-w=\"%.9f\" data-d=\"%u\" data-n=\"",
		   left, width, level(layout->tree, node));
	put_xml(out, name);
	put_string(out, "\"><title>");
	put_xml(out, name);
	put_string(out, " (");
	put_weight(export, layout, layout->width[node], layout->unsure[node]);
	put_format(out, ", %.2f%%", 100 * width);
	if (layout->tree->node[node].calls)
		put_format(out, ", %" PRIu64 " calls",
			   layout->tree->node[node].calls);
	put_format(out, ")</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%u\" fill=\"",
		   MARGIN + left * (PAGE_WIDTH - 2 * MARGIN), y,
		   width * (PAGE_WIDTH - 2 * MARGIN), ROW - 1);
	/* The root and the threads, which are not functions. */
	if (node == TREE_ROOT || layout->tree->node[node].parent == TREE_ROOT)
		put_string(out, "#ccc");
	else
		put_colour(out, name);
	put_format(out, "\"/><text x=\"%.2f\" y=\"%u\"></text></g>\n",
		   MARGIN + left * (PAGE_WIDTH - 2 * MARGIN) + 3, y + ROW - 5);
}

static void put_page(struct export *export, const struct layout *layout)
{
	unsigned int height = TOP + BOTTOM + ROW * (layout->depth + 1);
	struct output *out = export->out;
	char coverage[COVERAGE_SIZE];
	uint32_t node;

	put_format(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\">\n"
		   "<style>text{font:12px monospace;pointer-events:none}.b{cursor:pointer}"
		   ".b:hover rect{stroke:#000}.u{cursor:pointer;pointer-events:auto;fill:#06c}</style>\n"
		   "<rect width=\"100%%\" height=\"100%%\" fill=\"#fffdf5\"/>\n",
		   PAGE_WIDTH, height, PAGE_WIDTH, height);
	put_format(out, "<text x=\"%u\" y=\"24\" text-anchor=\"middle\" style=\"font-size:17px\">",
		   PAGE_WIDTH / 2);
	put_xml(out, export->input.meta.exe ? export->input.meta.exe :
					      export->common.path);
	put_string(out, ": ");
	put_xml(out, layout->weight == TREE_TIME ? "time" :
		export_weight_name(export, layout->weight));
	put_format(out, "</text>\n<text id=\"reset\" class=\"u\" x=\"%u\" y=\"48\" visibility=\"hidden\">reset zoom</text>\n"
		   "<text id=\"search\" class=\"u\" x=\"%u\" y=\"48\" text-anchor=\"end\">search (Ctrl-F)</text>\n"
		   "<text id=\"found\" x=\"%u\" y=\"%u\" text-anchor=\"end\"></text>\n"
		   "<text id=\"detail\" x=\"%u\" y=\"%u\"></text>\n", MARGIN,
		   PAGE_WIDTH - MARGIN, PAGE_WIDTH - MARGIN, height - 8, MARGIN,
		   height - 8);
	put_format(out, "<text id=\"coverage\" x=\"%u\" y=\"48\" text-anchor=\"middle\">",
		   PAGE_WIDTH / 2);
	put_xml(out, coverage_text(&export->input, coverage));
	put_string(out, "</text>\n");
	for (node = TREE_ROOT; node != TREE_NONE;
	     node = tree_next(layout->tree, node, shown(layout, node)))
		if (shown(layout, node))
			put_box(export, layout, node, height);
	put_string(out, "<script><![CDATA[\n");
	put_string(out, export_flame_js);
	put_string(out, "]]></script>\n</svg>\n");
}

static int svg_end(struct export *export)
{
	struct layout layout = { .tree = &export->tree };
	int result = -1;

	layout.weight = export->weighed_by;
	tree_finish(&export->tree, layout.weight);
	layout.width = calloc(export->tree.nodes, sizeof(*layout.width));
	layout.left = calloc(export->tree.nodes, sizeof(*layout.left));
	layout.unsure = calloc(export->tree.nodes, sizeof(*layout.unsure));
	if (layout.width && layout.left && layout.unsure) {
		lay_out(export, &layout);
		choose_least(&layout);
		if (layout.omitted)
			report("%s: too many different paths: the flame graph lacks %u boxes narrower than %.3g%%",
			       export->common.path, layout.omitted,
			       100 * (double)layout.least / (double)layout.width[TREE_ROOT]);
		put_page(export, &layout);
		result = 0;
	} else {
		report("out of memory");
	}
	free(layout.width);
	free(layout.left);
	free(layout.unsure);
	return result;
}

const struct exporter export_svg = {
	.name = "svg",
	.help = "a flame graph: one file for any browser",
	.of_tree = true,
	.ops = &export_tree_ops,
	.end = svg_end,
};
