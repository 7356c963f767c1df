// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Writes folded stacks, "main;fib;fib 123", for flame graph programs. */
#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "export.h"

/*
 * Maximum number of frames in a stack. In a deep recursion, the stack of each call repeats all of
 * its callers, so the size of the output would grow with the square of the depth.
 */
#define FRAMES_MAX	1024

/*
 * Write the names along the path from the root. If the path is too long, omit the frames between
 * the outermost frames and the innermost frame, which has the weight, and return true. The format
 * cannot contain notes. Therefore, an additional outermost frame marks hart counts, and a suffix to
 * a name marks an inexact weight.
 */
static bool put_path(struct export *export, uint32_t *path, uint32_t node)
{
	int weight = export->weighed_by;
	char name[EXPORT_NAME_SIZE], *c;
	uint32_t depth = 0, written = 0;
	bool omitted = false;

	if (weight >= TREE_COUNTER &&
	    counters_of_hart(analysis_counters(export->analysis),
			     (unsigned int)(weight - TREE_COUNTER))) {
		put_text(export->out, export_weight_name(export, weight));
		put_char(export->out, ';');
	}
	for (; node != TREE_ROOT; node = export->tree.node[node].parent)
		path[depth++] = node;
	while (depth) {
		depth--;
		if (++written == FRAMES_MAX - 1 && depth > 1) {
			put_string(export->out, "[...];");
			depth = 0;
			omitted = true;
		}
		tree_name(&export->tree, path[depth], name, sizeof(name));
		for (c = name; *c; c++)
			if (*c == ';' || *c == '\n')
				*c = ':';
		put_text(export->out, name);
		put_string(export->out, export_suffix[export_mark(export, path[depth])]);
		if (depth)
			put_char(export->out, ';');
	}
	return omitted;
}

static int folded_end(struct export *export)
{
	uint32_t *path = calloc(export->tree.nodes, sizeof(*path)), i;
	int weight = export->weighed_by;
	bool omitted = false;

	if (!path)
		report("out of memory");
	for (i = 1; path && i < export->tree.nodes; i++) {
		uint64_t self = tree_self(&export->tree, i, weight);

		if (export_is_time(export, weight) && export->input.hz)
			self = export_nanoseconds(export, self);
		if (!self)
			continue;
		omitted |= put_path(export, path, i);
		put_char(export->out, ' ');
		put_number(export->out, self, 0);
		put_char(export->out, '\n');
	}
	if (omitted)
		report("%s: in paths of more than %d calls, [...] replaces the calls between the outermost ones and the innermost one",
		       export->common.path, FRAMES_MAX);
	free(path);
	return path ? 0 : -1;
}

const struct exporter export_folded = {
	.name = "folded",
	.help = "one stack per line, for flame graph programs",
	.of_tree = true,
	.ops = &export_tree_ops,
	.end = folded_end,
};
