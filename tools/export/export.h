/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Ways to hand a trace to other programs. */
#ifndef SIFIVE_TRACE_EXPORT_H
#define SIFIVE_TRACE_EXPORT_H

#include "analysis.h"
#include "options.h"
#include "../output.h"
#include "tree.h"

#define EXPORT_NAME_SIZE	512

/**
 * struct export - an export under way
 * @format:	--format, as an index; -1: none
 * @weight:	--weight, NULL for the usual one
 * @weighed_by:	which that is, enum tree_weight; at the end of exporters of trees
 * @input:	the trace
 * @analysis:	its calls
 * @out:	what is written, NULL for folders and before a tree's end
 * @tree:	the tree of calls, for those who want it
 * @private:	the exporter's
 */
struct export {
	struct options		common;
	int			format;
	const char		*weight;
	int			weighed_by;
	struct input		input;
	struct analysis		*analysis;
	struct output		*out;
	struct tree		tree;
	void			*private;
};

/**
 * struct exporter - a format
 * @name:	for --format
 * @help:	what it is for
 * @to_folder:	it writes several files: --output is a folder
 * @of_tree:	it writes, not before @end, a tree with a branch for each thread
 * @begin:	before the trace is read. Return -1 when it cannot be: the
 *		reason has been printed.
 * @ops:	while it is read; the context is the struct export
 * @end:	behind it: the tree is complete. Return -1 for an error.
 * @run:	instead of these: read the trace, which is of no calls then. Return -1
 *		for an error: the reason has been printed.
 * @free:	free @private, also after an error
 */
struct exporter {
	const char		*name;
	const char		*help;
	bool			to_folder;
	bool			of_tree;
	int			(*begin)(struct export *export);
	struct analysis_ops	ops;
	int			(*end)(struct export *export);
	int			(*run)(struct export *export);
	void			(*free)(struct export *export);
};

extern const struct exporter export_chrome;
extern const struct exporter export_folded;
extern const struct exporter export_svg;
extern const struct exporter export_ctf;
extern const struct exporter export_dqr;
extern const struct exporter export_html;

/* For exporters that make a tree: to be used as their ops. */
void export_tree_enter(void *context, struct analysis_thread *thread);
void export_tree_leave(void *context, struct analysis_thread *thread,
		       const struct analysis_end *end);
void export_tree_point(void *context, struct analysis_thread *thread,
		       const struct analysis_step *step);

/** export_weight_name() - "us", "ticks", "samples", or a counter's name */
const char *export_weight_name(const struct export *export, int weight);

/* Texts that Makefile puts into the program. */
extern const char export_flame_js[];
extern const char export_page_js[];
extern const char export_times_js[];
extern const char export_flames_js[];
extern const char export_page_css[];

#endif /* SIFIVE_TRACE_EXPORT_H */
