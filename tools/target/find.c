// SPDX-License-Identifier: Apache-2.0 OR MIT
/* See find.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "flow/instruction.h"

#include "../command.h"
#include "../nearest.h"
#include "demangle.h"
#include "elf.h"
#include "find.h"

/* Suffix of the symbol for a part that gcc has moved out of a function. */
#define COLD		".cold"

/* Address range of a part of a function; @size is 0 if the function has no such part. */
struct meta_part {
	uint64_t	start;
	uint64_t	size;
};

/**
 * struct search - a search for a name
 * @exits:	set to also find where the function ends
 * @loops:	set if the function contains a jump to its start
 * @count:	number of functions with the name in the file
 * @whole:	the latest function with the name, and its part that gcc has moved elsewhere
 * @clone:	the first of the @clones clones that gcc made; clones are not probed
 * @nearest:	the most similar name found, in @word
 */
struct search {
	const char	*name;
	bool		exits;
	bool		loops;
	unsigned int	count;
	struct meta_part	whole[2];
	char		*clone;
	unsigned int	clones;
	struct nearest	nearest;
	char		*word;
};

/* Compare a name with the requested name; keep a copy if it is the most similar name so far. */
static void try_nearest(struct search *s, const char *name)
{
	struct nearest nearest = s->nearest;

	nearest_try(&nearest, name);
	if (nearest.found == s->nearest.found && nearest.distance == s->nearest.distance)
		return;
	free(s->word);
	s->word = strdup(name);
	s->nearest = nearest;
	s->nearest.found = s->word;
}

static void consider(void *argument, const char *name, uint64_t start, uint64_t size)
{
	char *full = demangle(name);
	struct search *s = argument;
	bool fits = !strcmp(name, s->name) || (full && !strcmp(full, s->name));
	const char *cut = full ? demangle_cut(full) : name;

	fits |= !strcmp(cut, s->name);
	if (!fits)
		try_nearest(s, cut);
	/* Several symbols for one function are not ambiguous. */
	if (fits && !(s->count && s->whole[0].start == start)) {
		s->count++;
		s->whole[0] = (struct meta_part){ start, size };
	}
	free(full);
}

/* Return whether the first @length bytes of a symbol's name are the function's name. */
static bool names_function(const struct search *s, const char *name, size_t length)
{
	struct search one = { .name = s->name, .nearest = { .wanted = "" } };
	char *function = strndup(name, length);

	if (function)
		consider(&one, function, 0, 1);
	free(function);
	free(one.word);
	return one.count;
}

static bool ends_cold(const char *name)
{
	const size_t length = strlen(name), end = strlen(COLD);

	return length > end && !strcmp(name + length - end, COLD);
}

/* Record a clone of the function, or a part that gcc has moved out of it. */
static void consider_parts(void *argument, const char *name, uint64_t start, uint64_t size)
{
	static const char * const clones[] = { ".constprop.", ".part.", ".isra." };
	struct search *s = argument;
	const char *end = NULL, *at;
	size_t i;

	if (ends_cold(name)) {
		if (names_function(s, name, strlen(name) - strlen(COLD)))
			s->whole[1] = (struct meta_part){ start, size };
		return;
	}
	for (i = 0; i < sizeof(clones) / sizeof(clones[0]); i++) {
		at = strstr(name, clones[i]);
		if (at && (!end || at < end))
			end = at;
	}
	if (!end || !names_function(s, name, (size_t)(end - name)))
		return;
	s->clones++;
	if (!s->clone)
		s->clone = strdup(name);
}

/* ---- where a function ends ------------------------------------------------- */

static bool is_within(const struct search *s, uint64_t address)
{
	return address - s->whole[0].start < s->whole[0].size ||
	       address - s->whole[1].start < s->whole[1].size;
}

/*
 * Return whether an instruction can leave the function. Conditional branches are not considered,
 * because gcc generates none that leave a function.
 */
static bool is_exit(const struct search *s, const struct instruction *instruction)
{
	return instruction->kind == FLOW_RETURN || instruction->kind == FLOW_INDIRECT_JUMP ||
	       (instruction->kind == FLOW_JUMP && !is_within(s, instruction->target));
}

/*
 * Return whether an instruction jumps back to the function's start; recursive calls do not count.
 */
static bool is_loop(const struct search *s, const struct instruction *instruction)
{
	return (instruction->kind == FLOW_BRANCH || instruction->kind == FLOW_JUMP) &&
	       instruction->target == s->whole[0].start;
}

/* Find the exits of a part of the function, and set @loops. Return -1 if there are too many. */
static int find_exits(struct search *s, const struct meta_part *part, const struct elf *elf,
		      struct found *found)
{
	struct instruction instruction;
	uint64_t offset, at, size;
	const uint8_t *bytes;

