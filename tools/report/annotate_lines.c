// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Finds the source lines of a function's instructions: see annotate.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "annotate.h"
#include "compare.h"
#include "image.h"

#define ROOM	64
/* Space for the names of inlined functions and their call sites. */
#define INLINED_SIZE	1024

struct maker {
	const struct annotate_view	*view;
	struct inlines			inlines;
	struct annotate_line		*line;
	size_t				lines, room;
	bool				no_memory;
};

void annotate_source(const struct annotate_view *view, const struct annotated_row *row,
		     struct inlines *inlines)
{
	struct symbols *symbols = view->annotated->input.symbols;
	struct image *image;
	uint64_t bias;
	/* For a return address, look up the preceding instruction, which is the call. */
	const uint64_t place = row->place - (row->kind == ANNOTATED_CALL);

	image = symbols_image(symbols, place, &bias);
	if (image && row->kind != ANNOTATED_VAGUE) {
		image_inlines(image, place - bias, inlines);
		return;
	}
	inlines->file = NULL;
	inlines->line = 0;
	inlines->frames = 0;
}

void annotate_inlined(const struct inlines *inlines, char *text, size_t size)
{
	const struct inlines_frame *frame = inlines->frame;
	size_t used = 0;
	unsigned int i;

	*text = '\0';
	for (i = 0; i < inlines->frames && used < size; i++, frame++) {
		used += (size_t)snprintf(text + used, size - used, "%s%s inlined at %s:%d",
					 i ? ", " : "",
					 frame->function ? frame->function : "a function",
					 frame->file ? frame->file : "?", frame->line);
	}
}

/* Put lines without a file first. */
static int by_line(const void *a, const void *b)
{
	const struct annotate_line *one = a, *two = b;
	int result = one->file && two->file ? strcmp(one->file, two->file) :
		     !!one->file - !!two->file;

	if (!result)
		result = compare_numbers((unsigned int)one->line, (unsigned int)two->line);
	if (!result)
		result = strcmp(one->inlined, two->inlined);
	return result ? result : compare_numbers(one->first, two->first);
}

static bool is_same(const struct annotate_line *one, const struct annotate_line *two)
{
	return (one->file == two->file ||
		(one->file && two->file && !strcmp(one->file, two->file))) &&
	       one->line == two->line && !strcmp(one->inlined, two->inlined);
}

static bool add_branch(struct annotate_line *line, const struct annotated_cost *cost, size_t more)
{
	struct annotated_cost *branch;

	branch = realloc(line->branch, (line->branches + more) * sizeof(*branch));
	if (!branch)
		return false;
	memcpy(branch + line->branches, cost, more * sizeof(*branch));
	line->branch = branch;
	line->branches += more;
	return true;
}

static void free_line(struct annotate_line *line)
{
	free(line->inlined);
	free(line->frame);
	free(line->branch);
}

/* Add a copy of @line. */
static void add_line(struct maker *maker, const struct annotate_line *line)
{
	const size_t room = maker->room ? 2 * maker->room : ROOM;
	const size_t bytes = line->frames * sizeof(*line->frame);
	struct annotate_line copy = *line, *grown;

	if (maker->lines == maker->room) {
		grown = realloc(maker->line, room * sizeof(*grown));
		if (!grown) {
			maker->no_memory = true;
			return;
		}
		maker->line = grown;
		maker->room = room;
	}
	copy.inlined = strdup(line->inlined);
	copy.frame = malloc(bytes + 1);
	if (!copy.inlined || !copy.frame) {
		maker->no_memory = true;
		free_line(&copy);
		return;
	}
	memcpy(copy.frame, line->frame, bytes);
	maker->line[maker->lines++] = copy;
}

static void on_row(void *context, const struct annotated_row *row)
{
	struct maker *maker = context;
	struct annotate_line line = { .first = row->place }, *last;
	char inlined[INLINED_SIZE];

	annotate_source(maker->view, row, &maker->inlines);
	annotate_inlined(&maker->inlines, inlined, sizeof(inlined));
	line.file = maker->inlines.file;
	line.dir = line.file ? maker->inlines.dir : NULL;
	line.line = maker->inlines.line;
	line.inlined = inlined;
	line.frame = maker->inlines.frame;
	line.frames = maker->inlines.frames;
	last = maker->lines ? &maker->line[maker->lines - 1] : NULL;
	if (!last || !is_same(last, &line))
		add_line(maker, &line);
	if (maker->no_memory)
		return;
	last = &maker->line[maker->lines - 1];
	annotated_add(&last->cost, &row->cost);
	if (row->code && row->of.kind == FLOW_BRANCH && !add_branch(last, &row->cost, 1))
		maker->no_memory = true;
}

/* Merge the entries of each line, because its code may be in several places. */
static void merge(struct maker *maker)
{
	struct annotate_line *line = maker->line;
	size_t kept = 0, i;

	for (i = 1; i < maker->lines; i++) {
		if (!is_same(&line[kept], &line[i])) {
			line[++kept] = line[i];
			continue;
		}
		annotated_add(&line[kept].cost, &line[i].cost);
		if (line[i].branches &&
		    !add_branch(&line[kept], line[i].branch, line[i].branches))
			maker->no_memory = true;
		free_line(&line[i]);
	}
	maker->lines = kept + 1;
}

bool annotate_lines(const struct annotate_view *view, const struct annotated_function *function,
		    struct annotate_line **lines, size_t *count)
{
	struct maker maker = { .view = view };

	annotated_rows(view->annotated, function, on_row, &maker);
	if (maker.lines) {
		qsort(maker.line, maker.lines, sizeof(*maker.line), by_line);
		merge(&maker);
	}
	*lines = maker.line;
	*count = maker.lines;
	return !maker.no_memory;
}

void annotate_lines_free(struct annotate_line *lines, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		free_line(&lines[i]);
	free(lines);
}

/* ---- execution counts, as in the coverage command ------------------------ */

static int compare_path(const void *path, const void *file)
{
	return strcmp(path, ((const struct covered_file *)file)->path);
}

static int compare_line(const void *a, const void *b)
{
	const struct covered_line *one = a, *two = b;

	return compare_numbers((uint64_t)one->file << 32 | one->line,
			       (uint64_t)two->file << 32 | two->line);
}

bool annotate_times(const struct annotate_view *view, const struct annotate_line *line,
		    uint64_t *times)
{
	const struct covered *covered = view->covered;
	struct covered_line key = { .line = (uint32_t)line->line };
	const struct covered_file *file = NULL;
	const struct covered_line *found = NULL;
	char *path = covered && line->file ? covered_path(line->dir, line->file) : NULL;

	if (path && covered->files)
		file = bsearch(path, covered->file, covered->files, sizeof(*file), compare_path);
	free(path);
	if (file) {
		key.file = (uint32_t)(file - covered->file);
		found = bsearch(&key, covered->line, covered->lines, sizeof(*found), compare_line);
	}
	*times = found ? found->times : 0;
	return found;
}
