// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Writes a self-contained page for any browser: page.js draws the timeline, the flame
 * graph and the counters from the data written here. The page contains all calls (calls.c);
 * counts are summed over intervals.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "calls.h"
#include "coverage.h"
#include "cause.h"
#include "export.h"
#include "spans.h"

/* Maximum number of losses to draw. */
#define LOSSES_MAX	10000
/* Number of intervals for the counters; a power of two. */
#define BINS		2048
/* Maximum number of threads whose counters are plotted, and maximum number of plots. */
#define PLOTS_MAX	32
#define PLOTTED_MAX	64

/* A loss: the thread's records may be missing before its record at @time. */
struct loss {
	uint32_t	thread;
	uint64_t	time;
};

/**
 * struct plots - counts of the first threads over time
 * @count:	counts in each interval, by thread and counter
 * @since:	time of each thread's latest record
 * @counting:	set if @since is known
 */
struct plots {
	double		*count[PLOTS_MAX][COUNTERS_MAX];
	uint64_t	since[PLOTS_MAX];
	bool		counting[PLOTS_MAX];
};

/*
 * Kinds of plots: counters of calls and, in a trace that contains instruction trace, counters of
 * records.
 */
enum { PLOTS_CALLS, PLOTS_RECORDS, PLOTS };

struct html {
	struct calls	*calls;
	struct loss	*loss;
	struct spans	spans;
	uint32_t	span_threads;
	/* Number of levels of calls, by thread. */
	uint32_t	*levels;
	uint32_t	threads;
	/* By function: set if the function has calls without a time. */
	bool		*untimed;
	uint32_t	functions;
	uint32_t	losses;
	uint64_t	more_losses;
	bool		timed;
	uint64_t	first;		/* first and last time of the records */
	uint64_t	last;
	/* An interval has 1 << shift ticks; the first interval is number first >> shift. */
	unsigned int	shift;
	struct plots	plots[PLOTS];
	unsigned int	plotted;
	bool		not_plotted;
	bool		no_memory;
};

/* Return the counts of plot @number, which is below PLOTS_ALL, or NULL if it has none. */
#define PLOTS_ALL	(PLOTS * PLOTS_MAX * COUNTERS_MAX)
static double *plot_of(const struct html *html, unsigned int number)
{
	return html->plots[number / COUNTERS_MAX / PLOTS_MAX]
		.count[number / COUNTERS_MAX % PLOTS_MAX][number % COUNTERS_MAX];
}

static int html_begin(struct export *export)
{
	struct html *html = calloc(1, sizeof(*html));

	export->private = html;
	if (html)
		html->loss = malloc(LOSSES_MAX * sizeof(*html->loss));
	if (!html || !html->loss) {
		report("out of memory");
		return -1;
	}
	html->calls = calls_new();
	return html->calls ? 0 : -1;
}

/* Extend an array to contain @index, with new items set to 0; return NULL if out of memory. */
static void *with_room(struct html *html, void *items, uint32_t *room, uint32_t index, size_t size)
{
	char *more;

	if (index < *room)
		return items;
	more = realloc(items, ((size_t)index + 1) * size);
	if (!more) {
		html->no_memory = true;
		return NULL;
	}
	memset(more + *room * size, 0, (index + 1 - *room) * size);
	*room = index + 1;
	return more;
}

/* Ensure that the thread has a row for the call's level. */
static void add_level(struct html *html, const struct call *call)
{
	uint32_t *levels = with_room(html, html->levels, &html->threads, call->thread,
				     sizeof(*levels));

	if (!levels)
		return;
	html->levels = levels;
	if (levels[call->thread] < call->depth + 1)
		levels[call->thread] = call->depth + 1;
}

/* Record that the page lacks a call to the function, because the call has no time. */
static void add_untimed(struct html *html, uint32_t function)
{
	bool *untimed = with_room(html, html->untimed, &html->functions, function,
				  sizeof(*untimed));

	if (!untimed)
		return;
	html->untimed = untimed;
	untimed[function] = true;
}

