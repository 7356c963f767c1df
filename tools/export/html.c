// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * A self-contained page for any browser: page.js draws the time line, the flame
 * graph and the counters from the data written here. The page is bounded: the time
 * line omits the shortest calls, and counters are sums over intervals.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "coverage.h"
#include "export.h"

#define SLICES_MAX	100000
/* Number of intervals for the counters; a power of two. */
#define BINS		2048
/* Limits of the threads whose counters are plotted, and of their counters in all. */
#define PLOTS_MAX	32
#define PLOTTED_MAX	64

/* A call of the time line. */
struct slice {
	uint64_t	begin;
	uint64_t	length;
	uint32_t	function;
	uint32_t	thread;
	uint32_t	depth;
	bool		inferred;
};

struct html {
	struct slice	*slice;
	size_t		slices;
	uint64_t	least;		/* shorter calls are omitted */
	uint64_t	left_out;
	bool		timed;
	uint64_t	first;		/* times of the records */
	uint64_t	last;
	/* The intervals have 1 << shift ticks, from first >> shift on. */
	unsigned int	shift;
	/* Counts of each thread by interval. */
	double		*count[PLOTS_MAX][COUNTERS_MAX];
	unsigned int	plotted;
	bool		not_plotted;
	/* Time of each thread's latest record, if any. */
	uint64_t	since[PLOTS_MAX];
	bool		counting[PLOTS_MAX];
	bool		no_memory;
};

static int html_begin(struct export *export)
{
	struct html *html = calloc(1, sizeof(*html));

	export->private = html;
	if (html)
		html->slice = malloc(SLICES_MAX * sizeof(*html->slice));
	if (html && html->slice)
		return 0;
	report("out of memory");
	return -1;
}

/* Drops the shorter half of the calls. */
static void thin_out(struct html *html)
{
	size_t i, kept;

	do {
		html->least = 2 * html->least + 1;
		for (i = 0, kept = 0; i < html->slices; i++)
			if (html->slice[i].length >= html->least)
				html->slice[kept++] = html->slice[i];
		html->left_out += html->slices - kept;
		html->slices = kept;
	} while (html->slices > SLICES_MAX / 2);
}

static void html_leave(void *context, struct analysis_thread *thread,
		       const struct analysis_end *end)
{
	const struct analysis_frame *frame = &thread->frame[thread->depth - 1];
	struct export *export = context;
	struct html *html = export->private;

	tree_leave(&export->tree, thread, end);
	if (!end->timed)
		return;
	if (end->total < html->least) {
		html->left_out++;
		return;
	}
	if (html->slices == SLICES_MAX)
		thin_out(html);
	html->slice[html->slices++] = (struct slice){
		.begin = frame->enter, .length = end->total,
		.function = frame->function, .thread = thread->thread->id,
		.depth = thread->depth - 1, .inferred = end->inferred,
	};
}

/* Doubles the length of the intervals. */
static void widen(struct html *html)
{
	/* The first interval may be the second half of its pair. */
	unsigned int half = html->first >> html->shift & 1, p, c, i;

	for (p = 0; p < PLOTS_MAX; p++) {
		for (c = 0; c < COUNTERS_MAX; c++) {
			double *count = html->count[p][c];

			if (!count)
				continue;
			count[0] += half ? 0 : count[1];
			for (i = 1; i < BINS; i++) {
				unsigned int from = 2 * i - half;

				count[i] = (from < BINS ? count[from] : 0) +
					   (from + 1 < BINS ? count[from + 1] : 0);
			}
		}
	}
	html->shift++;
}

/* Inserts intervals in front, for a time before all others. */
static void precede(struct html *html, unsigned int intervals)
{
	unsigned int p, c;

	for (p = 0; p < PLOTS_MAX; p++) {
		for (c = 0; c < COUNTERS_MAX; c++) {
			double *count = html->count[p][c];

			if (!count)
				continue;
			memmove(count + intervals, count,
				(BINS - intervals) * sizeof(*count));
			memset(count, 0, intervals * sizeof(*count));
		}
	}
}

/* Records of different threads come in any order: extends the intervals to a time. */
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

/* Distributes counts over the intervals between two times. */
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

static void html_step(void *context, struct analysis_thread *thread,
		      const struct analysis_step *step)
{
	struct export *export = context;
	struct html *html = export->private;
	unsigned int plot = thread->thread->id;
	uint64_t known = step->counted, since;

	if (!thread->timed && plot < PLOTS_MAX)
		html->counting[plot] = false;
	if (!thread->timed)
		return;
	cover(html, thread->now);
	if (plot >= PLOTS_MAX)
		return;
	/* The start of counting for a thread's first record is unknown. */
	if (!html->counting[plot])
		known = 0;
	html->counting[plot] = true;
	since = html->since[plot];
	html->since[plot] = thread->now;
	for (; known; known &= known - 1) {
		unsigned int c = (unsigned int)__builtin_ctzll(known);
		double **count = &html->count[plot][c];

		if (!*count && html->plotted == PLOTTED_MAX) {
			html->not_plotted = true;
			continue;
		}
		if (!*count) {
			*count = calloc(BINS, sizeof(**count));
			html->plotted++;
		}
		if (*count)
			spread(html, *count, since, thread->now,
			       step->delta[c]);
		html->no_memory |= !*count;
	}
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

/*
 * [parent, function, calls, samples, weight without callees, 1 if inferred], root
 * first.
 */
static void put_tree(struct export *export, int weight)
{
	const struct tree *tree = &export->tree;
	uint32_t i;

	put_string(export->out, "\"weight\":");
	put_json(export->out, weight == TREE_TIME ? "time" :
		 export_weight_name(export, weight));
	put_string(export->out, ",\n\"tree\":[[0,-1,0,0,0]");
	for (i = 1; i < tree->nodes; i++) {
		const struct tree_node *node = &tree->node[i];

		put_format(export->out, ",[%u,%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "%s]",
			   node->parent, node->parent == TREE_ROOT ?
			   -2 - (int)node->function : (int)node->function,
			   node->calls, node->samples,
			   tree_self(tree, i, weight), weight == TREE_TIME &&
			   (node->self_inferred || node->untimed) ? ",1" : "");
	}
	put_string(export->out, "],\n");
}

