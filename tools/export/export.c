// SPDX-License-Identifier: Apache-2.0 OR MIT
/* sifive-trace export: writes a trace for other programs. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../command.h"
#include "export.h"
#include "units.h"
#include "text.h"

static const struct exporter * const exporters[] = {
	&export_chrome, &export_perfetto, &export_folded, &export_svg, &export_html, &export_speedscope,
	&export_firefox, &export_pprof, &export_csv, &export_ctf, &export_dqr,
	&export_bolt, &export_profgen,
};

#define EXPORTERS	(sizeof(exporters) / sizeof(exporters[0]))

static void list_formats(cli_add *add, void *context)
{
	size_t i;

	for (i = 0; i < EXPORTERS; i++)
		add(context, exporters[i]->name, exporters[i]->help);
}

static const struct cli_option export_options[] = {
	CLI_FORMAT(struct export, format, list_formats),
	{ .name = "weight", .value = "KEY", .words = "time|calls|samples",
	  .help = "weight of stacks in call tree formats (folded, svg, html, speedscope, firefox), and the first value in pprof: time (default; calls if no times are known, samples if the trace has no calls), calls, samples, or a counter's name",
	  .set = cli_text, .offset = offsetof(struct export, weight) },
	{ .name = "object", .value = "NAME",
	  .help = "name of the program or shared object that bolt and profgen describe (default: the program)",
	  .set = cli_text, .offset = offsetof(struct export, object) },
	{ .letter = 'o', .name = "output", .value = "PATH",
	  .help = "file to write to (default: standard output); for ctf and dqr, a directory, which must be empty or must not exist",
	  .set = cli_text, .offset = offsetof(struct export, common.output) },
	{ .name = NULL }
};

static const struct cli_group export_groups[] = {
	{ NULL, export_options, 0 },
	{ NULL, options_clock, offsetof(struct export, common) },
	OPTIONS_CALLS_GROUPS(struct export, common),
	{ .options = NULL }
};

void export_tree_enter(void *context, struct analysis_thread *thread)
{
	struct export *export = context;

	tree_enter(&export->tree, thread);
}

static void leave_tree(void *context, struct analysis_thread *thread,
		       const struct analysis_end *end)
{
	struct export *export = context;

	tree_leave(&export->tree, thread, end);
}

static void point_tree(void *context, struct analysis_thread *thread,
		       const struct analysis_step *step)
{
	struct export *export = context;

	tree_point(&export->tree, thread, step);
}

static void uncharge_tree(void *context, uint64_t columns)
{
	struct export *export = context;

	tree_uncharge(&export->tree, columns);
}

const struct analysis_ops export_tree_ops = {
	.enter = export_tree_enter,
	.leave = leave_tree,
	.point = point_tree,
	.uncharge = uncharge_tree,
};

uint64_t export_times(const struct export *export)
{
	return (1ull << analysis_counters(export->analysis)->times) - 1;
}

uint64_t export_known(const struct export *export, const struct analysis_thread *thread)
{
	return thread->ever | export_times(export);
}

bool export_partial(const struct export *export, const struct analysis_thread *thread)
{
	return thread->ever & ~export_times(export) &&
	       analysis_partial(&thread->frame[thread->depth - 1]);
}

bool export_stop(void *context)
{
	struct export *export = context;

	return output_failed(export->out);
}

/* Return whether records among calls from the instruction trace contain this counter. */
static bool is_between(const struct export *export, const char *name)
{
	const struct counters *counters = analysis_recorded(export->analysis);
	unsigned int c;

	for (c = 0; c < counters->count; c++)
		if (counters_is(counters->name[c], name, strlen(name)))
			return true;
	return false;
}

/* Choose the weight at the end of the trace, when the counters are known. */
static int choose_weight(struct export *export)
{
	if (!export->weight) {
		export->weighed_by = (int)tree_usual(trace_stats(export->input.trace));
		return EXIT_OK;
	}
	export->weighed_by = tree_weight(&export->tree, export->weight);
	if (export->weighed_by >= 0)
		return EXIT_OK;
	if (is_between(export, export->weight))
		return usage_error("--weight: \"%s\" was counted between two records, not by the functions of the instruction trace: see sifive-trace report --by interval, or give --calls records",
				   export->weight);
	return usage_error("--weight: the trace has no \"%s\" (try time, calls, samples, or a counter: see sifive-trace report)",
			   export->weight);
}

bool export_is_time(const struct export *export, int weight)
{
	return weight == TREE_TIME || (weight >= TREE_COUNTER &&
	       weight - TREE_COUNTER < (int)analysis_counters(export->analysis)->times);
}

bool export_is_unsure(const struct export *export, uint32_t node, int weight)
{
	return (weight == TREE_TIME || weight >= TREE_COUNTER) &&
	       tree_is_unsure(&export->tree, node, weight, true);
}