static void html_leave(void *context, struct analysis_thread *thread,
		       const struct analysis_end *end)
{
	const struct analysis_frame *frame = &thread->frame[thread->depth - 1];
	struct export *export = context;
	struct html *html = export->private;
	const struct call call = {
		.begin = analysis_begin(frame), .length = end->total + frame->waited,
		.waited = frame->waited, .function = frame->function,
		.caller = thread->depth > 1 ? frame[-1].function : CALLS_NO_CALLER,
		.thread = thread->thread->id, .depth = thread->depth - 1,
		.inferred = end->inferred, .outermost = frame->outermost,
		.self_inferred = analysis_unsure(frame, end), .partial = analysis_partial(frame),
	};
	const unsigned int counters = analysis_counters(export->analysis)->count;
	const uint64_t known = export_known(export, thread);
	uint64_t count[COUNTERS_MAX];
	unsigned int c;

	tree_leave(&export->tree, thread, end);
	if (!end->timed) {
		add_untimed(html, frame->function);
		return;
	}
	add_level(html, &call);
	for (c = 0; c < counters; c++)
		count[c] = known >> c & 1 ? end->count[c] + 1 : 0;
	calls_add(html->calls, &call, count, counters);
}

static void html_lost(void *context, struct analysis_thread *thread)
{
	struct export *export = context;
	struct html *html = export->private;

	if (!html->timed)
		return;
	if (html->losses == LOSSES_MAX)
		html->more_losses++;
	else
		html->loss[html->losses++] = (struct loss){ thread->thread->id, thread->now };
}

/* Double the length of the intervals by merging pairs. */
static void widen(struct html *html)
{
	/*
	 * If the first interval is the second half of its new interval, it is not merged with the
	 * next.
	 */
	unsigned int half = html->first >> html->shift & 1, p, i;

	for (p = 0; p < PLOTS_ALL; p++) {
		double *count = plot_of(html, p);

		if (!count)
			continue;
		count[0] += half ? 0 : count[1];
		for (i = 1; i < BINS; i++) {
			unsigned int from = 2 * i - half;

			count[i] = (from < BINS ? count[from] : 0) +
				   (from + 1 < BINS ? count[from + 1] : 0);
		}
	}
	html->shift++;
}

/* Insert intervals at the front, for a time before all existing intervals. */
static void precede(struct html *html, unsigned int intervals)
{
	unsigned int p;

	for (p = 0; p < PLOTS_ALL; p++) {
		double *count = plot_of(html, p);

		if (!count)
			continue;
		memmove(count + intervals, count, (BINS - intervals) * sizeof(*count));
		memset(count, 0, intervals * sizeof(*count));
	}
}

/*
 * Extend the range of the intervals to include a time; the times of different threads' records can
 * be in any order.
 */
static void cover(struct html *html, uint64_t time)
{
	uint64_t first = html->first;

	if (!html->timed) {
		html->timed = true;
		html->first = time;
		html->last = time;
		return;
	}
	if (time < first)
		first = time;
	if (time > html->last)
		html->last = time;
	while ((html->last >> html->shift) - (first >> html->shift) >= BINS)
		widen(html);
	if (first >> html->shift < html->first >> html->shift)
		precede(html, (unsigned int)((html->first >> html->shift) -
					     (first >> html->shift)));
	html->first = first;
}

static void html_span(void *context, struct thread *thread, enum oncpu_state state,
		      uint64_t from, uint64_t to)
{
	struct export *export = context;
	struct html *html = export->private;

	cover(html, from);
	cover(html, to);
	html->no_memory |= !spans_add(&html->spans, &(struct span){
		from, to - from, thread->id, state });
	if (thread->id >= html->span_threads)
		html->span_threads = thread->id + 1;
}

/* Distribute counts over the intervals between two times. */
static void spread(struct html *html, double *count, uint64_t from, uint64_t to,
		   uint64_t delta)
{
	double rate = (double)delta / (double)(to - from);
	uint64_t base = html->first >> html->shift, last;

	if (from == to)
		count[(to >> html->shift) - base] += (double)delta;
	while (from < to) {
		last = from | (((uint64_t)1 << html->shift) - 1);
		if (last >= to)
			last = to - 1;
		count[(from >> html->shift) - base] +=
			rate * (double)(last - from + 1);
		from = last + 1;
	}
}

