// SPDX-License-Identifier: Apache-2.0 OR MIT
/* sifive-trace export: a trace for other programs. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../command.h"
#include "export.h"

static const struct exporter * const exporters[] = {
	&export_chrome, &export_folded, &export_svg, &export_html, &export_ctf,
	&export_dqr,
};

#define EXPORTERS	(sizeof(exporters) / sizeof(exporters[0]))

enum own_option {
	OPTION_FORMAT = OPTION_OWN,
	OPTION_WEIGHT,
};

static const struct option long_options[] = {
	COMMON_LONG,
	{ "format",	required_argument, NULL, OPTION_FORMAT },
	{ "weight",	required_argument, NULL, OPTION_WEIGHT },
	{ "output",	required_argument, NULL, 'o' },
	{ NULL, 0, NULL, 0 }
};

static void help(void)
{
	puts("usage: sifive-trace export --format FORMAT [OPTION]... TRACE|-\n"
	     "\n"
	     "Write a trace for other programs.\n"
	     "\n"
	     "      --format chrome   JSON for ui.perfetto.dev and chrome://tracing: calls of\n"
	     "                        each thread, and the rate of each counter\n"
	     "      --format folded   a stack a line, for flame graph programs\n"
	     "      --format svg      a flame graph: one file for any browser\n"
	     "      --format html     a page for any browser: time line, flame graph, counters\n"
	     "      --format ctf      a folder in the Common Trace Format, for Trace Compass\n"
	     "                        and babeltrace2\n"
	     "      --format dqr      a folder that SiFive's decoder reads: traces, settings\n"
	     "                        and programs\n"
	     "      --weight KEY      what stacks are weighed by: time (default; calls where\n"
	     "                        there are no times, samples where there are no calls),\n"
	     "                        calls, samples, or a counter's name\n"
	     "  -o, --output PATH     file to write to (default: standard output); the folder\n"
	     "                        for ctf and dqr");
	puts(options_help);
}

void export_tree_enter(void *context, struct analysis_thread *thread)
{
	struct export *export = context;

	tree_enter(&export->tree, thread);
}

void export_tree_leave(void *context, struct analysis_thread *thread,
		       const struct analysis_end *end)
{
	struct export *export = context;

	tree_leave(&export->tree, thread, end);
}

void export_tree_point(void *context, struct analysis_thread *thread,
		       const struct analysis_step *step)
{
	struct export *export = context;

	tree_point(&export->tree, thread, step);
}

/* Which counters there are is known only behind the trace. */
static int choose_weight(struct export *export)
{
	if (!export->weight) {
		export->weighed_by = (int)tree_usual(trace_stats(export->input.trace));
		return EXIT_OK;
	}
	export->weighed_by = tree_weight(&export->tree, export->weight);
	if (export->weighed_by >= 0)
		return EXIT_OK;
	return usage_error("--weight: the trace has no \"%s\" (try time, calls, samples, or a counter: see sifive-trace report)",
			   export->weight);
}

const char *export_weight_name(const struct export *export, int weight)
{
	if (weight == TREE_TIME)
		return export->input.hz ? "ns" : "ticks";
	if (weight == TREE_CALLS)
		return "calls";
	if (weight == TREE_SAMPLES)
		return "samples";
	return analysis_counters(export->analysis)->name[weight - TREE_COUNTER];
}

/* Files of another trace would be read as part of this one. */
static int make_folder(const char *path)
{
	if (rmdir(path) && errno != ENOENT) {
		report("%s: cannot replace this folder: %s (name one that is empty or does not exist)",
		       path, strerror(errno));
		return -1;
	}
	if (mkdir(path, 0777)) {
		report("%s: cannot make this folder: %s", path, strerror(errno));
		return -1;
	}
	return 0;
}

/* Whether it writes one file while it reads. */
static bool at_once(const struct exporter *exporter)
{
	return !exporter->to_folder && !exporter->of_tree;
}

static int read_trace(struct export *export, const struct exporter *exporter)
{
	export->tree.analysis = export->analysis;
	if (at_once(exporter))
		export->out = output_open(export->output);
	if (at_once(exporter) && !export->out)
		return EXIT_UNREADABLE;
	if (exporter->to_folder && make_folder(export->output))
		return EXIT_UNREADABLE;
	if (exporter->run)
		return exporter->run(export) ? EXIT_UNREADABLE : EXIT_OK;
	if (exporter->begin && exporter->begin(export))
		return EXIT_UNREADABLE;
	if (analysis_run(export->analysis, export->input.trace))
		return EXIT_UNREADABLE;
	if (exporter->of_tree) {
		if (choose_weight(export))
			return EXIT_USAGE;
		export->out = output_open(export->output);
		if (!export->out)
			return EXIT_UNREADABLE;
	}
	return exporter->end(export) ? EXIT_UNREADABLE : EXIT_OK;
}

static int run(struct export *export, const struct exporter *exporter)
{
	int result;

	if (tree_init(&export->tree, exporter->of_tree))
		return EXIT_UNREADABLE;
	export->common.trace.watched = at_once(exporter) &&
				       !output_to_file(export->output);
	result = input_open(&export->input, &export->common);
	if (!result) {
		export->analysis = analysis_new(&export->input.meta,
						export->input.symbols,
						&exporter->ops, export);
		if (!export->analysis) {
			report("out of memory");
			result = EXIT_UNREADABLE;
		}
	}
	if (!result)
		result = read_trace(export, exporter);
	if (output_close(export->out))
		result = EXIT_UNREADABLE;
	if (!result) {
		result = input_summary(&export->input, false);
		analysis_notes(export->analysis, &export->input);
	}
	if (export->tree.full)
		report("%s: too many different paths: the lightest are their callers' \"(others)\"",
		       export->common.path);
	if (exporter->free)
		exporter->free(export);
	analysis_free(export->analysis);
	tree_free(&export->tree);
	input_close(&export->input);
	return result;
}

static const struct exporter *find_exporter(const char *name)
{
	size_t i;

	for (i = 0; i < EXPORTERS; i++)
		if (!strcmp(exporters[i]->name, name))
			return exporters[i];
	return NULL;
}

int command_export(int argc, char **argv)
{
	const struct exporter *exporter = NULL;
	struct export export = { 0 };
	int option, result = EXIT_OK;

	options_init(&export.common);
	while (!result && (option = getopt_long(argc, argv, COMMON_SHORT "o:",
						long_options, NULL)) != -1) {
		if (option == 'o') {
			export.output = optarg;
		} else if (option == OPTION_WEIGHT) {
			export.weight = optarg;
		} else if (option == OPTION_FORMAT) {
			exporter = find_exporter(optarg);
			if (!exporter)
				result = usage_error("--format is chrome, folded, svg, html, ctf or dqr, not \"%s\"",
						     optarg);
		} else {
			result = options_parse(&export.common, "export", option);
		}
	}
	if (!result)
		result = options_trace(&export.common, argc, argv);
	if (!result)
		result = options_output(&export.common, export.output);
	if (result)
		return result;
	if (export.common.help) {
		help();
		return EXIT_OK;
	}
	if (!exporter)
		return usage_error("export: which format? Give --format chrome, folded, svg, html, ctf or dqr");
	if (export.weight && !exporter->of_tree)
		return usage_error("export: --weight is for folded, svg and html, not for %s",
				   exporter->name);
	if (exporter->to_folder && !export.output)
		return usage_error("export: --format %s needs a folder: -o FOLDER",
				   exporter->name);
	return run(&export, exporter);
}