const char * const export_suffix[EXPORT_MARKS] = {
	[EXPORT_EXACT] = "", [EXPORT_INFERRED] = " (inferred)", [EXPORT_PARTIAL] = " (partial)",
};

enum export_mark export_mark(const struct export *export, uint32_t node)
{
	const int weight = export->weighed_by;

	/* A thread's node has no weight of its own. */
	if (export->tree.node[node].parent == TREE_ROOT || !export_is_unsure(export, node, weight))
		return EXPORT_EXACT;
	return export->tree.node[node].untimed || !export_is_time(export, weight) ?
	       EXPORT_PARTIAL : EXPORT_INFERRED;
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

const char *export_counter_name(const struct export *export, unsigned int column)
{
	const struct counters *counters = analysis_counters(export->analysis);
	static const char * const time[COUNTERS_TIMES][2] = {
		[COUNTERS_ON_CPU] = { "on-cpu_ticks", "on-cpu_ns" },
		[COUNTERS_OFF_CPU] = { "off-cpu_ticks", "off-cpu_ns" },
		[COUNTERS_UNKNOWN_CPU] = { "unknown-cpu_ticks", "unknown-cpu_ns" },
	};

	return column < counters->times ? time[column][export->input.hz != 0] :
					  counters->name[column];
}

uint64_t export_nanoseconds(const struct export *export, uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * 1000000000 /
			  export->input.hz);
}

uint64_t export_time(const struct export *export, uint64_t time)
{
	if (input_is_utc(&export->input))
		input_time(&export->input, &time);
	else if (export->input.hz)
		time = export_nanoseconds(export, time);
	return time;
}

/* Convert ticks to nanoseconds, rounded like the times that report shows. */
static uint64_t nearest(const struct export *export, uint64_t ticks)
{
	unsigned __int128 twice = (unsigned __int128)ticks * 2000000000;
	uint64_t hz = export->input.hz;

	return hz ? (uint64_t)((twice + hz) / ((unsigned __int128)2 * hz)) : ticks;
}

uint64_t export_own_time(const struct export *export, uint64_t *ticks, uint64_t own)
{
	uint64_t before = nearest(export, *ticks);

	*ticks += own;
	return nearest(export, *ticks) - before;
}

void export_point_name(const struct export *export, const struct analysis_point *point,
		       char name[EXPORT_NAME_SIZE])
{
	const int used = snprintf(name, EXPORT_NAME_SIZE, "%s ",
				  perfrec_type_name(point->record->type));

	analysis_name(export->analysis, point->function, name + used,
		      (unsigned int)(EXPORT_NAME_SIZE - used));
}

void export_marked_name(const struct export *export, uint32_t function, enum export_mark mark,
			char name[EXPORT_MARKED_SIZE])
{
	analysis_name(export->analysis, function, name, EXPORT_NAME_SIZE);
	strcat(name, export_suffix[mark]);
}

const char *export_point_note(const struct analysis_point *point)
{
	if (point->first)
		return "the thread's first record";
	if (point->lost && point->moved)
		return "records may be missing before it; on another hart since the previous one";
	if (point->lost)
		return "records may be missing before it";
	return point->moved ? "on another hart since the previous record" : NULL;
}

uint64_t export_file(const struct export *export, size_t number, char path[PATH_MAX])
{
	uint64_t bias;

	snprintf(path, PATH_MAX, "%s", export->common.symbols.file[number]);
	symbols_split(path, &bias);
	return bias;
}

size_t export_object(struct export *export, uint64_t *address)
{
	const struct meta *meta = &export->input.meta;
	struct symbols_object found;
	bool known = symbols_object(export->input.symbols, *address, &found);
	char path[PATH_MAX];
	size_t i;

	for (i = 0; i < meta->objects; i++) {
		const struct meta_object *object = &meta->object[i];
		uint64_t here = known ? *address - found.bias + object->bias : *address;

		if (here < object->start || here >= object->end ||
		    (known && strcmp(found.name, text_base(object->path))))
			continue;
		*address = here;
		return i + 1;
	}
	for (i = 0; known && !meta->objects && i < export->common.symbols.files; i++)
		if (export_file(export, i, path) == found.bias && !strcmp(found.path, path))
			return i + 1;
	return 0;
}

/*
 * Require an empty directory: viewers would treat another trace's files in it as part of this
 * trace.
 */
static int make_dir(const char *path)
{
	if (rmdir(path) && errno != ENOENT) {
		report("%s: cannot replace this directory: %s (name one that is empty or does not exist)",
		       path, strerror(errno));
		return -1;
	}
	if (output_mkdir(path)) {
		report("%s: cannot create this directory: %s", path, strerror(errno));
		return -1;
	}
	return 0;
}