/* Add the counts of a thread's record, whose time may be unknown. */
static void add_counts(struct html *html, struct plots *plots, unsigned int plot, bool timed,
		       uint64_t now, uint64_t known, const uint64_t *delta)
{
	uint64_t since;

	if (!timed && plot < PLOTS_MAX)
		plots->counting[plot] = false;
	if (!timed)
		return;
	cover(html, now);
	if (plot >= PLOTS_MAX)
		return;
	since = plots->since[plot];
	/* The time at which the counts of a thread's first record began is unknown. */
	if (!plots->counting[plot] || now < since)
		known = 0;
	plots->counting[plot] = true;
	plots->since[plot] = now;
	for (; known; known &= known - 1) {
		unsigned int c = (unsigned int)__builtin_ctzll(known);
		double **count = &plots->count[plot][c];

		if (!*count && html->plotted == PLOTTED_MAX) {
			html->not_plotted = true;
			continue;
		}
		if (!*count) {
			*count = calloc(BINS, sizeof(**count));
			html->plotted++;
		}
		if (*count)
			spread(html, *count, since, now, delta[c]);
		html->no_memory |= !*count;
	}
}

static void count_step(struct html *html, const struct analysis_thread *thread,
		       const struct analysis_step *step, uint64_t counted)
{
	add_counts(html, &html->plots[PLOTS_CALLS], thread->thread->id, thread->timed,
		   thread->now, counted, step->delta);
}

/*
 * Return the columns that a step counts. For a sample, omit columns that calls or manual records
 * also count.
 */
static uint64_t counted_once(const struct export *export, const struct analysis_thread *thread,
			     const struct analysis_step *step)
{
	return thread->depth ? step->counted :
			       step->counted & (step->charged | export_times(export));
}

static void html_point(void *context, struct analysis_thread *thread,
		       const struct analysis_step *step)
{
	struct export *export = context;
	struct html *html = export->private;
	const struct call call = {
		.begin = thread->now, .function = step->function, .caller = CALLS_NO_CALLER,
		.thread = thread->thread->id, .depth = thread->depth, .point = true,
		.inferred = thread->inferred,
	};

	tree_point(&export->tree, thread, step);
	count_step(html, thread, step, counted_once(export, thread, step));
	if (!thread->timed)
		return;
	add_level(html, &call);
	calls_add(html->calls, &call, NULL, 0);
}

/* The counts of samples and manual records are added by html_point(). */
static void html_step(void *context, struct analysis_thread *thread,
		      const struct analysis_step *step)
{
	const struct export *export = context;

	if (step->record->type <= PERFREC_EXIT)
		count_step(export->private, thread, step, step->counted);
}

static void html_uncharge(void *context, uint64_t columns)
{
	struct export *export = context;
	struct html *html = export->private;
	unsigned int plot;

	tree_uncharge(&export->tree, columns);
	for (; columns; columns &= columns - 1)
		for (plot = 0; plot < PLOTS_MAX; plot++) {
			double **count = &html->plots[PLOTS_CALLS]
				.count[plot][__builtin_ctzll(columns)];

			html->plotted -= *count != NULL;
			free(*count);
			*count = NULL;
		}
}

static void html_recorded(void *context, struct analysis_thread *thread,
			  const struct analysis_point *point)
{
	const struct perfrec_stamp *stamp = &point->record->begin;
	struct export *export = context;
	struct html *html = export->private;
	const struct call call = {
		.begin = stamp->time, .function = point->function,
		.caller = thread->depth ? thread->frame[thread->depth - 1].function :
					  CALLS_NO_CALLER,
		.thread = thread->thread->id, .depth = thread->depth, .point = true,
		.record = (uint8_t)(point->record->type + 1),
		.inferred = stamp->time_known == TIME_INFERRED,
	};
	const unsigned int counters = analysis_recorded(export->analysis)->count;
	uint64_t count[COUNTERS_MAX];
	unsigned int c;

	add_counts(html, &html->plots[PLOTS_RECORDS], thread->thread->id, stamp->time_known,
		   stamp->time, point->counted, point->delta);
	if (!stamp->time_known) {
		export->untimed++;
		return;
	}
	for (c = 0; c < counters; c++)
		count[c] = point->counted >> c & 1 ? point->delta[c] + 1 : 0;
	add_level(html, &call);
	calls_add(html->calls, &call, count, counters);
}

