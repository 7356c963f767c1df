// SPDX-License-Identifier: Apache-2.0 OR MIT
/* sifive-trace annotate: shows the costs of the lines and instructions of functions. */
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "annotate.h"
#include "command.h"
#include "pager.h"
#include "report.h"
#include "text.h"

#define TOP_DEFAULT	10

static const struct cli_option annotate_options[] = {
	{ .letter = 'n', .name = "top", .value = "N",
	  .help = "if no function is named, show the N hottest functions (default 10)",
	  .set = cli_number, .offset = offsetof(struct annotate, top),
	  .least = 1, .most = 1000000 },
	{ .name = "source-only", .help = "show a row for each source line, without instructions",
	  .set = cli_flag, .offset = offsetof(struct annotate, source_only) },
	{ .name = "no-source", .help = "show instructions without source lines",
	  .set = cli_flag, .offset = offsetof(struct annotate, no_source) },
	{ .name = "prefix", .value = "DIRECTORY",
	  .help = "prepend this directory to absolute paths of source files",
	  .set = cli_text, .offset = offsetof(struct annotate, prefix) },
	{ .name = "prefix-strip", .value = "N",
	  .help = "first remove the first N directories of these paths",
	  .set = cli_number, .offset = offsetof(struct annotate, strip), .most = 1000 },
	/* The keywords' values are 0 and 1. */
	{ .name = "format", .value = "text|json",
	  .help = "text (default), or JSON for programs, with all digits",
	  .set = cli_word, .offset = offsetof(struct annotate, json) },
	CLI_AS(json, struct annotate, json, true),
	CLI_OUTPUT(struct annotate, common.output),
	{ .name = NULL }
};

static const struct cli_group annotate_groups[] = {
	{ NULL, annotate_options, 0 },
	OPTIONS_CALLS_GROUPS(struct annotate, common),
	{ .options = NULL }
};

/* ---- which functions --------------------------------------------------- */

static bool is_named(const struct annotated_function *function, char **names)
{
	for (; *names; names++)
		if (text_matches(*names, function->name))
			return true;
	return false;
}

static bool has_side_car(const char *name)
{
	char beside[PATH_MAX];

	return snprintf(beside, sizeof(beside), "%s.meta", name) < (int)sizeof(beside) &&
	       !access(beside, F_OK);
}

/* Report names that match no function. */
static void report_missing(const struct annotated *annotated, char **names)
{
	char *one[] = { NULL, NULL };
	size_t i;

	for (; *names; names++) {
		one[0] = *names;
		for (i = 0; i < annotated->functions; i++)
			if (is_named(&annotated->function[i], one))
				break;
		if (i == annotated->functions)
			report("%s: the trace contains nothing about function \"%s\": %s", annotated->input.options->path,
			       *names, has_side_car(*names) ?
			       "it is a trace: name it before the functions; the names of all but the first end in .rtd, or .rtd and numbers" :
			       "it was neither executed nor sampled and made no call, or has a different name (sifive-trace report lists all names)");
	}
}

/* Store the functions to show in @chosen; return their number. */
static size_t choose(const struct annotate *annotate, const struct annotated *annotated,
		     char **names, const struct annotated_function **chosen)
{
	size_t count = 0, i;

	for (i = 0; i < annotated->functions; i++) {
		if (!*names && count == (size_t)annotate->top)
			break;
		if (!*names || is_named(&annotated->function[i], names))
			chosen[count++] = &annotated->function[i];
	}
	return count;
}

/* ---- the command ------------------------------------------------------- */

static int put_view(struct annotate_view *view)
{
	const struct annotate *annotate = view->annotate;
	bool done;

	view->out = pager_open(annotate->common.output);
	if (!view->out)
		return EXIT_UNREADABLE;
	done = annotate->json ? annotate_json(view) : annotate_text(view);
	if (!done)
		report("out of memory");
	return output_close(view->out) || !done ? EXIT_UNREADABLE : EXIT_OK;
}

