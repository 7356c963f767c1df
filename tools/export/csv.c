// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Writes a table for databases: a row for each call, sample and manual record, and for each record
 * among calls from the instruction trace. Each row repeats the data that is the same for the whole
 * trace, so that files from many machines can be joined into one table.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "coverage.h"
#include "export.h"
#include "image.h"
#include "ring.h"
#include "text.h"
#include "utc.h"

/* Maximum total size of functions' cached columns; other functions are formatted for each row. */
#define TEXTS_BYTES	(8u << 20)
#define TEXT_SIZE	(2 * EXPORT_NAME_SIZE + 4 * META_STRING_MAX + 16)

/* Number of columns that are the same in all rows, and the maximum size of their text. */
#define WHOLE_COLUMNS	4
#define WHOLE_SIZE	(WHOLE_COLUMNS * (2 * META_STRING_MAX + 4))

/*
 * Number of times that have columns with rounded sums, one for total and one for self: the times on
 * and off the CPU, followed by the whole time.
 */
#define TIMES		(COUNTERS_TIMES + 1)

/**
 * struct function - cached data of a function
 * @text:	name, object and build-id of the function as columns, or NULL if not cached
 * @name:	length of the name in @text
 * @ticks:	total and self ticks in the rows already written
 */
struct function {
	char		*text;
	size_t		name;
	uint64_t	ticks[TIMES][2];
};

/**
 * struct csv - state of the export
 * @columns:	counters that have columns, valid if @begun is set
 * @between:	counters of records among calls from the instruction trace
 * @calls:	number of calls that have begun
 * @whole:	text of the columns that are the same in all rows
 * @kept:	size of the cached columns in bytes
 */
struct csv {
	bool		begun;
	bool		warned;
	bool		no_memory;
	unsigned int	columns;
	struct counters	between;
	uint64_t	calls;
	char		*whole;
	size_t		kept;
	struct function	*function;
	uint32_t	functions;
};

/* A row's time columns; a column whose time is unknown is empty. */
struct times {
	bool		begins;
	bool		begin_inferred;
	uint64_t	begin;
	bool		known;
	bool		inferred;
	bool		self_inferred;
	uint64_t	total;
	uint64_t	self;
	bool		waits;
	uint64_t	waited;
};

/* The contents of a row, apart from counters. */
struct row {
	const char	*kind;
	const struct analysis_thread *thread;
	uint32_t	function;
	bool		has_function;
	uint32_t	caller;
	bool		has_caller;
	uint64_t	id;
	uint64_t	parent;
	unsigned int	depth;
	struct times	times;
	bool		outermost;
	const char	*ended;
	int		partial;	/* -1 if not applicable */
	bool		path_inferred;
	const struct analysis_step *sample;
	const struct analysis_point *point;
	const char	*note;
};

/* ---- columns ------------------------------------------------------------ */

/* Return the column in @between for a counter of records among calls, or COUNTERS_NONE. */
static unsigned int find_between(const struct csv *csv, const char *name)
{
	unsigned int c;

	for (c = 0; c < csv->between.count; c++)
		if (!strcmp(csv->between.name[c], name))
			return c;
	return COUNTERS_NONE;
}

/*
 * Add the columns of records among calls in advance: the columns are fixed once the first row is
 * written, and the first row often describes an earlier call.
 */
static void expect_between(struct export *export)
{
	const struct meta *meta = &export->input.meta;
	struct csv *csv = export->private;
	uint8_t column[PERFREC_COUNTERS];
	struct perfrec_header header;

	csv->between.meta = meta;
	csv->between.apart = true;
	if (meta->flow && export->common.calls != OPTIONS_CALLS_RECORDS &&
	    ring_header(meta, &header))
		counters_assign(&csv->between, &header, header.counters, column);
}

/* Add columns for counters that are not in the side-car file. */
static void add_between(struct export *export)
{
	const struct counters *counters = analysis_recorded(export->analysis);
	struct csv *csv = export->private;
	unsigned int c;

	for (c = 0; c < counters->count; c++)
		if (find_between(csv, counters->name[c]) == COUNTERS_NONE &&
		    csv->between.count < COUNTERS_MAX)
			strcpy(csv->between.name[csv->between.count++], counters->name[c]);
}