static void put_functions(struct export *export)
{
	uint32_t count = functions_count(analysis_functions(export->analysis)), i;
	char name[EXPORT_NAME_SIZE];

	put_string(export->out, "\"functions\":[");
	for (i = 0; i < count; i++) {
		if (i)
			put_char(export->out, ',');
		analysis_name(export->analysis, i, name, sizeof(name));
		put_json(export->out, name);
	}
	put_string(export->out, "],\n\"threads\":[");
	count = threads_count(analysis_threads(export->analysis));
	for (i = 0; i < count; i++) {
		if (i)
			put_char(export->out, ',');
		put_json(export->out,
			 threads_get(analysis_threads(export->analysis), i)->label);
	}
	put_string(export->out, "],\n");
}

/* Write [parent, function, calls, samples, weight without callees, 1 if inferred], root first. */
static void put_tree(struct export *export, int weight)
{
	const struct tree *tree = &export->tree;
	uint32_t i;

	put_string(export->out, "\"weight\":");
	put_json(export->out, weight == TREE_TIME ? "time" :
		 export_weight_name(export, weight));
	put_format(export->out, ",\n\"weightIsTime\":%s,\n\"tree\":[[0,-1,0,0,0]",
		   export_is_time(export, weight) ? "true" : "false");
	for (i = 1; i < tree->nodes; i++) {
		const struct tree_node *node = &tree->node[i];

		put_format(export->out, ",[%u,%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "%s]",
			   node->parent, node->parent == TREE_ROOT ?
			   -2 - (int)node->function : (int)node->function,
			   node->calls, node->samples,
			   tree_self(tree, i, weight),
			   export_is_unsure(export, i, weight) ? ",1" : "");
	}
	put_string(export->out, "],\n");
}

static void put_names(struct output *out, const char *what, const struct counters *counters)
{
	unsigned int c;

	put_format(out, "\"%s\":[", what);
	for (c = 0; c < counters->count; c++) {
		put_string(out, c ? "," : "");
		put_json(out, counters->name[c]);
	}
	put_string(out, "],\n");
}

/* Write the functions with calls that are not in the page because they have no time. */
static void put_untimed(struct export *export)
{
	const struct html *html = export->private;
	bool any = false;
	uint32_t i;

	put_string(export->out, "\"untimed\":[");
	for (i = 0; i < html->functions; i++) {
		if (!html->untimed[i])
			continue;
		put_format(export->out, "%s%u", any ? "," : "", i);
		any = true;
	}
	put_string(export->out, "],\n");
}

/* Write 1 for each function with counts that are too low, and 0 for all other functions. */
static void put_partial(struct export *export, uint32_t functions, uint64_t *partial)
{
	uint32_t i;

	for (i = 1; i < export->tree.nodes; i++)
		if (export->tree.node[i].parent != TREE_ROOT)
			partial[export->tree.node[i].function] |= export->tree.node[i].partial;
	put_string(export->out, "\"partial\":[");
	for (i = 0; i < functions; i++)
		put_string(export->out, partial[i] ? i ? ",1" : "1" : i ? ",0" : "0");
	put_string(export->out, "],\n");
}

