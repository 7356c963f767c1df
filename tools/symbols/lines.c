// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Reads lines and functions by unit, with elfutils: see lines.h. */
#include <stdlib.h>
#include <string.h>

#include <dwarf.h>
#include <elfutils/libdwfl.h>

#include "image.h"
#include "lines.h"

/*
 * Limits that protect against damaged debug information: entries examined per unit, and nesting
 * depth.
 */
#define ENTRIES_MAX	(1u << 22)
#define DEPTH_MAX	64

/* A growing array of rows, functions or labels: @size bytes each. */
struct list {
	char	*data;
	size_t	size;
	size_t	count;
	size_t	room;
};

struct reader {
	Dwarf_Addr	bias;
	struct list	rows;
	struct list	marks;
	struct list	functions;
	struct list	labels;
	unsigned int	entries;
	bool		no_memory;
};

static void add(struct reader *reader, struct list *list, const void *entry)
{
	size_t room = list->room ? 2 * list->room : 64;
	char *data;

	if (list->count == list->room) {
		data = realloc(list->data, room * list->size);
		if (!data) {
			reader->no_memory = true;
			return;
		}
		list->data = data;
		list->room = room;
	}
	memcpy(list->data + list->count++ * list->size, entry, list->size);
}

/* ---- rows -------------------------------------------------------------- */

static bool read_row(Dwarf_Line *line, Dwarf_Addr bias, struct lines_row *row)
{
	int number = 0, column = 0;
	Dwarf_Addr address;
	bool ends = false;

	*row = (struct lines_row){ .start = 0 };
	if (dwarf_lineaddr(line, &address))
		return false;
	row->start = address + bias;
	if (dwarf_lineendsequence(line, &ends) || ends || dwarf_lineno(line, &number) ||
	    number <= 0)
		return true;
	dwarf_linecol(line, &column);
	dwarf_linebeginstatement(line, &row->statement);
	row->file = dwarf_linesrc(line, NULL, NULL);
	row->line = row->file ? (uint32_t)number : 0;
	row->column = column > 0 ? (uint32_t)column : 0;
	return true;
}

/*
 * Read a unit's rows. A row extends to the next row; of several rows at one address, the last row
 * counts.
 */
static void read_rows(struct reader *reader, Dwarf_Die *unit)
{
	struct lines_row row, next = { .line = 0 };
	struct lines_row first = { .line = 0 };
	Dwarf_Lines *lines;
	size_t count, i;

	if (dwarf_getsrclines(unit, &lines, &count))
		return;
	for (i = 0; i < count; i++) {
		row = next;
		if (!read_row(dwarf_onesrcline(lines, i), reader->bias, &next))
			return;
		row.end = next.start;
		if (!first.line || first.start != row.start)
			first = row;
		row.first_line = first.line;
		row.first_column = first.column;
		if (row.line && row.end > row.start)
			add(reader, &reader->rows, &row);
		else if (row.line && row.statement && row.line != first.line)
			add(reader, &reader->marks, &row);
	}
}

/* ---- functions --------------------------------------------------------- */

static void read_label(struct reader *reader, Dwarf_Die *die)
{
	struct lines_label label = { .file = dwarf_decl_file(die) };
	Dwarf_Addr address;
	int line;

	if (!label.file || dwarf_lowpc(die, &address) || dwarf_decl_line(die, &line) || line <= 0)
		return;
	label.address = address + reader->bias;
	label.line = (uint32_t)line;
	add(reader, &reader->labels, &label);
}