static void put_names(struct export *export)
{
	const struct counters *counters = analysis_counters(export->analysis);
	const char *unit = export->input.hz ? "ns" : "ticks";
	struct csv *csv = export->private;
	char name[COUNTERS_NAME_SIZE + 16];
	unsigned int c;

	put_string(export->out, "trace,host,board,command,kind,thread,pid,tid,function,object,build_id,caller,id,parent,depth,outermost,unix_ns");
	put_format(export->out, ",start_%s,duration_%s,self_%s,waited_%s", unit, unit, unit, unit);
	put_string(export->out, ",start_inferred,duration_inferred,self_inferred,counts_partial,path_inferred,ended,callers,note");
	if (counters->times)
		put_string(export->out, ",cpu_times_inferred");
	for (c = 0; c < counters->count; c++) {
		const char *of_time = c < counters->times ? unit : "";
		const char *between = c < counters->times ? "_" : "";

		snprintf(name, sizeof(name), "%s%s%s", counters->name[c], between, of_time);
		put_char(export->out, ',');
		put_field(export->out, name);
		snprintf(name, sizeof(name), "%s_self%s%s", counters->name[c], between, of_time);
		put_char(export->out, ',');
		put_field(export->out, name);
	}
	add_between(export);
	for (c = 0; c < csv->between.count; c++) {
		snprintf(name, sizeof(name), "%s_interval", csv->between.name[c]);
		put_char(export->out, ',');
		put_field(export->out, name);
	}
	put_char(export->out, '\n');
	csv->columns = counters->count;
	csv->begun = true;
}

static void put_unless(struct export *export, bool unknown, uint64_t number)
{
	put_char(export->out, ',');
	if (!unknown)
		put_number(export->out, number, 0);
}

/* Append a column to text in memory: a comma and @text, quoted if necessary. Return the end. */
static char *add_column(char *at, const char *text)
{
	const bool quoted = strpbrk(text, ",\"");

	*at++ = ',';
	if (quoted)
		*at++ = '"';
	for (; *text; text++) {
		if (*text == '"')
			*at++ = '"';
		*at++ = *text;
	}
	if (quoted)
		*at++ = '"';
	*at = '\0';
	return at;
}

/* ---- data that is the same in all rows --------------------------------------- */

/* Join the words of the command, or write the program's path if they are unknown. */
static void join_command(const struct meta *meta, char *text, size_t size)
{
	size_t used = 0, i;

	snprintf(text, size, "%s", meta->exe ? meta->exe : "");
	for (i = 0; i < meta->args && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "",
					 meta->arg[i]);
	text_clean(text);
}

static int csv_begin(struct export *export)
{
	const struct meta *meta = &export->input.meta;
	char command[META_STRING_MAX + 1], text[META_STRING_MAX + 1];
	const char *columns[WHOLE_COLUMNS] = {
		export->common.path, meta->host, meta->board, command,
	};
	struct csv *csv = calloc(1, sizeof(*csv));
	char *at;
	size_t i;

	if (csv)
		csv->whole = malloc(WHOLE_SIZE);
	export->private = csv;
	if (!csv || !csv->whole) {
		report("out of memory");
		return -1;
	}
	expect_between(export);
	join_command(meta, command, sizeof(command));
	for (at = csv->whole, i = 0; i < WHOLE_COLUMNS; i++) {
		snprintf(text, sizeof(text), "%s", columns[i] ? columns[i] : "");
		text_clean(text);
		at = add_column(at, text);
	}
	return 0;
}

/* ---- functions ---------------------------------------------------------- */

/* Return NULL if out of memory. */
static struct function *get_function(struct export *export, uint32_t number)
{
	struct csv *csv = export->private;
	struct function *grown;
	uint32_t room;

	if (number >= csv->functions) {
		room = 2 * number + 64;
		grown = realloc(csv->function, room * sizeof(*grown));
		if (!grown) {
			csv->no_memory = true;
			return NULL;
		}
		memset(grown + csv->functions, 0, (room - csv->functions) * sizeof(*grown));
		csv->function = grown;
		csv->functions = room;
	}
	return &csv->function[number];
}