	if (!part->size || !elf_offset(elf, part->start, &offset))
		return 0;
	bytes = (const uint8_t *)elf->bytes + offset;
	size = part->size < elf->size - offset ? part->size : elf->size - offset;
	for (at = 0; instruction_read(bytes + at, size - at, part->start + at, false,
				      &instruction); at += 2 * instruction.halfwords) {
		s->loops |= is_loop(s, &instruction);
		if (!s->exits || !is_exit(s, &instruction))
			continue;
		if (found->offsets == sizeof(found->offset) / sizeof(found->offset[0]))
			return -1;
		found->offset[found->offsets++] = offset + at;
	}
	return 0;
}

/* ---- files ----------------------------------------------------------------- */

/* Set the offsets to probe. Return NULL, or the reason why the function cannot be probed. */
static const char *set_offsets(struct search *s, const struct elf *elf, struct found *found)
{
	if (!elf_offset(elf, s->whole[0].start, &found->offset[0]))
		return "its code is not in the file";
	found->offsets = 1;
	elf_functions(elf, consider_parts, s);
	if (find_exits(s, &s->whole[0], elf, found) || find_exits(s, &s->whole[1], elf, found))
		return "it has too many returns";
	if (s->loops)
		return "it contains a jump to its first instruction, so loop iterations would count as calls";
	if (!s->exits)
		return NULL;
	if (found->offsets > 1 && found->offset[1] == found->offset[0])
		return "its first instruction leaves the function, so its calls take no time";
	return found->offsets == 1 ? "it has no return" : NULL;
}

/*
 * Search a file for the function. Return 0, 1 if the file has no such function, or -1 after
 * reporting why it cannot be probed.
 */
static int look_at(struct search *s, const char *path, const char *option, struct found *found)
{
	const char *why = NULL;
	struct elf elf;

	s->count = 0;
	s->loops = false;
	*found = (struct found){ .path = path };
	if (!elf_open(path, ELF_ALL, &elf)) {
		if (!elf_functions(&elf, consider, s) || !s->count)
			elf_exported(&elf, consider, s);
		if (s->count == 1)
			why = set_offsets(s, &elf, found);
	}
	elf_close(&elf);
	if (s->count > 1)
		report("--%s %s: %s has %u functions with this name: choose one with a unique name; give a C++ function with its parameters",
		       option, s->name, path, s->count);
	else if (why)
		report("--%s %s: %s: %s: give one of its callers or callees instead",
		       option, s->name, path, why);
	else if (s->clones)
		report("--%s %s: %s also has %s%s, a clone made by gcc: calls to %s do not count",
		       option, s->name, path, s->clone ? s->clone : "a copy",
		       s->clones > 1 ? " and others" : "", s->clones > 1 ? "these" : "this one");
	if (!s->count)
		return 1;
	return s->count > 1 || why ? -1 : 0;
}

int find_function(const struct program *program, const char *name, bool exits,
		  const char *option, struct found *found)
{
	struct search s = { .name = name, .exits = exits, .nearest = { .wanted = name } };
	int error = look_at(&s, program->path, option, found);
	char near[256];
	size_t i;

	for (i = 0; i < program->shared_objects && error > 0; i++)
		error = look_at(&s, program->shared[i], option, found);
	nearest_text(&s.nearest, "", near, sizeof(near));
	if (error > 0 && program->opens)
		report("--%s %s: no function with this name yet in %s or its shared objects: %swaiting until the program loads an object that has one",
		       option, name, program->path, near);
	else if (error > 0)
		report("--%s %s: no function with this name in %s%s: %snm -C %s shows names%s",
		       option, name, program->path,
		       program->shared_objects ? " or its shared objects" : "", near, program->path,
		       demangle_possible() ? "" :
		       "; without libstdc++.so.6 on this machine, C++ names are those of nm without -C");
	free(s.word);
	free(s.clone);
	return error > 0 && !program->opens ? -1 : error;
}

/*
 * Return whether @path is the program or one of its shared objects. Inodes are compared, because a
 * path from the kernel contains no symbolic links, unlike the program's own paths.
 */
static bool is_part(const struct program *program, const char *path)
{
	struct stat file, part;
	size_t i;

	if (stat(path, &file))
		return false;
	for (i = 0; i <= program->shared_objects; i++)
		if (!stat(i ? program->shared[i - 1] : program->path, &part) &&
		    part.st_dev == file.st_dev && part.st_ino == file.st_ino)
			return true;
	return false;
}

int find_later(const struct program *program, const char *path, const char *name, bool exits,
	       const char *option, struct found *found)
{
	struct search s = { .name = name, .exits = exits, .nearest = { .wanted = "" } };
	int error = is_part(program, path) ? 1 : look_at(&s, path, option, found);

	free(s.word);
	free(s.clone);
	return error;
}
