// SPDX-License-Identifier: Apache-2.0 OR MIT
/* Finds the source of the executed code, object by object: see covered.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "covered_maker.h"
#include "hash.h"
#include "image.h"
#include "text.h"

#define ROOM		256
#define RECORDER	"sifive-trace"

bool covered_reserve(struct maker *maker, void *array, size_t count, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : ROOM;
	void *list, *grown;

	if (count < *room)
		return true;
	memcpy(&list, array, sizeof(list));
	grown = realloc(list, more * size);
	if (!grown) {
		maker->no_memory = true;
		return false;
	}
	memcpy(array, &grown, sizeof(grown));
	*room = more;
	return true;
}

/* ---- files and lines --------------------------------------------------- */

/* Paths with equal hashes are treated as one file; a 64-bit collision is unlikely. */
static uint64_t file_key(const void *files, uint32_t number)
{
	return hash_text(((const struct covered_file *)files)[number - 1].path);
}

static uint64_t line_key(const void *lines, uint32_t number)
{
	const struct covered_line *line = &((const struct covered_line *)lines)[number - 1];

	return (uint64_t)line->file << 32 | line->line;
}

/*
 * Make room for one more entry; *@empty is set if the table is new. Return false if out
 * of memory.
 */
static bool widen(struct maker *maker, struct hash *hash, size_t count, bool *empty)
{
	*empty = !hash->slot || 2 * (count + 1) > 1u << hash->bits;
	if (!*empty)
		return true;
	free(hash->slot);
	hash->bits = hash_bits(count ? 2 * count : ROOM);
	hash->slot = calloc(1u << hash->bits, sizeof(*hash->slot));
	maker->no_memory |= !hash->slot;
	return hash->slot;
}

char *covered_path(const char *dir, const char *name)
{
	size_t size = strlen(name) + (dir ? strlen(dir) : 0) + 2, used = 0, length;
	char *path = malloc(size);
	const char *part, *next;
	int pass;

	if (!path)
		return NULL;
	if (*name == '/' || !dir)
		dir = "";
	for (pass = 0; pass < 2; pass++) {
		for (part = pass ? name : dir; *part; part = next) {
			length = strcspn(part, "/");
			next = part + length + (part[length] == '/');
			if (!length || (length == 1 && *part == '.'))
				continue;
			if (length == 2 && !memcmp(part, "..", 2) && memrchr(path, '/', used)) {
				used = (size_t)((char *)memrchr(path, '/', used) - path);
				continue;
			}
			if (used || *name == '/' || *dir == '/')
				path[used++] = '/';
			memcpy(path + used, part, length);
			used += length;
		}
	}
	path[used] = '\0';
	return path;
}

static uint32_t add_file(struct maker *maker, const char *name)
{
	struct covered *covered = maker->covered;
	char *path = covered_path(maker->unit->dir, name);
	uint32_t *slot;
	bool empty;

	if (!path || !widen(maker, &maker->files, covered->files, &empty) ||
	    !covered_reserve(maker, &covered->file, covered->files, &maker->file_room,
		     sizeof(*covered->file))) {
		maker->no_memory = true;
		free(path);
		return 0;
	}
	if (empty)
		hash_fill(&maker->files, 1, (uint32_t)covered->files + 1, file_key, covered->file);
	slot = hash_find(&maker->files, hash_text(path), file_key, covered->file);
	if (*slot) {
		free(path);
		return *slot - 1;
	}
	covered->file[covered->files] = (struct covered_file){ .path = path, .name = strdup(name) };
	maker->no_memory |= !covered->file[covered->files].name;
	*slot = (uint32_t)++covered->files;
	return *slot - 1;
}

uint32_t covered_find_file(struct maker *maker, const char *name)
{
	if (name != maker->latest) {
		maker->latest_file = add_file(maker, name);
		maker->latest = name;
	}
	return maker->latest_file;
}