/* Format a function's name, object and build-id; return the length of the name. */
static size_t describe(struct export *export, uint32_t number, char text[TEXT_SIZE])
{
	uint64_t address = functions_address(analysis_functions(export->analysis), number);
	const struct meta *meta = &export->input.meta;
	char name[META_STRING_MAX + 1], path[PATH_MAX] = "", id[IMAGE_BUILD_ID_SIZE] = "";
	size_t object = number == FUNCTIONS_OTHER ? 0 : export_object(export, &address);
	const char *build_id = id;
	char *end;

	analysis_name(export->analysis, number, name, EXPORT_NAME_SIZE);
	text_clean(name);
	end = add_column(text, name);
	number = (uint32_t)(end - text);
	if (object && meta->objects) {
		snprintf(path, sizeof(path), "%s", meta->object[object - 1].path);
		build_id = meta->object[object - 1].build_id;
	} else if (object) {
		export_file(export, object - 1, path);
		if (!image_build_id(path, id))
			*id = '\0';
	}
	text_clean(path);
	end = add_column(end, path);
	snprintf(name, sizeof(name), "%s", build_id ? build_id : "");
	text_clean(name);
	add_column(end, name);
	return number;
}

static void put_function(struct export *export, uint32_t number, bool name_only)
{
	struct function *function = get_function(export, number);
	struct csv *csv = export->private;
	const char *text = function ? function->text : NULL;
	char made[TEXT_SIZE];
	size_t name, length;

	if (!function)
		return;
	if (!text) {
		function->name = describe(export, number, made);
		text = made;
		length = strlen(made) + 1;
		if (csv->kept + length <= TEXTS_BYTES) {
			function->text = strdup(made);
			csv->kept += length;
		}
	}
	name = function->name;
	if (name_only)
		put_bytes(export->out, text, name);
	else
		put_string(export->out, text);
}

/* ---- rows --------------------------------------------------------------- */

/*
 * Convert ticks to the table's unit. Given @sum, round the result so that a function's rows add up
 * to the value that report shows.
 */
static uint64_t in_unit(const struct export *export, uint64_t *sum, uint64_t ticks)
{
	uint64_t none = 0;

	return export_own_time(export, sum ? sum : &none, ticks);
}

static void put_start(struct export *export, const struct times *times)
{
	uint64_t ns;

	put_char(export->out, ',');
	if (times->begins && utc_time(&export->input.utc, times->begin, &ns))
		put_number(export->out, ns, 0);
	put_unless(export, !times->begins, export->input.hz ?
		   export_nanoseconds(export, times->begin) : times->begin);
}

static void put_times(struct export *export, const struct row *row)
{
	const struct times *times = &row->times;
	struct function *function = row->has_function ? get_function(export, row->function) : NULL;
	uint64_t *sum = function ? function->ticks[COUNTERS_TIMES] : NULL;

	put_start(export, times);
	put_unless(export, !times->known,
		   in_unit(export, sum && row->outermost ? &sum[0] : NULL, times->total));
	put_unless(export, !times->known || !function,
		   in_unit(export, sum ? &sum[1] : NULL, times->self));
	put_unless(export, !times->waits, in_unit(export, NULL, times->waited));
	put_unless(export, !times->begins, times->begin_inferred);
	put_unless(export, !times->known, times->inferred);
	put_unless(export, !times->known || !function, times->self_inferred);
}

static void put_thread(struct export *export, const struct analysis_thread *thread)
{
	put_char(export->out, ',');
	if (thread)
		put_field(export->out, thread->thread->label);
	put_unless(export, !thread || thread->thread->pid < 0,
		   thread ? (uint64_t)thread->thread->pid : 0);
	put_unless(export, !thread || thread->thread->tid < 0,
		   thread ? (uint64_t)thread->thread->tid : 0);
}

/* Write the functions that enclose a sample's function, innermost first. */
static void put_callers(struct export *export, const struct analysis_step *sample)
{
	char text[EXPORT_NAME_SIZE], all[SIFIVE_TRACE_CALLERS_MAX * (EXPORT_NAME_SIZE + 1)] = "";
	unsigned int i;
	char *end = all;

	for (i = 0; i < sample->callers; i++) {
		analysis_name(export->analysis, sample->caller[i], text, sizeof(text));
		end = stpcpy(end, i ? ";" : "");
		end = stpcpy(end, text);
	}
	put_field(export->out, all);
}

