// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Writes a profile for pprof: one sample per call path, with the path's cost excluding callees. The
 * file is written field by field, so that memory use does not grow with the length of paths.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "coverage.h"
#include "export.h"
#include "export/pprof.pb-c.h"
#include "protobuf.h"
#include "image.h"
#include "text.h"

/* The outermost calls of longer paths are omitted; no viewer shows paths of this length. */
#define DEPTH_MAX	1024
#define VALUES_MAX	(TREE_COUNTER + COUNTERS_MAX)
#define LABELS_MAX	5

/* Strings that are shared by many samples. */
enum text {
	TEXT_THREAD,
	TEXT_PID,
	TEXT_TID,
	TEXT_TIMES,
	TEXT_COUNTS,
	TEXT_INFERRED,
	TEXT_PARTIAL,
	TEXTS
};

/**
 * struct writer - state of an export
 * @weight:	meaning of each value of a sample: enum tree_weight
 * @strings:	number of strings already in the table
 * @text:	indexes of strings in the table, by enum text
 * @ticks:	time in the samples already written, by function and value; @used is set for a
 *		function that has a sample
 * @thread:	the thread's node, by node
 * @label:	index of the string with a thread's name, by thread
 * @cut:	set if a path was too long
 */
struct writer {
	struct export	*export;
	struct protobuf	*protobuf;
	unsigned int	values;
	int		weight[VALUES_MAX];
	int64_t		strings;
	int64_t		text[TEXTS];
	uint64_t	*ticks;
	bool		*used;
	uint32_t	*thread;
	int64_t		*label;
	const char	*file;
	int64_t		file_entry;
	bool		cut;
};

static void put_profile(struct writer *writer, const Pprof__Profile *profile)
{
	protobuf_put(writer->protobuf, &profile->base);
}

/* Add an entry to the table of strings. */
static int64_t put_entry(struct writer *writer, const char *text)
{
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	char clean[META_STRING_MAX + 1], *entry = clean;

	snprintf(clean, sizeof(clean), "%s", text);
	text_clean(clean);
	profile.string_table = &entry;
	profile.n_string_table = 1;
	put_profile(writer, &profile);
	return writer->strings++;
}

static void put_comment(struct writer *writer, const char *text)
{
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	int64_t entry = put_entry(writer, text);

	profile.comment = &entry;
	profile.n_comment = 1;
	put_profile(writer, &profile);
}

/* ---- meaning of the values ------------------------------------------------ */

static void put_type(struct writer *writer, int weight)
{
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	Pprof__ValueType type = PPROF__VALUE_TYPE__INIT, *types = &type;
	const char *unit = "count";
	const char *name = weight == TREE_TIME ? "time" :
			   export_weight_name(writer->export, weight);

	if (export_is_time(writer->export, weight))
		unit = writer->export->input.hz ? "nanoseconds" : "ticks";
	type.type = put_entry(writer, name);
	type.unit = put_entry(writer, unit);
	profile.sample_type = &types;
	profile.n_sample_type = 1;
	if (weight == writer->export->weighed_by)
		profile.default_sample_type = type.type;
	put_profile(writer, &profile);
	writer->weight[writer->values++] = weight;
}

static void put_types(struct writer *writer)
{
	const struct trace_stats *stats = trace_stats(writer->export->input.trace);
	unsigned int c;

	put_type(writer, TREE_CALLS);
	if (stats->records[PERFREC_ISR])
		put_type(writer, TREE_SAMPLES);
	for (c = 0; c < analysis_counters(writer->export->analysis)->count; c++)
		put_type(writer, TREE_COUNTER + (int)c);
	if (stats->timed)
		put_type(writer, TREE_TIME);
}

/* ---- samples ------------------------------------------------------------ */

/* Return whether any value is not 0. */
static bool fill_values(struct writer *writer, uint32_t node, int64_t *value)
{
	const struct tree *tree = &writer->export->tree;
	bool any = false;
	unsigned int i;

	for (i = 0; i < writer->values; i++) {
		uint64_t self = tree_self(tree, node, writer->weight[i]);
		size_t at = (size_t)tree->node[node].function * writer->values + i;

		if (export_is_time(writer->export, writer->weight[i]))
			self = export_own_time(writer->export, &writer->ticks[at], self);
		value[i] = protobuf_number(self);
		any |= self != 0;
	}
	return any;
}

/* The ids of a function and of its location are the function's number plus 1. */
static size_t fill_path(struct writer *writer, uint32_t node, uint64_t *location)
{
	const struct tree *tree = &writer->export->tree;
	uint32_t thread = writer->thread[node];
	size_t depth = 0;

	for (; node != thread && depth < DEPTH_MAX; node = tree->node[node].parent) {
		location[depth++] = (uint64_t)tree->node[node].function + 1;
		writer->used[tree->node[node].function] = true;
	}
	writer->cut |= node != thread;
	return depth;
}