/* [thread, depth, function, start after the first time, length, 1 if inferred] */
static void put_slices(struct export *export)
{
	const struct html *html = export->private;
	size_t i;

	put_format(export->out, "\"least\":%" PRIu64 ",\"left_out\":%" PRIu64
		   ",\n\"slices\":[", html->least, html->left_out);
	for (i = 0; i < html->slices; i++) {
		const struct slice *slice = &html->slice[i];

		put_string(export->out, i ? ",[" : "[");
		put_number(export->out, slice->thread, 0);
		put_char(export->out, ',');
		put_number(export->out, slice->depth, 0);
		put_char(export->out, ',');
		put_number(export->out, slice->function, 0);
		put_char(export->out, ',');
		put_number(export->out, slice->begin - html->first, 0);
		put_char(export->out, ',');
		put_number(export->out, slice->length, 0);
		put_string(export->out, slice->inferred ? ",1]" : "]");
	}
	put_string(export->out, "],\n");
}

static void put_plots(struct export *export)
{
	const struct counters *counters = analysis_counters(export->analysis);
	const struct html *html = export->private;
	unsigned int p, c, i;
	bool any = false;

	/* The first interval begins shortly before the first record. */
	put_format(export->out, "\"interval\":%" PRIu64 ",\"before\":%" PRIu64
		   ",\"plotted\":%u,\n\"plots\":[", (uint64_t)1 << html->shift,
		   html->first & (((uint64_t)1 << html->shift) - 1), PLOTS_MAX);
	for (p = 0; p < PLOTS_MAX; p++) {
		for (c = 0; c < counters->count; c++) {
			const double *count = html->count[p][c];
			unsigned int last = BINS;

			/* The timestamp is not a count. */
			if (!count || !strcmp(counters->name[c], "timestamp"))
				continue;
			while (last && count[last - 1] <= 0)
				last--;
			put_string(export->out, any ? ",\n{\"thread\":" :
						      "{\"thread\":");
			any = true;
			put_number(export->out, p, 0);
			put_string(export->out, ",\"counter\":");
			put_json(export->out, counters->name[c]);
			put_string(export->out, ",\"count\":[");
			for (i = 0; i < last; i++) {
				if (i)
					put_char(export->out, ',');
				put_format(export->out, "%.5g", count[i]);
			}
			put_string(export->out, "]}");
		}
	}
	put_string(export->out, "]");
}

static int html_end(struct export *export)
{
	const struct html *html = export->private;
	struct output *out = export->out;
	int weight = export->weighed_by;
	char coverage[COVERAGE_SIZE];
	const char *title = export->input.meta.exe ? export->input.meta.exe :
						     export->common.path;

	if (html->no_memory) {
		report("out of memory");
		return -1;
	}
	if (html->not_plotted)
		report("%s: many threads with many counters: only the first %d of these are plotted",
		       export->common.path, PLOTTED_MAX);
	put_string(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
	put_xml(out, title);
	put_string(out, "</title>\n<style>\n");
	put_string(out, export_page_css);
	put_string(out, "</style>\n</head>\n<body>\n<h1>");
	put_xml(out, title);
	put_string(out, "</h1>\n<p id=\"coverage\">");
	put_xml(out, coverage_text(&export->input, coverage));
	put_string(out, "</p>\n<script>\nvar DATA = {\n");
	put_format(out, "\"hz\":%" PRIu64 ",\"first\":%" PRIu64 ",\"last\":%" PRIu64
		   ",\n", export->input.hz, html->first, html->last);
	put_string(out, "\"coverage\":{");
	coverage_json(&export->input, out);
	put_string(out, "},\n");
	put_functions(export);
	put_tree(export, weight);
	put_slices(export);
	put_plots(export);
	put_string(out, "};\n");
	put_string(out, export_page_js);
	put_string(out, export_times_js);
	put_string(out, export_flames_js);
	put_string(out, "PAGE.start();\n");
	put_string(out, "</script>\n</body>\n</html>\n");
	return 0;
}

static void html_free(struct export *export)
{
	struct html *html = export->private;
	unsigned int p, c;

	if (!html)
		return;
	for (p = 0; p < PLOTS_MAX; p++)
		for (c = 0; c < COUNTERS_MAX; c++)
			free(html->count[p][c]);
	free(html->slice);
	free(html);
}

const struct exporter export_html = {
	.name = "html",
	.help = "a page for any browser: time line, flame graph, counters",
	.of_tree = true,
	.begin = html_begin,
	.ops = {
		.step = html_step,
		.enter = export_tree_enter,
		.leave = html_leave,
		.point = export_tree_point,
	},
	.end = html_end,
	.free = html_free,
};