static void begin_row(struct export *export, const struct row *row)
{
	struct csv *csv = export->private;

	if (!csv->begun)
		put_names(export);
	put_string(export->out, csv->whole + 1);
	put_char(export->out, ',');
	put_string(export->out, row->kind);
	put_thread(export, row->thread);
	if (row->has_function)
		put_function(export, row->function, false);
	else
		put_string(export->out, ",,,");
	if (row->has_caller)
		put_function(export, row->caller, true);
	else
		put_char(export->out, ',');
	put_unless(export, !row->id, row->id);
	put_unless(export, !row->parent, row->parent);
	put_unless(export, !row->has_function, row->depth);
	put_unless(export, !row->has_function || (!row->id && row->depth), row->outermost);
	put_times(export, row);
	put_unless(export, row->partial < 0, (uint64_t)row->partial);
	put_unless(export, row->partial < 0, row->path_inferred);
	put_char(export->out, ',');
	put_string(export->out, row->ended ? row->ended : "");
	put_char(export->out, ',');
	if (row->sample && row->sample->callers)
		put_callers(export, row->sample);
	put_char(export->out, ',');
	if (row->note)
		put_field(export->out, row->note);
}

static void no_column(struct export *export, const char *name)
{
	struct csv *csv = export->private;

	if (!csv->warned)
		report("%s: a later header defines more counters, such as %s: they have no column (use --format perfetto for all counters)",
		       export->common.path, name);
	csv->warned = true;
}

/* Write the counts since the thread's previous record. */
static void put_between(struct export *export, const struct analysis_point *point)
{
	const struct counters *counters = analysis_recorded(export->analysis);
	struct csv *csv = export->private;
	uint64_t known = 0, count[COUNTERS_MAX];
	uint64_t counted = point ? point->counted : 0;
	unsigned int c, column;

	for (; counted; counted &= counted - 1) {
		c = (unsigned int)__builtin_ctzll(counted);
		column = find_between(csv, counters->name[c]);
		if (column == COUNTERS_NONE) {
			no_column(export, counters->name[c]);
			continue;
		}
		known |= 1ull << column;
		count[column] = point->delta[c];
	}
	for (c = 0; c < csv->between.count; c++)
		put_unless(export, !(known >> c & 1), known >> c & 1 ? count[c] : 0);
}

/* Write a row's counts; fields for counts that are not in @known are empty. */
static void end_row(struct export *export, const struct row *row, uint64_t known,
		    const uint64_t *total, const uint64_t *self)
{
	const struct counters *counters = analysis_counters(export->analysis);
	struct csv *csv = export->private;
	unsigned int c;

	if (csv->no_memory)
		return;
	if (counters->times)
		put_unless(export, !known, analysis_doubts_oncpu(export->analysis));
	for (c = 0; c < csv->columns; c++) {
		const bool is_known = known >> c & 1;
		uint64_t all = is_known ? total[c] : 0, own = is_known ? self[c] : 0;

		if (is_known && c < counters->times) {
			uint64_t *sum = csv->function[row->function].ticks[c];

			all = in_unit(export, row->outermost ? &sum[0] : NULL, all);
			own = in_unit(export, &sum[1], own);
		}
		put_unless(export, !is_known, all);
		put_unless(export, !is_known, own);
	}
	put_between(export, row->point);
	put_char(export->out, '\n');
	if (counters->count > csv->columns)
		no_column(export, counters->name[csv->columns]);
}

static void csv_enter(void *context, struct analysis_thread *thread)
{
	struct export *export = context;
	struct csv *csv = export->private;

	thread->frame[thread->depth - 1].user = ++csv->calls;
}

static void set_caller(struct row *row, const struct analysis_thread *thread, unsigned int depth)
{
	row->depth = depth;
	row->has_caller = depth;
	if (!depth)
		return;
	row->caller = thread->frame[depth - 1].function;
	row->parent = thread->frame[depth - 1].user;
}