static void add_label(struct writer *writer, Pprof__Sample *sample, enum text key,
		      int64_t text, int64_t number)
{
	Pprof__Label *label = sample->label[sample->n_label++];

	pprof__label__init(label);
	label->key = writer->text[key];
	label->str = text;
	label->num = number;
}

/* Add labels for the thread and for the certainty of the times and counts. */
static void add_labels(struct writer *writer, Pprof__Sample *sample, uint32_t node)
{
	const struct tree *tree = &writer->export->tree;
	uint32_t id = tree->node[writer->thread[node]].function;
	const struct thread *thread =
		threads_get(analysis_threads(writer->export->analysis), id);

	if (!writer->label[id])
		writer->label[id] = put_entry(writer, thread->label);
	add_label(writer, sample, TEXT_THREAD, writer->label[id], 0);
	if (thread->pid > 0)
		add_label(writer, sample, TEXT_PID, 0, thread->pid);
	if (thread->tid > 0)
		add_label(writer, sample, TEXT_TID, 0, thread->tid);
	if (tree->node[node].untimed)
		add_label(writer, sample, TEXT_TIMES, writer->text[TEXT_PARTIAL], 0);
	else if (tree->node[node].self_inferred)
		add_label(writer, sample, TEXT_TIMES, writer->text[TEXT_INFERRED], 0);
	if (tree->node[node].partial)
		add_label(writer, sample, TEXT_COUNTS, writer->text[TEXT_PARTIAL], 0);
}

static void put_sample(struct writer *writer, uint32_t node)
{
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *samples = &sample;
	Pprof__Label label[LABELS_MAX], *labels[LABELS_MAX] = {
		&label[0], &label[1], &label[2], &label[3], &label[4],
	};
	uint64_t location[DEPTH_MAX];
	int64_t value[VALUES_MAX];

	if (!fill_values(writer, node, value))
		return;
	sample.location_id = location;
	sample.n_location_id = fill_path(writer, node, location);
	sample.value = value;
	sample.n_value = writer->values;
	sample.label = labels;
	add_labels(writer, &sample, node);
	profile.sample = &samples;
	profile.n_sample = 1;
	put_profile(writer, &profile);
}

static void put_samples(struct writer *writer)
{
	const struct tree *tree = &writer->export->tree;
	uint32_t node;

	/* Callers precede callees, because a node's number is greater than its caller's. */
	for (node = 1; node < tree->nodes; node++) {
		uint32_t parent = tree->node[node].parent;

		writer->thread[node] = parent == TREE_ROOT ? node : writer->thread[parent];
		if (parent != TREE_ROOT)
			put_sample(writer, node);
	}
}

/* ---- functions and files ------------------------------------------------ */

static void put_mapping(struct writer *writer, size_t id, uint64_t start, uint64_t end,
			const char *path, const char *build_id)
{
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	Pprof__Mapping mapping = PPROF__MAPPING__INIT, *mappings = &mapping;

	mapping.id = id;
	mapping.memory_start = start;
	mapping.memory_limit = end;
	mapping.filename = put_entry(writer, path);
	mapping.build_id = build_id && *build_id ? put_entry(writer, build_id) : 0;
	mapping.has_functions = true;
	mapping.has_filenames = true;
	mapping.has_line_numbers = true;
	profile.mapping = &mappings;
	profile.n_mapping = 1;
	put_profile(writer, &profile);
}

/* Without objects from a side-car file, use the user's files. */
static void put_mappings(struct writer *writer)
{
	const struct export *export = writer->export;
	const struct meta *meta = &export->input.meta;
	char id[IMAGE_BUILD_ID_SIZE], path[PATH_MAX];
	size_t i;

	for (i = 0; i < meta->objects; i++)
		put_mapping(writer, i + 1, meta->object[i].start, meta->object[i].end,
			    meta->object[i].path, meta->object[i].build_id);
	for (i = 0; !meta->objects && i < export->common.symbols.files; i++) {
		uint64_t bias = export_file(export, i, path);

		put_mapping(writer, i + 1, bias, 0, path,
			    image_build_id(path, id) ? id : NULL);
	}
}

/* Reuse the previous function's string, because most functions are in the same file. */
static int64_t put_file(struct writer *writer, const char *file)
{
	if (!file)
		return 0;
	if (!writer->file || strcmp(file, writer->file))
		writer->file_entry = put_entry(writer, file);
	writer->file = file;
	return writer->file_entry;
}