/* Write the counts of each function, excluding callees: a list for each counter. */
static int put_counts(struct export *export)
{
	const struct counters *counters = analysis_counters(export->analysis);
	uint32_t functions = functions_count(analysis_functions(export->analysis)), i;
	uint64_t *sum = calloc(functions + 1, sizeof(*sum));
	unsigned int c;
	bool any = false;

	if (!sum) {
		report("out of memory");
		return -1;
	}
	put_names(export->out, "counters", counters);
	put_format(export->out, "\"times\":%u,\n", counters->times);
	put_names(export->out, "between", analysis_recorded(export->analysis));
	put_partial(export, functions, sum);
	put_string(export->out, "\"counts\":[");
	for (c = 0; c < counters->count; c++) {
		memset(sum, 0, functions * sizeof(*sum));
		for (i = 1; i < export->tree.nodes; i++)
			if (export->tree.node[i].parent != TREE_ROOT &&
			    export->tree.node[i].function < functions)
				sum[export->tree.node[i].function] +=
					tree_self(&export->tree, i, TREE_COUNTER + (int)c);
		put_string(export->out, any ? ",\n[" : "[");
		any = true;
		for (i = 0; i < functions; i++) {
			put_string(export->out, i ? "," : "");
			put_number(export->out, sum[i], 0);
		}
		put_string(export->out, "]");
	}
	put_string(export->out, "],\n");
	free(sum);
	return 0;
}

/* Write the number of levels of each thread, then [thread, time] of each loss. */
static void put_lanes(struct export *export)
{
	const struct html *html = export->private;
	uint32_t i;

	put_string(export->out, "\"levels\":[");
	for (i = 0; i < html->threads || i < html->span_threads; i++)
		put_format(export->out, "%s%u", i ? "," : "",
			   i < html->threads ? html->levels[i] : 0);
	put_format(export->out, "],\n\"more_losses\":%" PRIu64 ",\"losses\":[",
		   html->more_losses);
	for (i = 0; i < html->losses; i++)
		put_format(export->out, "%s[%u,%" PRIu64 "]", i ? "," : "", html->loss[i].thread,
			   html->loss[i].time > html->first ?
			   html->loss[i].time - html->first : 0);
	put_string(export->out, "],\n");
}

/* Write [thread, state, begin, length] of each span, in the order in which the spans end. */
static void put_spans(struct export *export)
{
	struct html *html = export->private;
	const struct spans *spans = &html->spans;
	uint32_t i;

	spans_sort(&html->spans);
	put_string(export->out, "\"states\":[");
	for (i = 0; i <= ONCPU_MERGED; i++)
		put_format(export->out, "%s\"%s\"", i ? "," : "",
			   oncpu_name((enum oncpu_state)i));
	put_format(export->out, "],\n\"more_spans\":%" PRIu64 ",\"doubtful\":%s,\n\"spans\":[",
		   spans->left_out,
		   analysis_doubts_oncpu(export->analysis) ? "true" : "false");
	for (i = 0; i < spans->count; i++)
		put_format(export->out, "%s[%u,%u,%" PRIu64 ",%" PRIu64 "]", i ? "," : "",
			   spans->span[i].thread, spans->span[i].state,
			   spans->span[i].from - html->first, spans->span[i].length);
	put_string(export->out, "],\n");
}

static void put_plot(struct export *export, unsigned int thread, const char *name,
		     bool time, const double *count)
{
	unsigned int last = BINS, i;

	while (last && count[last - 1] <= 0)
		last--;
	put_string(export->out, "{\"thread\":");
	put_number(export->out, thread, 0);
	put_string(export->out, ",\"counter\":");
	put_json(export->out, name);
	put_format(export->out, "%s,\"count\":[", time ? ",\"time\":true" : "");
	for (i = 0; i < last; i++) {
		if (i)
			put_char(export->out, ',');
		put_format(export->out, "%.5g", count[i]);
	}
	put_string(export->out, "]}");
}

static void put_plots(struct export *export)
{
	const struct html *html = export->private;
	char name[COUNTERS_NAME_SIZE + 24];
	unsigned int p, c;
	bool any = false;

	/* The first interval can begin before the first record. */
	put_format(export->out, "\"interval\":%" PRIu64 ",\"before\":%" PRIu64
		   ",\"plotted\":%u,\n\"plots\":[", (uint64_t)1 << html->shift,
		   html->first & (((uint64_t)1 << html->shift) - 1), PLOTS_MAX);
	for (p = 0; p < PLOTS_ALL; p++) {
		const bool records = p / COUNTERS_MAX / PLOTS_MAX == PLOTS_RECORDS;
		const struct counters *counters = records ? analysis_recorded(export->analysis) :
							    analysis_counters(export->analysis);

		c = p % COUNTERS_MAX;
		/* The timestamp is not a count. */
		if (!plot_of(html, p) || !strcmp(counters->name[c], "timestamp"))
			continue;
		if (any)
			put_string(export->out, ",\n");
		any = true;
		snprintf(name, sizeof(name), "%s%s", counters->name[c],
			 records ? " between records" : "");
		put_plot(export, p / COUNTERS_MAX % PLOTS_MAX, name, c < counters->times,
			 plot_of(html, p));
	}
	put_string(export->out, "]");
}