static void csv_leave(void *context, struct analysis_thread *thread,
		      const struct analysis_end *end)
{
	static const char * const ended[] = {
		[ANALYSIS_EXIT] = "exit", [ANALYSIS_UNWOUND] = "unwound", [ANALYSIS_CUT] = "cut",
	};
	const struct analysis_frame *frame = &thread->frame[thread->depth - 1];
	struct export *export = context;
	struct csv *csv = export->private;
	struct row row = {
		.kind = "call", .thread = thread, .function = frame->function,
		.has_function = true, .id = frame->user, .outermost = frame->outermost,
		.ended = ended[end->why],
		.times = {
			.begins = frame->timed, .begin_inferred = frame->inferred,
			.begin = analysis_begin(frame), .known = end->timed,
			.inferred = end->inferred,
			.self_inferred = analysis_unsure(frame, end),
			.total = end->total, .self = end->self,
			.waits = !(frame->doubts & ANALYSIS_WAIT_UNKNOWN),
			.waited = frame->waited,
		},
	};

	if (csv->no_memory)
		return;
	row.partial = analysis_partial(frame);
	row.path_inferred = frame->doubts & ANALYSIS_PATH_INFERRED;
	set_caller(&row, thread, thread->depth - 1);
	begin_row(export, &row);
	end_row(export, &row, export_known(export, thread), end->count, end->count_self);
}

static void csv_point(void *context, struct analysis_thread *thread,
		      const struct analysis_step *step)
{
	struct export *export = context;
	struct csv *csv = export->private;
	struct row row = {
		.kind = perfrec_type_name(step->record->type), .thread = thread,
		.function = step->function, .has_function = true, .partial = -1,
		.outermost = true, .sample = step,
		.times = {
			.begins = thread->timed, .begin_inferred = thread->inferred,
			.begin = thread->now,
		},
	};

	if (csv->no_memory)
		return;
	set_caller(&row, thread, thread->depth);
	if (step->callers) {
		row.has_caller = true;
		row.caller = step->caller[0];
	}
	begin_row(export, &row);
	/*
	 * Counts within a call are charged to that call. Time outside calls does not belong to any
	 * function.
	 */
	end_row(export, &row, thread->depth ? 0 : step->counted & ~export_times(export),
		step->delta, step->delta);
}

static void csv_recorded(void *context, struct analysis_thread *thread,
			 const struct analysis_point *point)
{
	const struct perfrec_stamp *stamp = &point->record->begin;
	struct export *export = context;
	const struct csv *csv = export->private;
	struct row row = {
		.kind = perfrec_type_name(point->record->type), .thread = thread,
		.function = point->function, .has_function = true, .partial = -1,
		.outermost = true, .point = point, .note = export_point_note(point),
		.times = {
			.begins = stamp->time_known,
			.begin_inferred = stamp->time_known == TIME_INFERRED,
			.begin = stamp->time,
		},
	};

	if (csv->no_memory)
		return;
	set_caller(&row, thread, thread->depth);
	begin_row(export, &row);
	end_row(export, &row, 0, NULL, NULL);
}

/* Write a row that shows that records may be missing here. */
static void csv_lost(void *context, struct analysis_thread *thread)
{
	struct row row = {
		.kind = "lost", .thread = thread, .partial = -1,
		.times = {
			.begins = thread->timed, .begin_inferred = thread->inferred,
			.begin = thread->now,
		},
	};

	begin_row(context, &row);
	end_row(context, &row, 0, NULL, NULL);
}

static bool csv_stop(void *context)
{
	struct export *export = context;
	const struct csv *csv = export->private;

	return csv->no_memory || export_stop(context);
}

/* Write the last row, which states which part of the run the trace covers. */
static int csv_end(struct export *export)
{
	const struct csv *csv = export->private;
	char note[COVERAGE_SIZE];
	struct row row = {
		.kind = "trace", .partial = -1, .note = coverage_text(&export->input, note),
	};

	if (csv->no_memory) {
		report("out of memory");
		return -1;
	}
	begin_row(export, &row);
	end_row(export, &row, 0, NULL, NULL);
	return 0;
}

static void csv_free(struct export *export)
{
	struct csv *csv = export->private;
	uint32_t i;

	if (!csv)
		return;
	for (i = 0; i < csv->functions; i++)
		free(csv->function[i].text);
	free(csv->function);
	free(csv->whole);
	free(csv);
}

static const struct analysis_ops csv_ops = {
	.lost = csv_lost,
	.enter = csv_enter,
	.leave = csv_leave,
	.point = csv_point,
	.recorded = csv_recorded,
	.stop = csv_stop,
};

const struct exporter export_csv = {
	.name = "csv",
	.help = "a row for each call, for DuckDB, ClickHouse, SQLite",
	.begin = csv_begin,
	.ops = &csv_ops,
	.end = csv_end,
	.free = csv_free,
};