static void put_function(struct writer *writer, uint32_t number)
{
	struct export *export = writer->export;
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	Pprof__Location location = PPROF__LOCATION__INIT, *locations = &location;
	Pprof__Line line = PPROF__LINE__INIT, *lines = &line;
	Pprof__Function function = PPROF__FUNCTION__INIT, *functions = &function;
	uint64_t address = functions_address(analysis_functions(export->analysis), number);
	char name[EXPORT_NAME_SIZE];
	struct symbol symbol = { 0 };

	if (number != FUNCTIONS_OTHER) {
		symbols_find(export->input.symbols, address, &symbol);
		location.mapping_id = export_object(export, &address);
		location.address = address;
	}
	analysis_name(export->analysis, number, name, sizeof(name));
	function.name = put_entry(writer, name);
	function.system_name = function.name;
	function.filename = put_file(writer, symbol.file);
	function.start_line = symbol.line;
	line.line = symbol.line;
	function.id = (uint64_t)number + 1;
	line.function_id = function.id;
	location.id = function.id;
	location.line = &lines;
	location.n_line = 1;
	profile.location = &locations;
	profile.n_location = 1;
	profile.function = &functions;
	profile.n_function = 1;
	put_profile(writer, &profile);
}

/* ---- the profile --------------------------------------------------------- */

/* Write the origin of the profile and its missing data. */
static void put_comments(struct writer *writer)
{
	const struct input *input = &writer->export->input;
	char text[COVERAGE_SIZE + 16], coverage[COVERAGE_SIZE];

	put_comment(writer, "sifive-trace " VERSION);
	if (input->meta.exe)
		put_comment(writer, input->meta.exe);
	if (*coverage_text(input, coverage)) {
		snprintf(text, sizeof(text), "trace %s", coverage);
		put_comment(writer, text);
	}
	if (analysis_counters(writer->export->analysis)->times &&
	    analysis_doubts_oncpu(writer->export->analysis))
		put_comment(writer, "times on and off the CPU: inferred");
}

static void put_duration(struct writer *writer)
{
	const struct trace_stats *stats = trace_stats(writer->export->input.trace);
	Pprof__Profile profile = PPROF__PROFILE__INIT;

	if (!stats->timed || !writer->export->input.hz)
		return;
	profile.duration_nanos = protobuf_number(export_nanoseconds(writer->export,
								    stats->last - stats->first));
	put_profile(writer, &profile);
}

static void put_all(struct writer *writer)
{
	static const char * const texts[TEXTS] = {
		[TEXT_THREAD] = "thread", [TEXT_PID] = "pid", [TEXT_TID] = "tid",
		[TEXT_TIMES] = "times", [TEXT_COUNTS] = "counts", [TEXT_INFERRED] = "inferred",
		[TEXT_PARTIAL] = "partial",
	};
	uint32_t count = functions_count(analysis_functions(writer->export->analysis)), i;

	/* The first entry must be empty. */
	put_entry(writer, "");
	for (i = 0; i < TEXTS; i++)
		writer->text[i] = put_entry(writer, texts[i]);
	put_types(writer);
	put_samples(writer);
	put_mappings(writer);
	for (i = 0; i < count; i++)
		if (writer->used[i])
			put_function(writer, i);
	put_comments(writer);
	put_duration(writer);
	if (writer->cut)
		report("%s: paths of more than %d calls: their outermost calls are left out",
		       writer->export->common.path, DEPTH_MAX);
}

static int pprof_end(struct export *export)
{
	size_t functions = functions_count(analysis_functions(export->analysis));
	struct writer writer = { .export = export };
	int result = -1;

	writer.ticks = calloc(functions, VALUES_MAX * sizeof(*writer.ticks));
	writer.used = calloc(functions, sizeof(*writer.used));
	writer.thread = calloc(export->tree.nodes, sizeof(*writer.thread));
	writer.label = calloc(threads_count(analysis_threads(export->analysis)) + 1,
			      sizeof(*writer.label));
	if (writer.ticks && writer.used && writer.thread && writer.label) {
		writer.protobuf = protobuf_gzip(export->out);
		if (writer.protobuf) {
			put_all(&writer);
			result = 0;
		}
	} else {
		report("out of memory");
	}
	protobuf_end(writer.protobuf);
	free(writer.ticks);
	free(writer.used);
	free(writer.thread);
	free(writer.label);
	return result;
}

const struct exporter export_pprof = {
	.name = "pprof",
	.help = "profile for pprof: calls, time and counters of each path",
	.of_tree = true,
	.ops = &export_tree_ops,
	.end = pprof_end,
};