/* LLVM's library uses tens of megabytes of memory, so load it only if needed. */
static void open_disassembler(struct annotate_view *view)
{
	size_t i = 0;

	while (i < view->functions && !annotated_has_code(view->annotated, view->function[i]))
		i++;
	if (i == view->functions)
		return;
	view->disassembler = disassembler_new();
	if (!view->disassembler && !view->annotate->common.trace.quiet)
		report("%s", DISASSEMBLER_MISSING);
}

/* Print the view, in which lines may have the counts that sifive-trace coverage shows. */
static int put_covered(struct annotate_view *view)
{
	const struct annotate *annotate = view->annotate;
	struct annotated *annotated = view->annotated;
	struct covered covered;
	int result = EXIT_UNREADABLE;

	if (!annotated->flow || annotate->no_source || !(annotate->source_only || annotate->json))
		return put_view(view);
	if (!covered_make(&covered, annotated->counts, &annotated->input)) {
		view->covered = &covered;
		result = put_view(view);
	}
	covered_free(&covered);
	return result;
}

static int put_result(const struct annotate *annotate, struct annotated *annotated, char **names)
{
	const struct annotated_function **chosen = calloc(annotated->functions + 1,
							  sizeof(*chosen));
	struct annotate_view view = {
		.annotate = annotate, .annotated = annotated, .function = chosen,
		.named = *names,
	};
	int result = EXIT_UNREADABLE;

	if (!annotate->json && !annotate->no_source)
		view.sources = annotate_sources_new(annotate);
	if (!chosen || (!annotate->json && !annotate->no_source && !view.sources)) {
		report("out of memory");
	} else {
		view.functions = choose(annotate, annotated, names, chosen);
		report_missing(annotated, names);
		if (!annotate->source_only)
			open_disassembler(&view);
		if (view.functions)
			result = put_covered(&view);
	}
	disassembler_free(view.disassembler);
	annotate_sources_free(view.sources);
	free(chosen);
	return result;
}

static void put_notes(const struct annotated *annotated)
{
	const char *path = annotated->input.options->path;

	report_notes(annotated->analysis, &annotated->input);
	if (annotated->flow && !annotated->exact)
		report("%s: counts may be too low: %s", path, annotated->why);
	if (annotated->nowhere && !annotated->input.options->trace.quiet)
		report("%s: %" PRIu64 " calls without a call site are left out", path,
		       annotated->nowhere);
}

static int run(const struct annotate *annotate, char **names)
{
	struct annotated annotated;
	int result = annotated_read(&annotated, &annotate->common), put;

	if (result <= EXIT_LOSSES) {
		put_notes(&annotated);
		put = EXIT_UNREADABLE;
		if (annotated.functions)
			put = put_result(annotate, &annotated, names);
		else
			report("%s: nothing to annotate: %s", annotate->common.path,
			       annotated.flow ? "no file contains the executed code; name the program with -e or --symfs" :
			       "no instruction trace, no samples, and no calls with call sites");
		result = put > result ? put : result;
	}
	annotated_free(&annotated);
	return result;
}

static int command_annotate(int argc, char **argv)
{
	struct annotate annotate = { .top = TOP_DEFAULT };
	int result;

	options_init(&annotate.common);
	result = options_parse(&annotate_command, &annotate, &annotate.common, OPTIONS_AND_MORE,
			       argc, argv);
	if (result)
		return result;
	if (annotate.source_only && annotate.no_source)
		return usage_error("annotate: --source-only and --no-source cannot be combined: omit both to show source and instructions");
	return run(&annotate, argv + optind);
}

const struct cli_command annotate_command = {
	.name = "annotate",
	.run = command_annotate,
	.summary = "show the source lines and instructions of functions with their costs",
	.arguments = "TRACE...|- [FUNCTION]...",
	.help = "Print the source lines and instructions of functions, each with its number of executions (instruction trace), its samples, and the calls from it (records of calls, instruction trace). FUNCTION is a name; * matches any characters, ? one." OPTIONS_SEVERAL
		" The names of all traces but the first must end in .rtd, or in .rtd and numbers; functions follow the traces.",
	.groups = annotate_groups,
	.status = OPTIONS_STATUS,
	.whole = true,
};