/* Write [begin, end] of the part of the triggering call that the trace contains. */
static void put_trigger(struct export *export)
{
	const struct html *html = export->private;
	uint64_t from, to;

	if (!cause_span(&export->input, &from, &to) || to < html->first ||
	    from > html->last || from == to)
		return;
	put_format(export->out, "\"trigger\":[%" PRIu64 ",%" PRIu64 "],\n",
		   from > html->first ? from - html->first : 0,
		   (to < html->last ? to : html->last) - html->first);
}

static int html_end(struct export *export)
{
	const struct html *html = export->private;
	struct output *out = export->out;
	int64_t left_out;
	int weight = export->weighed_by;
	char coverage[COVERAGE_SIZE];
	const char *title = export->input.meta.exe ? export->input.meta.exe :
						     export->common.path;

	if (html->no_memory) {
		report("out of memory");
		return -1;
	}
	if (html->not_plotted)
		report("%s: too many counters of threads: only the first %d are plotted",
		       export->common.path, PLOTTED_MAX);
	put_string(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
	put_xml(out, title);
	put_string(out, "</title>\n<style>\n");
	put_string(out, export_page_css);
	put_string(out, "</style>\n</head>\n<body>\n<h1>");
	put_xml(out, title);
	put_string(out, "</h1>\n<p id=\"coverage\">");
	put_xml(out, coverage_text(&export->input, coverage));
	put_string(out, "</p>\n");
	left_out = calls_put_index(html->calls, html->first, out);
	if (left_out < 0)
		return -1;
	put_string(out, "<script>\nvar DATA = {\n");
	put_format(out, "\"hz\":%" PRIu64 ",\"first\":%" PRIu64 ",\"last\":%" PRIu64
		   ",\n", export->input.hz, html->first, html->last);
	put_string(out, "\"coverage\":{");
	coverage_json(&export->input, out);
	put_string(out, "},\n");
	put_trigger(export);
	put_functions(export);
	put_tree(export, weight);
	put_untimed(export);
	put_lanes(export);
	put_spans(export);
	put_format(out, "\"left_out\":%" PRId64 ",\n", left_out);
	if (put_counts(export))
		return -1;
	put_plots(export);
	put_string(out, "};\n");
	put_string(out, export_page_js);
	put_string(out, export_calls_js);
	put_string(out, export_times_js);
	put_string(out, export_range_js);
	put_string(out, export_flames_js);
	put_string(out, "PAGE.start();\n");
	put_string(out, "</script>\n");
	if (calls_put(html->calls, out))
		return -1;
	put_string(out, "</body>\n</html>\n");
	return 0;
}

static void html_free(struct export *export)
{
	struct html *html = export->private;
	unsigned int p;

	if (!html)
		return;
	for (p = 0; p < PLOTS_ALL; p++)
		free(plot_of(html, p));
	calls_free(html->calls);
	free(html->loss);
	spans_free(&html->spans);
	free(html->levels);
	free(html->untimed);
	free(html);
}

static const struct analysis_ops html_ops = {
	.lost = html_lost,
	.step = html_step,
	.enter = export_tree_enter,
	.leave = html_leave,
	.point = html_point,
	.uncharge = html_uncharge,
	.recorded = html_recorded,
	.span = html_span,
};

const struct exporter export_html = {
	.name = "html",
	.help = "a page for any browser: timeline, flame graph, counters",
	.of_tree = true,
	.begin = html_begin,
	.ops = &html_ops,
	.end = html_end,
	.free = html_free,
};