/* Read a function's labels, including labels in its blocks. */
static void read_labels(struct reader *reader, Dwarf_Die *parent)
{
	Dwarf_Die die[DEPTH_MAX];
	unsigned int depth = 0;
	int tag;

	if (dwarf_child(parent, &die[0]))
		return;
	while (reader->entries++ < ENTRIES_MAX) {
		tag = dwarf_tag(&die[depth]);
		if (tag == DW_TAG_label)
			read_label(reader, &die[depth]);
		if (tag == DW_TAG_lexical_block && depth + 1 < DEPTH_MAX &&
		    !dwarf_child(&die[depth], &die[depth + 1])) {
			depth++;
			continue;
		}
		while (dwarf_siblingof(&die[depth], &die[depth])) {
			if (!depth)
				return;
			depth--;
		}
	}
}

static int read_function(Dwarf_Die *die, void *context)
{
	struct reader *reader = context;
	struct lines_function function = { .file = dwarf_decl_file(die) };
	Dwarf_Addr base, start, end, entry = 0;
	const size_t first = reader->functions.count, label = reader->labels.count;
	struct lines_function *added, swapped;
	bool known = !dwarf_entrypc(die, &entry);
	ptrdiff_t offset = 0;
	int line = 0;
	size_t i;

	if (reader->entries++ > ENTRIES_MAX)
		return DWARF_CB_ABORT;
	if (function.file && !dwarf_decl_line(die, &line) && line > 0)
		function.line = (uint32_t)line;
	while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0 &&
	       reader->entries++ < ENTRIES_MAX) {
		if (end <= start)
			continue;
		/*
		 * GCC does not record in which range a split function begins, so assume the first
		 * range.
		 */
		if (!known)
			entry = start;
		known = true;
		function.start = start + reader->bias;
		function.end = end + reader->bias;
		function.part = start != entry;
		add(reader, &reader->functions, &function);
	}
	read_labels(reader, die);
	added = (struct lines_function *)(void *)reader->functions.data;
	for (i = first; i < reader->functions.count; i++) {
		if (!added[i].part) {
			swapped = added[first];
			added[first] = added[i];
			added[i] = swapped;
		}
		added[i].label = (uint32_t)label;
		added[i].labels = (uint32_t)(reader->labels.count - label);
	}
	return DWARF_CB_OK;
}

/* ---- units ------------------------------------------------------------- */

static const char *text_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr(die, name, &attribute));
}

static void read_unit(struct reader *reader, Dwarf_Die *die, struct lines_unit *unit)
{
	const char *producer = text_of(die, DW_AT_producer);

	reader->entries = 0;
	reader->rows.count = 0;
	reader->marks.count = 0;
	reader->functions.count = 0;
	reader->labels.count = 0;
	read_rows(reader, die);
	if (reader->rows.count)
		dwarf_getfuncs(die, read_function, reader, 0);
	*unit = (struct lines_unit){
		.dir = text_of(die, DW_AT_comp_dir),
		.gcc = producer && !strncmp(producer, "GNU ", 4),
		.row = (const void *)reader->rows.data, .rows = reader->rows.count,
		.mark = (const void *)reader->marks.data, .marks = reader->marks.count,
		.function = (const void *)reader->functions.data,
		.functions = reader->functions.count,
		.label = (const void *)reader->labels.data, .labels = reader->labels.count,
	};
}

int image_units(struct image *image, bool (*each)(void *context, const struct lines_unit *unit),
		void *context)
{
	struct reader reader = {
		.rows.size = sizeof(struct lines_row),
		.marks.size = sizeof(struct lines_row),
		.functions.size = sizeof(struct lines_function),
		.labels.size = sizeof(struct lines_label),
	};
	Dwfl_Module *module = image_lines_module(image);
	struct lines_unit unit;
	Dwarf_Die *die = NULL;
	int units = 0;

	while (module && (die = dwfl_module_nextcu(module, die, &reader.bias)) &&
	       !reader.no_memory) {
		read_unit(&reader, die, &unit);
		units += unit.rows > 0;
		if (unit.rows && !reader.no_memory && !each(context, &unit))
			break;
	}
	free(reader.rows.data);
	free(reader.marks.data);
	free(reader.functions.data);
	free(reader.labels.data);
	return reader.no_memory ? -1 : units;
}