uint32_t covered_find_line(struct maker *maker, const char *name, uint32_t line)
{
	struct covered *covered = maker->covered;
	uint32_t file = covered_find_file(maker, name), *slot;
	bool empty;

	if (maker->no_memory || !widen(maker, &maker->lines, covered->lines, &empty))
		return 0;
	if (empty)
		hash_fill(&maker->lines, 1, (uint32_t)covered->lines + 1, line_key, covered->line);
	slot = hash_find(&maker->lines, (uint64_t)file << 32 | line, line_key, covered->line);
	if (*slot)
		return *slot;
	if (covered->lines == COVERED_LINES_MAX) {
		covered->full = true;
		return 0;
	}
	if (!covered_reserve(maker, &covered->line, covered->lines, &maker->line_room,
		     sizeof(*covered->line)))
		return 0;
	covered->line[covered->lines] = (struct covered_line){ .file = file, .line = line };
	*slot = (uint32_t)++covered->lines;
	return *slot;
}

static uint64_t start_key(const void *starts, uint32_t number)
{
	return ((const uint64_t *)starts)[number - 1];
}

bool covered_is_new(struct maker *maker, uint64_t start)
{
	uint32_t *slot;
	bool empty;

	if (!widen(maker, &maker->functions, maker->starts, &empty) ||
	    !covered_reserve(maker, &maker->first, maker->starts, &maker->start_room,
			     sizeof(*maker->first)))
		return false;
	if (empty)
		hash_fill(&maker->functions, 1, (uint32_t)maker->starts + 1, start_key,
			  maker->first);
	slot = hash_find(&maker->functions, start, start_key, maker->first);
	if (*slot)
		return false;
	maker->first[maker->starts] = start;
	*slot = (uint32_t)++maker->starts;
	return true;
}

/* ---- objects ----------------------------------------------------------- */

static bool make_unit(void *context, const struct lines_unit *unit)
{
	struct maker *maker = context;
	size_t i, next;

	maker->unit = unit;
	maker->latest = NULL;
	for (i = 0; i < unit->functions && !maker->no_memory; i = next) {
		for (next = i + 1; next < unit->functions && unit->function[next].part; next++)
			;
		covered_function(maker, &unit->function[i], next - i);
	}
	return !maker->no_memory;
}

static void make_objects(struct maker *maker, bool quiet)
{
	const struct executed_object *object = maker->executed.object;
	const char *path;
	size_t i;
	int units;

	for (i = 0; i < maker->executed.objects && !maker->no_memory; i++, object++) {
		path = image_path(object->image);
		/*
		 * Omit the recorder's code, which the process ran before it executed the program.
		 */
		if (!strcmp(text_base(path), RECORDER))
			continue;
		maker->bias = object->bias;
		units = image_units(object->image, make_unit, maker);
		maker->no_memory |= units < 0;
		if (!units && !quiet)
			report("%s: no line numbers: the source of this file is left out", text_base(path));
	}
}

int covered_make(struct covered *covered, const struct counts *counts,
		 const struct input *input)
{
	struct maker maker = {
		.covered = covered, .symbols = input->symbols, .code = counts_code(counts),
	};

	memset(covered, 0, sizeof(*covered));
	covered->exact = counts_exact(counts, covered->why);
	maker.no_memory = executed_make(&maker.executed, counts, input->symbols) != 0;
	if (!maker.no_memory)
		make_objects(&maker, input->options->trace.quiet);
	if (covered->full && covered->exact) {
		covered->exact = false;
		snprintf(covered->why, sizeof(covered->why), "too many source lines: part of the source was not counted");
	}
	if (!maker.no_memory)
		maker.no_memory = !covered_order(covered);
	executed_free(&maker.executed);
	free(maker.at);
	free(maker.times);
	free(maker.pair);
	free(maker.files.slot);
	free(maker.lines.slot);
	free(maker.functions.slot);
	free(maker.first);
	if (maker.no_memory)
		report("out of memory");
	return maker.no_memory ? -1 : 0;
}

void covered_free(struct covered *covered)
{
	size_t i;

	for (i = 0; i < covered->files; i++) {
		free(covered->file[i].path);
		free(covered->file[i].name);
	}
	for (i = 0; i < covered->functions; i++)
		free(covered->function[i].name);
	free(covered->file);
	free(covered->line);
	free(covered->branch);
	free(covered->function);
}