/* Return whether the format writes one file while the trace is being read. */
static bool at_once(const struct exporter *exporter)
{
	return !exporter->to_dir && !exporter->of_tree;
}

/* Report an empty result, which would otherwise suggest that the program did nothing. */
static void tell_if_empty(const struct export *export)
{
	int weight = export->weighed_by;
	uint32_t i;

	for (i = TREE_ROOT + 1; i < export->tree.nodes; i++)
		if (tree_self(&export->tree, i, weight))
			return;
	report("%s: nothing to show: no stack has any %s; choose another --weight, or see sifive-trace report",
	       export->common.path,
	       weight == TREE_TIME ? "time" : export_weight_name(export, weight));
}

static int read_trace(struct export *export, const struct exporter *exporter)
{
	export->tree.analysis = export->analysis;
	if (export->common.trace.jobs > 1)
		output_write_behind();
	if (at_once(exporter))
		export->out = output_open(export->common.output);
	if (at_once(exporter) && !export->out)
		return EXIT_UNREADABLE;
	if (exporter->to_dir && make_dir(export->common.output))
		return EXIT_UNREADABLE;
	if (exporter->run)
		return exporter->run(export) ? EXIT_UNREADABLE : EXIT_OK;
	if (exporter->begin && exporter->begin(export))
		return EXIT_UNREADABLE;
	analysis_limit(export->analysis, &export->input);
	if (analysis_run(export->analysis, export->input.trace))
		return EXIT_UNREADABLE;
	if (exporter->of_tree) {
		if (choose_weight(export))
			return EXIT_USAGE;
		tell_if_empty(export);
		export->out = output_open(export->common.output);
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
				       !output_to_file(export->common.output);
	result = input_open(&export->input, &export->common);
	if (!result) {
		export->analysis = analysis_new(&export->input.meta,
						export->input.symbols,
						exporter->ops, export);
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
		result = input_summary(&export->input, exporter->flow ? INPUT_FLOW :
				       exporter->run ? INPUT_STORES : INPUT_RECORDS);
		analysis_notes(export->analysis, &export->input);
	}
	if (export->untimed)
		report("%s: %" PRIu64 " record%s without a time %s left out: sifive-trace report --by interval shows their counts",
		       export->common.path, export->untimed, export->untimed == 1 ? "" : "s",
		       export->untimed == 1 ? "is" : "are");
	if (export->tree.full)
		report("%s: too many different paths: the lightest are summed up as \"(others)\"",
		       export->common.path);
	if (exporter->free)
		exporter->free(export);
	analysis_free(export->analysis);
	tree_free(&export->tree);
	input_close(&export->input);
	return result;
}

static int command_export(int argc, char **argv)
{
	struct export export = { .format = -1 };
	const struct exporter *exporter;
	int result;

	options_init(&export.common);
	result = options_parse(&export_command, &export, &export.common, OPTIONS_TRACES,
			       argc, argv);
	if (result)
		return result;
	if (export.format < 0)
		return usage_error("export: no format given: use --format (sifive-trace export --help lists the formats)");
	exporter = exporters[export.format];
	if (exporter->missing)
		return usage_error("export: --format %s is not in this command: %s",
				   exporter->name, exporter->missing);
	if (export.weight && !exporter->of_tree)
		return usage_error("export: --weight applies to call trees (folded, svg, html, speedscope, firefox, pprof), not to %s",
				   exporter->name);
	if (export.object && !exporter->flow)
		return usage_error("export: --object applies to profiles of branches (bolt, profgen), not to %s",
				   exporter->name);
	if (exporter->run && export.common.range.set)
		return usage_error("export: --format %s always covers the whole trace: --time cannot be combined with it",
				   exporter->name);
	if (exporter->all_calls && !options_all_calls(&export.common))
		return usage_error("export: --format %s always contains all calls: --time-threshold cannot be combined with it",
				   exporter->name);
	if (export.common.clock == OPTIONS_CLOCK_UTC && !exporter->dated)
		return usage_error("export: --clock utc applies to chrome, perfetto and ctf, not to %s; the rows of csv always contain the wall-clock time",
				   exporter->name);
	if (exporter->to_dir && !export.common.output)
		return usage_error("export: --format %s needs a directory: give -o DIRECTORY",
				   exporter->name);
	return run(&export, exporter);
}

const struct cli_command export_command = {
	.name = "export",
	.run = command_export,
	.summary = "convert a trace for Perfetto, flame graphs, Trace Compass, browsers, compilers",
	.arguments = "TRACE...|-",
	.help = "Convert a trace to the format of another program." OPTIONS_SEVERAL,
	.groups = export_groups,
	.status = OPTIONS_STATUS,
	.whole = true,
};
