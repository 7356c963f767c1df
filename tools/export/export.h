/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/* Declares the formats that sifive-trace export writes. */
#ifndef SIFIVE_TRACE_EXPORT_H
#define SIFIVE_TRACE_EXPORT_H

#include <limits.h>

#include "analysis.h"
#include "options.h"
#include "../output.h"
#include "tree.h"

#define EXPORT_NAME_SIZE	512
/* Size of a name with a suffix. */
#define EXPORT_MARKED_SIZE	(EXPORT_NAME_SIZE + 16)

/**
 * struct export - state of an export
 * @format:	--format, as an index, or -1 if none
 * @weight:	--weight, or NULL for the default
 * @object:	--object, or NULL for the program
 * @weighed_by:	weight of the tree as enum tree_weight; valid in @end
 * @input:	the trace
 * @analysis:	analysis that finds the calls
 * @out:	the output; NULL if it is a directory, and, for exporters of trees, NULL until @end
 * @tree:	the call tree, for exporters that build it
 * @untimed:	number of records among calls that are left out because they have no time
 * @private:	the exporter's own state
 */
struct export {
	struct options		common;
	int			format;
	const char		*weight;
	const char		*object;
	int			weighed_by;
	struct input		input;
	struct analysis		*analysis;
	struct output		*out;
	struct tree		tree;
	uint64_t		untimed;
	void			*private;
};

/**
 * struct exporter - a format
 * @name:	name for --format
 * @help:	description of the format
 * @missing:	why this build lacks the format, or NULL; if set, only the names are valid
 * @to_dir:	the format has several files: --output is a directory
 * @of_tree:	the exporter writes a tree in @end, with a branch per thread
 * @begin:	called before the trace is read; returns -1 after printing an error
 * @ops:	callbacks for reading the trace; their context is the struct export. NULL if @run is
 *		set
 * @end:	called after the trace has been read, when the tree is complete; returns -1 on
 *		failure
 * @flow:	the exporter reads the instruction trace of one object
 * @all_calls:	thresholds do not apply, because the format contains records or branches, or because
 *		a call is written when it begins
 * @dated:	the format contains the time of each call, and --clock applies
 * @run:	used instead of the callbacks above; reads the trace, and returns -1 after printing
 *		an error
 * @free:	frees @private, even after an error
 */
struct exporter {
	const char		*name;
	const char		*help;
	const char		*missing;
	bool			to_dir;
	bool			of_tree;
	bool			flow;
	bool			all_calls;
	bool			dated;
	int			(*begin)(struct export *export);
	const struct analysis_ops *ops;
	int			(*end)(struct export *export);
	int			(*run)(struct export *export);
	void			(*free)(struct export *export);
};

extern const struct exporter export_chrome;
extern const struct exporter export_perfetto;
extern const struct exporter export_folded;
extern const struct exporter export_svg;
extern const struct exporter export_speedscope;
extern const struct exporter export_firefox;
extern const struct exporter export_pprof;
extern const struct exporter export_ctf;
extern const struct exporter export_csv;
extern const struct exporter export_dqr;
extern const struct exporter export_html;
extern const struct exporter export_bolt;
extern const struct exporter export_profgen;

/* Callbacks of exporters that write only the tree. */
extern const struct analysis_ops export_tree_ops;

/* One of these callbacks, for exporters that also have other callbacks. */
void export_tree_enter(void *context, struct analysis_thread *thread);

/** export_times() - return the mask of the columns that contain times on and off the CPU */
uint64_t export_times(const struct export *export);

/** export_known() - return the mask of the columns that the innermost call of a thread has */
uint64_t export_known(const struct export *export, const struct analysis_thread *thread);

/** export_partial() - return whether the innermost call of a thread has counts that are too low */
bool export_partial(const struct export *export, const struct analysis_thread *thread);

/** export_stop() - stop after a failed write, for @ops of exporters that write while they read */
bool export_stop(void *context);

/** export_is_time() - return whether a weight is in ticks: the whole time, or on or off the CPU */
bool export_is_time(const struct export *export, int weight);

/** export_is_unsure() - return whether a node's weight without callees is inexact */
bool export_is_unsure(const struct export *export, uint32_t node, int weight);

/*
 * How certain a node's weight without callees is. Formats that cannot mark a node append a suffix
 * to its name.
 */
enum export_mark {
	EXPORT_EXACT,
	EXPORT_INFERRED,
	EXPORT_PARTIAL,		/* some calls have no time, or counts of some calls are unknown */
	EXPORT_MARKS
};

enum export_mark export_mark(const struct export *export, uint32_t node);
extern const char * const export_suffix[EXPORT_MARKS];

/** export_weight_name() - return "us", "ticks", "samples", or a counter's name */
const char *export_weight_name(const struct export *export, int weight);

/** export_counter_name() - return a column's name, with the unit if it is a time: "on-cpu_ns" */
const char *export_counter_name(const struct export *export, unsigned int column);

/** export_nanoseconds() - convert ticks to nanoseconds; the trace's tick rate must be known */
uint64_t export_nanoseconds(const struct export *export, uint64_t ticks);

/**
 * export_time() - return a time in nanoseconds of the clock of --clock, or in ticks if the rate is
 * unknown
 */
uint64_t export_time(const struct export *export, uint64_t time);

/**
 * export_own_time() - return a node's self time in nanoseconds, or in ticks if the rate is unknown
 * @ticks:	time of the node's function in the previous nodes; this node's time is added to it
 * @own:	the node's self time in ticks
 *
 * The result is rounded so that the nodes of a function add up to the time that report shows.
 */
uint64_t export_own_time(const struct export *export, uint64_t *ticks, uint64_t own);

/** export_point_name() - write a record among calls as text: "enter main" */
void export_point_name(const struct export *export, const struct analysis_point *point,
		       char name[EXPORT_NAME_SIZE]);

/** export_marked_name() - write a function's name with the mark's suffix: "main (partial)" */
void export_marked_name(const struct export *export, uint32_t function, enum export_mark mark,
			char name[EXPORT_MARKED_SIZE]);

/** export_point_note() - return a note about a loss or a change of harts before a point, or NULL */
const char *export_point_note(const struct analysis_point *point);

/**
 * export_file() - find a file named by the user
 * @path:	set to the file's path
 *
 * Return: its load bias.
 */
uint64_t export_file(const struct export *export, size_t number, char path[PATH_MAX]);

/**
 * export_object() - find the object of an address
 * @address:	converted to the address in memory, because the analysis relocates objects that
 *		shared addresses
 *
 * Return: 1 + the index of the object in the side-car file or, if that has no objects, among the
 * user's files; 0 if unknown.
 */
size_t export_object(struct export *export, uint64_t *address);

/* The contents of files that the Makefile embeds in the program. */
extern const char export_flame_js[];
extern const char export_page_js[];
extern const char export_calls_js[];
extern const char export_times_js[];
extern const char export_range_js[];
extern const char export_flames_js[];
extern const char export_page_css[];

#endif /* SIFIVE_TRACE_EXPORT_H */
